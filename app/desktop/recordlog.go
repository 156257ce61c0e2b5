//go:build !headless

package desktop

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/storage"
)

// recordLog is the recorded log of an execution: searched, narrowed, read in pages,
// followed while it grows.
type recordLog struct {
	t      *executionDetail
	filter presenter.LogFilter
	log    presenter.RecordedLog
	asked  int
	follow bool
	line   int // where Next error goes on

	node  *widget.Select
	count *words
	more  *flat
	grid  *grid
	all   fyne.CanvasObject
}

const everyNode = "All steps"

func newRecordLog(t *executionDetail) *recordLog {
	d := t.d
	l := &recordLog{t: t, line: -1, count: d.caption("")}
	l.count.align = fyne.TextAlignTrailing
	l.grid = newGrid(d, []gridColumn{{"", 32, false, 0}, {"Time", 104, false, 0}, {"Step", 150, false, 0}, {"Message", 320, false, 1}}, func() int { return len(l.log.Entries) }, l.cell)
	l.grid.onRow = func(r int) {
		e := l.log.Entries[r]
		d.tell(strings.TrimSpace(e.Time.Local().Format("2 Jan 2006 15:04:05.000 MST")+"  "+e.Node), presenter.EntryText(e))
	}
	search := d.field("", "Search log", func(s string) { l.filter.Search = s; l.load(false) })
	level := widget.NewSelect(presenter.LogLevels(), func(s string) { l.filter.Level = s; l.load(false) })
	level.Selected = level.Options[0]
	l.node = widget.NewSelect([]string{everyNode}, func(s string) {
		if s == everyNode {
			s = ""
		}
		if s != l.filter.Node {
			t.focus(s)
			l.filter.Node = s
			l.load(false)
		}
	})
	l.node.Selected = everyNode
	follow := widget.NewCheck("Follow", func(on bool) { l.follow = on; l.toEnd() })
	next := d.flat("chevron-down", "Next error", "The next error below the line that was found last", func() { l.toError(l.line) })
	export := d.tool("export", "Write the log to a file", l.askExport)
	l.more = d.flat("", "More", "Read on", func() { l.page() })
	l.more.inkOf, l.more.bold = inkPrimary, true
	l.more.Hide()
	bar := container.NewBorder(nil, nil, nil, container.NewHBox(sized(l.count, 104, 0), l.more, next, export),
		container.NewBorder(nil, nil, nil, container.NewHBox(sized(bordered(level), 160, 0), sized(bordered(l.node), 150, 0), follow), search))
	l.all = container.NewBorder(inset(bar, 4, 8, 4, 8), nil, nil, nil, l.grid.all)
	return l
}

func (l *recordLog) cell(r, c int) gridCell {
	if r >= len(l.log.Entries) {
		return gridCell{}
	}
	e := l.log.Entries[r]
	cell := gridCell{ink: inkText}
	icon := "info"
	switch {
	case e.Level >= storage.LevelError:
		cell.soft, cell.ink, icon = scene.ToneError, inkTone(toneError), "state-failed"
	case e.Level == storage.LevelWarn:
		cell.ink, icon = inkTone(toneWarn), "check-warn"
	}
	switch c {
	case 0:
		cell.icon, cell.tint = icon, cell.ink
		if icon == "info" {
			cell.tint = inkSoft
		}
	case 1:
		cell.text, cell.ink = e.Time.Local().Format("15:04:05.000"), inkSoft
	case 2:
		cell.text = e.Node
	case 3:
		cell.text = strings.ReplaceAll(presenter.EntryText(e), "\n", " ⏎ ")
	}
	return cell
}

// narrow shows the log of one step, "" for all.
func (l *recordLog) narrow(node string) {
	if node == l.filter.Node {
		return
	}
	l.filter.Node = node
	l.load(false)
}

// load reads the log from its start, or, while the execution runs, what came to it.
func (l *recordLog) load(on bool) {
	if !on {
		l.log, l.line = presenter.RecordedLog{}, -1
	}
	l.page()
}

// page reads the next page.
func (l *recordLog) page() {
	x := l.t.shown
	if x == nil {
		return
	}
	l.asked++
	asked, filter, head, after := l.asked, l.filter, x.ExecutionHead, l.log.Next
	background(l.t.d, func() (storage.LogPage, error) {
		s, err := l.t.d.history.Store(context.Background())
		if err != nil {
			return storage.LogPage{}, err
		}
		return presenter.LoadLog(context.Background(), s, head, filter, after)
	}, func(p storage.LogPage, err error) {
		if asked != l.asked {
			return
		}
		if err != nil {
			l.t.d.fail("Read the log", err)
			return
		}
		l.log.Add(p)
		l.show()
	})
}

func (l *recordLog) show() {
	if l.filter.Node == "" {
		l.node.Options = append([]string{everyNode}, l.log.Nodes()...)
		l.node.Selected = everyNode
	} else {
		if !slices.Contains(l.node.Options, l.filter.Node) {
			l.node.Options = append(l.node.Options, l.filter.Node)
		}
		l.node.Selected = l.filter.Node
	}
	l.node.Refresh()
	text := presenter.Plural(int64(len(l.log.Entries)), "line")
	if l.log.More {
		text += " so far"
	}
	l.count.Set(text, nil)
	setVisible(l.more, l.log.More)
	l.grid.refresh()
	l.toEnd()
}

// toEnd goes to the last line while the log is followed.
func (l *recordLog) toEnd() {
	if l.follow && len(l.log.Entries) > 0 {
		l.grid.scrollTo(len(l.log.Entries) - 1)
	}
}

// toError goes to the next error behind a line.
func (l *recordLog) toError(line int) {
	if at := l.log.NextError(line); at >= 0 {
		l.line = at
		l.grid.scrollTo(at)
		return
	}
	l.t.d.frame.note("There is no error in these lines")
}

// askExport asks where the log goes.
func (l *recordLog) askExport() {
	x, d := l.t.shown, l.t.d
	if x == nil {
		return
	}
	d.choose(chooserOptions{title: "Export the log", ok: "Export", folder: filepath.Dir(x.File), name: x.Name + "-" + presenter.ShortID(x.ID) + ".jsonl", save: true, show: func(name string) bool { return filepath.Ext(name) == ".jsonl" }},
		func(path string) { d.mayReplace(path, func() { l.exportTo(path) }) })
}

func (l *recordLog) exportTo(path string) {
	d, head, filter := l.t.d, l.t.shown.ExecutionHead, l.filter
	background(d, func() (int64, error) {
		s, err := d.history.Store(context.Background())
		if err != nil {
			return 0, err
		}
		return presenter.ExportLog(context.Background(), s, head, filter, path)
	}, func(n int64, err error) {
		if err != nil {
			d.fail("Export the log", err)
			return
		}
		d.frame.note(presenter.Plural(n, "line") + " written to " + path)
	})
}
