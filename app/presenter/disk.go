package presenter

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/engine/hopxml"
)

// Stamp tells one state of a file on disk from another.
type Stamp struct {
	Size     int64
	Modified time.Time
	Digest   [sha256.Size]byte
}

// ReadFile reads a document and its stamp. It reads the disk.
func ReadFile(path string) (*hopxml.Document, Stamp, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	d, err := hopxml.Open(path)
	if err != nil {
		return nil, Stamp{}, err
	}
	s, err := StampOf(path)
	return d, s, err
}

// StampOf reads the stamp of a file. It reads the disk.
func StampOf(path string) (Stamp, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Stamp{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{st.Size(), st.ModTime(), sha256.Sum256(data)}, nil
}

// ChangedOutside tells whether a file holds other bytes than its stamp says. An
// absent file has not changed: saving makes it again. It reads the disk.
func ChangedOutside(path string, s Stamp) bool {
	st, err := os.Stat(path)
	if err != nil || st.Size() == s.Size && st.ModTime().Equal(s.Modified) {
		return false
	}
	now, err := StampOf(path)
	return err == nil && now.Digest != s.Digest
}

// autosaveSuffix ends the names of files with unsaved work.
const autosaveSuffix = ".unsaved~"

// AutosavePath is where unsaved work of a file goes: a hidden file beside it.
func AutosavePath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+autosaveSuffix)
}

// Autosave writes unsaved work, whole or not at all. It writes the disk.
func Autosave(path string, doc *hopxml.Document) error {
	return writeWhole(AutosavePath(path), doc.Bytes())
}

// DropAutosave removes the unsaved work of a file; none is no error. It writes the
// disk.
func DropAutosave(path string) error {
	if err := os.Remove(AutosavePath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Recovery is unsaved work of an earlier time.
type Recovery struct {
	Path     string // of the file it belongs to
	Saved    time.Time
	Document *hopxml.Document
	Outdated bool // the file was written after it
}

// FindRecovery looks for unsaved work of a file that differs from it; nil when there
// is none. Work that cannot be read is left where it is. It reads the disk.
func FindRecovery(path string) *Recovery {
	side := AutosavePath(path)
	st, err := os.Stat(side)
	if err != nil {
		return nil
	}
	data, err := os.ReadFile(side)
	if err != nil {
		return nil
	}
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, data) {
		return nil
	}
	file, err := os.Stat(path)
	outdated := err == nil && file.ModTime().After(st.ModTime())
	d, err := hopxml.Parse(path, data)
	if err != nil {
		return nil
	}
	return &Recovery{Path: path, Saved: st.ModTime(), Document: d, Outdated: outdated}
}

func writeWhole(path string, data []byte) error {
	return streamWhole(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// streamWhole writes a file that appears when it is whole.
func streamWhole(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Entry is a file or folder of a listing.
type Entry struct {
	Name, Path string
	Folder     bool
	Modified   time.Time
}

// List lists a folder: folders first, then files that show accepts, both by name.
// Hidden ones are left out. It reads the disk.
func List(folder string, show func(name string) bool) ([]Entry, error) {
	list, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !show(e.Name()) {
			continue
		}
		entry := Entry{Name: e.Name(), Path: filepath.Join(folder, e.Name()), Folder: e.IsDir()}
		if info, err := e.Info(); err == nil {
			entry.Modified = info.ModTime()
		}
		out = append(out, entry)
	}
	slices.SortFunc(out, func(a, b Entry) int {
		switch {
		case a.Folder != b.Folder && a.Folder:
			return -1
		case a.Folder != b.Folder:
			return 1
		}
		return strings.Compare(lower(a.Name), lower(b.Name))
	})
	return out, nil
}

// IsHopFile tells pipelines and workflows by their names.
func IsHopFile(name string) bool {
	ext := lower(filepath.Ext(name))
	return ext == ".hpl" || ext == ".hwf"
}
