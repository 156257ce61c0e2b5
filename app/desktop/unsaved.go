//go:build !headless

package desktop

import (
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
		if path == "" || doc == e.autosaved || e.file.ReadOnly() {
			continue
		}
		e.autosaved = doc
		if !e.file.Dirty() {
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

func (d *Desktop) dropAutosave(path string) {
	d.memory.SetUnsaved(path, false)
	d.write(func() {
		if err := presenter.DropAutosave(path); err != nil {
			d.post(func() { d.frame.note(err.Error()) })
		}
	})
}
