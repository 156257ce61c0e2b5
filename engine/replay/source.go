package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sluice/storage"
	"sluice/storage/record"
)

// Source is the record of a root execution and of the chain of replays it is in.
type Source struct {
	record.Record
	// Chain are the records of the whole chain, the original first, this one
	// among them.
	Chain []record.Record
	// Rows gives the encoded result rows of an action run, Definition a
	// definition as run, redacted.
	Rows       func(ctx context.Context, a storage.ActionRun) (storage.RowSet, error)
	Definition func(ctx context.Context, hash string) ([]byte, error)
	// Alive tells whether an execution of the chain may still be running.
	Alive func(ctx context.Context) (running bool, who string, err error)

	local     bool                      // the records are those of this machine's store
	elsewhere map[string]*record.Loaded // records that only a location knows, by root
}

// ErrChild means that an execution is no root: only roots are replayed.
var ErrChild = errors.New("is part of another execution")

// FromStore reads the record of an execution from the store of this machine.
func FromStore(ctx context.Context, s storage.ExecutionReader, id string) (*Source, error) {
	head, err := s.Execution(ctx, id)
	if err != nil {
		return nil, err
	}
	if head.Root != id {
		return nil, fmt.Errorf("execution %s %w: replay %s", id, ErrChild, head.Root)
	}
	chain, err := s.Lineage(ctx, id)
	if err != nil {
		return nil, err
	}
	src := &Source{local: true, Definition: s.Definition, Rows: func(_ context.Context, a storage.ActionRun) (storage.RowSet, error) { return a.Rows, nil }}
	for _, h := range chain {
		r, err := record.Collect(ctx, s, h.ID)
		if err != nil {
			return nil, err
		}
		src.Chain = append(src.Chain, r)
		if h.ID == id {
			src.Record = r
		}
	}
	src.Alive = func(context.Context) (bool, string, error) {
		for _, h := range chain {
			if !h.State.Ended() {
				return true, owner(&h), nil
			}
		}
		return false, "", nil
	}
	return src, nil
}

// whoRuns names an execution with its process.
func whoRuns(h *storage.ExecutionHead) string {
	text := fmt.Sprintf("%s, process %d on %s", h.ID, h.PID, h.Host)
	if h.Who != "" {
		text += " by " + h.Who
	}
	return text
}

// Deaths remembers which executions were seen to be dead at remotes, where that
// takes ten heartbeats of watching. Who was dead that long has fenced itself and
// never comes back. The zero value is ready; it is safe for many goroutines.
type Deaths struct {
	mu   sync.Mutex // guards seen
	seen map[string]bool
}

func (d *Deaths) has(execution string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[execution]
}

func (d *Deaths) add(execution string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	d.seen[execution] = true
}

// FromRemote reads the record of an execution from a location of snapshots, by
// the id of the execution or of the first of its chain.
func FromRemote(ctx context.Context, remote storage.Remote, o record.Options, id string, deaths *Deaths) (*Source, error) {
	origins, err := record.Origins(ctx, remote)
	if err != nil {
		return nil, err
	}
	var found []*record.Loaded
	for _, origin := range origins {
		if origin == id {
			found, err = record.Load(ctx, remote, o, origin)
			break
		}
		list, lerr := record.Load(ctx, remote, o, origin)
		if lerr == nil && slices.ContainsFunc(list, func(l *record.Loaded) bool { return l.Root().ID == id }) {
			found = list
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("record of execution %s: %w", id, storage.ErrNotFound)
	}
	own := found[0]
	for _, l := range found {
		if l.Root().ID == id {
			own = l
		}
	}
	src := &Source{Record: own.Record, Definition: own.Definition}
	for _, l := range found {
		src.Chain = append(src.Chain, l.Record)
	}
	src.Rows = func(ctx context.Context, a storage.ActionRun) (storage.RowSet, error) {
		set := a.Rows
		var err error
		set.Data, err = own.Rows(ctx, a.ActionKey)
		return set, err
	}
	src.Alive = func(ctx context.Context) (bool, string, error) {
		life, execution, err := record.Look(ctx, remote, own.Root().Origin)
		if err == nil && life == record.Unknown && !deaths.has(execution) {
			if o.Logger != nil {
				o.Logger.Info("Watching whether the execution still lives, for ten of its heartbeats", "execution_id", execution)
			}
			if life, execution, err = record.Watch(ctx, remote, own.Root().Origin); err == nil && life == record.Dead {
				deaths.add(execution)
			}
		}
		return life == record.Alive, src.owner(execution), err
	}
	return src, nil
}

// owner names an execution of the chain with who runs it and where; an execution
// that has no record yet by its id alone.
func (s *Source) owner(execution string) string {
	for i := range s.Chain {
		if root := s.Chain[i].Root(); root.ID == execution {
			return owner(&root.ExecutionHead)
		}
	}
	return execution
}

func owner(h *storage.ExecutionHead) string {
	return fmt.Sprintf("%s, process %d on %s by %s", h.ID, h.PID, h.Host, h.Who)
}

// digest identifies the record as it is now.
func (s *Source) digest() (string, error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, r := range s.Chain {
		if err := errors.Join(enc.Encode(r.Executions), enc.Encode(r.Runs), enc.Encode(r.Metrics), enc.Encode(r.Snapshots)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
