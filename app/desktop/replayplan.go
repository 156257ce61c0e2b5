//go:build !headless

package desktop

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
	"sluice/engine"
)

// planPane shows the plan of a replay on the graph: of the run itself, and of what it
// started.
type planPane struct {
	x     *replayDialog
	graph *sluicecanvas.Graph
	up    *flat           // to the run that started this one
	place *fyne.Container // of up
	at    engine.CallPath // whose graph is shown
	file  *presenter.File // nil while it is not known
	shown string          // what file was read for

	legend fyne.CanvasObject
	all    fyne.CanvasObject
}

func newPlanPane(x *replayDialog) *planPane {
	d := x.d
	p := &planPane{x: x}
	p.graph = sluicecanvas.NewGraph(sluicecanvas.Config{
		Fonts: d.fonts, Theme: d.look.Theme, Gesture: gesture.Config{ReadOnly: true},
		Empty: paint.Notice{Icon: "executions", Title: "No picture of the plan", Text: "The definition was not kept with this record."},
	})
	p.graph.OnIntent = p.intent
	p.graph.ToolTip = p.toolTip
	p.up = d.flat("parent", "", "The run that started this one", func() { p.goTo(p.at.Parent()) })
	p.up.Hide()
	p.place = container.NewHBox(p.up)
	p.all = container.NewStack(p.graph, container.NewVBox(inset(p.place, 8, 0, 0, 8)))
	p.legend = p.words()
	return p
}

// words explain the four classes.
func (p *planPane) words() fyne.CanvasObject {
	d := p.x.d
	reuse := "Reuse, nothing opened"
	if d.frame.small {
		reuse = "Reuse"
	}
	row := container.NewHBox()
	for _, l := range []struct {
		state scene.State
		word  string
	}{{scene.StateReused, reuse}, {scene.StateRunning, "Run"}, {scene.StateNotReached, "Not reached"}, {scene.StateBlocked, "Blocked"}} {
		pic := canvas.NewImageFromResource(d.icon(l.state.Icon(), inkTone(l.state.Tone())))
		pic.FillMode = canvas.ImageFillContain
		row.Add(inset(container.NewHBox(container.NewCenter(sized(pic, 16, 16)), container.NewCenter(wide(d.words(l.word, captionSize, inkText)))), 0, 12, 0, 0))
	}
	return sized(inset(row, 0, 8, 0, 16), 0, 32)
}

// goTo shows the graph of another place of the tree.
func (p *planPane) goTo(at engine.CallPath) {
	p.at = at
	p.show()
}

// show shows the plan, and reads the file when it is another one.
func (p *planPane) show() {
	x := p.x
	v, at := x.view, p.at
	want := string(at) + "\n" + v.Plan.Definition
	p.up.caption = x.of.Name
	if at.Parent() != "" {
		p.up.caption = at.Parent().Node()
	}
	setVisible(p.up, at != "")
	p.up.Refresh()
	p.place.Refresh()
	if p.shown == want {
		p.draw()
		return
	}
	run := x.run
	background(x.d, func() (*presenter.File, error) { return presenter.LoadPlanned(context.Background(), run, v, at) }, func(f *presenter.File, err error) {
		if x.run == nil || p.at != at {
			return
		}
		if err != nil {
			x.d.frame.note("Draw the plan: " + err.Error())
		}
		p.file, p.shown = f, want
		p.graph.SetGraph(scene.Graph{})
		p.draw()
		p.graph.Fit()
	})
}

func (p *planPane) draw() {
	if p.file == nil || p.x.view == nil {
		return
	}
	p.graph.SetGraph(p.x.view.Scene(p.file, p.at))
}

// intent chooses the start point of a node that is clicked, and opens what an action
// has started.
func (p *planPane) intent(i gesture.Intent) {
	switch v := i.(type) {
	case gesture.Select:
		if ids := v.Selection.IDs(scene.KindNode); len(ids) == 1 {
			p.choose(ids[0])
		}
	case gesture.Open:
		p.drill(v.Node)
	case gesture.Edit:
		p.drill(v.Ref.ID)
	}
}

func (p *planPane) node(id scene.ID) string {
	if p.file == nil {
		return ""
	}
	n, _ := p.file.Node(presenter.ElementID(id))
	return n.Name
}

func (p *planPane) choose(id scene.ID) {
	x, node := p.x, p.node(id)
	if x.view == nil || node == "" {
		return
	}
	if name := x.view.StartOf(p.at, node); name != "" {
		x.startAt(name)
		return
	}
	x.note.Set(node+" is no start point: choose a gate or an action.", nil)
}

func (p *planPane) drill(id scene.ID) {
	if x := p.x; x.view != nil {
		if at := x.view.ChildOf(p.at, p.node(id)); at != "" {
			p.goTo(at)
		}
	}
}

func (p *planPane) toolTip(hit scene.Hit) (paint.ToolTip, bool) {
	if hit.Kind != scene.KindNode || p.file == nil || p.x.view == nil {
		return paint.ToolTip{}, false
	}
	name := p.node(hit.ID)
	tip := paint.ToolTip{Title: name}
	for _, r := range p.x.view.Reasons(p.at, name) {
		tip.Rows = append(tip.Rows, paint.TipRow{Key: r.Decision, Value: r.Why})
	}
	if p.x.view.ChildOf(p.at, name) != "" {
		tip.Caption = "Double-click: the plan of what it starts"
	}
	return tip, true
}
