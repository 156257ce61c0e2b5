//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// showKeys lists the actions with their keys and menus; a search narrows the list, by
// words or by a key.
func (d *Desktop) showKeys() {
	rows := presenter.KeyRows("")
	widths := []float32{3, 2.2, 1}
	list := widget.NewList(func() int { return len(rows) }, func() fyne.CanvasObject {
		return container.New(&shares{widths, 24}, d.text(""), d.text(""), d.soft(""))
	}, func(id widget.ListItemID, o fyne.CanvasObject) {
		if id >= len(rows) {
			return
		}
		r := rows[id]
		for i, text := range []string{r.Title, r.Keys, r.Menu} {
			o.(*fyne.Container).Objects[i].(*words).Set(text, nil)
		}
	})
	none := emptyNote(d, "search", "No action matches", "Search by a word of its name, its menu or its key.")
	none.Hide()
	count := d.caption(presenter.Plural(int64(len(rows)), "action"))
	search := d.field("", "Search by name or key, such as Ctrl+S", func(s string) {
		rows = presenter.KeyRows(s)
		setVisible(none, len(rows) == 0)
		count.Set(presenter.Plural(int64(len(rows)), "action"), nil)
		list.Refresh()
		list.ScrollToTop()
	})
	heads := container.New(&shares{widths, 24})
	for _, title := range []string{"Action", "Keys", "Menu"} {
		w := d.words(title, captionSize, inkSoft)
		w.style.Bold = true
		heads.Add(w)
	}
	head := panel(inset(heads, 0, 12, 0, 4), theme.ColorNameHeaderBackground)
	body := container.NewBorder(container.NewVBox(search, head), nil, nil, nil, container.NewStack(list, none))
	var dl *dialog
	dl = d.dialog("Keys", "", body, fyne.NewSize(680, 600), count, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
	d.focus(search)
}
