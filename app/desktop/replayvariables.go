//go:build !headless

package desktop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/replay"
)

// How many variables are listed at once, and at most; the command takes all.
const (
	fewVariables  = 6
	mostVariables = 60
)

// variableTable lists the variables of the run with the values that the replay uses.
type variableTable struct {
	x     *replayDialog
	rows  []*variableRow
	names []string // of rows, in order
	every bool     // more than a few are shown
	count *words
	more  *flat
	box   *fyne.Container
	all   fyne.CanvasObject
}

// variableRow is one variable. Its entry stays while checks come and go, so that
// typing is never disturbed.
type variableRow struct {
	now   presenter.ReplayVariable
	value *valueCell // nil for a secret
	tail  *fyne.Container
	all   fyne.CanvasObject
	timer *time.Timer
}

func newVariableTable(x *replayDialog) *variableTable {
	d := x.d
	t := &variableTable{x: x, count: d.caption(""), box: container.New(layout.NewCustomPaddedVBoxLayout(0))}
	add := d.flat("add", "Override another", "Give any variable or parameter a value for this replay", t.another)
	add.inkOf, add.bold = inkPrimary, true
	title := newCutRow(wide(d.bold("Variables", textSize)), t.count)
	bar := panel(sized(inset(container.NewBorder(nil, nil, nil, container.NewCenter(add), title), 0, 8, 0, 16), 0, 34), theme.ColorNameHeaderBackground)
	t.more = d.flat("chevron-down", "", "", func() { t.every = !t.every; t.names = nil; t.show() })
	t.more.inkOf, t.more.bold = inkPrimary, true
	t.all = container.New(layout.NewCustomPaddedVBoxLayout(0), bar, widget.NewSeparator(), inset(t.box, 4, 16, 0, 16), inset(container.NewHBox(t.more), 0, 16, 0, 8))
	return t
}

// columns are name, recorded value, value of the replay, and what is to be
// said.
func (t *variableTable) columns(height float32) fyne.Layout {
	if t.x.d.frame.small {
		return &shares{of: []float32{25, 22, 27, 26}, height: height}
	}
	return &shares{of: []float32{25, 24, 31, 20}, height: height}
}

// show takes over the plan. Rows are made anew only when there are others.
func (t *variableTable) show() {
	list := t.x.view.Variables()
	total := len(list)
	if !t.every && total > fewVariables {
		few := fewVariables
		for few < total && (list[few].Changed || list[few].Moved) {
			few++
		}
		list = list[:few]
	}
	list = list[:min(len(list), mostVariables)]
	slices.SortFunc(list, func(a, b presenter.ReplayVariable) int { return strings.Compare(a.Name, b.Name) })
	var names []string
	changed := int64(0)
	for _, v := range list {
		names = append(names, v.Name)
		if v.Changed {
			changed++
		}
	}
	if !slices.Equal(names, t.names) {
		t.names = names
		t.build(list)
	}
	for i, v := range list {
		t.rows[i].set(t, v)
	}
	switch {
	case total == 0:
		t.count.Set("The run had none", nil)
	case changed > 0:
		t.count.Set(fmt.Sprintf("%d of %d changed", changed, total), nil)
	default:
		t.count.Set(presenter.Plural(int64(total), "variable")+", all as recorded", nil)
	}
	t.moreOf(total, len(list))
}

func (t *variableTable) moreOf(total, shown int) {
	setVisible(t.more, total > fewVariables)
	t.more.icon = "chevron-up"
	caption := "Show fewer"
	switch {
	case !t.every:
		t.more.icon, caption = "chevron-down", fmt.Sprintf("Show %d more", total-shown)
	case total > shown:
		caption = fmt.Sprintf("Show fewer (%d more take a value with Override another)", total-shown)
	}
	t.more.caption = caption
	t.more.Refresh()
	t.x.page.Refresh()
}

func (t *variableTable) build(list []presenter.ReplayVariable) {
	d := t.x.d
	t.rows, t.box.Objects = nil, nil
	if len(list) > 0 {
		head := container.New(t.columns(26))
		for _, s := range []string{"Variable", "Original", "New value", ""} {
			head.Add(d.bold(s, captionSize))
		}
		t.box.Add(head)
	}
	for _, v := range list {
		r := &variableRow{tail: container.NewHBox()}
		line := container.New(t.columns(34), d.mono(v.Name), d.mono(originalText(v)))
		if v.Secret {
			line.Add(d.mono("current value"))
		} else {
			r.value = newValueCell(d, v.Used, func(s string) { r.typed(t, s) }, func(s string) { r.give(t, s) })
			line.Add(r.value)
		}
		line.Add(inset(r.tail, 0, 0, 0, 8))
		r.all = container.New(layout.NewCustomPaddedVBoxLayout(0), widget.NewSeparator(), line)
		t.rows = append(t.rows, r)
		t.box.Add(r.all)
	}
	t.x.page.Refresh()
}

func originalText(v presenter.ReplayVariable) string {
	switch {
	case v.Secret:
		return "••••••••"
	case v.Original == "" && v.Changed:
		return "not set"
	}
	return v.Original
}

// monoSize is the size of values.
const monoSize = 12

// mono is a line in the font of values.
func (d *Desktop) mono(s string) *words {
	w := d.words(s, monoSize, inkText)
	w.style.Monospace = true
	return w
}

func (r *variableRow) set(t *variableTable, v presenter.ReplayVariable) {
	d := t.x.d
	r.now = v
	if r.value != nil {
		r.value.set(v.Used)
	}
	r.tail.Objects = nil
	if v.Moved {
		r.tail.Add(container.NewCenter(d.tag("Moved")))
	}
	if v.Changed {
		reset := d.flat("", "Reset", "Back to the recorded value", func() { t.reset(v.Name) })
		reset.inkOf, reset.bold = inkPrimary, true
		r.tail.Add(container.NewCenter(d.tag("Changed")))
		r.tail.Add(reset)
	} else if v.Note != "" {
		r.tail.Layout = layout.NewStackLayout()
		r.tail.Add(d.caption(v.Note))
		r.tail.Refresh()
		return
	}
	r.tail.Layout = layout.NewHBoxLayout()
	r.tail.Refresh()
}

// variableRest is how long typing rests before the checks are made again.
const variableRest = 600 * time.Millisecond

// typed waits for the end of the word.
func (r *variableRow) typed(t *variableTable, s string) {
	t.x.letStart(false) // it is of another value
	if r.timer != nil {
		r.timer.Stop()
	}
	if t.x.d.instantly {
		r.give(t, s)
		return
	}
	r.timer = time.AfterFunc(variableRest, func() { t.x.d.post(func() { r.give(t, r.value.value()) }) })
}

// give uses a value for a variable; the recorded one is no choice.
func (r *variableRow) give(t *variableTable, value string) {
	if r.timer != nil {
		r.timer.Stop()
	}
	if value == r.now.Used && t.x.cancel == nil {
		t.x.ready()
		return
	}
	t.give(r.now.VariableUse, value)
}

func (t *variableTable) give(v replay.VariableUse, value string) {
	if given, ok := t.x.choices.Given[v.Name]; ok && given == value {
		return
	}
	if value == v.Original && !v.Secret {
		delete(t.x.choices.Given, v.Name)
	} else {
		t.x.choices.Given[v.Name] = value
	}
	t.x.check()
}

// reset gives a variable its recorded value back.
func (t *variableTable) reset(name string) {
	delete(t.x.choices.Given, name)
	for _, r := range t.rows {
		if r.now.Name == name && r.value != nil {
			r.value.reset(r.now.Original)
		}
	}
	t.x.check()
}

// another asks for a variable of any name and its value.
func (t *variableTable) another() {
	d := t.x.d
	var names []string
	for _, v := range t.x.view.Plan.Variables {
		names = append(names, v.Name)
	}
	name, value := d.choice("", names, nil), d.field("", "", nil)
	var dl *dialog
	ok := button("Use it", true, func() {
		dl.close()
		t.names = nil
		t.x.choices.Given[strings.TrimSpace(name.Text)] = value.Text
		t.x.check()
	})
	ok.Disable()
	name.OnChanged = func(s string) { setEnabled(ok, strings.TrimSpace(s) != "") }
	body := container.New(layout.NewCustomPaddedVBoxLayout(4), d.caption("Variable or parameter"), name, d.caption("Value for this replay"), value)
	dl = d.dialog("Override a variable", "", body, fyne.NewSize(440, 240), nil, button("Cancel", false, func() { dl.close() }), ok)
	d.focus(name)
}
