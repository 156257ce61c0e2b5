package relation

import (
	"fmt"

	"sluice/engine/batch"
)

// rowRef is a row of one of several batches.
type rowRef struct{ src, row uint32 }

// sources gathers rows out of many batches of one schema. It borrows the batches.
type sources struct {
	alloc   *batch.Allocator
	schema  *batch.Schema
	codecs  []*batch.Codec
	batches []*batch.Batch
	cols    [][]*batch.Column // by field, then by batch
	mixed   []bool            // a field whose columns are raw in some batches only
}

func newSources(alloc *batch.Allocator, sem *batch.Semantics, s *batch.Schema) (*sources, error) {
	codecs, err := sem.Codecs(s)
	if err != nil {
		return nil, err
	}
	return &sources{alloc: alloc, schema: s, codecs: codecs, cols: make([][]*batch.Column, s.Len()), mixed: make([]bool, s.Len())}, nil
}

// add makes a batch known and gives its number.
func (s *sources) add(b *batch.Batch) uint32 {
	for k := range s.cols {
		c := b.Cols[k]
		if len(s.batches) > 0 && c.Raw != s.cols[k][0].Raw {
			s.mixed[k] = true
		}
		s.cols[k] = append(s.cols[k], c)
	}
	s.batches = append(s.batches, b)
	return uint32(len(s.batches) - 1)
}

// reset forgets all batches.
func (s *sources) reset() {
	s.batches = s.batches[:0]
	for k := range s.cols {
		s.cols[k] = s.cols[k][:0]
	}
	clear(s.mixed)
}

// gather gives a batch (one hold) of the rows refs names, in that order. Columns
// stay raw where they are raw in every batch.
func (s *sources) gather(refs []rowRef) (*batch.Batch, error) {
	cols := make([]*batch.Column, 0, len(s.cols))
	for k := range s.cols {
		from, err := s.columns(k)
		if err != nil {
			for _, c := range cols {
				c.Release()
			}
			return nil, err
		}
		cols = append(cols, gatherColumn(s.alloc, s.schema.Fields[k].Type, from, refs))
	}
	return s.alloc.Assemble(s.schema, cols, len(refs)), nil
}

// columns gives the columns of a field, all raw or all typed.
func (s *sources) columns(k int) ([]*batch.Column, error) {
	if !s.mixed[k] {
		return s.cols[k], nil
	}
	typed := make([]*batch.Column, len(s.batches))
	for i, b := range s.batches {
		c, err := b.Col(k, s.codecs[k])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", s.schema.Fields[k].Name, err)
		}
		typed[i] = c
	}
	return typed, nil
}

// gatherColumn gives a new column (one hold) of rows of several columns of one
// type, which are all raw or all typed.
func gatherColumn(a *batch.Allocator, t batch.Type, from []*batch.Column, refs []rowRef) *batch.Column {
	out := newColumn(a, t, len(from) > 0 && from[0].Raw)
	nulls, nanos := false, false
	for i, c := range from {
		nulls = nulls || c.Nulls() > 0
		nanos = nanos || c.Nanos != nil
		if i == 0 {
			out.Plain = c.Plain
		} else if out.Plain != c.Plain {
			out.Plain = batch.PlainText{}
		}
	}
	switch {
	case out.IsText():
		gatherTexts(out, from, refs, nulls)
		return out
	case (t == batch.BigNumber && !oneScale(from)) || (t == batch.Timestamp && nanos):
		for _, r := range refs {
			out.AppendFrom(from[r.src], int(r.row))
		}
		return out
	}
	out.Extend(len(refs))
	switch t {
	case batch.Number:
		for o, r := range refs {
			out.Floats[o] = from[r.src].Floats[r.row]
		}
	case batch.BigNumber:
		out.Scale = scaleOf(from)
		for o, r := range refs {
			out.Decs[o] = from[r.src].Decs[r.row]
		}
	case batch.Boolean:
		for o, r := range refs {
			out.Bits.Set(o, from[r.src].Bits.Get(int(r.row)))
		}
	default:
		for o, r := range refs {
			out.Ints[o] = from[r.src].Ints[r.row]
		}
	}
	if nulls {
		for o, r := range refs {
			if from[r.src].IsNull(int(r.row)) {
				out.SetNull(o)
			}
		}
	}
	return out
}

// scaleOf is the scale of the first column with a value; nulls have none.
func scaleOf(from []*batch.Column) int32 {
	for _, c := range from {
		if c.Nulls() < c.Len() {
			return c.Scale
		}
	}
	return 0
}

// oneScale says whether all values of BigNumber columns are 128-bit ones of one
// scale, which may be copied as they are.
func oneScale(from []*batch.Column) bool {
	scale := scaleOf(from)
	for _, c := range from {
		if c.Big != nil || (c.Scale != scale && c.Nulls() < c.Len()) {
			return false
		}
	}
	return true
}

func newColumn(a *batch.Allocator, t batch.Type, raw bool) *batch.Column {
	if raw {
		return a.RawColumn(t)
	}
	return a.Column(t)
}

func gatherTexts(out *batch.Column, from []*batch.Column, refs []rowRef, nulls bool) {
	total := touchTexts(from, refs)
	if cap(out.Data) < total {
		out.Data = make([]byte, 0, total)
	}
	out.Extend(len(refs))
	data, offsets := out.Data, out.Offsets[1:len(refs)+1]
	for o, r := range refs {
		c := from[r.src]
		data = append(data, c.Data[c.Offsets[r.row]:c.Offsets[r.row+1]]...)
		offsets[o] = int32(len(data))
	}
	out.Data = data
	for o := 0; nulls && o < len(refs); o++ {
		if from[refs[o].src].IsNull(int(refs[o].row)) {
			out.SetNull(o)
		}
	}
}

// gatherOr fills an empty column as gatherColumn does, with a value for rows that
// have no source.
func gatherOr(out *batch.Column, from []*batch.Column, refs []rowRef, miss batch.Value) *batch.Column {
	if out.IsText() {
		gatherTextsOr(out, from, refs, miss)
		return out
	}
	switch out.Type {
	case batch.Integer, batch.Date, batch.Number:
		gatherFixedOr(out, from, refs, miss)
		return out
	}
	for _, r := range refs {
		if r.src == noRow {
			out.AppendValue(miss)
			continue
		}
		out.AppendFrom(from[r.src], int(r.row))
	}
	return out
}

func gatherFixedOr(out *batch.Column, from []*batch.Column, refs []rowRef, miss batch.Value) {
	out.Extend(len(refs))
	for o, r := range refs {
		switch {
		case r.src == noRow && !miss.Valid, r.src != noRow && from[r.src].IsNull(int(r.row)):
			out.SetNull(o)
		case r.src == noRow && out.Type == batch.Number:
			out.Floats[o] = miss.Float
		case r.src == noRow:
			out.Ints[o] = miss.Int
		case out.Type == batch.Number:
			out.Floats[o] = from[r.src].Floats[r.row]
		default:
			out.Ints[o] = from[r.src].Ints[r.row]
		}
	}
}

func gatherTextsOr(out *batch.Column, from []*batch.Column, refs []rowRef, miss batch.Value) {
	nulls := false
	for i, c := range from {
		nulls = nulls || c.Nulls() > 0
		switch {
		case i == 0 && miss.Text == "":
			out.Plain = c.Plain
		case out.Plain != c.Plain:
			out.Plain = batch.PlainText{}
		}
	}
	if total := touchTexts(from, refs); cap(out.Data) < total {
		out.Data = make([]byte, 0, total)
	}
	out.Extend(len(refs))
	data, offsets := out.Data, out.Offsets[1:len(refs)+1]
	for o, r := range refs {
		if r.src == noRow {
			data = append(data, miss.Text...)
		} else {
			c := from[r.src]
			data = append(data, c.Data[c.Offsets[r.row]:c.Offsets[r.row+1]]...)
		}
		offsets[o] = int32(len(data))
	}
	out.Data = data
	for o := 0; (nulls || !miss.Valid) && o < len(refs); o++ {
		r := refs[o]
		if (r.src == noRow && !miss.Valid) || (r.src != noRow && from[r.src].IsNull(int(r.row))) {
			out.SetNull(o)
		}
	}
}

// touchTexts gives the bytes of the texts together. It reads a byte of each, which
// asks memory for many of them at once; the copies after it find them in cache. It
// halves the time of a lookup in 100,000 rows.
func touchTexts(from []*batch.Column, refs []rowRef) int {
	total, seen := 0, byte(0)
	for _, r := range refs {
		if r.src == noRow {
			continue
		}
		c := from[r.src]
		o := c.Offsets[r.row : r.row+2 : r.row+2]
		total += int(o[1] - o[0])
		if o[1] > o[0] {
			seen |= c.Data[o[0]] | c.Data[o[1]-1]
		}
	}
	if seen == 0 && total > 0 {
		return total + 1 // keeps the reads; one byte more does no harm
	}
	return total
}

// footprint is the memory that a batch holds, in bytes: capacities, not lengths.
func footprint(b *batch.Batch) int64 {
	n := 0
	for _, c := range b.Cols {
		n += cap(c.Ints)*8 + cap(c.Nanos)*4 + cap(c.Floats)*8 + cap(c.Bits) + cap(c.Decs)*16 +
			cap(c.Offsets)*4 + cap(c.Data) + cap(c.Valid) + cap(c.Big)*64
	}
	return int64(n)
}
