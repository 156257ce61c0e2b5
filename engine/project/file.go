package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/engine/project/jsondoc"
)

// ErrChanged means that a file on disk is no longer the one that was read, so
// saving would undo somebody else's change: read it again and repeat the edit.
var ErrChanged = errors.New("file was changed by someone else since it was read")

// file is a JSON document together with what was on disk when it was read.
// It is immutable; an edit or a save gives a new one.
type file struct {
	path   string
	doc    *jsondoc.Document
	stored []byte // nil when the file does not exist yet
}

func readFile(path string) (file, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	doc, err := jsondoc.Parse(path, data)
	if err != nil {
		return file{}, fmt.Errorf("%w; correct the file at this place in a text editor", err)
	}
	if doc.Root().Kind() != jsondoc.Object {
		return file{}, fmt.Errorf("%s:1:1: the file holds %s where an object in braces is expected", path, doc.Root().Kind())
	}
	return file{path: path, doc: doc, stored: data}, nil
}

// write puts the document on disk and returns the file as it is then. Nothing
// is touched when disk and document agree already.
func (f file) write() (file, error) {
	current, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.stored != nil {
			return f, fmt.Errorf("save %s: %w: it was deleted", f.path, ErrChanged)
		}
	case err != nil:
		return f, err
	case f.stored == nil || !bytes.Equal(current, f.stored):
		return f, fmt.Errorf("save %s: %w", f.path, ErrChanged)
	case bytes.Equal(current, f.doc.Bytes()):
		return f, nil
	}
	if err := replaceFile(f.path, f.doc.Bytes()); err != nil {
		return f, fmt.Errorf("save %s: %w", f.path, err)
	}
	return file{path: f.path, doc: f.doc, stored: f.doc.Bytes()}, nil
}

// replaceFile writes beside the file, syncs, renames over it and syncs the
// folder: at every instant the name holds the old or the new content. A link
// stays a link, and the permissions stay.
func replaceFile(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	if err := fill(temp, data, mode); err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		_ = os.Remove(temp.Name())
		return err
	}
	return syncFolder(folder)
}

func fill(temp *os.File, data []byte, mode fs.FileMode) error {
	_, err := temp.Write(data)
	return errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
}

// syncFolder makes a rename durable. Systems that cannot sync a folder
// (Windows) answer with an error that means nothing here.
func syncFolder(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}
