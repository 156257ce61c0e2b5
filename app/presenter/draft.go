package presenter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/engine/hopxml"
)

// Draft is a file that was never saved, kept so that its edits survive the end of
// the program.
type Draft struct {
	Path     string // where it is kept
	Title    string
	Document *hopxml.Document
}

// DraftPath is where a file that was never saved is kept in a folder.
func DraftPath(folder, title string, pipeline bool) string {
	ext := ".hwf"
	if pipeline {
		ext = ".hpl"
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, title)
	return filepath.Join(folder, name+ext)
}

// SaveDraft keeps a file, whole or not at all. It writes the disk.
func SaveDraft(path string, doc *hopxml.Document) error { return writeWhole(path, doc.Bytes()) }

// DropDraft removes a draft; none is no error. It writes the disk.
func DropDraft(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// LoadDrafts gives the drafts of a folder, by title. One that cannot be read stays
// where it is; the error tells of it. It reads the disk.
func LoadDrafts(folder string) ([]Draft, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Draft
	errs := []error{err}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if e.IsDir() || !IsHopFile(path) {
			continue
		}
		data, err := os.ReadFile(path)
		if err == nil {
			title := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
			var doc *hopxml.Document
			if doc, err = hopxml.Parse(title, data); err == nil {
				list = append(list, Draft{path, title, doc})
			}
		}
		errs = append(errs, err)
	}
	slices.SortFunc(list, func(a, b Draft) int { return strings.Compare(a.Title, b.Title) })
	return list, errors.Join(errs...)
}
