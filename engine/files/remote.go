package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sluice/storage"
)

// Remotes is the Store of everything that a storage.Remote reaches: locations
// like "remote:path" and URIs. It is safe for many goroutines.
type Remotes struct {
	// Locate opens the remote of a location and gives the object's name in it, ""
	// for its root, and what goes before that name to make a location again.
	Locate func(ctx context.Context, location string) (Located, error)
	// Folder is where files are kept until they are stored whole; empty is the
	// system's folder for temporary files.
	Folder string
}

// Located is a place on an opened remote.
type Located struct {
	Remote storage.Remote
	Name   string // of the object, slash-separated
	Prefix string // Prefix + name is a location
}

var _ Store = (*Remotes)(nil)

// asFileError lets callers test for the conditions of io/fs.
func asFileError(op, location string, err error) error {
	var kind error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		kind = fs.ErrNotExist
	case errors.Is(err, storage.ErrPermission), errors.Is(err, storage.ErrAuth):
		kind = fs.ErrPermission
	case errors.Is(err, storage.ErrExists):
		kind = fs.ErrExist
	case errors.Is(err, errors.ErrUnsupported):
		kind = ErrNotSupported
	default:
		if hint := storage.Hint(err); hint != "" {
			return fmt.Errorf("%s %s: %w (%s)", op, storage.Redact(location), err, hint)
		}
		return fmt.Errorf("%s %s: %w", op, storage.Redact(location), err)
	}
	return fmt.Errorf("%s %s: %w: %w", op, storage.Redact(location), kind, err)
}

func (r *Remotes) locate(ctx context.Context, op, location string) (Located, error) {
	l, err := r.Locate(ctx, location)
	if err != nil {
		return l, asFileError(op, location, err)
	}
	return l, nil
}

// Open implements Store.
func (r *Remotes) Open(ctx context.Context, location string) (io.ReadCloser, error) {
	l, err := r.locate(ctx, "open", location)
	if err != nil {
		return nil, err
	}
	in, err := l.Remote.Open(ctx, l.Name, 0, -1)
	return in, asFileError("open", location, err)
}

// Create implements Store. The bytes wait in a temporary file and are stored in
// one piece by Commit; nothing can be added to an object.
func (r *Remotes) Create(ctx context.Context, location string, o CreateOptions) (Writer, error) {
	if o.Append {
		return nil, fmt.Errorf("append to %s: %w: remotes store whole files; write a new file instead", storage.Redact(location), ErrNotSupported)
	}
	l, err := r.locate(ctx, "create", location)
	if err != nil {
		return nil, err
	}
	if err := storage.CheckName(l.Name); err != nil {
		return nil, asFileError("create", location, err)
	}
	f, err := os.CreateTemp(r.Folder, "sluice-upload-")
	if err != nil {
		return nil, err
	}
	return &upload{File: f, ctx: ctx, at: l, location: location}, nil
}

// upload is a file on its way to a remote. It keeps the context since Commit has
// none of its own.
type upload struct {
	*os.File
	ctx      context.Context //nolint:containedctx // see above
	at       Located
	location string
}

// Commit implements Writer.
func (u *upload) Commit() error {
	st, err := u.Stat()
	if err == nil {
		err = asFileError("store", u.location, u.at.Remote.Put(u.ctx, u.at.Name, storage.Content{Body: u.File, Size: st.Size()}))
	}
	return errors.Join(err, u.Abort())
}

// Abort implements Writer.
func (u *upload) Abort() error { return errors.Join(u.Close(), os.Remove(u.Name())) }

// Stat implements Store. On object stores a folder is what has something in it.
func (r *Remotes) Stat(ctx context.Context, location string) (Info, error) {
	l, err := r.locate(ctx, "stat", location)
	if err != nil {
		return Info{}, err
	}
	if l.Name == "" {
		return l.info(storage.Object{Dir: true}), nil
	}
	o, err := l.Remote.Stat(ctx, l.Name)
	if err == nil {
		return l.info(o), nil
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return Info{}, asFileError("stat", location, err)
	}
	dir := path.Dir(l.Name)
	if dir == "." {
		dir = ""
	}
	list, listErr := l.Remote.List(ctx, dir)
	if listErr != nil {
		return Info{}, asFileError("stat", location, listErr)
	}
	for _, o := range list {
		if o.Dir && o.Name == l.Name {
			return l.info(o), nil
		}
	}
	return Info{}, asFileError("stat", location, err)
}

func (l Located) info(o storage.Object) Info {
	name := path.Base(o.Name)
	return Info{
		Path: l.Prefix + o.Name, URI: l.Prefix + o.Name, Name: name, Size: o.Size, ModTime: o.Modified, Folder: o.Dir,
		Hidden: strings.HasPrefix(name, ".") && name != ".", Readable: true, Writable: true,
	}
}

// List implements Store. Left-overs of unfinished puts are not shown.
func (r *Remotes) List(ctx context.Context, folder string, deep bool) ([]Info, error) {
	l, err := r.locate(ctx, "list", folder)
	if err != nil {
		return nil, err
	}
	var list []Info
	todo := []string{l.Name}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		objects, err := l.Remote.List(ctx, dir)
		if err != nil {
			return nil, asFileError("list", folder, err)
		}
		for _, o := range objects {
			if storage.IsTemporary(o.Name) {
				continue
			}
			list = append(list, l.info(o))
			if o.Dir && deep {
				todo = append(todo, o.Name)
			}
		}
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// MakeFolder implements Store. Object stores have no folders to make.
func (r *Remotes) MakeFolder(ctx context.Context, location string) error {
	l, err := r.locate(ctx, "make folder", location)
	if err != nil {
		return err
	}
	m, ok := l.Remote.(storage.FolderMaker)
	if !ok || l.Name == "" {
		return nil
	}
	if err := m.MakeFolder(ctx, l.Name); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return asFileError("make folder", location, err)
	}
	return nil
}

// Remove implements Store.
func (r *Remotes) Remove(ctx context.Context, location string) error {
	info, err := r.Stat(ctx, location)
	if err != nil {
		return err
	}
	l, err := r.locate(ctx, "remove", location)
	if err != nil {
		return err
	}
	if !info.Folder {
		return asFileError("remove", location, l.Remote.Delete(ctx, l.Name))
	}
	if f, ok := l.Remote.(storage.FolderRemover); ok {
		return asFileError("remove", location, f.RemoveFolder(ctx, l.Name))
	}
	return nil
}

// RemoveAll implements Store. The root of a remote is never removed.
func (r *Remotes) RemoveAll(ctx context.Context, location string) error {
	l, err := r.locate(ctx, "remove", location)
	if err != nil {
		return err
	}
	if l.Name == "" {
		return fmt.Errorf("%s is the root of a remote and is not removed", storage.Redact(location))
	}
	info, err := r.Stat(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Folder {
		return r.Remove(ctx, location)
	}
	list, err := r.List(ctx, location, true)
	if err != nil {
		return err
	}
	slices.Reverse(list) // what lies in a folder goes before it
	for _, i := range list {
		if err := r.Remove(ctx, i.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := r.Remove(ctx, location); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Move implements Store: on the server where it can, else by copying.
func (r *Remotes) Move(ctx context.Context, from, to string) error {
	a, err := r.locate(ctx, "move", from)
	if err != nil {
		return err
	}
	b, err := r.locate(ctx, "move", to)
	if err != nil {
		return err
	}
	if m, ok := a.Remote.(storage.Mover); ok && a.Prefix == b.Prefix {
		err := m.Move(ctx, a.Name, b.Name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return asFileError("move", from, err)
		}
	}
	return copyThenRemove(ctx, r, r, from, to)
}

// copyThenRemove moves a file between stores.
func copyThenRemove(ctx context.Context, src, dst Store, from, to string) error {
	in, err := src.Open(ctx, from)
	if err != nil {
		return err
	}
	w, err := dst.Create(ctx, to, CreateOptions{})
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(w, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return errors.Join(err, w.Abort())
	}
	if err := w.Commit(); err != nil {
		return err
	}
	return src.Remove(ctx, from)
}
