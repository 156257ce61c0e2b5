//go:build !headless

package desktop

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/transform"
)

// tableEditor edits the rows of a table or list. Only the chosen row has live
// controls; the others are plain text.
type tableEditor struct {
	v       *formView
	entry   *transform.Entry
	path    string
	columns []*transform.Setting
	now     int // chosen row; -1 none
	live    fyne.CanvasObject
	bad     map[int]string // row -> first message
	list    *widget.List
	title   *words
	hint    *words
	all     fyne.CanvasObject
}

const (
	rowHeight = 32
	cellWidth = 128
)

func newTableEditor(v *formView, e *transform.Entry, path string) *tableEditor {
	t := &tableEditor{v: v, entry: e, path: path, now: -1, bad: map[int]string{}}
	if e.Setting.Kind == transform.KindList {
		t.columns = []*transform.Setting{e.Setting}
	} else {
		for i := range e.Setting.Items {
			switch e.Setting.Items[i].Kind {
			case transform.KindTable, transform.KindList, transform.KindGroup:
			default:
				t.columns = append(t.columns, &e.Setting.Items[i])
			}
		}
	}
	d := v.e.d
	t.title, t.hint = d.bold("", textSize), d.words("", captionSize, inkTone(toneError))
	t.list = widget.NewList(func() int { return len(t.entry.Rows) }, t.row, t.update)
	t.list.OnSelected = func(id widget.ListItemID) {
		t.list.UnselectAll()
		t.choose(id)
	}
	bar := container.NewHBox(
		d.tool("add", "Add a row below the chosen one", t.add), d.tool("delete", "Remove the chosen row", t.remove),
		d.tool("chevron-up", "Move the chosen row up", func() { t.move(-1) }), d.tool("chevron-down", "Move the chosen row down", func() { t.move(1) }))
	if presenter.FieldColumn(e.Setting) >= 0 {
		bar.Add(button("Get fields", false, t.fill))
	}
	heads := container.New(&cells{t})
	for _, c := range t.columns {
		w := d.words(columnTitle(c), captionSize, inkSoft)
		w.style.Bold = true
		heads.Add(inset(w, 0, 4, 0, 4))
	}
	head := panel(inset(sized(heads, 0, 24), 0, 12, 0, 40), theme.ColorNameHeaderBackground)
	rows := container.NewBorder(head, nil, nil, nil, t.list)
	wide := container.NewHScroll(sized(rows, float32(len(t.columns))*cellWidth+60, 0))
	body := d.outlined(sized(wide, 0, 220))
	top := container.NewBorder(nil, nil, nil, bar, container.NewVBox(t.title))
	t.all = container.NewBorder(top, t.hint, nil, nil, body)
	t.refresh()
	return t
}

func columnTitle(c *transform.Setting) string {
	if c.Kind == transform.KindList {
		return "Value"
	}
	if c.Required {
		return c.Title() + " *"
	}
	return c.Title()
}

// cells sets the columns of a row side by side.
type cells struct{ t *tableEditor }

// MinSize implements fyne.Layout.
func (c *cells) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(float32(len(o))*60, rowHeight)
}

// Layout implements fyne.Layout.
func (c *cells) Layout(o []fyne.CanvasObject, size fyne.Size) {
	w := size.Width / float32(max(1, len(o)))
	for i, obj := range o {
		h := obj.MinSize().Height
		obj.Move(fyne.NewPos(float32(i)*w, (size.Height-h)/2))
		obj.Resize(fyne.NewSize(w-4, h))
	}
}

// row is the frame of one row: its number, and place for texts or controls.
func (t *tableEditor) row() fyne.CanvasObject {
	d := t.v.e.d
	texts := container.New(&cells{t})
	for range t.columns {
		texts.Add(inset(d.text(""), 0, 4, 0, 4))
	}
	number := d.caption("")
	number.align = fyne.TextAlignTrailing
	return container.NewBorder(nil, nil, inset(sized(number, 28, rowHeight), 0, 6, 0, 2), nil, container.NewStack(texts))
}

func (t *tableEditor) update(id widget.ListItemID, o fyne.CanvasObject) {
	if id >= len(t.entry.Rows) {
		return
	}
	box := o.(*fyne.Container)
	number := box.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container).Objects[0].(*words)
	c := inkSoft
	if t.bad[id] != "" {
		c = inkTone(toneError)
	}
	number.Set(fmt.Sprint(id+1), c)
	stack := box.Objects[0].(*fyne.Container)
	texts := stack.Objects[0].(*fyne.Container)
	if id == t.now && t.live != nil {
		texts.Hide()
		stack.Objects = []fyne.CanvasObject{texts, t.live}
		stack.Refresh()
		return
	}
	texts.Show()
	stack.Objects = stack.Objects[:1]
	for i, c := range t.columns {
		texts.Objects[i].(*fyne.Container).Objects[0].(*words).Set(cellText(c, t.value(id, i)), nil)
	}
	stack.Refresh()
}

// value is the text of a cell of the columns shown.
func (t *tableEditor) value(row, column int) *transform.Entry {
	r := t.entry.Rows[row]
	for i := range r {
		if r[i].Setting == t.columns[column] {
			return &r[i]
		}
	}
	return &transform.Entry{Setting: t.columns[column]}
}

// cellText is how a value shows while its row is not edited.
func cellText(s *transform.Setting, e *transform.Entry) string {
	switch s.Kind {
	case transform.KindFlag:
		if e.Text == "Y" {
			return "yes"
		}
		return "–"
	case transform.KindSecret:
		return strings.Repeat("•", min(8, len(e.Text)))
	case transform.KindChoice:
		for _, c := range s.Choices() {
			if c.Code == e.Text && c.Label != "" {
				return c.Label
			}
		}
	}
	return strings.ReplaceAll(e.Text, "\n", " ⏎ ")
}

// choose makes a row live.
func (t *tableEditor) choose(row int) {
	t.now, t.live = row, nil
	if row >= 0 && row < len(t.entry.Rows) {
		live := container.New(&cells{t})
		for i := range t.columns {
			live.Add(t.control(t.value(row, i)))
		}
		t.live = live
	}
	t.refresh()
}

func (t *tableEditor) control(e *transform.Entry) fyne.CanvasObject {
	changed := func(s string) { e.Text = s; t.v.check() }
	if e.Setting.Kind == transform.KindFlag {
		box := widget.NewCheck("", func(on bool) { changed(map[bool]string{true: "Y", false: "N"}[on]) })
		box.Checked = e.Text == "Y"
		return box
	}
	return t.v.input(e, changed)
}

func (t *tableEditor) refresh() {
	n := len(t.entry.Rows)
	title := t.entry.Setting.Title() + "  (" + presenter.Plural(int64(n), "row") + ")"
	if t.entry.Setting.Required {
		title = t.entry.Setting.Title() + " *  (" + presenter.Plural(int64(n), "row") + ")"
	}
	t.title.Set(title, nil)
	t.list.Refresh()
}

func (t *tableEditor) add() {
	t.choose(presenter.AddRow(t.entry, t.now))
	t.list.ScrollTo(t.now)
	t.v.check()
}

func (t *tableEditor) remove() {
	if t.now < 0 {
		t.v.e.d.frame.note("Choose a row first")
		return
	}
	t.choose(presenter.RemoveRow(t.entry, t.now))
	t.v.check()
}

func (t *tableEditor) move(by int) {
	t.choose(presenter.MoveRow(t.entry, t.now, by))
	t.v.check()
}

// fill adds the fields of the input that are not there yet.
func (t *tableEditor) fill() {
	if len(t.v.fields) == 0 {
		t.hint.Set("No fields are known at the input: connect it first, or look at Problems", inkTone(toneWarn))
		return
	}
	n := presenter.FillFields(t.entry, t.v.fields)
	t.refresh()
	t.v.check()
	t.v.e.d.event("fields added %d", n)
}

// mark shows the problems of this table.
func (t *tableEditor) mark(problems []transform.Problem) {
	t.bad = map[int]string{}
	text := ""
	for _, p := range problems {
		if p.Setting == t.path {
			text = p.Message
			continue
		}
		rest, ok := strings.CutPrefix(p.Setting, t.path+"[")
		if !ok {
			continue
		}
		var row int
		if _, err := fmt.Sscanf(rest, "%d]", &row); err == nil && t.bad[row-1] == "" {
			t.bad[row-1] = p.Message
			if text == "" {
				text = fmt.Sprintf("Row %d: %s", row, p.Message)
			}
		}
	}
	t.hint.Set(text, inkTone(toneError))
	t.list.Refresh()
}
