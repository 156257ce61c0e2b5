package text

import (
	"slices"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// lineBatch collects rows of one file.
type lineBatch struct {
	r      *textReader
	cols   []*batch.Column // of the line's fields, then of the error fields
	rows   int
	size   int // bytes of text
	bad    []badValue
	pieces []piece
	last   []batch.Value // by field: the value to repeat
}

func (r *textReader) newBatch() *lineBatch {
	b := &lineBatch{r: r}
	if r.repeats {
		b.last = make([]batch.Value, len(r.fields))
	}
	b.renew()
	return b
}

// renew starts an empty batch; what is to be repeated stays.
func (b *lineBatch) renew() {
	b.cols = make([]*batch.Column, 0, b.r.schema.Len())
	for i := range b.r.fields {
		b.cols = append(b.cols, b.r.fields[i].newColumn(b.r.env.Alloc))
	}
	for _, e := range b.r.extras {
		if e.what <= extraErrorText {
			b.cols = append(b.cols, b.r.env.Alloc.Column(e.typ))
		}
	}
	b.rows, b.size, b.bad = 0, 0, nil
}

func (b *lineBatch) full() bool { return b.rows >= batch.MaxRows || b.size >= batch.SoftBytes }

// release gives up the columns of a batch that is not emitted.
func (b *lineBatch) release() {
	for _, c := range b.cols {
		c.Release()
	}
	b.cols = nil
}

// line adds the row of a line. Values that cannot be converted are null; they are
// noted in the error fields when errors are ignored, else the row is rejected.
func (b *lineBatch) line(text []byte) {
	r := b.r
	b.pieces, _ = r.split(b.pieces[:0], text)
	var failed []badValue
	for i := range r.fields {
		p := piece{none: true}
		if i < len(b.pieces) {
			p = b.pieces[i]
		}
		if err := r.fields[i].appendPiece(b.cols[i], p); err != nil {
			b.cols[i].AppendNull()
			failed = append(failed, badValue{row: b.rows, column: r.passed + i, text: string(p.text), err: err})
		}
	}
	b.size += len(text)
	switch {
	case len(failed) == 0:
	case !r.settings.ErrorIgnored:
		b.bad = append(b.bad, failed...)
	case r.settings.ErrorLineSkipped:
		for i := range r.fields {
			b.cols[i].Truncate(b.rows)
		}
		return
	}
	b.errors(failed)
	b.repeat()
	b.rows++
}

// appendPiece adds the value of a piece of a line.
func (f *inputField) appendPiece(c *batch.Column, p piece) error {
	isNull := p.none || len(p.text) == 0 && !f.keepEmpty && !(f.keepEnclosed && p.enclosed)
	return f.codec.ParseTextInto(c, p.text, isNull, *f.rule)
}

// errors fills the error fields of a row.
func (b *lineBatch) errors(failed []badValue) {
	at := len(b.r.fields)
	for _, e := range b.r.extras {
		switch e.what {
		case extraErrorCount:
			b.cols[at].AppendInt(int64(len(failed)))
		case extraErrorFields:
			b.cols[at].AppendString(joined(failed, "\t", func(v *badValue) string { return b.r.schema.Fields[v.column].Name }))
		case extraErrorText:
			b.cols[at].AppendString(joined(failed, "\n", func(v *badValue) string { return v.err.Error() }))
		default:
			return
		}
		at++
	}
}

func joined(list []badValue, between string, text func(*badValue) string) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = text(&list[i])
	}
	return strings.Join(texts, between)
}

// repeat gives nulls of repeated fields the value of the row before.
func (b *lineBatch) repeat() {
	if !b.r.repeats {
		return
	}
	for i, on := range b.r.repeat {
		if !on {
			continue
		}
		c := b.cols[i]
		if !b.r.env.Semantics.IsNull(c, b.rows) {
			b.last[i] = c.Value(b.rows)
		} else if b.last[i].Valid {
			c.Truncate(b.rows)
			c.AppendValue(b.last[i])
		}
	}
}

// good is the number of rows that will not be rejected.
func (b *lineBatch) good() int64 {
	if b.r.env.Errors == nil {
		return int64(b.rows)
	}
	n := int64(b.rows)
	for i := range b.bad {
		if i == 0 || b.bad[i].row != b.bad[i-1].row {
			n--
		}
	}
	return n
}

// emit hands the rows on, with the fields that come from the file, and starts an
// empty batch. number is the row number of the row before; before is how many
// rows of the morsel were emitted already.
func (b *lineBatch) emit(f *textFile, number *int64, before int, emit transform.Emit) error {
	if b.rows == 0 {
		b.release()
		b.renew()
		return nil
	}
	r, rows, bad := b.r, b.rows, b.bad
	lineFields := len(r.fields)
	cols := make([]*batch.Column, 0, r.schema.Len())
	cols = append(cols, r.passedColumns(f, rows)...)
	cols = append(cols, b.cols[:lineFields]...)
	errorCols := b.cols[lineFields:]
	for _, e := range r.extras {
		switch {
		case e.what <= extraErrorText:
			cols, errorCols = append(cols, errorCols[0]), errorCols[1:]
		case e.what == extraRowNumber:
			cols = append(cols, b.numbers(number))
		default:
			cols = append(cols, r.env.Alloc.Repeat(f.value(e.what), e.typ, rows))
		}
	}
	out := r.env.Alloc.Assemble(r.schema, cols, rows)
	b.renew()
	if len(bad) == 0 {
		return emit(transform.Main, out)
	}
	return reject(r.env, out, bad, errTextInput, before, emit)
}

// numbers numbers the rows; a rejected one takes no number.
func (b *lineBatch) numbers(number *int64) *batch.Column {
	c := b.r.env.Alloc.Column(batch.Integer)
	for i := range b.rows {
		c.AppendInt(*number + 1)
		if b.r.env.Errors == nil || !slices.ContainsFunc(b.bad, func(v badValue) bool { return v.row == i }) {
			*number++
		}
	}
	return c
}

// passedColumns repeats the input row that named the file.
func (r *textReader) passedColumns(f *textFile, rows int) []*batch.Column {
	if r.passed == 0 || f.row == nil {
		return nil
	}
	g := f.row.Gather(make([]int32, rows))
	defer g.Release()
	var cols []*batch.Column
	for _, c := range g.Cols {
		cols = append(cols, c.Retain())
	}
	return cols
}

// value gives what is known of a file.
func (f *textFile) value(what extraKind) batch.Value {
	i := &f.info
	switch what {
	case extraFilename:
		return batch.StringValue(i.Path)
	case extraShortName:
		return batch.StringValue(i.Name)
	case extraExtension:
		return batch.StringValue(extension(i.Name))
	case extraPath:
		return batch.StringValue(folderOf(i.Path))
	case extraSize:
		return batch.IntegerValue(i.Size)
	case extraHidden:
		return batch.BooleanValue(i.Hidden)
	case extraModified:
		return batch.DateValue(i.ModTime.UnixMilli())
	case extraURI:
		return batch.StringValue(i.URI)
	}
	return batch.StringValue(rootOf(i.URI))
}
