//go:build !headless

package desktop

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// remoteLook is what a look into a remote found.
type remoteLook struct {
	where    string
	contents *presenter.RemoteContents
	wrong    string
}

// look lists the snapshots at the location of the tab.
func (t *metaTab) look() {
	if t.looking != nil || t.far != nil && !t.far.Stored() {
		return
	}
	d, where := t.m.d, t.where
	ctx, cancel := context.WithCancel(context.Background())
	t.looking = cancel
	t.showCards()
	background(d, func() (_ *presenter.RemoteContents, err error) {
		p, err := d.places()
		if err != nil {
			return nil, err
		}
		defer func() { _ = p.Close(context.WithoutCancel(ctx)) }() // the list is known by then
		return presenter.ListContents(ctx, p, where)
	}, func(c *presenter.RemoteContents, err error) {
		cancel()
		t.looking = nil
		t.seen = remoteLook{where: where, contents: c}
		if err != nil {
			message, hint := explain(err)
			t.seen.wrong = message
			if hint != "" {
				t.seen.wrong += ". " + capital(hint)
			}
		}
		t.showCards()
		d.event("metadata looked into %s: %v", t.item.Ref.Name, err == nil)
	})
}

// contentsCard is the table of the snapshots at a location.
func (t *metaTab) contentsCard() fyne.CanvasObject {
	d := t.m.d
	list := d.flat("refresh", "List", "List the snapshots at "+t.where, t.look)
	list.size.Height, list.disabled = 28, t.looking != nil || t.far != nil && !t.far.Stored()
	look, note := levelLook{"snapshot", inkSoft}, func(text string) []fyne.CanvasObject {
		return []fyne.CanvasObject{inset(paragraph(text), 4, 8, 4, 8)}
	}
	card := func(rows []fyne.CanvasObject) fyne.CanvasObject { return d.cardWith(look, "Contents", list, rows...) }
	switch c := t.seen.contents; {
	case t.looking != nil:
		return card(note("Listing the snapshots at " + t.where + " …"))
	case t.far != nil && !t.far.Stored():
		return card(note("Save the remote to see the snapshots that it holds."))
	case t.seen.wrong != "":
		look = levelLook{"state-failed", inkTone(toneError)}
		return card(note(t.seen.where + " cannot be listed: " + shortenIn(t.seen.wrong)))
	case c == nil:
		return card(note("Write the bucket or folder of the snapshots and press List."))
	case len(c.Gates) == 0:
		return card(note("There is no snapshot at " + t.seen.where + ". Gates that name it as their location seal there."))
	}
	rows := []fyne.CanvasObject{panel(t.contentRow(nil, d.bold("Name", captionSize), "Rows", "Size", "Sealed", true), theme.ColorNameHeaderBackground)}
	for _, g := range t.seen.contents.Gates {
		rows = append(rows, t.contentRow(d.picture("folder", inkSoft, 16), d.text(g.Title), "", "", presenter.Plural(int64(g.Count), "snapshot"), false))
		for _, s := range g.Newest {
			rows = append(rows, t.snapshotRow(s))
		}
	}
	if n := t.seen.contents.More; n > 0 {
		rows = append(rows, inset(d.caption(fmt.Sprintf("and %s more", presenter.Plural(int64(n), "gate"))), 6, 12, 6, 12))
	}
	return card(rows)
}

func (t *metaTab) snapshotRow(s snapshot.Summary) fyne.CanvasObject {
	d := t.m.d
	rows := "–"
	if s.State == storage.SnapshotSealed || s.State == storage.SnapshotPruned {
		rows = presenter.Grouped(s.Rows)
	}
	icon := snapshotIcon(s.State)
	return t.contentRow(d.picture(icon, inkTone(snapshotTone(s.State)), 16), d.text(presenter.ShortID(s.Ref.ID)), rows, workspace.FormatBytes(s.Stored), presenter.SealedWhen(s, d.now()), false)
}

// contentRow is a row of the table: icon and name, and three columns at the right.
func (t *metaTab) contentRow(icon fyne.CanvasObject, name *words, rows, size, sealed string, head bool) fyne.CanvasObject {
	d := t.m.d
	cell := func(text string, width float32) fyne.CanvasObject {
		w := d.text(text)
		if head {
			w = d.bold(text, captionSize)
		}
		w.align = fyne.TextAlignTrailing
		return sized(w, width, 20)
	}
	right := container.New(layout.NewCustomPaddedHBoxLayout(8))
	if rows != "" || size != "" {
		right.Objects = []fyne.CanvasObject{cell(rows, 84), cell(size, 74)}
	}
	right.Add(cell(sealed, 104))
	return inset(container.NewBorder(nil, nil, icon, right, inset(name, 0, 8, 0, 8)), 4, 12, 4, 12)
}

// farUsesCard lists what names the remote in the project.
func (t *metaTab) farUsesCard() fyne.CanvasObject {
	d := t.m.d
	var rows []fyne.CanvasObject
	for i, u := range t.farUses {
		if i == maxShownUses {
			rows = append(rows, inset(d.caption(fmt.Sprintf("and %d more", len(t.farUses)-i)), 6, 12, 6, 12))
			break
		}
		row := d.flat(t.useIcon(u), u.Name+"  ·  "+u.File, "Open "+u.File+": "+u.Location, func() { t.openUse(u) })
		row.left, row.size.Height = true, 28
		rows = append(rows, row)
	}
	remark := presenter.CountRemoteUses(t.farUses)
	if len(rows) == 0 {
		rows = append(rows, inset(d.soft("Nothing in this project names it."), 6, 12, 6, 12))
	}
	return d.metaCard(levelLook{"link", inkSoft}, "Used by", remark, rows...)
}

// useIcon is the icon of a use; that of a gate shows how its newest snapshot stands,
// where that is known.
func (t *metaTab) useIcon(u presenter.RemoteUse) string {
	if u.Kind == presenter.UseGate && t.seen.contents != nil && t.seen.where == u.Location {
		if s, ok := t.seen.contents.Newest(u.Gate); ok {
			return snapshotIcon(s.State)
		}
	}
	return [...]string{"gate", "pipeline", "variable"}[u.Kind]
}

func (t *metaTab) openUse(u presenter.RemoteUse) {
	if u.Kind != presenter.UseVariable {
		t.m.d.open(u.Path)
		return
	}
	for _, g := range t.m.groups {
		for _, i := range g.Items {
			if i.Path == u.Path && i.Path != "" {
				t.m.choose(i.Ref)
				return
			}
		}
	}
}
