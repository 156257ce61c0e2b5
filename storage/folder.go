package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
)

// Folder is a Remote over a folder of this machine. It needs no rclone, so a
// pipeline with local files starts at once. Put writes a temporary file,
// syncs it, renames it and syncs the folder: what it reported as stored
// survives a power cut.
type Folder struct {
	root     string
	dirMode  fs.FileMode
	fileMode fs.FileMode
	disk     disk
	nonce    string
	attempts atomic.Int64
}

var (
	_ Remote            = (*Folder)(nil)
	_ ConditionalPutter = (*Folder)(nil)
	_ Mover             = (*Folder)(nil)
	_ FolderMaker       = (*Folder)(nil)
	_ FolderRemover     = (*Folder)(nil)
	_ Locker            = (*Folder)(nil)
	_ SpaceReporter     = (*Folder)(nil)
)

// NewPrivateFolder is for snapshots, caches and records: only this user can
// read what it creates (0700, 0600). root is absolute and created when first
// written to.
func NewPrivateFolder(root string) *Folder { return newFolder(root, 0o700, 0o600) }

// NewFolder is for files the user asked for; the umask decides who reads
// them.
func NewFolder(root string) *Folder { return newFolder(root, 0o777, 0o666) }

func newFolder(root string, dirMode, fileMode fs.FileMode) *Folder {
	var nonce [6]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return &Folder{root: filepath.Clean(root), dirMode: dirMode, fileMode: fileMode, disk: osDisk{}, nonce: hex.EncodeToString(nonce[:])}
}

// Capabilities of a local disk.
func (f *Folder) Capabilities() Capabilities {
	return Capabilities{Local: true, AtomicPut: true, Folders: true}
}

func (f *Folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// enter checks a name and the context before any work.
func (f *Folder) enter(ctx context.Context, op, name string) error {
	err := CheckName(name)
	if err == nil && filepath.Separator != '/' && (strings.ContainsRune(name, filepath.Separator) || !filepath.IsLocal(filepath.FromSlash(name))) {
		err = fmt.Errorf("name %q: %w", name, ErrBadName)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	return f.explain(op, name, err)
}

// explain adds operation, place and sentinel to an error of the system.
func (f *Folder) explain(op, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{Op: op, Location: f.path(name), Err: classifySystem(err)}
}

func classifySystem(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: %w", ErrExists, err)
	case errors.Is(err, fs.ErrPermission), isReadOnly(err):
		return fmt.Errorf("%w: %w", ErrPermission, err)
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

// Put stores the content durably.
func (f *Folder) Put(ctx context.Context, name string, content Content) error {
	return f.put(ctx, name, content, f.disk.Rename)
}

// PutIfAbsent stores the content durably unless name is taken. The file
// system decides, by a hard link; ErrUnsupported where it has none.
func (f *Folder) PutIfAbsent(ctx context.Context, name string, content Content) error {
	return f.put(ctx, name, content, func(from, to string) error {
		if err := f.disk.Link(from, to); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return err
			}
			return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
		}
		return f.disk.Remove(from)
	})
}

func (f *Folder) put(ctx context.Context, name string, content Content, publish func(from, to string) error) (err error) {
	if err := f.enter(ctx, "write", name); err != nil {
		return err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	if err := f.MakeFolder(ctx, dir); err != nil {
		return err
	}
	final := f.path(name)
	temporary := TemporaryName(final, f.nonce, int(f.attempts.Add(1)))
	defer func() {
		if err != nil {
			_ = f.disk.Remove(temporary) // readers ignore it anyway
			err = f.explain("write", name, err)
		}
	}()
	if err := f.write(ctx, temporary, content); err != nil {
		return err
	}
	if err := publish(temporary, final); err != nil {
		return err
	}
	return f.disk.SyncDir(filepath.Dir(final))
}

func (f *Folder) write(ctx context.Context, name string, content Content) (err error) {
	out, err := f.disk.Create(name, f.fileMode)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
	}()
	n, err := io.Copy(out, NewContextReader(ctx, content.Reader()))
	if err != nil {
		return err
	}
	if n != content.Size {
		return fmt.Errorf("%d of %d bytes: %w", n, content.Size, io.ErrUnexpectedEOF)
	}
	return out.Sync()
}

// MakeFolder creates dir and its parents, durably.
func (f *Folder) MakeFolder(ctx context.Context, dir string) error {
	if dir != "" {
		if err := f.enter(ctx, "make folder", dir); err != nil {
			return err
		}
	}
	return f.explain("make folder", dir, f.makeFolder(f.path(dir)))
}

func (f *Folder) makeFolder(full string) error {
	if f.disk.IsDir(full) {
		return nil
	}
	parent := filepath.Dir(full)
	if parent != full {
		if err := f.makeFolder(parent); err != nil {
			return err
		}
	}
	if err := f.disk.Mkdir(full, f.dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.disk.SyncDir(parent)
}

// Open reads a range of the file.
func (f *Folder) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := f.enter(ctx, "read", name); err != nil {
		return nil, err
	}
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, f.explain("read", name, err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, f.explain("read", name, fmt.Errorf("a folder: %w", ErrNotFound))
	}
	if length < 0 {
		length = 1<<63 - 1 - offset
	}
	section := io.NewSectionReader(file, offset, length)
	return &fileReader{NewContextReader(ctx, section), file}, nil
}

type fileReader struct {
	io.Reader
	io.Closer
}

// Stat describes the file or folder.
func (f *Folder) Stat(ctx context.Context, name string) (Object, error) {
	if err := f.enter(ctx, "stat", name); err != nil {
		return Object{}, err
	}
	info, err := os.Stat(f.path(name))
	if err != nil {
		return Object{}, f.explain("stat", name, err)
	}
	return object(name, info), nil
}

func object(name string, info fs.FileInfo) Object {
	o := Object{Name: name, Modified: info.ModTime(), Dir: info.IsDir()}
	if !o.Dir {
		o.Size = info.Size()
	}
	return o
}

// List gives the direct children of dir.
func (f *Folder) List(ctx context.Context, dir string) ([]Object, error) {
	if dir != "" {
		if err := f.enter(ctx, "list", dir); err != nil {
			return nil, err
		}
	}
	entries, err := os.ReadDir(f.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.explain("list", dir, err)
	}
	list := make([]Object, 0, len(entries))
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(f.path(dir), e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile, or a dangling link
		}
		if err != nil {
			return nil, f.explain("list", path.Join(dir, e.Name()), err)
		}
		list = append(list, object(path.Join(dir, e.Name()), info))
	}
	sortObjects(list)
	return list, nil
}

// Delete removes the file.
func (f *Folder) Delete(ctx context.Context, name string) error {
	if err := f.enter(ctx, "delete", name); err != nil {
		return err
	}
	info, err := os.Lstat(f.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return f.explain("delete", name, err)
	case info.IsDir():
		return f.explain("delete", name, fmt.Errorf("a folder: %w", ErrBadName))
	}
	if err := f.disk.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.explain("delete", name, err)
	}
	return f.explain("delete", name, f.disk.SyncDir(filepath.Dir(f.path(name))))
}

// Move renames the file durably and replaces the target.
func (f *Folder) Move(ctx context.Context, from, to string) error {
	if err := f.enter(ctx, "move", from); err != nil {
		return err
	}
	if err := f.enter(ctx, "move", to); err != nil {
		return err
	}
	if err := f.makeFolder(filepath.Dir(f.path(to))); err != nil {
		return f.explain("move", to, err)
	}
	if err := f.disk.Rename(f.path(from), f.path(to)); err != nil {
		return f.explain("move", from, err)
	}
	if err := f.disk.SyncDir(filepath.Dir(f.path(to))); err != nil {
		return f.explain("move", to, err)
	}
	return f.explain("move", from, f.disk.SyncDir(filepath.Dir(f.path(from))))
}

// RemoveFolder removes an empty folder.
func (f *Folder) RemoveFolder(ctx context.Context, dir string) error {
	if err := f.enter(ctx, "remove folder", dir); err != nil {
		return err
	}
	info, err := os.Lstat(f.path(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return f.explain("remove folder", dir, err)
	case !info.IsDir():
		return f.explain("remove folder", dir, fmt.Errorf("not a folder: %w", ErrBadName))
	}
	return f.explain("remove folder", dir, os.Remove(f.path(dir)))
}

// TryLock locks the file for this process.
func (f *Folder) TryLock(ctx context.Context, name string) (func() error, error) {
	if err := f.enter(ctx, "lock", name); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path(name), os.O_RDWR, 0)
	if err != nil {
		return nil, f.explain("lock", name, err)
	}
	if err := LockFile(file); err != nil {
		_ = file.Close()
		return nil, f.explain("lock", name, err)
	}
	// Somebody may have removed or replaced the file before we had the lock.
	held, err := file.Stat()
	if err == nil {
		var now fs.FileInfo
		if now, err = os.Stat(f.path(name)); err == nil && !os.SameFile(held, now) {
			err = ErrNotFound
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, f.explain("lock", name, err)
	}
	return file.Close, nil
}

// FreeSpace asks the file system of the nearest folder that exists.
func (f *Folder) FreeSpace(context.Context) (int64, error) {
	dir := f.root
	for !f.disk.IsDir(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	n, err := freeSpace(dir)
	return n, f.explain("free space", "", err)
}
