//go:build !headless

package desktop

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// frame is what surrounds the perspectives: rail, side, tabs, status bar.
type frame struct {
	d      *Desktop
	rails  []*flat // one per place
	feet   []*flat // at the bottom of the rail
	tabs   *tabBar
	center *fyne.Container // editor or welcome screen
	side   *side
	split  *container.Split
	body   *fyne.Container // split, or center alone
	status *statusBar
	hint   *words
	small  bool // the window is narrower than the design's least full width
}

// build makes the window's content.
func (d *Desktop) build() {
	d.tips = newTipLayer(d)
	f := &frame{d: d, center: container.NewStack()}
	d.frame = f
	items, foot := container.NewVBox(), container.NewVBox()
	for _, p := range places {
		item := d.railItem(p.icon, p.name, p.tip, func() { d.goTo(p.place) })
		item.selected = p.place == d.place
		f.rails = append(f.rails, item)
		items.Add(item)
	}
	for _, x := range railFeet {
		f.feet = append(f.feet, d.railItem(x.icon, x.name, x.tip, func() { d.do(x.id) }))
	}
	for _, item := range f.feet {
		foot.Add(item)
	}
	f.tabs = newTabBar(d)
	f.side = newSide(d)
	f.status = newStatusBar(d)
	f.hint = f.status.hint
	rail := panel(container.NewBorder(items, foot, nil, nil), theme.ColorNameHeaderBackground)
	f.split = container.NewHSplit(f.side.object(), container.New(&topped{}, f.tabs.object(), f.center))
	f.split.SetOffset(d.memory.Side)
	f.body = container.NewStack(f.split)
	content := container.New(&frameLayout{}, container.NewVBox(widget.NewSeparator(), f.status.all), container.NewHBox(rail, widget.NewSeparator()), f.body)
	d.win.SetContent(container.NewThemeOverride(container.New(&rescaling{f: f}, content, d.tips.box), flatLook{d}))
	d.win.SetMainMenu(d.mainMenu())
	d.win.Canvas().SetOnTypedKey(d.typedKey)
	d.registerShortcuts()
}

// railFeet are the buttons at the foot of the rail.
var railFeet = []struct {
	icon, name, tip string
	id              presenter.ActionID
}{
	{"help", "Help", "Help (F1)", "help"},
	{"settings", "Settings", "Settings of the window (Ctrl+Alt+S)", "settings"},
}

// railItem is a button of the rail: an icon over its name.
func (d *Desktop) railItem(icon, name, tip string, do func()) *flat {
	item := d.flat(icon, name, tip, do)
	item.size, item.below, item.iconSize, item.textSize = fyne.NewSize(72, 56), true, 20, captionSize
	return item
}

// picture is an icon of a size.
func (d *Desktop) picture(icon string, c ink, size float32) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon(icon, c))
	pic.FillMode = canvas.ImageFillContain
	return container.NewCenter(sized(pic, size, size))
}

// frameLayout puts the status bar at the bottom, the rail at the left and the
// perspective into the rest, without gaps.
type frameLayout struct{}

// MinSize implements fyne.Layout.
func (frameLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	status, rail, body := o[0].MinSize(), o[1].MinSize(), o[2].MinSize()
	return fyne.NewSize(rail.Width+body.Width, max(rail.Height, body.Height)+status.Height)
}

// Layout implements fyne.Layout.
func (frameLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	bottom, left := o[0].MinSize().Height, o[1].MinSize().Width
	o[0].Move(fyne.NewPos(0, size.Height-bottom))
	o[0].Resize(fyne.NewSize(size.Width, bottom))
	o[1].Move(fyne.NewPos(0, 0))
	o[1].Resize(fyne.NewSize(left, size.Height-bottom))
	o[2].Move(fyne.NewPos(left, 0))
	o[2].Resize(fyne.NewSize(size.Width-left, size.Height-bottom))
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
	for i, item := range append(slices.Clone(f.rails), f.feet...) {
		name := ""
		if i < len(places) {
			name = places[i].name
		} else {
			name = railFeet[i-len(places)].name
		}
		item.size, item.caption = fyne.NewSize(72, 56), name
		if small {
			item.size, item.caption = fyne.NewSize(48, 48), ""
		}
		item.Refresh()
	}
	f.side.setSmall(small)
	for _, e := range f.d.editors {
		e.setSmall(small)
	}
	if f.d.runs != nil {
		f.d.runs.detail.setSmall(small)
	}
}

// note shows a sentence in the status bar.
func (f *frame) note(text string) { f.hint.Set(text, nil) }

// update brings title, tabs and status bar up to date.
func (d *Desktop) update() {
	f := d.frame
	f.tabs.update()
	e, state := d.current, ""
	switch e {
	case nil:
		d.win.SetTitle("Sluice")
	default:
		state = "Saved"
		if n := e.file.Unsaved(); n > 0 {
			state = presenter.Plural(int64(n), "unsaved change")
		}
		if e.file.ReadOnly() {
			state = "Read-only: written in " + e.file.Document().Encoding()
		}
		d.win.SetTitle(e.file.Title() + " - Sluice")
		e.updateTools()
	}
	f.status.show(state)
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
	d.frame.side.palette.show(e.file.IsPipeline())
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
	if d.current != nil && d.place == placeDesigner {
		d.win.Canvas().Focus(d.current.graph)
	}
}

// tabBar shows one tab per open file.
type tabBar struct {
	d    *Desktop
	row  *fyne.Container
	plus *flat // offers what can be opened
	all  fyne.CanvasObject
}

func newTabBar(d *Desktop) *tabBar {
	t := &tabBar{d: d, row: container.New(layout.NewCustomPaddedHBoxLayout(0))}
	t.plus = d.flat("add", "", "New or open…", func() { d.menuBelow(t.plus, "new-pipeline", "new-workflow", "open", "open-project") })
	t.plus.size = fyne.NewSize(36, tabHeight)
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
	t.row.Add(t.plus)
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
		title += "  •"
	}
	tip := e.file.Path()
	if tip == "" {
		tip = "Not saved yet"
	}
	tab := t.d.flat(icon, title, shorten(tip), func() { t.d.show(e) })
	tab.size.Height, tab.underline, tab.selected = tabHeight, true, e == t.d.current
	tab.inkOf = inkSoft
	closer := t.d.flat("close", "", "Close "+e.file.Title()+" (Ctrl+W)", func() { t.d.closeFile(e) })
	closer.size, closer.iconSize, closer.inkOf = fyne.NewSize(24, tabHeight), 12, inkSoft
	o := container.New(layout.NewCustomPaddedHBoxLayout(0), tab, closer, separator())
	if tab.selected {
		tab.inkOf = inkText
		return panel(o, theme.ColorNameBackground)
	}
	return o
}

// tabHeight is the height of the bar of files.
const tabHeight = 32

// topped puts the first object, as high as it wants to be, right over the second.
type topped struct{}

// MinSize implements fyne.Layout.
func (topped) MinSize(o []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, 0)
	for _, x := range o {
		if x.Visible() {
			m := x.MinSize()
			size = fyne.NewSize(max(size.Width, m.Width), size.Height+m.Height)
		}
	}
	return size
}

// Layout implements fyne.Layout.
func (topped) Layout(o []fyne.CanvasObject, size fyne.Size) {
	top := float32(0)
	if o[0].Visible() {
		top = o[0].MinSize().Height
	}
	o[0].Move(fyne.NewPos(0, 0))
	o[0].Resize(fyne.NewSize(size.Width, top))
	o[1].Move(fyne.NewPos(0, top))
	o[1].Resize(fyne.NewSize(size.Width, size.Height-top))
}

// switcher shows one of several pages below a row of words.
type switcher struct {
	d       *Desktop
	buttons []*flat
	pages   []fyne.CanvasObject
	stack   *fyne.Container
	head    *fyne.Container
	now     int

	onChoose func() // a page was asked for; may be nil
}

func newSwitcher(d *Desktop) *switcher {
	return &switcher{d: d, stack: container.NewStack(), head: container.New(layout.NewCustomPaddedHBoxLayout(2))}
}

func (s *switcher) add(name string, page fyne.CanvasObject) {
	n := len(s.pages)
	b := s.d.flat("", name, "", func() {
		if s.onChoose != nil {
			s.onChoose()
		}
		s.choose(n)
	})
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
