//go:build !headless

package desktop

import (
	"fmt"
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"sluice/app/presenter"
	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// formView is the dialog over a presenter.Form.
type formView struct {
	e      *editor
	form   *presenter.Form
	fields []presenter.Field // at the input
	others []string          // names of the other transforms
	vars   *project.Variables
	parts  map[string]*formPart // by path of the setting
	tables []*tableEditor
	status *flat
	scroll *container.Scroll
	dl     *dialog
	first  string // path of the first error

	openAdvanced func(bool) // nil: there are none
}

// formPart is a control with what stands below it.
type formPart struct {
	box   fyne.CanvasObject
	hint  *words
	help  string
	frame *canvas.Rectangle
	value func() string
	mark  *words
}

// tellAt shows a problem at a control, or else its help.
func tellAt(frame *canvas.Rectangle, hint *words, problem, help string) {
	c := inkSoft
	if problem != "" {
		help, c = problem, inkTone(toneError)
		frame.StrokeColor = c(hint.d.theme())
	}
	setVisible(frame, problem != "")
	frame.Refresh()
	hint.Set(help, c)
}

// openForm opens the settings of a node.
func (e *editor) openForm(id hopxml.ID) {
	fm, ok := e.file.Form(id)
	if !ok {
		e.rawView(id)
		return
	}
	v := &formView{e: e, form: fm, parts: map[string]*formPart{}}
	if e.design != nil {
		v.fields, v.vars = e.design.Inputs[strings.ToLower(fm.Name)], e.design.Vars
	}
	for _, n := range e.file.Nodes() {
		if n.ID != id {
			v.others = append(v.others, n.Name)
		}
	}
	v.open(id)
}

func (v *formView) open(id hopxml.ID) {
	d, fm := v.e.d, v.form
	body := container.New(layout.NewCustomPaddedVBoxLayout(10))
	name := d.field(fm.Name, "", func(s string) { fm.Name = s; v.check() })
	description := d.field(fm.Description, "What it is for", func(s string) { fm.Description = s; v.check() })
	body.Add(container.New(&pair{}, v.part(presenter.NameSetting, capital(v.e.file.Noun())+" name", "", name, nil), v.part("description", "Description", "", description, nil)))
	if fm.HasCondition {
		body.Add(newConditionEditor(v).all)
	}
	body.Objects = append(body.Objects, v.controls(fm.Entries, "", false)...)
	body.Objects = append(body.Objects[:1:1], pairs(body.Objects[1:])...)
	v.addAdvanced(body)
	v.scroll = container.NewVScroll(inset(body, 0, 14, 8, 0))
	v.status = d.flat("check-ok", "", "Show the first error", v.jump)
	v.status.left = true
	raw := button("XML", false, func() { v.e.rawView(id) })
	cancel := func() {
		if !fm.Changed() {
			v.dl.close()
			return
		}
		d.ask("Discard the changes?", "The settings of "+fm.Name+" were changed in this form.",
			answer{"Keep editing", true, nil}, answer{"Discard", false, func() { v.dl.close() }})
	}
	ok := button("OK", true, v.accept)
	size := fyne.NewSize(960, 680)
	if len(fm.Entries) > 14 {
		size = fyne.NewSize(1104, 688)
	}
	v.dl = d.dialog(fm.Kind.Name, fm.Kind.Summary, v.scroll, size, v.status, raw, button("Cancel", false, cancel), ok)
	v.dl.cancel, v.dl.onEnter = cancel, v.accept
	v.check()
	d.focus(name)
}

func (v *formView) accept() {
	name := v.form.Name
	if err := v.form.Apply(); err != nil {
		v.e.d.fail("Settings of "+name, err)
		return
	}
	v.dl.close()
	v.e.changed()
	v.e.d.event("settings %s", name)
}

// addAdvanced adds the section of advanced settings, closed. Its controls are made
// when it is opened.
func (v *formView) addAdvanced(body *fyne.Container) {
	n := countAdvanced(v.form.Entries)
	if n == 0 {
		return
	}
	section := container.New(layout.NewCustomPaddedVBoxLayout(10))
	section.Hide()
	toggle := v.e.d.flat("chevron-right", fmt.Sprintf("Advanced (%d)", n), "", nil)
	toggle.left = true
	v.openAdvanced = func(on bool) {
		if len(section.Objects) == 0 {
			section.Objects = pairs(v.controls(v.form.Entries, "", true))
		}
		toggle.icon = map[bool]string{true: "chevron-down", false: "chevron-right"}[on]
		setVisible(section, on)
		toggle.Refresh()
		body.Refresh()
		v.check()
	}
	toggle.onTap = func() { v.openAdvanced(!section.Visible()) }
	body.Add(toggle)
	body.Add(section)
}

func setVisible(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
}

func countAdvanced(list []transform.Entry) int {
	n := 0
	for i := range list {
		if list[i].Setting.Kind == transform.KindGroup {
			n += countAdvanced(list[i].Items)
		} else if list[i].Setting.Advanced {
			n++
		}
	}
	return n
}

// controls makes the controls of entries, of the advanced settings or the others.
func (v *formView) controls(list []transform.Entry, prefix string, advanced bool) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for i := range list {
		e := &list[i]
		s := e.Setting
		path := prefix + s.Key()
		switch {
		case s.Kind == transform.KindGroup:
			if path != "" {
				path += ">"
			}
			out = append(out, v.controls(e.Items, path, advanced)...)
		case s.Advanced != advanced:
		case s.Kind == transform.KindTable || s.Kind == transform.KindList:
			t := newTableEditor(v, e, path)
			v.tables = append(v.tables, t)
			out = append(out, t.all)
		default:
			out = append(out, v.control(e, path))
		}
	}
	return out
}

// part stands a label above and a hint below a control, and remembers it for errors.
func (v *formView) part(path, label, help string, control fyne.CanvasObject, value func() string) *fyne.Container {
	p := &formPart{hint: v.e.d.caption(help), help: help, frame: canvas.NewRectangle(color.Transparent), value: value, mark: v.e.d.words("", captionSize, inkPrimary)}
	p.frame.StrokeWidth, p.frame.CornerRadius = 2, 5
	p.frame.Hide()
	head := container.NewBorder(nil, nil, nil, sized(p.mark, 22, 0), v.e.d.caption(label))
	box := container.New(layout.NewCustomPaddedVBoxLayout(2))
	if label != "" {
		box.Add(head)
	} else {
		box.Add(v.e.d.caption(""))
	}
	box.Add(container.NewStack(withWheel(control, func() *container.Scroll { return v.scroll }), p.frame))
	box.Add(p.hint)
	p.box = box
	v.parts[path] = p
	return box
}

// check shows the problems of what the form holds at their controls.
func (v *formView) check() {
	if v.dl == nil {
		return
	}
	problems := v.form.Problems()
	at := map[string]transform.Problem{}
	v.first = ""
	errors := 0
	for _, p := range problems {
		if p.Severity != transform.Err {
			continue
		}
		errors++
		if v.first == "" {
			v.first = p.Setting
		}
		if _, taken := at[p.Setting]; !taken {
			at[p.Setting] = p
		}
	}
	for path, part := range v.parts {
		part.show(at, path, v.vars)
	}
	for _, t := range v.tables {
		t.mark(problems)
	}
	v.status.icon, v.status.inkOf = "check-ok", inkSoft
	caption := "No errors"
	if errors > 0 {
		v.status.icon, v.status.inkOf = "state-failed", inkTone(toneError)
		caption = presenter.Plural(int64(errors), "error") + ": OK saves anyway, Problems lists them"
	}
	v.status.caption = caption
	v.status.Refresh()
	v.dl.footer.Refresh()
}

func (p *formPart) show(at map[string]transform.Problem, path string, vars *project.Variables) {
	help, marked := p.help, ""
	if p.value != nil {
		if r := presenter.Resolved(p.value(), vars); r != "" {
			help, marked = r, "{x}"
		}
	}
	problem := at[path].Message
	if hint := at[path].Hint; hint != "" {
		problem += "; " + hint
	}
	p.mark.Set(marked, inkPrimary)
	tellAt(p.frame, p.hint, problem, help)
}

// jump scrolls to the first error.
func (v *formView) jump() {
	path, _, _ := strings.Cut(v.first, "[")
	var box fyne.CanvasObject
	if p := v.parts[v.first]; p != nil {
		box = p.box
	}
	for _, t := range v.tables {
		if t.path == path {
			box = t.all
		}
	}
	if box == nil && v.openAdvanced != nil {
		v.openAdvanced(true)
	}
	if box != nil {
		y := v.e.d.app.Driver().AbsolutePositionForObject(box).Y - v.e.d.app.Driver().AbsolutePositionForObject(v.scroll.Content).Y
		v.scroll.ScrollToOffset(fyne.NewPos(0, y))
	}
}
