//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"sluice/engine/hopxml"
)

// rawView shows the XML of a node, for types without a form.
func (e *editor) rawView(id hopxml.ID) {
	n, ok := e.file.Node(id)
	if !ok {
		return
	}
	lines := strings.Split(strings.ReplaceAll(string(n.Element.Raw()), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\t", "    ")
	}
	list := widget.NewList(func() int { return len(lines) }, func() fyne.CanvasObject {
		w := e.d.words("", 12, inkText)
		w.style.Monospace = true
		return sized(w, 0, 16)
	}, func(i widget.ListItemID, o fyne.CanvasObject) {
		o.(*fyne.Container).Objects[0].(*words).Set(lines[i], nil)
	})
	list.HideSeparators = true
	text := "Its settings as the file holds them."
	if _, known := e.file.Kind(n); !known {
		text = n.Type + " has no form here; the file keeps it as it is."
	}
	var dl *dialog
	dl = e.d.dialog(n.Name, text, e.d.outlined(inset(list, 6, 6, 6, 8)), fyne.NewSize(840, 600), nil,
		button("Copy", false, func() { e.d.app.Clipboard().SetContent(string(n.Element.Raw())) }),
		button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}
