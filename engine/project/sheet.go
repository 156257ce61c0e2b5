package project

import (
	"fmt"

	"sluice/engine/project/jsondoc"
)

// Sheet is a JSON file of a project that is no metadata object: its
// project-config.json, or the file of an environment. It is immutable.
type Sheet struct{ file file }

// OpenSheet reads a file. Errors name file, line and column; an absent file is
// fs.ErrNotExist.
func OpenSheet(path string) (*Sheet, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return &Sheet{f}, nil
}

// NewSheet makes a file that is not stored yet.
func NewSheet(path, text string) (*Sheet, error) {
	doc, err := jsondoc.Parse(path, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return &Sheet{file{path: path, doc: doc}}, nil
}

// Document returns the JSON.
func (s *Sheet) Document() *jsondoc.Document { return s.file.doc }

// Path returns where the file is.
func (s *Sheet) Path() string { return s.file.path }

// Stored tells whether the file exists on disk.
func (s *Sheet) Stored() bool { return s.file.stored != nil }

// Save writes another document and returns the file as it is then. It fails
// with ErrChanged when the file is no longer what was read.
func (s *Sheet) Save(doc *jsondoc.Document) (*Sheet, error) {
	f, err := file{path: s.file.path, doc: doc, stored: s.file.stored}.write()
	if err != nil {
		return s, err
	}
	return &Sheet{f}, nil
}
