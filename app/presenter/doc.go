// Package presenter is the state of the desktop and its decisions, in plain Go: open
// files with their history, edits behind gestures, property forms, runs, the palette
// and the table of actions.
//
// A File is one open document, a Form the settings of one node being edited, a
// Session one run. Nothing here knows a window, so everything is tested without one.
// Unless it says otherwise, a value belongs to the goroutine of the user interface;
// functions that read or write disks or run pipelines say so and are called from
// others.
package presenter
