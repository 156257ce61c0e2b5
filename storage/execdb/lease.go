package execdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"sluice/storage"
)

// Acquire takes the lease in one transaction, also from a process that has
// died.
func (s *Store) Acquire(ctx context.Context, name, execution string) (storage.HeldLease, error) {
	if name == "" {
		return storage.HeldLease{}, fmt.Errorf("lease without a name: %w", storage.ErrBadName)
	}
	lease := storage.HeldLease{Name: name}
	err := s.own(ctx, func(tx *sql.Tx, self string) error {
		var holder string
		err := tx.QueryRowContext(ctx, `SELECT process, epoch FROM lease WHERE name = ?`, name).Scan(&holder, &lease.Epoch)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if holder != "" {
			if err := s.takeOver(ctx, tx, name, holder, self); err != nil {
				return err
			}
			lease.Epoch++ // by the burial
		}
		lease.Epoch++
		_, err = tx.ExecContext(ctx, `INSERT INTO lease (name, epoch, process, execution, acquired) VALUES (?1, ?2, ?3, ?4, ?5)
			ON CONFLICT (name) DO UPDATE SET epoch = ?2, process = ?3, execution = ?4, acquired = ?5`,
			name, lease.Epoch, self, execution, millis(s.o.Now()))
		return err
	})
	if err != nil {
		return storage.HeldLease{}, err
	}
	s.self.hold(lease, true)
	return lease, nil
}

// takeOver buries the holder if it is dead, else it says who holds the lease.
func (s *Store) takeOver(ctx context.Context, tx *sql.Tx, name, holder, self string) error {
	if holder != self {
		dead, err := s.ifDead(holder, func() error {
			_, err := s.bury(ctx, tx, holder)
			return err
		})
		if err != nil || dead {
			return err
		}
	}
	held := &storage.HeldError{Name: name}
	var acquired int64
	err := tx.QueryRowContext(ctx, `SELECT l.execution, l.acquired, p.host, p.pid, coalesce(e.who, '')
		FROM lease l JOIN process p ON p.id = l.process LEFT JOIN execution e ON e.id = l.execution WHERE l.name = ?`, name).
		Scan(&held.Execution, &acquired, &held.Host, &held.PID, &held.Who)
	if err != nil {
		return fmt.Errorf("holder of %s: %w", name, err)
	}
	held.Since = fromMillis(acquired).Format(time.RFC3339)
	return held
}

func (p *process) hold(l storage.HeldLease, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held {
		p.leases[l.Name] = l.Epoch
	} else if p.leases[l.Name] == l.Epoch {
		delete(p.leases, l.Name)
	}
}

// Release gives the lease back.
func (s *Store) Release(ctx context.Context, l storage.HeldLease) error {
	err := s.own(ctx, func(tx *sql.Tx, self string) error {
		n, err := affected(tx.ExecContext(ctx, `UPDATE lease SET process = '', execution = '' WHERE name = ? AND epoch = ? AND process = ?`, l.Name, l.Epoch, self))
		if err == nil && n == 0 {
			return fmt.Errorf("release %s: %w", l.Name, storage.ErrLeaseLost)
		}
		return err
	})
	if err == nil || errors.Is(err, storage.ErrLeaseLost) {
		s.self.hold(l, false)
	}
	return err
}

// CheckLease asks the database.
func (s *Store) CheckLease(ctx context.Context, l storage.HeldLease) error {
	return s.own(ctx, func(tx *sql.Tx, self string) error { return assertLease(ctx, tx, l, self) })
}

// assertLease is nil when this process has the lease in this epoch.
func assertLease(ctx context.Context, tx *sql.Tx, l storage.HeldLease, self string) error {
	var one int
	err := tx.QueryRowContext(ctx, `SELECT 1 FROM lease WHERE name = ? AND epoch = ? AND process = ?`, l.Name, l.Epoch, self).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("lease %s, epoch %d: %w", l.Name, l.Epoch, storage.ErrLeaseLost)
	}
	return err
}
