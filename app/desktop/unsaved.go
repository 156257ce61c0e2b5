//go:build !headless

package desktop

import (
	"errors"
	"fmt"
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

// askChanged asks what to do when a file changed on disk.
func (d *Desktop) askChanged(e *editor) {
	if e.asking {
		return
	}
	e.asking = true
	n := e.file.Unsaved()
	text := fmt.Sprintf("%s changed on disk. You have no unsaved changes here.", e.file.Title())
	if n > 0 {
		text = e.file.Title() + " changed on disk. You have " + presenter.Plural(int64(n), "unsaved change") + " here."
	}
	dl := d.ask("File changed outside", text,
		answer{"Compare", false, func() { d.compareOutside(e) }},
		answer{"Reload", n == 0, func() { d.reload(e) }},
		answer{"Keep mine", n > 0, func() { d.keepMine(e) }})
	dl.onClose = func() { e.asking = false }
	d.event("changed outside %s", e.file.Path())
}

// keepMine lets the next save go over what another wrote.
func (d *Desktop) keepMine(e *editor) {
	path := e.file.Path()
	background(d, func() (presenter.Stamp, error) { return presenter.StampOf(path) }, func(s presenter.Stamp, err error) {
		if err != nil {
			s = e.file.Stamp // it is gone; saving makes it again
		}
		e.file.KeepMine(s)
		e.recovered = true
		d.update()
		d.event("kept mine %s", path)
	})
}

// compareOutside compares a file with what is on disk, and asks again.
func (d *Desktop) compareOutside(e *editor) {
	e.asking = true
	again := func() {
		e.asking = false
		d.askChanged(e)
	}
	path := e.file.Path()
	background(d, func() (loaded, error) { return load(path) }, func(l loaded, err error) {
		if err != nil {
			d.fail("Compare "+e.file.Title(), err)
			d.dialogs[len(d.dialogs)-1].onClose = again
			return
		}
		d.compare(versions{title: e.file.Title(), yours: e.file.Document(), theirs: l.doc, here: "Here", there: "On disk", then: again})
	})
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
