package workspace

import (
	"context"
	"errors"
	"log/slog"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/record"
	"sluice/storage/snapshot"
)

// Facts tells retention what is known of root executions: by the store of this
// machine, and by the records at a location, which other machines wrote.
func (h *History) Facts(ctx context.Context, place *gate.Place) func(root string) snapshot.ExecutionFacts {
	var there map[string]snapshot.ExecutionFacts
	var unreadable error
	return func(root string) snapshot.ExecutionFacts {
		if there == nil {
			there, unreadable = recordedAt(ctx, place.Remote, h.log)
		}
		here := h.known(ctx, root)
		remote, ok := there[root]
		switch {
		case here.Err != nil:
			return here
		case unreadable != nil && (!here.Known || here.Failed && !here.Replayed):
			return snapshot.ExecutionFacts{Err: unreadable}
		case !here.Known:
			return remote
		case ok && here.Failed && remote.Replayed:
			here.Replayed = true
		}
		return here
	}
}

// known asks the store of this machine.
func (h *History) known(ctx context.Context, root string) snapshot.ExecutionFacts {
	s, err := h.Store(ctx)
	if err != nil {
		return snapshot.ExecutionFacts{Err: err}
	}
	e, err := s.Execution(ctx, root)
	if errors.Is(err, storage.ErrNotFound) {
		return snapshot.ExecutionFacts{}
	}
	if err != nil {
		return snapshot.ExecutionFacts{Err: err}
	}
	chain, err := s.Lineage(ctx, root)
	if err != nil {
		return snapshot.ExecutionFacts{Err: err}
	}
	return factsOf(e.ExecutionHead, chain)
}

func factsOf(e storage.ExecutionHead, chain []storage.ExecutionHead) snapshot.ExecutionFacts {
	f := snapshot.ExecutionFacts{Known: true, Ended: e.State.Ended(), Failed: e.State.Ended() && e.State != storage.StateSucceeded}
	for _, c := range chain {
		if c.ID == e.ID {
			continue
		}
		f.Replayed = f.Replayed || c.ID > e.ID && c.State == storage.StateSucceeded
		f.Ended = f.Ended && (c.State.Ended() || c.ID < e.ID) // a replay under way needs the rows
	}
	return f
}

// recordedAt reads the records at a location. One that cannot be read leaves its
// executions without a verdict.
func recordedAt(ctx context.Context, remote storage.Remote, log *slog.Logger) (map[string]snapshot.ExecutionFacts, error) {
	facts := map[string]snapshot.ExecutionFacts{}
	keys, err := SnapshotKeys()
	if err != nil {
		return facts, err
	}
	origins, err := record.Origins(ctx, remote)
	if errors.Is(err, storage.ErrNotFound) {
		return facts, nil
	}
	if err != nil {
		return facts, err
	}
	for _, origin := range origins {
		chain, err := record.Load(ctx, remote, record.Options{Keys: keys, Logger: log}, origin)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			facts[origin] = snapshot.ExecutionFacts{Err: err}
			continue
		}
		var heads []storage.ExecutionHead
		for _, l := range chain {
			head := l.Root().ExecutionHead
			if !head.State.Ended() {
				// Its writer may have died; then the end was never saved.
				if life, execution, err := record.Look(ctx, remote, origin); err == nil && (life == record.Dead || execution != "" && execution != head.ID) {
					head.State = storage.StateInterrupted
				}
			}
			heads = append(heads, head)
		}
		for _, head := range heads {
			facts[head.ID] = factsOf(head, heads)
		}
	}
	return facts, nil
}

// NeededBySnapshots keeps the record of a failed execution that has a gate and
// was not replayed with success.
func NeededBySnapshots(ctx context.Context, s storage.ExecutionStore) func(storage.ExecutionHead) (string, error) {
	return func(h storage.ExecutionHead) (string, error) {
		if h.State == storage.StateSucceeded || h.State == storage.StateSkipped {
			return "", nil
		}
		links, err := s.Snapshots(ctx, h.ID)
		if err != nil || len(links) == 0 {
			return "", err
		}
		chain, err := s.Lineage(ctx, h.ID)
		if err != nil {
			return "", err
		}
		for _, r := range chain {
			if r.State == storage.StateSucceeded {
				return "", nil
			}
		}
		return "it failed, has sealed rows, and was not replayed yet", nil
	}
}
