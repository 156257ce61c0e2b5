//go:build !headless

package desktop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine/gate"
)

// maxShownUses bounds the rows of the card of uses.
const maxShownUses = 12

// showCards makes the cards at the right: the result of the test, and the uses.
func (t *metaTab) showCards() {
	t.cards.Objects = nil
	kind := t.type_()
	if t.far != nil && t.far.NeedsLogin() { // there is nothing to try or to show yet
		t.cards.Refresh()
		return
	}
	if kind.Testable() {
		t.cards.Add(t.resultCard())
	}
	if kind.Key == presenter.MetaRemote {
		t.cards.Add(t.contentsCard())
		if t.m.store != nil {
			t.cards.Add(t.farUsesCard())
		}
	}
	if len(kind.Tags) > 0 {
		t.cards.Add(t.usesCard())
	}
	if kind.Key == presenter.MetaEnvironment {
		t.cards.Add(t.m.d.metaCard(levelLook{"info", inkSoft}, "What an environment does", "",
			inset(paragraph("Its variables are set when a file of the project is run or checked. Variables of the project itself win over them."), 4, 8, 4, 8)))
	}
	t.cards.Refresh()
}

// metaCard is a titled box.
func (d *Desktop) metaCard(look levelLook, title, remark string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	end := d.caption(remark)
	end.align = fyne.TextAlignTrailing
	return d.cardWith(look, title, wide(end), rows...)
}

// cardWith is a titled box with something at the end of its title.
func (d *Desktop) cardWith(look levelLook, title string, end fyne.CanvasObject, rows ...fyne.CanvasObject) fyne.CanvasObject {
	name := d.bold(title, textSize)
	head := container.NewBorder(nil, nil, d.picture(look.icon, look.ink, 16), end, inset(name, 0, 8, 0, 8))
	box := container.New(layout.NewCustomPaddedVBoxLayout(0), panel(inset(sized(head, 0, 24), 6, 12, 6, 12), theme.ColorNameHeaderBackground))
	for i, r := range rows {
		if i > 0 {
			box.Add(widget.NewSeparator())
		}
		box.Add(r)
	}
	return d.outlined(box)
}

func (t *metaTab) resultCard() fyne.CanvasObject {
	d := t.m.d
	r, done := t.m.results[t.item.Ref]
	switch {
	case t.cancel != nil:
		return d.metaCard(levelLook{"state-running", inkTone(toneNeutral)}, "Testing…", "", append(t.stepRows(t.steps), t.cancelRow())...)
	case !done:
		text := "Test tries the settings as they are here, lists what it did, and saves nothing."
		return d.metaCard(levelLook{"check-pending", inkSoft}, "Not tested yet", "", inset(paragraph(text), 4, 8, 4, 8))
	}
	remark := r.At.Format("15:04:05")
	if home := t.m.environmentName(); home != "" {
		remark = home + " · " + remark
	}
	return d.metaCard(lookOf(r.State), r.Title, remark, t.stepRows(r.Steps)...)
}

func (t *metaTab) cancelRow() fyne.CanvasObject {
	return inset(container.NewHBox(button("Cancel", false, func() {
		if t.cancel != nil {
			t.cancel()
		}
	})), 6, 12, 6, 12)
}

func (t *metaTab) stepRows(steps []presenter.MetaStep) []fyne.CanvasObject {
	d := t.m.d
	var rows []fyne.CanvasObject
	for _, s := range steps {
		look := lookOf(s.State)
		took := d.caption(presenter.Elapsed(s.Took))
		took.align = fyne.TextAlignTrailing
		line := container.NewBorder(nil, nil, d.picture(look.icon, look.ink, 16), sized(took, 64, 20), inset(d.text(s.Name), 0, 8, 0, 8))
		row := container.New(layout.NewCustomPaddedVBoxLayout(0), sized(line, 0, 20))
		if s.Detail != "" {
			detail := paragraph(shortenIn(s.Detail))
			detail.SizeName = theme.SizeNameCaptionText
			if s.State == presenter.LevelBad {
				detail.Importance = widget.DangerImportance
			}
			row.Add(inset(detail, -4, 0, -4, 17))
		}
		rows = append(rows, inset(row, 4, 12, 4, 12))
	}
	return rows
}

func (t *metaTab) usesCard() fyne.CanvasObject {
	d := t.m.d
	var rows []fyne.CanvasObject
	for i, u := range t.uses {
		if i == maxShownUses {
			rows = append(rows, inset(d.caption(fmt.Sprintf("and %d more", len(t.uses)-i)), 6, 12, 6, 12))
			break
		}
		icon := "pipeline"
		if filepath.Ext(u.File) == ".hwf" {
			icon = "workflow"
		}
		row := d.flat(icon, u.Node+"  ·  "+filepath.ToSlash(u.File), "Open "+filepath.ToSlash(u.File), func() { d.open(filepath.Join(t.home, u.File)) })
		row.left, row.size.Height = true, 28
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		rows = append(rows, inset(d.soft("No pipeline or workflow names it."), 6, 12, 6, 12))
	}
	return d.metaCard(levelLook{"link", inkSoft}, "Used by", presenter.Plural(int64(len(t.uses)), "node"), rows...)
}

// environmentName names the environment in use; empty for none.
func (m *metadata) environmentName() string {
	if m.store == nil || m.store.Active == "" {
		return ""
	}
	return presenter.EnvironmentName(m.store.Active)
}

// test tries the element in the background and shows each step as it ends.
func (t *metaTab) test() {
	if t.cancel != nil {
		return
	}
	d := t.m.d
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel, t.steps = cancel, nil
	t.tools.test.Disable()
	t.showCards()
	step := func(s presenter.MetaStep) {
		d.post(func() {
			if t.cancel != nil {
				t.steps = append(t.steps, s)
				t.showCards()
			}
		})
	}
	background(d, t.trial(ctx, step), func(r presenter.MetaReport, err error) {
		cancel()
		t.cancel = nil
		t.tools.test.Enable()
		if err != nil {
			t.showCards()
			d.fail("Test "+t.item.Ref.Name, err)
			return
		}
		t.m.results[t.item.Ref] = r
		t.showCards()
		t.m.tree.list.Refresh()
		d.event("metadata tested %s: %s", t.item.Ref.Name, r.Title)
	})
}

// tryTest tests what can be tested.
func (t *metaTab) tryTest() {
	if !t.type_().Testable() {
		t.m.d.frame.note("Only database connections and remotes can be tested")
		return
	}
	if t.far != nil && t.far.NeedsLogin() {
		t.m.d.frame.note("Test: rclone has to set up " + t.far.Name + " first")
		return
	}
	t.test()
}

// trial is what the test does.
func (t *metaTab) trial(ctx context.Context, step func(presenter.MetaStep)) func() (presenter.MetaReport, error) {
	d, ws := t.m.d, t.m.ws
	if t.draft != nil {
		object := t.draft.Object()
		return func() (presenter.MetaReport, error) {
			return presenter.TestConnection(ctx, object, ws.Scope, d.now, step), nil
		}
	}
	where := t.where
	if t.far != nil && t.far.Dirty() {
		settings := t.far.Settings()
		below := strings.TrimPrefix(where, t.far.Name+":")
		return func() (presenter.MetaReport, error) {
			return keeping(d, func(_ context.Context, k presenter.RemoteKeeper) (presenter.MetaReport, error) {
				return presenter.TestDraft(ctx, k, settings, below, d.now, step), nil
			})
		}
	}
	return func() (presenter.MetaReport, error) {
		var p *workspace.Places
		var err error
		if p, err = d.places(); err != nil {
			return presenter.MetaReport{}, err
		}
		defer func() { _ = p.Close(context.WithoutCancel(ctx)) }() // the outcome is known by then
		l, err := p.Parse(ctx, where)
		if err != nil {
			return presenter.MetaReport{}, err
		}
		return presenter.TestRemote(ctx, p.Client(), l, d.now, step), nil
	}
}

// remoteFacts shows what is known of a remote of the environment and where to test it.
func (t *metaTab) remoteFacts() fyne.CanvasObject {
	d := t.m.d
	fact := func(label, value string) *half {
		c := container.New(layout.NewCustomPaddedVBoxLayout(2), d.caption(label), sized(d.text(value), 0, 24))
		return &half{c, c.Objects[0], false}
	}
	entry := d.field(t.where, "", func(s string) { t.where = s })
	location := container.New(layout.NewCustomPaddedVBoxLayout(2), d.caption("Location to test"), entry,
		d.caption("Name, colon, and a bucket or folder: the test writes a small object there and removes it"))
	list := []fyne.CanvasObject{fact("Name", t.remote.Name), fact("Kind of storage", t.remote.Type), fact("Set up in", presenter.RemoteSource(t.remote)).Container}
	if t.remote.Description != "" {
		list = append(list, fact("Description", t.remote.Description))
	}
	list = append(list, location)
	list = append(list, t.useButton(), paragraph("What rclone needs to get in stays in the environment and is never shown. Change it there."))
	return container.New(layout.NewCustomPaddedVBoxLayout(10), pairs(list)...)
}

func (t *metaTab) useButton() fyne.CanvasObject {
	use := button("Use for gates that name no location", false, t.useForGates)
	setEnabled(use, t.m.store != nil && (t.far == nil || t.far.Stored()))
	return container.NewHBox(use)
}

// useForGates puts the location into the variables of the environment in use, or of
// the project.
func (t *metaTab) useForGates() {
	m, store, where := t.m, t.m.store, t.where
	ref, file := presenter.MetaRef{Type: presenter.MetaProject, Name: store.Project.Name}, "the project"
	if store.Active != "" {
		ref, file = presenter.MetaRef{Type: presenter.MetaEnvironment, Name: m.environmentName()}, "the environment "+m.environmentName()
	}
	item, ok := m.item(ref)
	if !ok {
		return
	}
	m.d.ask("Use "+where+" for gates?", fmt.Sprintf("The variable %s of %s becomes %s. Gates that name no location seal there from the next run on.", gate.VariableSnapshots, file, where),
		answer{"Cancel", false, nil},
		answer{"Set the variable", true, func() {
			background(m.d, func() (struct{}, error) { return struct{}{}, store.SetVariable(item, gate.VariableSnapshots, where) }, func(_ struct{}, err error) {
				if err != nil {
					m.d.fail("Use "+where+" for gates", err)
					return
				}
				m.d.frame.note(gate.VariableSnapshots + " is " + where + " in " + file)
				m.reload()
			})
		}})
}
