//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/engine/hopxml"
)

// properties edits the name, the description and the parameters of the file.
func (e *editor) properties() {
	params := append([]hopxml.Parameter(nil), e.file.Parameters()...)
	description := ""
	if p := e.file.Pipeline(); p != nil {
		description = p.Info.Description
	} else {
		description = e.file.Workflow().Info.Description
	}
	before := description
	entry := e.d.field(description, "", func(s string) { description = s })
	rows := container.NewVBox()
	var fill func()
	fill = func() {
		rows.Objects = nil
		for i := range params {
			remove := e.d.tool("delete", "Remove "+params[i].Name, func() { params = append(params[:i], params[i+1:]...); fill() })
			rows.Add(container.NewBorder(nil, nil, nil, remove, container.NewGridWithColumns(3,
				e.d.field(params[i].Name, "NAME", func(s string) { params[i].Name = s }),
				e.d.field(params[i].Default, "Default value", func(s string) { params[i].Default = s }),
				e.d.field(params[i].Description, "Description", func(s string) { params[i].Description = s }))))
		}
		if len(params) == 0 {
			rows.Add(e.d.soft("No parameters. A parameter is a variable that a run may set."))
		}
		rows.Refresh()
	}
	fill()
	add := button("Add parameter", false, func() { params = append(params, hopxml.Parameter{}); fill() })
	var dl *dialog
	ok := button("OK", true, func() {
		edits := []hopxml.Edit{hopxml.SetParameters(params)}
		if description != before {
			edits = append(edits, hopxml.SetInfo("description", description))
		}
		if err := e.file.Do("edit properties", edits...); err != nil {
			e.d.fail("Properties", err)
			return
		}
		dl.close()
		e.changed()
	})
	top := container.NewVBox(e.d.caption("Description"), entry, inset(e.d.bold("Parameters", textSize), 8, 0, 4, 0))
	dl = e.d.dialog("Properties of "+e.file.Title(), shorten(e.file.Path()), container.NewBorder(top, nil, nil, nil, container.NewVScroll(rows)),
		fyne.NewSize(760, 480), container.NewHBox(add), button("Cancel", false, func() { dl.close() }), ok)
}
