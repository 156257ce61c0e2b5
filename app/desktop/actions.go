//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/hopxml"
)

// actionHandlers says what each action of the table does.
func (d *Desktop) actionHandlers() map[presenter.ActionID]func() {
	on := func(f func(*editor)) func() {
		return func() {
			if d.current != nil {
				f(d.current)
			}
		}
	}
	return map[presenter.ActionID]func(){
		"new-pipeline": func() { d.newFile(false) }, "new-workflow": func() { d.newFile(true) },
		"open": d.openFile, "open-project": d.openProject, "open-sample": d.openSample,
		"save": on(func(e *editor) { d.save(e, nil) }), "save-as": on(func(e *editor) { d.saveAs(e, nil) }),
		"picture": on((*editor).askPicture),
		"reload":  on(func(e *editor) { e.askReload() }), "close": on(d.closeFile), "quit": d.quit,

		"undo": on((*editor).undo), "redo": on((*editor).redo), "cut": on((*editor).cut), "copy": on((*editor).copy),
		"paste": on((*editor).paste), "delete": on((*editor).delete), "select-all": on((*editor).selectAll), "find": on((*editor).find), "select-hop": on((*editor).selectHop),
		"edit": on((*editor).edit), "rename": on((*editor).rename), "properties": on((*editor).properties),

		"add": on((*editor).addAtCentre), "add-note": on((*editor).addNote), "connect": on((*editor).startConnect),
		"toggle-hop": on((*editor).toggleHops), "hop-always": on(conditioner(hopxml.Always)), "hop-success": on(conditioner(hopxml.OnSuccess)),
		"hop-failure": on(conditioner(hopxml.OnFailure)), "rewire": on((*editor).rewire), "insert-into-hop": on((*editor).insertSelected),
		"detach": on((*editor).detachSelected), "show-fields": on((*editor).showFields), "open-referenced": on((*editor).openReferenced),
		"resize-note": on((*editor).fitNotes), "snap": on((*editor).snap),
		"align-left": on(aligner(scene.AlignLeft)), "align-right": on(aligner(scene.AlignRight)),
		"align-top": on(aligner(scene.AlignTop)), "align-bottom": on(aligner(scene.AlignBottom)),
		"distribute-horizontal": on(func(e *editor) { e.distribute(false) }), "distribute-vertical": on(func(e *editor) { e.distribute(true) }),
		"layout": on((*editor).arrange),

		"run": on((*editor).askRun), "preview": on((*editor).askPreview), "pause": on((*editor).pause), "stop": on((*editor).stop), "check": on((*editor).check),

		"zoom-in":  on(func(e *editor) { e.graph.ZoomBy(scene.ZoomStep) }),
		"zoom-out": on(func(e *editor) { e.graph.ZoomBy(1 / scene.ZoomStep) }),
		"zoom-100": on(func(e *editor) { e.graph.ZoomBy(1 / e.graph.Machine().View().Zoom) }),
		"fit":      on(func(e *editor) { e.graph.Fit() }), "minimap": on((*editor).toggleMiniMap),
		"panels": on(func(e *editor) { e.setBottom(e.open != 0) }), "panel-metrics": on(panelAt(0)), "panel-log": on(panelAt(1)),
		"panel-problems": on(panelAt(2)), "panel-rows": on(panelAt(3)),
		"settings": d.showSettings, "dark": d.toggleDark, "full-screen": func() { d.win.SetFullScreen(!d.win.FullScreen()) },
		"next-file": func() { d.step(1) }, "previous-file": func() { d.step(-1) },
		"context-menu": on((*editor).menuOfSelected), "help": d.showHelp, "shortcuts": d.showKeys, "notifications": d.askNotify, "about": d.about,
		"replay-execution": func() {
			x := d.shownExecution()
			if x == nil {
				return
			}
			if ok, why := x.Replayable(); !ok {
				d.frame.note(why)
				return
			}
			d.runs.detail.replay.OnTapped()
		},
		"support-bundle": d.askBundle, "retention": d.askRetention, "disk": d.showDisk,
		"delete-record": func() {
			if d.shownExecution() != nil {
				d.runs.detail.askDelete()
			}
		},
		"sniff": on((*editor).sniff), "gate": on((*editor).markGate), "gate-settings": on((*editor).editGate), "gate-remove": on((*editor).removeGate),
		"replay-here": d.replayHere, "snapshot-rows": on((*editor).showSnapshotRows), "snapshot-compare": on((*editor).compareSnapshots),
		"snapshot-verify": on((*editor).verifySnapshot), "snapshots": on((*editor).listSnapshots),
		"cache": on((*editor).askCache), "cache-remove": on((*editor).removeCache), "cache-run": on((*editor).runFromCache), "cache-clear": on((*editor).clearCache),
		"go-designer": func() { d.goTo(placeDesigner) }, "go-executions": func() { d.goTo(placeExecutions) }, "go-metadata": func() { d.goTo(placeMetadata) },
		"meta-new": d.newMetadataObject, "remote-new": d.newRemote, "meta-duplicate": d.onMetadata((*metaTab).duplicate), "meta-rename": d.onMetadata((*metaTab).rename),
		"meta-delete": d.onMetadata((*metaTab).remove), "meta-test": d.onMetadata((*metaTab).tryTest), "meta-json": d.onMetadata((*metaTab).toggleRaw),
		"environment": d.askEnvironment, "project-properties": d.projectProperties,
	}
}

func conditioner(c hopxml.Condition) func(*editor) {
	return func(e *editor) { e.try("change hop", e.file.SetCondition(e.selected(scene.KindHop), c)) }
}

// panelAt shows one of the panels below the canvas.
func panelAt(n int) func(*editor) {
	return func(e *editor) {
		e.setBottom(true)
		e.bottom.choose(n)
	}
}

func aligner(edge scene.Edge) func(*editor) { return func(e *editor) { e.align(edge) } }

// do carries out an action. While a dialog or menu is open only what edits text goes
// on.
func (d *Desktop) do(id presenter.ActionID) {
	if d.toText(id) {
		return
	}
	if d.inMetadata(id) {
		return
	}
	if d.win.Canvas().Overlays().Top() != nil {
		return
	}
	a, _ := d.keys.Action(id)
	if a.File && (d.current == nil || d.place != placeDesigner) {
		if d.current != nil {
			d.frame.note(strings.TrimSuffix(a.Title, "…") + ": go to the designer first (Ctrl+Shift+D)")
		}
		return // the file is out of sight
	}
	if a.Editing && d.current.file.ReadOnly() {
		d.frame.note("This file is read-only: it is written in " + d.current.file.Document().Encoding())
		return
	}
	if a.Selection && len(d.current.selection()) == 0 {
		d.frame.note(strings.TrimSuffix(a.Title, "…") + ": select something first")
		return
	}
	if a.Workflow && d.current.file.IsPipeline() {
		d.frame.note(a.Title + ": only hops of workflows have conditions")
		return
	}
	if do := d.handlers[id]; do != nil {
		do()
	}
}

// toText gives edit actions to the text field that has the keyboard.
func (d *Desktop) toText(id presenter.ActionID) bool {
	focused := d.win.Canvas().Focused()
	if d.current != nil && focused == fyne.Focusable(d.current.graph) || focused == nil {
		return false
	}
	text, ok := focused.(fyne.Shortcutable)
	if !ok {
		return false
	}
	clipboard := d.app.Clipboard()
	switch id {
	case "undo":
		text.TypedShortcut(&fyne.ShortcutUndo{})
	case "redo":
		text.TypedShortcut(&fyne.ShortcutRedo{})
	case "cut":
		text.TypedShortcut(&fyne.ShortcutCut{Clipboard: clipboard})
	case "copy":
		text.TypedShortcut(&fyne.ShortcutCopy{Clipboard: clipboard})
	case "paste":
		text.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clipboard})
	case "select-all":
		text.TypedShortcut(&fyne.ShortcutSelectAll{})
	case "align-left", "align-right", "align-top", "align-bottom", "snap", "distribute-horizontal", "distribute-vertical":
		a, _ := d.keys.Action(id)
		text.TypedShortcut(shortcutOf(a.Keys[0])) // in a text they move the cursor
	case "delete", "edit", "show-fields", "open-referenced", "fit":
	default:
		return false
	}
	return true
}

// mainMenu makes the menu bar of the table.
func (d *Desktop) mainMenu() *fyne.MainMenu {
	var menus []*fyne.Menu
	for _, name := range presenter.Menus() {
		m := fyne.NewMenu(name)
		for _, a := range presenter.Actions() {
			if a.Menu != name {
				continue
			}
			if a.After {
				m.Items = append(m.Items, fyne.NewMenuItemSeparator())
			}
			m.Items = append(m.Items, d.menuItem(a))
		}
		menus = append(menus, m)
	}
	return fyne.NewMainMenu(menus...)
}

func (d *Desktop) menuItem(a presenter.Action) *fyne.MenuItem {
	item := fyne.NewMenuItem(a.Title, func() { d.do(a.ID) })
	if a.Icon != "" {
		item.Icon = d.icon(a.Icon, inkText)
	}
	item.IsQuit = a.ID == "quit"
	if len(a.Keys) > 0 {
		item.Shortcut = shortcutOf(a.Keys[0])
	}
	return item
}

// menuBelow opens a menu of actions below a widget.
func (d *Desktop) menuBelow(o fyne.CanvasObject, ids ...presenter.ActionID) {
	var items []*fyne.MenuItem
	for _, id := range ids {
		a, _ := d.keys.Action(id)
		items = append(items, d.menuItem(a))
	}
	at := d.app.Driver().AbsolutePositionForObject(o)
	widget.NewPopUpMenu(fyne.NewMenu("", items...), d.win.Canvas()).ShowAtPosition(at.AddXY(0, o.Size().Height))
}

// keyNames are the table's names of keys that Fyne calls otherwise.
var keyNames = map[string]fyne.KeyName{
	"DELETE": fyne.KeyDelete, "INSERT": fyne.KeyInsert, "ENTER": fyne.KeyReturn, "SPACE": fyne.KeySpace, "HOME": fyne.KeyHome,
	"LEFT": fyne.KeyLeft, "RIGHT": fyne.KeyRight, "UP": fyne.KeyUp, "DOWN": fyne.KeyDown, "+": fyne.KeyPlus, "-": fyne.KeyMinus,
	",": fyne.KeyComma, ".": fyne.KeyPeriod, "MENU": desktop.KeyMenu,
}

func keyName(name string) fyne.KeyName {
	if k, ok := keyNames[name]; ok {
		return k
	}
	return fyne.KeyName(name)
}

func modifiers(k presenter.Key) fyne.KeyModifier {
	var m fyne.KeyModifier
	if k.Ctrl {
		m |= fyne.KeyModifierShortcutDefault
	}
	if k.Shift {
		m |= fyne.KeyModifierShift
	}
	if k.Alt {
		m |= fyne.KeyModifierAlt
	}
	return m
}

// shortcutOf is a key as Fyne knows it. The edit keys have shortcuts of their own,
// which otherwise would go to the focused widget alone. nil for keys without a
// modifier, which are no shortcuts.
func shortcutOf(text string) fyne.Shortcut {
	k, err := presenter.ParseKey(text)
	if err != nil {
		return nil
	}
	switch k.String() {
	case "Ctrl+Z":
		return &fyne.ShortcutUndo{}
	case "Ctrl+Y":
		return &fyne.ShortcutRedo{}
	case "Ctrl+X":
		return &fyne.ShortcutCut{}
	case "Ctrl+C":
		return &fyne.ShortcutCopy{}
	case "Ctrl+V":
		return &fyne.ShortcutPaste{}
	case "Ctrl+A":
		return &fyne.ShortcutSelectAll{}
	}
	if !k.Ctrl && !k.Alt {
		return nil
	}
	return &desktop.CustomShortcut{KeyName: keyName(k.Name), Modifier: modifiers(k)}
}

// registerShortcuts binds the keys that no menu item carries.
func (d *Desktop) registerShortcuts() {
	for _, a := range presenter.Actions() {
		for i, text := range a.Keys {
			if s := shortcutOf(text); s != nil && (i > 0 || a.Menu == "") {
				key, _ := presenter.ParseKey(text)
				d.win.Canvas().AddShortcut(s, func(fyne.Shortcut) { d.typed(key) })
			}
		}
	}
}

// typedKey gets keys that no widget used.
func (d *Desktop) typedKey(e *fyne.KeyEvent) {
	if len(d.dialogs) > 0 {
		dl := d.dialogs[len(d.dialogs)-1]
		switch e.Name {
		case fyne.KeyEscape:
			if dl.cancel != nil {
				dl.cancel()
			} else {
				dl.close()
			}
		case fyne.KeyReturn, fyne.KeyEnter:
			if dl.onEnter != nil {
				dl.onEnter()
			}
		}
		return
	}
	if top := d.win.Canvas().Overlays().Top(); top != nil {
		if pop, ok := top.(*widget.PopUp); ok && e.Name == fyne.KeyEscape {
			pop.Hide()
			d.focusCanvas()
		}
		return
	}
	d.typed(presenter.Key{Name: tableName(e.Name)})
}

// tableName is the table's name of a key.
func tableName(k fyne.KeyName) string {
	if k == fyne.KeyEnter {
		k = fyne.KeyReturn
	}
	for name, other := range keyNames {
		if other == k {
			return name
		}
	}
	return strings.ToUpper(string(k))
}

// typed carries out the action of a key; false when there is none. In a dialog
// Ctrl+Enter is its main button.
func (d *Desktop) typed(k presenter.Key) bool {
	if n := len(d.dialogs); n > 0 && k == (presenter.Key{Name: "ENTER", Ctrl: true}) {
		if do := d.dialogs[n-1].onEnter; do != nil {
			do()
		}
		return true
	}
	id, ok := d.keys.Find(k)
	if ok {
		d.do(id)
	}
	return ok
}

// typedShortcut carries out a chord that reached a widget; false when it is none of
// the table.
func (d *Desktop) typedShortcut(s *desktop.CustomShortcut) bool {
	return d.typed(presenter.Key{
		Name: tableName(s.KeyName), Ctrl: s.Modifier&fyne.KeyModifierShortcutDefault != 0,
		Shift: s.Modifier&fyne.KeyModifierShift != 0, Alt: s.Modifier&fyne.KeyModifierAlt != 0,
	})
}

// toggleDark changes between light and dark.
func (d *Desktop) toggleDark() {
	look := presenter.LookDark
	if d.memory.Dark {
		look = presenter.LookLight
	}
	d.setLook(look)
}

// setLook makes the window light or dark, now and at the next start.
func (d *Desktop) setLook(look presenter.Look) {
	d.memory.Look = look
	if dark := d.wantsDark(); dark == d.memory.Dark {
		d.remember()
		return
	}
	d.memory.Dark = !d.memory.Dark
	d.look = newLook(d.memory.Dark, &d.chosen)
	d.restyle()
	d.remember()
	d.event("theme dark=%v", d.memory.Dark)
}

// restyle shows everything in the colours and fonts of now.
func (d *Desktop) restyle() {
	d.app.Settings().SetTheme(d.look)
	for _, e := range d.editors {
		e.graph.SetTheme(d.look.Theme)
		e.content.Refresh()
	}
	if d.runs != nil {
		d.runs.detail.graph.SetTheme(d.look.Theme)
		d.runs.detail.tabs.chain.SetTheme(d.look.Theme)
		d.runs.all.Refresh()
	}
	if d.meta != nil {
		d.meta.all.Refresh()
	}
	d.win.SetMainMenu(d.mainMenu())
	d.win.Content().Refresh()
}
