//go:build !headless

package desktop

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// dialog is a modal card: title, body, a footer of buttons.
type dialog struct {
	d       *Desktop
	pop     *widget.PopUp
	footer  *fyne.Container
	onClose func()
	onEnter func()
	cancel  func() // what Escape does; nil closes
	title   string
	tips    *tipLayer // over the card
	below   *tipLayer // that showed them before
}

// dialog opens a card of a size; it shrinks to the window less 32. Buttons stand at
// the right of the footer, status at its left (may be nil).
func (d *Desktop) dialog(title, subtitle string, body fyne.CanvasObject, size fyne.Size, status fyne.CanvasObject, buttons ...fyne.CanvasObject) *dialog {
	dl := &dialog{d: d, title: title}
	head := container.NewVBox(d.bold(title, 16))
	if subtitle != "" {
		head.Add(d.soft(subtitle))
	}
	if status == nil {
		status = layout.NewSpacer()
	}
	dl.footer = container.NewBorder(nil, nil, nil, container.New(layout.NewCustomPaddedHBoxLayout(8), buttons...), status)
	foot := container.NewVBox(widget.NewSeparator(), inset(dl.footer, 8, 20, 10, 20))
	content := container.NewBorder(inset(head, 14, 20, 8, 20), foot, nil, nil, inset(body, 0, 20, 8, 20))
	dl.open(content, size, 32)
	return dl
}

// popPadding is what a pop-up leaves free around its content.
const popPadding = 4

// sheet opens a card that lays out its whole area itself; it shrinks to the window
// less a margin.
func (d *Desktop) sheet(title string, content fyne.CanvasObject, size fyne.Size, margin float32) *dialog {
	dl := &dialog{d: d, title: title}
	dl.open(inset(content, -popPadding, 1-popPadding, -popPadding, -popPadding), size, margin)
	return dl
}

func (dl *dialog) open(content fyne.CanvasObject, size fyne.Size, margin float32) {
	d := dl.d
	dl.tips, dl.below = newTipLayer(d), d.tips
	dl.pop = widget.NewModalPopUp(container.NewThemeOverride(container.NewStack(content, dl.tips.box), flatLook{d}), d.win.Canvas())
	dl.tips.in = dl.pop
	area := d.win.Canvas().Size()
	size = fyne.NewSize(min(size.Width, area.Width-margin), min(size.Height, area.Height-margin))
	dl.pop.Resize(size.Max(fyne.NewSize(0, content.MinSize().Height)).Min(fyne.NewSize(area.Width-16, area.Height-16)))
	d.dialogs = append(d.dialogs, dl)
	d.tips.hide()
	d.tips = dl.tips
	dl.pop.Show()
	d.event("dialog %s", dl.title)
}

// isOpen tells whether the card is there.
func (dl *dialog) isOpen() bool { return slices.Contains(dl.d.dialogs, dl) }

// close closes the card.
func (dl *dialog) close() {
	for i, o := range dl.d.dialogs {
		if o == dl {
			dl.d.dialogs = append(dl.d.dialogs[:i], dl.d.dialogs[i+1:]...)
			dl.pop.Hide()
			dl.giveTipsBack()
			if dl.onClose != nil {
				dl.onClose()
			}
			break
		}
	}
	if len(dl.d.dialogs) == 0 {
		dl.d.focusCanvas()
	}
}

// giveTipsBack lets the tool tips show below the card again.
func (dl *dialog) giveTipsBack() {
	dl.tips.hide()
	if dl.d.tips == dl.tips {
		dl.d.tips = dl.below
	}
	for _, o := range dl.d.dialogs {
		if o.below == dl.tips {
			o.below = dl.below
		}
	}
}

// button is a button of a footer.
func button(label string, primary bool, do func()) *widget.Button {
	b := widget.NewButton(label, do)
	if primary {
		b.Importance = widget.HighImportance
	}
	return b
}

// tell shows a message with one button.
func (d *Desktop) tell(title, text string) {
	var dl *dialog
	ok := button("Close", true, func() { dl.close() })
	dl = d.dialog(title, "", container.NewVScroll(paragraph(text)), fyne.NewSize(480, 200), nil, ok)
	dl.onEnter = func() { dl.close() }
}

// fail shows an error: what is wrong, and what to do.
func (d *Desktop) fail(doing string, err error) {
	message, hint := explain(err)
	d.event("error %s: %s", doing, message)
	var dl *dialog
	ok := button("Close", true, func() { dl.close() })
	icon := widget.NewIcon(d.icon("state-failed", inkTone(toneError)))
	text := message
	if hint != "" {
		text += "\n\n" + capital(hint) + "."
	}
	body := container.NewBorder(nil, nil, container.NewVBox(inset(sized(icon, 24, 24), 6, 8, 0, 0)), nil, container.NewVScroll(paragraph(text)))
	dl = d.dialog(doing, "", body, fyne.NewSize(520, 220), nil, ok)
	dl.onEnter = func() { dl.close() }
}

// answer is a button of ask.
type answer struct {
	label   string
	primary bool
	do      func()
}

// ask shows a question with its answers; Escape does none of them.
func (d *Desktop) ask(title, text string, answers ...answer) *dialog {
	var dl *dialog
	var buttons []fyne.CanvasObject
	for _, a := range answers {
		buttons = append(buttons, button(a.label, a.primary, func() {
			dl.close()
			if a.do != nil {
				a.do()
			}
		}))
	}
	dl = d.dialog(title, "", container.NewVScroll(paragraph(text)), fyne.NewSize(520, 190), nil, buttons...)
	for _, a := range answers {
		if a.primary {
			dl.onEnter = func() {
				dl.close()
				if a.do != nil {
					a.do()
				}
			}
		}
	}
	return dl
}

// input asks for a text. check gives a sentence about a text that is not usable.
func (d *Desktop) input(title, label, value, okLabel string, check func(string) string, do func(string)) {
	var dl *dialog
	hint := d.words("", captionSize, inkTone(toneError))
	entry := d.field(value, "", nil)
	ok := button(okLabel, true, nil)
	valid := func(s string) bool {
		problem := ""
		if check != nil {
			problem = check(s)
		}
		hint.Set(problem, nil)
		return problem == ""
	}
	entry.OnChanged = func(s string) { setEnabled(ok, valid(s)) }
	apply := func() {
		if valid(entry.Text) {
			dl.close()
			do(entry.Text)
		}
	}
	ok.OnTapped = apply
	entry.OnSubmitted = func(string) { apply() }
	body := container.NewVBox(d.caption(label), entry, hint)
	dl = d.dialog(title, "", body, fyne.NewSize(440, 180), nil, button("Cancel", false, func() { dl.close() }), ok)
	d.focus(entry)
	entry.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func setEnabled(b *widget.Button, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// separator is a vertical line for tool bars.
func separator() fyne.CanvasObject {
	return inset(sized(newGround(theme.ColorNameSeparator), 1, 0), 8, 3, 8, 3)
}
