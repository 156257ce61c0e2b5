package gate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// EngineSafe is the key of a run configuration whose pipelines run with every
// hop sealed.
const EngineSafe = "Safe"

// Start names the snapshot that a run takes its rows from.
type Start struct {
	Node     string // the gate
	Snapshot string // an id, shortened or not; "latest" is the newest sealed one
	// CallPath is where the pipeline of the gate is below the root execution, ""
	// for the root itself.
	CallPath engine.CallPath
	Digest   string // of the manifest; empty: any
	Location string // empty: that of the gate's settings
}

// Latest asks for the newest sealed snapshot.
const Latest = "latest"

// SessionOptions are what the gates of one run need.
type SessionOptions struct {
	Places  Places
	Secrets Secrets
	// Local gives the stores of this machine for the dev cache and the safe
	// engine; nil has neither.
	Local func(Kind) (*Place, error)
	Alloc *batch.Allocator
	Log   *slog.Logger

	Project, AppVersion string
	TempFolder          string
	// SegmentBytes is the size at which a segment is closed; 0 is 32 MiB, or less
	// where a gate has many parts.
	SegmentBytes int

	From []Start
	// RunOnly names, by call path and in lower case, the transforms that run
	// behind the gates of From; without an entry all below the gates do.
	RunOnly   map[engine.CallPath]map[string]bool
	Overrides []string // ids of checks, or their part before the colon
	Reason    string
	Quick     bool
	// Given are variables and parameters that the caller set explicitly.
	Given map[string]string

	Safe, Fresh bool
	FromCache   bool
	// Told hears of every gate's snapshot, when it is begun and when it has its
	// verdict; nil: nobody does.
	Told func(context.Context, Outcome, *Place)
}

// Reused tells of rows that were taken from a snapshot.
type Reused struct {
	Node     string          `json:"transform"`
	CallPath engine.CallPath `json:"callPath,omitempty"`
	Gate     string          `json:"gate"`
	Snapshot string          `json:"snapshot"`
	Location string          `json:"location"` // as a person writes it, secrets out
	Digest   string          `json:"digest"`
	Rows     int64           `json:"rows"`
	Bytes    int64           `json:"bytes"`
	Sealed   time.Time       `json:"sealed"`

	execution string // that takes them
	place     *Place
}

// Place is where the snapshot is; nil when it was only judged.
func (r *Reused) Place() *Place { return r.place }

// Execution is the id of the execution that takes the rows.
func (r *Reused) Execution() string { return r.execution }

// Session carries gates through one run and its children. Close ends it.
type Session struct {
	o SessionOptions

	mu     sync.Mutex // guards what follows
	spools []*Spool
	pins   map[*snapshot.Cache]*snapshot.CachePin
	held   []held
	checks []Check
	reused []Reused
	stale  []Stale
	safe   *safeRun
	marks  map[*hopxml.Document]*Marks // of workflows
	atEnd  []func(context.Context, bool) error
}

// held is a pin of a snapshot that is being replayed.
type held struct {
	place *Place
	ref   storage.SnapshotRef
	id    string
}

// NewSession does nothing yet.
func NewSession(o SessionOptions) *Session {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Session{o: o, pins: map[*snapshot.Cache]*snapshot.CachePin{}}
}

// Extend is the hook of pipeline.Run: it puts cuts at the marked transforms, and
// snapshots in the place of those that do not run. A refused start is a
// *RefusedError.
func (s *Session) Extend(ctx context.Context, p *pipeline.Preparation) error {
	callPath := p.Run.CallPath
	isRoot := callPath == ""
	if p.Options.Now == nil {
		p.Options.Now = time.Now
	}
	if p.Options.Files == nil {
		p.Options.Files = files.Local{}
	}
	if p.Run.Rehearsal() {
		return nil // it keeps nothing
	}
	marks, err := ReadMarks(p.Pipeline.Document)
	if err != nil {
		return err
	}
	if err := marks.Err(); err != nil {
		return err
	}
	if from := s.startsAt(p); len(from) > 0 {
		if err := s.startFrom(ctx, p, marks, from); err != nil {
			return err
		}
	}
	if isRoot && (s.o.Safe || p.Config != nil && p.Config.Engine == EngineSafe) {
		return s.safely(ctx, p, marks, callPath)
	}
	if isRoot {
		if err := s.devCache(ctx, p, callPath); err != nil {
			return err
		}
	}
	return s.arm(ctx, p, marks, callPath)
}

// startsAt gives the gates that a pipeline starts from. Behind what ran anew
// nothing is reused.
func (s *Session) startsAt(p *pipeline.Preparation) []Start {
	var list []Start
	for _, f := range s.o.From {
		if f.CallPath == p.Run.CallPath && !p.Run.Fresh {
			list = append(list, f)
		}
	}
	return list
}

// runs says whether a transform takes part in the execution.
func runs(p *pipeline.Preparation, name string) bool {
	n := p.Graph.Node(name)
	key := strings.ToLower(name)
	return n != nil && !n.Disabled && (p.Options.Run == nil || p.Options.Run[key]) && p.Options.Bound[key] == nil
}

// arm puts a spool at every gate that runs.
func (s *Session) arm(ctx context.Context, p *pipeline.Preparation, marks *Marks, callPath engine.CallPath) error {
	var sc *scene
	for _, g := range marks.Gates {
		if !runs(p, g.Node) {
			continue
		}
		if sc == nil {
			sc = newScene(p, s.o.Secrets)
		}
		if err := s.armGate(ctx, sc, g, callPath); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) armGate(ctx context.Context, sc *scene, g *Gate, callPath engine.CallPath) error {
	c, err := g.Resolve(sc.p.Options.Vars)
	if err != nil {
		return err
	}
	place, err := s.o.Places.Place(ctx, c.Location)
	if err != nil {
		return explain(g.Node, nil, err)
	}
	return s.cut(sc, c, cutting{kind: KindGate, node: g.Node, place: place, callPath: callPath, most: -1})
}

// cutting says what one cut is for.
type cutting struct {
	kind     Kind
	node     string
	place    *Place
	callPath engine.CallPath
	most     int64 // rows kept of each part; -1 all
}

// cut puts a spool at the output of a transform.
func (s *Session) cut(sc *scene, c Config, what cutting) error {
	f := sc.fingerprint(what.node)
	table, err := f.JSON()
	if err != nil {
		return err
	}
	pin, err := s.pin(what.place)
	if err != nil {
		return explain(what.node, what.place, err)
	}
	o := sc.p.Options
	semantics := map[string]int{}
	for _, n := range f.Nodes {
		semantics[n.Type] = n.Semantics
	}
	sp := newSpool(c, spooling{
		kind: what.kind, node: what.node, place: what.place, fingerprint: table, pin: pin, alloc: o.Alloc,
		folder: s.o.TempFolder, log: s.o.Log, options: o, most: what.most, segment: s.o.SegmentBytes,
		origin: snapshot.Origin{
			ExecutionID: o.ID, RootExecutionID: sc.p.Run.RootID, CallPath: string(what.callPath), Project: s.o.Project,
			File: sc.portable(sc.p.Pipeline.Document.Name()), Node: what.node,
			AppVersion: s.o.AppVersion, EngineVersion: EngineVersion, Semantics: semantics,
		},
		told: s.o.Told,
		sealing: func(ctx context.Context) snapshot.Sealing {
			return snapshot.Sealing{Variables: sc.variables(what.node), Sources: slices.Concat(sc.sources(ctx, what.node), sc.beside(ctx, what.node))}
		},
	})
	s.mu.Lock()
	s.spools = append(s.spools, sp)
	s.mu.Unlock()
	if o.Cuts == nil {
		o.Cuts = map[string]pipeline.Cut{}
	}
	o.Cuts[strings.ToLower(what.node)] = sp
	return nil
}

// EngineVersion is raised when rows of the same file may differ for reasons that
// no single transform knows.
const EngineVersion = "1"

// pin gives the pin of the place's cache, one per session.
func (s *Session) pin(p *Place) (*snapshot.CachePin, error) {
	if p.Cache == nil || p.Remote.Capabilities().Local {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if pin := s.pins[p.Cache]; pin != nil {
		return pin, nil
	}
	pin, err := p.Cache.Pin()
	if err == nil {
		s.pins[p.Cache] = pin
	}
	return pin, err
}

// Close ends the session once the execution has ended; succeeded says how. What
// has no verdict is interrupted, pins are released.
func (s *Session) Close(ctx context.Context, succeeded bool) error {
	ctx = context.WithoutCancel(ctx)
	s.mu.Lock()
	spools, pins, pinned, atEnd := s.spools, s.pins, s.held, s.atEnd
	s.pins, s.held, s.atEnd = map[*snapshot.Cache]*snapshot.CachePin{}, nil, nil
	s.mu.Unlock()
	var errs []error
	for _, sp := range spools {
		if sp.Outcome().State == storage.SnapshotOpen {
			errs = append(errs, sp.Interrupt(ctx, "the execution ended before the rows did"))
		}
	}
	for _, f := range atEnd {
		errs = append(errs, f(ctx, succeeded))
	}
	for _, h := range pinned {
		if err := h.place.Store.Unpin(ctx, h.ref, h.id); err != nil {
			s.o.Log.Warn("Snapshot stays pinned", "snapshot", h.ref.ID, "err", err)
		}
	}
	for _, p := range pins {
		errs = append(errs, p.Release())
	}
	return errors.Join(errs...)
}

// Outcomes tells what became of the gates' snapshots, in the order they were
// armed.
func (s *Session) Outcomes() []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Outcome
	for _, sp := range s.spools {
		if sp.kind == KindGate || sp.kind == KindAction {
			list = append(list, sp.Outcome())
		}
	}
	return list
}

// Checks gives the list that a start from a gate was judged by.
func (s *Session) Checks() []Check {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checks
}

// Reused tells which rows came from snapshots.
func (s *Session) Reused() []Reused {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reused
}
