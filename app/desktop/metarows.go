//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// metaRows edits a list of a draft, such as its variables.
type metaRows struct {
	f     *metaForm
	field *presenter.MetaField
	rows  []presenter.MetaRow
	now   int // the row that was touched last; -1 none
	list  *widget.List
	title *words
	hint  *words
	all   fyne.CanvasObject
}

func newMetaRows(f *metaForm, field *presenter.MetaField) *metaRows {
	d := f.t.m.d
	r := &metaRows{f: f, field: field, rows: f.t.draft.Rows(field), now: -1, title: d.bold("", textSize), hint: d.words("", captionSize, inkTone(toneError))}
	heads := container.New(&shares{r.widths(), 24})
	for _, c := range field.Columns {
		w := d.words(c.Label, captionSize, inkSoft)
		w.style.Bold = true
		heads.Add(inset(w, 0, 0, 0, 6))
	}
	r.list = widget.NewList(func() int { return len(r.rows) }, r.row, r.update)
	r.list.HideSeparators = true
	bar := container.NewHBox(
		d.tool("add", "Add a row", r.add), d.tool("delete", "Remove the row that was touched last", r.remove))
	head := panel(inset(heads, 0, 12, 0, 4), theme.ColorNameHeaderBackground)
	const pitch = 38
	height := float32(min(max(len(r.rows), 3), 10)*pitch + 8)
	r.all = container.NewVBox(container.NewBorder(nil, nil, nil, bar, r.title), d.outlined(container.NewBorder(head, nil, nil, nil, sized(r.list, 0, height))), r.hint)
	r.tell()
	return r
}

func (r *metaRows) widths() []float32 {
	var out []float32
	for _, c := range r.field.Columns {
		out = append(out, c.Share)
	}
	return out
}

func (r *metaRows) tell() {
	r.title.Set(r.field.Label+"  ("+presenter.Grouped(int64(len(r.rows)))+")", nil)
	r.hint.Set(r.f.t.draft.Problems()[r.field.Label], nil)
}

// store puts the rows into the draft.
func (r *metaRows) store() {
	if err := r.f.t.draft.SetRows(r.field, r.rows); err != nil {
		r.f.t.m.d.fail("Set "+r.field.Label, err)
		return
	}
	r.rows = r.f.t.draft.Rows(r.field)
	r.tell()
	r.f.t.changed()
}

func (r *metaRows) add() {
	r.rows = append(r.rows, r.field.NewRow())
	r.now = len(r.rows) - 1
	r.store()
	r.list.Refresh()
	r.list.ScrollToBottom()
}

func (r *metaRows) remove() {
	at := r.now
	if at < 0 || at >= len(r.rows) {
		at = len(r.rows) - 1
	}
	if at < 0 {
		return
	}
	r.rows = append(r.rows[:at:at], r.rows[at+1:]...)
	r.now = -1
	r.store()
	r.list.Refresh()
}

func (r *metaRows) row() fyne.CanvasObject {
	line := container.New(&shares{r.widths(), 34})
	for range r.field.Columns {
		line.Add(r.f.t.m.d.field("", "", nil))
	}
	return line
}

func (r *metaRows) update(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(r.rows) {
		return
	}
	for i, cell := range o.(*fyne.Container).Objects {
		text := cell.(*field)
		text.OnChanged = nil
		// The value of DB_PASSWORD and its like is shown as dots.
		text.Password = r.field.Columns[i].Key == "value" && presenter.IsSecretName(r.rows[id].Cells[0])
		text.variables = r.f.vars
		if text.Text != r.rows[id].Cells[i] {
			text.SetText(r.rows[id].Cells[i])
		}
		text.Refresh()
		text.OnChanged = func(s string) {
			if id < len(r.rows) {
				r.now = id
				r.rows[id].Cells[i] = s
				r.store()
			}
		}
	}
}
