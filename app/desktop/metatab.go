//go:build !headless

package desktop

import (
	"context"
	"errors"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/project"
	"sluice/storage/rclone"
)

// metaTab is one open element: its head, its form and the cards of results.
type metaTab struct {
	m     *metadata
	home  string // of the project that it was opened in
	item  presenter.MetaItem
	draft *presenter.MetaDraft // nil for a remote
	uses  []presenter.MetaUse
	raw   bool // the JSON is shown instead of the form

	remote   rclone.Info
	far      *presenter.RemoteDraft // nil for one of the environment, and what is no remote
	farUses  []presenter.RemoteUse
	farForm  *remoteForm
	where    string // location of the remote that is tested and looked into
	seen     remoteLook
	looking  context.CancelFunc // of the look into it; nil when nobody looks
	advanced bool               // the advanced options are shown

	form   *metaForm
	cards  *fyne.Container
	cancel context.CancelFunc // of the test that runs; nil when none does
	steps  []presenter.MetaStep
	tools  struct{ save, test, revert, json *widget.Button }
	hint   *words
	body   *fyne.Container
	scroll *container.Scroll // of the form
	all    fyne.CanvasObject
}

func newMetaTab(m *metadata, item presenter.MetaItem, draft *presenter.MetaDraft, uses []presenter.MetaUse) *metaTab {
	t := &metaTab{m: m, item: item, draft: draft, uses: uses, raw: draft.Type.Fields == nil}
	t.build()
	return t
}

func (t *metaTab) type_() presenter.MetaType {
	if t.draft == nil {
		return remoteType
	}
	return t.draft.Type
}

// remoteType is the group of the remotes; they belong to the user, not to a project.
var remoteType = presenter.MetaType{Key: presenter.MetaRemote, Name: "Remotes", One: "remote", Icon: "cloud"}

func (t *metaTab) dirty() bool {
	return t.draft != nil && t.draft.Dirty() || t.far != nil && t.far.Dirty()
}

// stored tells whether there is something to go back to.
func (t *metaTab) stored() bool {
	return t.draft != nil && t.draft.Stored() || t.far != nil && t.far.Stored()
}

// giveUp goes back to what is on disk.
func (t *metaTab) giveUp() {
	if t.draft != nil {
		t.draft.Revert()
	}
	if t.far != nil {
		t.far.Revert()
	}
}

// build makes head and body.
func (t *metaTab) build() {
	d := t.m.d
	t.home = t.m.home
	kind := t.type_()
	t.cards, t.body = container.New(layout.NewCustomPaddedVBoxLayout(16)), container.NewStack()
	t.hint = d.caption("")
	row := container.New(layout.NewCustomPaddedHBoxLayout(8))
	if kind.Key == presenter.MetaEnvironment && t.item.Note == "" {
		row.Add(button("Make active", false, func() { d.useEnvironment(t.item.Path) }))
	}
	if kind.Fields != nil {
		t.tools.json = button("JSON", false, t.toggleRaw)
		row.Add(t.tools.json)
	}
	if kind.Testable() {
		t.tools.test = button("Test", t.draft == nil && t.far == nil, t.test)
		if t.far == nil || !t.far.NeedsLogin() {
			row.Add(t.tools.test)
		}
	}
	if t.draft != nil || t.far != nil {
		t.tools.revert, t.tools.save = button("Revert", false, t.revert), button("Save", true, func() { t.save(nil) })
		row.Add(t.tools.revert)
		row.Add(t.tools.save)
	}
	names := container.NewVBox(d.bold(t.item.Ref.Name, 16), t.hint)
	head := container.NewBorder(nil, nil, d.picture(kind.Icon, inkPrimary, 24), container.NewCenter(row), inset(names, 0, 12, 0, 12))
	t.all = container.NewBorder(container.NewVBox(inset(head, 8, 20, 8, 20), widget.NewSeparator()), nil, nil, nil, t.body)
	t.fill()
}

// toggleRaw changes between the form and the JSON.
func (t *metaTab) toggleRaw() {
	if t.tools.json == nil {
		return
	}
	t.raw = !t.raw
	t.tools.json.SetText(map[bool]string{true: "Form", false: "JSON"}[t.raw])
	t.fill()
}

// fill makes form and cards anew.
func (t *metaTab) fill() {
	d := t.m.d
	var left fyne.CanvasObject
	switch {
	case t.far != nil:
		t.farForm = newRemoteForm(t)
		left = t.farForm.all
	case t.draft == nil:
		left = t.remoteFacts()
	case t.raw:
		t.body.Objects = []fyne.CanvasObject{t.rawForm()}
		t.body.Refresh()
		t.changed()
		return
	default:
		t.form = newMetaForm(t)
		left = t.form.all
	}
	t.showCards()
	t.scroll = container.NewVScroll(inset(container.New(&metaBody{}, left, t.cards), 20, 20, 20, 20))
	t.body.Objects = []fyne.CanvasObject{t.scroll}
	t.body.Refresh()
	t.changed()
	d.tips.hide()
}

// around is what scrolls the form.
func (t *metaTab) around() *container.Scroll { return t.scroll }

// metaBody sets form and cards side by side, or one below the other where there is
// no room.
type metaBody struct{ narrow bool }

// minCards is the width that the cards need beside the form.
const minCards = 280

// MinSize implements fyne.Layout.
func (b *metaBody) MinSize(o []fyne.CanvasObject) fyne.Size {
	form, cards := o[0].MinSize(), o[1].MinSize()
	if b.narrow {
		return fyne.NewSize(360, form.Height+16+cards.Height)
	}
	return fyne.NewSize(360, max(form.Height, cards.Height))
}

// Layout implements fyne.Layout.
func (b *metaBody) Layout(o []fyne.CanvasObject, size fyne.Size) {
	const gap = 24
	form, cards := o[0].MinSize(), o[1].MinSize()
	o[0].Move(fyne.NewPos(0, 0))
	b.narrow = size.Width < metaFormWidth+gap+minCards
	if b.narrow {
		o[0].Resize(fyne.NewSize(min(size.Width, 640), form.Height))
		o[1].Move(fyne.NewPos(0, form.Height+16))
		o[1].Resize(fyne.NewSize(min(size.Width, 640), cards.Height))
		return
	}
	o[0].Resize(fyne.NewSize(metaFormWidth, form.Height))
	o[1].Move(fyne.NewPos(metaFormWidth+gap, 0))
	o[1].Resize(fyne.NewSize(min(size.Width-metaFormWidth-gap, 640), cards.Height))
}

// changed tells how the draft stands.
func (t *metaTab) changed() {
	kind := t.type_()
	text := capital(kind.One)
	switch {
	case t.draft == nil:
		text += " · " + t.remote.Type + " · " + t.usedBy()
	case kind.Key == presenter.MetaEnvironment || kind.Key == presenter.MetaProject:
		text += " · " + t.m.metaFile(t.draft.Path)
	default:
		text += " · " + t.usedBy()
	}
	if t.item.Note == "active" {
		text += " · active"
	}
	if t.tools.save != nil {
		setEnabled(t.tools.save, t.dirty())
		setEnabled(t.tools.revert, t.dirty() && t.stored())
		if t.dirty() {
			text += " · not saved"
		}
		if t.far != nil && len(t.far.Problems()) > 0 {
			text += " · " + presenter.Plural(int64(len(t.far.Problems())), "setting") + " to correct"
		}
	}
	t.hint.Set(text, nil)
	t.m.tree.list.Refresh()
	for i, o := range t.m.open {
		if o == t && i < len(t.m.tabs.Objects) {
			t.m.tabs.Objects[i] = t.tabButton()
			t.m.tabs.Refresh()
		}
	}
}

func (t *metaTab) usedBy() string {
	if len(t.farUses) > 0 {
		return "used by " + presenter.CountRemoteUses(t.farUses)
	}
	if len(t.uses) == 0 {
		return "used by nothing in this project"
	}
	return "used by " + presenter.Plural(int64(len(t.uses)), "node")
}

// tabButton is the tab with its closing cross.
func (t *metaTab) tabButton() fyne.CanvasObject {
	d := t.m.d
	title := statusName(t.item.Ref.Name)
	if t.dirty() {
		title += "  •"
	}
	tab := d.flat(t.type_().Icon, title, capital(t.type_().One)+" "+t.item.Ref.Name, func() { t.m.show(t) })
	tab.size.Height, tab.underline, tab.selected, tab.inkOf = tabHeight, true, t == t.m.now, inkSoft
	closer := d.flat("close", "", "Close "+t.item.Ref.Name+" (Ctrl+W)", func() { t.m.close(t) })
	closer.size, closer.iconSize, closer.inkOf = fyne.NewSize(24, tabHeight), 12, inkSoft
	o := container.New(layout.NewCustomPaddedHBoxLayout(0), tab, closer, separator())
	if tab.selected {
		tab.inkOf = inkText
		return panel(o, theme.ColorNameOverlayBackground)
	}
	return o
}

// save writes the file; done, which may be nil, runs when that went well.
func (t *metaTab) save(done func()) {
	if !t.dirty() {
		if done != nil {
			done()
		}
		return
	}
	if t.far != nil {
		t.saveRemote(done)
		return
	}
	draft := t.draft
	background(t.m.d, func() (struct{}, error) { return struct{}{}, draft.Save() }, func(_ struct{}, err error) {
		switch {
		case errors.Is(err, project.ErrChanged):
			t.m.d.ask("File changed outside", fmt.Sprintf("%s changed on disk since it was opened. Reload shows what is there and gives up the changes here.", t.m.metaFile(draft.Path)),
				answer{"Keep editing", false, nil}, answer{"Reload", true, t.reload})
			return
		case err != nil:
			t.m.d.fail("Save "+t.item.Ref.Name, err)
			return
		}
		t.m.d.frame.note("Saved " + t.item.Ref.Name)
		t.m.d.event("metadata saved %s %s", t.item.Ref.Type, t.item.Ref.Name)
		t.changed()
		t.m.projectChanged(t.item.Ref.Type)
		if done != nil {
			done()
		}
	})
}

// revert goes back to what is on disk.
func (t *metaTab) revert() {
	t.m.d.ask("Give up the changes?", "The "+t.type_().One+" "+t.item.Ref.Name+" becomes what its file holds.",
		answer{"Keep editing", true, nil}, answer{"Revert " + t.item.Ref.Name, false, func() { t.giveUp(); t.fill() }})
}

// reload reads the element again.
func (t *metaTab) reload() {
	store, item := t.m.store, t.item
	background(t.m.d, func() (*presenter.MetaDraft, error) { return store.Load(item) }, func(draft *presenter.MetaDraft, err error) {
		if err != nil {
			t.m.d.fail("Reload "+item.Ref.Name, err)
			return
		}
		t.draft = draft
		t.fill()
	})
}

// projectChanged brings what depends on the variables of the project up to date.
func (m *metadata) projectChanged(typeKey string) {
	for _, e := range m.d.editors {
		e.redesign()
	}
	if typeKey == presenter.MetaEnvironment || typeKey == presenter.MetaProject {
		m.reload()
	}
}

// stop ends a test that runs.
func (t *metaTab) stop() {
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
	if t.looking != nil {
		t.looking()
	}
}
