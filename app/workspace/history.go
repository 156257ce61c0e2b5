package workspace

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"sync"
	"time"

	"sluice/engine/recorder"
	"sluice/storage"
	"sluice/storage/execdb"
	"sluice/storage/record"
)

// History is the execution store of this user. It is opened when it is first
// asked for, and is safe for many goroutines.
type History struct {
	Values *storage.SecretValues // taken out of everything that is stored

	folders Folders
	log     *slog.Logger

	mu    sync.Mutex // guards store
	store *execdb.Store
}

// NewHistory opens nothing yet.
func NewHistory(f Folders, log *slog.Logger) *History {
	return &History{Values: &storage.SecretValues{}, folders: f, log: log}
}

// Store opens the store; executions whose process has died become INTERRUPTED.
func (h *History) Store(ctx context.Context) (storage.ExecutionStore, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store != nil {
		return h.store, nil
	}
	s, err := execdb.Open(ctx, h.folders.Data, execdb.Options{Redact: h.Values.Redact, Who: Who(), Logger: h.log})
	if err != nil {
		return nil, fmt.Errorf("open the record of executions in %s: %w; set %s to another folder", h.folders.Data, err, EnvData)
	}
	h.store = s
	return s, nil
}

// Sweep ends the records of executions whose process has died since the store was
// opened.
func (h *History) Sweep(ctx context.Context) error {
	h.mu.Lock()
	s := h.store
	h.mu.Unlock()
	if s == nil {
		return nil
	}
	_, err := s.Sweep(ctx)
	return err
}

// Close flushes the store.
func (h *History) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store == nil {
		return nil
	}
	s := h.store
	h.store = nil
	return s.Close()
}

// EnvHeartbeat is how often a run shows at the locations of its snapshots that it
// lives, such as 5s; 20s when it is not set. After ten of them without a sign of
// life it counts as dead.
const EnvHeartbeat = "SLUICE_HEARTBEAT"

// Heartbeat reads EnvHeartbeat; 0 is the usual one.
func Heartbeat() (time.Duration, error) {
	text := os.Getenv(EnvHeartbeat)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 100*time.Millisecond {
		return 0, fmt.Errorf("%s=%s is no time of at least 100ms, such as 5s", EnvHeartbeat, text)
	}
	return d, nil
}

// Who is the name of the user at the machine, empty when nobody knows.
func Who() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// Record makes a recorder of one run and attaches it to the workspace's runners.
// Store, secrets, log and the options of portable records are filled in.
func (w *Workspace) Record(ctx context.Context, o recorder.Options) (*recorder.Recorder, error) {
	store, err := w.History.Store(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := SnapshotKeys()
	if err != nil {
		return nil, err
	}
	o.Store, o.Secrets, o.Values, o.Who = store, w.Secrets, w.History.Values, Who()
	if o.Log == nil {
		o.Log = w.Runner.Log
	}
	beat, err := Heartbeat()
	if err != nil {
		return nil, err
	}
	o.Portable = record.Options{Keys: keys, Heartbeat: beat, Redact: w.History.Values.Redact, Who: o.Who, Logger: w.Runner.Log}
	w.Places.SetWitness(store)
	r := recorder.New(o)
	r.Attach(w.Runner, w.Workflows)
	return r, nil
}
