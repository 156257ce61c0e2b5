// Package files gives transforms and actions one way to reach files, wherever
// they lie.
//
// A location is a plain path, a file:// URI, or a remote's "name:path". Store
// opens, creates and lists them; Local is the Store of this machine's file
// system, and Mux hands each location to the store that knows its scheme.
package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrNotSupported says that a store cannot do what was asked, such as appending
// to an object in a bucket. The message says what to do instead.
var ErrNotSupported = errors.New("not supported by this storage")

// Info describes one file or folder.
type Info struct {
	Path     string // as Store wants it back: a plain path, or "remote:path"
	URI      string // file:///… for local files
	Name     string // last element
	Size     int64  // bytes; 0 for folders
	ModTime  time.Time
	Folder   bool
	Hidden   bool
	Readable bool
	Writable bool
}

// Writer receives a new file. Commit makes it visible under its name, whole;
// Abort leaves what was there before. One of them is called, once.
type Writer interface {
	io.Writer
	Commit() error
	Abort() error
}

// CreateOptions say how a file is made.
type CreateOptions struct {
	Append  bool // add to what is there; such bytes are visible before Commit and Abort cannot take them back
	Parents bool // make missing folders
}

// Store reaches the files of one kind of location. Errors wrap fs.ErrNotExist,
// fs.ErrPermission or ErrNotSupported where one applies.
type Store interface {
	Open(ctx context.Context, location string) (io.ReadCloser, error)
	Create(ctx context.Context, location string, o CreateOptions) (Writer, error)
	Stat(ctx context.Context, location string) (Info, error)
	// List gives what lies in a folder, sorted by path; deep includes all
	// folders below.
	List(ctx context.Context, folder string, deep bool) ([]Info, error)
	MakeFolder(ctx context.Context, location string) error
	Remove(ctx context.Context, location string) error // file or empty folder
	RemoveAll(ctx context.Context, location string) error
	Move(ctx context.Context, from, to string) error
}

// Exists says whether something is at a location.
func Exists(ctx context.Context, s Store, location string) (bool, error) {
	_, err := s.Stat(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadAll reads a whole file.
func ReadAll(ctx context.Context, s Store, location string) ([]byte, error) {
	r, err := s.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
