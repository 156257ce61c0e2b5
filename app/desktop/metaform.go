//go:build !headless

package desktop

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/project"
)

// metaForm is the form of a draft, made of the settings of its type.
type metaForm struct {
	t     *metaTab
	vars  *project.Variables
	parts map[*presenter.MetaField]*metaPart
	all   *fyne.Container
}

// metaPart is a control with what stands below it.
type metaPart struct {
	hint  *words
	mark  *words
	frame *canvas.Rectangle
}

func newMetaForm(t *metaTab) *metaForm {
	f := &metaForm{t: t, parts: map[*presenter.MetaField]*metaPart{}, all: container.New(layout.NewCustomPaddedVBoxLayout(10))}
	if t.m.ws != nil {
		f.vars = t.m.ws.Scope
	}
	var list []fyne.CanvasObject
	for _, field := range t.draft.Fields() {
		list = append(list, f.control(field))
	}
	f.all.Objects = pairs(list)
	if len(list) == 0 {
		f.all.Add(paragraph("This kind has no form here; JSON shows the file as it is."))
	}
	f.check()
	return f
}

// set changes a setting of the draft.
func (f *metaForm) set(field *presenter.MetaField, text string) {
	if err := f.t.draft.Set(field, text); err != nil {
		f.t.m.d.fail("Set "+field.Label, err)
		return
	}
	f.check()
	f.t.changed()
}

// control is the label, the control and the hint of a setting.
func (f *metaForm) control(field *presenter.MetaField) fyne.CanvasObject {
	draft := f.t.draft
	label := field.Label
	if field.Required {
		label += " *"
	}
	switch field.Kind {
	case presenter.MetaFlag, presenter.MetaYesNo:
		box := widget.NewCheck(field.Label, func(on bool) {
			f.set(field, map[bool]string{true: "true", false: "false"}[on])
			if draft.Decides(field) {
				f.t.fill()
			}
		})
		box.Checked = draft.Text(field) == "true"
		c := container.New(layout.NewCustomPaddedVBoxLayout(2), f.t.m.d.caption(""), box)
		return &half{c, c.Objects[0], true}
	case presenter.MetaRows, presenter.MetaOptions:
		return newMetaRows(f, field).all
	case presenter.MetaLines:
		text := widget.NewMultiLineEntry()
		text.TextStyle.Monospace = true
		text.Text, text.OnChanged = draft.Text(field), func(s string) { f.set(field, s) }
		text.SetMinRowsVisible(3)
		return f.part(field, label, text)
	}
	c := f.part(field, label, f.input(field))
	if field.Wide {
		return c
	}
	return &half{c, c.Objects[0], false}
}

// input is the control of a value that is a line.
func (f *metaForm) input(field *presenter.MetaField) fyne.CanvasObject {
	d, draft := f.t.m.d, f.t.draft
	changed := func(s string) { f.set(field, s) }
	switch field.Kind {
	case presenter.MetaChoice:
		return choiceSelect(field.Choices, draft.Text(field), changed)
	case presenter.MetaVariant:
		return choiceSelect(field.Choices, draft.Text(field), func(s string) {
			f.set(field, s)
			f.t.fill()
		})
	case presenter.MetaSecret:
		return f.secret(field)
	}
	if field.Refers != "" {
		c := d.choice(draft.Text(field), nil, changed)
		metadata := f.t.m.store.Metadata
		background(d, func() ([]string, error) { return metadata.Names(field.Refers) }, func(names []string, err error) {
			if err == nil {
				c.SetOptions(names)
			}
		})
		return c
	}
	text := d.field(draft.Text(field), field.Default, changed)
	text.variables = f.vars
	if field.Kind == presenter.MetaFile {
		browse := d.tool("folder", "Choose a file", func() {
			d.choose(chooserOptions{title: field.Label, ok: "Choose", folder: f.t.home, show: func(string) bool { return true }, save: true},
				func(path string) { text.SetText(presenter.PortablePath(f.t.home, path)) })
		})
		return container.NewBorder(nil, nil, nil, browse, text)
	}
	return text
}

// secret is the field of a password: what is stored is never shown; what is typed
// takes its place, encoded.
func (f *metaForm) secret(field *presenter.MetaField) fyne.CanvasObject {
	d, draft := f.t.m.d, f.t.draft
	if text := draft.Text(field); text != "" {
		entry := d.field(text, "", func(s string) { f.set(field, s) })
		entry.variables = f.vars
		return entry
	}
	entry := d.field("", "", nil)
	entry.Password = true
	entry.PlaceHolder = "None"
	if draft.HasSecret(field) {
		entry.PlaceHolder = "•••••••• stored"
	}
	entry.OnChanged = func(s string) { f.set(field, s) }
	remove := d.tool("eraser", "Remove the password", func() {
		entry.PlaceHolder = "None"
		entry.SetText("")
		f.set(field, "")
		entry.Refresh()
	})
	return container.NewBorder(nil, nil, nil, remove, entry)
}

// part stands a label above and a hint below a control.
func (f *metaForm) part(field *presenter.MetaField, label string, control fyne.CanvasObject) *fyne.Container {
	d := f.t.m.d
	p := &metaPart{hint: d.caption(""), mark: d.words("", captionSize, inkPrimary), frame: canvas.NewRectangle(color.Transparent)}
	p.frame.StrokeWidth, p.frame.CornerRadius = 2, 5
	p.frame.Hide()
	f.parts[field] = p
	head := container.NewBorder(nil, nil, nil, sized(p.mark, 22, 0), d.caption(label))
	return container.New(layout.NewCustomPaddedVBoxLayout(2), head, container.NewStack(withWheel(control, f.t.around), p.frame), p.hint)
}

// check shows hints and problems at their controls.
func (f *metaForm) check() {
	problems := f.t.draft.Problems()
	for field, p := range f.parts {
		text, mark := field.Help, ""
		if r := presenter.Resolved(f.t.draft.Text(field), f.vars); r != "" {
			text, mark = shortenIn(r), "{x}"
			if field.Kind == presenter.MetaSecret {
				text = "The value of the variable"
			}
		}
		p.mark.Set(mark, inkPrimary)
		tellAt(p.frame, p.hint, problems[field.Label], text)
	}
}

// rawForm is the JSON of the file, to read and to edit.
func (t *metaTab) rawForm() fyne.CanvasObject {
	d := t.m.d
	text := widget.NewMultiLineEntry()
	text.TextStyle.Monospace = true
	text.Wrapping = fyne.TextWrapOff
	text.Text = t.draft.JSON()
	wrong := d.words("", captionSize, inkTone(toneError))
	text.OnChanged = func(s string) {
		problem := ""
		if err := t.draft.SetJSON(s); err != nil {
			problem = "Not taken over: " + err.Error()
		}
		wrong.Set(problem, nil)
		t.changed()
	}
	what := "The file as it is; passwords show as asterisks and stay."
	if t.draft.Type.Fields == nil {
		what = capital(t.draft.Type.One) + " has no form here. " + what
	}
	return inset(container.NewBorder(inset(d.soft(what), 0, 0, 8, 0), wrong, nil, nil, text), 16, 20, 16, 20)
}
