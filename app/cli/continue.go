package cli

import (
	"context"
	"errors"
	"fmt"

	"sluice/app/workspace"
	"sluice/engine/project"
	"sluice/engine/replay"
)

// unfinished gives the execution that a run with the engine Replay goes on with;
// empty when the run is an ordinary one.
func (sh *shell) unfinished(ctx context.Context, ws *workspace.Workspace, file, config string) (string, error) {
	name, err := ws.Scope.Resolve(config)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = ws.Project.Metadata().DefaultRunConfiguration(project.TypeWorkflowRunConfiguration)
	}
	// What is wrong with the configuration the run itself tells.
	if c, err := ws.Project.Metadata().WorkflowRunConfiguration(name); err != nil || c.Engine != replay.Engine {
		return "", nil //nolint:nilerr // see above
	}
	store, err := ws.History.Store(ctx)
	if err != nil {
		return "", &exitError{ExitUnusable, err}
	}
	id, err := replay.Unfinished(ctx, store, file)
	if err != nil {
		return "", &exitError{ExitErrors, errors.Join(err, ws.History.Close())}
	}
	return id, ws.History.Close()
}

// continued replays what the last run of the file left, as `sluice replay` does:
// when it is not safe, nothing runs and the checks tell why.
func (sh *shell) continued(ctx context.Context, id, file string, f *runFlags) error {
	fmt.Fprintf(sh.Err, "%s goes on where execution %s ended\n", file, shortID(id))
	return sh.replay(ctx, id, &replayFlags{
		projectFlags: f.projectFlags, from: replay.FirstFailed, parameters: f.parameters, overrides: f.gates.overrides, reason: f.gates.reason,
		quick: f.gates.quick, definition: replay.Current, json: f.json,
	})
}
