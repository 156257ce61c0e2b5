//go:build !headless

package desktop

import (
	"fmt"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// frame is what surrounds the perspectives: rail, side, tabs, status bar.
type frame struct {
	d       *Desktop
	rails   []*flat // one per place
	tabs    *tabBar
	center  *fyne.Container // editor or welcome screen
	side    *side
	split   *container.Split
	body    *fyne.Container // split, or center alone
	project *words
	state   *words
	hint    *words
	small   bool // the window is narrower than the design's least full width
}

// build makes the window's content.
func (d *Desktop) build() {
	d.tips = newTipLayer(d)
	f := &frame{d: d, center: container.NewStack()}
	d.frame = f
	items := container.NewVBox()
	for _, p := range places {
		item := d.flat(p.icon, p.name, p.tip, func() { d.goTo(p.place) })
		item.size, item.below, item.iconSize, item.textSize, item.selected = fyne.NewSize(72, 56), true, 20, captionSize, p.place == d.place
		f.rails = append(f.rails, item)
		items.Add(item)
	}
	f.tabs = newTabBar(d)
	f.side = newSide(d)
	f.project, f.state, f.hint = d.caption("No project"), d.caption(""), d.caption("")
	f.state.align = fyne.TextAlignTrailing
	rail := panel(items, theme.ColorNameHeaderBackground)
	status := panel(inset(container.NewGridWithColumns(3, f.project, f.hint, f.state), 4, 12, 4, 12), theme.ColorNameHeaderBackground)
	main := container.NewBorder(f.tabs.object(), nil, nil, nil, f.center)
	f.split = container.NewHSplit(f.side.object(), main)
	f.split.SetOffset(d.memory.Side)
	f.body = container.NewStack(f.split)
	content := container.NewBorder(nil, container.NewVBox(widget.NewSeparator(), status), container.NewHBox(rail, widget.NewSeparator()), nil, f.body)
	d.win.SetContent(container.NewThemeOverride(container.New(&rescaling{f: f}, content, d.tips.box), flatLook{d}))
	d.win.SetMainMenu(d.mainMenu())
	d.win.Canvas().SetOnTypedKey(d.typedKey)
	d.registerShortcuts()
}

// rescaling stacks its objects and tells the frame about the window's size.
type rescaling struct{ f *frame }

// MinSize implements fyne.Layout.
func (r *rescaling) MinSize(o []fyne.CanvasObject) fyne.Size { return fyne.NewSize(720, 480) }

// Layout implements fyne.Layout.
func (r *rescaling) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if small := size.Width < fullWidth; small != r.f.small {
		r.f.setSmall(small)
	}
	for _, obj := range o {
		obj.Resize(size)
	}
}

// fullWidth is the width from which the rail has captions and the canvas a mini-map.
const fullWidth = 1200

func (f *frame) setSmall(small bool) {
	f.small = small
	for i, item := range f.rails {
		item.size, item.caption = fyne.NewSize(72, 56), places[i].name
		if small {
			item.size, item.caption = fyne.NewSize(48, 48), ""
		}
		item.Refresh()
	}
	for _, e := range f.d.editors {
		e.graph.SetGesture(e.gestures())
	}
}

// note shows a sentence in the status bar.
func (f *frame) note(text string) { f.hint.Set(text, nil) }

// update brings title, tabs and status bar up to date.
func (d *Desktop) update() {
	f := d.frame
	f.tabs.update()
	e := d.current
	switch e {
	case nil:
		f.state.Set("", nil)
		d.win.SetTitle("Sluice")
	default:
		state := "Saved"
		if n := e.file.Unsaved(); n > 0 {
			state = fmt.Sprintf("%d unsaved %s", n, plural(n, "change"))
		}
		if e.file.ReadOnly() {
			state = "Read-only: written in " + e.file.Document().Encoding()
		}
		f.state.Set(state, nil)
		d.win.SetTitle(e.file.Title() + " - Sluice")
		e.updateTools()
	}
	project := "No project"
	if f.side.home != "" {
		project = "Project " + filepath.Base(f.side.home)
	}
	f.project.Set(project, nil)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// show brings an editor, or the welcome screen when nil, to the front.
func (d *Desktop) show(e *editor) {
	d.current = e
	d.atPlace(placeDesigner)
	if e == nil {
		d.showWelcome()
		return
	}
	d.frame.body.Objects = []fyne.CanvasObject{d.frame.split}
	d.frame.center.Objects = []fyne.CanvasObject{e.content}
	d.frame.body.Refresh()
	d.frame.center.Refresh()
	d.frame.side.setHome(e.home)
	d.update()
	d.focusCanvas()
}

// focus gives the keyboard to a widget, once the event at hand is over: the button
// that opened a dialog is let go after it, and takes the keyboard away.
func (d *Desktop) focus(o fyne.Focusable) {
	d.post(func() { d.win.Canvas().Focus(o) })
}

// focusCanvas gives the keyboard to the canvas of the current file.
func (d *Desktop) focusCanvas() {
	if d.current != nil {
		d.win.Canvas().Focus(d.current.graph)
	}
}

// tabBar shows one tab per open file.
type tabBar struct {
	d   *Desktop
	row *fyne.Container
	all fyne.CanvasObject
}

func newTabBar(d *Desktop) *tabBar {
	t := &tabBar{d: d, row: container.New(layout.NewCustomPaddedHBoxLayout(1))}
	scroll := container.NewHScroll(t.row)
	t.all = panel(container.NewVBox(scroll, widget.NewSeparator()), theme.ColorNameHeaderBackground)
	return t
}

func (t *tabBar) object() fyne.CanvasObject { return t.all }

func (t *tabBar) update() {
	t.row.Objects = nil
	for _, e := range t.d.editors {
		t.row.Add(t.tab(e))
	}
	t.row.Refresh()
	if len(t.d.editors) == 0 {
		t.all.Hide()
	} else {
		t.all.Show()
	}
}

func (t *tabBar) tab(e *editor) fyne.CanvasObject {
	icon := "pipeline"
	if !e.file.IsPipeline() {
		icon = "workflow"
	}
	title := e.file.Title()
	if e.file.Dirty() {
		title = "● " + title
	}
	tip := e.file.Path()
	if tip == "" {
		tip = "Not saved yet"
	}
	tab := t.d.flat(icon, title, shorten(tip), func() { t.d.show(e) })
	tab.size.Height, tab.underline, tab.selected = 32, true, e == t.d.current
	closer := t.d.flat("close", "", "Close "+e.file.Title()+" (Ctrl+W)", func() { t.d.closeFile(e) })
	closer.size, closer.iconSize, closer.inkOf = fyne.NewSize(24, 32), 12, inkSoft
	return container.New(layout.NewCustomPaddedHBoxLayout(0), tab, closer)
}

// switcher shows one of several pages below a row of words.
type switcher struct {
	d       *Desktop
	buttons []*flat
	pages   []fyne.CanvasObject
	stack   *fyne.Container
	head    *fyne.Container
	now     int
}

func newSwitcher(d *Desktop) *switcher {
	return &switcher{d: d, stack: container.NewStack(), head: container.New(layout.NewCustomPaddedHBoxLayout(2))}
}

func (s *switcher) add(name string, page fyne.CanvasObject) {
	n := len(s.pages)
	b := s.d.flat("", name, "", func() { s.choose(n) })
	b.size.Height, b.underline = 30, true
	s.buttons, s.pages = append(s.buttons, b), append(s.pages, page)
	s.head.Add(b)
	if n == 0 {
		s.choose(0)
	}
}

func (s *switcher) choose(n int) {
	s.now = n
	for i, b := range s.buttons {
		b.SetSelected(i == n)
	}
	s.stack.Objects = []fyne.CanvasObject{s.pages[n]}
	s.stack.Refresh()
}
