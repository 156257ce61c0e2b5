//go:build !headless

package desktop

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"sluice/app/presenter"
)

// logPanel follows the log of runs.
type logPanel struct {
	e      *editor
	lines  []presenter.LogLine
	next   int
	list   *widget.List
	follow bool
	all    fyne.CanvasObject
}

func newLogPanel(e *editor) *logPanel {
	l := &logPanel{e: e, follow: true}
	l.list = widget.NewList(func() int { return len(l.lines) }, func() fyne.CanvasObject {
		mono := e.d.words("", 12, inkSoft)
		mono.style.Monospace = true
		text := e.d.words("", 12, inkText)
		text.style.Monospace = true
		return inset(container.NewBorder(nil, nil, sized(mono, 96, 18), nil, text), 0, 8, 0, 8)
	}, func(id widget.ListItemID, o fyne.CanvasObject) {
		line := l.lines[id]
		row := o.(*fyne.Container).Objects[0].(*fyne.Container)
		row.Objects[1].(*fyne.Container).Objects[0].(*words).Set(line.Time.Format("15:04:05.000"), nil)
		text := line.Text
		if line.Transform != "" {
			text = line.Transform + " - " + text
		}
		if line.Level != "" {
			text = strings.ToUpper(line.Level) + " " + text
		}
		c := inkText
		if line.Error {
			c = inkTone(toneError)
		}
		row.Objects[0].(*words).Set(strings.ReplaceAll(text, "\n", " ⏎ "), c)
	})
	l.list.HideSeparators = true
	l.list.OnSelected = func(id widget.ListItemID) {
		l.list.UnselectAll()
		line := l.lines[id]
		text := line.Text
		if line.Transform != "" {
			text = line.Transform + "\n\n" + text
		}
		e.d.tell(line.Time.Format("15:04:05.000")+" "+line.Level, text)
	}
	l.all = container.NewStack(l.list, emptyNote(e.d, "log", "The log is empty", "What a run says appears here."))
	l.list.Hide()
	return l
}

// update takes over new lines.
func (l *logPanel) update() {
	more, next := l.e.log.Lines(l.next)
	l.next = next
	if len(more) == 0 {
		return
	}
	l.lines = append(l.lines, more...)
	reveal(l.all, true)
	l.list.Refresh()
	if l.follow {
		l.list.ScrollToBottom()
	}
}

func (l *logPanel) clear() {
	l.e.log.Clear()
	_, l.next = l.e.log.Lines(1 << 60)
	l.lines = nil
	l.list.Refresh()
}
