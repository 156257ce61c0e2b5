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
	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// sealed gives what is known of the snapshot or cached rows of the selected node,
// and says so when there are none.
func (e *editor) sealed() (presenter.GateView, bool) {
	name, ok := e.gateNode()
	if !ok {
		return presenter.GateView{}, false
	}
	v, ok := e.file.Gates().Snapshot(name)
	if ok {
		return v, true
	}
	g, gate := e.file.Gates().Gate(name)
	_, cache := e.file.CacheOf(name)
	switch {
	case gate && g.State != "":
		e.d.frame.note(name + ": " + g.Title())
	case e.file.IsGate(name) || cache:
		e.d.frame.note(name + " has no snapshot yet: run the pipeline")
	default:
		e.d.frame.note(name + " is no replay gate")
	}
	return v, false
}

// showSnapshotRows shows the sealed or cached rows of the selected node in the panel
// of rows.
func (e *editor) showSnapshotRows() {
	if v, ok := e.sealed(); ok {
		e.openSnapshot(v)
	}
}

func (e *editor) openSnapshot(v presenter.GateView) {
	e.rows.openSnapshot(e.d.workspace(e.file.Path(), e.home), v, func() {
		e.setBottom(true)
		e.bottom.choose(3)
	})
}

// compareSnapshots shows how the two newest snapshots of the selected gate differ.
func (e *editor) compareSnapshots() {
	v, ok := e.sealed()
	if !ok {
		return
	}
	open := e.d.workspace(e.file.Path(), e.home)
	e.d.frame.note("Comparing the two newest snapshots of " + v.Node + " …")
	background(e.d, func() (*presenter.SnapshotComparison, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		return presenter.CompareSnapshots(context.Background(), ws, v)
	}, func(c *presenter.SnapshotComparison, err error) {
		e.d.frame.note("")
		switch {
		case errors.Is(err, presenter.ErrOneSnapshot):
			e.d.tell("Nothing to compare with", capital(err.Error())+".")
		case err != nil:
			e.d.fail("Compare the snapshots of "+v.Node, err)
		default:
			e.showComparison(v, c)
		}
	})
}

func (e *editor) showComparison(v presenter.GateView, c *presenter.SnapshotComparison) {
	d := e.d
	now := d.now()
	line := func(word string, s snapshot.Summary) string {
		return fmt.Sprintf("%s: sealed %s, %s", word, presenter.When(s.Ended, now), presenter.Plural(s.Rows, "row"))
	}
	head := container.NewVBox(d.text(line("Before", c.Older)), d.text(line("Now", c.Newer)))
	d.event("compared equal=%v rows=%d", c.Equal, len(c.Rows))
	var dl *dialog
	closing := button("Close", true, func() { dl.close() })
	if c.Equal {
		head.Add(inset(d.bold("Both hold the same rows.", textSize), 8, 0, 0, 0))
		dl = d.dialog("Snapshots of "+v.Node, "", head, fyne.NewSize(560, 220), nil, closing)
		dl.onEnter = func() { dl.close() }
		return
	}
	for _, s := range slices.Concat(c.Schemas, c.Counts) {
		head.Add(d.words(capital(s), textSize, inkTone(toneWarn)))
	}
	columns := []gridColumn{{"Row", 80, true, 0}, {"", 64, false, 0}}
	for _, f := range c.Fields {
		columns = append(columns, gridColumn{f, min(max(fyne.MeasureText(f, captionSize, fyne.TextStyle{Bold: true}).Width+24, 110), 240), false, 0})
	}
	g := newGrid(d, columns, func() int { return 2 * len(c.Rows) }, func(r, k int) gridCell {
		x := c.Rows[r/2]
		values, other, word := x.Then, x.Now, "before"
		if r%2 == 1 {
			values, other, word = x.Now, x.Then, "now"
		}
		switch {
		case k == 0 && r%2 == 0:
			return gridCell{text: presenter.Grouped(x.Row)}
		case k == 0:
			return gridCell{}
		case k == 1:
			return gridCell{text: word, ink: inkSoft}
		case values == nil && k == 2:
			return gridCell{text: "no such row", ink: inkOff}
		case k-2 >= len(values):
			return gridCell{}
		case k-2 >= len(other) || values[k-2] != other[k-2]:
			return gridCell{text: values[k-2], ink: inkTone(toneWarn), bold: true}
		}
		return gridCell{text: values[k-2], ink: inkSoft}
	})
	var body fyne.CanvasObject = head
	if len(c.Rows) > 0 {
		body = container.NewBorder(inset(head, 0, 0, 8, 0), nil, nil, nil, d.outlined(g.all))
	}
	dl = d.dialog("Snapshots of "+v.Node+" differ", presenter.Plural(int64(len(c.Rows)), "row")+" shown that differ, by their place", body, fyne.NewSize(960, 600), nil, closing)
	dl.onEnter = func() { dl.close() }
}

// verifySnapshot hashes every segment of the selected node's snapshot.
func (e *editor) verifySnapshot() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	v, known := e.file.Gates().Gate(name)
	if !known || v.Snapshot == "" {
		if v, known = e.sealed(); !known {
			return
		}
	}
	open := e.d.workspace(e.file.Path(), e.home)
	ctx, cancel := context.WithCancel(context.Background())
	var dl *dialog
	dl = e.d.dialog("Verifying the snapshot of "+name, presenter.Plural(v.Rows, "row")+", "+workspace.FormatBytes(v.Bytes)+" at "+v.Location,
		paragraph("Every segment is read and hashed."), fyne.NewSize(520, 190), nil, button("Cancel", false, func() { dl.close() }))
	dl.onClose = cancel
	background(e.d, func() (*snapshot.Verification, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		return presenter.VerifySnapshot(ctx, ws, v)
	}, func(proof *snapshot.Verification, err error) {
		if ctx.Err() != nil {
			return
		}
		dl.close()
		if err != nil {
			e.d.fail("The snapshot of "+name+" does not verify", err)
			e.lookAtGates(0)
			return
		}
		e.d.event("verified %s", name)
		e.d.tell("The snapshot of "+name+" verifies", fmt.Sprintf("%s of %s and the manifest match their SHA-256. A replay may take its rows.",
			presenter.Plural(int64(proof.Segments), "segment"), workspace.FormatBytes(proof.Bytes)))
	})
}

// listSnapshots shows all snapshots of the selected gate.
func (e *editor) listSnapshots() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	v, ok := e.file.Gates().Gate(name)
	if !ok {
		e.d.frame.note(name + " is no replay gate, or was not looked at yet")
		return
	}
	e.loadSnapshots(v, func(list []snapshot.Summary) { e.showSnapshots(v, list) })
}

func (e *editor) loadSnapshots(v presenter.GateView, done func([]snapshot.Summary)) {
	open := e.d.workspace(e.file.Path(), e.home)
	background(e.d, func() ([]snapshot.Summary, error) {
		ws, err := open(nil, "")
		if err != nil {
			return nil, err
		}
		return presenter.ListSnapshots(context.Background(), ws, v)
	}, func(list []snapshot.Summary, err error) {
		if err != nil {
			e.d.fail("Snapshots of "+v.Node, err)
			return
		}
		done(list)
	})
}

func (e *editor) showSnapshots(v presenter.GateView, list []snapshot.Summary) {
	d := e.d
	g := newGrid(d, []gridColumn{{"State", 130, false, 0}, {"Begun", 150, false, 0}, {"Rows", 110, true, 0}, {"Size", 100, true, 0}, {"Snapshot", 190, false, 0}, {"Note", 180, false, 1}},
		func() int { return len(list) }, func(r, c int) gridCell {
			s := list[r]
			switch c {
			case 0:
				return gridCell{text: capital(strings.ToLower(string(s.State))), icon: snapshotIcon(s.State), tint: inkTone(snapshotTone(s.State))}
			case 1:
				return gridCell{text: presenter.When(s.Begun, d.now())}
			case 2:
				if s.State == storage.SnapshotSealed || s.State == storage.SnapshotPruned {
					return gridCell{text: presenter.Grouped(s.Rows)}
				}
				return gridCell{text: "–", ink: inkSoft}
			case 3:
				return gridCell{text: workspace.FormatBytes(s.Stored)}
			case 4:
				return gridCell{text: presenter.ShortID(s.Ref.ID), ink: inkSoft}
			}
			return gridCell{text: snapshotNote(s), ink: inkSoft}
		})
	var dl *dialog
	g.onRow = func(r int) {
		s := list[r]
		if s.State != storage.SnapshotSealed {
			d.frame.note("Only the rows of a sealed snapshot can be shown")
			return
		}
		dl.close()
		v.Snapshot, v.Rows, v.Bytes, v.State = s.Ref.ID, s.Rows, s.Stored, s.State
		e.openSnapshot(v)
	}
	body := d.outlined(g.all)
	if len(list) == 0 {
		body = emptyNote(d, "snapshot", "No snapshots yet", "Run the pipeline: the rows that reach this gate are sealed.")
	}
	dl = d.dialog("Snapshots of "+v.Node, v.Location, body, fyne.NewSize(1000, 480), d.caption("Click a sealed one to see its rows"), button("Close", true, func() { dl.close() }))
	dl.onEnter = func() { dl.close() }
}

// snapshotIcon is the badge of a state.
func snapshotIcon(s storage.SnapshotState) string {
	return map[storage.SnapshotState]string{
		storage.SnapshotSealed: "gate-sealed", storage.SnapshotInterrupted: "gate-interrupted", storage.SnapshotDamaged: "gate-corrupt",
		storage.SnapshotOpen: "gate-armed", storage.SnapshotPruned: "eraser",
	}[s]
}

// snapshotTone is the colour of that badge.
func snapshotTone(s storage.SnapshotState) scene.Tone {
	switch s {
	case storage.SnapshotSealed:
		return toneOK
	case storage.SnapshotInterrupted:
		return toneInterrupted
	case storage.SnapshotDamaged:
		return toneError
	}
	return toneNeutral
}

func snapshotNote(s snapshot.Summary) string {
	var notes []string
	if len(s.Pins) > 0 {
		notes = append(notes, "pinned")
	}
	if why := presenter.SnapshotWhy(s); why != "" {
		notes = append(notes, why)
	}
	return strings.Join(notes, ", ")
}

// replayHere plans a replay from the selected gate, or of the execution that shows.
func (d *Desktop) replayHere() {
	switch {
	case d.place == placeExecutions:
		d.do("replay-execution")
	case d.current != nil:
		d.current.replayHere()
	}
}

// replayHere plans a replay of the run that made the selected gate's snapshot, from
// this gate.
func (e *editor) replayHere() {
	name, ok := e.gateNode()
	if !ok {
		return
	}
	v, ok := e.file.Gates().Gate(name)
	switch {
	case !ok && !e.file.IsGate(name):
		e.d.frame.note(name + " is no replay gate: mark it, and the next run can be replayed from here")
	case !ok || v.State == "" || v.Root == "":
		e.d.frame.note(name + " has no snapshot yet: run first")
	case e.file.Dirty():
		n := e.file.Unsaved()
		e.d.ask("Save "+e.file.Title()+" first?", "A replay takes the file as it is on disk, without "+presenter.Plural(int64(n), "unsaved change")+" here.",
			answer{"Cancel", false, nil},
			answer{"Replay the saved file", false, func() { e.d.replayFrom(v.Root, v.CallPath, v.Node) }},
			answer{"Save and go on", true, func() { e.d.save(e, func() { e.d.replayFrom(v.Root, v.CallPath, v.Node) }) }})
	default:
		e.d.replayFrom(v.Root, v.CallPath, v.Node)
	}
}
