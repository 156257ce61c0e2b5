// Package actions joins the families of actions.
package actions

import (
	"sluice/engine/action"
	"sluice/engine/actions/files"
	"sluice/engine/actions/flow"
	"sluice/engine/actions/script"
	"sluice/engine/actions/sql"
	"sluice/engine/actions/web"
)

// Registry gives all actions there are.
func Registry() *action.Registry {
	return action.NewRegistry(
		files.Actions,
		flow.Actions,
		script.Actions,
		sql.Actions,
		web.Actions,
	)
}
