package record

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"sync"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
)

// Options of writers, claims and readers. The zero value is right for most
// callers.
type Options struct {
	// Keys sign and check records. The first one signs; with any key set, an
	// unsigned record is refused.
	Keys []*snapshot.Key
	// Redact takes secrets out once more, of everything that leaves the machine.
	Redact storage.Redactor
	// Heartbeat of writers and claims; 0 is snapshot.DefaultHeartbeat.
	Heartbeat time.Duration
	// Host is this process; the zero value asks the system. Who is its user.
	Host snapshot.Host
	Who  string
	// Now is the clock of stored times; nil is time.Now.
	Now func() time.Time
	// Logger gets what happens in the background; nil discards it.
	Logger *slog.Logger
}

func (o Options) filled() Options {
	if o.Heartbeat == 0 {
		o.Heartbeat = snapshot.DefaultHeartbeat
	}
	if o.Host == (snapshot.Host{}) {
		o.Host = snapshot.ThisHost()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o *Options) signer() *snapshot.Key {
	if len(o.Keys) == 0 {
		return nil
	}
	return o.Keys[0]
}

// beater proves that its owner lives: by the operating system's lock where the
// remote has one, and by writing a file again and again.
type beater struct {
	remote   storage.Remote
	interval time.Duration
	logger   *slog.Logger
	encode   func(seq int64) (name string, data []byte, err error)

	// Of the lock, "" and nil without one.
	lockName string
	release  func() error

	cancel context.CancelFunc
	done   chan struct{}

	writing sync.Mutex // one beat at a time; taken before mu
	mu      sync.Mutex
	seq     int64
	last    time.Time // start of the last beat that arrived
	fenced  bool
}

// takeLock puts and locks the lock file on a remote that has locks.
func (b *beater) takeLock(ctx context.Context, name string) error {
	locker, ok := b.remote.(storage.Locker)
	if !ok || !b.remote.Capabilities().Local {
		return nil
	}
	if err := b.remote.Put(ctx, name, storage.Bytes(nil)); err != nil {
		return err
	}
	release, err := locker.TryLock(ctx, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return b.remote.Delete(ctx, name)
	}
	if err == nil {
		b.lockName, b.release = name, release
	}
	return err
}

// lockFree tells whether the owner of a lock file is certainly dead.
func lockFree(ctx context.Context, remote storage.Remote, name string) (bool, error) {
	locker, ok := remote.(storage.Locker)
	if !ok {
		return false, nil
	}
	release, err := locker.TryLock(ctx, name)
	switch {
	case errors.Is(err, storage.ErrLocked), errors.Is(err, errors.ErrUnsupported):
		return false, nil
	case errors.Is(err, storage.ErrNotFound):
		return true, nil
	case err != nil:
		return false, err
	}
	return true, release()
}

// start beats once, then in the background until stop.
func (b *beater) start(ctx context.Context) error {
	if err := b.beat(ctx); err != nil {
		return err
	}
	// It must live on while a cancelled execution writes its end.
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel, b.done = cancel, make(chan struct{})
	go b.run(background)
	return nil
}

func (b *beater) run(ctx context.Context) {
	defer close(b.done)
	ticker := time.NewTicker(b.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if b.alive() != nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, storage.LeaseTTLBeats*b.interval)
		if err := b.beat(limited); err != nil && ctx.Err() == nil {
			b.logger.Warn("Record heartbeat missed", "err", err)
		}
		cancel()
	}
}

func (b *beater) beat(ctx context.Context) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	b.seq++
	seq := b.seq
	b.mu.Unlock()
	start := time.Now()
	name, data, err := b.encode(seq)
	if err == nil {
		err = b.remote.Put(ctx, name, storage.Bytes(data))
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.last = start
	b.mu.Unlock()
	return nil
}

// alive is ErrFenced once no beat arrived for a lease's time, for good. The
// monotonic clock stands still while some systems sleep and the wall clock can
// be set back; the greater distance counts.
func (b *beater) alive() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	gap := max(now.Sub(b.last), now.Round(0).Sub(b.last.Round(0)))
	if b.lockName == "" && gap >= storage.LeaseTTLBeats*b.interval {
		b.fenced = true
	}
	if b.fenced {
		return ErrFenced
	}
	return nil
}

// stop ends the beating and frees the lock; it is called once.
func (b *beater) stop(ctx context.Context) error {
	if b.cancel != nil {
		b.cancel()
		<-b.done
	}
	if b.release == nil {
		return nil
	}
	return errors.Join(b.release(), b.remote.Delete(ctx, b.lockName))
}

// lease is lease.json.
type lease struct {
	header
	Origin         string `json:"origin"`
	Execution      string `json:"execution"`
	Nonce          string `json:"nonce"`
	Seq            int64  `json:"seq"`
	IntervalMillis int64  `json:"intervalMillis"`
	Locked         bool   `json:"locked,omitempty"` // the lock file tells
	Ended          bool   `json:"ended,omitempty"`
	Sum            string `json:"sum,omitempty"`
}

func (l *lease) encode() ([]byte, error) {
	l.header = header{leaseFormat, formatVersion}
	return encodeSummed(l, &l.Sum)
}

func parseLease(data []byte) (*lease, error) {
	var l lease
	return &l, decodeSummed(data, leaseFormat, &l, &l.Sum)
}

func (l *lease) seen() storage.Lease {
	return storage.Lease{Nonce: l.Nonce, Seq: l.Seq, Interval: time.Duration(l.IntervalMillis) * time.Millisecond}
}

func writerLock(origin, nonce string) string {
	return path.Join(folder(origin), "writer-"+nonce+lockSuffix)
}
