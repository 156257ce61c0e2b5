// Package database opens the connections of a project (metadata type rdbms), says
// which fields their tables and queries have, and moves values between rows and
// statements.
//
// A Pool belongs to one execution: it resolves connections in the execution's
// scope and keeps one *sql.DB for each. A kind is one supported type of database:
// how a connection is opened, and its Dialect. A Binder turns fields of rows into
// arguments of a statement; a Reader appends result rows to batches. Scripts are
// cut into statements by Split.
//
// What is done with a connection is left to the transforms of family sql.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// Options say where connections are found.
type Options struct {
	Metadata *project.Metadata
	Scope    *project.Variables // of the execution; connections are resolved in it
	Location *time.Location     // zone of dates without one; nil is the process's
}

// Pool opens connections by name, each once, when they are first asked for. It is
// safe for many goroutines. The pool owns what it gives: callers close rows,
// statements and transactions, never the *sql.DB.
type Pool struct {
	options Options

	mu      sync.Mutex // guards what follows
	open    map[string]*connection
	layouts map[string]*batch.Schema
	closed  bool
}

// connection is one opened connection of a pool.
type connection struct {
	settings Settings
	db       *sql.DB
	dialect  Dialect
	// stamp changes when tables may have changed; false: nothing can be told.
	stamp func() (string, bool)
	// exists says whether there is a database to ask; nil: it is not known.
	exists func() error
	anchor driver.Conn // keeps a database in memory alive
	shared io.Closer   // see Pool.Shared
	writes bool        // see Pool.Announce
}

// NewPool makes an empty pool.
func NewPool(o Options) *Pool {
	if o.Location == nil {
		o.Location = time.Local
	}
	return &Pool{options: o, open: map[string]*connection{}, layouts: map[string]*batch.Schema{}}
}

// DB gives the connection of that name, which may hold variables. Nothing is
// sent yet when the answer comes: a server that cannot be reached shows at the
// first statement. Errors say which connection and what to do: it does not exist,
// its type is not supported, its settings cannot be resolved.
func (p *Pool) DB(_ context.Context, name string) (*sql.DB, transform.Dialect, error) {
	c, err := p.connection(p.options.Scope, name)
	if err != nil {
		return nil, nil, err
	}
	return c.db, c.dialect, nil
}

// Announce says that a transform will write over a connection; transforms do so
// before rows move.
func (p *Pool) Announce(name string) error {
	c, err := p.connection(p.options.Scope, name)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c.writes = true
	return nil
}

// Announced says whether a transform of the execution writes over a connection.
func (p *Pool) Announced(name string) bool {
	c, err := p.connection(p.options.Scope, name)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.writes
}

// Shared gives what all writing transforms of the execution share for a
// connection; the first one makes it. The pool closes it.
func (p *Pool) Shared(name string, open func() (io.Closer, error)) (io.Closer, error) {
	c, err := p.connection(p.options.Scope, name)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.shared == nil {
		if c.shared, err = open(); err != nil {
			c.shared = nil
		}
	}
	return c.shared, err
}

// Close closes all connections. Statements that still run are waited for.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, c := range p.open {
		if c.shared != nil {
			errs = append(errs, c.shared.Close())
		}
		errs = append(errs, c.db.Close())
		if c.anchor != nil {
			errs = append(errs, c.anchor.Close())
		}
	}
	p.open = map[string]*connection{}
	return errors.Join(errs...)
}

func (p *Pool) connection(scope *project.Variables, name string) (*connection, error) {
	s, k, err := p.settings(scope, name)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("connection %q: the execution has ended", name)
	}
	key := s.identity()
	if c := p.open[key]; c != nil {
		return c, nil
	}
	c, err := k.open(s)
	if err != nil {
		return nil, &engine.Error{Message: fmt.Sprintf("connection %q cannot be opened", s.Name), Err: err}
	}
	p.open[key] = c
	return c, nil
}

// settings loads and resolves a connection.
func (p *Pool) settings(scope *project.Variables, name string) (Settings, *kind, error) {
	resolved, err := scope.Resolve(name)
	if err != nil {
		return Settings{}, nil, err
	}
	if strings.TrimSpace(resolved) == "" {
		return Settings{}, nil, &engine.Error{Message: "no connection is chosen", Hint: "choose one in the settings"}
	}
	r, err := p.options.Metadata.RDBMS(resolved)
	if errors.Is(err, project.ErrNotFound) {
		return Settings{}, nil, &engine.Error{
			Message: fmt.Sprintf("there is no connection %q", resolved),
			Hint:    "create it among the metadata (type rdbms), or choose another one", Err: err,
		}
	}
	if err != nil {
		return Settings{}, nil, err
	}
	k := kindOf(r.PluginID)
	if k == nil {
		return Settings{}, nil, &engine.Error{
			Message: fmt.Sprintf("connection %q is of type %s, which is not supported yet; supported: %s", resolved, r.PluginID, strings.Join(Supported(), ", ")),
		}
	}
	s, err := newSettings(scope, r, p.options.Location)
	return s, k, err
}
