package hopxml

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// origin is what all documents edited from one Parse share: new identities,
// and the file they belong to.
type origin struct {
	ids atomic.Uint64

	mu     sync.Mutex
	path   string            // absolute; "" when never read from or saved to a file
	digest [sha256.Size]byte // of the file as last read or saved
}

// ChangedError says that the file on disk is no longer the one that was read or saved
// last. The caller shows both, and reloads or calls Overwrite.
type ChangedError struct{ Path string }

// Error names the file and the ways out.
func (e *ChangedError) Error() string {
	return e.Path + " was changed by another program since it was read; reload it, or save under another name"
}

// Open reads and parses a file. Errors of the file system are passed on,
// errors in the document are *SyntaxError.
func Open(path string) (*Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	d, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	d.origin.path, err = filepath.Abs(path)
	d.origin.digest = sha256.Sum256(data)
	return d, err
}

// Save writes the document to a file, so that a crash at any moment leaves the
// old file or the new one, whole. It keeps the mode of the file and follows a
// symbolic link.
//
// It refuses, and writes nothing: a read-only document (ErrReadOnly), a file
// that was changed since it was read or saved last (*ChangedError), another
// file that exists (fs.ErrExist) and a write-protected file
// (fs.ErrPermission). Later saves of any document of the same lineage, also
// after an undo, compare with what was written here.
func (d *Document) Save(path string) error { return d.save(path, false, osDisk{}) }

// Overwrite is Save without the comparison with the file on disk: for a user
// who was asked.
func (d *Document) Overwrite(path string) error { return d.save(path, true, osDisk{}) }

func (d *Document) save(path string, overwrite bool, to disk) error {
	if d.ReadOnly() {
		return fmt.Errorf("save %s, which is written in %s: %w; save it as UTF-8 first", path, d.encoding, ErrReadOnly)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	d.origin.mu.Lock()
	defer d.origin.mu.Unlock()
	if !overwrite {
		if err := d.checkUnchanged(path); err != nil {
			return err
		}
	}
	data := d.Bytes()
	target := path
	if linked, err := filepath.EvalSymlinks(path); err == nil {
		target = linked
	}
	if err := write(target, data, to); err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	d.origin.path, d.origin.digest = path, sha256.Sum256(data)
	if err := to.syncFolder(filepath.Dir(target)); err != nil {
		return fmt.Errorf("save %s: the file is written, but may not survive a power failure: %w", path, err)
	}
	return nil
}

// checkUnchanged is called with origin.mu held. A file that is gone loses
// nothing when it is written again.
func (d *Document) checkUnchanged(path string) error {
	onDisk, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case path != d.origin.path:
		return &fs.PathError{Op: "save", Path: path, Err: fs.ErrExist}
	case sha256.Sum256(onDisk) != d.origin.digest:
		return &ChangedError{Path: path}
	}
	return nil
}

// disk is what write needs of the file system; tests let it fail.
type disk interface {
	create(path string, mode fs.FileMode) (diskFile, error)
	rename(from, to string) error
	syncFolder(path string) error
}

type diskFile interface {
	io.WriteCloser
	Name() string
	Chmod(fs.FileMode) error
	Sync() error
}

// write replaces a file: temporary name beside it, sync, rename. The folder is
// still to be synced.
func write(path string, data []byte, to disk) error {
	info, statErr := os.Stat(path)
	exists := statErr == nil
	const newFile, ownerWrites = 0o666, 0o200
	mode := fs.FileMode(newFile)
	if exists {
		if mode = info.Mode().Perm(); mode&ownerWrites == 0 {
			return &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
		}
	}
	f, err := to.create(path, mode)
	if err != nil {
		return err
	}
	if err := fill(f, data, mode, exists); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := to.rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func fill(f diskFile, data []byte, mode fs.FileMode, keepMode bool) error {
	_, err := io.Copy(f, bytes.NewReader(data))
	if err == nil && keepMode {
		err = f.Chmod(mode) // the umask took bits away
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

type osDisk struct{}

func (osDisk) create(path string, mode fs.FileMode) (diskFile, error) {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s.%d-%d.tmp", path, os.Getpid(), i)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
