//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/engine/transform"
)

// control is the label, the control and the hint of a simple setting.
func (v *formView) control(e *transform.Entry, path string) fyne.CanvasObject {
	s := e.Setting
	changed := func(text string) { e.Text = text; v.check() }
	label := s.Title()
	if s.Unit != "" {
		label += " (" + s.Unit + ")"
	}
	if s.Required {
		label += " *"
	}
	if s.Kind == transform.KindFlag {
		box := widget.NewCheck(label, func(on bool) { changed(map[bool]string{true: "Y", false: "N"}[on]) })
		box.Checked = e.Text == "Y"
		c := v.part(path, "", s.Help, box, nil)
		setVisible(v.parts[path].hint, s.Help != "")
		return &half{c, c.Objects[0], true}
	}
	if s.Form == "sql" || s.Form == "script" || s.Form == "multiline" {
		text := widget.NewMultiLineEntry()
		text.TextStyle.Monospace = s.Form != "multiline"
		text.Text = e.Text
		text.SetMinRowsVisible(8)
		text.OnChanged = changed
		return v.part(path, label, s.Help, text, func() string { return e.Text })
	}
	c := v.part(path, label, s.Help, v.input(e, changed), func() string { return e.Text })
	return &half{c, c.Objects[0], false}
}

// input is the control of a value that is a line.
func (v *formView) input(e *transform.Entry, changed func(string)) fyne.CanvasObject {
	d, s := v.e.d, e.Setting
	switch s.Kind {
	case transform.KindChoice:
		return choiceSelect(s.Choices(), e.Text, changed)
	case transform.KindType:
		var codes []transform.Choice
		for _, t := range typeNames {
			codes = append(codes, transform.Choice{Code: t})
		}
		return choiceSelect(codes, e.Text, changed)
	case transform.KindSecret:
		p := widget.NewPasswordEntry()
		p.Text, p.OnChanged = e.Text, changed
		return p
	}
	switch s.Form {
	case "field":
		return d.choice(e.Text, fieldNames(v.fields), changed)
	case "transform", "target":
		return d.choice(e.Text, v.others, changed)
	case "connection", "run-configuration", "dataset", "schema-definition", "unit-test":
		c := d.choice(e.Text, nil, changed)
		v.offerMetadata(c, s.Form)
		return c
	case "file", "folder", "pipeline", "workflow":
		text := d.field(e.Text, "", changed)
		text.variables = v.vars
		browse := d.tool("folder", "Choose", func() {
			d.choose(chooserOptions{title: s.Title(), ok: "Choose", folder: v.e.home, folders: s.Form == "folder", show: func(string) bool { return true }, save: true},
				func(path string) { text.SetText(presenter.PortablePath(v.e.home, path)) })
		})
		return container.NewBorder(nil, nil, nil, browse, text)
	}
	text := d.field(e.Text, s.Default, changed)
	text.variables = v.vars
	return text
}

// typeNames are the types that a person may choose.
var typeNames = []string{"None", "String", "Integer", "Number", "BigNumber", "Boolean", "Date", "Timestamp", "Binary", "JSON", "UUID", "Internet Address"}

func fieldNames(fields []presenter.Field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

// choiceSelect is a list of choices by their labels. A value that is none of them
// stays as it is until another is chosen.
func choiceSelect(choices []transform.Choice, code string, changed func(string)) fyne.CanvasObject {
	var labels []string
	now := ""
	label := func(c transform.Choice) string {
		if c.Label != "" {
			return c.Label
		}
		return c.Code
	}
	for _, c := range choices {
		labels = append(labels, label(c))
		if strings.EqualFold(c.Code, code) {
			now = label(c)
		}
	}
	s := widget.NewSelect(labels, nil)
	s.PlaceHolder = code
	if code == "" {
		s.PlaceHolder = "Choose"
	}
	s.Selected = now
	s.OnChanged = func(chosen string) {
		for _, c := range choices {
			if label(c) == chosen {
				changed(c.Code)
				return
			}
		}
	}
	return bordered(s)
}

// offerMetadata fills a list with the names of metadata objects of a kind.
func (v *formView) offerMetadata(c *widget.SelectEntry, form string) {
	kinds := presenter.MetadataTypes(form, v.form.Kind.ID)
	open := v.e.d.workspace(v.e.file.Path(), v.e.home)
	background(v.e.d, func() ([]string, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		var list []string
		for _, kind := range kinds {
			names, err := ws.Project.Metadata().Names(kind)
			if err != nil {
				return nil, err
			}
			list = append(list, names...)
		}
		return list, nil
	}, func(names []string, err error) {
		if err == nil {
			c.SetOptions(names)
		}
	})
}
