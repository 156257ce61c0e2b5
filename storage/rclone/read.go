package rclone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rclone/rclone/fs"
	"github.com/rclone/rclone/fs/operations"

	"sluice/storage"
)

// Open reads a range and goes on after a broken connection.
func (r *Remote) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	var in io.ReadCloser
	err := r.attempt(ctx, "read", name, func(ctx context.Context, _ int) (err error) {
		in, err = r.open(ctx, name, offset, length)
		return err
	})
	return in, err
}

func (r *Remote) open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	o, err := r.place.fs.NewObject(ctx, name)
	if err != nil {
		return nil, certain(err)
	}
	size := o.Size()
	if size >= 0 {
		rest := max(size-offset, 0)
		if length < 0 || length > rest {
			length = rest
		}
	}
	if length == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	var options []fs.OpenOption
	switch {
	case offset == 0 && length == size:
	case length < 0:
		options = append(options, &fs.SeekOption{Offset: offset})
	default:
		options = append(options, &fs.RangeOption{Start: offset, End: offset + length - 1})
	}
	in, err := operations.NewReOpen(ctx, o, max(r.backoff.Attempts, 1), options...)
	if err != nil {
		return nil, err
	}
	var source io.Reader = in
	if length >= 0 {
		source = io.LimitReader(in, length)
	}
	return &objectReader{body: bodyReader{ctx, source, r.limits, length, errCutOff}, in: in, remote: r, name: name}, nil
}

// objectReader explains what goes wrong while reading.
type objectReader struct {
	body   bodyReader
	in     io.Closer
	remote *Remote
	name   string
	ended  bool
}

func (o *objectReader) Read(p []byte) (int, error) {
	n := 0
	err := o.remote.place.firstAlone(func() (err error) {
		n, err = o.body.Read(p)
		return err
	})
	end := errors.Is(err, io.EOF)
	if err == nil || end {
		o.ended = o.ended || end
		return n, err
	}
	return n, o.remote.place.explain(o.body.ctx, "read", o.name, err)
}

// Close reports an error only when the object was read to its end: servers
// complain in many ways about a transfer that is given up.
func (o *objectReader) Close() error {
	err := o.in.Close()
	if !o.ended && o.body.left != 0 {
		return nil
	}
	return o.remote.place.explain(o.body.ctx, "close", o.name, err)
}

// certain keeps ErrNotFound for what the backend itself says is not there.
func certain(err error) error {
	switch {
	case errors.Is(err, fs.ErrorObjectNotFound), errors.Is(err, fs.ErrorDirNotFound), errors.Is(err, fs.ErrorIsDir), errors.Is(err, fs.ErrorNotAFile), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	return err
}

// Stat describes an object. Folders are found by List.
func (r *Remote) Stat(ctx context.Context, name string) (storage.Object, error) {
	var out storage.Object
	err := r.attempt(ctx, "stat", name, func(ctx context.Context, _ int) error {
		o, err := r.place.fs.NewObject(ctx, name)
		if err != nil {
			return certain(err)
		}
		out = storage.Object{Name: name, Size: o.Size(), Modified: r.modified(ctx, o)}
		return nil
	})
	return out, err
}

// modified asks no backend a second time.
func (r *Remote) modified(ctx context.Context, o fs.DirEntry) time.Time {
	if r.place.fs.Features().SlowModTime {
		return time.Time{}
	}
	return o.ModTime(ctx)
}

// List gives the direct children of dir.
func (r *Remote) List(ctx context.Context, dir string) ([]storage.Object, error) {
	var list []storage.Object
	try := func(ctx context.Context, _ int) error {
		entries, err := r.place.fs.List(ctx, dir)
		if errors.Is(err, fs.ErrorDirNotFound) {
			list = nil
			return nil
		}
		if err != nil {
			return err
		}
		list = make([]storage.Object, 0, len(entries))
		for _, e := range entries {
			_, isDir := e.(fs.Directory)
			o := storage.Object{Name: e.Remote(), Dir: isDir}
			if !isDir {
				o.Size, o.Modified = e.Size(), r.modified(ctx, e)
			}
			list = append(list, o)
		}
		slices.SortFunc(list, func(a, b storage.Object) int { return strings.Compare(a.Name, b.Name) })
		return nil
	}
	if dir == "" {
		err := r.retry(ctx, "list", dir, try)
		return list, err
	}
	err := r.attempt(ctx, "list", dir, try)
	return list, err
}
