package snapshot

import (
	"context"
	"sync"
	"time"

	"sluice/storage"
)

// heartbeat keeps one writer's lease.json alive. When no beat arrived for a
// TTL, it fences the writer: an observer may have declared it dead by then.
type heartbeat struct {
	store    *Store
	ref      storage.SnapshotRef
	nonce    string
	interval time.Duration
	// locked writers prove their life by the operating system's lock; their
	// lease is only a courtesy to other hosts that share the folder.
	locked bool

	cancel context.CancelFunc
	done   chan struct{}
	fenced chan struct{}

	mu   sync.Mutex
	seq  int64
	last time.Time // start of the last beat that arrived
}

// startHeartbeat writes the first beat and keeps beating until stop.
func startHeartbeat(ctx context.Context, s *Store, ref storage.SnapshotRef, nonce string, locked bool) (*heartbeat, error) {
	h := &heartbeat{
		store: s, ref: ref, nonce: nonce, interval: s.o.Heartbeat, locked: locked,
		done: make(chan struct{}), fenced: make(chan struct{}),
	}
	if err := h.beat(ctx); err != nil {
		return nil, err
	}
	// The lease must live on while a cancelled execution writes its verdict.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h.cancel = cancel
	go h.run(background)
	return h, nil
}

func (h *heartbeat) ttl() time.Duration { return storage.LeaseTTLBeats * h.interval }

func (h *heartbeat) run(ctx context.Context) {
	defer close(h.done)
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if h.lapsed() {
			close(h.fenced)
			return
		}
		h.tick(ctx)
	}
}

// tick beats once, for no longer than the lease has left.
func (h *heartbeat) tick(ctx context.Context) {
	limit := h.ttl()
	if !h.locked {
		limit = max(h.left(), time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := h.beat(ctx); err != nil {
		h.store.o.Logger.Warn("Snapshot heartbeat missed", "snapshot", h.ref.String(), "err", err)
	}
}

func (h *heartbeat) beat(ctx context.Context) error {
	h.mu.Lock()
	seq := h.seq
	h.seq++
	h.mu.Unlock()
	data, err := lease{SnapshotID: h.ref.ID, Nonce: h.nonce, Seq: seq}.encode()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := h.store.remote.Put(ctx, in(h.ref, leaseName), storage.Bytes(data)); err != nil {
		return err
	}
	h.mu.Lock()
	h.last = start
	h.mu.Unlock()
	return nil
}

// left is how long the lease still lasts. The monotonic clock stands still
// while some systems sleep and the wall clock can be set back; the greater
// distance counts.
func (h *heartbeat) left() time.Duration {
	h.mu.Lock()
	last := h.last
	h.mu.Unlock()
	now := time.Now()
	return h.ttl() - max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
}

func (h *heartbeat) lapsed() bool { return !h.locked && h.left() <= 0 }

// alive is ErrFenced when the lease has lapsed.
func (h *heartbeat) alive() error {
	if h.lapsed() {
		return ErrFenced
	}
	select {
	case <-h.fenced:
		return ErrFenced
	default:
		return nil
	}
}

// stop ends the goroutine and waits for it.
func (h *heartbeat) stop() {
	h.cancel()
	<-h.done
}
