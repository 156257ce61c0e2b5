//go:build !headless

package desktop

import (
	"fmt"
	"log/slog"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
)

// places opens locations that a person types, without a project.
func (d *Desktop) places() (*workspace.Places, error) {
	folders, err := workspace.UserFolders()
	if err != nil {
		return nil, err
	}
	return workspace.NewPlaces(folders, nil, slog.New(slog.DiscardHandler)).ByHand(), nil
}

// inMetadata carries out what an action means in the perspective of metadata; false
// when it means there what it means elsewhere.
func (d *Desktop) inMetadata(id presenter.ActionID) bool {
	if d.place != placeMetadata || d.meta == nil {
		return false
	}
	m := d.meta
	on := func(f func(*metaTab)) {
		if m.now != nil {
			f(m.now)
		}
	}
	switch id {
	case "save":
		on(func(t *metaTab) { t.save(nil) })
	case "close":
		on(m.close)
	case "reload":
		m.reload()
	case "rename":
		d.do("meta-rename")
	case "delete":
		d.do("meta-delete")
	default:
		a, _ := d.keys.Action(id)
		if a.File { // it would change a file that is not in sight
			d.frame.note(strings.TrimSuffix(a.Title, "…") + ": go to the designer first (Ctrl+Shift+D)")
		}
		return a.File
	}
	return true
}

// onMetadata gives what an action of the metadata menu does: on the element that is
// shown, in its perspective.
func (d *Desktop) onMetadata(f func(*metaTab)) func() {
	return func() {
		if d.place != placeMetadata {
			d.goTo(placeMetadata)
		}
		if d.meta.now == nil {
			d.frame.note("Choose an element of the metadata first")
			return
		}
		f(d.meta.now)
	}
}

// changeable tells whether an element is a file of the project, with a sentence in
// the status bar when it is not.
func (t *metaTab) changeable(doing string) bool {
	if t.home != t.m.home {
		t.m.d.frame.note(doing + ": " + t.item.Ref.Name + " belongs to another project")
		return false
	}
	if t.item.Ref.Type == presenter.MetaProject {
		t.m.d.frame.note(doing + ": the project itself stays")
		return false
	}
	return true
}

// newMetadataObject asks for type and name of a new element.
func (d *Desktop) newMetadataObject() {
	if d.place != placeMetadata {
		d.goTo(placeMetadata)
	}
	m := d.meta
	if m.store == nil {
		d.frame.note("Open a project first: metadata belongs to one")
		return
	}
	var titles, keys []string
	for _, t := range append(presenter.MetaTypes(), presenter.MetaTypeOf(presenter.MetaEnvironment)) {
		titles, keys = append(titles, capital(t.One)), append(keys, t.Key)
	}
	titles, keys = append(titles, capital(remoteType.One)+"…"), append(keys, remoteType.Key)
	at := 0
	if m.now != nil {
		for i, key := range keys {
			if key == m.now.item.Ref.Type {
				at = i
			}
		}
	}
	kind := widget.NewSelect(titles, nil)
	kind.Selected = titles[at]
	hint := d.words("", captionSize, inkTone(toneError))
	name := d.field("", "Name", func(string) { hint.Set("", nil) })
	var dl *dialog
	create := func() {
		key, text, store := keys[max(0, kind.SelectedIndex())], name.Text, m.store
		if key == presenter.MetaRemote { // asks for more
			dl.close()
			d.newRemoteNamed(text)
			return
		}
		if problem := store.CheckName(key, text); problem != "" {
			hint.Set(problem, nil)
			return
		}
		m.change(dl, "Create "+text, func() (presenter.MetaItem, error) { return store.Create(key, text) })
	}
	name.OnSubmitted = func(string) { create() }
	body := container.New(layout.NewCustomPaddedVBoxLayout(4), d.caption("Type"), bordered(kind), d.caption("Name"), name, hint)
	dl = d.dialog("New metadata", "A file in "+m.metaFile(m.folder())+" of the project", body, fyne.NewSize(480, 260), nil,
		button("Cancel", false, func() { dl.close() }), button("Create", true, create))
	dl.onEnter = create
	d.focus(name)
}

// folder is where new elements go.
func (m *metadata) folder() string {
	if list := m.store.Metadata.Folders(); len(list) > 0 {
		return list[len(list)-1]
	}
	return m.home
}

// change does something to the files of the metadata in the background and shows the
// element that it gives.
func (m *metadata) change(dl *dialog, doing string, work func() (presenter.MetaItem, error)) {
	background(m.d, work, func(item presenter.MetaItem, err error) {
		if err != nil {
			m.d.fail(doing, err)
			return
		}
		if dl != nil {
			dl.close()
		}
		m.d.event("metadata changed: %s", doing)
		m.groups = nil
		m.wanted = item.Ref
		m.reload()
	})
}

// duplicate asks for the name of a copy.
func (t *metaTab) duplicate() {
	if t.item.Ref.Type == presenter.MetaRemote {
		t.duplicateRemote()
		return
	}
	if !t.changeable("Duplicate") {
		return
	}
	store, item := t.m.store, t.item
	t.askName(t.checkName, "Duplicate "+item.Ref.Name, "Duplicate", item.Ref.Name+"-copy", "", func(name string) {
		t.m.change(nil, "Duplicate "+item.Ref.Name, func() (presenter.MetaItem, error) { return store.Duplicate(item, name) })
	})
}

// rename asks for another name and says what still uses the old one.
func (t *metaTab) rename() {
	if t.item.Ref.Type == presenter.MetaRemote {
		t.renameRemote()
		return
	}
	if !t.changeable("Rename") {
		return
	}
	if t.dirty() {
		t.m.d.frame.note("Save the changes of " + t.item.Ref.Name + " first")
		return
	}
	warning := ""
	if n := len(t.uses); n > 0 {
		warning = fmt.Sprintf("%s by the name %s; change them afterwards.", presenter.Plural(int64(n), "node")+" of pipelines and workflows refer to it", t.item.Ref.Name)
	}
	store, item := t.m.store, t.item
	t.askName(t.checkName, "Rename "+item.Ref.Name, "Rename", item.Ref.Name, warning, func(name string) {
		t.m.drop(item.Ref)
		t.m.change(nil, "Rename "+item.Ref.Name, func() (presenter.MetaItem, error) { return store.Rename(item, name) })
	})
}

// checkName tells what is wrong with a name for an element of the tab's type.
func (t *metaTab) checkName(name string) string { return t.m.store.CheckName(t.item.Ref.Type, name) }

// askName asks for a name until check finds nothing wrong with it.
func (t *metaTab) askName(check func(string) string, title, ok, name, remark string, do func(string)) {
	d := t.m.d
	hint := d.words("", captionSize, inkTone(toneError))
	entry := d.field(name, "Name", func(string) { hint.Set("", nil) })
	var dl *dialog
	accept := func() {
		if problem := check(entry.Text); problem != "" {
			hint.Set(problem, nil)
			return
		}
		dl.close()
		do(entry.Text)
	}
	entry.OnSubmitted = func(string) { accept() }
	body := container.New(layout.NewCustomPaddedVBoxLayout(4), d.caption("Name"), entry, hint)
	if remark != "" {
		body.Add(paragraph(remark))
	}
	dl = d.dialog(title, "", body, fyne.NewSize(460, 240), nil, button("Cancel", false, func() { dl.close() }), button(ok, true, accept))
	dl.onEnter = accept
	d.focus(entry)
	entry.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// remove deletes the element's file, after a question that names it and its uses.
func (t *metaTab) remove() {
	if t.item.Ref.Type == presenter.MetaRemote {
		t.removeRemote()
		return
	}
	if !t.changeable("Delete") {
		return
	}
	store, item := t.m.store, t.item
	text := fmt.Sprintf("%s is removed from the disk. It cannot be undone.", t.m.metaFile(t.draft.Path))
	if n := len(t.uses); n > 0 {
		text += fmt.Sprintf("\n\n%s of pipelines and workflows refer to it and will stop with an error.", presenter.Plural(int64(n), "node"))
	}
	t.m.d.ask("Delete the "+t.draft.Type.One+" "+item.Ref.Name+"?", text,
		answer{"Cancel", true, nil},
		answer{"Delete " + item.Ref.Name, false, func() {
			background(t.m.d, func() (struct{}, error) { return struct{}{}, store.Delete(item) }, func(_ struct{}, err error) {
				if err != nil {
					t.m.d.fail("Delete "+item.Ref.Name, err)
					return
				}
				t.m.drop(item.Ref)
				t.m.d.event("metadata deleted %s %s", item.Ref.Type, item.Ref.Name)
				if item.Path != "" && item.Path == store.Active {
					t.m.d.useEnvironment("")
					return
				}
				t.m.reload()
			})
		}})
}

// drop closes the tab of an element that is gone.
func (m *metadata) drop(ref presenter.MetaRef) {
	for i, t := range m.open {
		if t.item.Ref == ref {
			t.stop()
			m.open = append(m.open[:i:i], m.open[i+1:]...)
			if m.now == t {
				m.now = nil
			}
			break
		}
	}
	delete(m.results, ref)
	m.show(m.now)
}

// useEnvironment makes a file the environment of the project; "" uses none.
func (d *Desktop) useEnvironment(path string) {
	home := d.projectHome()
	if home == "" {
		return
	}
	d.memory.UseEnvironment(home, path)
	d.remember()
	d.update()
	for _, e := range d.editors {
		e.redesign()
	}
	name := "none"
	if path != "" {
		name = presenter.EnvironmentName(path)
	}
	d.frame.note("Environment of the next run: " + name)
	d.event("environment %s", name)
	if d.meta != nil {
		d.meta.closeSaved()
		d.meta.reload()
	}
}

// askEnvironment offers the environments of the project.
func (d *Desktop) askEnvironment() {
	home := d.projectHome()
	if home == "" {
		d.frame.note("Open a project first: environments belong to one")
		return
	}
	open, known, active := d.workspace("", home), d.memory.AddedEnvironments[home], d.memory.Environments[home]
	background(d, func() ([]presenter.MetaItem, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		s := &presenter.MetaStore{Home: home, Project: ws.Project, Metadata: ws.Project.Metadata(), Known: known, Active: active}
		groups, err := s.LoadMetadata()
		for _, g := range groups {
			if g.Type.Key == presenter.MetaEnvironment {
				return g.Items, err
			}
		}
		return nil, err
	}, func(items []presenter.MetaItem, err error) {
		if err != nil {
			d.fail("Read the environments", err)
			return
		}
		d.offerEnvironments(home, active, items)
	})
}

func (d *Desktop) offerEnvironments(home, active string, items []presenter.MetaItem) {
	var dl *dialog
	box := container.New(layout.NewCustomPaddedVBoxLayout(0))
	add := func(name, path, remark string) {
		row := d.flat("variable", name, shorten(path), func() { dl.close(); d.useEnvironment(path) })
		row.left, row.size.Height, row.trail, row.selected = true, 36, remark, path == active
		if path == active {
			row.icon = "check-ok"
		}
		box.Add(row)
	}
	add("No environment", "", "")
	for _, i := range items {
		remark := i.Note
		if i.Wrong != "" {
			remark = "cannot be read"
		}
		add(i.Ref.Name, i.Path, remark)
	}
	other := button("Add file…", false, func() {
		dl.close()
		d.choose(chooserOptions{title: "Add the file of an environment", ok: "Use", folder: home, show: func(name string) bool { return len(name) > 5 && name[len(name)-5:] == ".json" }}, func(path string) {
			d.memory.AddEnvironment(home, path)
			d.useEnvironment(path)
		})
	})
	edit := button("Edit…", false, func() {
		dl.close()
		d.goTo(placeMetadata)
		for _, i := range items {
			if i.Path == active {
				d.meta.want(i.Ref)
			}
		}
	})
	setEnabled(edit, active != "")
	dl = d.dialog("Environment", "Its variables are set when a file of the project is run or checked.", container.NewVScroll(box), fyne.NewSize(480, 380),
		container.NewHBox(other, edit), button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

// projectProperties opens the settings and variables of the project.
func (d *Desktop) projectProperties() {
	if d.projectHome() == "" {
		d.frame.note("Open a project first")
		return
	}
	d.goTo(placeMetadata)
	ref := presenter.MetaRef{Type: presenter.MetaProject}
	if d.meta.store != nil {
		ref.Name = d.meta.store.Project.Name
	}
	d.meta.want(ref)
}
