//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/workflow"
)

var logLevels = []string{"Nothing", "Error", "Minimal", "Basic", "Detailed", "Debug", "Rowlevel"}

func parseLevel(level string) (slog.Level, error) {
	if level == "" {
		return engine.LevelBasic, nil
	}
	return engine.ParseLogLevel(level)
}

// explain gives what a person reads of an error.
func explain(err error) (message, hint string) { return presenter.Explain(err) }

func (e *editor) runView() *presenter.RunView {
	if e.session == nil {
		return nil
	}
	return e.session.View()
}

// run starts a run and the bridge that shows it.
func (e *editor) run(o presenter.RunOptions, run pipeline.Run, rows *presenter.Rows) {
	e.lines.clear()
	s := presenter.NewSession(e.log, e.d.now)
	e.session = s
	if rows != nil {
		rows.OnFull(s.Enough)
	}
	run.File, run.Pipeline = e.file.Path(), e.file.Pipeline()
	flow := workflow.Run{File: e.file.Path(), Workflow: e.file.Workflow()}
	pipelines := e.file.IsPipeline()
	open := e.d.workspace(e.file.Path(), e.home)
	done := make(chan struct{})
	e.d.event("run started")
	e.tickOnce(rows)
	e.d.update()
	e.d.spawn(func() {
		if pipelines {
			s.Run(context.Background(), open, run, o)
		} else {
			s.RunWorkflow(context.Background(), open, flow, o)
		}
		close(done)
		e.d.post(func() { e.ended(s, rows) })
	})
	e.d.spawn(func() { e.bridge(done, rows) })
}

// bridge brings the numbers of a run to the screen, at most one change per tick. It
// is the one way by which a running engine reaches widgets.
func (e *editor) bridge(done <-chan struct{}, rows *presenter.Rows) {
	e.d.ticking(done, func() { e.tickOnce(rows) })
}

// ticking runs f on the goroutine of the user interface once per tick, until done.
func (d *Desktop) ticking(done <-chan struct{}, f func()) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
			d.post(f)
		}
	}
}

// tickOnce shows one moment of the run.
func (e *editor) tickOnce(rows *presenter.Rows) {
	v := e.runView()
	g := e.file.Scene(v)
	e.graph.Update(g.Nodes, g.Hops)
	e.metrics.show(v)
	e.lines.update()
	if rows != nil {
		e.rows.show(rows, nil)
	} else {
		e.rows.update() // sniffed ones
	}
	e.tellState(v)
}

// ended shows the outcome of a run.
func (e *editor) ended(s *presenter.Session, rows *presenter.Rows) {
	if e.session != s {
		return
	}
	e.tickOnce(rows)
	v := s.View()
	switch {
	case rows != nil && v.State != presenter.RunFailed:
		e.setBottom(true)
		e.bottom.choose(3)
	case v.State == presenter.RunFailed:
		e.setBottom(true)
		e.bottom.choose(1)
		if n, ok := e.file.NodeNamed(v.FailedAt); ok {
			e.graph.Reveal(scene.NodeRef(presenter.SceneID(n.ID)))
		}
	default:
		e.bottom.choose(0)
	}
	e.d.event("run %s %s", v.State, errorText(v.Err))
	e.d.recordsChanged()
	e.lookAtGates(0)
	e.d.frame.status.measure()
	if rows == nil {
		e.d.notify(e.file.Title() + ": " + strings.ToLower(v.State.String()))
	}
	e.d.update()
}

// askPreview asks how many rows of the selected transform are wanted.
func (e *editor) askPreview() {
	nodes := e.selected(scene.KindNode)
	if len(nodes) != 1 || !e.file.IsPipeline() {
		e.d.frame.note("Select the one transform whose rows you want to see")
		return
	}
	n, _ := e.file.Node(presenter.ElementID(nodes[0]))
	check := func(s string) string {
		if v, err := project.ParseLong(s); err != nil || v < 1 || v > presenter.MaxPreviewRows {
			return "Give a number from 1 to " + presenter.Grouped(presenter.MaxPreviewRows)
		}
		return ""
	}
	e.d.input("Preview "+n.Name, "Number of rows; nothing is written", "1000", "Preview", check, func(s string) {
		count, _ := project.ParseLong(s)
		e.preview(n.Name, int(count))
	})
}

func (e *editor) preview(name string, count int) {
	rows := presenter.NewRows(name, count)
	e.run(e.options, pipeline.Run{Until: name, SuppressSinks: true, Sample: rows.Take}, rows)
}

// sniffRows is how many rows of a running hop are shown.
const sniffRows = 1000

// sniff shows the next rows of a selected hop, or of the output of a selected
// transform, while the pipeline runs.
func (e *editor) sniff() {
	name, port := "", transform.Port("")
	if hops := e.selected(scene.KindHop); len(hops) == 1 {
		name, port, _ = e.file.SniffPort(hops[0])
	} else if nodes := e.selected(scene.KindNode); len(nodes) == 1 {
		n, _ := e.file.Node(presenter.ElementID(nodes[0]))
		name = n.Name
	}
	rows := presenter.NewRows(name, sniffRows)
	switch {
	case name == "":
		e.d.frame.note("Select the one hop or transform whose rows you want to see")
	case e.session == nil || !e.session.Sniff(rows, port):
		e.d.frame.note("Rows are sniffed while a pipeline runs; preview shows rows without one")
	default:
		e.rows.show(rows, nil)
		e.setBottom(true)
		e.bottom.choose(3)
		e.d.event("sniffing %s", name)
	}
}

func (e *editor) pause() {
	if e.session != nil {
		e.session.Pause()
		e.tickOnce(nil)
	}
}

func (e *editor) stop() {
	if e.session != nil {
		e.session.Stop(false)
		e.tickOnce(nil)
		e.d.event("stop asked")
	}
}

// check shows the list of problems.
func (e *editor) check() {
	e.bottom.choose(2)
	e.redesign()
}

// errorText is the text of an error, "" for none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
