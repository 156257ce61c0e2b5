//go:build !headless

package desktop

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/scene"
)

func (e *editor) place(p presenter.Placed) {
	id, err := e.file.Place(p)
	if e.try("add "+p.Type, err) {
		e.choose(scene.NodeRef(id))
		e.graph.Reveal(scene.NodeRef(id))
		e.d.focusCanvas()
	}
}

// centre is the middle of the canvas, on screen and in the document.
func (e *editor) centre() (screen, doc scene.Point) {
	size := e.graph.Machine().Size()
	screen = scene.Point{X: size.W / 2, Y: size.H / 2}
	return screen, e.graph.Machine().View().ToDocument(screen)
}

// placeAtCentre adds a transform in the middle, or right of the selected one and
// fed by it.
func (e *editor) placeAtCentre(item string) {
	_, at := e.centre()
	p := presenter.Placed{Type: item, At: at}
	if nodes := e.selected(scene.KindNode); len(nodes) == 1 {
		if from, ok := e.graph.Machine().Scene().Place(scene.NodeRef(nodes[0])); ok {
			p.From, p.At = nodes[0], from.Add(scene.Point{X: 160})
		}
	}
	e.place(p)
}

func (e *editor) addAtCentre() {
	screen, doc := e.centre()
	from := scene.ID("")
	if nodes := e.selected(scene.KindNode); len(nodes) == 1 {
		if at, ok := e.graph.Machine().Scene().Place(scene.NodeRef(nodes[0])); ok {
			from, doc = nodes[0], at.Add(scene.Point{X: 160})
			screen = e.graph.Machine().View().ToScreen(doc)
		}
	}
	e.contextDialog(screen, doc, from)
}

func (e *editor) copy() {
	if text := e.file.Copy(e.selection()); text != "" {
		e.d.app.Clipboard().SetContent(text)
		e.d.frame.note("Copied " + presenter.Plural(int64(len(e.selected(scene.KindNode))+len(e.selected(scene.KindNote))), "object"))
	}
}

func (e *editor) cut() {
	e.copy()
	e.delete()
}

func (e *editor) paste() {
	_, at := e.centre()
	if e.landing != (scene.Point{}) {
		at, e.landing = e.landing, scene.Point{}
	}
	refs, err := e.file.Paste(e.d.app.Clipboard().Content(), at)
	if errors.Is(err, presenter.ErrNothingToPaste) {
		e.d.frame.note(capital(err.Error()))
		return
	}
	if e.try("paste", err) {
		e.choose(refs...)
	}
}

func (e *editor) delete() {
	if refs := e.selection(); len(refs) > 0 {
		e.try("delete", e.file.Delete(refs))
	}
}

func (e *editor) selectAll() {
	e.graph.Machine().SetSelection(e.graph.Machine().Scene().Everything())
	e.graph.Repaint()
	e.updateTools()
}

func (e *editor) startConnect() {
	if nodes := e.selected(scene.KindNode); len(nodes) == 1 {
		e.graph.StartConnect(nodes[0])
		e.d.frame.note("Click what the hop leads to, or go there with the arrow keys and press Enter. Esc cancels.")
		return
	}
	e.d.frame.note("Select the one transform that the hop starts at")
}

func (e *editor) toggleHops() {
	if hops := e.selected(scene.KindHop); len(hops) > 0 {
		e.try("toggle hop", e.file.ToggleHops(hops))
		return
	}
	e.d.frame.note("Select a hop first")
}

func (e *editor) detachSelected() {
	for _, id := range e.selected(scene.KindNode) {
		if at, ok := e.graph.Machine().Scene().Place(scene.NodeRef(id)); ok {
			e.try("detach", e.file.Detach(id, at))
		}
	}
}

func (e *editor) placed() []scene.Placed {
	s := e.graph.Machine().Scene()
	sel := e.graph.Machine().Selection()
	if len(sel) == 0 {
		sel = s.Everything()
	}
	return s.Placement(sel)
}

func (e *editor) moveAll(label string, to map[scene.Ref]scene.Point) {
	if len(to) > 0 {
		e.try(label, e.file.Move(label, to))
	}
}

func (e *editor) snap()                 { e.moveAll("snap to grid", scene.SnapToGrid(e.placed())) }
func (e *editor) align(edge scene.Edge) { e.moveAll("align", scene.Align(e.placed(), edge)) }
func (e *editor) distribute(vertical bool) {
	e.moveAll("distribute", scene.Distribute(e.placed(), vertical))
}

func (e *editor) arrange() {
	e.moveAll("arrange", e.graph.Machine().Scene().AutoLayout(e.graph.Machine().Selection()))
	e.graph.Fit()
}

func (e *editor) toggleMiniMap() { e.d.setMiniMap(!e.d.memory.MiniMap) }

// setMiniMap shows the mini-map of every canvas, or not.
func (d *Desktop) setMiniMap(on bool) {
	d.memory.MiniMap = on
	for _, o := range d.editors {
		o.graph.SetGesture(o.gestures())
		o.updateTools()
	}
	d.remember()
}

func (e *editor) addNote() {
	_, at := e.centre()
	if e.landing != (scene.Point{}) {
		at, e.landing = e.landing, scene.Point{}
	}
	e.noteDialog("Add note", "", func(text string) { e.try("add note", e.file.AddNote(at, text)) })
}

func (e *editor) noteDialog(title, text string, do func(string)) {
	entry := widget.NewMultiLineEntry()
	entry.SetText(text)
	entry.Wrapping = fyne.TextWrapWord
	var dl *dialog
	dl = e.d.dialog(title, "", entry, fyne.NewSize(480, 280), nil, button("Cancel", false, func() { dl.close() }),
		button("OK", true, func() { dl.close(); do(entry.Text) }))
	e.d.focus(entry)
}

// fitNotes gives selected notes the size of their text.
func (e *editor) fitNotes() {
	for _, id := range e.selected(scene.KindNote) {
		n, ok := e.graph.Machine().Scene().Note(id)
		if !ok {
			continue
		}
		lines := strings.Split(n.Text, "\n")
		width := 0.0
		for _, l := range lines {
			width = max(width, e.d.fonts.WidthOf(l, 0, scene.NameSize))
		}
		width = min(max(width+2*scene.NotePadding+8, 96), 400)
		wrapped := scene.WrapText(n.Text, width-2*scene.NotePadding, 200, func(s string) float64 { return e.d.fonts.WidthOf(s, 0, scene.NameSize) })
		n.Rect.Max = n.Rect.Min.Add(scene.Point{X: width, Y: float64(len(wrapped))*16 + 16})
		e.try("resize note", e.file.ResizeNote(id, n.Rect))
	}
}

// edit opens the settings of what is selected.
func (e *editor) edit() {
	if refs := e.selection(); len(refs) > 0 {
		e.editRef(refs[0])
	}
}

func (e *editor) editRef(ref scene.Ref) {
	switch ref.Kind {
	case scene.KindNode:
		e.openForm(presenter.ElementID(ref.ID))
	case scene.KindNote:
		if n, ok := e.graph.Machine().Scene().Note(ref.ID); ok {
			e.noteDialog("Edit note", n.Text, func(text string) { e.try("edit note", e.file.SetNoteText(ref.ID, text)) })
		}
	case scene.KindHop:
		e.choose(ref)
		if !e.file.IsPipeline() {
			e.try("change hop", e.file.NextCondition(ref.ID))
		}
	}
}

func (e *editor) rename() {
	nodes := e.selected(scene.KindNode)
	if len(nodes) != 1 {
		e.d.frame.note("Select the one " + e.file.Noun() + " to rename")
		return
	}
	n, _ := e.file.Node(presenter.ElementID(nodes[0]))
	check := func(s string) string {
		s = strings.TrimSpace(s)
		if s == "" {
			return "Give it a name"
		}
		if other, ok := e.file.NodeNamed(s); ok && other.ID != n.ID {
			return fmt.Sprintf("There is a %s already", other.Name)
		}
		return ""
	}
	e.d.input("Rename "+n.Name, "New name; hops and settings that name it follow", n.Name, "Rename", check, func(s string) {
		e.try("rename", e.file.Rename(n.ID, strings.TrimSpace(s)))
	})
}

// askPicture asks where the file is drawn to, as it shows now.
func (e *editor) askPicture() {
	name := strings.TrimSuffix(e.file.Title(), filepath.Ext(e.file.Title())) + ".png"
	e.d.choose(chooserOptions{title: "Export as picture", ok: "Export", folder: e.folder(), name: name, save: true, show: func(name string) bool { return filepath.Ext(name) == ".png" }}, func(path string) {
		e.d.mayReplace(path, func() { e.savePicture(path) })
	})
}

// savePicture draws the file at twice its size.
func (e *editor) savePicture(path string) {
	picture, dark := e.file.Picture(e.runView()), e.d.memory.Dark
	background(e.d, func() (bool, error) { return true, picture.Save(path, dark, 2) }, func(_ bool, err error) {
		if err != nil {
			e.d.fail("Export as picture", err)
			return
		}
		e.d.frame.note("Drawn to " + path)
		e.d.event("picture %s", filepath.Base(path))
	})
}

// find lists what holds a text and shows what is chosen.
func (e *editor) find() {
	var refs []scene.Ref
	list := widget.NewList(func() int { return len(refs) }, func() fyne.CanvasObject { return e.d.text("") }, func(id widget.ListItemID, o fyne.CanvasObject) {
		name := "Note"
		if n, ok := e.file.Node(presenter.ElementID(refs[id].ID)); ok && refs[id].Kind == scene.KindNode {
			name = n.Name + "    " + n.Type
		} else if n, ok := e.graph.Machine().Scene().Note(refs[id].ID); ok {
			name = "Note: " + strings.ReplaceAll(n.Text, "\n", " ")
		}
		o.(*words).Set(name, nil)
	})
	var dl *dialog
	pick := func(id int) {
		if id >= 0 && id < len(refs) {
			ref := refs[id]
			dl.close()
			e.choose(ref)
			e.graph.Reveal(ref)
		}
	}
	list.OnSelected = pick
	count := e.d.caption("Names, types and settings are searched")
	search := e.d.field("", "Find in "+e.file.Title(), func(s string) {
		refs = e.file.Find(s)
		count.Set(presenter.Plural(int64(len(refs)), "place"), nil)
		list.Refresh()
	})
	search.OnSubmitted = func(string) { pick(0) }
	dl = e.d.dialog("Find", "", container.NewBorder(container.NewVBox(search, count), nil, nil, nil, list), fyne.NewSize(520, 420), nil,
		button("Close", false, func() { dl.close() }))
	e.d.focus(search)
}

// showFields shows the output fields of the selected transform.
func (e *editor) showFields() {
	if nodes := e.selected(scene.KindNode); len(nodes) > 0 {
		e.showFieldsOf(nodes[0])
	}
}

func (e *editor) showFieldsOf(id scene.ID) {
	n, ok := e.file.Node(presenter.ElementID(id))
	if !ok || !e.file.IsPipeline() {
		return
	}
	var fields []presenter.Field
	note := "Its fields are not known yet."
	if e.design != nil {
		fields = e.design.Outputs[strings.ToLower(n.Name)]
		if len(fields) == 0 {
			note = "It gives no fields."
			if e.design.Err != nil {
				note, _ = presenter.Explain(e.design.Err)
			}
		}
	}
	var body fyne.CanvasObject = paragraph(note)
	if len(fields) > 0 {
		g := newGrid(e.d, []gridColumn{{"#", 40, true, 0}, {"Field", 200, false, 0}, {"Type", 100, false, 0}, {"Length", 70, true, 0}, {"Precision", 80, true, 0}, {"From", 140, false, 1}},
			func() int { return len(fields) }, func(r, c int) gridCell {
				f := fields[r]
				return gridCell{text: []string{fmt.Sprint(r + 1), f.Name, f.Type, size(f.Length), size(f.Precision), f.Origin}[c]}
			})
		body = g.all
	}
	var dl *dialog
	dl = e.d.dialog("Output fields of "+n.Name, presenter.Plural(int64(len(fields)), "field"), body, fyne.NewSize(740, 480), nil, button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

func size(n int) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// openReferenced opens the file that the selected node names.
func (e *editor) openReferenced() {
	nodes := e.selected(scene.KindNode)
	if len(nodes) == 0 {
		return
	}
	n, _ := e.file.Node(presenter.ElementID(nodes[0]))
	name := n.Element.Child("filename").Text()
	if !presenter.IsHopFile(name) {
		e.d.frame.note(n.Name + " names no pipeline or workflow")
		return
	}
	open := e.d.workspace(e.file.Path(), e.home)
	folder := filepath.Dir(e.file.Path())
	background(e.d, func() (string, error) {
		ws, err := open(nil, "")
		if err != nil {
			return "", err
		}
		path, err := ws.Scope.Resolve(strings.ReplaceAll(name, "${Internal.Entry.Current.Folder}", folder))
		if err == nil && !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		return path, err
	}, func(path string, err error) {
		if err != nil {
			e.d.fail("Open "+name, err)
			return
		}
		e.d.open(path)
	})
}
