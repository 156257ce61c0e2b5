//go:build !headless

package desktop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"sluice/app/presenter"
	"sluice/engine/project"
	"sluice/storage/rclone"
)

// openRemote opens a remote of rclone.conf as a form, one of the environment as facts.
func (m *metadata) openRemote(item presenter.MetaItem) {
	at := slices.IndexFunc(m.remotes, func(r rclone.Info) bool { return r.Name == item.Ref.Name })
	info, store, ws := m.remotes[at], m.store, m.ws
	type found struct {
		draft *presenter.RemoteDraft
		uses  []presenter.RemoteUse
	}
	background(m.d, func() (f found, err error) {
		if store != nil {
			if f.uses, err = presenter.FindRemoteUses(context.Background(), store, ws.Scope, info.Name); err != nil {
				return f, err
			}
		}
		if info.Source == "environment" {
			return f, nil
		}
		f.draft, err = keeping(m.d, func(ctx context.Context, k presenter.RemoteKeeper) (*presenter.RemoteDraft, error) {
			return presenter.LoadRemote(ctx, k, info.Name)
		})
		return f, err
	}, func(f found, err error) {
		if err != nil {
			m.d.fail("Open "+info.Name, err)
			return
		}
		t := &metaTab{m: m, item: item, far: f.draft, remote: info, farUses: f.uses, where: presenter.HomeOfRemote(f.uses)}
		known := t.where != ""
		if !known {
			t.where = info.Name + ":"
		}
		t.build()
		m.add(t)
		if known && m.now == t {
			t.look()
		}
	})
}

// newRemoteTab is the tab of a remote that is not kept yet.
func newRemoteTab(m *metadata, draft *presenter.RemoteDraft) *metaTab {
	ref := presenter.MetaRef{Type: presenter.MetaRemote, Name: draft.Name}
	t := &metaTab{m: m, item: presenter.MetaItem{Ref: ref}, far: draft, where: draft.Name + ":", remote: rclone.Info{Name: draft.Name, Type: draft.Backend.Type, Source: "file"}}
	t.build()
	if store, ws := m.store, m.ws; store != nil {
		background(m.d, func() ([]presenter.RemoteUse, error) {
			return presenter.FindRemoteUses(context.Background(), store, ws.Scope, draft.Name)
		}, func(uses []presenter.RemoteUse, err error) {
			if err != nil || len(uses) == 0 {
				return // it is new: most often nothing names it yet
			}
			t.farUses = uses
			if where := presenter.HomeOfRemote(uses); where != "" {
				t.where = where
			}
			t.fill()
		})
	}
	return t
}

// reopenSetUp opens the remotes as they are whose tabs said how to set them up
// elsewhere, once that was done.
func (m *metadata) reopenSetUp() {
	for _, t := range slices.Clone(m.open) {
		if _, there := m.item(t.item.Ref); !there || t.far == nil || !t.far.NeedsLogin() {
			continue
		}
		if m.now == t {
			m.wanted = t.item.Ref
		}
		m.drop(t.item.Ref)
	}
}

// saveRemote writes the remote into rclone.conf. One with wrong settings is not
// written: other programs use the file too.
func (t *metaTab) saveRemote(done func()) {
	d, draft := t.m.d, t.far
	if draft.NeedsLogin() {
		d.frame.note("rclone itself sets up " + draft.Name + ": type the command that is shown in a terminal")
		return
	}
	if problems := draft.Problems(); len(problems) > 0 {
		var names []string
		for _, p := range problems {
			names = append(names, p)
		}
		slices.Sort(names)
		d.frame.note(draft.Name + " is not saved: " + strings.Join(names, ", "))
		t.farForm.fold(t.advanced || t.farForm.wrongIsFolded())
		return
	}
	saving := draft.Saving()
	background(d, func() (struct{}, error) {
		return keeping(d, func(ctx context.Context, k presenter.RemoteKeeper) (struct{}, error) {
			return struct{}{}, saving.Write(ctx, k)
		})
	}, func(_ struct{}, err error) {
		switch {
		case errors.Is(err, project.ErrChanged):
			d.ask("File changed outside", draft.Name+" changed in rclone.conf since it was opened. Reload shows what is there and gives up the changes here.",
				answer{"Keep editing", false, nil}, answer{"Reload", true, func() {
					t.m.drop(t.item.Ref)
					t.m.openRemote(t.item)
				}})
			return
		case err != nil:
			d.fail("Save "+draft.Name, err)
			return
		}
		draft.Saved(saving)
		d.frame.note("Saved " + draft.Name + " in rclone.conf")
		d.event("metadata saved remote %s", draft.Name)
		t.fill()
		t.m.reload()
		if done != nil {
			done()
		}
	})
}

// wrongIsFolded tells whether a problem is at an option that is not in sight.
func (f *remoteForm) wrongIsFolded() bool {
	for name := range f.t.far.Problems() {
		if f.parts[name] == nil {
			return true
		}
	}
	return false
}

// changeableRemote tells whether a remote stands in rclone.conf, with a sentence in
// the status bar when it does not.
func (t *metaTab) changeableRemote(doing string) bool {
	switch {
	case t.far == nil:
		t.m.d.frame.note(fmt.Sprintf("%s: %s is set up in %s", doing, t.remote.Name, presenter.RemoteSource(t.remote)))
	case !t.far.Stored():
		t.m.d.frame.note(doing + ": save " + t.far.Name + " first")
	default:
		return true
	}
	return false
}

// duplicateRemote asks for the name of a copy, which has the secrets too.
func (t *metaTab) duplicateRemote() {
	if !t.changeableRemote("Duplicate") {
		return
	}
	name := t.far.Name
	t.askName(t.m.checkRemoteName, "Duplicate "+name, "Duplicate", name+"-copy", "The copy has the same settings, passwords included.", func(to string) {
		t.changeRemotes("Duplicate "+name, to, func(ctx context.Context, k presenter.RemoteKeeper) error { return k.CopyRemote(ctx, name, to) })
	})
}

// renameRemote asks for another name and says what still uses the old one.
func (t *metaTab) renameRemote() {
	if !t.changeableRemote("Rename") {
		return
	}
	if t.dirty() {
		t.m.d.frame.note("Save the changes of " + t.far.Name + " first")
		return
	}
	name, warning := t.far.Name, ""
	if len(t.farUses) > 0 {
		warning = fmt.Sprintf("%s of this project refer to it by the name %s; change them afterwards.", presenter.CountRemoteUses(t.farUses), name)
	}
	t.askName(t.m.checkRemoteName, "Rename "+name, "Rename", name, warning, func(to string) {
		t.m.drop(t.item.Ref)
		t.changeRemotes("Rename "+name, to, func(ctx context.Context, k presenter.RemoteKeeper) error { return k.RenameRemote(ctx, name, to) })
	})
}

func (t *metaTab) changeRemotes(doing, to string, do func(context.Context, presenter.RemoteKeeper) error) {
	t.m.change(nil, doing, func() (presenter.MetaItem, error) {
		return keeping(t.m.d, func(ctx context.Context, k presenter.RemoteKeeper) (presenter.MetaItem, error) {
			return presenter.MetaItem{Ref: presenter.MetaRef{Type: presenter.MetaRemote, Name: to}}, do(ctx, k)
		})
	})
}

// maxNamedUses bounds what the question before a removal names.
const maxNamedUses = 8

// removeRemote takes a remote out of rclone.conf, after a question that names what
// uses it as the project is now.
func (t *metaTab) removeRemote() {
	if t.far != nil && !t.far.Stored() {
		t.m.close(t)
		return
	}
	if !t.changeableRemote("Delete") {
		return
	}
	d, store, ws, name := t.m.d, t.m.store, t.m.ws, t.far.Name
	background(d, func() ([]presenter.RemoteUse, error) {
		if store == nil {
			return nil, nil
		}
		return presenter.FindRemoteUses(context.Background(), store, ws.Scope, name)
	}, func(uses []presenter.RemoteUse, err error) {
		if err != nil {
			d.fail("Delete "+name, err)
			return
		}
		t.askRemoval(name, uses)
	})
}

func (t *metaTab) askRemoval(name string, uses []presenter.RemoteUse) {
	d := t.m.d
	text := fmt.Sprintf("%s is taken out of rclone.conf with its passwords, for every program that uses the file. What is stored there stays. It cannot be undone.", name)
	switch {
	case t.m.store == nil:
	case len(uses) == 0:
		text += "\n\nNothing in this project uses it."
	default:
		text += "\n\n" + presenter.CountRemoteUses(uses) + " of this project will stop with an error:"
		named := uses[:min(len(uses), maxNamedUses)]
		lines := make([]string, len(named))
		for i, u := range named {
			lines[i] = "\n• " + u.String()
		}
		text += strings.Join(lines, "")
		if more := len(uses) - len(named); more > 0 {
			text += fmt.Sprintf("\n…and %d more", more)
		}
	}
	var dl *dialog
	remove := func() {
		dl.close()
		background(d, func() (struct{}, error) {
			return keeping(d, func(ctx context.Context, k presenter.RemoteKeeper) (struct{}, error) {
				return struct{}{}, k.RemoveRemote(ctx, name)
			})
		}, func(_ struct{}, err error) {
			if err != nil {
				d.fail("Delete "+name, err)
				return
			}
			t.m.drop(t.item.Ref)
			d.event("metadata deleted remote %s", name)
			t.m.reload()
		})
	}
	const lineHeight = 18
	size := fyne.NewSize(560, 190+lineHeight*float32(strings.Count(text, "\n")))
	dl = d.dialog("Delete the remote "+name+"?", "", container.NewVScroll(paragraph(text)), size, nil, button("Cancel", true, func() { dl.close() }), button("Delete "+name, false, remove))
	dl.onEnter = func() { dl.close() }
}
