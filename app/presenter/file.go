package presenter

import (
	"path/filepath"
	"slices"
	"time"

	"sluice/engine/hopxml"
)

// File is an open pipeline or workflow with its history. Every edit keeps the
// document before it, so that undoing all of them gives the bytes that were read.
type File struct {
	path    string
	title   string // while there is no path
	doc     *hopxml.Document
	view    *view
	saved   *hopxml.Document // as on disk; nil when it is on no disk
	undo    []step
	redo    []step
	catalog *Catalog
	decoded map[*hopxml.Element]decoded
	gates   *Gates // as they stood when they were looked at last
	Stamp   Stamp  // of the file on disk when it was read or written last
}

type step struct {
	doc   *hopxml.Document
	label string
}

// NewFile wraps a document. path may be empty for one that has no file yet; title
// is what it is called until then.
func NewFile(doc *hopxml.Document, path, title string, catalog *Catalog) (*File, error) {
	f := &File{path: path, title: title, catalog: catalog, decoded: map[*hopxml.Element]decoded{}}
	if path != "" {
		f.saved = doc
	}
	return f, f.show(doc)
}

// NewPipeline gives an empty pipeline without a file.
func NewPipeline(title string, now time.Time, catalog *Catalog) (*File, error) {
	d, err := hopxml.NewPipeline(title, now)
	if err != nil {
		return nil, err
	}
	return NewFile(d, "", title, catalog)
}

// NewWorkflow gives a workflow without a file that holds its start action.
func NewWorkflow(title string, now time.Time, catalog *Catalog) (*File, error) {
	d, err := hopxml.NewWorkflow(title, now)
	if err != nil {
		return nil, err
	}
	d, err = d.Apply(hopxml.AddNode(hopxml.NewNode{Name: "Start", Type: hopxml.StartType, X: 96, Y: 96}))
	if err != nil {
		return nil, err
	}
	return NewFile(d, "", title, catalog)
}

// Path is the file on disk, empty before the first save.
func (f *File) Path() string { return f.path }

// Title is the name for a tab.
func (f *File) Title() string {
	if f.path == "" {
		return f.title
	}
	return filepath.Base(f.path)
}

// Document is the document as it stands.
func (f *File) Document() *hopxml.Document { return f.doc }

// IsPipeline tells a pipeline from a workflow.
func (f *File) IsPipeline() bool { return f.view.pipeline != nil }

// ReadOnly tells whether edits are refused, see hopxml.
func (f *File) ReadOnly() bool { return f.doc.ReadOnly() }

// Dirty tells whether the document differs from what is on disk.
func (f *File) Dirty() bool { return f.saved != f.doc }

// Unsaved counts the edits since the last save, at least 1 when Dirty.
func (f *File) Unsaved() int {
	for i, s := range slices.Backward(f.undo) {
		if s.doc == f.saved {
			return len(f.undo) - i
		}
	}
	if f.Dirty() {
		return max(1, len(f.undo))
	}
	return 0
}

// Do makes one step of undo of some edits. No change makes no step. On an error
// nothing has changed.
func (f *File) Do(label string, edits ...hopxml.Edit) error {
	next, err := f.doc.Apply(edits...)
	if err != nil {
		return err
	}
	if next == f.doc {
		return nil
	}
	before := f.doc
	if err := f.show(next); err != nil {
		return err
	}
	f.undo, f.redo = append(f.undo, step{before, label}), nil
	return nil
}

// Undo takes the last step back and names it; "" when there is none.
func (f *File) Undo() string { return f.travel(&f.undo, &f.redo) }

// Redo makes the step that was undone last again and names it.
func (f *File) Redo() string { return f.travel(&f.redo, &f.undo) }

func (f *File) travel(from, to *[]step) string {
	if len(*from) == 0 {
		return ""
	}
	s := (*from)[len(*from)-1]
	before := f.doc
	if f.show(s.doc) != nil {
		return ""
	}
	*from = (*from)[:len(*from)-1]
	*to = append(*to, step{before, s.label})
	return s.label
}

// CanUndo names the step that Undo would take back; "" for none.
func (f *File) CanUndo() string { return lastLabel(f.undo) }

// CanRedo names the step that Redo would make.
func (f *File) CanRedo() string { return lastLabel(f.redo) }

func lastLabel(s []step) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1].label
}

// MarkSaved notes that a document of this file was written to a path. The history
// stays.
func (f *File) MarkSaved(doc *hopxml.Document, path string, stamp Stamp) {
	if f.path != path {
		f.path = path
		if f.doc == doc {
			doc = doc.Named(path)
			if f.show(doc) != nil {
				return
			}
		}
	}
	f.saved, f.Stamp = doc, stamp
}

// Reload replaces the document by what is on disk now, as a step that can be
// undone.
func (f *File) Reload(doc *hopxml.Document, stamp Stamp) error {
	before := f.doc
	if err := f.show(doc); err != nil {
		return err
	}
	f.undo, f.redo = append(f.undo, step{before, "reload"}), nil
	f.saved, f.Stamp = doc, stamp
	return nil
}

// KeepMine holds on to the document although another one is on disk now: it is
// unsaved work from here on.
func (f *File) KeepMine(stamp Stamp) { f.saved, f.Stamp = nil, stamp }

// Recover puts in unsaved work of an earlier time, as a step that can be undone.
func (f *File) Recover(doc *hopxml.Document) error {
	before := f.doc
	if err := f.show(doc); err != nil {
		return err
	}
	f.undo, f.redo = append(f.undo, step{before, "restore unsaved changes"}), nil
	return nil
}

// show makes a document the current one.
func (f *File) show(doc *hopxml.Document) error {
	v, err := newView(doc)
	if err != nil {
		return err
	}
	f.doc, f.view = doc, v
	return nil
}
