package rows

import (
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// textEdit is one entry of a table of text operations: it reads a String field and
// changes it in place, or writes the result to a new field.
type textEdit struct {
	in, out string // out empty: in place
	length  int    // of the new field
	grow    int    // the field gets at least this length
}

// textLayout resolves the entries against the input: the position of each entry's
// input and output column, and the schema of all.
func textLayout(l transform.Links, edits []textEdit) (s *batch.Schema, in, out []int, err error) {
	s = inputOf(l).Clone()
	var added []batch.Field
	for _, e := range edits {
		i, err := textIndex(inputOf(l), e.in)
		if err != nil {
			return nil, nil, nil, err
		}
		in = append(in, i)
		if e.out == "" {
			s.Fields[i].Length = max(s.Fields[i].Length, e.grow)
			out = append(out, i)
			continue
		}
		added = append(added, textField(e.out, max(e.length, e.grow), l.Transform))
		out = append(out, inputOf(l).Len()+len(added)-1)
	}
	return s.With(added...), in, out, nil
}

// resolved evaluates a name that may hold variables.
func resolved(r transform.Resolver, what string, e transform.Expr[string]) (string, error) {
	text, err := e.Eval(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return text, nil
}

// textProcessor applies one function per entry to columns of text.
type textProcessor struct {
	transform.Stateless
	transform.TakesRaw
	env     *transform.Env
	schema  *batch.Schema
	in, out []int
	// apply gives the new column of entry k with one hold. col is the current
	// column of its input: with chained, as earlier entries left it.
	apply   func(k int, b *batch.Batch, col *batch.Column, bad *failures) (*batch.Column, error)
	chained bool
}

// Apply implements transform.RowWise.
func (p *textProcessor) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	var bad failures
	e := editOf(b, len(p.in))
	for k, i := range p.in {
		col := b.Cols[i]
		if p.chained {
			col = e.cols[i]
		}
		c, err := p.apply(k, b, col, &bad)
		if err != nil {
			e.release()
			return err
		}
		if p.out[k] < len(e.cols) {
			e.set(p.out[k], c)
		} else {
			e.add(c)
		}
	}
	return bad.emit(p.env, b, e.batch(p.schema), emit)
}

// mapText applies f to each selected value of a text column. f appends the new
// text to dst; false makes the value null. A null stays null.
func mapText(b *batch.Batch, col *batch.Column, f func(dst, text []byte) ([]byte, bool)) *batch.Column {
	out := b.Allocator().Column(batch.String)
	_ = forRows(b, out, func(i int) error {
		if col.IsNull(i) {
			out.AppendNull()
			return nil
		}
		start := len(out.Data)
		text, ok := f(out.Data, col.Bytes(i))
		if !ok {
			out.Data = out.Data[:start]
			out.AppendNull()
			return nil
		}
		out.Data = text
		out.EndValue()
		return nil
	})
	return out
}
