package parquet

import (
	"context"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/files"
	segment "sluice/engine/parquet"
	"sluice/engine/transform"
)

// output is one started copy of ParquetFileOutput.
type output struct {
	transform.Stateful
	env       *transform.Env
	from      []int // field of the rows per column
	change    []*batch.Converter
	schema    *batch.Schema // of the file
	options   segment.Options
	base      string // file name without number and extension
	extension string
	numbered  bool
	every     int64 // rows of a file; 0: all
	parents   bool

	current files.Writer
	name    string
	writer  *segment.Writer
	split   int
	read    int64 // rows so far
}

// Apply implements transform.RowWise.
func (p *output) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	if err := p.write(ctx, b); err != nil {
		return err
	}
	p.env.Counters.Output.Add(int64(b.Rows()))
	return emit(transform.Main, b.Retain())
}

// write cuts a batch where files end.
func (p *output) write(ctx context.Context, b *batch.Batch) error {
	for from := 0; from < b.Rows(); {
		if p.every > 0 && p.writer != nil && p.writer.Rows() >= p.every {
			if err := p.finish(); err != nil {
				return err
			}
		}
		if err := p.open(ctx); err != nil {
			return err
		}
		end := b.Rows()
		if p.every > 0 {
			end = int(min(int64(end), int64(from)+p.every-p.writer.Rows()))
		}
		part := b.Slice(from, end)
		err := p.rows(part)
		part.Release()
		if err != nil {
			return err
		}
		p.read += int64(end - from)
		from = end
	}
	return nil
}

// rows adds rows to the current file and writes what is complete of it.
func (p *output) rows(b *batch.Batch) error {
	dense := b.Dense()
	defer dense.Release()
	cols := make([]*batch.Column, 0, len(p.from))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i := range p.from {
		c, err := p.column(dense, i)
		if err != nil {
			return err
		}
		cols = append(cols, c)
	}
	out := p.env.Alloc.Assemble(p.schema, cols, dense.Physical())
	cols = cols[:0] // the batch has them
	defer out.Release()
	if err := p.writer.Write(out); err != nil {
		if errors.Is(err, segment.ErrDecimals) {
			return &engine.Error{Message: "a number has more digits than its column takes", Hint: "raise the length of the field, or clear it", Err: err}
		}
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	return p.put(p.writer.Take())
}

func (p *output) put(part []byte) error {
	if _, err := p.current.Write(part); err != nil {
		return fmt.Errorf("write %s: %w", p.name, err)
	}
	return nil
}

// column gives column i (one hold) of the file.
func (p *output) column(b *batch.Batch, i int) (*batch.Column, error) {
	src := b.Cols[p.from[i]]
	f := &p.schema.Fields[i]
	col, err := p.change[i].Column(b, src, func(row int, err error) error {
		return &engine.Error{Field: f.Name, Row: p.read + int64(row) + 1, Message: fmt.Sprintf("the value cannot become %s", f.Type), Err: err}
	})
	if err != nil {
		return nil, err
	}
	out := col
	switch {
	case f.Type == batch.String && !p.env.Semantics.EmptyDiffers:
		out = p.withoutEmpty(col)
	case f.Type == batch.BigNumber && f.Length > 0 && f.Length <= 38 && f.Precision >= 0 && f.Precision < f.Length:
		out, err = p.rescaled(col, int32(f.Precision))
	}
	if out != col {
		col.Release()
	}
	return out, err
}

// withoutEmpty gives the column with nulls for empty texts; the column itself when
// it has none.
func (p *output) withoutEmpty(col *batch.Column) *batch.Column {
	n := col.Len()
	valid := make(batch.Bitmap, (n+7)/8)
	changed := false
	for i := range n {
		empty := col.Offsets[i] == col.Offsets[i+1]
		changed = changed || empty && !col.IsNull(i)
		valid.Set(i, !empty && !col.IsNull(i))
	}
	if !changed {
		return col
	}
	out := p.env.Alloc.Column(batch.String)
	out.AppendColumn(col)
	out.SetValid(valid)
	return out
}

// rescaled gives decimals the scale of their column, rounding half up.
func (p *output) rescaled(col *batch.Column, scale int32) (*batch.Column, error) {
	if col.Big == nil && (col.Scale == scale || col.Nulls() == col.Len()) {
		return col, nil
	}
	out := p.env.Alloc.Column(batch.BigNumber)
	for i := range col.Len() {
		if col.IsNull(i) {
			out.AppendNull()
			continue
		}
		d, err := col.Decimal(i).Rescale(scale, decimal.HalfUp)
		if err != nil {
			out.Release()
			return nil, err
		}
		out.AppendDecimal(d)
	}
	return out, nil
}

// open begins the next file when none is open.
func (p *output) open(ctx context.Context) error {
	if p.writer != nil {
		return nil
	}
	p.split++
	p.name = p.base
	if p.numbered {
		p.name += fmt.Sprintf("-%04d", p.split)
	}
	p.name += p.extension
	f, err := p.env.Files.Create(ctx, p.name, files.CreateOptions{Parents: p.parents})
	if err != nil {
		return fmt.Errorf("create %s: %w", p.name, err)
	}
	p.current, p.writer = f, segment.NewWriter(p.schema, p.options)
	return nil
}

// finish completes the current file and shows it under its name.
func (p *output) finish() error {
	if p.writer == nil {
		return nil
	}
	rest, err := p.writer.Finish()
	p.writer = nil
	if err == nil {
		err = p.put(rest)
	}
	f := p.current
	p.current = nil
	if err != nil {
		return errors.Join(err, f.Abort())
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("complete %s: %w", p.name, err)
	}
	return nil
}

// Commit implements transform.Sink.
func (p *output) Commit(context.Context) error { return p.finish() }

// Abort implements transform.Sink. Files that were complete stay.
func (p *output) Abort(context.Context) error {
	p.writer = nil
	if p.current == nil {
		return nil
	}
	f := p.current
	p.current = nil
	return f.Abort()
}
