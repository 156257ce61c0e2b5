package execdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/storage"
)

const headColumns = `id, parent, root, call_path, replay_of, origin, kind, name, file, state, started, ended, message, host, pid, boot_id, who, reason`

// headScanner reads headColumns into variables of the driver's own types:
// named types cost database/sql a detour by reflection, and lists are long.
type headScanner struct {
	h                   storage.ExecutionHead
	kind, state         string
	started, ended, pid int64
	into                []any
}

func newHeadScanner(more ...any) *headScanner {
	c := &headScanner{}
	h := &c.h
	c.into = append([]any{
		&h.ID, &h.Parent, &h.Root, &h.CallPath, &h.ReplayOf, &h.Origin, &c.kind, &h.Name, &h.File, &c.state, &c.started, &c.ended,
		&h.Message, &h.Host, &c.pid, &h.BootID, &h.Who, &h.Reason,
	}, more...)
	return c
}

func (c *headScanner) scan(scan func(dest ...any) error) (storage.ExecutionHead, error) {
	err := scan(c.into...)
	c.h.Kind, c.h.State, c.h.PID = storage.ExecutionKind(c.kind), storage.State(c.state), int(c.pid)
	c.h.Started, c.h.Ended = fromMillis(c.started), fromMillis(c.ended)
	return c.h, err
}

func heads(ctx context.Context, q querier, rest string, args ...any) ([]storage.ExecutionHead, error) {
	c := newHeadScanner()
	return queryAll(ctx, q, func(r *sql.Rows) (storage.ExecutionHead, error) { return c.scan(r.Scan) },
		`SELECT `+headColumns+` FROM execution `+rest, args...)
}

func oneHead(ctx context.Context, q querier, id string) (storage.ExecutionHead, error) {
	list, err := heads(ctx, q, `WHERE id = ? AND removed = 0`, id)
	if err != nil {
		return storage.ExecutionHead{}, err
	}
	if len(list) == 0 {
		return storage.ExecutionHead{}, notFound(id)
	}
	return list[0], nil
}

// Execution gives all that is kept of one execution itself.
func (s *Store) Execution(ctx context.Context, id string) (storage.Execution, error) {
	var e storage.Execution
	var parameters, variables, replay string
	c := newHeadScanner(&e.Definition, &e.RunConfiguration, &e.LogLevel, &parameters, &variables, &replay)
	row := s.control.reader.QueryRowContext(ctx, `SELECT `+headColumns+`, definition, run_configuration, log_level, parameters, variables, replay
		FROM execution JOIN execution_detail ON execution = id WHERE id = ? AND removed = 0`, id)
	var err error
	e.ExecutionHead, err = c.scan(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return e, notFound(id)
	}
	if err != nil {
		return e, err
	}
	err = errors.Join(decode(parameters, &e.Parameters), decode(variables, &e.Variables), decode(replay, &e.Replay))
	if err != nil {
		return e, fmt.Errorf("execution %s: %w", id, err)
	}
	return e, nil
}

func decode(text string, v any) error {
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
	}
	return nil
}

// Definition gives a definition as run, redacted.
func (s *Store) Definition(ctx context.Context, hash string) ([]byte, error) {
	var content []byte
	err := s.control.reader.QueryRowContext(ctx, `SELECT content FROM definition WHERE hash = ?`, hash).Scan(&content)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("definition %s: %w", hash, storage.ErrNotFound)
	}
	return content, err
}

// ResolveID completes a shortened id.
func (s *Store) ResolveID(ctx context.Context, prefix string) (string, error) {
	low, err := storage.NormalizeIDPrefix(prefix)
	if err != nil {
		return "", err
	}
	ids, err := queryStrings(ctx, s.control.reader, `SELECT id FROM execution WHERE id >= ? AND id < ? AND removed = 0 ORDER BY id DESC LIMIT 5`, low, low+"~")
	if err != nil {
		return "", err
	}
	return storage.OnlyID(prefix, ids)
}

// Executions gives one page of a list, newest first.
func (s *Store) Executions(ctx context.Context, q storage.ExecutionQuery) (storage.ExecutionPage, error) {
	where, args, err := conditions(q)
	if err != nil {
		return storage.ExecutionPage{}, err
	}
	limit := storage.PageSize(q.Limit)
	list, err := heads(ctx, s.control.reader, `WHERE `+where+` ORDER BY id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return storage.ExecutionPage{}, err
	}
	page := storage.ExecutionPage{Executions: list}
	if len(list) > limit {
		page.Executions, page.Next = list[:limit], list[limit-1].ID
	}
	return page, nil
}

func conditions(q storage.ExecutionQuery) (string, []any, error) {
	where, args := []string{"removed = 0"}, []any(nil)
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if len(q.States) > 0 {
		add("state IN ("+marks(len(q.States))+")", anys(q.States)...)
	}
	if len(q.Kinds) > 0 {
		add("kind IN ("+marks(len(q.Kinds))+")", anys(q.Kinds)...)
	}
	if q.Name != "" {
		add("(instr(lower(name), lower(?)) > 0 OR instr(lower(file), lower(?)) > 0)", q.Name, q.Name)
	}
	if q.IDPrefix != "" {
		low, err := storage.NormalizeIDPrefix(q.IDPrefix)
		if err != nil {
			return "", nil, err
		}
		add("id >= ? AND id < ?", low, low+"~")
	}
	low, high := storage.IDRange(q.From, q.To)
	if low != "" {
		add("id >= ?", low)
	}
	if high != "" {
		add("id < ?", high)
	}
	if q.RootsOnly {
		add("parent = ''")
	}
	if q.Origin != "" {
		add("origin = ?", q.Origin)
	}
	if q.After != "" {
		add("id < ?", q.After)
	}
	return strings.Join(where, " AND "), args, nil
}

func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// Tree gives the call tree that id belongs to.
func (s *Store) Tree(ctx context.Context, id string) ([]storage.ExecutionHead, error) {
	return s.related(ctx, id, `WHERE root = (SELECT root FROM execution WHERE id = ?) AND removed = 0 ORDER BY parent <> '', id`)
}

// Lineage gives the chain of replays that id belongs to.
func (s *Store) Lineage(ctx context.Context, id string) ([]storage.ExecutionHead, error) {
	return s.related(ctx, id, `WHERE origin = (SELECT origin FROM execution WHERE id = ?) AND parent = '' AND removed = 0 ORDER BY id`)
}

func (s *Store) related(ctx context.Context, id, rest string) ([]storage.ExecutionHead, error) {
	list, err := heads(ctx, s.control.reader, rest, id)
	if err == nil && len(list) == 0 {
		err = notFound(id)
	}
	return list, err
}

// ActionRuns gives the action runs of a root execution.
func (s *Store) ActionRuns(ctx context.Context, root string) ([]storage.ActionRun, error) {
	return queryAll(ctx, s.control.reader, func(r *sql.Rows) (storage.ActionRun, error) {
		var a storage.ActionRun
		var facts string
		var rows []byte
		if err := r.Scan(&facts, &rows); err != nil {
			return a, err
		}
		if err := decode(facts, &a); err != nil {
			return a, fmt.Errorf("action run of %s: %w", root, err)
		}
		a.Rows.Data = rows
		return a, nil
	}, `SELECT facts, rows FROM action_run WHERE root = ? ORDER BY started, rowid`, root)
}

// Metrics gives the counters of an execution's transforms.
func (s *Store) Metrics(ctx context.Context, execution string) ([]storage.TransformMetrics, error) {
	return queryAll(ctx, s.control.reader, func(r *sql.Rows) (storage.TransformMetrics, error) {
		var m storage.TransformMetrics
		var facts string
		if err := r.Scan(&facts); err != nil {
			return m, err
		}
		return m, decode(facts, &m)
	}, `SELECT facts FROM transform_metrics WHERE execution = ? ORDER BY rowid`, execution)
}

// Snapshots gives the links of an execution, or of a root's whole tree.
func (s *Store) Snapshots(ctx context.Context, execution string) ([]storage.SnapshotLink, error) {
	return queryAll(ctx, s.control.reader, func(r *sql.Rows) (storage.SnapshotLink, error) {
		var l storage.SnapshotLink
		err := r.Scan(&l.Execution, &l.Ref.Gate, &l.Ref.ID, &l.Role, &l.Location, &l.CallPath, &l.Node, &l.Digest)
		return l, err
	}, `SELECT l.execution, l.gate, l.snapshot, l.role, l.location, l.call_path, l.node, coalesce(s.digest, '')
		FROM snapshot_link l LEFT JOIN seal s ON s.gate = l.gate AND s.snapshot = l.snapshot
		WHERE l.execution IN (SELECT id FROM execution WHERE (id = ?1 OR root = ?1) AND removed = 0)
		ORDER BY l.execution, l.snapshot, l.role`, execution)
}

// SealedDigest gives the digest that was recorded for a snapshot.
func (s *Store) SealedDigest(ctx context.Context, ref storage.SnapshotRef) (string, error) {
	var digest string
	err := s.control.reader.QueryRowContext(ctx, `SELECT digest FROM seal WHERE gate = ? AND snapshot = ?`, ref.Gate, ref.ID).Scan(&digest)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return digest, err
}
