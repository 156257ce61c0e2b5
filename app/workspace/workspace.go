// Package workspace opens what an execution needs: the project, its variables and
// metadata, the transforms, files and databases.
package workspace

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"sluice/engine/action"
	"sluice/engine/actions"
	"sluice/engine/batch"
	"sluice/engine/database"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/replay"
	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/engine/workflow"
)

// Options say which project to open. Everything may be empty.
type Options struct {
	Project      string   // folder, or a name that hop-config.json knows
	Environments []string // environment files, later ones win; or a name of hop-config.json
	Environment  string   // name of those files
	File         string   // the file at hand: without Project, its project is looked for above it
	Variables    map[string]string
	Log          *slog.Logger
	MemoryBytes  int64
}

// Workspace is an opened project and the runners for its pipelines and workflows.
type Workspace struct {
	Project   *project.Project
	Scope     *project.Variables
	Runner    *pipeline.Runner
	Workflows *workflow.Runner // of the same project; its pipelines are run by Runner
	Places    *Places          // of snapshots and files on remotes
	Secrets   gate.Secrets
	History   *History // of executions
	// AppVersion is what snapshots say of the program that sealed them.
	AppVersion string
}

// Registry gives the transforms of this program.
func Registry() *transform.Registry { return transforms.Registry() }

// Actions gives the actions of this program.
func Actions() *action.Registry { return actions.Registry() }

// Open opens the project of the options.
func Open(o Options) (*Workspace, error) {
	p, err := openProject(o)
	if err != nil {
		return nil, err
	}
	scope := p.Variables()
	scope.SetAll(o.Variables)
	for _, w := range p.Warnings {
		o.Log.Warn("Project is not complete", "project", p.Name, "warning", w)
	}
	folders, err := UserFolders()
	if err != nil {
		return nil, err
	}
	places := NewPlaces(folders, scope, o.Log)
	ws := &Workspace{
		Project: p,
		Scope:   scope,
		Places:  places,
		History: NewHistory(folders, o.Log),
		Secrets: &installation{path: filepath.Join(folders.Data, installationKey)},
		Runner: &pipeline.Runner{
			Registry: Registry(), Metadata: p.Metadata(), Files: places.Files(), Log: o.Log, Now: time.Now,
			Location: time.Local, Alloc: batch.NewAllocator(), MemoryBytes: o.MemoryBytes,
			Engines: []string{gate.EngineSafe},
			Databases: func(scope *project.Variables, _ *batch.Allocator) pipeline.Databases {
				return database.NewPool(database.Options{Metadata: p.Metadata(), Scope: scope, Location: time.Local})
			},
		},
	}
	ws.Workflows = &workflow.Runner{Actions: Actions(), Pipelines: ws.Runner, Engines: []string{replay.Engine}}
	ws.Workflows.Connect()
	return ws, nil
}

func openProject(o Options) (*project.Project, error) {
	open := project.OpenOptions{Home: o.Project, EnvironmentFiles: o.Environments, Environment: o.Environment}
	if open.Home == "" && o.File != "" {
		home, found := project.FindHome(o.File)
		if !found {
			abs, err := filepath.Abs(o.File)
			if err != nil {
				return nil, fmt.Errorf("find the project of %s: %w", o.File, err)
			}
			home = filepath.Dir(abs)
		}
		open.Home = home
	}
	return project.Open(open)
}
