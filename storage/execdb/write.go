package execdb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/storage"
)

func notFound(id string) error { return fmt.Errorf("execution %s: %w", id, storage.ErrNotFound) }

// Create adds an execution.
func (s *Store) Create(ctx context.Context, n storage.NewExecution) (storage.Execution, error) {
	now := s.o.Now().UTC().Truncate(time.Millisecond)
	if n.ID == "" {
		id, err := storage.NewExecutionID(now, s.o.Random)
		if err != nil {
			return storage.Execution{}, err
		}
		n.ID = id
	}
	n, err := n.Clean(s.o.Redact)
	if err != nil {
		return storage.Execution{}, err
	}
	s.describe(&n, now)
	err = s.own(ctx, func(tx *sql.Tx, self string) error { return s.insert(ctx, tx, self, &n) })
	if err != nil {
		return storage.Execution{}, fmt.Errorf("create execution %s: %w", n.ID, err)
	}
	s.self.track(n.ID, true)
	return n.Execution, nil
}

// describe fills in what the caller left to the store.
func (s *Store) describe(n *storage.NewExecution, now time.Time) {
	n.Ended = time.Time{}
	if n.Host == "" {
		n.Host, n.PID, n.BootID = s.o.Host, s.o.PID, s.o.BootID
	}
	if n.Who == "" {
		n.Who = s.o.Who
	}
	switch {
	case n.State == storage.StateQueued:
		n.Started = time.Time{}
	case n.Started.IsZero():
		n.Started = now
	}
	n.Started = fromMillis(millis(n.Started))
	n.Definition = ""
	if n.Content != nil {
		sum := sha256.Sum256(n.Content)
		n.Definition = hex.EncodeToString(sum[:])
	}
}

func (s *Store) insert(ctx context.Context, tx *sql.Tx, self string, n *storage.NewExecution) error {
	lease, err := s.place(ctx, tx, n)
	if err != nil {
		return err
	}
	if lease.Name != "" {
		if err := assertLease(ctx, tx, lease, self); err != nil {
			return err
		}
	}
	if n.Content != nil {
		if _, err := tx.ExecContext(ctx, `INSERT INTO definition (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING`, n.Definition, n.Content); err != nil {
			return err
		}
	}
	done, err := affected(tx.ExecContext(ctx, `INSERT INTO execution (id, parent, root, replay_of, origin, call_path, kind, name, file, state, started,
		message, host, pid, boot_id, who, reason, process, lease, lease_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		n.ID, n.Parent, n.Root, n.ReplayOf, n.Origin, n.CallPath, n.Kind, n.Name, n.File, n.State, millis(n.Started),
		n.Message, n.Host, n.PID, n.BootID, n.Who, n.Reason, self, lease.Name, lease.Epoch))
	if err != nil {
		return err
	}
	if done == 0 {
		return storage.ErrExists
	}
	var replay any = n.Replay
	if n.Replay == nil {
		replay = nil
	}
	texts, err := encode(n.Parameters, n.Variables, replay)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO execution_detail (execution, definition, run_configuration, log_level, parameters, variables, replay) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		n.ID, n.Definition, n.RunConfiguration, n.LogLevel, texts[0], texts[1], texts[2])
	return err
}

// encode gives JSON texts, "" for an untyped nil.
func encode(values ...any) ([]string, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			continue
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts[i] = string(data)
	}
	return texts, nil
}

// place finds root, origin and lease of a new execution in those of its parent
// or of what it replays.
func (s *Store) place(ctx context.Context, tx *sql.Tx, n *storage.NewExecution) (lease storage.HeldLease, err error) {
	if n.Lease != nil {
		lease = *n.Lease
	}
	given := n.Origin
	n.Root, n.Origin = n.ID, n.ID
	if n.ReplayOf != "" {
		of, err := readOwned(ctx, tx, n.ReplayOf)
		switch {
		case errors.Is(err, storage.ErrNotFound) && given != "":
			of.origin = given // it ran on another machine
		case err != nil:
			return lease, fmt.Errorf("replay: %w", err)
		}
		n.Origin = of.origin
	}
	if n.Parent != "" {
		parent, err := readOwned(ctx, tx, n.Parent)
		if err != nil {
			return lease, fmt.Errorf("parent: %w", err)
		}
		n.Root, n.Origin = parent.root, parent.origin
		if lease.Name == "" {
			lease = parent.lease
		}
	}
	return lease, nil
}

// owned is what a write must know about an execution.
type owned struct {
	id, root, origin, process string
	state                     storage.State
	lease                     storage.HeldLease
}

func readOwned(ctx context.Context, tx *sql.Tx, id string) (owned, error) {
	o := owned{id: id}
	err := tx.QueryRowContext(ctx, `SELECT root, origin, process, state, lease, lease_epoch FROM execution WHERE id = ? AND removed = 0`, id).
		Scan(&o.root, &o.origin, &o.process, &o.state, &o.lease.Name, &o.lease.Epoch)
	if errors.Is(err, sql.ErrNoRows) {
		return o, notFound(id)
	}
	return o, err
}

// mine is nil when this process may write about the execution.
func (o *owned) mine(ctx context.Context, tx *sql.Tx, self string) error {
	if o.process != self {
		return fmt.Errorf("execution %s: %w", o.id, storage.ErrNotOwner)
	}
	if o.lease.Name == "" {
		return nil
	}
	return assertLease(ctx, tx, o.lease, self)
}

// writable is mine for an execution that has not ended.
func (s *Store) writable(ctx context.Context, tx *sql.Tx, self, id string) (owned, error) {
	o, err := readOwned(ctx, tx, id)
	if err != nil {
		return o, err
	}
	if err := o.mine(ctx, tx, self); err != nil {
		return o, err
	}
	if o.state.Ended() {
		return o, fmt.Errorf("execution %s is %s: %w", id, o.state, storage.ErrEnded)
	}
	return o, nil
}

// Transition moves an execution by compare and set.
func (s *Store) Transition(ctx context.Context, id string, c storage.Change) (storage.ExecutionHead, error) {
	if c.At.IsZero() {
		c.At = s.o.Now()
	}
	var head storage.ExecutionHead
	err := s.own(ctx, func(tx *sql.Tx, self string) error {
		o, err := readOwned(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := storage.CheckTransition(id, o.state, c); err != nil {
			return err
		}
		if err := o.mine(ctx, tx, self); err != nil && !(o.process != self && o.state.AskedByOthers(c.To)) {
			return err
		}
		if err := move(ctx, tx, id, o.state, c, s.o.Redact); err != nil {
			return err
		}
		head, err = oneHead(ctx, tx, id)
		return err
	})
	if err != nil {
		return storage.ExecutionHead{}, fmt.Errorf("make execution %s %s: %w", id, c.To, err)
	}
	if c.To.Ended() {
		s.self.track(id, false)
	}
	return head, nil
}

func move(ctx context.Context, tx *sql.Tx, id string, from storage.State, c storage.Change, redact storage.Redactor) error {
	var started, ended int64
	if c.To == storage.StateRunning {
		started = millis(c.At)
	}
	if c.To.Ended() {
		ended = millis(c.At)
	}
	n, err := affected(tx.ExecContext(ctx, `UPDATE execution SET state = ?1,
		started = CASE WHEN ?2 > 0 THEN ?2 ELSE started END,
		ended = CASE WHEN ?3 > 0 THEN max(?3, started) ELSE ended END,
		message = CASE WHEN ?4 <> '' THEN ?4 ELSE message END
		WHERE id = ?5 AND state = ?6`, c.To, started, ended, redact.Text(c.Message), id, from))
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("execution %s changed within a transaction", id)
	}
	return nil
}

// SaveActionRun adds or replaces one run of an action.
func (s *Store) SaveActionRun(ctx context.Context, a storage.ActionRun) error {
	a, err := a.Clean(s.o.Redact)
	if err != nil {
		return err
	}
	facts, err := json.Marshal(a)
	if err != nil {
		return err
	}
	err = s.own(ctx, func(tx *sql.Tx, self string) error {
		o, err := s.writable(ctx, tx, self, a.Execution)
		if err != nil {
			return err
		}
		if o.root != a.Root {
			return fmt.Errorf("the root of execution %s is %s: %w", a.Execution, o.root, storage.ErrBadName)
		}
		n, err := affected(tx.ExecContext(ctx, `INSERT INTO action_run (root, call_path, node, ordinal, execution, state, started, facts, rows) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (root, call_path, node, ordinal) DO UPDATE SET execution = excluded.execution, state = excluded.state, started = excluded.started, facts = excluded.facts, rows = excluded.rows
			WHERE action_run.state = 'RUNNING'`,
			a.Root, a.CallPath, a.Node, a.Ordinal, a.Execution, a.State, millis(a.Started), string(facts), a.Rows.Data))
		if err == nil && n == 0 {
			return storage.ErrEnded
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("action run %s: %w", a.ActionKey, err)
	}
	return nil
}

// SaveMetrics replaces the counters of transforms.
func (s *Store) SaveMetrics(ctx context.Context, execution string, list []storage.TransformMetrics) error {
	return s.own(ctx, func(tx *sql.Tx, self string) error {
		if _, err := s.writable(ctx, tx, self, execution); err != nil {
			return err
		}
		for _, m := range list {
			facts, err := json.Marshal(m.Clean(s.o.Redact))
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO transform_metrics (execution, transform, copy, facts) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET facts = excluded.facts`, execution, m.Transform, m.Copy, string(facts)); err != nil {
				return err
			}
		}
		return nil
	})
}

// LinkSnapshot joins an execution to a snapshot.
func (s *Store) LinkSnapshot(ctx context.Context, l storage.SnapshotLink) error {
	l, err := l.Clean(s.o.Redact)
	if err != nil {
		return err
	}
	return s.own(ctx, func(tx *sql.Tx, self string) error {
		if _, err := s.writable(ctx, tx, self, l.Execution); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO snapshot_link (execution, gate, snapshot, role, location, call_path, node) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET location = excluded.location, call_path = excluded.call_path, node = excluded.node`,
			l.Execution, l.Ref.Gate, l.Ref.ID, l.Role, l.Location, l.CallPath, l.Node)
		return err
	})
}

// RecordSeal makes the store the second witness of a sealed snapshot.
func (s *Store) RecordSeal(ctx context.Context, ref storage.SnapshotRef, digest string) error {
	if digest == "" {
		return fmt.Errorf("seal of %s without a digest: %w", ref, storage.ErrBadName)
	}
	return s.own(ctx, func(tx *sql.Tx, _ string) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO seal (gate, snapshot, digest, recorded) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			ref.Gate, ref.ID, digest, millis(s.o.Now())); err != nil {
			return err
		}
		var kept string
		if err := tx.QueryRowContext(ctx, `SELECT digest FROM seal WHERE gate = ? AND snapshot = ?`, ref.Gate, ref.ID).Scan(&kept); err != nil {
			return err
		}
		if kept != digest {
			return fmt.Errorf("seal of %s: the digest %s was recorded before: %w", ref, kept, storage.ErrExists)
		}
		return nil
	})
}
