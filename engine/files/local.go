package files

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Local is this machine's file system. Relative paths start at Dir, or at the
// working directory of the process when Dir is empty (Hop's rule).
type Local struct{ Dir string }

// Path turns a location (a path or a file:// URI) into a path of this machine.
// Percent escapes are decoded in URIs only.
func (l Local) Path(location string) (string, error) {
	p := location
	if rest, ok := strings.CutPrefix(location, "file:"); ok {
		p = strings.TrimPrefix(rest, "//")
		if strings.Contains(p, "%") {
			if u, err := url.PathUnescape(p); err == nil {
				p = u
			}
		}
	}
	if p == "" {
		return "", fmt.Errorf("file name is empty")
	}
	if strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("file name %q holds a NUL character", p)
	}
	if !filepath.IsAbs(p) && l.Dir != "" {
		p = filepath.Join(l.Dir, p)
	}
	return filepath.Clean(p), nil
}

// URI gives the file:/// form of an absolute path.
func URI(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	return u.String()
}

// Open implements Store.
func (l Local) Open(_ context.Context, location string) (io.ReadCloser, error) {
	p, err := l.Path(location)
	if err != nil {
		return nil, err
	}
	return os.Open(p)
}

// Create implements Store. A new file is written under a temporary name beside
// its own and renamed by Commit.
func (l Local) Create(_ context.Context, location string, o CreateOptions) (Writer, error) {
	p, err := l.Path(location)
	if err != nil {
		return nil, err
	}
	if o.Parents {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return nil, err
		}
	}
	if o.Append || !replaceable(p) {
		mode := os.O_CREATE | os.O_WRONLY
		if o.Append {
			mode |= os.O_APPEND
		}
		f, err := os.OpenFile(p, mode, 0o644)
		if err != nil {
			return nil, err
		}
		return &direct{f}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(p), "."+filepath.Base(p)+".tmp-*")
	if err != nil {
		return nil, err
	}
	return &replacing{File: f, path: p}, nil
}

// replaceable says whether a path is a regular file or nothing yet; devices and
// pipes are written in place.
func replaceable(p string) bool {
	st, err := os.Stat(p)
	return err != nil || st.Mode().IsRegular()
}

type direct struct{ *os.File }

func (d *direct) Commit() error { return d.Close() }
func (d *direct) Abort() error  { return d.Close() }

type replacing struct {
	*os.File
	path string
}

func (r *replacing) Commit() error {
	mode := fs.FileMode(0o644)
	if st, err := os.Stat(r.path); err == nil {
		mode = st.Mode().Perm()
	}
	err := r.Chmod(mode)
	if e := r.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(r.Name(), r.path)
	}
	if err != nil {
		_ = os.Remove(r.Name()) // err says why
	}
	return err
}

func (r *replacing) Abort() error {
	err := r.Close()
	if e := os.Remove(r.Name()); err == nil {
		err = e
	}
	return err
}

// Stat implements Store.
func (l Local) Stat(_ context.Context, location string) (Info, error) {
	p, err := l.Path(location)
	if err != nil {
		return Info{}, err
	}
	st, err := os.Stat(p)
	if err != nil {
		return Info{}, err
	}
	return localInfo(p, st), nil
}

func localInfo(p string, st fs.FileInfo) Info {
	i := Info{
		Path: p, URI: URI(p), Name: st.Name(), ModTime: st.ModTime(), Folder: st.IsDir(),
		Hidden: strings.HasPrefix(st.Name(), "."), Readable: accessible(p, readable), Writable: accessible(p, writable),
	}
	if !i.Folder {
		i.Size = st.Size()
	}
	return i
}

// List implements Store.
func (l Local) List(ctx context.Context, folder string, deep bool) ([]Info, error) {
	root, err := l.Path(folder)
	if err != nil {
		return nil, err
	}
	var list []Info
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || p == root {
			return err
		}
		st, err := os.Stat(p)
		if err != nil {
			return nil //nolint:nilerr // removed meanwhile, or a dangling link
		}
		list = append(list, localInfo(p, st))
		if d.IsDir() && !deep {
			return filepath.SkipDir
		}
		return nil
	})
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list, err
}

// MakeFolder implements Store; missing parents are made too.
func (l Local) MakeFolder(_ context.Context, location string) error {
	p, err := l.Path(location)
	if err != nil {
		return err
	}
	return os.MkdirAll(p, 0o755)
}

// Remove implements Store.
func (l Local) Remove(_ context.Context, location string) error {
	p, err := l.Path(location)
	if err != nil {
		return err
	}
	return os.Remove(p)
}

// RemoveAll implements Store.
func (l Local) RemoveAll(_ context.Context, location string) error {
	p, err := l.Path(location)
	if err != nil {
		return err
	}
	if p == filepath.Dir(p) {
		return fmt.Errorf("%s is the root of the file system and is not removed", p)
	}
	return os.RemoveAll(p)
}

// Move implements Store. Across file systems it copies, then removes.
func (l Local) Move(ctx context.Context, from, to string) error {
	src, err := l.Path(from)
	if err != nil {
		return err
	}
	dst, err := l.Path(to)
	if err != nil {
		return err
	}
	if err := os.Rename(src, dst); err == nil || !crossDevice(err) {
		return err
	}
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	w, err := l.Create(ctx, dst, CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		_ = w.Abort() // err says why
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	return os.Remove(src)
}
