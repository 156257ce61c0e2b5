//go:build !headless

package desktop

import (
	"context"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/replay"
)

// executionDetail shows one execution: what it is, how it stands, its tree, the
// graph as it ran, and tabs of facts. Tree, graph and tabs follow one selection.
type executionDetail struct {
	d     *Desktop
	list  *executions
	shown *presenter.ExecutionDetail
	asked int
	node  string // transform or action that is selected, "" for none
	then  string // that is selected once what loads is there

	head       *fyne.Container
	pic        *canvas.Image
	title      *words
	about      *words
	replay     *widget.Button
	definition *widget.Button
	parent     *flat
	banner     fyne.CanvasObject
	cause      *words
	tree       *runTree
	graph      *sluicecanvas.Graph
	file       *presenter.File // as it ran, nil when it was not kept
	note       *words
	middle     *container.Split
	tabs       *executionTabs
	body       fyne.CanvasObject
	nothing    fyne.CanvasObject
	all        fyne.CanvasObject
}

func newExecutionDetail(x *executions) *executionDetail {
	d := x.d
	t := &executionDetail{d: d, list: x, title: d.bold("", 16), about: d.caption(""), cause: d.words("", textSize, inkTone(toneError)), note: d.caption("")}
	t.pic = canvas.NewImageFromResource(nil)
	t.pic.FillMode = canvas.ImageFillContain
	t.replay = button("Replay…", true, func() { d.askReplay(t.shown, replay.FirstFailed) })
	t.replay.Icon = d.icon("replay", inkOnPrimary)
	t.definition = button("Open definition", false, func() { d.openDefinition(t.shown.File, t.node) })
	t.parent = d.tool("parent", "The execution that started this one", func() { t.load(t.shown.Parent) })
	refresh := d.tool("refresh", "Read it again", func() { t.load(t.shown.ID) })
	var more *flat
	more = d.tool("more", "Support bundle, delete", func() { d.menuBelow(more, "support-bundle", "delete-record") })
	t.head = container.NewBorder(nil, nil, container.NewCenter(sized(t.pic, 24, 24)), container.NewHBox(t.replay, t.definition, t.parent, refresh, more),
		inset(container.NewVBox(t.title, t.about), 0, 12, 0, 12))
	head := panel(inset(t.head, 6, 12, 6, 16), theme.ColorNameOverlayBackground)
	t.makeBanner()
	t.tree = newRunTree(t)
	t.graph = sluicecanvas.NewGraph(sluicecanvas.Config{
		Fonts: d.fonts, Theme: d.look.Theme, Gesture: gesture.Config{ReadOnly: true},
		Empty: paint.Notice{Icon: "executions", Title: "No definition", Text: "It was not kept with this record."},
	})
	t.graph.OnIntent = t.intent
	t.graph.ToolTip = t.toolTip
	graph := container.NewBorder(inset(t.note, 4, 8, 4, 12), nil, nil, nil, t.graph)
	t.middle = container.NewHSplit(t.tree.all, graph)
	d.keepSplit("run-tree", t.middle, 0.27)
	t.tabs = newExecutionTabs(t)
	bottom := panel(container.NewBorder(panel(t.tabs.head, theme.ColorNameHeaderBackground), nil, nil, nil, t.tabs.stack), theme.ColorNameOverlayBackground)
	split := container.NewVSplit(t.middle, bottom)
	d.keepSplit("execution", split, 0.62)
	t.body = container.NewBorder(container.NewVBox(head, t.banner, widget.NewSeparator()), nil, nil, nil, split)
	t.nothing = emptyNote(d, "executions", "Select an execution", "Its tree, log, rows and snapshots show here.")
	t.all = container.NewStack(t.body, t.nothing)
	t.body.Hide()
	t.setSmall(d.frame.small)
	return t
}

// makeBanner makes the line that tells what failed first.
func (t *executionDetail) makeBanner() {
	d := t.d
	pic := canvas.NewImageFromResource(d.icon("state-failed", inkTone(toneError)))
	pic.FillMode = canvas.ImageFillContain
	toLog := d.flat("", "Show in log", "The first error of the log", func() { t.tabs.choose(tabLog); t.tabs.log.toError(-1) })
	copyText := d.flat("copy", "Copy", "", func() {
		d.app.Clipboard().SetContent(t.cause.full)
		d.frame.note("Copied")
	})
	row := container.NewBorder(nil, nil, container.NewCenter(sized(pic, 18, 18)), container.NewHBox(toLog, copyText), inset(t.cause, 0, 8, 0, 8))
	t.banner = container.NewStack(newFill(d, inkOfGround(toneError)), inset(row, 4, 12, 4, 16))
}

// setSmall puts the tree into a tab of its own where there is no room beside the
// graph.
func (t *executionDetail) setSmall(small bool) {
	setVisible(t.tree.all, true)
	t.tabs.withTree(small)
	if small {
		t.middle.Leading = container.NewStack()
		t.middle.SetOffset(0)
	} else {
		t.middle.Leading = t.tree.all
		t.d.keepSplit("run-tree", t.middle, 0.27)
	}
	t.middle.Refresh()
	t.tabs.fit()
}

// load reads an execution and shows it.
func (t *executionDetail) load(id string) {
	if id == "" {
		return
	}
	t.asked++
	asked := t.asked
	background(t.d, func() (*presenter.ExecutionDetail, error) {
		s, err := t.d.history.Store(context.Background())
		if err != nil {
			return nil, err
		}
		return presenter.LoadExecution(context.Background(), s, id)
	}, func(x *presenter.ExecutionDetail, err error) {
		if asked != t.asked {
			return
		}
		if err != nil {
			t.d.fail("Read the execution", err)
			return
		}
		t.show(x)
	})
}

func (t *executionDetail) show(x *presenter.ExecutionDetail) {
	again := t.shown != nil && t.shown.ID == x.ID
	t.shown = x
	if !again {
		t.node = ""
	}
	t.nothing.Hide()
	t.body.Show()
	now := t.d.now()
	look := presenter.ExecutionState(x.State)
	t.pic.Resource = t.d.icon(look.Icon(), inkTone(look.Tone()))
	t.pic.Refresh()
	t.title.Set(x.Name, nil)
	about := []string{look.String(), "Execution " + presenter.ShortID(x.ID), presenter.Span(x.ExecutionHead, now), presenter.Elapsed(x.Duration(now))}
	ok, why := x.Replayable()
	setEnabled(t.replay, ok)
	if !ok {
		about = append(about, why)
	}
	t.about.Set(strings.Join(about, " · "), nil)
	t.replay.SetText("Replay " + capital(string(x.Kind)) + "…")
	setVisible(t.parent, x.Parent != "")
	t.head.Refresh() // its parts have other widths now
	for _, o := range t.head.Objects {
		o.Refresh()
	}
	node, cause := x.FirstCause()
	if node != "" && cause != "" {
		cause = node + " failed: " + cause
	}
	t.cause.Set(strings.ReplaceAll(cause, "\n", " "), nil)
	setVisible(t.banner, cause != "")
	t.draw(x, again)
	t.tree.show(x)
	t.tabs.show(x, again)
	if then := t.then; then != "" {
		t.then = ""
		t.focus(then)
	}
	t.d.event("execution %s %s", x.ID, x.State)
}

// draw shows the file as it ran; again says that it stays where it is on screen.
func (t *executionDetail) draw(x *presenter.ExecutionDetail, again bool) {
	f, err := x.Graph(t.d.catalog)
	if t.file = f; err != nil || f == nil {
		t.file = nil
		t.graph.SetGraph(scene.Graph{})
		t.note.Set("The definition was not kept", nil)
		return
	}
	g := f.Scene(x.View(t.d.now()))
	if again {
		t.graph.Update(g.Nodes, g.Hops)
	} else {
		t.graph.SetGraph(g)
		t.graph.Fit()
	}
	note := "Graph as it ran"
	if x.Since != "" {
		note += " · " + x.Since
	}
	t.note.Set(note, nil)
}

// intent answers a gesture on the graph.
func (t *executionDetail) intent(i gesture.Intent) {
	switch v := i.(type) {
	case gesture.Select:
		node := ""
		if ids := t.graph.Machine().Selection().IDs(scene.KindNode); len(ids) == 1 && t.file != nil {
			n, _ := t.file.Node(presenter.ElementID(ids[0]))
			node = n.Name
		}
		t.follow(node)
	case gesture.Open:
		t.drill(v.Node)
	case gesture.Edit:
		t.drill(v.Ref.ID)
	}
}

// drill goes to the execution that an action or executor started last.
func (t *executionDetail) drill(id scene.ID) {
	if t.file == nil {
		return
	}
	n, _ := t.file.Node(presenter.ElementID(id))
	child := ""
	for _, h := range t.shown.Tree {
		if h.Parent == t.shown.ID && strings.EqualFold(engine.CallPath(h.CallPath).Node(), n.Name) {
			child = h.ID
		}
	}
	if child == "" {
		t.d.frame.note(n.Name + " started no execution of its own")
		return
	}
	t.load(child)
}

// focus selects a node wherever it shows.
func (t *executionDetail) focus(node string) {
	if t.file != nil {
		sel := scene.Selection{}
		if n, ok := t.file.NodeNamed(node); ok {
			sel = scene.Select(scene.NodeRef(presenter.SceneID(n.ID)))
		}
		t.graph.Machine().SetSelection(sel)
		t.graph.Repaint()
	}
	t.follow(node)
}

// follow lets tree and tabs follow the selection.
func (t *executionDetail) follow(node string) {
	if t.node == node {
		return
	}
	t.node = node
	t.tree.list.Refresh()
	t.tabs.follow(node)
}

func (t *executionDetail) toolTip(hit scene.Hit) (paint.ToolTip, bool) {
	if hit.Kind != scene.KindNode || t.file == nil {
		return paint.ToolTip{}, false
	}
	n, _ := t.file.Node(presenter.ElementID(hit.ID))
	tip := paint.ToolTip{Title: n.Name, Caption: n.Type}
	if k, ok := t.file.Kind(n); ok {
		tip.Caption = k.Name
	}
	if v, ok := t.file.Gates().Gate(n.Name); ok {
		tip.Rows = append(tip.Rows, paint.TipRow{Key: "gate", Value: v.Badge().String()}, paint.TipRow{Key: "location", Value: v.Location})
	}
	for _, a := range t.shown.Actions {
		if strings.EqualFold(a.Node, n.Name) {
			tip.Rows = append(tip.Rows, paint.TipRow{Key: "state", Value: presenter.ActionBadge(a.State).String()})
			if message, _, _ := strings.Cut(a.Message, "\n"); message != "" {
				tip.Rows = append(tip.Rows, paint.TipRow{Key: message})
			}
		}
	}
	for _, m := range t.shown.Metrics {
		if strings.EqualFold(m.Transform, n.Name) && m.Copy == 0 {
			tip.Rows = append(tip.Rows, paint.TipRow{Key: "read", Value: presenter.Grouped(m.Read + m.Input)}, paint.TipRow{Key: "written", Value: presenter.Grouped(max(m.Written, m.Output))})
		}
	}
	return tip, true
}

// openDefinition opens the file of an execution in the designer, and shows the node
// of that name, if it has one.
func (d *Desktop) openDefinition(file, node string) {
	d.goTo(placeDesigner)
	d.openThen(func(e *editor) {
		e.revealNode(node)
		d.event("definition %s %s", filepath.Base(file), node)
	}, file)
}
