package execdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"sluice/storage"
)

// The names in the folder.
const (
	controlFile = "control.db"
	logFile     = "log.db"
	openLock    = "open.lock"
	lockFolder  = "processes"
)

// Defaults of Options.
const (
	DefaultHeartbeat  = 5 * time.Second
	DefaultFlushEvery = 200 * time.Millisecond
	busyTimeout       = 15 * time.Second
	openTimeout       = 30 * time.Second
	readers           = 4
)

// Options of a Store. The zero value is right for most callers.
type Options struct {
	// Redact takes the secrets out of every text that is stored; nil stores
	// texts as they are.
	Redact storage.Redactor
	// Host, PID, BootID and Who describe this process; empty ones are asked
	// from the system, Who stays empty.
	Host   string
	PID    int
	BootID string
	Who    string
	// Heartbeat is how often a process that owns something notes that it lives;
	// 0 is DefaultHeartbeat.
	Heartbeat time.Duration
	// FlushEvery is how long a log entry waits at most; 0 is DefaultFlushEvery.
	FlushEvery time.Duration
	// AllowNetwork opens a folder on a network file system all the same. Locks
	// and shared memory do not work there: two machines will destroy it.
	AllowNetwork bool
	// Now and Random are the clock of stored times and the source of ids; nil
	// is time.Now and crypto/rand.
	Now    func() time.Time
	Random io.Reader
	// Logger gets what happens in the background; nil discards it.
	Logger *slog.Logger

	// networkOf replaces the question to the operating system, for tests.
	networkOf func(dir string) (fileSystem string, network bool, err error)
}

func (o *Options) fill() {
	if o.Host == "" {
		o.Host = "unknown"
		if name, err := os.Hostname(); err == nil {
			o.Host = name
		}
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.BootID == "" {
		boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // Linux only
		o.BootID = strings.TrimSpace(string(boot))
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.FlushEvery == 0 {
		o.FlushEvery = DefaultFlushEvery
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
	if o.networkOf == nil {
		o.networkOf = networkFileSystem
	}
}

// Store is a storage.ExecutionStore in a folder. It is safe for many
// goroutines, and many processes may have one on the same folder.
type Store struct {
	dir     string
	o       Options
	control *database
	log     *database
	self    *process
	writer  *logWriter

	closeOnce sync.Once
	closeErr  error
}

var _ storage.ExecutionStore = (*Store)(nil)

// Refusals of Open.
var (
	// ErrNetwork: SQLite's locks and shared memory do not work on network file
	// systems. Choose a folder on a local disk.
	ErrNetwork = errors.New("execution store on a network file system")
	// ErrNewer: a newer version has migrated the store. Update this one.
	ErrNewer = errors.New("execution store was written by a newer version: update Sluice on this machine")
	// ErrForeign: the database belongs to another program. Choose another folder.
	ErrForeign = errors.New("not an execution store")
)

// Open opens the store in dir, and creates it where there is none (0700).
// Executions of processes that have died become INTERRUPTED. Errors are
// ErrNetwork, ErrNewer, ErrForeign, or of the file system, with a hint.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	o.fill()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, explain(dir, err)
	}
	if err := prepareFolder(dir, &o); err != nil {
		return nil, explain(dir, err)
	}
	s := &Store{dir: dir, o: o}
	if err := s.open(ctx); err != nil {
		_ = s.control.close()
		_ = s.log.close()
		return nil, explain(dir, err)
	}
	s.self = newProcess(s)
	s.writer = startLogWriter(s)
	if _, err := s.Sweep(ctx); err != nil {
		_ = s.Close()
		return nil, explain(dir, err)
	}
	return s, nil
}

func explain(dir string, err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	switch {
	case errors.Is(err, ErrNetwork):
		hint = "Put the data folder on a local disk. Snapshots may stay on the network; only the execution store may not."
	case errors.Is(err, ErrNewer):
		hint = "Update Sluice on this machine, or use another data folder."
	case errors.Is(err, ErrForeign):
		hint = "Use another data folder, or move the file away."
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w: %w", storage.ErrPermission, err)
	}
	return &storage.Error{Op: "open execution store", Location: dir, Hint: hint, Err: err}
}

func prepareFolder(dir string, o *Options) error {
	if err := os.MkdirAll(filepath.Join(dir, lockFolder), 0o700); err != nil {
		return err
	}
	// Definitions and rows are in it; an existing folder may be open to others.
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	name, network, err := o.networkOf(dir)
	if err != nil {
		return fmt.Errorf("which file system: %w", err)
	}
	if network && !o.AllowNetwork {
		return fmt.Errorf("%w (%s)", ErrNetwork, name)
	}
	return nil
}

// open makes both databases ready. One process at a time does so, so that
// creation and migration meet nobody.
func (s *Store) open(ctx context.Context) error {
	release, err := waitForLock(ctx, filepath.Join(s.dir, openLock), openTimeout)
	if err != nil {
		return err
	}
	defer release()
	if s.control, err = openDatabase(ctx, filepath.Join(s.dir, controlFile), controlKind); err != nil {
		return err
	}
	s.log, err = openDatabase(ctx, filepath.Join(s.dir, logFile), logKind)
	return err
}

// waitForLock asks again and again, since an opening takes a moment only.
func waitForLock(ctx context.Context, name string, limit time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		f, err := lockFile(name)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, storage.ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w: %w", name, storage.ErrLocked, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// Close flushes the log, gives up what this process holds and closes both
// databases. The error tells of lost log entries first.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = errors.Join(s.writer.close(), s.self.close(), s.control.close(), s.log.close())
	})
	return s.closeErr
}

//go:embed schema/*.sql migrations
var scripts embed.FS

// kind is one of the two databases.
type kind struct {
	name        string
	application int64 // application_id
	synchronous string
	scripts     fs.FS
}

var (
	controlKind = kind{"control", 0x534c5543, "FULL", scripts} // "SLUC"
	logKind     = kind{"log", 0x534c554c, "NORMAL", scripts}   // "SLUL"
)

// database is one SQLite file: a single writer and a pool of readers.
type database struct {
	kind    kind
	version int // user_version that this program knows
	writer  *sql.DB
	reader  *sql.DB
}

func (d *database) close() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.reader.Close(), d.writer.Close())
}
