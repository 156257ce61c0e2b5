package storage

import "fmt"

// SnapshotRef names one snapshot below a location.
type SnapshotRef struct {
	Gate string `json:"gate"` // 12 lower-case hex digits, given when the gate was marked
	ID   string `json:"id"`   // UUIDv7 in its text form, so sorting by ID is sorting by time
}

func (r SnapshotRef) String() string { return r.Gate + "/" + r.ID }

// SnapshotState is the verdict of a reader over one snapshot folder.
type SnapshotState string

// The states of a snapshot. Only SnapshotSealed may be replayed.
const (
	// SnapshotOpen: a writer may be at work; there is no verdict yet.
	SnapshotOpen SnapshotState = "OPEN"
	// SnapshotSealed: complete, its manifest verifies, nobody objected.
	SnapshotSealed SnapshotState = "SEALED"
	// SnapshotInterrupted: the source was partially extracted.
	SnapshotInterrupted SnapshotState = "INTERRUPTED"
	// SnapshotPruned: retention removed the data; only the record is left.
	SnapshotPruned SnapshotState = "PRUNED"
	// SnapshotDamaged: something is there and cannot be trusted.
	SnapshotDamaged SnapshotState = "DAMAGED"
)

// A SnapshotError says why one snapshot cannot be used. It unwraps to the
// cause.
type SnapshotError struct {
	Ref   SnapshotRef
	State SnapshotState // "" while unknown
	Err   error
}

func (e *SnapshotError) Error() string { return fmt.Sprintf("snapshot %s: %v", e.Ref, e.Err) }

func (e *SnapshotError) Unwrap() error { return e.Err }
