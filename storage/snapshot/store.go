package snapshot

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"sluice/storage"
)

// DefaultHeartbeat is how often a writer shows that it lives.
const DefaultHeartbeat = 20 * time.Second

// A Witness remembers the digest of each sealed snapshot in another place
// (the execution store), so that rewriting manifest and segments together is
// noticed too.
type Witness interface {
	// RecordSeal keeps the digest of a snapshot that was sealed just now.
	RecordSeal(ctx context.Context, ref storage.SnapshotRef, digest string) error
	// SealedDigest gives the digest kept for ref, "" when there is none.
	SealedDigest(ctx context.Context, ref storage.SnapshotRef) (string, error)
}

// Options of a Store. The zero value is right for most callers.
type Options struct {
	// Keys sign and check manifests. The first one signs; with any key set,
	// an unsigned manifest is refused.
	Keys []*Key
	// Witness is the second witness, or nil.
	Witness Witness
	// Cache keeps verified segments of remotes that are not local, or nil.
	Cache *Cache
	// Heartbeat of writers; 0 is DefaultHeartbeat.
	Heartbeat time.Duration
	// Host is this process; the zero value asks the system.
	Host Host
	// Now and Random are the clock of stored times and the source of ids and
	// nonces; nil is time.Now and crypto/rand.
	Now    func() time.Time
	Random io.Reader
	// Logger gets what happens in the background; nil discards it.
	Logger *slog.Logger
}

// Store is the handle on all snapshots below the root of one remote. It is
// safe for many goroutines.
type Store struct {
	remote storage.Remote
	o      Options
}

// NewStore does no I/O.
func NewStore(remote storage.Remote, o Options) *Store {
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.Host == (Host{}) {
		o.Host = ThisHost()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{remote: remote, o: o}
}

// ThisHost describes this process. BootID is empty where the system has none.
func ThisHost() Host {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux only
	return Host{Name: name, PID: os.Getpid(), BootID: strings.TrimSpace(string(boot))}
}

func (s *Store) nonce() (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.o.Random, b[:]); err != nil {
		return "", fmt.Errorf("new nonce: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func (s *Store) signer() *Key {
	if len(s.o.Keys) == 0 {
		return nil
	}
	return s.o.Keys[0]
}

// create writes a name that must not be there yet. Where the remote decides
// that itself, exactly one writer wins; elsewhere the protocol is safe without.
// An object that holds these bytes already counts as ours: an earlier answer
// was lost.
func (s *Store) create(ctx context.Context, name string, data []byte) error {
	err := errors.ErrUnsupported
	if c, ok := s.remote.(storage.ConditionalPutter); ok {
		err = c.PutIfAbsent(ctx, name, storage.Bytes(data))
	}
	if errors.Is(err, errors.ErrUnsupported) {
		if err = s.certainlyAbsent(ctx, name); err == nil {
			return s.remote.Put(ctx, name, storage.Bytes(data))
		}
	}
	if errors.Is(err, storage.ErrExists) {
		stored, readErr := storage.ReadAll(ctx, s.remote, name, int64(len(data)))
		if readErr == nil && bytes.Equal(stored, data) {
			return nil
		}
	}
	return err
}

// certainlyAbsent is nil only when the remote says that name is not there.
// ErrExists when it is, any other error when nobody knows.
func (s *Store) certainlyAbsent(ctx context.Context, name string) error {
	_, err := s.remote.Stat(ctx, name)
	switch {
	case err == nil:
		return fmt.Errorf("%s: %w", name, storage.ErrExists)
	case errors.Is(err, storage.ErrNotFound):
		return nil
	}
	return fmt.Errorf("is %s absent: %w", name, err)
}

// tombstone reads interrupted.json: nil, nil when it is certainly absent. One
// that cannot be parsed is a tombstone all the same.
func (s *Store) tombstone(ctx context.Context, ref storage.SnapshotRef) (*Tombstone, error) {
	data, err := storage.ReadAll(ctx, s.remote, in(ref, tombstoneName), maxSmallBytes)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil
	case err != nil && !errors.Is(err, storage.ErrCorrupt):
		return nil, err
	case err == nil:
		if t, parseErr := parseTombstone(data); parseErr == nil {
			return t, nil
		}
	}
	return &Tombstone{Status: storage.SnapshotInterrupted, Reason: "its tombstone cannot be read"}, nil
}

// tombstoneError is what a reader reports about a tombstone.
func tombstoneError(ref storage.SnapshotRef, t *Tombstone) error {
	cause := ErrInterrupted
	if t.Status == storage.SnapshotPruned {
		cause = ErrPruned
	}
	return about(ref, t.Status, fmt.Errorf("%w (%s)", cause, t.Reason))
}

// bury writes a tombstone unless there is one. It gives the one that stands
// and whether this call wrote it.
func (s *Store) bury(ctx context.Context, ref storage.SnapshotRef, t Tombstone) (standing *Tombstone, mine bool, err error) {
	if standing, err = s.tombstone(ctx, ref); err != nil || standing != nil {
		return standing, false, err
	}
	nonce, err := s.nonce()
	if err != nil {
		return nil, false, err
	}
	t.SnapshotID, t.By, t.Nonce, t.At = ref.ID, s.o.Host, nonce, s.o.Now().UTC().Round(0)
	data, err := t.encode()
	if err != nil {
		return nil, false, err
	}
	if err := s.create(ctx, in(ref, tombstoneName), data); err != nil && !errors.Is(err, storage.ErrExists) {
		return nil, false, fmt.Errorf("write tombstone: %w", err)
	}
	if standing, err = s.tombstone(ctx, ref); err != nil {
		return nil, false, err
	}
	if standing == nil {
		return nil, false, corrupt("the tombstone just written is not there")
	}
	return standing, standing.Nonce == nonce, nil
}

// withdraw removes a tombstone if it is still the given one.
func (s *Store) withdraw(ctx context.Context, ref storage.SnapshotRef, mine *Tombstone) error {
	standing, err := s.tombstone(ctx, ref)
	if err != nil || standing == nil || mine.Nonce == "" || standing.Nonce != mine.Nonce {
		return err
	}
	return s.remote.Delete(ctx, in(ref, tombstoneName))
}

// record reads open.json and its bytes.
func (s *Store) record(ctx context.Context, ref storage.SnapshotRef) (*Record, []byte, error) {
	data, err := storage.ReadAll(ctx, s.remote, in(ref, openName), maxRecordBytes)
	if err != nil {
		return nil, nil, err
	}
	r, err := parseRecord(data, ref)
	return r, data, err
}
