package execdb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sluice/storage"
)

// process is this Store as an owner: a locked file and a row. Both are made at
// the first write, so that a reader leaves no trace.
type process struct {
	store *Store
	lost  chan struct{}

	mu       sync.Mutex
	id       string   // "" while not registered
	lock     *os.File // held until close
	isLost   bool
	closed   bool
	live     map[string]bool // own executions that have not ended
	leases   map[string]int64
	stopBeat context.CancelFunc
	beating  chan struct{} // closed when the heartbeat has ended
}

func newProcess(s *Store) *process {
	return &process{store: s, lost: make(chan struct{}), live: map[string]bool{}, leases: map[string]int64{}}
}

// lockFile creates name where needed and locks it. ErrLocked when somebody
// has it.
func lockFile(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := storage.LockFile(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		// Whoever held it may have removed the file before we had the lock.
		held, err := f.Stat()
		if err == nil {
			var now fs.FileInfo
			if now, err = os.Stat(name); err == nil && os.SameFile(held, now) {
				return f, nil
			}
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

func (s *Store) lockName(process string) string {
	return filepath.Join(s.dir, lockFolder, process+".lock")
}

// register makes the lock and the row, once.
func (p *process) register(ctx context.Context) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return "", storage.ErrClosed
	case p.isLost:
		return "", storage.ErrLeaseLost
	case p.id != "":
		return p.id, nil
	}
	var raw [16]byte
	if _, err := io.ReadFull(p.store.o.Random, raw[:]); err != nil {
		return "", fmt.Errorf("new process id: %w", err)
	}
	id := hex.EncodeToString(raw[:])
	lock, err := lockFile(p.store.lockName(id))
	if err != nil {
		return "", err
	}
	now := millis(p.store.o.Now())
	err = p.store.control.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO process (id, host, pid, boot_id, started, heartbeat) VALUES (?, ?, ?, ?, ?, ?)`,
			id, p.store.o.Host, p.store.o.PID, p.store.o.BootID, now, now)
		return err
	})
	if err != nil {
		_ = os.Remove(lock.Name())
		_ = lock.Close()
		return "", fmt.Errorf("register this process: %w", err)
	}
	p.id, p.lock = id, lock
	beat, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.stopBeat, p.beating = cancel, make(chan struct{})
	go p.run(beat)
	return id, nil
}

// own runs f in a transaction that asserts that this process was not declared
// dead, and that counts as a heartbeat.
func (s *Store) own(ctx context.Context, f func(tx *sql.Tx, process string) error) error {
	id, err := s.self.register(ctx)
	if err != nil {
		return err
	}
	return s.control.write(ctx, func(tx *sql.Tx) error {
		if err := s.assertAlive(ctx, tx, id); err != nil {
			return err
		}
		return f(tx, id)
	})
}

func (s *Store) assertAlive(ctx context.Context, tx *sql.Tx, id string) error {
	n, err := affected(tx.ExecContext(ctx, `UPDATE process SET heartbeat = max(heartbeat, ?) WHERE id = ?`, millis(s.o.Now()), id))
	if err != nil {
		return err
	}
	if n == 0 {
		s.self.lose()
		return fmt.Errorf("this process was declared dead: %w", storage.ErrLeaseLost)
	}
	return nil
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

func (p *process) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isLost {
		p.isLost = true
		close(p.lost)
	}
}

// Lost is closed when this process was declared dead.
func (s *Store) Lost() <-chan struct{} { return s.self.lost }

func (p *process) run(ctx context.Context) {
	defer close(p.beating)
	ticker := time.NewTicker(p.store.o.Heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.lost:
			return
		case <-ticker.C:
		}
		if !p.busy() {
			continue
		}
		if err := p.store.beat(ctx); err != nil && ctx.Err() == nil {
			p.store.o.Logger.Warn("Execution store heartbeat missed", "err", err)
		}
	}
}

// busy tells whether anybody could miss this process.
func (p *process) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.live) > 0 || len(p.leases) > 0
}

// beat notes that this process lives.
func (s *Store) beat(ctx context.Context) error {
	return s.own(ctx, func(*sql.Tx, string) error { return nil })
}

func (p *process) track(execution string, live bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if live {
		p.live[execution] = true
	} else {
		delete(p.live, execution)
	}
}

// close gives up the row and the lock. The row stays where an execution has
// not ended, so that the next opening ends it.
func (p *process) close() error {
	p.mu.Lock()
	id, lock := p.id, p.lock
	p.closed = true
	p.mu.Unlock()
	if id == "" {
		return nil
	}
	p.stopBeat()
	<-p.beating
	ctx, cancel := context.WithTimeout(context.Background(), busyTimeout)
	defer cancel()
	gone := false
	err := p.store.control.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE lease SET process = '', execution = '' WHERE process = ?`, id); err != nil {
			return err
		}
		n, err := affected(tx.ExecContext(ctx, `DELETE FROM process WHERE id = ? AND NOT EXISTS (SELECT 1 FROM execution WHERE process = process.id AND ended = 0)`, id))
		gone = n > 0
		return err
	})
	if gone {
		_ = os.Remove(lock.Name()) // an empty file at worst
	}
	return errors.Join(err, lock.Close())
}

// Swept is what Sweep has done.
type Swept struct {
	Processes   int
	Interrupted []string // ids of executions
}

// Sweep ends what dead processes have left: their executions become
// INTERRUPTED with the last heartbeat as end, their leases are free. Open does
// it; a program that stays open may do it again.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	ids, err := queryStrings(ctx, s.control.reader, `SELECT id FROM process`)
	if err != nil {
		return Swept{}, err
	}
	var swept Swept
	for _, id := range ids {
		if s.self.is(id) {
			continue
		}
		dead, err := s.ifDead(id, func() error {
			return s.control.write(ctx, func(tx *sql.Tx) error {
				interrupted, err := s.bury(ctx, tx, id)
				swept.Interrupted = append(swept.Interrupted, interrupted...)
				return err
			})
		})
		if err != nil {
			return swept, fmt.Errorf("sweep process %s: %w", id, err)
		}
		if dead {
			swept.Processes++
		}
	}
	return swept, nil
}

func (p *process) is(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.id == id
}

// ifDead runs f while it holds the lock of a dead process; it does nothing
// when that process lives.
func (s *Store) ifDead(id string, f func() error) (bool, error) {
	lock, err := lockFile(s.lockName(id))
	if errors.Is(err, storage.ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = f()
	if err == nil {
		_ = os.Remove(lock.Name())
	}
	_ = lock.Close()
	return err == nil, err
}

// bury takes a dead process out of the database.
func (s *Store) bury(ctx context.Context, tx *sql.Tx, id string) ([]string, error) {
	var host string
	var pid, heartbeat int64
	err := tx.QueryRowContext(ctx, `SELECT host, pid, heartbeat FROM process WHERE id = ?`, id).Scan(&host, &pid, &heartbeat)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // somebody else was faster
	}
	if err != nil {
		return nil, err
	}
	executions, err := queryStrings(ctx, tx, `SELECT id FROM execution WHERE process = ? AND ended = 0`, id)
	if err != nil {
		return nil, err
	}
	ended := fromMillis(heartbeat).Format(time.RFC3339Nano)
	for _, e := range executions {
		if _, err := tx.ExecContext(ctx, `UPDATE execution SET state = ?, ended = max(?, started), message = ? WHERE id = ?`,
			storage.StateInterrupted, heartbeat, fmt.Sprintf("process %d on %s has ended", pid, host), e); err != nil {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE action_run SET state = ?1, facts = json_set(facts, '$.state', ?1, '$.ended', ?2) WHERE execution = ?3 AND state = ?4`,
			storage.ActionInterrupted, ended, e, storage.ActionRunning); err != nil {
			return nil, err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE lease SET process = '', execution = '', epoch = epoch + 1 WHERE process = ?`, id); err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM process WHERE id = ?`, id)
	return executions, err
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func queryStrings(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	return queryAll(ctx, q, func(r *sql.Rows) (string, error) {
		var text string
		err := r.Scan(&text)
		return text, err
	}, query, args...)
}

// queryAll reads a whole result, so that no transaction outlives the call.
func queryAll[T any](ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any) (list []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}
