package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	segment "sluice/engine/parquet"
)

// foreignTable is a file of another program. Only flat columns are read; a member
// of a struct is named by its path, "customer.name".
type foreignTable struct {
	file    *segment.Foreign
	columns []int // of the file
	kinds   []kind
	schema  *batch.Schema // of the batches
}

// kind says how the values of a foreign column become values of a field.
type kind struct {
	field    batch.Field
	scale    int32          // of decimals
	factor   int64          // what an integer is multiplied by: to ms for Dates, to µs for Timestamps
	divisor  int64          // and divided by; the rest are nanoseconds
	zone     *time.Location // of local times and dates; nil for instants
	unsigned bool           // 32 bits without a sign
}

func (t *foreignTable) groups() int { return t.file.Groups() }

func (r *reader) bindForeign(in io.ReaderAt, size int64) (*opened, error) {
	f, err := segment.OpenForeign(in, size)
	if err != nil {
		return nil, err
	}
	columns := f.Leaves()
	names := make([]string, len(columns))
	for i := range names {
		names[i] = columns[i].Path
	}
	o := &opened{}
	t := &foreignTable{file: f, schema: batch.NewSchema()}
	for i, name := range r.columns {
		at := find(names, name)
		if at < 0 {
			o.source = append(o.source, -1)
			continue
		}
		k, err := kindOf(&columns[at], r.fields[i].Type, r.env.Semantics.Location)
		if err != nil {
			return nil, err
		}
		o.source = append(o.source, len(t.columns))
		t.columns = append(t.columns, at)
		t.kinds = append(t.kinds, k)
		t.schema.Fields = append(t.schema.Fields, k.field)
	}
	o.table = t
	return o, r.converters(o, t.schema)
}

// kindOf gives what a column holds, as far as the wanted type leaves a choice.
func kindOf(c *segment.Leaf, want batch.Type, zone *time.Location) (kind, error) {
	if c.Repeated {
		return kind{}, fmt.Errorf("column %q holds lists; only single values can be read", c.Path)
	}
	if zone == nil {
		zone = time.UTC
	}
	k := kind{factor: 1, divisor: 1}
	t := k.natural(c, want, zone)
	if t == batch.None {
		return kind{}, fmt.Errorf("column %q of type %s cannot be read", c.Path, c)
	}
	k.field = batch.Field{Name: c.Name, Type: t, Length: -1, Precision: -1}
	if t == batch.Integer {
		k.field.Mask = "0" // plain digits as text
	}
	return k, nil
}

func (k *kind) natural(c *segment.Leaf, want batch.Type, zone *time.Location) batch.Type {
	if c.Meaning == segment.Decimal {
		k.scale = c.Scale
		return batch.BigNumber
	}
	switch c.Physical {
	case segment.Boolean:
		return batch.Boolean
	case segment.Float, segment.Double:
		return batch.Number
	case segment.Int96:
		return batch.Timestamp
	case segment.Int32, segment.Int64:
		return k.integer(c, want, zone)
	case segment.Fixed:
		switch c.Meaning {
		case segment.UUID:
			return batch.UUID
		case segment.Float16:
			return batch.None
		}
		return batch.Binary
	case segment.ByteArray:
		return bytesOf(c.Meaning, want)
	}
	return batch.None
}

// integer tells numbers from dates and times. An Integer field gets the number as
// it is stored, as in Hop.
func (k *kind) integer(c *segment.Leaf, want batch.Type, zone *time.Location) batch.Type {
	k.unsigned = c.Meaning == segment.Whole && !c.Signed && c.Bits == 32
	if want == batch.Integer {
		return batch.Integer
	}
	switch c.Meaning {
	case segment.Day:
		k.factor, k.zone = 24*60*60*1000, zone
		return batch.Date
	case segment.Moment:
		if !c.UTC {
			k.zone = zone
		}
	case segment.Clock:
		k.zone = zone
	default:
		return batch.Integer
	}
	switch c.Unit {
	case segment.Millis:
		k.factor = 1000
	case segment.Nanos:
		k.divisor = 1000
	}
	return batch.Timestamp
}

func bytesOf(meaning segment.Meaning, want batch.Type) batch.Type {
	switch meaning {
	case segment.JSON:
		return batch.JSON
	case segment.Text, segment.Enum:
		if want == batch.Binary {
			return batch.Binary
		}
		return batch.String
	}
	if want == batch.Binary || want == batch.UUID || want == batch.Inet {
		return batch.Binary
	}
	return batch.String // the bytes are text, as Hop takes them
}

// batches implements table.
func (t *foreignTable) batches(g int, a *batch.Allocator) iter.Seq2[*batch.Batch, error] {
	return func(yield func(*batch.Batch, error) bool) {
		var columns []*segment.ColumnReader
		for _, c := range t.columns {
			r, err := t.file.Column(g, c)
			if err != nil {
				yield(nil, err)
				return
			}
			columns = append(columns, r)
		}
		for left := t.file.GroupRows(g); left > 0; {
			n := min(left, batch.MaxRows)
			b, err := t.next(columns, int(n), a)
			left -= n
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func (t *foreignTable) next(columns []*segment.ColumnReader, n int, a *batch.Allocator) (*batch.Batch, error) {
	b := a.Batch(t.schema)
	b.SetRows(n)
	for i, c := range columns {
		if err := t.kinds[i].read(c, b.Cols[i], n); err != nil {
			b.Release()
			return nil, fmt.Errorf("column %q: %w", t.schema.Fields[i].Name, err)
		}
	}
	return b, nil
}

// read appends n rows of a column.
func (k *kind) read(c *segment.ColumnReader, col *batch.Column, n int) error {
	for n > 0 {
		v, err := c.Next(n)
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %d rows are missing", segment.ErrCorrupt, n)
		}
		if err != nil {
			return err
		}
		if err := k.append(col, v); err != nil {
			return err
		}
		n -= len(v.Valid)
	}
	return nil
}

func (k *kind) append(col *batch.Column, v *segment.Values) error {
	switch {
	case len(v.Flags) > 0:
		return spread(v.Valid, v.Flags, col, func(b bool) error { col.AppendBool(b); return nil })
	case len(v.Ints) > 0:
		return spread(v.Valid, v.Ints, col, func(i int64) error { k.appendInt(col, i); return nil })
	case len(v.Floats) > 0:
		return spread(v.Valid, v.Floats, col, func(f float64) error { col.AppendFloat(f); return nil })
	case len(v.Bytes) > 0 && col.Type == batch.Timestamp:
		return spread(v.Valid, v.Bytes, col, func(p []byte) error { appendInt96(col, p); return nil })
	}
	return spread(v.Valid, v.Bytes, col, func(p []byte) error { return k.appendBytes(col, p) })
}

// spread hands on the values of the rows that hold one; the others become null.
func spread[T any](valid []bool, values []T, col *batch.Column, add func(T) error) error {
	next := 0
	for _, ok := range valid {
		if !ok {
			col.AppendNull()
			continue
		}
		if err := add(values[next]); err != nil {
			return err
		}
		next++
	}
	return nil
}

func (k *kind) appendInt(col *batch.Column, v int64) {
	if k.unsigned {
		v = int64(uint32(v))
	}
	switch col.Type {
	case batch.BigNumber:
		col.AppendDecimal(decimal.FromInt128(v>>63, uint64(v), k.scale))
		return
	case batch.Timestamp:
		nanos := v % k.divisor
		if nanos < 0 {
			nanos += k.divisor
		}
		v = (v - nanos) / k.divisor * k.factor
		if k.zone != nil {
			v = local(time.UnixMicro(v), k.zone).UnixMicro()
		}
		col.AppendTimestamp(v, int32(nanos))
		return
	case batch.Date:
		v *= k.factor
		if k.zone != nil {
			v = local(time.UnixMilli(v), k.zone).UnixMilli()
		}
	}
	col.AppendInt(v)
}

// local gives the moment at which the clocks of a zone show what t shows in UTC.
func local(t time.Time, zone *time.Location) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

const (
	julianUnix = 2440588 // the day of 1970-01-01
	dayMicros  = 24 * 60 * 60 * 1_000_000
)

// appendInt96 adds a moment as older programs store it: nanoseconds of the day and
// the Julian day.
func appendInt96(col *batch.Column, v []byte) {
	nanos := int64(binary.LittleEndian.Uint64(v[:8]))
	day := int64(binary.LittleEndian.Uint32(v[8:])) - julianUnix
	rest := nanos % 1000
	if rest < 0 {
		rest += 1000
	}
	col.AppendTimestamp(day*dayMicros+(nanos-rest)/1000, int32(rest))
}

func (k *kind) appendBytes(col *batch.Column, v []byte) error {
	if col.Type != batch.BigNumber {
		if len(col.Data)+len(v) > math.MaxInt32 {
			return fmt.Errorf("%d rows hold more than 2 GB; write the file with smaller values", batch.MaxRows)
		}
		col.AppendBytes(v)
		return nil
	}
	unscaled := new(big.Int).SetBytes(v)
	if len(v) > 0 && v[0]&0x80 != 0 {
		unscaled.Sub(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	if k.scale < 0 || k.scale > decimal.MaxScale {
		return fmt.Errorf("the file is damaged: a scale of %d", k.scale)
	}
	col.AppendDecimal(decimal.FromBig(unscaled, k.scale))
	return nil
}
