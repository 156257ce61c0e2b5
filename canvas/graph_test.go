//go:build !headless

package canvas_test

import (
	"fmt"
	"image"
	"reflect"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"sluice/canvas"
	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

func at(x, y float64) scene.Point { return scene.Point{X: x, Y: y} }

func sample() scene.Graph {
	node := func(id scene.ID, x, y float64) scene.Node {
		return scene.Node{ID: id, Label: string(id), Icon: "cat-database", Pos: at(x, y)}
	}
	return scene.Graph{
		Nodes: []scene.Node{node("A", 100, 100), node("B", 300, 100), node("C", 300, 300)},
		Hops:  []scene.Hop{{ID: "AB", From: "A", To: "B"}},
	}
}

// shown is a canvas in a test window, with the intentions it told.
type shown struct {
	*canvas.Graph
	window fyne.Window
	told   []gesture.Intent
}

func show(t *testing.T, cfg gesture.Config) *shown {
	t.Helper()
	test.NewTempApp(t)
	fonts, err := paint.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	s := &shown{Graph: canvas.NewGraph(canvas.Config{Fonts: fonts, Theme: paint.Light(), Gesture: cfg})}
	s.OnIntent = func(i gesture.Intent) {
		if i.Name() != gesture.NameTip {
			s.told = append(s.told, i)
		}
	}
	s.SetGraph(sample())
	s.window = test.NewTempWindow(t, s.Graph)
	s.window.SetPadded(false)
	s.window.Resize(fyne.NewSize(600, 400))
	s.window.Canvas().Capture()
	return s
}

func mouse(x, y float32, b desktop.MouseButton) *desktop.MouseEvent {
	return &desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}, Button: b}
}

func (s *shown) drag(x0, y0, x1, y1 float32) {
	s.MouseDown(mouse(x0, y0, desktop.MouseButtonPrimary))
	for i := float32(1); i <= 4; i++ {
		s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x0+(x1-x0)*i/4, y0+(y1-y0)*i/4)}})
	}
	s.MouseUp(mouse(x1, y1, desktop.MouseButtonPrimary))
	s.DragEnd()
}

func TestWidgetTellsGestures(t *testing.T) {
	s := show(t, gesture.Config{})
	s.drag(300, 300, 180, 220)
	s.MouseDown(mouse(300, 100, desktop.MouseButtonSecondary))
	s.MouseUp(mouse(300, 100, desktop.MouseButtonSecondary))
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete})
	want := []gesture.Intent{
		gesture.Select{Selection: scene.Select(scene.NodeRef("C"))},
		gesture.Move{To: map[scene.Ref]scene.Point{scene.NodeRef("C"): at(180, 220)}},
		gesture.Select{Selection: scene.Select(scene.NodeRef("B"))},
		gesture.Menu{Hit: scene.Hit{Ref: scene.NodeRef("B"), Part: scene.PartBody}, At: at(300, 100), Document: at(300, 100)},
		gesture.Edit{Ref: scene.NodeRef("B")},
		gesture.Delete{Refs: []scene.Ref{scene.NodeRef("B")}},
	}
	if !reflect.DeepEqual(s.told, want) {
		t.Errorf("told %#v", s.told)
	}
	if s.window.Canvas().Focused() != s.Graph {
		t.Error("a press does not give the focus to the canvas")
	}
}

// TestWidgetShowsThePaintersPicture compares the window with the painter.
func TestWidgetShowsThePaintersPicture(t *testing.T) {
	s := show(t, gesture.Config{MiniMap: true})
	for _, theme := range []*paint.Theme{paint.Light(), paint.Dark()} {
		s.SetTheme(theme)
		got := s.window.Canvas().Capture()
		want := image.NewRGBA(image.Rect(0, 0, 600, 400))
		s.Painter().Paint(want, paint.Frame{Scene: s.Machine().Scene(), View: s.Machine().View(), Scale: 1, Theme: theme, MiniMap: true})
		for y := range 400 {
			for x := range 600 {
				if r, g, b, _ := got.At(x, y).RGBA(); uint8(r>>8) != want.RGBAAt(x, y).R || uint8(g>>8) != want.RGBAAt(x, y).G || uint8(b>>8) != want.RGBAAt(x, y).B {
					t.Fatalf("pixel %d,%d is %v, want %v", x, y, got.At(x, y), want.RGBAAt(x, y))
				}
			}
		}
	}
}

// TestWidgetIsSharpAtEveryScale compares the window with the painter on a
// display with more pixels.
func TestWidgetIsSharpAtEveryScale(t *testing.T) {
	s := show(t, gesture.Config{})
	for _, scale := range []float64{2, 1.5, 1.25, 0.8} {
		s.window.Canvas().(interface{ SetScale(float32) }).SetScale(float32(scale))
		s.window.Resize(fyne.NewSize(600, 400))
		s.Repaint()
		got := s.window.Canvas().Capture()
		w, h := int(600*scale), int(400*scale)
		if got.Bounds().Dx() != w || got.Bounds().Dy() != h {
			t.Fatalf("scale %v: picture is %v", scale, got.Bounds())
		}
		want := image.NewRGBA(image.Rect(0, 0, w, h))
		s.Painter().Paint(want, paint.Frame{Scene: s.Machine().Scene(), View: s.Machine().View(), Scale: scale, Theme: paint.Light()})
		for y := range h {
			for x := range w {
				if r, _, b, _ := got.At(x, y).RGBA(); uint8(r>>8) != want.RGBAAt(x, y).R || uint8(b>>8) != want.RGBAAt(x, y).B {
					t.Fatalf("scale %v: pixel %d,%d is %v, want %v", scale, x, y, got.At(x, y), want.RGBAAt(x, y))
				}
			}
		}
	}
}

func TestHoverPaintsNoRaster(t *testing.T) {
	s := show(t, gesture.Config{})
	before := s.Pictures()
	for _, x := range []float32{100, 130, 200, 300, 500} {
		s.MouseMoved(mouse(x, 100, 0))
		s.window.Canvas().Capture()
	}
	s.MouseOut()
	s.window.Canvas().Capture()
	if n := s.Pictures() - before; n != 0 {
		t.Errorf("hovering painted %d pictures", n)
	}
}

func TestTickPaintsOnlyOnChange(t *testing.T) {
	s := show(t, gesture.Config{})
	before := s.Pictures()
	n, _ := s.Machine().Scene().Node("A")
	s.Update([]scene.Node{n}, nil)
	s.window.Canvas().Capture()
	if s.Pictures() != before {
		t.Error("a tick without a change painted")
	}
	n.Metric, n.State = "12 rows", scene.StateRunning
	s.Update([]scene.Node{n}, nil)
	got := s.window.Canvas().Capture()
	if s.Pictures() != before+1 {
		t.Errorf("a tick painted %d pictures", s.Pictures()-before)
	}
	want := image.NewRGBA(image.Rect(0, 0, 600, 400))
	s.Painter().Paint(want, paint.Frame{Scene: s.Machine().Scene(), View: s.Machine().View(), Scale: 1, Theme: paint.Light()})
	if r, _, _, _ := got.At(76, 80).RGBA(); uint8(r>>8) != want.RGBAAt(76, 80).R {
		t.Error("the running tile is not shown")
	}
}

func TestToolTipStaysOnTheCanvas(t *testing.T) {
	s := show(t, gesture.Config{})
	s.ToolTip = func(h scene.Hit) (paint.ToolTip, bool) {
		return paint.ToolTip{Title: "Node " + string(h.ID), Caption: "a long explanation of what it does"}, true
	}
	before := s.window.Canvas().Capture()
	g := s.Machine()
	g.SetView(scene.View{Zoom: 1, Offset: at(280, 80)}) // B near the lower right corner
	s.Repaint()
	s.OnIntent = nil
	s.ShowTipForTest(scene.Hit{Ref: scene.NodeRef("B"), Part: scene.PartBody}, at(590, 390))
	after := s.window.Canvas().Capture()
	if reflect.DeepEqual(before, after) {
		t.Error("no tool tip is shown")
	}
	for _, o := range test.WidgetRenderer(s.Graph).Objects() {
		p, size := o.Position(), o.Size()
		if o.Visible() && (p.X < -1 || p.Y < -1 || p.X+size.Width > 601 || p.Y+size.Height > 401) {
			t.Errorf("%T at %v with size %v leaves the canvas", o, p, size)
		}
	}
}

func TestTabLeavesTheCanvas(t *testing.T) {
	s := show(t, gesture.Config{})
	next := widget.NewEntry()
	s.window.SetContent(container.NewBorder(nil, next, nil, nil, s.Graph))
	s.window.Resize(fyne.NewSize(600, 400))
	s.window.Canvas().Focus(s.Graph)
	for range 3 {
		s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	}
	if s.window.Canvas().Focused() != s.Graph {
		t.Fatal("the focus left before the last node")
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyTab})
	if s.window.Canvas().Focused() != next {
		t.Errorf("the focus is on %T", s.window.Canvas().Focused())
	}
}

func TestUnusedKeysAndShortcutsGoToTheApplication(t *testing.T) {
	s := show(t, gesture.Config{})
	var key fyne.KeyName
	var shortcut fyne.Shortcut
	s.OnKey = func(e *fyne.KeyEvent) { key = e.Name }
	s.OnShortcut = func(sc fyne.Shortcut) { shortcut = sc }
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyF8})
	s.TypedShortcut(&fyne.ShortcutCopy{})
	if key != fyne.KeyF8 || shortcut == nil {
		t.Errorf("key %q, shortcut %v", key, shortcut)
	}
	key = ""
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	if key != "" {
		t.Errorf("the canvas used %q and passed it on", key)
	}
}

func TestDragLetGoOutsideEnds(t *testing.T) {
	s := show(t, gesture.Config{})
	s.MouseDown(mouse(300, 300, desktop.MouseButtonPrimary))
	s.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(340, 500)}})
	s.DragEnd()
	if s.Machine().Busy() {
		t.Error("the drag goes on")
	}
	if last := s.told[len(s.told)-1]; last.Name() != gesture.NameMove {
		t.Errorf("told %#v", last)
	}
}

func TestFitWaitsForTheSize(t *testing.T) {
	test.NewTempApp(t)
	fonts, err := paint.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	g := canvas.NewGraph(canvas.Config{Fonts: fonts, Theme: paint.Light()})
	big := sample()
	big.Nodes[2].Pos = at(3000, 2000)
	g.SetGraph(big)
	g.Fit()
	g.Resize(fyne.NewSize(600, 400))
	if z := g.Machine().View().Zoom; z >= 0.5 {
		t.Errorf("zoom is %v", z)
	}
}

func TestArea(t *testing.T) {
	s := show(t, gesture.Config{})
	p, size, ok := s.Area(scene.NodeRef("B"))
	if !ok || p.X > 276 || p.Y > 76 || p.X+size.Width < 324 || p.Y+size.Height < 130 {
		t.Errorf("B lies at %v with size %v", p, size)
	}
	if p, size, ok = s.Area(scene.HopRef("AB")); !ok || p.X+size.Width/2 != 200 || p.Y+size.Height/2 != 100 {
		t.Errorf("the hop lies at %v with size %v", p, size)
	}
	if _, _, ok = s.Area(scene.NoteRef("gone")); ok {
		t.Error("a note that does not exist has a place")
	}
}

func TestObjectCountStaysSmall(t *testing.T) {
	s := show(t, gesture.Config{MiniMap: true})
	var g scene.Graph
	for i := range 3000 {
		g.Nodes = append(g.Nodes, scene.Node{ID: scene.ID(fmt.Sprint(i)), Pos: at(float64(i%60)*160, float64(i/60)*112)})
	}
	s.SetGraph(g)
	s.window.Canvas().Capture()
	if n := len(test.LaidOutObjects(s.Graph)); n > 40 {
		t.Errorf("%d objects for 3000 nodes", n)
	}
}
