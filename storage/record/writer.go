package record

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"sync"
	"sync/atomic"

	"sluice/storage"
)

const (
	// pageRuns is how many ended action runs make a page, so that a long loop
	// does not store its beginning again with each action.
	pageRuns = 64
	// keptHeads of a writer stay; older ones say nothing that the newest does
	// not.
	keptHeads = 4
)

// Writer keeps the portable record of one root execution at one location. It
// is safe for many goroutines; each Save is whole.
type Writer struct {
	remote    storage.Remote
	o         Options
	origin    string
	execution string
	nonce     string
	beats     *beater

	ended atomic.Bool // the end is stored; the heartbeat reads it while Save holds mu

	mu       sync.Mutex
	seq      int64 // of the next head
	previous string
	pages    []string
	paged    int             // runs in pages
	stored   map[string]bool // hashes of blobs
	closed   bool
}

// Begin stores the first head and starts the heartbeat. The caller ends the
// writer with Close. r is as Save takes it.
func Begin(ctx context.Context, remote storage.Remote, o Options, r Record) (*Writer, error) {
	r, err := r.redacted(o.Redact)
	if err != nil {
		return nil, err
	}
	w := &Writer{remote: remote, o: o.filled(), origin: r.Root().Origin, execution: r.Root().ID, nonce: newNonce(), stored: map[string]bool{}}
	for _, id := range []string{w.origin, w.execution} {
		if err := storage.CheckExecutionID(id); err != nil {
			return nil, err
		}
	}
	w.beats = &beater{remote: remote, interval: w.o.Heartbeat, logger: w.o.Logger, encode: w.lease}
	err = w.beats.takeLock(ctx, writerLock(w.origin, w.nonce))
	if err == nil {
		err = w.beats.start(ctx)
	}
	if err == nil {
		err = w.Save(ctx, r)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin record of %s: %w", w.execution, err), w.beats.stop(context.WithoutCancel(ctx)))
	}
	return w, nil
}

func newNonce() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}

func (w *Writer) in(name string) string { return path.Join(folder(w.origin), name) }

func (w *Writer) lease(seq int64) (string, []byte, error) {
	l := lease{
		Origin: w.origin, Execution: w.execution, Nonce: w.nonce, Seq: seq, IntervalMillis: w.o.Heartbeat.Milliseconds(),
		Locked: w.beats.lockName != "", Ended: w.ended.Load(),
	}
	data, err := l.encode()
	return w.in(leaseName), data, err
}

// Save stores the record as it is now: the same root, its runs only grown. A
// record whose root has ended is the last one. ErrFenced when others may
// believe that this execution is dead: it must stop.
func (w *Writer) Save(ctx context.Context, r Record) error {
	r, err := r.redacted(w.o.Redact)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.ended.Load(), w.closed:
		return ErrEnded
	case r.Root().ID != w.execution:
		return fmt.Errorf("record of %s, not of %s: %w", r.Root().ID, w.execution, storage.ErrBadName)
	case w.seq > maxSeq:
		return fmt.Errorf("record of %s has %d heads: %w", w.execution, w.seq, storage.ErrNoSpace)
	}
	if err := w.beats.alive(); err != nil {
		return err
	}
	if err := w.save(ctx, r); err != nil {
		return fmt.Errorf("save record of %s: %w", w.execution, err)
	}
	w.ended.Store(r.Ended())
	return nil
}

func (w *Writer) save(ctx context.Context, r Record) error {
	for hash, content := range r.Definitions {
		if sum(content) != hash {
			return corrupt("definition %s has another hash", hash)
		}
		if _, err := w.blob(ctx, content); err != nil {
			return err
		}
	}
	runs, err := w.turn(ctx, r.Runs)
	if err != nil {
		return err
	}
	h := head{Origin: w.origin, Writer: w.nonce, Seq: w.seq, Previous: w.previous, Written: w.o.Now().UTC().Round(0), Record: r, Pages: w.pages, Tail: runs}
	data, err := h.encode(w.o.signer())
	if err != nil {
		return err
	}
	if len(data) > maxHeadBytes {
		return fmt.Errorf("the record has %d bytes: %w", len(data), storage.ErrNoSpace)
	}
	if err := w.remote.Put(ctx, w.in(headName(w.execution, w.nonce, w.seq)), storage.Bytes(data)); err != nil {
		return err
	}
	if old := w.seq - keptHeads; old >= 0 {
		if err := w.remote.Delete(ctx, w.in(headName(w.execution, w.nonce, old))); err != nil {
			w.o.Logger.Warn("Old record not removed", "execution_id", w.execution, "err", err)
		}
	}
	w.seq, w.previous = w.seq+1, h.Digest
	return nil
}

// turn makes pages of runs that have ended, and gives those behind them.
func (w *Writer) turn(ctx context.Context, all []storage.ActionRun) ([]run, error) {
	if len(all) < w.paged {
		return nil, fmt.Errorf("record has %d action runs after %d: %w", len(all), w.paged, storage.ErrBadName)
	}
	for len(all)-w.paged >= 2*pageRuns && allEnded(all[w.paged:w.paged+pageRuns]) {
		runs, err := w.rows(ctx, all[w.paged:w.paged+pageRuns])
		if err != nil {
			return nil, err
		}
		data, err := canonical(page{header{pageFormat, formatVersion}, runs})
		if err != nil {
			return nil, err
		}
		hash, err := w.blob(ctx, data)
		if err != nil {
			return nil, err
		}
		w.pages, w.paged = append(w.pages, hash), w.paged+pageRuns
	}
	return w.rows(ctx, all[w.paged:])
}

func allEnded(runs []storage.ActionRun) bool {
	for i := range runs {
		if !runs[i].State.Ended() {
			return false
		}
	}
	return true
}

// rows stores the rows of runs.
func (w *Writer) rows(ctx context.Context, runs []storage.ActionRun) ([]run, error) {
	out := make([]run, len(runs))
	for i, a := range runs {
		out[i].ActionRun = a
		if len(a.Rows.Data) == 0 {
			continue
		}
		var err error
		if out[i].RowsBlob, err = w.blob(ctx, a.Rows.Data); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// blob stores content under its hash, once.
func (w *Writer) blob(ctx context.Context, content []byte) (string, error) {
	hash := sum(content)
	if w.stored[hash] {
		return hash, nil
	}
	if err := w.remote.Put(ctx, w.in(blobName(hash)), storage.Bytes(content)); err != nil {
		return "", err
	}
	w.stored[hash] = true
	return hash, nil
}

// Close stops the heartbeat. After the end was saved, the lease says so;
// without it the record ends abruptly, as if the process had died.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if w.closed {
		return nil
	}
	w.closed = true
	var err error
	if w.ended.Load() && w.beats.alive() == nil {
		err = w.beats.beat(ctx)
	}
	return errors.Join(err, w.beats.stop(ctx))
}
