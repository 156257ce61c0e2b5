package execdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/storage"
)

// Rows per transaction of a removal, so that other writers never wait long.
const (
	logStep     = 5000
	controlStep = 500
	vacuumPages = 4000
)

// PlanRetention decides which roots may go. It changes nothing.
func (s *Store) PlanRetention(ctx context.Context, p storage.RetentionPolicy) (storage.RetentionPlan, error) {
	roots, err := heads(ctx, s.control.reader, `WHERE parent = '' AND removed = 0`)
	if err != nil {
		return storage.RetentionPlan{}, err
	}
	unended, err := queryStrings(ctx, s.control.reader, `SELECT DISTINCT root FROM execution WHERE ended = 0`)
	if err != nil {
		return storage.RetentionPlan{}, err
	}
	live := map[string]bool{}
	for _, root := range unended {
		live[root] = true
	}
	return storage.PlanRemoval(roots, live, p, s.o.Now())
}

// Remove does what the plan says, after it has finished what an earlier
// removal had to leave.
func (s *Store) Remove(ctx context.Context, plan storage.RetentionPlan) (storage.Removed, error) {
	var done storage.Removed
	left, err := queryStrings(ctx, s.control.reader, `SELECT DISTINCT root FROM execution WHERE removed > 0`)
	if err != nil {
		return done, err
	}
	for _, root := range left {
		if err := s.erase(ctx, root, &done); err != nil {
			return done, fmt.Errorf("remove execution %s: %w", root, err)
		}
	}
	for _, item := range plan.Remove {
		why, err := s.condemn(ctx, &plan, item)
		if err == nil && why == "" {
			err = s.erase(ctx, item.ID, &done)
		}
		if err != nil {
			return done, fmt.Errorf("remove execution %s: %w", item.ID, err)
		}
		if why != "" {
			done.Kept = append(done.Kept, storage.RetentionItem{ExecutionHead: item.ExecutionHead, Why: why})
		}
	}
	return done, s.shrink(ctx)
}

// condemn takes a tree out of all lists, in one step, unless it is needed
// after all.
func (s *Store) condemn(ctx context.Context, plan *storage.RetentionPlan, item storage.RetentionItem) (why string, err error) {
	if why, err = plan.Needs(item.ExecutionHead); err != nil || why != "" {
		return why, err
	}
	err = s.control.write(ctx, func(tx *sql.Tx) error {
		var live, replays int
		if err := tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM execution WHERE root = ?1 AND ended = 0), (SELECT count(*) FROM execution WHERE replay_of = ?1 AND removed = 0)`, item.ID).
			Scan(&live, &replays); err != nil {
			return err
		}
		switch {
		case live > 0:
			why = "has not ended"
			return nil
		case replays > 0:
			why = "has been replayed since"
			return nil
		}
		_, err := tx.ExecContext(ctx, `UPDATE execution SET removed = ? WHERE root = ?`, max(millis(s.o.Now()), 1), item.ID)
		return err
	})
	return why, err
}

// erase deletes a condemned tree in steps: log first, the root row last, so
// that an unfinished removal is found again.
func (s *Store) erase(ctx context.Context, root string, done *storage.Removed) error {
	if err := s.writer.flush(ctx); err != nil {
		return err
	}
	n, err := repeat(ctx, s.log, logStep, `DELETE FROM entry WHERE seq IN (SELECT seq FROM entry WHERE root = (SELECT id FROM source WHERE execution = ?) LIMIT ?)`, root)
	done.LogEntries += n
	if err != nil {
		return err
	}
	if err := s.forgetSources(ctx, root); err != nil {
		return err
	}
	if _, err := repeat(ctx, s.control, controlStep, `DELETE FROM action_run WHERE rowid IN (SELECT rowid FROM action_run WHERE root = ? LIMIT ?)`, root); err != nil {
		return err
	}
	for {
		ids, err := queryStrings(ctx, s.control.reader, `SELECT id FROM execution WHERE root = ? AND removed > 0 ORDER BY parent = '', id LIMIT ?`, root, controlStep/10)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = s.control.write(ctx, func(tx *sql.Tx) error {
			for _, id := range ids {
				if err := eraseOne(ctx, tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done.Executions += int64(len(ids))
	}
}

// repeat runs a limited DELETE until nothing is left.
func repeat(ctx context.Context, d *database, step int, statement, root string) (total int64, err error) {
	for {
		var n int64
		err := d.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = affected(tx.ExecContext(ctx, statement, root, step))
			return err
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}

// forgetSources drops the short numbers of a tree.
func (s *Store) forgetSources(ctx context.Context, root string) error {
	ids, err := queryStrings(ctx, s.control.reader, `SELECT id FROM execution WHERE root = ?`, root)
	if err != nil {
		return err
	}
	return s.log.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, `DELETE FROM source WHERE execution = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE execution = source.id OR root = source.id)`, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func eraseOne(ctx context.Context, tx *sql.Tx, id string) error {
	var definition string
	err := tx.QueryRowContext(ctx, `SELECT definition FROM execution_detail WHERE execution = ?`, id).Scan(&definition)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, step := range []struct {
		statement string
		value     string
	}{
		{`DELETE FROM transform_metrics WHERE execution = ?`, id},
		{`DELETE FROM seal WHERE (gate, snapshot) IN (SELECT gate, snapshot FROM snapshot_link l WHERE execution = ?1
			AND NOT EXISTS (SELECT 1 FROM snapshot_link o WHERE o.gate = l.gate AND o.snapshot = l.snapshot AND o.execution <> ?1))`, id},
		{`DELETE FROM snapshot_link WHERE execution = ?`, id},
		{`DELETE FROM execution_detail WHERE execution = ?`, id},
		{`DELETE FROM definition WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM execution_detail WHERE definition = ?1)`, definition},
		{`DELETE FROM execution WHERE id = ?`, id},
	} {
		if _, err := tx.ExecContext(ctx, step.statement, step.value); err != nil {
			return err
		}
	}
	return nil
}

// shrink gives some of the freed pages back to the disk.
func (s *Store) shrink(ctx context.Context) error {
	for _, d := range []*database{s.control, s.log} {
		// Each row that is read frees one page.
		none := func(*sql.Rows) (struct{}, error) { return struct{}{}, nil }
		if _, err := queryAll(ctx, d.writer, none, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages)); err != nil {
			return err
		}
	}
	return nil
}
