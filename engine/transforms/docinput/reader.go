package docinput

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

// ErrEnough says that the limit of rows is reached.
var ErrEnough = errors.New("row limit reached")

// reader reads documents into rows.
type reader struct {
	settings *Settings
	config   Config
	layout   *layout
	env      *transform.Env
	codec    *batch.Codec // of the source field
	rows     *Rows
	done     bool // the limit is reached
}

// failed marks errors that end the execution, whatever the error hop says.
type failed struct{ error }

func (f failed) Unwrap() error { return f.error }

// read parses one document; false when the limit is reached.
func (r *reader) read(doc Document) error {
	err := r.config.Parse(doc, r.rows)
	r.rows.drop()
	if errors.Is(err, ErrEnough) {
		r.done = true
		return nil
	}
	return err
}

// readFile opens and parses one file.
func (r *reader) readFile(ctx context.Context, f files.Info) error {
	switch {
	case f.Folder:
		return fmt.Errorf("%s is a folder; add a file mask to read the files in it", f.Path)
	case f.Size == 0 && r.settings.IgnoreEmptyFile:
		r.env.Log.Info("Empty file skipped", "file", f.Path)
		return nil
	case f.Size == 0:
		return fmt.Errorf("file %s is empty; 'ignore empty files' skips such files", f.Path)
	}
	in, err := r.env.Files.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	if r.settings.AddToResult {
		r.env.Results.AddFile(transform.ResultFile{
			Path: f.Path, Type: "GENERAL", Origin: r.env.Transform, Parent: r.env.Pipeline.Name,
			Comment: r.config.Comment, Timestamp: r.env.Now(),
		})
	}
	r.rows.file = f
	if err := r.read(Document{In: &interruptible{ctx: ctx, Reader: in}, Name: f.Path, File: true}); err != nil {
		return fmt.Errorf("file %s: %w", f.Path, err)
	}
	return nil
}

// interruptible stops reading when the execution ends.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, failed{context.Cause(i.ctx)}
	}
	return i.Reader.Read(p)
}

// list finds the files of the file table.
func (r *reader) list(ctx context.Context) ([]files.Info, error) {
	list, err := filenames.Find(ctx, r.env.Files, r.env, r.settings.Files)
	if err == nil && len(list) == 0 && !r.settings.NoFileIsFine {
		err = fmt.Errorf("no file found; check the file names and masks, or set 'do not fail when there is no file'")
	}
	return list, err
}

// stopped says whether a safe stop was asked for.
func (r *reader) stopped() bool {
	select {
	case <-r.env.Stopping:
		return true
	default:
		return r.done
	}
}

// source reads the files of the file table.
type source struct {
	transform.Producer
	*reader
}

// Produce implements transform.Source.
func (s *source) Produce(ctx context.Context, emit transform.Emit) error {
	defer s.rows.release()
	list, err := s.list(ctx)
	if err != nil {
		return &engine.Error{Transform: s.env.Transform, Err: err}
	}
	s.rows.begin(nil, 0, emit)
	s.rows.rejected = func(err error, code string) error { return s.reject(err, code, emit) }
	for _, f := range list {
		if s.stopped() {
			break
		}
		if err := s.readFile(ctx, f); err != nil {
			if err := s.rows.refuse(err); err != nil {
				return err
			}
		}
	}
	return s.rows.flush()
}

// reject sends an error row, which has no fields but the error's.
func (s *source) reject(err error, code string, emit transform.Emit) error {
	b := s.env.Alloc.Batch(&batch.Schema{})
	defer b.Release()
	b.SetRows(1)
	rej := s.env.Rejects(b)
	if s.env.Errors == nil {
		return &engine.Error{Transform: s.env.Transform, Err: err}
	}
	if err := rej.Add(0, transform.RowError{Code: code, Err: err}); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

// rowWise reads the documents that the rows of the input name.
type rowWise struct {
	transform.Stateful
	*reader
	seen int64
}

// Apply implements transform.RowWise.
func (w *rowWise) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	defer w.rows.release()
	rej := w.env.Rejects(b)
	for i := range b.All() {
		if w.done {
			break
		}
		w.rows.begin(b, i, emit)
		w.rows.rejected = func(err error, code string) error {
			return rej.Add(i, transform.RowError{Fields: w.config.Source.Field, Code: code, Err: err})
		}
		if err := w.row(ctx, b, i); err != nil {
			if err := w.rows.refuse(err); err != nil {
				return err
			}
		}
	}
	if err := w.rows.flush(); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

func (w *rowWise) row(ctx context.Context, b *batch.Batch, i int) error {
	if w.settings.InField {
		return w.field(ctx, b.Cols[w.layout.source], i)
	}
	if w.seen++; w.seen > 1 {
		return failed{fmt.Errorf("the documents come from the file table, so only one input row is expected; name the field with the documents, or remove the hop")}
	}
	list, err := w.list(ctx)
	if err != nil {
		return failed{err}
	}
	for _, f := range list {
		if w.stopped() {
			break
		}
		if err := w.readFile(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// Finish reads the file table when there was no input row at all.
func (w *rowWise) Finish(ctx context.Context, emit transform.Emit) error {
	if w.settings.InField || w.seen > 0 {
		return nil
	}
	in := &batch.Schema{}
	for _, f := range w.layout.keep {
		in.Fields = append(in.Fields, w.layout.schema.Fields[f])
	}
	b := w.env.Alloc.Batch(in)
	defer b.Release()
	for _, c := range b.Cols {
		c.AppendNull()
	}
	b.SetRows(1)
	return w.Apply(ctx, b, emit)
}

func (w *rowWise) field(ctx context.Context, col *batch.Column, i int) error {
	isNull := col.IsNull(i)
	if isNull || (w.settings.IsFile || w.settings.ReadURL) && w.env.Semantics.IsNull(col, i) {
		if w.config.Null == "" {
			return fmt.Errorf("field %q is null", w.config.Source.Field)
		}
		return w.read(Document{In: strings.NewReader(w.config.Null), Name: "null"})
	}
	text := w.codec.AppendText(nil, col, i)
	switch {
	case w.settings.IsFile:
		return w.named(ctx, string(text))
	case w.settings.ReadURL:
		return w.address(ctx, string(text))
	}
	return w.read(Document{In: bytes.NewReader(text), Name: "field " + w.config.Source.Field})
}

// named reads the file that a field names.
func (r *reader) named(ctx context.Context, name string) error {
	path, err := r.env.Resolve(name)
	if err != nil {
		return err
	}
	info, err := r.env.Files.Stat(ctx, path)
	if err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	return r.readFile(ctx, info)
}

// address reads what an address gives.
func (r *reader) address(ctx context.Context, name string) error {
	url, err := r.env.Resolve(name)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return r.named(ctx, url)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	return r.read(Document{In: resp.Body, Name: url, File: true})
}
