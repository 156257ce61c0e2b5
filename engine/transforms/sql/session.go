package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"sluice/engine"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// session is one copy's use of a connection, opened with its first statement. It
// is owned by one goroutine. Processors that write embed it: it is their
// transform.Sink and io.Closer.
type session struct {
	env        *transform.Env
	name       string // of the connection
	writes     bool
	commitSize int // rows per transaction; 0: every statement by itself

	*link
	dialect database.Dialect
	stmts   map[string]*sql.Stmt
}

// newSession makes a session for reading. It does not connect.
func newSession(env *transform.Env, connection transform.Expr[string]) (*session, error) {
	name, err := connection.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	return &session{env: env, name: name, stmts: map[string]*sql.Stmt{}}, nil
}

// newWriter makes a session for writing. The error tells, before rows move, when
// there is no such connection.
func newWriter(env *transform.Env, connection transform.Expr[string], commitSize int) (*session, error) {
	s, err := newSession(env, connection)
	if err != nil {
		return nil, err
	}
	s.writes, s.commitSize = true, max(0, commitSize)
	if a, ok := env.Databases.(announcer); ok {
		return s, a.Announce(s.name)
	}
	return s, nil
}

// open connects when that has not been done.
func (s *session) open(ctx context.Context) error {
	if s.link != nil {
		return nil
	}
	db, dialect, err := s.env.Databases.DB(ctx, s.name)
	if err != nil {
		return err
	}
	own, ok := dialect.(database.Dialect)
	if !ok {
		return fmt.Errorf("connection %q: the dialect %s cannot be used by this transform", s.name, dialect.Name())
	}
	l, err := s.connect(ctx, db, own)
	if err != nil {
		return &engine.Error{Message: fmt.Sprintf("connection %q cannot be opened", s.name), Hint: own.Hint(err), Err: err}
	}
	s.link, s.dialect = l, own
	return nil
}

// connect gives a link of its own, or the one that all writers share.
func (s *session) connect(ctx context.Context, db *sql.DB, d database.Dialect) (*link, error) {
	pool, ok := s.env.Databases.(sharer)
	if !ok || !s.writes || !d.OneWriter() {
		return newLink(ctx, db)
	}
	c, err := pool.Shared(s.name, func() (io.Closer, error) {
		l, err := newLink(ctx, db)
		l.shared = true
		return l, err
	})
	if err != nil {
		return nil, err
	}
	return c.(*link), nil
}

// prepared gives the statement of a text, prepared once.
func (s *session) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if st := s.stmts[text]; st != nil {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, s.failure(text, err)
	}
	s.stmts[text] = st
	return st, nil
}

// within opens the transaction that rows are committed with; a statement that is
// committed by itself finds none. The caller holds the link.
func (s *session) within(ctx context.Context) error {
	err := error(nil)
	if s.commitSize > 0 {
		err = s.begin(ctx)
	} else {
		err = s.commit()
	}
	if err != nil {
		return s.failure("transaction", err)
	}
	return nil
}

// exec runs a prepared statement that writes.
func (s *session) exec(ctx context.Context, text string, args []any) (sql.Result, error) {
	st, err := s.prepared(ctx, text) //nolint:sqlclosecheck // it is kept until the session is closed
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.within(ctx); err != nil {
		return nil, err
	}
	r, err := st.ExecContext(ctx, args...)
	if err != nil {
		return nil, s.failure(text, err)
	}
	return r, nil
}

// query runs a prepared query. The caller closes the rows.
func (s *session) query(ctx context.Context, text string, args []any) (*sql.Rows, error) {
	st, err := s.prepared(ctx, text) //nolint:sqlclosecheck // it is kept until the session is closed
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, s.failure(text, err)
	}
	return rows, nil
}

// wrote counts a row and commits when the transaction is full.
func (s *session) wrote() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending++; s.commitSize > 0 && s.pending >= s.commitSize {
		if err := s.commit(); err != nil {
			return s.failure("commit", err)
		}
	}
	return nil
}

// Commit implements transform.Sink.
func (s *session) Commit(context.Context) error { return s.end("commit", (*link).commit) }

// Abort implements transform.Sink: it takes back the rows since the last commit.
func (s *session) Abort(context.Context) error { return s.end("roll back", (*link).rollback) }

func (s *session) end(what string, how func(*link) error) error {
	if s.link == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := how(s.link); err != nil {
		return s.failure(what, err)
	}
	return nil
}

// Close implements io.Closer: a connection of its own goes back to the pool.
func (s *session) Close() error {
	if s.link == nil {
		return nil
	}
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	if !s.shared {
		errs = append(errs, s.link.Close())
	}
	s.link, s.stmts = nil, map[string]*sql.Stmt{}
	return errors.Join(errs...)
}

// failure makes the error of a statement, with what to try.
func (s *session) failure(statement string, err error) error {
	const most = 120
	if r := []rune(statement); len(r) > most {
		statement = string(r[:most]) + "…"
	}
	return &engine.Error{Message: fmt.Sprintf("connection %q, %s", s.name, statement), Hint: s.dialect.Hint(err), Err: err}
}

// rowFailed sends a row to the error hop; the end of the execution is no fault of
// a row.
func (s *session) rowFailed(ctx context.Context, rej *transform.Rejects, i int, why transform.RowError) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return rej.Add(i, why)
}
