package dataset

import (
	"bytes"
	"context"
	"fmt"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
)

// Writer makes the file of a set. Commit or Abort ends it, once.
type Writer struct {
	src    Source
	schema *batch.Schema
	codecs []*batch.Codec
	out    files.Writer
	buffer []byte
}

// Create starts the file of a set with its header; what was there stays until
// Commit.
func Create(ctx context.Context, src Source, d *project.Dataset) (*Writer, error) {
	location, err := d.File(src.Vars)
	if err != nil {
		return nil, fmt.Errorf("data set %q: %w", d.Name, err)
	}
	w := &Writer{src: src, schema: Schema(d, "")}
	if w.codecs, err = src.Semantics.Codecs(w.schema); err != nil {
		return nil, fmt.Errorf("data set %q: %w", d.Name, err)
	}
	if w.out, err = src.Files.Create(ctx, location, files.CreateOptions{Parents: true}); err != nil {
		return nil, fmt.Errorf("data set %q: %w", d.Name, err)
	}
	for i, name := range w.schema.Names() {
		w.value(i, []byte(name))
	}
	w.buffer = append(w.buffer, '\n')
	return w, nil
}

// Write adds the selected rows of b, whose columns are those of the set in order;
// values of other types are converted.
func (w *Writer) Write(b *batch.Batch) error {
	if len(b.Cols) != w.schema.Len() {
		return fmt.Errorf("the rows have %d fields, the data set %d", len(b.Cols), w.schema.Len())
	}
	cols := make([]*batch.Column, 0, len(b.Cols))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i := range b.Cols {
		c, err := w.column(b, i)
		if err != nil {
			return err
		}
		cols = append(cols, c)
	}
	var text []byte
	for row := range b.All() {
		for i, c := range cols {
			text = w.codecs[i].AppendText(text[:0], c, row)
			w.value(i, text)
		}
		w.buffer = append(w.buffer, '\n')
	}
	_, err := w.out.Write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// column gives column i as the set's type, with one hold.
func (w *Writer) column(b *batch.Batch, i int) (*batch.Column, error) {
	source, err := w.src.Semantics.Codec(&b.Schema.Fields[i])
	if err != nil {
		return nil, err
	}
	convert, err := w.src.Semantics.Converter(&b.Schema.Fields[i], &w.schema.Fields[i])
	if err != nil {
		return nil, err
	}
	c, err := b.Col(i, source)
	if err != nil {
		return nil, err
	}
	return convert.Column(b, c, func(_ int, err error) error { return err })
}

// value adds one value, in quotes where the reader needs them: also an empty one at
// the start of a line, which may be all that the line holds.
func (w *Writer) value(i int, text []byte) {
	if i > 0 {
		w.buffer = append(w.buffer, ',')
	}
	if bytes.ContainsAny(text, ",\"\r\n") || (i == 0 && len(text) == 0) {
		w.buffer = append(w.buffer, '"')
		w.buffer = append(w.buffer, bytes.ReplaceAll(text, []byte(`"`), []byte(`""`))...)
		w.buffer = append(w.buffer, '"')
		return
	}
	w.buffer = append(w.buffer, text...)
}

// Commit makes the file visible.
func (w *Writer) Commit() error {
	if _, err := w.out.Write(w.buffer); err != nil {
		return err
	}
	return w.out.Commit()
}

// Abort leaves what was there before.
func (w *Writer) Abort() error { return w.out.Abort() }
