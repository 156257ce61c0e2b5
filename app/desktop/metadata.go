//go:build !headless

package desktop

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/project"
	"sluice/storage/rclone"
)

const (
	metaTreeWidth = 280
	metaTreeSmall = 232
	metaFormWidth = 520
)

// metadata is the perspective of connections, run configurations, remotes,
// environments and the other metadata of the project.
type metadata struct {
	d       *Desktop
	home    string
	ws      *workspace.Workspace // of the project; nil while there is none
	store   *presenter.MetaStore
	groups  []presenter.MetaGroup
	remotes []rclone.Info
	results map[presenter.MetaRef]presenter.MetaReport // of this session
	search  string
	open    []*metaTab
	now     *metaTab
	asked   int               // number of the latest question to the disk
	wanted  presenter.MetaRef // is shown once the tree is read

	tree   *metaTree
	tabs   *fyne.Container
	scroll *container.Scroll // of the tabs
	bar    fyne.CanvasObject
	center *fyne.Container
	all    fyne.CanvasObject
}

func newMetadata(d *Desktop) *metadata {
	m := &metadata{d: d, results: map[presenter.MetaRef]presenter.MetaReport{}}
	m.tree = newMetaTree(m)
	head := d.head(d.bold("Metadata", textSize),
		d.small("add", d.tipOf("meta-new"), func() { d.do("meta-new") }),
		d.small("copy", d.tipOf("meta-duplicate"), func() { d.do("meta-duplicate") }),
		d.small("delete", d.tipOf("meta-delete"), func() { d.do("meta-delete") }))
	search := d.field("", "Search metadata", func(s string) { m.search = strings.ToLower(s); m.tree.refresh() })
	left := panel(container.NewBorder(container.NewVBox(head, inset(search, 8, 8, 4, 8)), nil, nil, nil, m.tree.list), theme.ColorNameOverlayBackground)
	m.tabs = container.New(layout.NewCustomPaddedHBoxLayout(0))
	m.scroll = container.NewHScroll(m.tabs)
	m.bar = panel(container.NewVBox(m.scroll, widget.NewSeparator()), theme.ColorNameHeaderBackground)
	m.center = container.NewStack()
	right := panel(container.New(&topped{}, m.bar, m.center), theme.ColorNameOverlayBackground)
	m.all = container.NewThemeOverride(container.New(&metaLayout{d}, left, right), flatLook{d})
	m.show(nil)
	return m
}

// tipOf is the tool tip of an action: its title and its key.
func (d *Desktop) tipOf(id presenter.ActionID) string {
	a, _ := d.keys.Action(id)
	if len(a.Keys) > 0 {
		return a.Title + " (" + a.Keys[0] + ")"
	}
	return a.Title
}

// metaLayout gives the tree its width and the rest to the form.
type metaLayout struct{ d *Desktop }

// MinSize implements fyne.Layout.
func (l *metaLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(640, 300) }

// Layout implements fyne.Layout.
func (l *metaLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := float32(metaTreeWidth)
	if l.d.frame.small {
		width = metaTreeSmall
	}
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[1].Move(fyne.NewPos(width+1, 0))
	o[1].Resize(fyne.NewSize(size.Width-width-1, size.Height))
}

// projectHome is the folder of the project at hand; empty when there is none.
func (d *Desktop) projectHome() string {
	home := d.frame.side.home
	if home == userHome() {
		return "" // of files that are in no project
	}
	return home
}

// metaLoaded is what reading the metadata found.
type metaLoaded struct {
	ws      *workspace.Workspace
	store   *presenter.MetaStore
	groups  []presenter.MetaGroup
	remotes []rclone.Info
	wrong   error // of the remotes
}

// reload reads project and remotes again.
func (m *metadata) reload() {
	m.asked++
	asked, home := m.asked, m.d.projectHome()
	if home != m.home {
		m.home = home
		m.closeSaved()
		m.results = map[presenter.MetaRef]presenter.MetaReport{}
	}
	open, known, active := m.d.workspace("", home), m.d.memory.AddedEnvironments[home], m.d.memory.Environments[home]
	background(m.d, func() (metaLoaded, error) {
		l := metaLoaded{}
		if home != "" {
			ws, err := open(nil, "")
			if err != nil {
				return l, err
			}
			l.ws = ws
			l.store = &presenter.MetaStore{Home: home, Project: ws.Project, Metadata: ws.Project.Metadata(), Known: known, Active: active}
			if l.groups, err = l.store.LoadMetadata(); err != nil {
				return l, err
			}
		}
		l.remotes, l.wrong = m.d.listRemotes()
		return l, nil
	}, func(l metaLoaded, err error) {
		if asked != m.asked {
			return
		}
		m.ws, m.store, m.groups, m.remotes = l.ws, l.store, l.groups, l.remotes
		if cmp.Or(err, l.wrong) != nil {
			m.d.fail("Read the metadata", cmp.Or(err, l.wrong))
		}
		m.groups = withRemotes(m.groups, l.remotes)
		m.reopenSetUp()
		m.tree.refresh()
		m.show(m.now)
		m.d.event("metadata %d", len(m.groups))
		if m.wanted.Type == presenter.MetaProject && m.store != nil {
			m.wanted.Name = m.store.Project.Name
		}
		if m.wanted.Type != "" {
			m.choose(m.wanted)
			m.wanted = presenter.MetaRef{}
		}
	})
}

// listRemotes reads what rclone knows. It reads the disk.
func (d *Desktop) listRemotes() (_ []rclone.Info, err error) {
	p, err := d.places()
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, p.Close(context.Background())) }()
	return p.Client().Remotes(context.Background())
}

// withRemotes puts the remotes behind the connections.
func withRemotes(groups []presenter.MetaGroup, remotes []rclone.Info) []presenter.MetaGroup {
	g := presenter.MetaGroup{Type: remoteType}
	for _, r := range remotes {
		g.Items = append(g.Items, presenter.MetaItem{Ref: presenter.MetaRef{Type: presenter.MetaRemote, Name: r.Name}, Note: r.Type})
	}
	at := slices.IndexFunc(groups, func(g presenter.MetaGroup) bool { return g.Type.Key == project.TypeRDBMS }) + 1
	return slices.Insert(slices.Clone(groups), at, g)
}

// item finds an element of the tree.
func (m *metadata) item(ref presenter.MetaRef) (presenter.MetaItem, bool) {
	for _, g := range m.groups {
		for _, i := range g.Items {
			if i.Ref == ref {
				return i, true
			}
		}
	}
	return presenter.MetaItem{}, false
}

// want shows an element now, or once the tree is read.
func (m *metadata) want(ref presenter.MetaRef) {
	if _, ok := m.item(ref); ok {
		m.choose(ref)
		return
	}
	m.wanted = ref
}

// choose opens an element, or brings it to the front.
func (m *metadata) choose(ref presenter.MetaRef) {
	for _, t := range m.open {
		if t.item.Ref == ref {
			m.show(t)
			return
		}
	}
	item, ok := m.item(ref)
	if !ok {
		return
	}
	if ref.Type == presenter.MetaRemote {
		m.openRemote(item)
		return
	}
	store, type_ := m.store, presenter.MetaTypeOf(ref.Type)
	type found struct {
		draft *presenter.MetaDraft
		uses  []presenter.MetaUse
	}
	background(m.d, func() (found, error) {
		draft, err := store.Load(item)
		if err != nil {
			return found{}, err
		}
		uses, err := presenter.FindUses(context.Background(), store.Home, type_, ref.Name)
		return found{draft, uses}, err
	}, func(f found, err error) {
		if err != nil {
			m.d.fail("Open "+ref.Name, err)
			return
		}
		if m.store != nil && store.Home == m.store.Home { // it may have been read again
			m.add(newMetaTab(m, item, f.draft, f.uses))
		}
	})
}

func (m *metadata) add(t *metaTab) {
	for _, o := range m.open {
		if o.item.Ref == t.item.Ref {
			m.show(o)
			return
		}
	}
	m.open = append(m.open, t)
	m.show(t)
	m.d.event("metadata open %s %s", t.item.Ref.Type, t.item.Ref.Name)
}

// show brings a tab to the front; nil shows what to do when none is open.
func (m *metadata) show(t *metaTab) {
	m.now = t
	m.tabs.Objects = nil
	for _, o := range m.open {
		m.tabs.Add(o.tabButton())
	}
	setVisible(m.bar, len(m.open) > 0)
	switch {
	case t != nil:
		m.center.Objects = []fyne.CanvasObject{t.all}
	case m.store == nil:
		m.center.Objects = []fyne.CanvasObject{m.d.emptyState("folder", "No project is open", "Connections, run configurations and environments belong to a project. Open its folder first.",
			button("Open project folder", true, func() { m.d.do("open-project") }), button("Open sample", false, func() { m.d.do("open-sample") }), button("New remote…", false, func() { m.d.do("remote-new") }))}
	default:
		m.center.Objects = []fyne.CanvasObject{m.d.emptyState("metadata", "Select an element", "Connections, remotes, run configurations and environments of "+m.store.Project.Name+" are in the tree.",
			button("New…", true, func() { m.d.do("meta-new") }), button("New remote…", false, func() { m.d.do("remote-new") }))}
	}
	m.tree.mark()
	m.all.Refresh()
	m.reveal()
}

// reveal moves the tab that is shown into sight.
func (m *metadata) reveal() {
	left, right := float32(0), float32(0)
	for i, o := range m.open {
		left, right = right, right+m.tabs.Objects[i].MinSize().Width
		if o == m.now {
			break
		}
	}
	switch width, at := m.scroll.Size().Width, m.scroll.Offset.X; {
	case left < at:
		m.scroll.ScrollToOffset(fyne.NewPos(left, 0))
	case right > at+width:
		m.scroll.ScrollToOffset(fyne.NewPos(right-width, 0))
	}
}

// close closes a tab, after a question when it has changes.
func (m *metadata) close(t *metaTab) {
	drop := func() {
		t.stop()
		i := slices.Index(m.open, t)
		m.open = slices.Delete(m.open, i, i+1)
		var next *metaTab
		if len(m.open) > 0 {
			next = m.open[min(i, len(m.open)-1)]
		}
		m.show(next)
	}
	if !t.dirty() {
		drop()
		return
	}
	m.d.ask("Close "+t.item.Ref.Name+"?", "The "+t.type_().One+" "+t.item.Ref.Name+" has changes that are not saved.",
		answer{"Cancel", false, nil}, answer{"Close without saving", false, drop}, answer{"Save and close", true, func() { t.save(drop) }})
}

// unsaved lists the tabs with changes.
func (m *metadata) unsaved() []*metaTab {
	var out []*metaTab
	for _, t := range m.open {
		if t.dirty() {
			out = append(out, t)
		}
	}
	return out
}

// askQuit asks what becomes of unsaved metadata before the window is closed: unlike
// files, it is not kept for the next start.
func (m *metadata) askQuit() {
	const title = "Unsaved metadata"
	if n := len(m.d.dialogs); n > 0 && m.d.dialogs[n-1].title == title {
		return
	}
	list := m.unsaved()
	var names []string
	for _, t := range list {
		names = append(names, t.item.Ref.Name)
	}
	m.d.ask(title, strings.Join(names, ", ")+": the changes are not saved, and are lost when you quit.",
		answer{"Stay", false, nil},
		answer{"Quit without saving", false, func() {
			for _, t := range list {
				t.giveUp()
			}
			m.d.quit()
		}},
		answer{"Save and quit", true, func() { m.saveAll(m.d.quit) }})
}

// closeSaved closes the tabs without changes, before another project or environment
// is shown; nobody's work is lost by that.
func (m *metadata) closeSaved() {
	for _, t := range m.open {
		if !t.dirty() {
			t.stop()
		}
	}
	m.open = m.unsaved()
	if !slices.Contains(m.open, m.now) {
		m.now = nil
	}
}

// saveAll saves one tab after the other and then goes on.
func (m *metadata) saveAll(done func()) {
	if list := m.unsaved(); len(list) > 0 {
		list[0].save(func() { m.saveAll(done) })
		return
	}
	done()
}

// emptyState says what is so and what to do, with buttons for it.
func (d *Desktop) emptyState(icon, title, text string, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	label := widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: theme.ColorNamePlaceHolder, Alignment: fyne.TextAlignCenter}})
	label.Wrapping = fyne.TextWrapWord
	box := container.NewVBox(d.picture(icon, inkPrimary, 32), container.NewCenter(wide(d.bold(title, 14))), sized(label, 320, 0))
	if len(buttons) > 0 {
		box.Add(container.NewCenter(container.New(layout.NewCustomPaddedHBoxLayout(8), buttons...)))
	}
	return container.NewCenter(box)
}

// metaFile is how the file of an element is shown.
func (m *metadata) metaFile(path string) string {
	if m.store != nil {
		if rel, err := filepath.Rel(m.store.Home, path); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(rel)
		}
	}
	return shorten(path)
}
