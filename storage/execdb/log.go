package execdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"sluice/storage"
)

const (
	// flushAt is how many waiting entries are written at once without waiting
	// for the next tick.
	flushAt = 4096
	// flushStep bounds one transaction.
	flushStep = 8192
	// maxPending bounds what waits in memory; beyond it Log waits.
	maxPending = 8 * flushAt
)

// logWriter batches entries. None is dropped: a batch that could not be
// written stays in front and is tried again.
type logWriter struct {
	store *Store
	wake  chan struct{} // capacity 1: there is enough to write
	stop  chan struct{}
	done  chan struct{}

	writing sync.Mutex // one flush at a time; taken before mu

	mu      sync.Mutex
	pending []storage.LogEntry
	room    chan struct{} // closed and replaced after each flush
	err     error         // of the last flush
	closed  bool
}

func startLogWriter(s *Store) *logWriter {
	w := &logWriter{store: s, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), room: make(chan struct{})}
	go w.run()
	return w
}

func (w *logWriter) run() {
	defer close(w.done)
	ticker := time.NewTicker(w.store.o.FlushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-w.wake:
		case <-ticker.C:
		}
		if err := w.flush(context.Background()); err != nil {
			w.store.o.Logger.Warn("Execution log not written yet", "err", err)
		}
	}
}

// Log adds entries. They are redacted now, so no secret waits in memory.
func (s *Store) Log(ctx context.Context, entries ...storage.LogEntry) error {
	now := s.o.Now()
	clean := make([]storage.LogEntry, len(entries))
	for i, e := range entries {
		var err error
		if clean[i], err = e.Clean(s.o.Redact, now); err != nil {
			return err
		}
	}
	return s.writer.add(ctx, clean)
}

func (w *logWriter) add(ctx context.Context, entries []storage.LogEntry) error {
	for {
		w.mu.Lock()
		switch {
		case w.closed:
			w.mu.Unlock()
			return storage.ErrClosed
		case len(w.pending) < maxPending:
			w.pending = append(w.pending, entries...)
			enough := len(w.pending) >= flushAt
			w.mu.Unlock()
			if enough {
				w.signal()
			}
			return nil
		case w.err != nil:
			err := w.err
			w.mu.Unlock()
			return fmt.Errorf("execution log is full of entries that cannot be written: %w", err)
		}
		room := w.room
		w.mu.Unlock()
		w.signal()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-room:
		}
	}
}

func (w *logWriter) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// flush writes everything that waits now.
func (w *logWriter) flush(ctx context.Context) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	for {
		w.mu.Lock()
		batch := w.pending[:min(len(w.pending), flushStep)]
		w.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		err := w.write(ctx, batch)
		w.mu.Lock()
		w.err = err
		if err == nil {
			// Entries are only appended meanwhile, so the batch is still in front.
			w.pending = w.pending[len(batch):]
			if len(w.pending) == 0 {
				w.pending = nil
			}
		}
		close(w.room)
		w.room = make(chan struct{})
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func (w *logWriter) write(ctx context.Context, batch []storage.LogEntry) error {
	return w.store.log.write(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, `INSERT INTO entry (root, execution, time, level, kind, node, copy, text, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`)
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }()
		sources := map[string]int64{}
		for i := range batch {
			if err := w.insert(ctx, tx, insert, sources, &batch[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *logWriter) insert(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, sources map[string]int64, e *storage.LogEntry) error {
	root, err := sourceOf(ctx, tx, sources, e.Root)
	if err != nil {
		return err
	}
	execution, err := sourceOf(ctx, tx, sources, e.Execution)
	if err != nil {
		return err
	}
	data := ""
	if e.Data != nil {
		text, err := json.Marshal(e.Data)
		if err != nil {
			return fmt.Errorf("log entry of kind %s: %w", e.Kind, err)
		}
		data = string(text)
	}
	_, err = insert.ExecContext(ctx, root, execution, e.Time.UnixMilli(), int64(e.Level), string(e.Kind), e.Node, e.Copy, e.Text, data)
	return err
}

// sourceOf gives the short number of an execution; known holds those of this
// transaction.
func sourceOf(ctx context.Context, tx *sql.Tx, known map[string]int64, execution string) (int64, error) {
	if id, ok := known[execution]; ok {
		return id, nil
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO source (execution) VALUES (?) ON CONFLICT DO NOTHING`, execution); err != nil {
		return 0, err
	}
	var id int64
	err := tx.QueryRowContext(ctx, `SELECT id FROM source WHERE execution = ?`, execution).Scan(&id)
	known[execution] = id
	return id, err
}

// close writes what waits and says how many entries are lost if it cannot.
func (w *logWriter) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	ctx, cancel := context.WithTimeout(context.Background(), 2*busyTimeout)
	defer cancel()
	err := w.flush(ctx)
	if err == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Errorf("%d log entries are lost: %w", len(w.pending), err)
}

// Logs gives one page of a log, with everything that this process has logged
// before the call.
func (s *Store) Logs(ctx context.Context, q storage.LogQuery) (storage.LogPage, error) {
	if err := s.writer.flush(ctx); err != nil {
		s.o.Logger.Warn("Execution log not written yet", "err", err) // what is stored can be read all the same
	}
	where, args := logConditions(q)
	limit := storage.PageSize(q.Limit)
	list, err := queryAll(ctx, s.log.reader, scanEntry, `SELECT e.seq, x.execution, r.execution, e.time, e.level, e.kind, e.node, e.copy, e.text, e.data
		FROM entry e CROSS JOIN source x ON x.id = e.execution CROSS JOIN source r ON r.id = e.root WHERE `+where+` ORDER BY e.seq LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return storage.LogPage{}, err
	}
	page := storage.LogPage{Entries: list, Next: q.After}
	if len(list) > limit {
		page.Entries, page.More = list[:limit], true
	}
	if n := len(page.Entries); n > 0 {
		page.Next = page.Entries[n-1].Seq
	}
	return page, nil
}

func scanEntry(r *sql.Rows) (storage.LogEntry, error) {
	var e storage.LogEntry
	var at int64
	var data string
	if err := r.Scan(&e.Seq, &e.Execution, &e.Root, &at, &e.Level, &e.Kind, &e.Node, &e.Copy, &e.Text, &data); err != nil {
		return e, err
	}
	e.Time = time.UnixMilli(at).UTC()
	var err error
	e.Data, err = storage.ParseLogData(e.Kind, []byte(data))
	return e, err
}

func logConditions(q storage.LogQuery) (string, []any) {
	where, args := []string{"e.seq > ?"}, []any{q.After}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if q.Execution != "" {
		add("e.execution = (SELECT id FROM source WHERE execution = ?)", q.Execution)
	}
	if q.Root != "" {
		add("e.root = (SELECT id FROM source WHERE execution = ?)", q.Root)
	}
	if q.MinLevel != nil {
		add("e.level >= ?", int64(*q.MinLevel))
	}
	if len(q.Kinds) > 0 {
		add("e.kind IN ("+marks(len(q.Kinds))+")", anys(q.Kinds)...)
	}
	if q.Node != "" {
		add("e.node = ?", q.Node)
	}
	if q.Search != "" {
		add("instr(lower(e.text), lower(?)) > 0", q.Search)
	}
	return strings.Join(where, " AND "), args
}
