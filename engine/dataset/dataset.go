// Package dataset reads and writes the data sets of unit tests: CSV files whose
// layout is a metadata object.
//
// A set is the metadata (project.Dataset), its file holds the rows. The first record of a file is a header that is always skipped; columns belong to
// fields by position. Which transform a set feeds or is compared with is left to
// the caller.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
)

// Source is what reading and writing need. All fields are required.
type Source struct {
	Files     files.Store
	Vars      *project.Variables
	Semantics *batch.Semantics
	Alloc     *batch.Allocator
}

// The masks of fields that have none (reference 6.5).
const (
	integerMask = "0"
	numberMask  = "0.#"
	dateMask    = "yyyyMMdd-HHmmss.SSS"
)

// Schema is the layout of a set; origin names the transform that the fields come
// from and may be empty.
func Schema(d *project.Dataset, origin string) *batch.Schema {
	s := &batch.Schema{}
	for _, f := range d.Fields {
		t := batch.TypeByID(f.Type)
		if t == batch.None {
			t = batch.String
		}
		out := batch.NewField(f.Name, t)
		out.Length, out.Precision, out.Mask, out.Comments, out.Origin = f.Length, f.Precision, f.Format, f.Comment, origin
		if out.Mask == "" {
			switch t {
			case batch.Integer:
				out.Mask = integerMask
			case batch.Number:
				out.Mask = numberMask
			case batch.Date:
				out.Mask = dateMask
			}
		}
		if t == batch.Number || t == batch.BigNumber {
			out.Decimal = "."
		}
		s = s.With(out)
	}
	return s
}

// Load reads a whole set by name. The caller releases the batches. Errors are
// those of project.Metadata.Dataset and of Read.
func Load(ctx context.Context, src Source, m *project.Metadata, name string) (*batch.Schema, []*batch.Batch, error) {
	d, err := m.Dataset(name)
	if err != nil {
		return nil, nil, err
	}
	schema := Schema(d, "")
	var list []*batch.Batch
	err = Read(ctx, src, d, schema, func(b *batch.Batch) error {
		list = append(list, b)
		return nil
	})
	if err != nil {
		for _, b := range list {
			b.Release()
		}
		return nil, nil, err
	}
	return schema, list, nil
}

// Read reads the rows of a set into batches of the schema, which Schema made. emit
// takes over each batch. A file that does not exist has no rows, as in Hop. An
// error names the set, the line, the field and the text.
func Read(ctx context.Context, src Source, d *project.Dataset, schema *batch.Schema, emit func(*batch.Batch) error) error {
	location, err := d.File(src.Vars)
	if err != nil {
		return fmt.Errorf("data set %q: %w", d.Name, err)
	}
	codecs, err := src.Semantics.Codecs(schema)
	if err != nil {
		return fmt.Errorf("data set %q: %w", d.Name, err)
	}
	in, err := src.Files.Open(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("data set %q: %w", d.Name, err)
	}
	defer in.Close()
	r := &reader{src: src, schema: schema, codecs: codecs, records: newRecordReader(in), emit: emit}
	if err := r.run(ctx); err != nil {
		return fmt.Errorf("data set %q, file %s: %w", d.Name, location, err)
	}
	return nil
}

type reader struct {
	src     Source
	schema  *batch.Schema
	codecs  []*batch.Codec
	records *recordReader
	emit    func(*batch.Batch) error
	batch   *batch.Batch
	rows    int
}

func (r *reader) run(ctx context.Context) error {
	defer func() {
		if r.batch != nil {
			r.batch.Release()
		}
	}()
	if _, err := r.records.next(); err != nil {
		return endOfFile(err)
	}
	for {
		record, err := r.records.next()
		if errors.Is(err, io.EOF) {
			return r.flush()
		}
		if err == nil {
			err = r.row(record)
		}
		if err == nil && r.batch.Full() {
			err = r.flush()
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func endOfFile(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (r *reader) row(record [][]byte) error {
	if r.batch == nil {
		r.batch = r.src.Alloc.Batch(r.schema)
	}
	for i, c := range r.batch.Cols {
		if i >= len(record) {
			c.AppendNull()
			continue
		}
		if err := r.codecs[i].ParseInto(c, record[i]); err != nil {
			return fmt.Errorf("line %d: %w", r.records.line, err)
		}
	}
	r.rows++
	return nil
}

func (r *reader) flush() error {
	b := r.batch
	if b == nil {
		return nil
	}
	b.SetRows(r.rows)
	r.batch, r.rows = nil, 0
	return r.emit(b)
}
