package text

import (
	"encoding/binary"

	"sluice/engine/batch"
)

// ConvertAll implements transform.Converter: values are converted where the text is
// still in the nearest cache.
func (r *csvReader) ConvertAll(text []bool) {
	for i := range r.fields {
		f := &r.fields[i]
		f.early, f.textless = f.raw, f.raw && !text[i]
	}
}

// values are those of an early field in the batch under way.
type values struct {
	to  *batch.Column
	bad []*batch.RowError
}

// beginValues starts the values of a batch.
func (p *csvParser) beginValues(r *csvReader) {
	if p.values == nil {
		p.values = make([]values, r.columns)
	}
	for c := range p.values {
		if f := &r.fields[c]; f.early {
			p.values[c] = values{to: r.env.Alloc.Column(f.field.Type)}
		}
	}
}

// endValues gives raw columns their values.
func (p *csvParser) endValues(r *csvReader, cols []*batch.Column, rows int) {
	for c := range p.values {
		f := &r.fields[c]
		if f.textless {
			cols[c].AppendNulls(rows)
		}
		if f.early {
			cols[c].SetTyped(p.values[c].to, p.values[c].bad)
		}
	}
}

// convertEarly appends the values of rows texts.
func (w *column) convertEarly() {
	to := w.values.to
	at := to.Len()
	switch w.valuePath {
	case pathInteger, pathDate:
		to.Extend(at + w.rows)
		w.earlyIntegers(at)
	case pathDecimal:
		w.earlyDecimals(at)
	default:
		for k := range w.rows {
			w.earlyValue(k)
		}
	}
}

// earlyIntegers sets numbers and dates.
func (w *column) earlyIntegers(at int) {
	to := w.values.to
	short := uint32(8)
	if w.valuePath == pathDate {
		short = 0
	}
	for k := range to.Ints[at:] {
		s := w.spans[k*w.stride]
		n := s.end - s.start
		if n-1 < short {
			if v, ok := eightDigits(binary.LittleEndian.Uint64(w.data[s.start:]), uint(n)); ok {
				to.Ints[at+k] = v
				continue
			}
		}
		if n == 0 {
			to.Ints[at+k] = 0
			to.SetNull(at + k)
			continue
		}
		v, err := w.codec.ParseInt(w.data[s.start:s.end])
		to.Ints[at+k] = v
		if err != nil {
			to.SetNull(at + k)
			w.values.bad = append(w.values.bad, &batch.RowError{Row: at + k, Err: err})
		}
	}
}

// earlyDecimals sets plain decimals while they have one scale, and appends the
// others one by one.
func (w *column) earlyDecimals(at int) {
	to := w.values.to
	if to.Big != nil {
		at = -1
	}
	first := at >= 0 && to.Nulls() == at
	if at >= 0 {
		to.Extend(at + w.rows)
	}
	for k := range w.rows {
		s := w.spans[k*w.stride]
		switch {
		case at < 0:
			w.earlyValue(k)
			continue
		case s.start == s.end:
			to.Decs[at+k] = batch.Dec128{}
			to.SetNull(at + k)
			continue
		}
		v, scale, ok := w.plainDecimal(s)
		if first && ok {
			first, to.Scale = false, scale
		}
		if !ok || scale != to.Scale {
			to.Truncate(at + k)
			at = -1
			w.earlyValue(k)
			continue
		}
		to.Decs[at+k] = batch.Dec128{Lo: uint64(v), Hi: v >> 63}
	}
}

// earlyValue appends the value of the text in row k.
func (w *column) earlyValue(k int) {
	to, s := w.values.to, w.spans[k*w.stride]
	if s.start == s.end {
		to.AppendNull()
		return
	}
	if err := w.codec.ParseInto(to, w.data[s.start:s.end]); err != nil {
		w.values.bad = append(w.values.bad, &batch.RowError{Row: to.Len(), Err: err})
		to.AppendNull()
	}
}
