package transform

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
)

// Design is what Output and Check may ask. While a pipeline is designed it
// answers from caches; when it runs it may look at the real thing.
type Design interface {
	Resolver
	Semantics() *batch.Semantics
	// Metadata gives the project's metadata objects.
	Metadata() *project.Metadata
	// QueryLayout is the schema of a query on a named connection.
	QueryLayout(connection, query string) (*batch.Schema, error)
	// TableLayout is the schema of a table on a named connection.
	TableLayout(connection, schema, table string) (*batch.Schema, error)
	// PreviousRows is the schema of the result rows handed to the pipeline, nil
	// when there are none.
	PreviousRows() *batch.Schema
}

// Env is everything a transform copy may touch, apart from its rows. There are
// no globals.
type Env struct {
	Transform string
	Copy      int // from 0
	Copies    int

	Vars      *project.Variables // the copy's own scope
	Alloc     *batch.Allocator
	Semantics *batch.Semantics
	Log       *slog.Logger     // the execution's log
	Now       func() time.Time // for values that are stored
	Started   time.Time        // start of the pipeline
	Design    Design
	Files     files.Store
	Databases Databases
	Memory    Memory
	Spill     Spiller
	Results   Results
	Scopes    Scopes
	Children  Children
	Counters  *Counters // this copy's counters
	Shared    Shared
	Pipeline  PipelineFacts
	Errors    *ErrorLink // as in Links, names filled in; nil without an error hop

	// Stopping is closed when sources are to stop producing (safe stop).
	Stopping <-chan struct{}
	// Stop asks for the end of the execution.
	Stop func(kind StopKind, reason string)
	// Finished gives a channel that is closed when a copy of a transform has
	// ended; nil when there is no such copy.
	Finished func(transform string, copy int) <-chan struct{}
}

// Resolve replaces the variables of the copy's scope.
func (e *Env) Resolve(text string) (string, error) { return e.Vars.Resolve(text) }

// StopKind says how an execution is asked to stop.
type StopKind int

// The kinds of stop.
const (
	StopNow       StopKind = iota // all transforms stop; the result is still a success
	StopWithError                 // the same, and the execution has failed
	StopSafely                    // sources stop, rows under way are worked off
)

// PipelineFacts name the running pipeline.
type PipelineFacts struct {
	Name         string
	File         string // path, empty when it was never saved
	ID           string
	ModifiedUser string
	ModifiedDate string
}

// Memory is the budget of an execution. Request never waits: false means spill.
type Memory interface {
	Request(bytes int64) bool
	Release(bytes int64)
}

// Spiller makes temporary files of batches and of blocks of bytes.
type Spiller interface {
	Create() (SpillFile, error)
	CreateBlocks() (BlockFile, error)
}

// SpillFile keeps batches of one schema on disk. Write copies the batch; after
// the last Write each Reader starts at the front. Close removes the file.
type SpillFile interface {
	Write(b *batch.Batch) error
	Reader(schema *batch.Schema) (Reader, error)
	Bytes() int64
	Close() error
}

// BlockFile keeps blocks of bytes on disk, for those with a form of their own for
// rows. After the last Write each Reader starts at the front. Close removes the
// file.
type BlockFile interface {
	Write(block []byte) error
	Reader() BlockReader
	Bytes() int64
	Close() error
}

// BlockReader gives blocks as they were written; a damaged one is an error. Next
// uses the memory of room when the block fits in and gives io.EOF at the end.
type BlockReader interface {
	Next(room []byte) ([]byte, error)
}

// Databases opens the connections of the metadata. The pool owns what it gives.
type Databases interface {
	DB(ctx context.Context, connection string) (*sql.DB, Dialect, error)
}

// Dialect is what transforms must know of a kind of database.
type Dialect interface {
	Name() string
	Quote(identifier string) string
	Placeholder(n int) string // of the n-th argument, from 1
	ColumnType(f *batch.Field) string
	// FieldOf gives the field of a result column from its driver type.
	FieldOf(name, databaseType string, length, precision int64) batch.Field
	TruncateStatement(table string) string
}

// ResultFile is a file that a transform read or wrote, for the result.
type ResultFile struct {
	Path      string
	Type      string // GENERAL, LOG, ERRORLINE, ERROR, WARNING
	Origin    string // transform or action
	Parent    string // pipeline or workflow
	Comment   string
	Timestamp time.Time
}

// Results is what passes between the pipelines of a workflow.
type Results interface {
	PreviousRows() []*batch.Batch // borrowed
	PreviousFiles() []ResultFile
	Previous() Result
	AddRows(b *batch.Batch) // retains b
	AddFile(f ResultFile)
}

// Result are the counters and the outcome that one execution hands on
// (reference 2.5).
type Result struct {
	OK                                                              bool
	Errors                                                          int64
	Read, Written, Input, Output, Updated, Rejected, Deleted, Files int64
	ExitStatus                                                      int
	EntryNumber                                                     int
	Stopped                                                         bool
	LogText                                                         string
	LogChannel                                                      string
	Elapsed                                                         time.Duration
	Rows                                                            []*batch.Batch
	ResultFiles                                                     []ResultFile
}

// Scope says how far up a variable is set (reference 5.6).
type Scope int

// The scopes of SetVariable.
const (
	ScopePipeline Scope = iota
	ScopeParent
	ScopeGrandParent
	ScopeRoot
	ScopeProcess
)

// Scopes sets variables in the enclosing pipelines and workflows.
type Scopes interface {
	SetVariable(name, value string, scope Scope) error
	// Parent, GrandParent and Root read: the variable as the enclosing engine has it.
	Variable(name string, scope Scope) (string, bool)
}

// Child is a pipeline or workflow to be run by a transform.
type Child struct {
	File       string
	RunConfig  string
	Variables  map[string]string // parameters and variables to set
	InheritAll bool
	Rows       []*batch.Batch // result rows for the child; borrowed
	By         string         // the transform that starts it; the engine fills it in
}

// Children runs pipelines and workflows for the executor transforms. The error is
// for a child that could not be started; a child that failed is in the Result.
// The caller releases Result.Rows.
type Children interface {
	RunPipeline(ctx context.Context, c Child) (Result, error)
	RunWorkflow(ctx context.Context, c Child) (Result, error)
}

// Shared gives counters that all copies of a pipeline share, by name.
type Shared interface {
	// Counter gives the counter of a name; start is used when it is new.
	Counter(name string, start, increment, maximum int64) Counter
}

// Counter hands out numbers. It is safe for many goroutines.
type Counter interface {
	Next() int64
	// Take gives n numbers in a row at once, appended to dst.
	Take(dst []int64, n int) []int64
}
