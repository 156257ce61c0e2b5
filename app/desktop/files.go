//go:build !headless

package desktop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/app/presenter"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

// loaded is what opening a file reads from the disk.
type loaded struct {
	path     string
	doc      *hopxml.Document
	stamp    presenter.Stamp
	home     string
	recovery *presenter.Recovery
}

func load(path string) (loaded, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return loaded{}, err
	}
	l := loaded{path: abs}
	if l.doc, l.stamp, err = presenter.ReadFile(abs); err != nil {
		return l, err
	}
	l.home, _ = project.FindHome(abs)
	l.recovery = presenter.FindRecovery(abs)
	return l, nil
}

// open opens a file, or brings it to the front when it is open.
func (d *Desktop) open(path string) { d.openThen(nil, path) }

// openThen opens files in their order, and goes on with the last one, which is in front
// then, unless it does not open.
func (d *Desktop) openThen(then func(*editor), paths ...string) {
	if e := d.editorOf(absolute(paths[0])); e != nil && len(paths) == 1 {
		d.show(e)
		if then != nil {
			then(e)
		}
		return
	}
	background(d, func() ([]opened, error) {
		list := make([]opened, len(paths))
		for i, path := range paths {
			list[i].loaded, list[i].err = load(path)
		}
		return list, nil
	}, func(list []opened, _ error) {
		for _, l := range list {
			e := d.editorOf(l.path)
			if e != nil {
				d.show(e)
			} else if l.err == nil {
				l.err = d.adopt(l.loaded)
			}
			if e == nil && l.err != nil {
				d.fail("Open "+filepath.Base(l.path), l.err)
			}
		}
		if e := d.current; then != nil && e != nil && len(list) > 0 && e.file.Path() == list[len(list)-1].path {
			then(e)
		}
	})
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// opened is a file that was read, or why not.
type opened struct {
	loaded
	err error
}

// adopt shows a file that was read.
func (d *Desktop) adopt(l loaded) error {
	f, err := presenter.NewFile(l.doc, l.path, "", d.catalog)
	if err != nil {
		return err
	}
	f.Stamp = l.stamp
	d.memory.Opened(l.path)
	e := d.addEditor(f, l.home)
	d.remember()
	d.event("opened %s", l.path)
	d.offerRecovery(e, l.recovery)
	return nil
}

// dropped opens what was dropped onto the window: pipelines, workflows, or the
// folder of a project.
func (d *Desktop) dropped(paths ...string) {
	var files []string
	for _, path := range paths {
		if presenter.IsHopFile(path) {
			files = append(files, path)
			continue
		}
		background(d, func() (os.FileInfo, error) { return os.Stat(path) }, func(st os.FileInfo, err error) {
			if err != nil || !st.IsDir() {
				d.frame.note(filepath.Base(path) + " is no pipeline, workflow or folder")
				return
			}
			d.showProject(path)
		})
	}
	if len(files) > 0 {
		d.openThen(nil, files...)
	}
}

func (d *Desktop) editorOf(path string) *editor {
	for _, e := range d.editors {
		if e.file.Path() == path {
			return e
		}
	}
	return nil
}

func (d *Desktop) addEditor(f *presenter.File, home string) *editor {
	e := newEditor(d, f, home)
	d.editors = append(d.editors, e)
	d.show(e)
	return e
}

// offerRecovery asks what to do with unsaved work of an earlier time.
func (d *Desktop) offerRecovery(e *editor, r *presenter.Recovery) {
	path := e.file.Path()
	if r == nil {
		if d.memory.SetUnsaved(path, false) {
			d.remember()
		}
		return
	}
	drop := func() {
		d.dropAutosave(path)
		d.event("recovery dropped")
	}
	text := fmt.Sprintf("%s has changes from %s (%s) that were never saved.", e.file.Title(), r.Saved.Format("2 Jan 2006 15:04"), presenter.Ago(d.now().Sub(r.Saved)))
	if r.Outdated {
		text += " The file itself was written after that: compare before you restore."
	}
	d.ask("Unsaved changes were kept", text,
		answer{"Compare", false, func() {
			d.compare(versions{
				title: e.file.Title(), yours: r.Document, theirs: e.file.Document(), here: "Unsaved", there: "File",
				then: func() { d.offerRecovery(e, r) },
			})
		}},
		answer{"Discard", false, drop},
		answer{"Restore", true, func() {
			if err := e.file.Recover(r.Document); err != nil {
				d.fail("Restore unsaved changes", err)
				return
			}
			e.recovered = true
			e.changed()
			d.event("recovered %s", path)
		}})
}

// newFile opens an empty pipeline or workflow.
func (d *Desktop) newFile(workflow bool) {
	kind, make := "pipeline", presenter.NewPipeline
	if workflow {
		kind, make = "workflow", presenter.NewWorkflow
	}
	title := ""
	for taken := true; taken; { // by a file that was kept from the last time
		d.untitled++
		title, taken = fmt.Sprintf("New %s %d", kind, d.untitled), false
		for _, e := range d.editors {
			taken = taken || e.file.Path() == "" && e.file.Title() == title
		}
	}
	f, err := make(title, d.now(), d.catalog)
	if err != nil {
		d.fail("New file", err)
		return
	}
	home := d.frame.side.home
	if home == "" {
		home = userHome()
	}
	d.addEditor(f, home)
	d.event("new %s", title)
}

// save writes a file; done, which may be nil, runs when that went well.
func (d *Desktop) save(e *editor, done func()) {
	if e.file.Path() == "" {
		d.saveAs(e, done)
		return
	}
	if !e.file.Dirty() {
		if done != nil {
			done()
		}
		return
	}
	d.writeFile(e, e.file.Path(), e.recovered, done)
}

// writeFile saves the document as it stands to a path, over what is there when asked to.
func (d *Desktop) writeFile(e *editor, path string, over bool, done func()) {
	doc := e.file.Document()
	background(d, func() (presenter.Stamp, error) {
		var err error
		if over {
			err = doc.Overwrite(path)
		} else {
			err = doc.Save(path)
		}
		if err != nil {
			return presenter.Stamp{}, err
		}
		return presenter.StampOf(path)
	}, func(s presenter.Stamp, err error) {
		var changed *hopxml.ChangedError
		switch {
		case errors.As(err, &changed):
			d.askChanged(e)
			return
		case errors.Is(err, fs.ErrExist):
			d.ask("Replace the file?", fmt.Sprintf("%s is there already.", shorten(path)),
				answer{"Cancel", false, nil}, answer{"Replace " + filepath.Base(path), false, func() { d.writeFile(e, path, true, done) }})
			return
		case err != nil:
			d.fail("Save "+e.file.Title(), err)
			return
		}
		old := e.file.Path()
		e.file.MarkSaved(doc, path, s)
		e.recovered = false
		d.dropDraft(e)
		e.rows.clear()
		if home, found := project.FindHome(path); found || e.home == "" {
			e.home = home
		}
		d.memory.Opened(path)
		for _, p := range []string{old, path} {
			if p != "" {
				d.dropAutosave(p)
			}
		}
		d.remember()
		d.frame.side.setHome(e.home)
		d.frame.side.reload()
		d.update()
		d.frame.note("Saved " + e.file.Title())
		d.event("saved %s", path)
		if done != nil {
			done()
		}
	})
}

func (d *Desktop) saveAs(e *editor, done func()) {
	name := e.file.Title()
	ext := ".hpl"
	if !e.file.IsPipeline() {
		ext = ".hwf"
	}
	if filepath.Ext(name) != ext {
		name = strings.ReplaceAll(strings.ToLower(name), " ", "-") + ext
	}
	folder := e.home
	if e.file.Path() != "" {
		folder = filepath.Dir(e.file.Path())
	}
	d.choose(chooserOptions{title: "Save as", ok: "Save", folder: folder, name: name, save: true, show: presenter.IsHopFile}, func(path string) {
		if filepath.Ext(path) != ext {
			path += ext
		}
		d.writeFile(e, path, path == e.file.Path(), done)
	})
}

// saveAll saves every file with changes, one after the other, and then goes on.
func (d *Desktop) saveAll(done func()) {
	for _, e := range d.editors {
		if e.file.Dirty() {
			d.save(e, func() { d.saveAll(done) })
			return
		}
	}
	done()
}

// reload reads a file again; what was here stays one undo away.
func (d *Desktop) reload(e *editor) {
	path := e.file.Path()
	if path == "" {
		return
	}
	background(d, func() (loaded, error) { return load(path) }, func(l loaded, err error) {
		if err == nil {
			err = e.file.Reload(l.doc, l.stamp)
		}
		if err != nil {
			d.fail("Reload "+e.file.Title(), err)
			return
		}
		e.changed()
		d.event("reloaded %s", path)
	})
}

// closeFile closes a tab, after a question when work is unsaved.
func (d *Desktop) closeFile(e *editor) {
	if e.session != nil && e.session.View().State.Active() {
		d.ask("Still running", e.file.Title()+" is running. Stop it, or wait for its end, before you close it.",
			answer{"Stop it", false, func() { e.session.Stop(false) }}, answer{"Wait", true, nil})
		return
	}
	drop := func() {
		if p := e.file.Path(); p != "" {
			d.dropAutosave(p)
		}
		d.dropDraft(e)
		for i, o := range d.editors {
			if o == e {
				d.editors = append(d.editors[:i], d.editors[i+1:]...)
				var next *editor
				if len(d.editors) > 0 {
					next = d.editors[min(i, len(d.editors)-1)]
				}
				d.show(next)
				break
			}
		}
		d.remember()
		d.event("closed %s", e.file.Title())
	}
	if !e.file.Dirty() || e.file.Path() == "" && e.file.CanUndo() == "" && e.draft == "" {
		drop()
		return
	}
	n := e.file.Unsaved()
	d.ask("Close "+e.file.Title()+"?", fmt.Sprintf("%s has %s.", e.file.Title(), presenter.Plural(int64(n), "unsaved change")),
		answer{"Cancel", false, nil}, answer{"Close without saving", false, drop}, answer{"Save and close", true, func() { d.save(e, drop) }})
}

// step goes to the next or previous tab.
func (d *Desktop) step(by int) {
	for i, e := range d.editors {
		if e == d.current {
			d.show(d.editors[(i+by+len(d.editors))%len(d.editors)])
			return
		}
	}
}

// openFile asks for a file.
func (d *Desktop) openFile() {
	d.choose(chooserOptions{title: "Open file", ok: "Open", folder: d.startFolder(), show: presenter.IsHopFile}, d.open)
}

// openProject asks for a folder and shows its tree.
func (d *Desktop) openProject() {
	d.choose(chooserOptions{title: "Open project folder", ok: "Open folder", folder: d.startFolder(), folders: true, show: presenter.IsHopFile}, d.showProject)
}

func (d *Desktop) showProject(path string) {
	if d.current == nil {
		d.newFile(false)
		d.current.home = path
	}
	d.frame.side.setHome(path)
	d.update()
	d.event("project %s", path)
}

func (d *Desktop) startFolder() string {
	switch {
	case d.memory.Folder != "":
		return d.memory.Folder
	case d.frame.side.home != "":
		return d.frame.side.home
	}
	return userHome()
}

func userHome() string {
	if home, err := os.UserHomeDir(); err == nil {
		return home
	}
	return string(filepath.Separator)
}

// tick is how often numbers of runs change on the screen.
const tick = 100 * time.Millisecond
