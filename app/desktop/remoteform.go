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
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/storage/rclone"
)

// remoteForm is the form of a remote, made of what rclone says of its backend.
type remoteForm struct {
	t      *metaTab
	parts  map[string]*metaPart // by name of the option
	helps  map[string]string
	all    *fyne.Container
	folded *fyne.Container // the advanced options
	unfold *flat
}

func newRemoteForm(t *metaTab) *remoteForm {
	f := &remoteForm{t: t, parts: map[string]*metaPart{}, helps: map[string]string{}, all: container.New(layout.NewCustomPaddedVBoxLayout(10))}
	d, draft := t.m.d, t.far
	switch {
	case draft.NeedsLogin():
		f.all.Objects = f.login("rclone sets up " + draft.Backend.Title + " in your browser. Type this in a terminal, follow it to its end, then press F5 here:")
		return f
	case draft.Backend.Type == "":
		f.all.Add(paragraph("This program has no backend " + draft.Settings().Type + ". Change the remote with: rclone config"))
		return f
	case draft.Backend.Login:
		text := "Without a service account, rclone logs in with your browser. Type this in a terminal instead of filling in the form:"
		if draft.Stored() {
			text = "Log in again, where that is needed, in a terminal with:"
		}
		f.all.Objects = f.login(text)
	}
	usual, advanced := draft.Fields()
	f.all.Objects = append(f.all.Objects, f.where())
	f.all.Objects = append(f.all.Objects, pairs(f.controls(usual))...)
	if len(advanced) > 0 {
		f.folded = container.New(layout.NewCustomPaddedVBoxLayout(10))
		f.unfold = d.flat("chevron-right", "", "", func() { f.fold(!t.advanced) })
		f.unfold.left, f.unfold.size.Height = true, 32
		f.all.Add(f.unfold)
		f.all.Add(f.folded)
		f.fold(t.advanced)
	}
	f.all.Add(t.useButton())
	f.check()
	return f
}

// login says which command of rclone does what a form cannot.
func (f *remoteForm) login(text string) []fyne.CanvasObject {
	d, command := f.t.m.d, f.t.far.LoginCommand()
	line := widget.NewEntry()
	line.TextStyle.Monospace, line.Text = true, command
	line.OnChanged = func(string) { line.SetText(command) }
	copied := button("Copy", false, func() {
		d.app.Clipboard().SetContent(command)
		d.frame.note("The command is on the clipboard")
	})
	return []fyne.CanvasObject{paragraph(text), container.NewBorder(nil, nil, nil, copied, line)}
}

// where is the location that is tested and whose contents are shown.
func (f *remoteForm) where() fyne.CanvasObject {
	d, t := f.t.m.d, f.t
	entry := d.field(strings.TrimPrefix(t.where, t.far.Name+":"), "", func(s string) { t.where = t.far.Name + ":" + strings.TrimSpace(s) })
	entry.onKey = func(k fyne.KeyName) bool {
		if k != fyne.KeyReturn && k != fyne.KeyEnter || !t.far.Stored() {
			return false
		}
		t.look()
		return true
	}
	return container.New(layout.NewCustomPaddedVBoxLayout(2), d.caption("Bucket or folder to test and to look into"), withWheel(entry, t.around),
		d.caption("Not part of the remote. The test writes a small object there and removes it"))
}

// fold shows or hides the advanced options; they are made when first shown.
func (f *remoteForm) fold(open bool) {
	f.t.advanced = open
	_, advanced := f.t.far.Fields()
	set := 0
	for _, o := range advanced {
		if f.t.far.IsSet(o) {
			set++
		}
	}
	caption := fmt.Sprintf("Advanced options (%d, %d set)", len(advanced), set)
	f.unfold.icon, f.unfold.caption, f.unfold.tip = map[bool]string{false: "chevron-right", true: "chevron-down"}[open], caption, "Show or hide "+caption
	if open && len(f.folded.Objects) == 0 {
		list := container.New(layout.NewCustomPaddedVBoxLayout(10))
		f.folded.Objects = []fyne.CanvasObject{withWheel(f.t.m.d.field("", "Search advanced options", func(s string) { f.narrow(list, s) }), f.t.around), list}
		f.narrow(list, "")
	}
	setVisible(f.folded, open)
	f.unfold.Refresh()
	f.all.Refresh()
}

// maxAdvanced bounds the advanced options that have controls at the same time.
const maxAdvanced = 24

// narrow shows the advanced options that fit a text, those that are set first.
func (f *remoteForm) narrow(list *fyne.Container, text string) {
	_, advanced := f.t.far.Fields()
	for _, o := range advanced {
		delete(f.parts, o.Name)
	}
	found := presenter.FindOptions(f.t.far, advanced, text)
	list.Objects = pairs(f.controls(found[:min(len(found), maxAdvanced)]))
	if n := len(found) - maxAdvanced; n > 0 {
		list.Add(f.t.m.d.caption(fmt.Sprintf("%d more: search for them by a word of their name or description", n)))
	}
	if len(found) == 0 {
		list.Add(f.t.m.d.soft("No advanced option fits the search."))
	}
	f.check()
	list.Refresh()
	f.all.Refresh()
}

func (f *remoteForm) controls(options []*rclone.Option) []fyne.CanvasObject {
	var list []fyne.CanvasObject
	for _, o := range options {
		list = append(list, f.control(o))
	}
	return list
}

// maxHalfHint is how long a hint may be below a control of half a line.
const maxHalfHint = 44

// control is the label, the control and the hint of an option.
func (f *remoteForm) control(o *rclone.Option) fyne.CanvasObject {
	d := f.t.m.d
	p := &metaPart{hint: d.caption(""), frame: canvas.NewRectangle(color.Transparent)}
	p.frame.StrokeWidth, p.frame.CornerRadius = 2, 5
	p.frame.Hide()
	f.parts[o.Name], f.helps[o.Name] = p, o.Title
	long := len(o.Title) > maxHalfHint
	if o.Flag {
		c := container.New(layout.NewCustomPaddedVBoxLayout(2), d.caption(""), f.withHelp(o, container.NewStack(f.input(o), p.frame)), p.hint)
		if long {
			c.Objects = c.Objects[1:]
			return c
		}
		return &half{c, c.Objects[0], true}
	}
	label := presenter.OptionLabel(o)
	if o.Required {
		label += " *"
	}
	head := sized(f.withHelp(o, d.caption(label)), 0, 24)
	c := container.New(layout.NewCustomPaddedVBoxLayout(2), head, container.NewStack(withWheel(f.input(o), f.t.around), p.frame), p.hint)
	if long || isFile(o) || f.isFolder(o) {
		return c
	}
	return &half{c, head, false}
}

// withHelp adds a button that shows all that rclone says, where the hint is only its
// beginning.
func (f *remoteForm) withHelp(o *rclone.Option, head fyne.CanvasObject) fyne.CanvasObject {
	if o.Help == "" && len(o.Title) <= 2*maxHalfHint {
		return head
	}
	d, label := f.t.m.d, presenter.OptionLabel(o)
	help := d.flat("info", "", "Help on "+label, func() { f.t.showHelp(o) })
	help.size, help.iconSize, help.inkOf = fyne.NewSize(24, 24), 14, inkSoft
	return container.NewBorder(nil, nil, nil, help, head)
}

// showHelp shows all that rclone says of an option.
func (t *metaTab) showHelp(o *rclone.Option) {
	var dl *dialog
	done := button("Close", true, func() { dl.close() })
	dl = t.m.d.dialog(presenter.OptionLabel(o), "As rclone describes "+o.Name, container.NewVScroll(paragraph(o.Title+"\n\n"+o.Help)), fyne.NewSize(600, 380), nil, done)
	dl.onEnter = func() { dl.close() }
}

// isFile tells whether an option is a file of this machine.
func isFile(o *rclone.Option) bool { return strings.HasSuffix(o.Name, "_file") }

// isFolder tells whether an option is, or may be, a folder of this machine.
func (f *remoteForm) isFolder(o *rclone.Option) bool {
	return o.Name == "remote" && f.t.far.Backend.Type == "alias"
}

func (f *remoteForm) input(o *rclone.Option) fyne.CanvasObject {
	d, draft := f.t.m.d, f.t.far
	set := func(text string) {
		draft.Set(o, text)
		f.check()
		f.t.changed()
	}
	choices := draft.Choices(o)
	switch {
	case o.Secret:
		return f.secret(o, set)
	case o.Flag:
		box := widget.NewCheck(presenter.OptionLabel(o), func(on bool) { set(fmt.Sprint(on)) })
		box.Checked = draft.Text(o) == "true"
		return box
	case o.Chooses() || o.Exclusive && len(choices) > 0:
		return f.list(o, choices, func(text string) {
			set(text)
			if o.Chooses() { // other options are offered now
				f.t.fill()
			}
		})
	case len(choices) > 0:
		var values []string
		for _, c := range choices {
			if c.Value != "" {
				values = append(values, c.Value)
			}
		}
		return d.choice(draft.Text(o), values, set)
	}
	text := d.field(draft.Text(o), o.Default, set)
	folder := f.isFolder(o)
	if !folder && !isFile(o) {
		return text
	}
	browse := d.tool("folder", "Choose on this machine", func() {
		d.choose(chooserOptions{title: presenter.OptionLabel(o), ok: "Choose", folder: userHome(), folders: folder, show: func(string) bool { return !folder }, save: folder},
			text.SetText)
	})
	return container.NewBorder(nil, nil, nil, browse, text)
}

// list is a choice of which nothing else is taken; empty is not set.
func (f *remoteForm) list(o *rclone.Option, choices []rclone.Choice, set func(string)) fyne.CanvasObject {
	labels, now := []string{"Not set"}, f.t.far.Text(o)
	s := widget.NewSelect(nil, nil)
	values := []string{""}
	for _, c := range choices {
		if c.Value == "" {
			continue
		}
		labels, values = append(labels, presenter.ChoiceLabel(c)), append(values, c.Value)
		if c.Value == now {
			s.Selected = labels[len(labels)-1]
		}
	}
	s.Options, s.PlaceHolder = labels, "Choose"
	if now != "" && s.Selected == "" {
		s.PlaceHolder = now
	}
	s.OnChanged = func(string) { set(values[max(0, s.SelectedIndex())]) }
	return bordered(s)
}

// secret is the field of a password: what is kept is never shown; what is typed
// takes its place.
func (f *remoteForm) secret(o *rclone.Option, set func(string)) fyne.CanvasObject {
	d, draft := f.t.m.d, f.t.far
	entry := d.field(draft.Text(o), "None", set)
	entry.Password = true
	if !draft.Keeps(o) {
		return entry
	}
	entry.PlaceHolder = "•••••••• stored"
	remove := d.tool("eraser", "Remove "+presenter.OptionLabel(o), func() {
		draft.Forget(o)
		entry.PlaceHolder = "None"
		entry.SetText("")
		entry.Refresh()
		set("")
	})
	return container.NewBorder(nil, nil, nil, remove, entry)
}

// check shows hints and problems at their controls.
func (f *remoteForm) check() {
	problems := f.t.far.Problems()
	for name, p := range f.parts {
		tellAt(p.frame, p.hint, problems[name], f.helps[name])
	}
}
