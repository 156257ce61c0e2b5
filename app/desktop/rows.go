//go:build !headless

package desktop

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
)

// rowsPanel shows the rows of a preview.
type rowsPanel struct {
	e      *editor
	title  *words
	fields []presenter.Field
	rows   [][]presenter.Cell
	grid   *grid
	all    fyne.CanvasObject
}

func newRowsPanel(e *editor) *rowsPanel {
	r := &rowsPanel{e: e, title: e.d.caption("")}
	r.grid = newGrid(e.d, nil, func() int { return len(r.rows) }, r.cell)
	r.grid.onRow = r.detail
	body := container.NewBorder(inset(r.title, 4, 8, 4, 8), nil, nil, nil, r.grid.all)
	r.all = container.NewStack(body, emptyNote(e.d, "preview", "No rows", "Select a transform and choose Preview rows to see what it gives. A preview never writes."))
	body.Hide()
	return r
}

func (r *rowsPanel) cell(row, c int) gridCell {
	if c == 0 {
		return gridCell{text: presenter.Grouped(int64(row + 1)), ink: inkSoft}
	}
	if row >= len(r.rows) || c-1 >= len(r.rows[row]) {
		return gridCell{}
	}
	x := r.rows[row][c-1]
	if x.Null {
		return gridCell{text: "null", ink: inkOff}
	}
	return gridCell{text: strings.ReplaceAll(x.Text, "\n", " ⏎ ")}
}

// detail shows all values of a row in full.
func (r *rowsPanel) detail(row int) {
	if row >= len(r.rows) {
		return
	}
	g := newGrid(r.e.d, []gridColumn{{"Field", 200, false}, {"Type", 90, false}, {"Value", 480, false}}, func() int { return len(r.fields) }, func(k, c int) gridCell {
		if c == 2 {
			return r.cell(row, k+1)
		}
		return gridCell{text: []string{r.fields[k].Name, r.fields[k].Type}[c], ink: []ink{inkText, inkSoft}[c]}
	})
	var dl *dialog
	dl = r.e.d.dialog(fmt.Sprintf("Row %s", presenter.Grouped(int64(row+1))), "", g.all, fyne.NewSize(840, 480), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

func (r *rowsPanel) show(rows *presenter.Rows) {
	fields, list, err := rows.View()
	title := fmt.Sprintf("%s of %s", presenter.Plural(int64(len(list)), "row"), rows.Transform())
	if err != nil {
		title += ": " + err.Error()
	}
	r.title.Set(title, nil)
	r.rows = list
	if len(fields) != len(r.fields) || !slices.Equal(fields, r.fields) {
		r.fields = fields
		columns := []gridColumn{{"#", 56, true}}
		for _, f := range fields {
			width := fyne.MeasureText(f.Name, captionSize, fyne.TextStyle{Bold: true}).Width + 24
			right := f.Type == "Integer" || f.Type == "Number" || f.Type == "BigNumber"
			columns = append(columns, gridColumn{f.Name, min(max(width, 110), 240), right})
		}
		r.grid.setColumns(columns)
	}
	reveal(r.all, true)
	r.grid.refresh()
}
