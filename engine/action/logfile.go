package action

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"sluice/engine/files"
)

// LogFile says how a log file is written.
type LogFile struct {
	Append  bool // add to what is there
	Parents bool // make missing folders
	Level   slog.Level
}

// OpenLogFile makes a log that goes to the action's own and to a file. The
// returned function closes the file; its error tells of lines that were lost.
func OpenLogFile(ctx context.Context, env *Env, name string, o LogFile) (*slog.Logger, func() error, error) {
	w, err := createLog(ctx, env.Files, name, o)
	if err != nil {
		return nil, func() error { return nil }, fmt.Errorf("log file %s: %w", name, err)
	}
	var mu sync.Mutex // guards failed and the writer
	var failed error
	tee := &LogTee{Next: env.Log.Handler(), Level: o.Level, Line: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := w.Write([]byte(line)); err != nil && failed == nil {
			failed = err
		}
	}}
	return slog.New(tee), func() error {
		mu.Lock()
		defer mu.Unlock()
		return errors.Join(failed, w.Commit())
	}, nil
}

// createLog opens a log file so that its lines can be read while they are
// written, where the storage can do that.
func createLog(ctx context.Context, store files.Store, name string, o LogFile) (files.Writer, error) {
	if !o.Append {
		w, err := store.Create(ctx, name, files.CreateOptions{Parents: o.Parents})
		if err != nil {
			return nil, err
		}
		if err := w.Commit(); err != nil {
			return nil, err
		}
	}
	w, err := store.Create(ctx, name, files.CreateOptions{Append: true, Parents: o.Parents})
	if errors.Is(err, files.ErrNotSupported) && !o.Append {
		return store.Create(ctx, name, files.CreateOptions{Parents: o.Parents})
	}
	return w, err
}
