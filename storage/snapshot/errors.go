package snapshot

import (
	"errors"
	"fmt"

	"sluice/storage"
)

// Why a snapshot cannot be used. They come wrapped in a
// *storage.SnapshotError; damage is storage.ErrCorrupt.
var (
	// ErrInterrupted: the extraction did not reach its end. Run it again.
	ErrInterrupted = errors.New("INTERRUPTED: the source was partially extracted, stage it again from scratch")
	// ErrPruned: retention or a person removed the rows. Run the extraction again.
	ErrPruned = errors.New("PRUNED: its rows were removed, stage it again from scratch")
	// ErrOpen: no verdict yet. Wait for the writer, or for the reaper to find it dead.
	ErrOpen = errors.New("not sealed yet: its writer may still be running")
	// ErrUnsigned: a key is set, so a manifest without a MAC is refused.
	ErrUnsigned = errors.New("not signed, although a snapshot key is set")
	// ErrWrongKey: signed with a key that is not at hand. Set that key.
	ErrWrongKey = errors.New("signed with another snapshot key")
	// ErrNewerFormat: written by a newer version. Update Sluice.
	ErrNewerFormat = errors.New("written in a newer format: update Sluice to read it")
	// ErrWitness: the digest is not the one that was recorded when the
	// snapshot was sealed. Treat it as damage.
	ErrWitness = errors.New("not the snapshot that was sealed: its digest differs from the recorded one")
	// ErrFenced: the writer could not prove for too long that it lives, so
	// others may have declared it dead. It stops by itself.
	ErrFenced = errors.New("heartbeat lost: the remote was not reachable for too long")
	// ErrPinned: a pin holds the snapshot. Unpin it first.
	ErrPinned = errors.New("pinned")
	// ErrAmbiguous: the shortened id fits several snapshots. Write more of it.
	ErrAmbiguous = errors.New("id is ambiguous")
	// ErrClosed: the writer has given its verdict already.
	ErrClosed = errors.New("snapshot writer is closed")
)

// corrupt is an error about stored bytes that are not what they must be.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// about attaches the snapshot and its state to an error.
func about(ref storage.SnapshotRef, state storage.SnapshotState, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*storage.SnapshotError](err); ok {
		return err
	}
	return &storage.SnapshotError{Ref: ref, State: state, Err: err}
}

// Hint says what a person can try about an error of this package or of
// storage, "" when nothing is known.
func Hint(err error) string {
	for _, h := range []struct {
		condition error
		text      string
	}{
		{ErrInterrupted, "Run the extraction again; `--from-gate` can only use a SEALED snapshot."},
		{ErrPruned, "Run the extraction again. Pin snapshots that must stay (`sluice snapshots pin`)."},
		{ErrOpen, "Wait until its run has ended. If the run was killed on another machine, it is declared dead about four minutes after it was first looked at."},
		{ErrUnsigned, "Use the snapshot only if you know where it comes from: unset the snapshot key, or stage the data again with the key set."},
		{ErrWrongKey, "Set the key that this snapshot was signed with, beside the new one."},
		{ErrNewerFormat, "Update Sluice on this machine."},
		{ErrWitness, "Somebody has replaced the snapshot at its location. Do not use it; stage the data again."},
		{ErrFenced, "Check the connection to the remote, then run the extraction again."},
		{ErrPinned, "Look at the pins with `sluice snapshots show`, then unpin it."},
		{ErrAmbiguous, "Write more digits of the id."},
	} {
		if errors.Is(err, h.condition) {
			return h.text
		}
	}
	return storage.Hint(err)
}
