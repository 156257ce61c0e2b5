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
	e     *editor
	list  []pipeline.Metrics
	view  *presenter.RunView
	shown []int // of metricColumns
	grid  *grid
	all   fyne.CanvasObject
}

// metricColumn is a column of the table and when it is there.
type metricColumn struct {
	gridColumn
	wide bool                        // only where there is room
	any  func(pipeline.Metrics) bool // only when it says something; nil: always
	cell func(m *metricsPanel, x pipeline.Metrics) gridCell
}

var metricColumns = []metricColumn{
	{gridColumn{"Transform", 170, false, 1}, false, nil, func(m *metricsPanel, x pipeline.Metrics) gridCell {
		return gridCell{text: strings.ReplaceAll(x.Name, "\n", " "), icon: m.e.file.IconOf(x.Name), bold: m.failed(x)}
	}},
	{gridColumn{"Copy", 56, true, 0}, false, func(x pipeline.Metrics) bool { return x.Copy > 0 }, func(_ *metricsPanel, x pipeline.Metrics) gridCell {
		return gridCell{text: fmt.Sprint(x.Copy), ink: inkSoft}
	}},
	{gridColumn{"Status", 116, false, 0}, false, nil, func(m *metricsPanel, x pipeline.Metrics) gridCell {
		s := presenter.NodeState(x, m.failed(x))
		if s == scene.StateSucceeded {
			return gridCell{text: "Finished", state: s}
		}
		return gridCell{text: s.String(), state: s}
	}},
	{gridColumn{"Input", 84, true, 0}, true, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return count(x.Input) }},
	{gridColumn{"Read", 84, true, 0}, false, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return count(x.Read) }},
	{gridColumn{"Written", 84, true, 0}, false, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return count(x.Written) }},
	{gridColumn{"Output", 84, true, 0}, true, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return count(x.Output) }},
	{gridColumn{"Updated", 76, true, 0}, true, func(x pipeline.Metrics) bool { return x.Updated > 0 }, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return count(x.Updated) }},
	{gridColumn{"Rejected", 76, true, 0}, true, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return trouble(x.Rejected) }},
	{gridColumn{"Errors", 64, true, 0}, false, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell { return trouble(x.Errors) }},
	{gridColumn{"Buffer in", 88, false, 0}, true, nil, func(_ *metricsPanel, x pipeline.Metrics) gridCell {
		if x.BufferSize == 0 {
			return gridCell{}
		}
		return gridCell{full: true, bar: float32(x.Buffered) / float32(x.BufferSize)}
	}},
	{gridColumn{"Rows/s", 88, true, 0}, true, nil, func(m *metricsPanel, x pipeline.Metrics) gridCell { return count(int64(x.Rate(m.view.Now))) }},
	{gridColumn{"Duration", 84, true, 0}, false, nil, func(m *metricsPanel, x pipeline.Metrics) gridCell {
		if x.Started.IsZero() {
			return gridCell{}
		}
		end := x.Ended
		if end.IsZero() {
			end = m.view.Now
		}
		return gridCell{text: presenter.Elapsed(end.Sub(x.Started))}
	}},
}

// count is a number; nothing is worth less ink.
func count(n int64) gridCell {
	if n == 0 {
		return gridCell{text: "0", ink: inkSoft}
	}
	return gridCell{text: presenter.Grouped(n)}
}

// trouble is a number that should be 0.
func trouble(n int64) gridCell {
	c := count(n)
	if n > 0 {
		c.ink, c.bold = inkTone(toneError), true
	}
	return c
}

func newMetricsPanel(e *editor) *metricsPanel {
	m := &metricsPanel{e: e}
	m.grid = newGrid(e.d, nil, func() int { return len(m.list) }, m.cell)
	m.grid.onRow = func(r int) {
		if n, ok := e.file.NodeNamed(m.list[r].Name); ok {
			ref := scene.NodeRef(presenter.SceneID(n.ID))
			e.choose(ref)
			e.graph.Reveal(ref)
		}
	}
	m.all = container.NewStack(m.grid.all, emptyNote(e.d, "metrics", "No run yet", "Run the file to see rows and speed of every transform."))
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
	m.fit()
	reveal(m.all, len(m.list) > 0)
	m.grid.refresh()
}

// fit chooses the columns that say something and have room.
func (m *metricsPanel) fit() {
	var shown []int
	var columns []gridColumn
	for i, c := range metricColumns {
		if c.wide && m.e.d.frame.small || c.any != nil && !slices.ContainsFunc(m.list, c.any) {
			continue
		}
		shown, columns = append(shown, i), append(columns, c.gridColumn)
	}
	if !slices.Equal(shown, m.shown) {
		m.shown = shown
		m.grid.setColumns(columns)
	}
}

func (m *metricsPanel) failed(x pipeline.Metrics) bool {
	return hopxml.EqualName(m.view.FailedAt, x.Name)
}

func bad(m pipeline.Metrics, v *presenter.RunView) int {
	if presenter.NodeState(m, hopxml.EqualName(v.FailedAt, m.Name)) == scene.StateFailed {
		return 1
	}
	return 0
}

func (m *metricsPanel) cell(r, c int) gridCell {
	if r >= len(m.list) || c >= len(m.shown) {
		return gridCell{}
	}
	return metricColumns[m.shown[c]].cell(m, m.list[r])
}
