// Package web holds the actions that speak to servers.
//
// Actions lists them.
package web

import "sluice/engine/action"

// Actions is the family.
var Actions = []action.Definition{
	HTTP,
	Mail,
}
