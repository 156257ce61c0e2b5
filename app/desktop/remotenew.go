//go:build !headless

package desktop

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/storage/rclone"
)

// remoteDialog asks for name and backend of a new remote.
type remoteDialog struct {
	m      *metadata
	kinds  []rclone.Backend
	titles []string
	found  []int // of kinds
	now    int   // of found
	list   *widget.List
	name   *field
	hint   *words
	dl     *dialog
}

// newRemote asks for a remote; nothing is written before it is saved.
func (d *Desktop) newRemote() { d.newRemoteNamed("") }

func (d *Desktop) newRemoteNamed(name string) {
	if d.place != placeMetadata {
		d.goTo(placeMetadata)
	}
	r := &remoteDialog{m: d.meta, kinds: rclone.Backends(), hint: d.words("", captionSize, inkTone(toneError))}
	for _, b := range r.kinds {
		r.titles = append(r.titles, b.Title+"  "+b.Type)
	}
	r.list = widget.NewList(func() int { return len(r.found) }, func() fyne.CanvasObject {
		note := d.caption("")
		note.align = fyne.TextAlignTrailing
		return container.NewStack(newGround(theme.ColorNameSelection), inset(container.NewBorder(nil, nil, nil, sized(note, 190, 20), sized(d.text(""), 0, 20)), 2, 8, 2, 8))
	}, r.update)
	r.list.HideSeparators = true
	r.list.OnSelected = func(id widget.ListItemID) {
		r.now = id
		r.list.UnselectAll()
		r.list.Refresh()
	}
	r.name = d.field(name, "snapshots-s3", func(string) { r.hint.Set("", nil) })
	search := d.field("", "Type to narrow the list", r.narrow)
	r.name.onKey, search.onKey = r.key, r.key
	r.narrow("")
	head := container.New(layout.NewCustomPaddedVBoxLayout(4), d.caption("Name, as locations write it before the colon"), r.name, r.hint, d.caption("Kind of storage"), search)
	body := container.NewBorder(inset(head, 0, 0, 8, 0), nil, nil, nil, d.outlined(r.list))
	r.dl = d.dialog("New remote", "A place that rclone reaches. It is kept in rclone.conf, once you save it.", body, fyne.NewSize(620, 560), d.caption("↑ ↓ choose    Enter takes"),
		button("Cancel", false, func() { r.dl.close() }), button("Continue", true, r.accept))
	r.dl.onEnter = r.accept
	d.focus(r.name)
}

func (r *remoteDialog) narrow(text string) {
	r.found, r.now = presenter.Matching(r.titles, text), 0
	r.list.Refresh()
	r.list.ScrollToTop()
}

func (r *remoteDialog) update(id widget.ListItemID, o fyne.CanvasObject) {
	stack, b := o.(*fyne.Container), r.kinds[r.found[id]]
	setVisible(stack.Objects[0], id == r.now)
	line := stack.Objects[1].(*fyne.Container).Objects[0].(*fyne.Container)
	note := b.Type
	if b.Login && !b.LoginOptional {
		note += " · needs a terminal"
	}
	line.Objects[0].(*fyne.Container).Objects[0].(*words).Set(b.Title, nil)
	line.Objects[1].(*fyne.Container).Objects[0].(*words).Set(note, nil)
}

func (r *remoteDialog) key(k fyne.KeyName) bool {
	switch k {
	case fyne.KeyDown:
		r.step(1)
	case fyne.KeyUp:
		r.step(-1)
	case fyne.KeyReturn, fyne.KeyEnter:
		r.accept()
	default:
		return false
	}
	return true
}

func (r *remoteDialog) step(by int) {
	if len(r.found) > 0 {
		r.now = max(0, min(len(r.found)-1, r.now+by))
		r.list.Refresh()
		r.list.ScrollTo(r.now)
	}
}

func (r *remoteDialog) accept() {
	problem := r.m.checkRemoteName(r.name.Text)
	switch {
	case problem != "":
		r.hint.Set(problem, nil)
		r.m.d.focus(r.name)
		return
	case len(r.found) == 0:
		r.hint.Set("No kind of storage is called so", nil)
		return
	}
	r.dl.close()
	r.m.add(newRemoteTab(r.m, presenter.NewRemote(r.name.Text, r.kinds[r.found[r.now]])))
}

// checkRemoteName tells what is wrong with the name of a new remote, one that is
// being set up included.
func (m *metadata) checkRemoteName(name string) string {
	taken := slices.Clone(m.remotes)
	for _, t := range m.open {
		if t.far != nil && !t.far.Stored() {
			taken = append(taken, rclone.Info{Name: t.far.Name})
		}
	}
	return presenter.CheckRemoteName(name, taken)
}

// keeping works on rclone.conf and the remotes. It reads and writes the disk.
func keeping[T any](d *Desktop, do func(ctx context.Context, k presenter.RemoteKeeper) (T, error)) (_ T, err error) {
	var none T
	p, err := d.places()
	if err != nil {
		return none, err
	}
	ctx := context.Background()
	v, err := do(ctx, p.Client())
	if cerr := p.Close(ctx); err == nil && cerr != nil {
		return none, cerr
	}
	return v, err
}
