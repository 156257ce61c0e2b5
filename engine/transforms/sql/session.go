package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/engine/database"
	"sluice/engine/transform"
)

// session is one copy's own connection, opened with its first statement. It is
// owned by one goroutine. Processors embed it: it is their transform.Sink and
// io.Closer.
type session struct {
	env        *transform.Env
	name       string // of the connection
	commitSize int    // rows per transaction; 0: every statement by itself

	conn    *sql.Conn
	dialect database.Dialect
	tx      *sql.Tx
	stmts   map[string]*sql.Stmt
	pending int // rows since the last commit
}

// newSession resolves the connection's name and finds out whether there is such a
// connection; it does not connect.
func newSession(env *transform.Env, connection transform.Expr[string], commitSize int) (*session, error) {
	name, err := connection.Eval(env)
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	if commitSize < 0 {
		commitSize = 0
	}
	return &session{env: env, name: name, commitSize: commitSize, stmts: map[string]*sql.Stmt{}}, nil
}

// open connects when that has not been done.
func (s *session) open(ctx context.Context) error {
	if s.conn != nil {
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
	conn, err := db.Conn(ctx)
	if err != nil {
		return &engine.Error{Message: fmt.Sprintf("connection %q cannot be opened", s.name), Hint: own.Hint(err), Err: err}
	}
	s.conn, s.dialect = conn, own
	return nil
}

// begin starts a transaction when rows are committed together and none is open.
// It outlives ctx: only Commit and Abort end it.
func (s *session) begin(ctx context.Context) error {
	if s.commitSize == 0 || s.tx != nil {
		return nil
	}
	tx, err := s.conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return s.failure("begin a transaction", err)
	}
	s.tx = tx
	return nil
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

// exec runs a prepared statement that writes, within the transaction.
func (s *session) exec(ctx context.Context, text string, args []any) (sql.Result, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	st, err := s.prepared(ctx, text)
	if err != nil {
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
	st, err := s.prepared(ctx, text)
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
	if s.pending++; s.commitSize > 0 && s.pending >= s.commitSize {
		return s.commit()
	}
	return nil
}

func (s *session) commit() error {
	s.pending = 0
	if s.tx == nil {
		return nil
	}
	err := s.tx.Commit()
	s.tx = nil
	if err != nil {
		return s.failure("commit", err)
	}
	return nil
}

// Commit implements transform.Sink.
func (s *session) Commit(context.Context) error { return s.commit() }

// Abort implements transform.Sink: it takes back the rows since the last commit.
func (s *session) Abort(context.Context) error {
	if s.tx == nil {
		return nil
	}
	err := s.tx.Rollback()
	s.tx, s.pending = nil, 0
	if err != nil && !errors.Is(err, sql.ErrTxDone) {
		return s.failure("roll back", err)
	}
	return nil
}

// Close implements io.Closer: the connection goes back to its pool. A transaction
// that nobody ended is rolled back.
func (s *session) Close() error {
	if s.conn == nil {
		return nil
	}
	var errs []error
	if s.tx != nil {
		errs = append(errs, s.tx.Rollback())
		s.tx = nil
	}
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	errs = append(errs, s.conn.Close())
	s.conn, s.stmts = nil, map[string]*sql.Stmt{}
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
