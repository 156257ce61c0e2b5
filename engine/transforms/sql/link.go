package sql

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"sync"
)

// link is a connection and its transaction. Where a database takes one writer at
// a time, all writing transforms of an execution share one link: each would wait
// for the other's transaction otherwise, on one goroutine for ever. A commit of
// one of them then commits the rows of all.
type link struct {
	conn   *sql.Conn
	shared bool

	mu      sync.Mutex // guards what follows; held while a statement that writes runs
	tx      *sql.Tx
	pending int // rows since the last commit
}

// sharer is a pool that keeps one link for all writers of a connection.
type sharer interface {
	Shared(name string, open func() (io.Closer, error)) (io.Closer, error)
}

// announcer is a pool that knows which connections are written to.
type announcer interface {
	Announce(name string) error
	Announced(name string) bool
}

func newLink(ctx context.Context, db *sql.DB) (*link, error) {
	conn, err := db.Conn(ctx)
	return &link{conn: conn}, err
}

// begin starts a transaction when none is open. It outlives ctx: only commit and
// rollback end it.
func (l *link) begin(ctx context.Context) (err error) {
	if l.tx == nil {
		l.tx, err = l.conn.BeginTx(context.WithoutCancel(ctx), nil)
	}
	return err
}

func (l *link) commit() error {
	l.pending = 0
	if l.tx == nil {
		return nil
	}
	err := l.tx.Commit()
	l.tx = nil
	return err
}

func (l *link) rollback() error {
	l.pending = 0
	if l.tx == nil {
		return nil
	}
	err := l.tx.Rollback()
	l.tx = nil
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Close implements io.Closer. A transaction that nobody ended is rolled back.
func (l *link) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.rollback(), l.conn.Close())
}
