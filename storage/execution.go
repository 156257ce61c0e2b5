package storage

import (
	"fmt"
	"time"
)

// ExecutionKind is what was executed.
type ExecutionKind string

// The kinds of executions.
const (
	KindPipeline ExecutionKind = "pipeline"
	KindWorkflow ExecutionKind = "workflow"
	KindJob      ExecutionKind = "job"
	KindTask     ExecutionKind = "task" // of a job
)

// ExecutionHead is what lists show of an execution. Times are UTC in
// milliseconds; a zero time is "not yet".
type ExecutionHead struct {
	ID string `json:"id"` // UUIDv7
	// Parent started this one, "" at the top of the call tree. Root is that
	// top; CallPath is the way from it to here, with ordinals, "" for the root.
	Parent   string `json:"parent,omitempty"`
	Root     string `json:"root"`
	CallPath string `json:"callPath,omitempty"`
	// ReplayOf is the execution that this one replays, "" for none; Origin is
	// the first of that chain, the execution itself when it replays nothing.
	// All of one tree have the Origin of their root.
	ReplayOf string `json:"replayOf,omitempty"`
	Origin   string `json:"origin"`

	Kind    ExecutionKind `json:"kind"`
	Name    string        `json:"name"`
	File    string        `json:"file,omitempty"`
	State   State         `json:"state"`
	Started time.Time     `json:"started,omitzero"`
	Ended   time.Time     `json:"ended,omitzero"`
	Message string        `json:"message,omitempty"` // why it ended as it did

	Host   string `json:"host,omitempty"`
	PID    int    `json:"pid,omitempty"`
	BootID string `json:"bootId,omitempty"`
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"` // given by who started it
}

// Created is when the execution was made, taken from its id.
func (h *ExecutionHead) Created() time.Time { return ExecutionTime(h.ID) }

// Duration is how long it ran, until now where it has no end; 0 before it
// started.
func (h *ExecutionHead) Duration(now time.Time) time.Duration {
	switch {
	case h.Started.IsZero():
		return 0
	case h.Ended.IsZero():
		return now.Sub(h.Started)
	}
	return h.Ended.Sub(h.Started)
}

// Execution is all that is kept of one execution itself.
type Execution struct {
	ExecutionHead
	// Definition is the SHA-256, in hex, of the definition as run, redacted;
	// "" when none was kept.
	Definition       string        `json:"definition,omitempty"`
	RunConfiguration string        `json:"runConfiguration,omitempty"`
	LogLevel         string        `json:"logLevel,omitempty"`
	Parameters       []Variable    `json:"parameters,omitempty"` // as resolved
	Variables        []Variable    `json:"variables,omitempty"`
	Replay           *ReplayChoice `json:"replay,omitempty"` // nil when it is no replay
}

// Variable is one name with its value at a moment. The value of a secret is
// the HMAC that the caller computed, "<key id>:<hex>", never the secret.
type Variable struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"`
	// Above says how far up an action has set it, beside its workflow: parent,
	// grandparent, root or process; "" when nowhere.
	Above string `json:"above,omitempty"`
}

// ReplayChoice is what a person chose when starting a replay.
type ReplayChoice struct {
	Start        string     `json:"start"`                // first-failed, start, or an action or gate
	Plan         string     `json:"plan,omitempty"`       // plan token
	Definition   string     `json:"definition,omitempty"` // current or original
	Quick        bool       `json:"quick,omitempty"`
	Variables    []Variable `json:"variables,omitempty"` // overridden
	Overrides    []Override `json:"overrides,omitempty"`
	Acknowledged []string   `json:"acknowledged,omitempty"` // ids of checks
}

// Override is one blocking check that a person has overridden.
type Override struct {
	Check  string `json:"check"`
	Reason string `json:"reason"`
}

// NewExecution is what Create needs. ID may be empty: then it is made. Root
// and Origin follow from Parent and ReplayOf, and need not be given; a replay of
// an execution that this store does not know, since it ran elsewhere, needs
// Origin.
type NewExecution struct {
	Execution
	// Content is the definition as run; the store redacts it, keeps it once by
	// the hash of what is left, and sets Definition.
	Content []byte
	// Lease is a lease that this process holds; every later write for the
	// execution then asserts it.
	Lease *HeldLease
}

// Change is one transition of an execution.
type Change struct {
	From    []State // compare and set: any of these; empty is any that the table allows
	To      State
	At      time.Time // zero is now
	Message string    // kept when not empty
}

// HeldLease is a lease that this process has: the epoch grows each time that
// it changes hands.
type HeldLease struct {
	Name  string
	Epoch int64
}

// ActionState is where one run of an action stands.
type ActionState string

// The states of an action run.
const (
	ActionRunning     ActionState = "RUNNING"
	ActionSucceeded   ActionState = "SUCCEEDED"
	ActionFailed      ActionState = "FAILED"
	ActionStopped     ActionState = "STOPPED"
	ActionSkipped     ActionState = "SKIPPED"
	ActionReused      ActionState = "REUSED" // bypassed, its recorded result was given back
	ActionInterrupted ActionState = "INTERRUPTED"
)

// Ended tells whether the action run's facts are final.
func (s ActionState) Ended() bool { return s != ActionRunning }

// ActionKey names one run of one action: loops and executors run the same
// node several times, and the ordinals tell the runs apart.
type ActionKey struct {
	Root     string `json:"root"`               // root execution
	CallPath string `json:"callPath,omitempty"` // of the workflow inside the root, with ordinals
	Node     string `json:"node"`
	Ordinal  int    `json:"ordinal"` // from 1, counts the runs of Node at CallPath
}

func (k ActionKey) String() string {
	path := k.CallPath
	if path != "" {
		path += "/"
	}
	return fmt.Sprintf("%s:%s%s#%d", k.Root, path, k.Node, k.Ordinal)
}

// ActionRun is one run of an action: what it was given and what it gave.
type ActionRun struct {
	ActionKey
	Execution string        `json:"execution"`       // the workflow's
	Child     string        `json:"child,omitempty"` // execution that it started
	State     ActionState   `json:"state"`
	Attempts  int           `json:"attempts,omitempty"` // more than 1 after retries
	Started   time.Time     `json:"started,omitzero"`
	Ended     time.Time     `json:"ended,omitzero"`
	Result    *ActionResult `json:"result,omitempty"` // nil while it runs
	Rows      RowSet        `json:"rows,omitzero"`
	Files     []ResultFile  `json:"files,omitempty"`
	Before    []Variable    `json:"before,omitempty"`
	After     []Variable    `json:"after,omitempty"`
	Message   string        `json:"message,omitempty"`
	// ReusedFrom is the root execution whose run of this action was reused.
	ReusedFrom string `json:"reusedFrom,omitempty"`
}

// ActionResult are the counters and the outcome of an action.
type ActionResult struct {
	OK         bool   `json:"ok"`
	Stopped    bool   `json:"stopped,omitempty"`
	Errors     int64  `json:"errors,omitempty"`
	Read       int64  `json:"read,omitempty"`
	Written    int64  `json:"written,omitempty"`
	Input      int64  `json:"input,omitempty"`
	Output     int64  `json:"output,omitempty"`
	Updated    int64  `json:"updated,omitempty"`
	Rejected   int64  `json:"rejected,omitempty"`
	Deleted    int64  `json:"deleted,omitempty"`
	Files      int64  `json:"files,omitempty"`
	ExitStatus int    `json:"exitStatus,omitempty"`
	Entry      int    `json:"entry,omitempty"`
	LogText    string `json:"logText,omitempty"`
}

// RowSet are result rows: a count, and the rows themselves in a form that
// only Format's owner understands. Data is never redacted; it is rows.
type RowSet struct {
	Count  int64  `json:"count"`
	Format string `json:"format,omitempty"` // "" when only counted
	Data   []byte `json:"-"`
}

// IsZero tells whether there is nothing to write down beside Data.
func (r RowSet) IsZero() bool { return r.Count == 0 && r.Format == "" }

// ResultFile is a file that an action added to its result.
type ResultFile struct {
	Path     string    `json:"path"`
	Type     string    `json:"type,omitempty"` // GENERAL, LOG, ERRORLINE, ERROR, WARNING
	Origin   string    `json:"origin,omitempty"`
	Parent   string    `json:"parent,omitempty"`
	Comment  string    `json:"comment,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
	Size     int64     `json:"size,omitempty"`
	SHA256   string    `json:"sha256,omitempty"` // of its bytes when the action ended
}

// TransformMetrics are the counters of one copy of a transform, in rows.
type TransformMetrics struct {
	Transform  string    `json:"transform"`
	Copy       int       `json:"copy,omitempty"`
	State      string    `json:"state"` // the engine's word
	Read       int64     `json:"read,omitempty"`
	Written    int64     `json:"written,omitempty"`
	Input      int64     `json:"input,omitempty"`
	Output     int64     `json:"output,omitempty"`
	Updated    int64     `json:"updated,omitempty"`
	Rejected   int64     `json:"rejected,omitempty"`
	Errors     int64     `json:"errors,omitempty"`
	Buffered   int       `json:"buffered,omitempty"`
	BufferSize int       `json:"bufferSize,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	// Sink is set where the transform writes to a target outside.
	Sink *SinkFacts `json:"sink,omitempty"`
}

// SinkFacts say what a sink would do if it ran a second time.
type SinkFacts struct {
	Target     string `json:"target"`
	Idempotent bool   `json:"idempotent,omitempty"`
	How        string `json:"how,omitempty"` // replaced file, truncate first, upsert by key, append ...
	Rows       int64  `json:"rows,omitempty"`
	Committed  bool   `json:"committed,omitempty"`
	Unknown    bool   `json:"unknown,omitempty"` // more may be written than Rows says
}

// SnapshotRole is what an execution has to do with a snapshot.
type SnapshotRole string

// The roles.
const (
	SnapshotWritten SnapshotRole = "written"
	SnapshotBound   SnapshotRole = "bound" // a replay reads it
)

// SnapshotLink joins an execution to a snapshot.
type SnapshotLink struct {
	Execution string       `json:"execution"`
	Ref       SnapshotRef  `json:"ref"`
	Role      SnapshotRole `json:"role"`
	Location  string       `json:"location"` // as a person writes it, secrets out
	CallPath  string       `json:"callPath,omitempty"`
	Node      string       `json:"node,omitempty"`
	// Digest of the sealed manifest, "" while it is not sealed. Readers get it
	// from the store's witness; it is not taken from here.
	Digest string `json:"digest,omitempty"`
}
