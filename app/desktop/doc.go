// Package desktop is the window: perspectives, dialogs, forms, menus and keys over
// the state of package presenter.
//
// Widgets show and call back; what a click means is decided in presenter. All of it
// belongs to the goroutine of the user interface. Disks, databases and runs are used
// on other goroutines (Desktop.background), and what they tell comes back through
// one door (Desktop.post), the metrics of runs through one bridge that ticks every
// 100 ms.
package desktop
