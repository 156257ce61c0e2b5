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

// The columns of the list of problems that are more than text.
const (
	problemKind = "Kind"
	problemFix  = ""
)

func newProblemPanel(e *editor) *problemPanel {
	p := &problemPanel{e: e}
	p.grid = newGrid(e.d, nil, func() int { return len(p.list) }, p.cell)
	p.fit()
	p.grid.onCell = func(r, c int) bool {
		isFix := p.grid.columns[c].title == problemFix
		if isFix {
			p.fix(p.list[r])
		}
		return isFix
	}
	p.grid.onRow = func(r int) { p.reveal(p.list[r]) }
	p.all = container.NewStack(p.grid.all, emptyNote(e.d, "check-ok", "No problems", "The file can be run."))
	p.grid.all.Hide()
	return p
}

// fit gives the list the columns that a window has room for.
func (p *problemPanel) fit() {
	columns := []gridColumn{{problemKind, 96, false, 0}, {"Where", 150, false, 0}, {"Setting", 110, false, 0}, {"Problem", 220, false, 3}, {"What to do", 150, false, 2}, {problemFix, 124, false, 0}}
	if p.e.d.frame.small {
		columns = []gridColumn{{problemKind, 104, false, 0}, {"Where", 124, false, 0}, {"Problem", 220, false, 3}, {problemFix, 124, false, 0}}
	}
	if len(columns) != len(p.grid.columns) {
		p.grid.setColumns(columns)
	}
}

func (p *problemPanel) cell(r, c int) gridCell {
	if r >= len(p.list) || c >= len(p.grid.columns) {
		return gridCell{}
	}
	x := p.list[r]
	switch p.grid.columns[c].title {
	case problemKind:
		look := map[transform.Severity]struct {
			icon string
			tone scene.Tone
		}{transform.Err: {"check-block", toneError}, transform.Warning: {"check-warn", toneWarn}, transform.Note: {"info", toneNeutral}}[x.Severity]
		return gridCell{text: capital(x.Severity.String()), icon: look.icon, tint: inkTone(look.tone), ink: inkTone(look.tone), bold: true}
	case "Where":
		return gridCell{text: x.Node}
	case "Setting":
		return gridCell{text: x.Setting, ink: inkSoft}
	case "Problem":
		return gridCell{text: x.Message}
	case problemFix:
		return gridCell{text: p.fixWord(x), ink: inkPrimary, bold: true}
	}
	return gridCell{text: x.Hint, ink: inkSoft}
}

// fixWord is what a click on the last column does, "" for nothing.
func (p *problemPanel) fixWord(x presenter.Problem) string {
	v, gated := p.e.file.Gates().Gate(x.Node)
	switch {
	case x.Node == "":
		return ""
	case x.Setting == presenter.GateSetting && gated && len(v.Differences()) > 0:
		return "Show difference"
	case x.Setting == presenter.GateSetting:
		return "Gate settings"
	}
	return "Open " + p.e.file.Noun()
}

// fix does what the last column says.
func (p *problemPanel) fix(x presenter.Problem) {
	n, ok := p.e.file.NodeNamed(x.Node)
	if !ok {
		return
	}
	p.reveal(x)
	switch p.fixWord(x) {
	case "Show difference":
		v, _ := p.e.file.Gates().Gate(x.Node)
		p.e.showDifferences(v)
	case "Gate settings":
		p.e.d.do("gate-settings")
	default:
		p.e.openForm(n.ID)
	}
}

// reveal shows the node of a problem on the canvas.
func (p *problemPanel) reveal(x presenter.Problem) { p.e.revealNode(x.Node) }

// revealNode selects the node of a name and moves it into sight.
func (e *editor) revealNode(name string) {
	if n, ok := e.file.NodeNamed(name); ok {
		ref := scene.NodeRef(presenter.SceneID(n.ID))
		e.choose(ref)
		e.graph.Reveal(ref)
	}
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
