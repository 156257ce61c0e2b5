// Package action is the contract between the workflow engine and the actions:
// how an action names its settings and what it may touch while it runs.
//
// A Definition says what an action is; Define makes one from a tagged settings
// struct, with the tags of engine/transform. A Result is what one action hands to
// the next: outcome, counters, rows and files. Env gives an action everything it
// may touch.
//
// Families of actions live in engine/actions; the engine that runs them in
// engine/workflow.
package action

import (
	"context"
	"iter"

	"sluice/engine/transform"
)

// Settings is what a pointer to a settings struct implements. Optional ability:
// Checker.
type Settings interface {
	// Run does the work of the action. r is the action's own copy of what the
	// previous action left; the action changes it and sets r.OK. Rows are
	// replaced with SetRows, which keeps the count of their holders right.
	//
	// A returned error is logged and makes the result a failure with at least one
	// error; what only decides the way to go (a file that is not there) is no
	// error, but r.OK = false.
	Run(ctx context.Context, env *Env, r *Result) error
}

// Checker is implemented by settings with rules that tags cannot state.
type Checker interface {
	Check(d Design) iter.Seq[transform.Problem]
}

// Repeater is implemented by the settings of a start action that may ask for the
// workflow to be run again and again.
type Repeater interface{ Repeats() bool }

// Design is what Check may ask.
type Design interface {
	transform.Resolver
	// Connection says whether the project has a database connection.
	Connection(name string) bool
}

// Category groups actions in the palette.
type Category string

// The categories, in palette order.
const (
	CategoryGeneral Category = "General"
	CategoryFlow    Category = "Conditions"
	CategoryFiles   Category = "Files"
	CategoryScript  Category = "Scripting"
	CategorySQL     Category = "Database"
	CategoryWeb     Category = "Web"
)

// About is what a person reads of an action, and its id.
type About struct {
	ID       string   // value of <type>; never changes; matched without regard to case
	Aliases  []string // other ids of the same action
	Name     string
	Category Category
	Summary  string // one sentence
	// Unconditional says that the action has no outcome: success and failure hops
	// out of it are never followed.
	Unconditional bool
	// KeepsErrors says that the error count of the previous action is not set to
	// 0 before the action runs.
	KeepsErrors bool
	// Joins says that parallel branches meet here and go on as one.
	Joins bool
	// ReadsOnly says that the action changes nothing outside of the workflow: it
	// may be repeated or bypassed without harm.
	ReadsOnly bool
	// Targets lists settings (tag paths) that name what the action writes to.
	Targets []string
}

// Targeted is implemented by the settings of actions that change something
// outside: what a second run of the action would do.
type Targeted interface {
	WritesTo(r transform.Resolver) transform.Target
}
