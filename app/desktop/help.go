//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/cli"
	"sluice/app/presenter"
	"sluice/assets/licences"
	"sluice/canvas/scene"
)

// helpDialog shows the pages of help.
type helpDialog struct {
	d     *Desktop
	pages []presenter.HelpPage // all
	found []presenter.HelpPage
	list  *widget.List
	title *words
	text  *widget.RichText
	view  *container.Scroll
	now   string // id of the page that is shown
	dl    *dialog
}

// showHelp opens the page of what is at hand: the selected transform, else the place.
func (d *Desktop) showHelp() {
	id := map[place]string{placeDesigner: "help/designer", placeExecutions: "help/executions"}[d.place]
	if e := d.current; e != nil && d.place == placeDesigner {
		if nodes := e.selected(scene.KindNode); len(nodes) == 1 {
			n, _ := e.file.Node(presenter.ElementID(nodes[0]))
			if page := presenter.HelpOfTransform(n.Type); page != "" && e.file.IsPipeline() {
				id = page
			}
		}
	}
	if id == "" {
		id = "help/metadata"
	}
	d.openHelp(id)
}

// openHelp opens a page.
func (d *Desktop) openHelp(id string) {
	h := &helpDialog{d: d, pages: presenter.HelpPages(), title: d.bold("", 18), text: widget.NewRichText()}
	h.found = h.pages
	h.text.Wrapping = fyne.TextWrapWord
	h.list = widget.NewList(func() int { return len(h.found) }, func() fyne.CanvasObject { return inset(d.text(""), 4, 8, 4, 8) }, func(i widget.ListItemID, o fyne.CanvasObject) {
		p := h.found[i]
		w := o.(*fyne.Container).Objects[0].(*words)
		w.style.Bold = p.ID == h.now
		w.Set(p.Title, inkText)
		w.Refresh()
	})
	h.list.HideSeparators = true
	h.list.OnSelected = func(i widget.ListItemID) {
		h.list.UnselectAll()
		h.show(h.found[i])
	}
	search := d.field("", "Search help", func(s string) {
		h.found = presenter.SearchHelp(h.pages, s)
		h.list.Refresh()
		if strings.TrimSpace(s) != "" && len(h.found) > 0 {
			h.show(h.found[0])
		}
	})
	h.view = container.NewVScroll(inset(h.text, 0, 16, 8, 4))
	left := container.NewBorder(inset(search, 0, 8, 8, 0), nil, nil, nil, h.list)
	right := container.NewBorder(inset(h.title, 0, 0, 4, 10), nil, nil, nil, h.view)
	body := container.New(&sideBySide{250}, left, widget.NewSeparator(), right)
	keys := button("Keys", false, func() { h.dl.close(); d.showKeys() })
	h.dl = d.dialog("Help", "", body, fyne.NewSize(960, 680), nil, keys, button("Close", true, func() { h.dl.close() }))
	h.dl.onEnter = func() { h.dl.close() }
	for i, p := range h.pages {
		if p.ID == id {
			h.show(p)
			h.list.ScrollTo(i)
		}
	}
	d.focus(search)
}

func (h *helpDialog) show(p presenter.HelpPage) {
	h.now = p.ID
	h.title.Set(p.Title, nil)
	h.text.ParseMarkdown(p.Markdown())
	for _, s := range h.text.Segments {
		smaller(s)
	}
	h.text.Refresh()
	h.view.ScrollToTop()
	h.list.Refresh()
	h.d.event("help %s", p.ID)
}

// smaller gives the headings of a page the sizes of the other texts of the window.
func smaller(s widget.RichTextSegment) {
	if t, ok := s.(*widget.TextSegment); ok && t.Style.SizeName == theme.SizeNameHeadingText {
		t.Style.SizeName = theme.SizeNameSubHeadingText
	}
}

// about tells the version, and what is linked.
func (d *Desktop) about() {
	all := licences.All()
	g := newGrid(d, []gridColumn{{"Module", 300, false, 1}, {"Version", 200, false, 0}, {"Licence", 130, false, 0}}, func() int { return len(all) }, func(r, c int) gridCell {
		l := all[r]
		return gridCell{text: []string{l.Module, l.Version, l.Kind}[c], ink: []ink{inkText, inkSoft, inkText}[c]}
	})
	g.onRow = func(r int) {
		l := all[r]
		text := widget.NewLabel(l.Text())
		text.TextStyle.Monospace, text.Wrapping = true, fyne.TextWrapWord
		var dl *dialog
		dl = d.dialog(l.Module, l.Kind, container.NewVScroll(text), fyne.NewSize(760, 560), nil, button("Close", true, func() { dl.close() }))
		dl.onEnter = func() { dl.close() }
	}
	head := container.NewVBox(
		d.text("Designs, runs and replays data pipelines. Its files are Apache Hop's own."),
		inset(d.soft(presenter.Grouped(int64(len(all)))+" libraries and fonts are in it; a click shows the licence."), 0, 0, 8, 0))
	var dl *dialog
	dl = d.dialog("Sluice "+cli.Version, "", container.NewBorder(head, nil, nil, nil, d.outlined(g.all)), fyne.NewSize(760, 560), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}
