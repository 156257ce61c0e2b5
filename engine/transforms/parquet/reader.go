package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/batch/mask"
	segment "sluice/engine/parquet"
	"sluice/engine/transform"
)

// reader reads files into batches of the target fields.
type reader struct {
	env     *transform.Env
	columns []string      // of the file, one per field
	fields  []batch.Field // what they become
	schema  *batch.Schema // of the rows that are emitted
	nulls   bool          // a row of nulls when nothing was read
	rows    int64
}

// table is an open file of either kind: some of its columns, in the order they were
// asked for.
type table interface {
	// groups is the number of row groups.
	groups() int
	// batches gives the rows of a row group, with one hold.
	batches(g int, a *batch.Allocator) iter.Seq2[*batch.Batch, error]
}

// opened is a table with the conversion of its columns to the fields.
type opened struct {
	table
	close  func() error
	source []int // column of the table per field; -1: the file has none
	change []*batch.Converter
	texts  []bool // doubles that become text as Java shows them
}

// location is what reading in pieces needs.
type location interface {
	io.ReaderAt
	io.Seeker
}

// open opens a file. A store that can only stream is read into memory.
func (r *reader) open(ctx context.Context, name string) (*opened, error) {
	in, err := r.env.Files.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	at, ok := in.(location)
	if !ok {
		data, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		at, in = bytes.NewReader(data), io.NopCloser(nil)
	}
	o, err := r.tableOf(at)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), in.Close())
	}
	o.close = in.Close
	return o, nil
}

func (r *reader) tableOf(in location) (*opened, error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	own, err := segment.OpenAt(in, size)
	switch {
	case err == nil:
		return r.bindOwn(own)
	case errors.Is(err, segment.ErrForeign), errors.Is(err, segment.ErrVersion):
		return r.bindForeign(in, size)
	}
	return nil, err
}

// find gives the position of a column by name: exactly, else without regard to case.
func find(names []string, name string) int {
	fold := -1
	for i, n := range names {
		if n == name {
			return i
		}
		if fold < 0 && strings.EqualFold(n, name) {
			fold = i
		}
	}
	return fold
}

// ownTable is a file of engine/parquet.
type ownTable struct{ file *segment.File }

func (t ownTable) groups() int { return t.file.Groups() }

func (t ownTable) batches(g int, a *batch.Allocator) iter.Seq2[*batch.Batch, error] {
	return t.file.Batches(g, a)
}

func (r *reader) bindOwn(f *segment.File) (*opened, error) {
	o := &opened{}
	var picked []int
	names := f.Schema().Names()
	for _, name := range r.columns {
		i := find(names, name)
		if i < 0 {
			o.source = append(o.source, -1)
			continue
		}
		o.source = append(o.source, len(picked))
		picked = append(picked, i)
	}
	if len(picked) == 0 && len(names) > 0 {
		picked = []int{0} // for the number of rows
	}
	own := f.Pick(picked)
	o.table = ownTable{own}
	return o, r.converters(o, own.Schema())
}

// converters compiles the conversion from the columns of the file to the fields.
func (r *reader) converters(o *opened, from *batch.Schema) error {
	for i := range r.fields {
		var c *batch.Converter
		javaText := false
		if at := o.source[i]; at >= 0 {
			f := from.Fields[at]
			if f.Type == batch.Boolean {
				f.Length = len("false") // "true" and "false" as text
			}
			javaText = f.Type == batch.Number && r.fields[i].Type == batch.String
			var err error
			if c, err = r.env.Semantics.Converter(&f, &r.fields[i]); err != nil {
				return err
			}
		}
		o.change = append(o.change, c)
		o.texts = append(o.texts, javaText)
	}
	return nil
}

// convert gives the batch (one hold) of the fields of rows of a table, which stays
// the caller's.
func (r *reader) convert(o *opened, b *batch.Batch, schema *batch.Schema) (*batch.Batch, error) {
	a := r.env.Alloc
	var cols []*batch.Column
	for i := range r.fields {
		col, err := r.column(o, b, i)
		if err != nil {
			for _, c := range cols {
				c.Release()
			}
			return nil, err
		}
		cols = append(cols, col)
	}
	return a.Assemble(schema, cols, b.Physical()), nil
}

func (r *reader) column(o *opened, b *batch.Batch, i int) (*batch.Column, error) {
	f := &r.fields[i]
	if o.source[i] < 0 {
		return r.env.Alloc.Repeat(batch.Null(f.Type), f.Type, b.Physical()), nil
	}
	col := b.Cols[o.source[i]]
	if o.texts[i] {
		return javaTexts(r.env.Alloc, col), nil
	}
	return o.change[i].Column(b, col, func(row int, err error) error {
		return &engine.Error{
			Field: f.Name, Row: r.rows + int64(row) + 1, Message: fmt.Sprintf("column %q cannot become %s", r.columns[i], f.Type),
			Hint: "choose another type for the field, and see that all files have the same columns", Err: err,
		}
	})
}

// javaTexts gives doubles as Java shows them, whatever their mask.
func javaTexts(a *batch.Allocator, col *batch.Column) *batch.Column {
	out := a.Column(batch.String)
	for i := range col.Len() {
		if col.IsNull(i) {
			out.AppendNull()
			continue
		}
		out.Data = mask.AppendJavaDouble(out.Data, col.Float(i))
		out.EndValue()
	}
	return out
}

// each gives the rows of a file as batches (one hold) of the schema of the fields.
func (r *reader) each(ctx context.Context, name string, schema *batch.Schema, use func(*batch.Batch) error) error {
	o, err := r.open(ctx, name)
	if err != nil {
		return err
	}
	err = r.rowsOf(ctx, o, schema, use)
	if e := o.close(); err == nil && e != nil {
		err = fmt.Errorf("read %s: %w", name, e)
	}
	return err
}

func (r *reader) rowsOf(ctx context.Context, o *opened, schema *batch.Schema, use func(*batch.Batch) error) error {
	for g := range o.groups() {
		for b, err := range o.batches(g, r.env.Alloc) {
			if err != nil {
				return err
			}
			out, err := r.convert(o, b, schema)
			n := b.Physical()
			b.Release()
			if err != nil {
				return err
			}
			r.rows += int64(n)
			r.env.Counters.Input.Add(int64(n))
			if err := use(out); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputFile reads one file.
type inputFile struct {
	transform.Producer
	*reader
	name string
}

// Produce implements transform.Source. Only the first copy reads.
func (p *inputFile) Produce(ctx context.Context, emit transform.Emit) error {
	if p.env.Copy > 0 {
		return nil
	}
	stopped := errors.New("stopped")
	err := p.each(ctx, p.name, p.schema, func(b *batch.Batch) error {
		if err := emit(transform.Main, b); err != nil {
			return err
		}
		select {
		case <-p.env.Stopping:
			return stopped
		default:
			return nil
		}
	})
	if errors.Is(err, stopped) {
		return nil
	}
	if err != nil || p.rows > 0 || !p.nulls {
		return err
	}
	return p.emptyRow(emit)
}

// emptyRow emits one row of nulls.
func (r *reader) emptyRow(emit transform.Emit) error {
	b := r.env.Alloc.Batch(r.schema)
	for _, c := range b.Cols {
		c.AppendNull()
	}
	return emit(transform.Main, b)
}

// inputRows reads the files that its rows name.
type inputRows struct {
	transform.Stateful
	*reader
	name  int
	codec *batch.Codec
}

// Apply implements transform.RowWise.
func (p *inputRows) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	names := b.Cols[p.name]
	fields := batch.NewSchema(p.fields...)
	for i := range b.All() {
		if p.env.Semantics.IsNull(names, i) {
			continue
		}
		name := string(p.codec.AppendText(nil, names, i))
		err := p.each(ctx, name, fields, func(rows *batch.Batch) error {
			defer rows.Release()
			sel := make([]int32, rows.Physical())
			for k := range sel {
				sel[k] = int32(i)
			}
			left := b.Gather(sel)
			defer left.Release()
			for _, c := range rows.Cols {
				c.Retain()
			}
			return emit(transform.Main, left.With(p.schema, rows.Cols...))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Finish implements transform.Finisher.
func (p *inputRows) Finish(_ context.Context, emit transform.Emit) error {
	if p.rows > 0 || !p.nulls {
		return nil
	}
	return p.emptyRow(emit)
}
