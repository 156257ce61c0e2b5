package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"sluice/engine/gate"
	"sluice/engine/recorder"
	"sluice/engine/replay"
	"sluice/storage"
	"sluice/storage/record"
)

// ReplayOptions say which execution is to be replayed, and on what ground.
type ReplayOptions struct {
	Execution string // an id, shortened or not
	// Record is the location to read the record at; empty: the store of this
	// machine.
	Record  string
	Options        // Project, Environments, Variables, Log and MemoryBytes count
	Version string // of the program
}

// Replaying is an execution that may be replayed, with its project opened. Close
// gives back what is open.
type Replaying struct {
	Workspace *Workspace
	Store     storage.ExecutionStore
	Source    *replay.Source
	Ground    replay.Ground

	reload func(context.Context) (*replay.Source, error)
	log    *slog.Logger
}

// ErrNoRecord means that nothing is known of the execution where it was looked for.
var ErrNoRecord = errors.New("there is no record of this execution")

// OpenReplay finds the record of an execution and opens its project. ErrNoRecord
// when it is not where it was looked for.
func OpenReplay(ctx context.Context, history *History, o ReplayOptions) (*Replaying, error) {
	store, err := history.Store(ctx)
	if err != nil {
		return nil, err
	}
	r := &Replaying{Store: store, log: o.Log}
	deaths := &replay.Deaths{}
	r.reload = func(ctx context.Context) (*replay.Source, error) {
		if o.Record != "" {
			return remoteSource(ctx, history.folders, o.Record, o.Execution, deaths, o.Log)
		}
		id, err := store.ResolveID(ctx, o.Execution)
		if err != nil {
			return nil, err
		}
		return replay.FromStore(ctx, store, id)
	}
	if r.Source, err = r.reload(ctx); errors.Is(err, storage.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNoRecord, o.Execution)
	} else if err != nil {
		return nil, err
	}
	o.File = r.Source.Root().File
	if o.Project == "" {
		if _, err := os.Stat(o.File); err != nil {
			return nil, fmt.Errorf("the file of the execution is not here: %w; name the folder of its project with --project", err)
		}
	}
	ws, err := Open(o.Options)
	if err != nil {
		return nil, err
	}
	keys, err := SnapshotKeys()
	if err != nil {
		return nil, err
	}
	ws.History = history
	ws.Places.SetWitness(store)
	r.Workspace = ws
	r.Ground = replay.Ground{
		Pipelines: ws.Runner, Workflows: ws.Workflows, Scope: ws.Scope, Secrets: ws.Secrets, Now: time.Now,
		Records: record.Options{Keys: keys, Logger: o.Log},
		Session: func(s gate.SessionOptions) *gate.Session {
			s.Places, s.Secrets, s.Local, s.Alloc, s.Log = ws.Places.ByHand(), ws.Secrets, ws.Places.Local, ws.Runner.Alloc, o.Log
			s.Project, s.AppVersion = ws.Project.Name, o.Version
			return gate.NewSession(s)
		},
	}
	return r, nil
}

// remoteSource reads the record at a location.
func remoteSource(ctx context.Context, folders Folders, location, id string, deaths *replay.Deaths, log *slog.Logger) (*replay.Source, error) {
	place, err := NewPlaces(folders, nil, log).ByHand().Place(ctx, location)
	if err != nil {
		return nil, err
	}
	keys, err := SnapshotKeys()
	if err != nil {
		return nil, err
	}
	o := record.Options{Keys: keys, Who: Who(), Logger: log}
	origins, err := record.Origins(ctx, place.Remote)
	if err != nil {
		return nil, err
	}
	prefix, err := storage.NormalizeIDPrefix(id)
	if err != nil {
		return nil, err
	}
	var fit []string
	for _, origin := range origins {
		if strings.HasPrefix(origin, prefix) {
			fit = append(fit, origin)
		}
	}
	if len(fit) > 0 {
		if id, err = storage.OnlyID(prefix, fit); err != nil {
			return nil, err
		}
	}
	return replay.FromRemote(ctx, place.Remote, o, id, deaths)
}

// Reload reads the record again: another replay may have gone on with it.
func (r *Replaying) Reload(ctx context.Context) error {
	src, err := r.reload(ctx)
	if err == nil {
		r.Source = src
	}
	return err
}

// Preflight plans the replay.
func (r *Replaying) Preflight(ctx context.Context, o replay.Options) (*replay.Plan, error) {
	return replay.Preflight(ctx, r.Source, r.Ground, o)
}

// Prepare makes a replay of a plan that is ready.
func (r *Replaying) Prepare(ctx context.Context, plan *replay.Plan, o replay.Options) (*replay.Replay, error) {
	claims, claiming, err := r.claims(ctx)
	if err != nil {
		return nil, err
	}
	return &replay.Replay{
		Plan: plan, Source: r.Source, Reload: r.reload, Ground: r.Ground, Options: o, Store: r.Store, Claims: claims, Claiming: claiming,
		Recorder: func(ctx context.Context, o recorder.Options) (*recorder.Recorder, error) {
			return r.Workspace.Record(ctx, o)
		},
	}, nil
}

// claims are the locations at which the replay is claimed, so that two machines
// do not replay at once.
func (r *Replaying) claims(ctx context.Context) (list []storage.Remote, o record.Options, err error) {
	keys, err := SnapshotKeys()
	if err != nil {
		return nil, o, err
	}
	beat, err := Heartbeat()
	if err != nil {
		return nil, o, err
	}
	o = record.Options{Keys: keys, Heartbeat: beat, Redact: r.Workspace.History.Values.Redact, Who: Who(), Logger: r.log}
	seen := map[string]bool{}
	for _, l := range r.Source.Snapshots {
		if seen[l.Location] {
			continue
		}
		seen[l.Location] = true
		place, err := r.Workspace.Places.ByHand().Place(ctx, l.Location)
		if err != nil {
			return nil, o, fmt.Errorf("claim the replay at %s: %w", l.Location, err)
		}
		list = append(list, place.Remote)
	}
	return list, o, nil
}

// Close ends connections; the history stays open.
func (r *Replaying) Close(ctx context.Context) error {
	return r.Workspace.Places.Close(context.WithoutCancel(ctx))
}
