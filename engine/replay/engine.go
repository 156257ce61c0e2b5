package replay

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"time"

	"sluice/storage"
)

// Engine is the key of a workflow run configuration whose workflows go on where
// their last execution failed.
const Engine = "Replay"

// Unfinished gives the last execution of a file when it did not succeed, and no
// replay of it did; empty when there is nothing to go on with.
func Unfinished(ctx context.Context, s storage.ExecutionReader, file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	q := storage.ExecutionQuery{RootsOnly: true, Name: filepath.Base(file), Kinds: []storage.ExecutionKind{storage.KindWorkflow}}
	for h, err := range executions(ctx, s, q) {
		switch {
		case err != nil:
			return "", err
		case h.File != file:
		case h.State == storage.StateSucceeded:
			return "", nil
		default:
			return h.ID, nil
		}
	}
	return "", nil
}

// Failed lists what failed or was interrupted since a moment and still waits for a
// replay, in the order in which it ran first. Of a chain of replays it is the
// newest one, and none when the chain has come to a success or goes on.
func Failed(ctx context.Context, s storage.ExecutionReader, since time.Time) ([]storage.ExecutionHead, error) {
	seen := map[string]bool{}
	var list []storage.ExecutionHead
	for h, err := range executions(ctx, s, storage.ExecutionQuery{RootsOnly: true}) {
		if err != nil {
			return nil, err
		}
		// A chain is as old as its first execution; its replays come before it here.
		if h.Created().Before(since) {
			break
		}
		if seen[h.Origin] {
			continue
		}
		seen[h.Origin] = true
		chain, err := s.Lineage(ctx, h.ID)
		if err != nil {
			return nil, err
		}
		done := slices.ContainsFunc(chain, func(c storage.ExecutionHead) bool { return c.State == storage.StateSucceeded })
		if !done && (h.State == storage.StateFailed || h.State == storage.StateInterrupted) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b storage.ExecutionHead) int {
		return storage.ExecutionTime(a.Origin).Compare(storage.ExecutionTime(b.Origin))
	})
	return list, nil
}

// executions gives all that a query finds, the newest first.
func executions(ctx context.Context, s storage.ExecutionReader, q storage.ExecutionQuery) iter.Seq2[storage.ExecutionHead, error] {
	return func(yield func(storage.ExecutionHead, error) bool) {
		for {
			page, err := s.Executions(ctx, q)
			if err != nil {
				yield(storage.ExecutionHead{}, err)
				return
			}
			for _, h := range page.Executions {
				if !yield(h, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}
