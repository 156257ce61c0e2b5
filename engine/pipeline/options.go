package pipeline

import (
	"log/slog"
	"runtime"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Options are what an execution needs from its surroundings.
type Options struct {
	Vars      *project.Variables // scope of the pipeline, parameters activated; owned by the execution
	Metadata  *project.Metadata
	Files     files.Store
	Databases Databases // owned: closed at the end when it is an io.Closer
	Log       *slog.Logger
	Now       func() time.Time
	Location  *time.Location // zone of dates without one; nil is the process's
	ID        string         // of the execution

	Scopes   transform.Scopes   // enclosing engines; nil: none
	Children transform.Children // nil: executors fail
	Previous transform.Result   // what was handed to the pipeline; rows are borrowed
	Alloc    *batch.Allocator   // nil: its own; shared where result rows pass on

	Workers     int    // per stage; 0: as many as processors
	MemoryBytes int64  // budget of sorting, grouping and joining; 0: 1 GiB
	SpillFolder string // empty: the system's folder for temporary files

	// Sample, when not nil, is shown every batch a transform emits, in order. It
	// borrows the batch. It turns parallel work off.
	Sample func(transformName string, copy int, port transform.Port, b *batch.Batch)
	// Until names the transform after which nothing runs; empty runs all.
	Until string
	// Cuts spool the output of the named transforms (lower-case names), Bound
	// takes rows from snapshots instead of running the named transforms.
	Cuts  map[string]Cut
	Bound map[string]Bound
	// Run names the transforms that run (lower-case); nil: all.
	Run map[string]bool
	// SuppressSinks replaces transforms that write outside of the pipeline by
	// ones that pass their rows on.
	SuppressSinks bool
}

// Databases gives connections and layouts of result sets.
type Databases interface {
	transform.Databases
	QueryLayout(scope *project.Variables, connection, query string) (*batch.Schema, error)
	TableLayout(scope *project.Variables, connection, schema, table string) (*batch.Schema, error)
}

const defaultMemory = 1 << 30

func (o *Options) defaults() {
	if o.Vars == nil {
		o.Vars = project.NewVariables()
	}
	if o.Metadata == nil {
		o.Metadata = project.OpenMetadata()
	}
	if o.Files == nil {
		o.Files = files.Local{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Alloc == nil {
		o.Alloc = batch.NewAllocator()
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Sample != nil {
		o.Workers = 1
	}
	if o.MemoryBytes <= 0 {
		o.MemoryBytes = defaultMemory
	}
}
