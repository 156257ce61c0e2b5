//go:build !headless

package desktop

import (
	"fyne.io/fyne/v2"

	"sluice/app/presenter"
)

// watchFocus notes whether the user looks at the window.
func (d *Desktop) watchFocus() {
	l := d.app.Lifecycle()
	l.SetOnEnteredForeground(func() { d.away = false })
	l.SetOnExitedForeground(func() { d.away = true })
}

// notify tells the system that something ended or waits for the user, when he wants
// to know.
func (d *Desktop) notify(text string) {
	if !d.memory.Notify.Wanted(d.away) {
		return
	}
	d.event("notified %s", text)
	// The system may be slow to answer, or not answer at all.
	d.spawn(func() { d.app.SendNotification(fyne.NewNotification("Sluice", text)) })
}

// askNotify asks when the user wants to be told.
func (d *Desktop) askNotify() {
	set := func(n presenter.Notify) func() {
		return func() {
			d.memory.Notify = n
			d.remember()
			d.event("notify %s", n)
		}
	}
	now := d.memory.Notify
	d.ask("Notifications", "When a run ends, or a replay is blocked, the system can tell you. Now: "+now.String()+".",
		answer{"Never", now == presenter.NotifyNever, set(presenter.NotifyNever)},
		answer{"Always", now == presenter.NotifyAlways, set(presenter.NotifyAlways)},
		answer{"While I look elsewhere", now == presenter.NotifyAway, set(presenter.NotifyAway)})
}
