//go:build !headless

package desktop

import (
	"net/url"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/engine/gate"
	"sluice/engine/replay"
)

// checkList lists the checks of a plan: what blocks, what wants an answer, what is
// told, and what passed as one line that unfolds.
type checkList struct {
	x    *replayDialog
	box  *fyne.Container
	open map[bool]bool // whether the passed ones are shown, by whether something blocks; absent: as the design has it
}

func newCheckList(x *replayDialog) *checkList {
	return &checkList{x: x, box: container.New(layout.NewCustomPaddedVBoxLayout(0)), open: map[bool]bool{}}
}

func (l *checkList) show() {
	v := l.x.view
	blocked := v.Plan.Verdict == replay.IsBlocked
	l.box.Objects = nil
	if !blocked {
		l.passed(blocked)
	}
	for _, c := range v.Cards(l.x.d.now()) {
		l.box.Add(l.card(c))
		l.box.Add(widget.NewSeparator())
	}
	if blocked {
		l.passed(blocked)
	}
	l.x.page.Refresh()
}

// passed is the line of what is OK.
func (l *checkList) passed(blocked bool) {
	d, list := l.x.d, l.x.view.Passed()
	if len(list) == 0 {
		return
	}
	open, chosen := l.open[blocked]
	if !chosen {
		open = !blocked && !d.frame.small
	}
	word, icon := "Show", "chevron-down"
	if open {
		word, icon = "Hide", "chevron-up"
	}
	toggle := d.flat(icon, word, "", func() { l.open[blocked] = !open; l.show() })
	toggle.inkOf, toggle.bold = inkPrimary, true
	names := make([]string, 0, len(list))
	for _, p := range list {
		names = append(names, strings.ToLower(p.Name))
	}
	title := presenter.Plural(int64(len(list)), "check") + " passed"
	row := newCutRow(container.NewHBox(container.NewCenter(d.tinted("check-ok", toneOK, 18)), container.NewCenter(wide(d.bold(title, textSize)))), d.caption(strings.Join(names, ", ")))
	l.box.Add(sized(inset(container.NewBorder(nil, nil, nil, container.NewCenter(toggle), row), 0, 12, 0, 16), 0, 34))
	if open {
		grid := container.NewGridWithColumns(2)
		if d.frame.small {
			grid = container.NewGridWithColumns(1)
		}
		for _, p := range list {
			grid.Add(newCutRow(container.NewHBox(container.NewCenter(d.tinted("check-ok", toneOK, 14)), container.NewCenter(wide(d.words(p.Name, captionSize, inkText)))), d.caption(p.Note)))
		}
		l.box.Add(widget.NewSeparator())
		l.box.Add(inset(grid, 6, 16, 8, 42))
	}
	l.box.Add(widget.NewSeparator())
}

// tinted is an icon in the ink of a tone.
func (d *Desktop) tinted(icon string, tone scene.Tone, size float32) fyne.CanvasObject {
	pic := canvas.NewImageFromResource(d.icon(icon, inkTone(tone)))
	pic.FillMode = canvas.ImageFillContain
	return sized(pic, size, size)
}

// mostBeside is how many buttons stand beside the words of a card.
const mostBeside = 2

func (l *checkList) card(c presenter.ReplayCard) fyne.CanvasObject {
	d := l.x.d
	icon, tone := "info", toneNeutral
	switch c.Status {
	case gate.Block:
		icon, tone = "check-block", toneError
	case gate.Warn:
		icon, tone = "check-warn", toneWarn
	}
	fixes := container.NewHBox()
	for _, f := range c.Fixes {
		b := button(f.Label, false, func() { l.x.fix(f, c.Title) })
		b.Icon = d.icon(f.Icon, inkText)
		fixes.Add(b)
	}
	title := d.bold(c.Title, textSize)
	var head fyne.CanvasObject = title
	if c.Moved {
		head = container.NewBorder(nil, nil, nil, container.NewCenter(d.tag("Changed")), title)
	}
	box := container.New(layout.NewCustomPaddedVBoxLayout(0), inset(head, 2, 0, 0, 0), d.wrapped(c.Text))
	if c.Then != "" || c.Now != "" {
		box.Add(d.thenNow(c.Then, c.Now))
	}
	if c.Ask != "" {
		check := widget.NewCheck(c.Ask, func(on bool) { l.x.acknowledge(c.ID, on) })
		check.Checked = c.Ticked
		box.Add(inset(check, 0, 0, 0, -6))
	}
	var beside fyne.CanvasObject
	most := mostBeside
	if d.frame.small {
		most = 1
	}
	if len(c.Fixes) <= most {
		beside = container.NewVBox(fixes)
	} else { // so that the sentence keeps its width
		box.Add(inset(fixes, 4, 0, 0, 0))
	}
	body := container.NewBorder(nil, nil, container.NewVBox(inset(d.tinted(icon, tone, 18), 2, 8, 0, 0)), beside, box)
	card := inset(body, 8, 16, 8, 16)
	if tone == toneNeutral {
		return card
	}
	return container.NewStack(newFill(d, inkOfGround(tone)), card)
}

// wrapped is a caption that wraps.
func (d *Desktop) wrapped(text string) fyne.CanvasObject {
	t := widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: theme.ColorNamePlaceHolder, SizeName: theme.SizeNameCaptionText}})
	t.Wrapping = fyne.TextWrapWord
	return inset(t, -5, -4, -5, -8)
}

// thenNow sets two values under each other, from where they differ.
func (d *Desktop) thenNow(then, now string) fyne.CanvasObject {
	thenText, nowText := presenter.ShortDiff(then, now)
	line := func(word, value string) fyne.CanvasObject {
		return container.NewBorder(nil, nil, sized(d.caption(word), 56, 0), nil, d.mono(shownValue(value)))
	}
	return inset(container.New(layout.NewCustomPaddedVBoxLayout(0), line("then", thenText), line("now", nowText)), 2, 0, 2, 0)
}

func shownValue(s string) string {
	if s == "" {
		return "not set"
	}
	return strings.ReplaceAll(s, "\n", " ⏎ ")
}

// acknowledge takes an answer; nothing has to be looked at again for it.
func (x *replayDialog) acknowledge(id string, on bool) {
	x.choices.Acknowledged[id] = on
	x.view.Plan.Acknowledge(x.choices.Names())
	x.answered() // the ticks stay, and keep the focus
	text, _ := presenter.VerdictText(x.view.Plan)
	x.d.event("replay %s %s", x.view.Plan.Verdict, text)
}

// fix does what a button beside a check says.
func (x *replayDialog) fix(f presenter.ReplayFix, title string) {
	d := x.d
	switch f.Kind {
	case presenter.FixOverride:
		x.override(f.Target, title)
	case presenter.FixTakeBack:
		delete(x.choices.Overridden, f.Target)
		x.check()
	case presenter.FixStart:
		x.startAt(f.Target)
	case presenter.FixReset:
		x.vars.reset(f.Target)
	case presenter.FixFull:
		x.choices.Quick = false
		x.check()
	case presenter.FixExecution:
		x.dl.close()
		d.showExecution(f.Target)
	case presenter.FixOpen:
		x.dl.close()
		d.openDefinition(f.Target, f.Node)
	case presenter.FixReveal:
		if err := d.app.OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(f.Target)}); err != nil {
			d.fail("Open "+filepath.Base(f.Target), err)
		}
	}
}

// override asks for the reason, which is kept with the new execution.
func (x *replayDialog) override(id, title string) {
	x.d.input("Override: "+title, "Reason, at least 10 characters; kept in the lineage of the replay", x.choices.Reason, "Override", presenter.OverrideProblem, func(reason string) {
		x.choices.Overridden[id] = true
		x.choices.Reason = reason
		x.reason.Text = reason
		x.reason.Refresh()
		x.check()
	})
}
