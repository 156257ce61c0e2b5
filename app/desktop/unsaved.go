//go:build !headless

package desktop

import (
	"errors"
	"path/filepath"

	"sluice/app/presenter"
)

// lookOutside asks for every open file whether it changed on disk.
func (d *Desktop) lookOutside() {
	if d.quitting {
		return
	}
	for _, e := range d.editors {
		path, stamp := e.file.Path(), e.file.Stamp
		if path == "" || e.asking || len(d.dialogs) > 0 {
			continue
		}
		background(d, func() (bool, error) { return presenter.ChangedOutside(path, stamp), nil }, func(changed bool, _ error) {
			if changed && e.file.Stamp == stamp && e.file.Path() == path && len(d.dialogs) == 0 {
				d.askChanged(e)
			}
		})
	}
}

// autosave keeps unsaved work beside the files.
func (d *Desktop) autosave() {
	for _, e := range d.editors {
		path, doc := e.file.Path(), e.file.Document()
		if doc == e.autosaved || e.file.ReadOnly() {
			continue
		}
		e.autosaved = doc
		if !e.file.Dirty() {
			continue
		}
		if path == "" {
			draft := d.draft(e)
			d.write(func() {
				if err := presenter.SaveDraft(draft, doc); err != nil {
					d.post(func() { d.frame.note("Unsaved changes cannot be kept: " + err.Error()) })
				}
			})
			continue
		}
		if d.memory.SetUnsaved(path, true) {
			d.remember()
		}
		d.write(func() {
			if err := presenter.Autosave(path, doc); err != nil {
				d.post(func() { d.frame.note("Unsaved changes cannot be kept: " + err.Error()) })
				return
			}
			d.post(func() { d.event("autosaved %s", path) })
		})
	}
}

// autosaveNow does the same at once, before the program ends.
func (d *Desktop) autosaveNow() {
	for _, e := range d.editors {
		if e.file.Path() == "" && e.file.CanUndo() != "" {
			d.disk.Lock()
			err := presenter.SaveDraft(d.draft(e), e.file.Document())
			d.disk.Unlock()
			if err != nil {
				d.event("draft failed: %v", err)
			}
		}
		if path := e.file.Path(); path != "" && e.file.Dirty() {
			d.memory.SetUnsaved(path, true)
			d.disk.Lock()
			err := presenter.Autosave(path, e.file.Document())
			d.disk.Unlock()
			if err != nil {
				d.event("autosave failed: %v", err)
			}
		}
	}
}

// draftFolder keeps files that were never saved.
func (d *Desktop) draftFolder() string { return filepath.Join(filepath.Dir(d.memoryPath), "unsaved") }

// draft is where a file that was never saved is kept; it stays there until it is
// saved or given up.
func (d *Desktop) draft(e *editor) string {
	if e.draft == "" {
		e.draft = presenter.DraftPath(d.draftFolder(), e.file.Title(), e.file.IsPipeline())
	}
	return e.draft
}

func (d *Desktop) dropDraft(e *editor) {
	path := e.draft
	if path == "" {
		return
	}
	e.draft = ""
	d.write(func() {
		if err := presenter.DropDraft(path); err != nil {
			d.post(func() { d.frame.note(err.Error()) })
		}
	})
}

// openDrafts opens what was never saved when the program ended last.
func (d *Desktop) openDrafts() {
	folder := d.draftFolder()
	background(d, func() ([]presenter.Draft, error) { return presenter.LoadDrafts(folder) }, func(list []presenter.Draft, err error) {
		for _, draft := range list {
			f, ferr := presenter.NewFile(draft.Document, "", draft.Title, d.catalog)
			if ferr != nil {
				err = errors.Join(err, ferr)
				continue
			}
			e := d.addEditor(f, userHome())
			e.draft = draft.Path
			d.untitled++
			d.event("draft %s", draft.Title)
		}
		if err != nil {
			d.fail("Unsaved files of the last time", err)
		}
	})
}

func (d *Desktop) dropAutosave(path string) {
	d.memory.SetUnsaved(path, false)
	d.write(func() {
		if err := presenter.DropAutosave(path); err != nil {
			d.post(func() { d.frame.note(err.Error()) })
		}
	})
}
