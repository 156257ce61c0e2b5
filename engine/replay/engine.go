package replay

import (
	"context"
	"path/filepath"

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
	page, err := s.Executions(ctx, storage.ExecutionQuery{RootsOnly: true, Name: filepath.Base(file), Kinds: []storage.ExecutionKind{storage.KindWorkflow}})
	if err != nil {
		return "", err
	}
	for _, h := range page.Executions {
		if h.File != file {
			continue
		}
		if h.State == storage.StateSucceeded {
			return "", nil
		}
		return h.ID, nil
	}
	return "", nil
}
