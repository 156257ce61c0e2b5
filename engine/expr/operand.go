package expr

import (
	"sync"

	"sluice/engine/batch"
)

// operand reads one field of the batches of a schema.
type operand struct {
	index int
	field *batch.Field
	sem   *batch.Semantics

	once  sync.Once
	codec *batch.Codec
	err   error
}

func newOperand(s *batch.Schema, index int, sem *batch.Semantics) *operand {
	return &operand{index: index, field: &s.Fields[index], sem: sem}
}

// text gives the codec; masks that nobody needs are never compiled.
func (o *operand) text() (*batch.Codec, error) {
	o.once.Do(func() { o.codec, o.err = o.sem.Codec(o.field) })
	return o.codec, o.err
}

// column gives the typed column, converted at least for the rows of in (nil: all).
// The text of a raw String column is its value.
func (o *operand) column(b *batch.Batch, in []int32) (*batch.Column, error) {
	c := b.Cols[o.index]
	if !c.Raw || c.Type == batch.String {
		return c, nil
	}
	codec, err := o.text()
	if err != nil {
		return nil, err
	}
	return b.ColAt(o.index, codec, in)
}

// compatible appends Hop's compatible string of row i (reference 3.4); false for
// a null. Bytes of a String are not copied.
func (o *operand) compatible(buf []byte, c *batch.Column, i int) ([]byte, bool, error) {
	if c.IsNull(i) {
		return nil, false, nil
	}
	if c.Type == batch.String {
		return c.Bytes(i), true, nil
	}
	codec, err := o.text()
	if err != nil {
		return nil, false, err
	}
	return codec.AppendCompatible(buf[:0], c.Value(i)), true, nil
}
