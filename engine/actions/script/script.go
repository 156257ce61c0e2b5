// Package script holds the actions that run scripts and commands.
//
// Actions lists them.
package script

import "sluice/engine/action"

// Actions is the family.
var Actions = []action.Definition{
	Eval,
	Shell,
}
