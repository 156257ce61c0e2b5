//go:build !headless

package desktop

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/cli"
	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/engine"
	"sluice/engine/replay"
)

// replayDialog plans a replay with a person and starts it.
type replayDialog struct {
	d       *Desktop
	of      *presenter.ExecutionDetail
	run     *workspace.Replaying
	choices *presenter.ReplayChoices
	view    *presenter.ReplayView // of the last plan; nil while there is none
	sealed  map[string]presenter.SealedRows
	asked   int
	cancel  context.CancelFunc // of the check under way; nil when there is none
	moved   bool               // something changed since the check before
	// starting gives up a replay that has not started yet; nil when there is none.
	starting context.CancelFunc

	dl       *dialog
	badge    *canvas.Image
	verdict  *words
	band     *fyne.Container // badge, verdict, when and how thoroughly
	checked  *fyne.Container
	page     *fyne.Container // checks, variables and reason, one below the other
	again    *widget.Button
	sizes    *flat
	pages    *switcher
	plan     *planPane
	starts   *startList
	checks   *checkList
	vars     *variableTable
	changes  *definitionPage
	reason   *field
	problem  *words
	estimate *fyne.Container
	note     *words
	start    *widget.Button
}

// replayFrom opens the dialog for an execution, at one of its gates.
func (d *Desktop) replayFrom(root string, at engine.CallPath, node string) {
	background(d, func() (*presenter.ExecutionDetail, error) {
		store, err := d.history.Store(context.Background())
		if err != nil {
			return nil, err
		}
		return presenter.LoadExecution(context.Background(), store, root)
	}, func(of *presenter.ExecutionDetail, err error) {
		if err != nil {
			d.fail("Replay from "+node, err)
			return
		}
		if ok, why := of.Replayable(); !ok {
			d.tell("The run cannot be replayed yet", why+".")
			return
		}
		d.askReplay(of, replay.Step{CallPath: at, Node: node}.Name())
	})
}

// askReplay opens the dialog for an execution, at a start point.
func (d *Desktop) askReplay(of *presenter.ExecutionDetail, start string) {
	if of == nil {
		return
	}
	log := slog.New(slog.DiscardHandler)
	background(d, func() (*workspace.Replaying, error) {
		return workspace.OpenReplay(context.Background(), d.history, workspace.ReplayOptions{Execution: of.ID, Version: cli.Version, Options: workspace.Options{Log: log}})
	}, func(r *workspace.Replaying, err error) {
		if err != nil {
			d.fail("Replay "+of.Name, err)
			return
		}
		x := &replayDialog{d: d, of: of, run: r, choices: presenter.NewReplayChoices()}
		x.choices.Start = start
		d.lastReplay = x
		x.open()
		x.check()
	})
}

// Sizes of the dialog, and of its parts in a wide and in a narrow window.
const (
	replayWidth, replayHeight = 1264, 820
	replayLeft, smallLeft     = 584, 448
	planHeight, smallPlan     = 376, 230
	replayMargin              = 16
)

func (x *replayDialog) open() {
	d := x.d
	x.plan, x.starts = newPlanPane(x), newStartList(x)
	x.checks, x.vars, x.changes = newCheckList(x), newVariableTable(x), newDefinitionPage(x)
	left, high := float32(replayLeft), float32(planHeight)
	if d.frame.small {
		left, high = smallLeft, smallPlan
	}
	upper := container.New(layout.NewCustomPaddedVBoxLayout(0), sized(x.plan.all, 0, high), widget.NewSeparator(), x.plan.legend)
	body := container.New(&sideBySide{left}, container.NewBorder(upper, nil, nil, nil, x.starts.all), widget.NewSeparator(), x.right())
	x.estimate = container.New(&oneLine{gap: 24})
	bar := panel(sized(inset(x.estimate, 0, 16, 0, 16), 0, 36), theme.ColorNameHeaderBackground)
	foot := container.New(layout.NewCustomPaddedVBoxLayout(0), widget.NewSeparator(), bar, widget.NewSeparator(), x.footer())
	content := container.NewBorder(container.New(layout.NewCustomPaddedVBoxLayout(0), x.head(), widget.NewSeparator()), foot, nil, nil, body)
	x.dl = d.sheet("Replay "+x.of.Name, content, fyne.NewSize(replayWidth, replayHeight), replayMargin)
	x.dl.onClose = x.closed
}

// head names what is replayed.
func (x *replayDialog) head() fyne.CanvasObject {
	d := x.d
	pic := canvas.NewImageFromResource(d.icon("replay", inkPrimary))
	pic.FillMode = canvas.ImageFillContain
	name := x.of.Name
	if x.of.File != "" {
		name = filepath.Base(x.of.File)
	}
	words := container.New(layout.NewCustomPaddedVBoxLayout(2), d.bold("Replay "+name, 16), d.caption(x.about()))
	shut := d.tool("close", "Close (Esc)", func() { x.dl.close() })
	return inset(container.NewBorder(nil, nil, container.NewCenter(sized(pic, 24, 24)), container.NewCenter(shut), inset(words, 0, 12, 0, 12)), 8, 12, 8, 16)
}

// about is the line under the title: which execution, how it ended, and whether it
// was replayed.
func (x *replayDialog) about() string {
	text := "Execution " + presenter.ShortID(x.of.ID) + " · " + strings.ToLower(string(x.of.State)) + " " + presenter.When(x.of.Ended, x.d.now())
	if node, _ := x.of.FirstCause(); node != "" {
		text += " at " + node
	}
	replays := int64(0)
	for _, h := range x.of.Lineage {
		if h.ReplayOf != "" && h.ID > x.of.ID {
			replays++
		}
	}
	if replays == 0 {
		return text + " · not replayed yet"
	}
	return text + " · " + presenter.Plural(replays, "replay") + " since"
}

// right is the verdict over the pages.
func (x *replayDialog) right() fyne.CanvasObject {
	d := x.d
	x.verdict = d.bold("Checking…", 16)
	x.badge = canvas.NewImageFromResource(d.icon("check-pending", inkSoft))
	x.badge.FillMode = canvas.ImageFillContain
	x.checked = container.NewHBox()
	x.again = button("Check again", false, x.checkOrCancel)
	x.again.Icon = d.icon("refresh", inkText)
	x.sizes = d.flat("", "Only the sizes", "Compare only the sizes of segments now; each is hashed before its rows leave", func() {
		x.choices.Quick = true
		x.check()
	})
	x.sizes.inkOf, x.sizes.bold = inkPrimary, true
	x.sizes.Hide()
	tools := container.NewHBox(container.NewCenter(x.checked), container.NewCenter(x.sizes), container.NewCenter(x.again))
	x.band = container.NewBorder(nil, nil, container.NewCenter(sized(x.badge, 20, 20)), tools, inset(x.verdict, 0, 8, 0, 10))
	head := sized(inset(x.band, 0, 16, 0, 16), 0, 48)

	x.reason = d.field("", "Kept in the lineage", x.reasonChanged)
	x.problem = d.words("", captionSize, inkTone(toneError))
	reason := inset(container.New(layout.NewCustomPaddedVBoxLayout(4), d.caption("Reason for this replay (optional, kept in the lineage)"), x.reason, x.problem), 10, 16, 10, 16)
	x.pages = newSwitcher(d)
	x.page = container.New(layout.NewCustomPaddedVBoxLayout(0), x.checks.box, x.vars.all, reason)
	x.pages.add("Checks", container.NewVScroll(x.page))
	x.pages.add("Definition", container.NewVScroll(inset(x.changes.box, 8, 16, 8, 16)))
	tabs := panel(inset(x.pages.head, 0, 8, 0, 8), theme.ColorNameHeaderBackground)
	return container.NewBorder(container.New(layout.NewCustomPaddedVBoxLayout(0), head, widget.NewSeparator(), tabs, widget.NewSeparator()), nil, nil, nil, x.pages.stack)
}

func (x *replayDialog) footer() fyne.CanvasObject {
	d := x.d
	x.start = button("Replay", true, x.replay)
	x.letStart(false)
	command := button("Show the command", false, x.command)
	command.Icon = d.icon("terminal", inkText)
	x.note = d.caption("")
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(8), button("Cancel", false, func() { x.dl.close() }), x.start)
	return inset(container.NewBorder(nil, nil, command, buttons, inset(x.note, 0, 12, 0, 16)), 12, 16, 12, 16)
}

// closed gives back what is open, unless a replay goes on with it.
func (x *replayDialog) closed() {
	x.stopCheck()
	if x.starting != nil {
		x.starting() // its end closes what is open
		return
	}
	x.close()
}

func (x *replayDialog) close() {
	run, d := x.run, x.d
	if run == nil {
		return
	}
	x.run = nil
	d.spawn(func() {
		if err := run.Close(context.Background()); err != nil {
			d.post(func() { d.frame.note(err.Error()) })
		}
	})
}

func (x *replayDialog) stopCheck() {
	if x.cancel != nil {
		x.cancel()
		x.cancel = nil
	}
}

func (x *replayDialog) checkOrCancel() {
	if x.cancel == nil {
		x.check()
		return
	}
	x.stopCheck()
	x.asked++
	x.say("Not checked", "check-pending", inkSoft, "Cancelled")
	x.checking(false)
}

// slowCheck is after how long the check that only compares sizes is offered.
const slowCheck = 2 * time.Second

// check makes the pre-flight for the choices.
func (x *replayDialog) check() {
	x.stopCheck()
	x.asked++
	asked, run, o := x.asked, x.run, x.choices.Options()
	if run == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	x.say("Checking…", "check-pending", inkSoft, "")
	x.checking(true)
	if !x.d.instantly && !x.choices.Quick {
		time.AfterFunc(slowCheck, func() {
			x.d.post(func() { setVisible(x.sizes, x.asked == asked && x.cancel != nil) })
		})
	}
	background(x.d, func() (*replay.Plan, error) { return run.Preflight(ctx, o) }, func(p *replay.Plan, err error) {
		cancel()
		if asked != x.asked || x.run == nil {
			return
		}
		x.cancel = nil
		x.checking(false)
		if err != nil {
			x.say("Not checked", "check-pending", inkSoft, "")
			x.d.fail("Check the replay", err)
			return
		}
		x.show(p)
	})
}

// checking shows whether a check is under way.
func (x *replayDialog) checking(on bool) {
	x.again.SetText(map[bool]string{true: "Cancel check", false: "Check again"}[on])
	x.letStart(false)
	x.sizes.Hide()
}

// say sets the line of the verdict.
func (x *replayDialog) say(verdict, icon string, c ink, caption string) {
	x.verdict.Set(verdict, inkText)
	x.badge.Resource = x.d.icon(icon, c)
	x.badge.Refresh()
	x.checked.Objects = nil
	if caption != "" && !x.d.frame.small {
		x.checked.Add(wide(x.d.caption(caption)))
	}
	x.band.Refresh()
}

// show shows a plan. What was checked before is marked where it is not so any more.
func (x *replayDialog) show(p *replay.Plan) {
	v := &presenter.ReplayView{Plan: p, Of: x.of, Choices: x.choices, Catalog: x.d.catalog, Sealed: x.sealed, Checked: x.d.now()}
	if x.moved && x.view != nil {
		v.Before = x.view.Plan
	}
	x.moved, x.view = false, v
	x.judged()
	x.estimated()
	x.plan.show()
	x.starts.show()
	x.vars.show()
	x.changes.show()
	x.page.Refresh()
	text, _ := presenter.VerdictText(p)
	x.d.event("replay %s %s", p.Verdict, text)
	if p.Verdict == replay.IsBlocked && x.d.away {
		x.d.notify("Replay of " + x.of.Name + ": " + strings.ToLower(text))
	}
	x.lookAtGates()
}

// judged shows the verdict and the checks.
func (x *replayDialog) judged() {
	x.checks.show()
	x.answered()
}

// answered shows the verdict, which changes with every tick.
func (x *replayDialog) answered() {
	p := x.view.Plan
	text, tone := presenter.VerdictText(p)
	icon := map[bool]string{true: "check-ok", false: "check-warn"}[tone == toneOK]
	note := "Makes a new execution linked to " + presenter.ShortID(x.of.ID) + ". The original is not touched."
	if tone == toneError {
		icon, note = "check-block", "Nothing runs until every block is gone or overridden with a reason."
	}
	if x.view.Before != nil {
		note = x.view.CheckedText()
	}
	x.say(text, icon, inkTone(tone), x.view.CheckedText())
	x.note.Set(note, nil)
	x.ready()
}

// ready opens the way when everything is safe and said.
func (x *replayDialog) ready() {
	problem := x.choices.ReasonProblem()
	x.problem.Set(problem, nil)
	x.letStart(x.view != nil && x.cancel == nil && x.view.Plan.Verdict == replay.Ready && problem == "")
}

// letStart opens or shuts the way; a picture on a button does not grey out by itself.
func (x *replayDialog) letStart(on bool) {
	x.start.Icon = x.d.icon("replay", map[bool]ink{true: inkOnPrimary, false: inkOff}[on])
	setEnabled(x.start, on)
}

// estimated shows what is reused and run.
func (x *replayDialog) estimated() {
	d := x.d
	x.estimate.Objects = nil
	for _, part := range x.view.Estimate() {
		x.estimate.Add(d.figure(part))
	}
	x.estimate.Refresh()
}

// lookAtGates asks once what the gates hold, which the list of start points tells.
func (x *replayDialog) lookAtGates() {
	run, starts := x.run, x.view.Plan.Starts
	if x.sealed != nil {
		return
	}
	x.sealed = map[string]presenter.SealedRows{}
	background(x.d, func() (map[string]presenter.SealedRows, error) {
		return presenter.LoadSealed(context.Background(), run, starts), nil
	},
		func(known map[string]presenter.SealedRows, _ error) {
			x.sealed = known
			if x.run == nil || x.view == nil {
				return
			}
			x.view.Sealed = known
			x.starts.show()
			x.checks.show()
			x.plan.draw()
		})
}

// startAt chooses a start point.
func (x *replayDialog) startAt(name string) {
	if name == x.choices.Start {
		return
	}
	x.choices.Start = name
	x.check()
}

// reasonChanged looks again only when the reason decides something.
func (x *replayDialog) reasonChanged(reason string) {
	had := x.choices.ReasonProblem() == ""
	x.choices.Reason = reason
	if len(x.choices.Overridden) > 0 && had != (x.choices.ReasonProblem() == "") {
		x.check()
		return
	}
	x.ready()
}
