//go:build !headless

package desktop

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/transform"
)

// problemPanel lists what is wrong with the file.
type problemPanel struct {
	e    *editor
	list []presenter.Problem
	grid *grid
	all  fyne.CanvasObject
}

func newProblemPanel(e *editor) *problemPanel {
	p := &problemPanel{e: e}
	p.grid = newGrid(e.d, []gridColumn{{"Kind", 80, false, 0}, {"Transform", 160, false, 0}, {"Setting", 110, false, 0}, {"Problem", 240, false, 3}, {"What to do", 180, false, 2}},
		func() int { return len(p.list) }, func(r, c int) gridCell {
			if r >= len(p.list) {
				return gridCell{}
			}
			x := p.list[r]
			switch c {
			case 0:
				tone := map[transform.Severity]scene.Tone{transform.Err: toneError, transform.Warning: toneWarn}[x.Severity]
				return gridCell{text: capital(x.Severity.String()), ink: inkTone(tone), bold: true}
			case 1:
				return gridCell{text: x.Node}
			case 2:
				return gridCell{text: x.Setting, ink: inkSoft}
			case 3:
				return gridCell{text: x.Message}
			}
			return gridCell{text: x.Hint, ink: inkSoft}
		})
	p.grid.onRow = func(r int) {
		if n, ok := e.file.NodeNamed(p.list[r].Node); ok {
			ref := scene.NodeRef(presenter.SceneID(n.ID))
			e.choose(ref)
			e.graph.Reveal(ref)
		}
	}
	p.all = container.NewStack(p.grid.all, emptyNote(e.d, "check-ok", "No problems", "The file can be run."))
	p.grid.all.Hide()
	return p
}

func (p *problemPanel) show(list []presenter.Problem) {
	p.list = list
	title := "Problems"
	if len(list) > 0 {
		title = fmt.Sprintf("Problems (%d)", len(list))
	}
	p.e.bottom.buttons[2].SetCaption(title)
	p.e.bottom.head.Refresh()
	reveal(p.all, len(list) > 0)
	p.grid.refresh()
	p.e.d.event("problems %d", len(list))
}
