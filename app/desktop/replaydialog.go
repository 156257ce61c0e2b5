//go:build !headless

package desktop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/app/workspace"
	sluicecanvas "sluice/canvas"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/gate"
	"sluice/engine/replay"
)

// replayDialog plans a replay with a person and starts it.
type replayDialog struct {
	d       *Desktop
	of      *presenter.ExecutionDetail
	run     *workspace.Replaying
	choices *presenter.ReplayChoices
	plan    *replay.Plan
	asked   int

	dl       *dialog
	verdict  *words
	badge    *canvas.Image
	graph    *sluicecanvas.Graph
	starts   *widget.RadioGroup
	why      *words
	checks   *fyne.Container
	changes  *fyne.Container
	vars     *fyne.Container
	reason   *field
	problem  *words
	estimate *words
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
		return workspace.OpenReplay(context.Background(), d.history, workspace.ReplayOptions{Execution: of.ID, Options: workspace.Options{Log: log}})
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

func (x *replayDialog) open() {
	d := x.d
	x.verdict, x.why, x.problem, x.estimate = d.bold("Checking…", 16), d.caption(""), d.words("", captionSize, inkTone(toneError)), d.caption("")
	x.badge = canvas.NewImageFromResource(nil)
	x.badge.FillMode = canvas.ImageFillContain
	x.graph = sluicecanvas.NewGraph(sluicecanvas.Config{Fonts: d.fonts, Theme: d.look.Theme})
	x.starts = widget.NewRadioGroup(nil, func(s string) { x.chooseStart(s) })
	legend := container.NewHBox()
	for _, l := range []struct {
		state scene.State
		word  string
	}{{scene.StateReused, "Reuse, nothing opened"}, {scene.StateRunning, "Run"}, {scene.StateStopped, "Not run"}, {scene.StateFailed, "Blocked"}} {
		pic := canvas.NewImageFromResource(d.icon(l.state.Icon(), inkTone(l.state.Tone())))
		pic.FillMode = canvas.ImageFillContain
		legend.Add(inset(container.NewHBox(container.NewCenter(sized(pic, 14, 14)), container.NewCenter(wide(d.caption(l.word)))), 0, 8, 0, 0))
	}
	starts := container.NewBorder(panel(inset(d.bold("Start point", textSize), 6, 8, 6, 12), theme.ColorNameHeaderBackground), inset(x.why, 2, 12, 4, 12), nil, nil,
		container.NewVScroll(inset(x.starts, 0, 8, 0, 8)))
	upper := container.NewBorder(nil, inset(legend, 4, 8, 4, 12), nil, nil, x.graph)
	left := container.NewVSplit(upper, starts)
	left.SetOffset(0.55)

	x.checks, x.changes, x.vars = container.NewVBox(), container.NewVBox(), container.NewVBox()
	x.reason = d.field("", "Kept with the replay; needed for an override", func(s string) { x.choices.Reason = s; x.checkSoon() })
	again := button("Check again", false, func() { x.check() })
	head := inset(container.NewBorder(nil, nil, container.NewCenter(sized(x.badge, 20, 20)), again, inset(x.verdict, 0, 8, 0, 10)), 6, 4, 6, 12)
	pages := newSwitcher(d)
	pages.add("Checks", container.NewVScroll(inset(x.checks, 4, 12, 4, 12)))
	pages.add("Variables", container.NewVScroll(inset(x.vars, 4, 12, 4, 12)))
	pages.add("Definition", container.NewVScroll(inset(x.changes, 4, 12, 4, 12)))
	foot := inset(container.NewVBox(d.caption("Reason for this replay"), x.reason, x.problem), 4, 12, 4, 12)
	right := container.NewBorder(container.NewVBox(head, panel(pages.head, theme.ColorNameHeaderBackground)), foot, nil, nil, pages.stack)

	split := container.NewHSplit(left, right)
	split.SetOffset(0.46)
	body := container.NewBorder(nil, panel(inset(x.estimate, 6, 12, 6, 12), theme.ColorNameHeaderBackground), nil, nil, split)
	x.start = button("Replay", true, x.replay)
	x.start.Disable()
	command := button("Show the command", false, x.command)
	x.dl = d.dialog("Replay "+x.of.Name, "Execution "+presenter.ShortID(x.of.ID)+" · "+strings.ToLower(string(x.of.State))+" "+x.of.Ended.Local().Format("2 Jan 2006 15:04"), body,
		fyne.NewSize(1264, 820), d.caption("Makes a new execution linked to this one. The original is not touched."), command, button("Cancel", false, func() { x.dl.close() }), x.start)
	x.dl.onClose = func() {
		run := x.run
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
}

// check makes the pre-flight for the choices.
func (x *replayDialog) check() {
	x.asked++
	asked, run, o := x.asked, x.run, x.choices.Options()
	if run == nil {
		return
	}
	x.start.Disable()
	x.verdict.Set("Checking…", inkText)
	background(x.d, func() (*replay.Plan, error) { return run.Preflight(context.Background(), o) }, func(p *replay.Plan, err error) {
		if asked != x.asked || x.run == nil {
			return
		}
		if err != nil {
			x.d.fail("Check the replay", err)
			return
		}
		x.show(p)
	})
}

// checkSoon is check after a change of text: only what the reason decides.
func (x *replayDialog) checkSoon() {
	x.problem.Set(x.choices.ReasonProblem(), nil)
	if len(x.choices.Options().Overrides) > 0 {
		x.check()
	}
}

func (x *replayDialog) show(p *replay.Plan) {
	x.plan = p
	text, tone := presenter.VerdictText(p)
	x.verdict.Set(text, inkTone(tone))
	icon := map[scene.Tone]string{toneError: "check-block", toneWarn: "check-warn", toneOK: "check-ok"}[tone]
	x.badge.Resource = x.d.icon(icon, inkTone(tone))
	x.badge.Refresh()
	x.problem.Set(x.choices.ReasonProblem(), nil)
	setEnabled(x.start, p.Verdict == replay.Ready && x.choices.ReasonProblem() == "")
	x.estimate.Set(presenter.EstimateText(p, workspace.FormatBytes), nil)
	x.drawPlan(p)
	x.showStarts(p)
	x.showChecks(p)
	x.showVariables(p)
	x.showChanges(p)
	x.d.event("replay %s %s", p.Verdict, text)
	if p.Verdict == replay.IsBlocked && x.d.away {
		x.d.notify("Replay of " + x.of.Name + ": " + strings.ToLower(text))
	}
}

func (x *replayDialog) drawPlan(p *replay.Plan) {
	f, err := x.of.Graph(x.d.catalog)
	if err != nil || f == nil {
		return
	}
	x.graph.SetGraph(f.Scene(presenter.PlanView(p, "")))
	x.graph.Fit()
}

func (x *replayDialog) showStarts(p *replay.Plan) {
	var names []string
	for _, s := range p.Starts {
		names = append(names, startName(s))
		if s.Name == p.Start {
			x.why.Set(s.Why, nil)
		}
	}
	x.starts.Options = names
	for _, s := range p.Starts {
		if s.Name == p.Start {
			x.starts.Selected = startName(s)
			break
		}
	}
	x.starts.Refresh()
}

func startName(s replay.StartPoint) string {
	name := map[string]string{"first-failed": "First failed step", "start": "Whole run from the start: sources are read again", "gate": "Gate: " + s.Name, "action": "Action: " + s.Name}[s.Kind]
	if !s.Usable {
		name += " (not usable: " + s.Why + ")"
	}
	return name
}

func (x *replayDialog) chooseStart(name string) {
	if x.plan == nil || name == "" {
		return
	}
	for _, s := range x.plan.Starts {
		if startName(s) != name || s.Name == x.choices.Start {
			continue
		}
		if !s.Usable {
			x.showStarts(x.plan)
			x.why.Set("Not usable: "+s.Why, inkTone(toneWarn))
			return
		}
		x.choices.Start = s.Name
		x.check()
		return
	}
}

// showChecks lists what blocks and warns; what passed is one folded line when
// something does not.
func (x *replayDialog) showChecks(p *replay.Plan) {
	d := x.d
	x.checks.Objects = nil
	var passed []string
	for _, c := range presenter.SortedChecks(p) {
		if c.Status == gate.OK {
			passed = append(passed, c.What)
			continue
		}
		x.checks.Add(x.checkCard(c))
	}
	if len(passed) > 0 {
		list := container.NewVBox()
		for _, what := range passed {
			pic := canvas.NewImageFromResource(d.icon("check-ok", inkTone(toneOK)))
			pic.FillMode = canvas.ImageFillContain
			list.Add(container.NewBorder(nil, nil, container.NewCenter(sized(pic, 14, 14)), nil, inset(d.soft(what), 2, 0, 2, 8)))
		}
		fold := widget.NewAccordion(widget.NewAccordionItem(presenter.Plural(int64(len(passed)), "check")+" passed", list))
		if p.Verdict != replay.IsBlocked {
			fold.Open(0)
		}
		x.checks.Add(fold)
	}
	x.checks.Refresh()
}

func (x *replayDialog) checkCard(c replay.Check) fyne.CanvasObject {
	d := x.d
	icon, tone := "info", toneNeutral
	switch {
	case c.Status == gate.Block && !c.Overridden:
		icon, tone = "check-block", toneError
	case c.Status == gate.Block, c.Status == gate.Warn:
		icon, tone = "check-warn", toneWarn
	}
	pic := canvas.NewImageFromResource(d.icon(icon, inkTone(tone)))
	pic.FillMode = canvas.ImageFillContain
	what := paragraph(c.What)
	what.TextStyle.Bold = c.Status == gate.Block || c.Status == gate.Warn
	box := container.NewVBox(what)
	if c.Then != "" || c.Now != "" {
		thenText, nowText := presenter.ShortDiff(c.Then, c.Now)
		then, now := d.words("then  "+shownValue(thenText), 13, inkText), d.words("now   "+shownValue(nowText), 13, inkText)
		then.style.Monospace, now.style.Monospace = true, true
		box.Add(inset(then, 0, 8, 0, 8))
		box.Add(inset(now, 0, 8, 4, 8))
	}
	if c.Do != "" {
		box.Add(inset(d.caption(capital(c.Do)), 0, 8, 4, 8))
	}
	switch {
	case c.Acknowledge:
		check := widget.NewCheck("I have read this; go on all the same", nil)
		check.Checked = c.Acknowledged
		check.OnChanged = func(on bool) { x.choices.Acknowledged[c.ID] = on; x.check() }
		box.Add(check)
	case c.Status == gate.Block && c.Overridable:
		check := widget.NewCheck("Override, with the reason below", nil)
		check.Checked = x.choices.Overridden[c.ID]
		check.OnChanged = func(on bool) { x.choices.Overridden[c.ID] = on; x.check() }
		box.Add(check)
	}
	return inset(d.outlined(inset(container.NewBorder(nil, nil, container.NewVBox(inset(sized(pic, 18, 18), 8, 4, 0, 4)), nil, box), 2, 8, 2, 8)), 0, 0, 6, 0)
}

func shownValue(s string) string {
	if s == "" {
		return "not set"
	}
	return strings.ReplaceAll(s, "\n", " ⏎ ")
}

// mostVariables is how many variables can be changed here; the command takes all.
const mostVariables = 60

func (x *replayDialog) showVariables(p *replay.Plan) {
	d := x.d
	x.vars.Objects = nil
	for i, v := range p.Variables {
		if i == mostVariables {
			x.vars.Add(d.soft(fmt.Sprintf("%d more; the command can change them with --var", len(p.Variables)-i)))
			break
		}
		name := d.words(v.Name, 12, inkText)
		name.style.Monospace = true
		if v.Secret {
			x.vars.Add(container.NewBorder(nil, nil, sized(name, 220, 0), nil, d.soft("secret: the present value is used")))
			continue
		}
		entry := d.field(v.Used, v.Original, nil)
		entry.OnSubmitted = func(s string) { x.give(v, s) }
		note := ""
		switch {
		case v.From == "given":
			note = "changed, was " + v.Original
		case v.Current != v.Original && v.Current != "":
			note = "the project says " + v.Current
		}
		reset := d.tool("undo", "Back to the recorded value", func() { x.give(v, v.Original) })
		if v.From != "given" {
			reset.disabled = true
		}
		x.vars.Add(container.NewBorder(nil, nil, sized(name, 220, 0), reset, container.NewVBox(entry, d.caption(note))))
	}
	if len(p.Variables) == 0 {
		x.vars.Add(d.soft("The run had no variables."))
	}
	x.vars.Refresh()
}

// give uses a value for a variable; the recorded one is no choice.
func (x *replayDialog) give(v replay.VariableUse, value string) {
	if value == v.Original {
		delete(x.choices.Given, v.Name)
	} else {
		x.choices.Given[v.Name] = value
	}
	x.check()
}

func (x *replayDialog) showChanges(p *replay.Plan) {
	d := x.d
	x.changes.Objects = nil
	original := widget.NewCheck("Run the files as they ran then, not as they are now", nil)
	original.Checked = x.choices.Original
	original.OnChanged = func(on bool) { x.choices.Original = on; x.check() }
	x.changes.Add(original)
	if len(p.Changes) == 0 {
		x.changes.Add(d.soft("Nothing has changed since the run."))
	}
	for _, c := range p.Changes {
		place := c.Node
		if c.Setting != "" {
			place += ", " + c.Setting
		}
		thenText, nowText := presenter.ShortDiff(c.Then, c.Now)
		then, now := d.words("then  "+shownValue(thenText), 13, inkText), d.words("now   "+shownValue(nowText), 13, inkText)
		then.style.Monospace, now.style.Monospace = true, true
		x.changes.Add(inset(container.NewVBox(d.bold(place, textSize), then, now), 4, 0, 4, 0))
	}
	x.changes.Refresh()
}

// command shows the line that does the same.
func (x *replayDialog) command() {
	if x.plan == nil {
		return
	}
	line := presenter.ReplayCommand(x.plan, x.choices)
	entry := widget.NewMultiLineEntry()
	entry.SetText(line)
	entry.Wrapping = fyne.TextWrapBreak
	entry.TextStyle.Monospace = true
	var dl *dialog
	dl = x.d.dialog("The same replay as a command", "", entry, fyne.NewSize(640, 220), nil,
		button("Copy", false, func() { x.d.app.Clipboard().SetContent(line) }), button("Close", true, func() { dl.close() }))
	x.d.event("command %s", line)
}

// replay starts the plan. The dialog closes once the new execution is on its way.
func (x *replayDialog) replay() {
	run, plan, o := x.run, x.plan, x.choices.Options()
	if run == nil || plan == nil {
		return
	}
	x.start.Disable()
	x.asked++
	d := x.d
	d.spawn(func() {
		r, err := run.Prepare(context.Background(), plan, o)
		if err != nil {
			d.post(func() { d.fail("Replay "+x.of.Name, err) })
			return
		}
		started := false
		r.Started = func(id string, _ replay.Runnable) {
			started = true
			d.post(func() {
				x.run = nil // it is closed at the end of the replay
				x.dl.close()
				d.event("replay started %s", id)
				d.goTo(placeExecutions)
				d.runs.wanted = id
			})
		}
		id, result, err := r.Run(context.Background())
		for _, b := range result.Rows {
			b.Release()
		}
		cerr := error(nil)
		if started {
			cerr = run.Close(context.Background())
		}
		d.post(func() { x.ended(id, started, result.OK, errors.Join(err, cerr)) })
	})
}

func (x *replayDialog) ended(id string, started, succeeded bool, err error) {
	d := x.d
	var open *replay.NotReadyError
	switch {
	case !started && (errors.Is(err, replay.ErrMoved) || errors.As(err, &open)):
		d.frame.note("Something changed since the check. Checked again.")
		x.check()
		return
	case !started:
		d.fail("Replay "+x.of.Name, err)
		return
	}
	word := "succeeded"
	if !succeeded {
		word = "failed"
	}
	d.event("replay ended %s %s", id, word)
	d.notify("Replay of " + x.of.Name + " " + word)
	d.showExecution(id)
}
