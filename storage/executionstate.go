package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// State is where an execution stands.
type State string

// The states of an execution. From QUEUED and RUNNING on, only the moves of
// the one table below happen; the last six are ends and are never left.
const (
	StateQueued      State = "QUEUED"
	StateRunning     State = "RUNNING"
	StateStopping    State = "STOPPING" // somebody asked it to stop, it still works
	StateSucceeded   State = "SUCCEEDED"
	StatePartial     State = "PARTIAL" // ended, and some tasks or records failed
	StateFailed      State = "FAILED"
	StateStopped     State = "STOPPED"
	StateSkipped     State = "SKIPPED"     // never started, because of what ran before it
	StateInterrupted State = "INTERRUPTED" // its process ended before it did
)

// transitions is the one table of moves.
var transitions = map[State][]State{
	StateQueued:   {StateRunning, StateFailed, StateStopped, StateSkipped, StateInterrupted},
	StateRunning:  {StateStopping, StateSucceeded, StatePartial, StateFailed, StateStopped, StateInterrupted},
	StateStopping: {StateSucceeded, StatePartial, StateFailed, StateStopped, StateInterrupted},
}

// States gives all states, in the order of a life.
func States() []State {
	return []State{
		StateQueued, StateRunning, StateStopping, StateSucceeded, StatePartial, StateFailed, StateStopped, StateSkipped, StateInterrupted,
	}
}

// Known tells whether s is a state of this version.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Ended tells whether s is an end: nothing follows.
func (s State) Ended() bool { return s.Known() && len(transitions[s]) == 0 }

// CanBecome tells whether the table has a move from s to next.
func (s State) CanBecome(next State) bool { return slices.Contains(transitions[s], next) }

// AskedByOthers tells whether a process that does not own the execution may
// make this move: asking a running one to stop, or taking a queued one back.
func (s State) AskedByOthers(next State) bool {
	return s == StateRunning && next == StateStopping || s == StateQueued && next == StateStopped
}

// The conditions of an execution store, beside those of this package.
var (
	// ErrTransition: the table of states has no such move, or the execution is
	// no longer where the caller thought. Read it again. Comes as a
	// *TransitionError.
	ErrTransition = errors.New("state does not allow this")
	// ErrEnded: the execution or action run has ended, so its facts are final.
	ErrEnded = errors.New("has ended, its record is final")
	// ErrNotOwner: another process runs the execution. Only that one records.
	ErrNotOwner = errors.New("belongs to another process")
	// ErrLeaseHeld: a living process has the lease. Comes as a *HeldError.
	ErrLeaseHeld = errors.New("lease is held")
	// ErrLeaseLost: somebody else was given what this process held. Stop at
	// once and write nothing more.
	ErrLeaseLost = errors.New("lease is lost: another process has taken over, stop this one")
	// ErrAmbiguous: a shortened id fits several executions. Write more of it.
	ErrAmbiguous = errors.New("id is ambiguous")
	// ErrSecretInClear: a value that is marked secret is not an HMAC. Nothing
	// was stored.
	ErrSecretInClear = errors.New("a secret may only be stored as an HMAC")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("store is closed")
	// ErrNeeded: retention must not remove it now.
	ErrNeeded = errors.New("still needed")
)

// A TransitionError says which move was refused. It unwraps to ErrTransition.
type TransitionError struct {
	ID       string
	From, To State
	Expected []State // what the caller thought; empty when the table refused
}

func (e *TransitionError) Error() string {
	if len(e.Expected) == 0 {
		return fmt.Sprintf("execution %s is %s and cannot become %s: %v", e.ID, e.From, e.To, ErrTransition)
	}
	names := make([]string, len(e.Expected))
	for i, s := range e.Expected {
		names[i] = string(s)
	}
	return fmt.Sprintf("execution %s is %s, no longer %s, and was not made %s: %v", e.ID, e.From, strings.Join(names, " or "), e.To, ErrTransition)
}

func (e *TransitionError) Unwrap() error { return ErrTransition }

// A HeldError names who has a lease. It unwraps to ErrLeaseHeld.
type HeldError struct {
	Name      string
	Execution string // for which it is held, or ""
	Host      string
	PID       int
	Who       string
	Since     string // RFC 3339, UTC
}

func (e *HeldError) Error() string {
	text := fmt.Sprintf("%s is held by process %d on %s since %s", e.Name, e.PID, e.Host, e.Since)
	if e.Execution != "" {
		text += " for execution " + e.Execution
	}
	if e.Who != "" {
		text += ", started by " + e.Who
	}
	return text
}

func (e *HeldError) Unwrap() error { return ErrLeaseHeld }

// CheckTransition is the one place that decides on a move: the caller's
// expectation first (empty means any), then the table.
func CheckTransition(id string, from State, c Change) error {
	if len(c.From) > 0 && !slices.Contains(c.From, from) {
		return &TransitionError{ID: id, From: from, To: c.To, Expected: c.From}
	}
	if !from.CanBecome(c.To) {
		return &TransitionError{ID: id, From: from, To: c.To}
	}
	return nil
}
