package text

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
)

// textOutput is one started copy of TextFileOutput.
type textOutput struct {
	transform.Stateful
	transform.TakesRaw
	env      *transform.Env
	settings *TextFileOutputSettings
	in       *batch.Schema
	schema   *batch.Schema // of the rows that pass on
	format   format
	name     outputName
	ended    string

	compression files.Compression
	maxOpen     int
	nameField   int // -1: one name for all rows
	nameCodec   *batch.Codec
	buffers     sync.Pool

	// Owned by the goroutine of ApplyEncoded, Finish, Commit and Abort.
	current *outputFile // with one name for all rows
	open    map[string]*outputFile
	written map[string]bool // files that were closed to stay below maxOpen
	opened  int64           // files so far, for the age of the open ones
	split   int
	lines   int64 // written so far, headers and footers too
}

// encodedRows are the lines of one batch; ends is only there when the lines may
// go to different files.
type encodedRows struct {
	text  []byte
	plain []byte // scratch: before the encoding
	cells []cell
	ends  []int
}

// Apply implements transform.RowWise.
func (p *textOutput) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	encoded, err := p.Encode(ctx, b)
	if err != nil {
		return err
	}
	return p.ApplyEncoded(ctx, b, encoded, emit)
}

// Encode implements transform.Encoder.
func (p *textOutput) Encode(_ context.Context, b *batch.Batch) (any, error) {
	e, ok := p.buffers.Get().(*encodedRows)
	if !ok {
		e = &encodedRows{}
	}
	var err error
	if e.cells, err = p.format.cells(e.cells[:0], b); err != nil {
		return nil, err
	}
	var ends *[]int
	if e.ends = e.ends[:0]; p.nameField >= 0 || p.name.splitEvery > 0 {
		ends = &e.ends
	}
	if p.format.charset.codec == nil {
		e.text = p.format.lines(e.text[:0], e.cells, b, ends)
		return e, nil
	}
	e.plain = p.format.lines(e.plain[:0], e.cells, b, ends)
	e.transcode(p.format.charset)
	return e, nil
}

// transcode fills text from plain, line by line where line ends matter.
func (e *encodedRows) transcode(c charset) {
	e.text = e.text[:0]
	if len(e.ends) == 0 {
		e.text = c.encode(e.text, e.plain)
		return
	}
	from := 0
	for i, end := range e.ends {
		e.text = c.encode(e.text, e.plain[from:end])
		from = end
		e.ends[i] = len(e.text)
	}
}

// keepEncoded is the largest buffer that is kept for the next batch.
const keepEncoded = 8 << 20

// ApplyEncoded implements transform.Encoder.
func (p *textOutput) ApplyEncoded(ctx context.Context, b *batch.Batch, encoded any, emit transform.Emit) error {
	e := encoded.(*encodedRows)
	before := p.lines
	err := p.write(ctx, b, e)
	p.env.Counters.Output.Add(p.lines - before)
	clear(e.cells)
	if cap(e.text) <= keepEncoded {
		p.buffers.Put(e)
	}
	if err != nil {
		return err
	}
	if p.schema != p.in {
		return emit(transform.Main, b.As(p.schema))
	}
	return emit(transform.Main, b.Retain())
}

func (p *textOutput) write(ctx context.Context, b *batch.Batch, e *encodedRows) error {
	switch {
	case b.Rows() == 0:
		return nil
	case p.nameField >= 0:
		return p.writeByName(ctx, b, e)
	case p.name.splitEvery > 0:
		return p.writeSplit(ctx, e)
	}
	if err := p.ready(ctx); err != nil {
		return err
	}
	p.lines += int64(b.Rows())
	_, err := p.current.Write(e.text)
	return err
}

// ready opens the current file and writes its header.
func (p *textOutput) ready(ctx context.Context) error {
	if p.current != nil {
		return nil
	}
	f, err := p.openFile(ctx, p.name.file(p.name.base, p.split))
	if err != nil {
		return err
	}
	p.current = f
	return p.begin(f)
}

// begin writes the header, unless the file holds something already.
func (p *textOutput) begin(f *outputFile) error {
	if !p.format.header || f.appended {
		return nil
	}
	return p.titles(f)
}

func (p *textOutput) titles(f *outputFile) error {
	p.lines++
	_, err := f.Write(p.format.charset.encode(nil, p.format.titles(nil)))
	return err
}

// writeSplit starts a new file whenever the number of lines so far, headers and
// footers included, is a multiple of the setting: Hop's rule.
func (p *textOutput) writeSplit(ctx context.Context, e *encodedRows) error {
	footer := int64(0)
	if p.format.footer {
		footer = 1
	}
	from := 0
	for _, end := range e.ends {
		if err := p.ready(ctx); err != nil {
			return err
		}
		if p.lines > 0 && (p.lines+footer)%p.name.splitEvery == 0 {
			if err := p.end(p.current, false); err != nil {
				return err
			}
			p.current = nil
			p.split++
			if err := p.ready(ctx); err != nil {
				return err
			}
		}
		p.lines++
		if _, err := p.current.Write(e.text[from:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// writeByName writes each row to the file that its field names, neighbours with
// one name together.
func (p *textOutput) writeByName(ctx context.Context, b *batch.Batch, e *encodedRows) error {
	names, err := b.Col(p.nameField, p.nameCodec)
	if err != nil {
		return err
	}
	var name []byte
	last := ""
	from, start := 0, 0
	flush := func(end int) error {
		if start == end {
			return nil
		}
		f, err := p.named(ctx, last)
		if err == nil {
			_, err = f.Write(e.text[start:end])
		}
		start = end
		return err
	}
	for r, end := range e.ends {
		i := b.Row(r)
		if p.env.Semantics.IsNull(names, i) {
			return &batch.RowError{Row: i, Err: fmt.Errorf("field %q holds no file name", p.in.Fields[p.nameField].Name)}
		}
		name = p.nameCodec.AppendText(name[:0], names, i)
		if string(name) != last {
			if err := flush(from); err != nil {
				return err
			}
			last = string(name)
		}
		p.lines++
		from = end
	}
	return flush(from)
}

// named gives the file for a name from a row, opened when it is not.
func (p *textOutput) named(ctx context.Context, base string) (*outputFile, error) {
	resolved, err := p.env.Resolve(base)
	if err != nil {
		return nil, err
	}
	name := p.name.file(resolved, p.split)
	if f := p.open[name]; f != nil {
		return f, nil
	}
	if len(p.open) >= p.maxOpen {
		if err := p.closeOldest(); err != nil {
			return nil, err
		}
	}
	f, err := p.openFile(ctx, name)
	if err != nil {
		return nil, err
	}
	p.open[name] = f
	return f, p.begin(f)
}

func (p *textOutput) closeOldest() error {
	var oldest *outputFile
	for _, f := range p.open {
		if oldest == nil || f.age < oldest.age {
			oldest = f
		}
	}
	delete(p.open, oldest.name)
	if p.written == nil {
		p.written = map[string]bool{}
	}
	p.written[oldest.name] = true
	return oldest.close()
}

// outputFile is one file being written.
type outputFile struct {
	name     string
	age      int64
	appended bool // it held something before
	file     files.Writer
	buffer   *bufio.Writer
	pack     io.WriteCloser
}

const writeBuffer = 64 << 10

func (p *textOutput) openFile(ctx context.Context, name string) (*outputFile, error) {
	appending := p.settings.File.Append || p.written[name]
	f := &outputFile{name: name, age: p.opened}
	p.opened++
	if appending {
		info, err := p.env.Files.Stat(ctx, name)
		f.appended = err == nil && (info.Size > 0 || p.written[name])
		if f.appended && p.compression == files.Zip {
			return nil, fmt.Errorf("cannot append to the archive %s: write a new file, or use GZip", name)
		}
	}
	var err error
	f.file, err = p.env.Files.Create(ctx, name, files.CreateOptions{Append: appending, Parents: p.settings.CreateParentFolder})
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	f.buffer = bufio.NewWriterSize(f.file, writeBuffer)
	if f.pack, err = p.compression.Writer(f.buffer, p.name.entry(name)); err != nil {
		return nil, errors.Join(fmt.Errorf("create %s: %w", name, err), f.file.Abort())
	}
	if p.settings.File.AddToResult && !p.written[name] {
		addResultFile(ctx, p.env, name, "This file was created with a text file output transform")
	}
	if mark := p.format.charset.mark; len(mark) > 0 && !f.appended {
		_, err = f.Write(mark)
	}
	return f, err
}

func (f *outputFile) Write(b []byte) (int, error) {
	n, err := f.pack.Write(b)
	if err != nil {
		err = fmt.Errorf("write %s: %w", f.name, err)
	}
	return n, err
}

// close completes the file and shows it under its name.
func (f *outputFile) close() error {
	err := f.pack.Close()
	if e := f.buffer.Flush(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.name, errors.Join(err, f.file.Abort()))
	}
	if err := f.file.Commit(); err != nil {
		return fmt.Errorf("complete %s: %w", f.name, err)
	}
	return nil
}

// end writes what stands at the end of a file, and closes it.
func (p *textOutput) end(f *outputFile, last bool) error {
	if p.format.footer {
		if err := p.titles(f); err != nil {
			return errors.Join(err, f.file.Abort())
		}
	}
	if last && p.hasClosingLine() {
		p.lines++
		if _, err := f.Write(p.format.charset.encode(nil, []byte(p.ended))); err != nil {
			return errors.Join(err, f.file.Abort())
		}
	}
	return f.close()
}

// Finish implements transform.Finisher: without rows a file is still made, unless
// it is to be opened late and has no closing line.
func (p *textOutput) Finish(ctx context.Context, _ transform.Emit) error {
	if p.current != nil || p.nameField >= 0 || p.settings.File.OpenLate && !p.hasClosingLine() {
		return nil
	}
	f, err := p.openFile(ctx, p.name.file(p.name.base, p.split))
	if err != nil {
		return err
	}
	p.current = f
	p.format.footer = false // Hop has no titles to write without rows
	return nil
}

// Commit implements transform.Sink.
func (p *textOutput) Commit(context.Context) error {
	before := p.lines
	var failed error
	if p.current != nil {
		failed = p.end(p.current, true)
		p.current = nil
	}
	for _, name := range sortedKeys(p.open) {
		f := p.open[name]
		delete(p.open, name)
		if failed != nil {
			failed = errors.Join(failed, f.file.Abort())
			continue
		}
		failed = p.end(f, true)
	}
	p.env.Counters.Output.Add(p.lines - before)
	return failed
}

// Abort implements transform.Sink. Files that were complete, and bytes that were
// appended, stay.
func (p *textOutput) Abort(context.Context) error {
	var failed error
	if p.current != nil {
		failed = p.current.file.Abort()
		p.current = nil
	}
	for _, name := range sortedKeys(p.open) {
		failed = errors.Join(failed, p.open[name].file.Abort())
		delete(p.open, name)
	}
	return failed
}

func (p *textOutput) hasClosingLine() bool { return strings.TrimSpace(p.ended) != "" }
