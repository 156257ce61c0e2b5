package parquet

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"time"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// foreignTable is a file of another program. Only flat columns are read; a member
// of a struct is named by its path, "customer.name".
type foreignTable struct {
	reader  *file.Reader
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
	level    int16          // definition level of a value
}

func (t *foreignTable) groups() int { return t.reader.NumRowGroups() }

func (r *reader) bindForeign(in location) (o *opened, err error) {
	defer recovered(&err)
	if _, err := in.Seek(0, 0); err != nil {
		return nil, err
	}
	f, err := file.NewParquetReader(in)
	if err != nil {
		return nil, err
	}
	columns := f.MetaData().Schema
	names := make([]string, columns.NumColumns())
	for i := range names {
		names[i] = columns.Column(i).ColumnPath().String()
	}
	o = &opened{}
	t := &foreignTable{reader: f, schema: batch.NewSchema()}
	for i, name := range r.columns {
		at := find(names, name)
		if at < 0 {
			o.source = append(o.source, -1)
			continue
		}
		k, err := kindOf(columns.Column(at), r.fields[i].Type, r.env.Semantics.Location)
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

// recovered turns a panic of the reading library, which a damaged file may cause,
// into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
}

// kindOf gives what a column holds, as far as the wanted type leaves a choice.
func kindOf(c *schema.Column, want batch.Type, zone *time.Location) (kind, error) {
	if c.MaxRepetitionLevel() > 0 {
		return kind{}, fmt.Errorf("column %q holds lists; only single values can be read", c.ColumnPath())
	}
	if zone == nil {
		zone = time.UTC
	}
	k := kind{factor: 1, divisor: 1, level: c.MaxDefinitionLevel()}
	t := k.natural(c, want, zone)
	if t == batch.None {
		return kind{}, fmt.Errorf("column %q of type %s %s cannot be read", c.ColumnPath(), c.PhysicalType(), c.LogicalType())
	}
	k.field = batch.Field{Name: c.Name(), Type: t, Length: -1, Precision: -1}
	if t == batch.Integer {
		k.field.Mask = "0" // plain digits as text
	}
	return k, nil
}

func (k *kind) natural(c *schema.Column, want batch.Type, zone *time.Location) batch.Type {
	logical := c.LogicalType()
	if d, ok := logical.(schema.DecimalLogicalType); ok {
		k.scale = d.Scale()
		return batch.BigNumber
	}
	switch c.PhysicalType() {
	case arrow.Types.Boolean:
		return batch.Boolean
	case arrow.Types.Float, arrow.Types.Double:
		return batch.Number
	case arrow.Types.Int96:
		return batch.Timestamp
	case arrow.Types.Int32, arrow.Types.Int64:
		return k.integer(logical, want, zone)
	case arrow.Types.FixedLenByteArray:
		if _, ok := logical.(schema.UUIDLogicalType); ok {
			return batch.UUID
		}
		if _, ok := logical.(schema.Float16LogicalType); ok {
			return batch.None
		}
		return batch.Binary
	case arrow.Types.ByteArray:
		return k.bytes(logical, want)
	}
	return batch.None
}

// integer tells numbers from dates and times. An Integer field gets the number as
// it is stored, as in Hop.
func (k *kind) integer(logical schema.LogicalType, want batch.Type, zone *time.Location) batch.Type {
	if i, ok := logical.(schema.IntLogicalType); ok {
		k.unsigned = !i.IsSigned() && i.BitWidth() == 32
	}
	if want == batch.Integer {
		return batch.Integer
	}
	var unit schema.TimeUnitType
	switch l := logical.(type) {
	case schema.DateLogicalType:
		k.factor, k.zone = 24*60*60*1000, zone
		return batch.Date
	case schema.TimestampLogicalType:
		unit = l.TimeUnit()
		if !l.IsAdjustedToUTC() {
			k.zone = zone
		}
	case schema.TimeLogicalType:
		unit, k.zone = l.TimeUnit(), zone
	default:
		return batch.Integer
	}
	switch unit {
	case schema.TimeUnitMillis:
		k.factor = 1000
	case schema.TimeUnitNanos:
		k.divisor = 1000
	}
	return batch.Timestamp
}

func (k *kind) bytes(logical schema.LogicalType, want batch.Type) batch.Type {
	switch logical.(type) {
	case schema.JSONLogicalType:
		return batch.JSON
	case schema.StringLogicalType, schema.EnumLogicalType:
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
		group := t.reader.RowGroup(g)
		left := group.NumRows()
		var chunks []file.ColumnChunkReader
		for _, c := range t.columns {
			chunk, err := openColumn(group, c)
			if err != nil {
				yield(nil, err)
				return
			}
			chunks = append(chunks, chunk)
		}
		for left > 0 {
			n := min(left, batch.MaxRows)
			b, err := t.next(chunks, int(n), a)
			left -= n
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func openColumn(g *file.RowGroupReader, c int) (r file.ColumnChunkReader, err error) {
	defer recovered(&err)
	return g.Column(c)
}

func (t *foreignTable) next(chunks []file.ColumnChunkReader, n int, a *batch.Allocator) (b *batch.Batch, err error) {
	b = a.Batch(t.schema)
	defer func() {
		if err != nil {
			b.Release()
			b = nil
		}
	}()
	defer recovered(&err)
	b.SetRows(n)
	for i, chunk := range chunks {
		if err := t.kinds[i].read(chunk, b.Cols[i], n); err != nil {
			return b, fmt.Errorf("column %q: %w", t.schema.Fields[i].Name, err)
		}
	}
	return b, nil
}

// read appends n rows of a column.
func (k *kind) read(chunk file.ColumnChunkReader, col *batch.Column, n int) error {
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v bool) error { col.AppendBool(v); return nil })
	case *file.Float32ColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v float32) error { col.AppendFloat(float64(v)); return nil })
	case *file.Float64ColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v float64) error { col.AppendFloat(v); return nil })
	case *file.Int32ColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v int32) error {
			if k.unsigned {
				k.appendInt(col, int64(uint32(v)))
			} else {
				k.appendInt(col, int64(v))
			}
			return nil
		})
	case *file.Int64ColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v int64) error { k.appendInt(col, v); return nil })
	case *file.Int96ColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v arrow.Int96) error { appendInt96(col, v); return nil })
	case *file.ByteArrayColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v arrow.ByteArray) error { return k.appendBytes(col, v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return take(k, r.ReadBatch, col, n, func(v arrow.FixedLenByteArray) error { return k.appendBytes(col, v) })
	}
	return fmt.Errorf("values of the kind %T cannot be read", chunk)
}

// take reads n rows and hands on the values that are not null.
func take[T any](k *kind, read func(int64, []T, []int16, []int16) (int64, int, error), col *batch.Column, n int, add func(T) error) error {
	values, levels := make([]T, n), make([]int16, n)
	for n > 0 {
		rows, _, err := read(int64(n), values, levels, nil)
		if err != nil {
			return err
		}
		if rows <= 0 {
			return fmt.Errorf("the file is damaged: %d rows are missing", n)
		}
		next := 0
		for _, level := range levels[:rows] {
			if k.level > 0 && level < k.level {
				col.AppendNull()
				continue
			}
			if err := add(values[next]); err != nil {
				return err
			}
			next++
		}
		n -= int(rows)
	}
	return nil
}

func (k *kind) appendInt(col *batch.Column, v int64) {
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
func appendInt96(col *batch.Column, v arrow.Int96) {
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
