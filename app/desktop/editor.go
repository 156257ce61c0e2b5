//go:build !headless

package desktop

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/canvas"
	"sluice/canvas/gesture"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

// editor is one open file: canvas, tool bar, and the panels below.
type editor struct {
	d       *Desktop
	file    *presenter.File
	home    string // of its project
	graph   *canvas.Graph
	content fyne.CanvasObject
	toolBox
	split  *container.Split
	bottom *switcher
	fold   *flat   // closes and opens the panels below
	open   float64 // share of the canvas while they are open; 0 while they are

	log      *presenter.Log
	session  *presenter.Session
	shown    presenter.RunState // that the tools show
	options  presenter.RunOptions
	metrics  *metricsPanel
	lines    *logPanel
	problems *problemPanel
	rows     *rowsPanel

	design    *presenter.Design // of the document when it was made; nil: not known yet
	designing context.CancelFunc
	looking   context.CancelFunc  // at the gates
	found     []presenter.Problem // without those of the gates
	autosaved *hopxml.Document
	draft     string // where it is kept while it was never saved; "" before
	recovered bool   // the next save goes over the file on disk
	asking    bool   // about a change on disk
	landing   scene.Point
}

func newEditor(d *Desktop, f *presenter.File, home string) *editor {
	e := &editor{d: d, file: f, home: home, log: &presenter.Log{}, autosaved: f.Document()}
	e.options.Level = d.memory.LogLevel
	e.graph = canvas.NewGraph(canvas.Config{Fonts: d.fonts, Theme: d.look.Theme, Gesture: e.gestures(), Empty: paint.Notice{
		Icon: "pipeline", Title: "This pipeline is empty", Text: "Click on the canvas, or drag a transform from the palette.",
	}})
	if !f.IsPipeline() {
		e.graph.SetEmpty(paint.Notice{Icon: "workflow", Title: "This workflow is empty", Text: "Click on the canvas, or drag an action from the palette."})
	}
	e.graph.OnIntent = e.intent
	e.graph.ToolTip = e.toolTip
	e.graph.OnZoom = e.zoomed
	e.graph.OnKey = d.typedKey
	e.graph.OnShortcut = func(s fyne.Shortcut) { e.shortcut(s) }
	e.metrics, e.lines, e.problems, e.rows = newMetricsPanel(e), newLogPanel(e), newProblemPanel(e), newRowsPanel(d, e.folder, "Select a transform and choose Preview rows to see what it gives. A preview never writes.")
	e.bottom = newSwitcher(d)
	for _, p := range []struct {
		name string
		page fyne.CanvasObject
	}{{"Metrics", e.metrics.all}, {"Log", e.lines.all}, {"Problems", e.problems.all}, {"Rows", e.rows.all}} {
		e.bottom.add(p.name, p.page)
	}
	e.bottom.onChoose = func() { e.setBottom(true) }
	e.split = container.NewVSplit(e.graph, e.bottomPanel())
	e.split.SetOffset(d.memory.Bottom)
	e.content = container.NewThemeOverride(container.New(&topped{}, e.toolBar(), e.split), flatLook{d})
	e.graph.SetGraph(f.Scene(nil))
	e.showFirst()
	e.setSmall(d.frame.small)
	e.redesign()
	return e
}

func (e *editor) gestures() gesture.Config {
	return gesture.Config{ReadOnly: e.file.ReadOnly(), MiniMap: e.d.memory.MiniMap && !e.d.frame.small, CanConnect: e.file.CanConnect}
}

// changed shows the document after an edit.
func (e *editor) changed() {
	e.graph.SetGraph(e.file.Scene(e.runView()))
	e.d.update()
	e.redesign()
}

// try does an edit and shows its outcome.
func (e *editor) try(doing string, err error) bool {
	if err != nil {
		e.graph.SetGraph(e.file.Scene(e.runView()))
		e.d.fail(doing, err)
		return false
	}
	e.d.event("edit %s", doing)
	e.changed()
	return true
}

func (e *editor) undo() {
	if label := e.file.Undo(); label != "" {
		e.d.frame.note("Undone: " + label)
		e.d.event("undo %s", label)
		e.changed()
	}
}

func (e *editor) redo() {
	if label := e.file.Redo(); label != "" {
		e.d.frame.note("Done again: " + label)
		e.d.event("redo %s", label)
		e.changed()
	}
}

func (e *editor) askReload() {
	if e.file.Path() == "" {
		return
	}
	if !e.file.Dirty() {
		e.d.reload(e)
		return
	}
	n := e.file.Unsaved()
	e.d.ask("Reload from disk?", "What is on disk replaces "+presenter.Plural(int64(n), "unsaved change")+" here. Undo brings them back.",
		answer{"Cancel", false, nil}, answer{"Reload", true, func() { e.d.reload(e) }})
}

// redesign computes fields and problems again, in the background; a later edit
// supersedes it.
func (e *editor) redesign() {
	if e.designing != nil {
		e.designing()
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.designing = cancel
	p, w, path, open := e.file.Pipeline(), e.file.Workflow(), e.file.Path(), e.d.workspace(e.file.Path(), e.home)
	type outcome struct {
		design   *presenter.Design
		problems []presenter.Problem
	}
	background(e.d, func() (outcome, error) {
		ws, err := open(nil, "")
		if err != nil || ctx.Err() != nil {
			return outcome{}, err
		}
		if w != nil {
			return outcome{presenter.InferWorkflow(ws, w, path), presenter.CheckWorkflow(ws, w, path)}, nil
		}
		o := outcome{design: presenter.Infer(ctx, ws, p, path)}
		if ctx.Err() == nil {
			o.problems = presenter.Check(ctx, ws, p, path)
		}
		return o, nil
	}, func(o outcome, err error) {
		if ctx.Err() != nil || e.file.Pipeline() != p || e.file.Workflow() != w {
			return
		}
		if err != nil {
			message, hint := presenter.Explain(err)
			o.problems = []presenter.Problem{{Message: message, Hint: hint}}
		}
		e.design = o.design
		e.found = o.problems
		e.showProblems()
		cancel()
	})
	e.lookAtGates(gateDelay)
}

// folder is where the file is, else its project.
func (e *editor) folder() string {
	if e.file.Path() == "" {
		return e.home
	}
	return filepath.Dir(e.file.Path())
}

// variables are those of the file, nil while they are not known.
func (e *editor) variables() *project.Variables {
	if e.design == nil {
		return nil
	}
	return e.design.Vars
}

// outputs are the fields that a transform gives, as far as they are known.
func (e *editor) outputs(node string) []presenter.Field {
	if e.design == nil {
		return nil
	}
	return e.design.Outputs[strings.ToLower(node)]
}

// showProblems lists what is wrong with the file and its gates.
func (e *editor) showProblems() {
	e.problems.show(slices.Concat(e.found, e.file.Gates().Problems()))
}

func (e *editor) selection() []scene.Ref { return e.graph.Machine().Selection().Refs() }

// selected lists the selected things of a kind.
func (e *editor) selected(kind scene.Kind) []scene.ID {
	return e.graph.Machine().Selection().IDs(kind)
}

func (e *editor) choose(refs ...scene.Ref) {
	e.graph.Machine().SetSelection(scene.Select(refs...))
	e.graph.Repaint()
	e.updateTools()
}

func (e *editor) shortcut(s fyne.Shortcut) {
	if c, ok := s.(interface {
		fyne.Shortcut
		Key() fyne.KeyName
		Mod() fyne.KeyModifier
	}); ok {
		m := c.Mod()
		e.d.typed(presenter.Key{Name: tableName(c.Key()), Ctrl: m&fyne.KeyModifierShortcutDefault != 0, Shift: m&fyne.KeyModifierShift != 0, Alt: m&fyne.KeyModifierAlt != 0})
	}
}
