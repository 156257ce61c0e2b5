//go:build !headless

package desktop

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
)

// metricsPanel is the table of counters, errors first.
type metricsPanel struct {
	e    *editor
	list []pipeline.Metrics
	view *presenter.RunView
	grid *grid
	all  fyne.CanvasObject
}

var metricColumns = []gridColumn{
	{"Transform", 220, false},
	{"Copy", 50, true},
	{"Status", 116, false},
	{"Input", 92, true},
	{"Read", 92, true},
	{"Written", 92, true},
	{"Output", 92, true},
	{"Updated", 76, true},
	{"Rejected", 76, true},
	{"Errors", 64, true},
	{"Buffer in", 88, false},
	{"Rows/s", 88, true},
	{"Duration", 80, true},
}

func newMetricsPanel(e *editor) *metricsPanel {
	m := &metricsPanel{e: e}
	m.grid = newGrid(e.d, metricColumns, func() int { return len(m.list) }, m.cell)
	m.grid.onRow = func(r int) {
		if n, ok := e.file.NodeNamed(m.list[r].Name); ok {
			ref := scene.NodeRef(presenter.SceneID(n.ID))
			e.choose(ref)
			e.graph.Reveal(ref)
		}
	}
	m.all = container.NewStack(m.grid.all, emptyNote(e.d, "metrics", "No run yet", "Run the pipeline to see rows and speed of every transform."))
	m.grid.all.Hide()
	return m
}

// emptyNote says that there is nothing yet, and what to do.
func emptyNote(d *Desktop, icon, title, text string) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon(icon, inkSoft))
	pic.FillMode = canvas.ImageFillContain
	t, s := d.bold(title, 14), d.soft(text)
	return container.NewCenter(container.NewVBox(container.NewCenter(sized(pic, 28, 28)), container.NewCenter(wide(t)), container.NewCenter(wide(s))))
}

// reveal shows the first object of a stack instead of its note.
func reveal(stack fyne.CanvasObject, on bool) {
	c := stack.(*fyne.Container)
	if on {
		c.Objects[0].Show()
		c.Objects[1].Hide()
	} else {
		c.Objects[0].Hide()
		c.Objects[1].Show()
	}
}

func (m *metricsPanel) show(v *presenter.RunView) {
	m.view, m.list = v, append([]pipeline.Metrics(nil), v.Metrics...)
	slices.SortStableFunc(m.list, func(a, b pipeline.Metrics) int { return bad(b, v) - bad(a, v) })
	reveal(m.all, len(m.list) > 0)
	m.grid.refresh()
}

func bad(m pipeline.Metrics, v *presenter.RunView) int {
	if presenter.NodeState(m, hopxml.EqualName(v.FailedAt, m.Name)) == scene.StateFailed {
		return 1
	}
	return 0
}

func (m *metricsPanel) cell(r, c int) gridCell {
	if r >= len(m.list) {
		return gridCell{}
	}
	x := m.list[r]
	num := func(n int64) gridCell {
		if n == 0 {
			return gridCell{text: "0", ink: inkSoft}
		}
		return gridCell{text: presenter.Grouped(n)}
	}
	failed := hopxml.EqualName(m.view.FailedAt, x.Name)
	switch c {
	case 0:
		return gridCell{text: strings.ReplaceAll(x.Name, "\n", " "), icon: m.e.file.IconOf(x.Name), bold: failed}
	case 1:
		return gridCell{text: fmt.Sprint(x.Copy), ink: inkSoft}
	case 2:
		s := presenter.NodeState(x, failed)
		return gridCell{text: s.String(), state: s}
	case 10:
		if x.BufferSize == 0 {
			return gridCell{}
		}
		return gridCell{full: true, bar: float32(x.Buffered) / float32(x.BufferSize)}
	case 11:
		return num(int64(x.Rate(m.view.Now)))
	case 12:
		if x.Started.IsZero() {
			return gridCell{}
		}
		end := x.Ended
		if end.IsZero() {
			end = m.view.Now
		}
		return gridCell{text: presenter.Elapsed(end.Sub(x.Started))}
	}
	cell := num([]int64{3: x.Input, 4: x.Read, 5: x.Written, 6: x.Output, 7: x.Updated, 8: x.Rejected, 9: x.Errors}[c])
	if c == 9 && x.Errors > 0 || c == 8 && x.Rejected > 0 {
		cell.ink, cell.bold = inkTone(toneError), true
	}
	return cell
}
