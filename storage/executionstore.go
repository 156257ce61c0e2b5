package storage

import "context"

// An ExecutionRecorder keeps what happens, as it happens. Each call is one
// transaction and durable when it returns nil, but for Log. Texts are redacted
// before they are stored. Writes about an execution are refused with
// ErrNotOwner when another process runs it, and with ErrLeaseLost when this
// process was declared dead or has lost the execution's lease.
type ExecutionRecorder interface {
	// Create adds an execution, QUEUED or RUNNING, owned by this process. Host,
	// process and times are filled in where they are empty. ErrExists when the
	// id is taken, ErrNotFound when the parent or the replayed one is unknown.
	Create(ctx context.Context, n NewExecution) (Execution, error)
	// Transition moves an execution by the one table. ErrTransition when the
	// table or the caller's expectation forbids it. Another process than the
	// owner may only ask it to stop.
	Transition(ctx context.Context, id string, c Change) (ExecutionHead, error)
	// SaveActionRun adds the run, or replaces it while it is RUNNING; ErrEnded
	// afterwards.
	SaveActionRun(ctx context.Context, a ActionRun) error
	// SaveMetrics replaces the counters of these transforms; ErrEnded when the
	// execution has ended.
	SaveMetrics(ctx context.Context, execution string, list []TransformMetrics) error
	// LinkSnapshot joins an execution to a snapshot; once more is no error.
	LinkSnapshot(ctx context.Context, l SnapshotLink) error
	// RecordSeal keeps the digest of a sealed snapshot for good. ErrExists when
	// another digest was kept for it.
	RecordSeal(ctx context.Context, ref SnapshotRef, digest string) error
	// Log adds entries, in this order. It returns before they are durable and
	// waits only when very many are under way; none is ever dropped, and an
	// error says that entries could not be kept.
	Log(ctx context.Context, entries ...LogEntry) error
}

// An ExecutionReader answers questions. No call holds a transaction when it
// returns. ErrNotFound when an execution is unknown.
type ExecutionReader interface {
	Execution(ctx context.Context, id string) (Execution, error)
	// Definition gives the redacted definition with this hash.
	Definition(ctx context.Context, hash string) ([]byte, error)
	// ResolveID completes a shortened id. ErrAmbiguous when several fit.
	ResolveID(ctx context.Context, prefix string) (string, error)
	Executions(ctx context.Context, q ExecutionQuery) (ExecutionPage, error)
	// Tree gives all executions of one call tree, parents before children,
	// oldest first; root may be any of them.
	Tree(ctx context.Context, id string) ([]ExecutionHead, error)
	// Lineage gives the roots of the chain of replays that id belongs to, the
	// original first.
	Lineage(ctx context.Context, id string) ([]ExecutionHead, error)
	// ActionRuns gives all action runs of a root execution, in order of start.
	ActionRuns(ctx context.Context, root string) ([]ActionRun, error)
	Metrics(ctx context.Context, execution string) ([]TransformMetrics, error)
	// Snapshots gives the links of one execution, or of all in the tree of a
	// root, with the recorded digests.
	Snapshots(ctx context.Context, execution string) ([]SnapshotLink, error)
	// SealedDigest gives what RecordSeal kept, "" for nothing.
	SealedDigest(ctx context.Context, ref SnapshotRef) (string, error)
	Logs(ctx context.Context, q LogQuery) (LogPage, error)
}

// A LeaseKeeper gives each name to one process at a time, until it is released
// or the process dies.
type LeaseKeeper interface {
	// Acquire takes the lease, for an execution or for "". ErrLeaseHeld names
	// the holder; this process holding it already counts as held.
	Acquire(ctx context.Context, name, execution string) (HeldLease, error)
	// Release gives it back; ErrLeaseLost when it was lost before.
	Release(ctx context.Context, l HeldLease) error
	// CheckLease is nil while this process has the lease, else ErrLeaseLost.
	CheckLease(ctx context.Context, l HeldLease) error
	// Lost is closed when this process was declared dead: it must stop all its
	// executions and write nothing more.
	Lost() <-chan struct{}
}

// An ExecutionStore keeps executions, their results and their logs. It is safe
// for many goroutines. Close flushes the log and gives the first error that
// lost data; executions that have not ended then become INTERRUPTED at the
// next opening.
type ExecutionStore interface {
	ExecutionRecorder
	ExecutionReader
	LeaseKeeper
	ExecutionRetention
	Close() error
}
