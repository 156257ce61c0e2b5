package pipeline

import (
	"context"
	"errors"
	"maps"
	"sync"

	"sluice/engine/batch"
	"sluice/engine/project"
	"sluice/engine/transform"
)

// budget implements transform.Memory.
type budget struct {
	limit int64
	mu    sync.Mutex // guards used
	used  int64
}

func (m *budget) Request(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used+n > m.limit {
		return false
	}
	m.used += n
	return true
}

func (m *budget) Release(n int64) {
	m.mu.Lock()
	m.used -= n
	m.mu.Unlock()
}

// shared implements transform.Shared.
type shared struct {
	mu       sync.Mutex // guards counters
	counters map[string]*counter
	restored map[string]int64 // next numbers of an earlier run
}

func newShared() *shared { return &shared{counters: map[string]*counter{}} }

func (s *shared) Counter(name string, start, increment, maximum int64) transform.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counters[name]
	if c == nil {
		c = &counter{next: start, start: start, increment: increment, maximum: maximum}
		if v, ok := s.restored[name]; ok {
			c.next = v
		}
		s.counters[name] = c
	}
	return c
}

// values gives the next number of every counter.
func (s *shared) values() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out map[string]int64
	for name, c := range s.counters {
		if out == nil {
			out = map[string]int64{}
		}
		c.mu.Lock()
		out[name] = c.next
		c.mu.Unlock()
	}
	return out
}

// restore makes counters go on where those of an earlier run stopped.
func (s *shared) restore(values map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restored == nil {
		s.restored = map[string]int64{}
	}
	maps.Copy(s.restored, values)
}

// counter wraps to its start after its maximum (or below it when it counts down).
type counter struct {
	mu                        sync.Mutex // guards next
	next                      int64
	start, increment, maximum int64
}

func (c *counter) Next() int64 {
	var one [1]int64
	return c.Take(one[:0], 1)[0]
}

func (c *counter) Take(dst []int64, n int) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		dst = append(dst, c.next)
		c.next += c.increment
		if (c.increment > 0 && c.next > c.maximum) || (c.increment < 0 && c.next < c.maximum) {
			c.next = c.start
		}
	}
	return dst
}

// results implements transform.Results.
type results struct {
	previous transform.Result
	mu       sync.Mutex // guards what follows
	rows     []*batch.Batch
	files    []transform.ResultFile
}

func (r *results) PreviousRows() []*batch.Batch          { return r.previous.Rows }
func (r *results) PreviousFiles() []transform.ResultFile { return r.previous.ResultFiles }
func (r *results) Previous() transform.Result            { return r.previous }

func (r *results) AddRows(b *batch.Batch) {
	r.mu.Lock()
	r.rows = append(r.rows, b.Retain())
	r.mu.Unlock()
}

func (r *results) AddFile(f transform.ResultFile) {
	r.mu.Lock()
	r.files = append(r.files, f)
	r.mu.Unlock()
}

// scopes sets variables in the pipeline's own scope and passes the request on to
// the enclosing engines.
type scopes struct {
	exec *Execution
	by   string // transform that sets
}

func (s *scopes) SetVariable(name, value string, scope transform.Scope) error {
	s.exec.opts.Vars.Set(name, value)
	s.exec.noteVariable(name, value, s.by)
	if scope == transform.ScopePipeline || s.exec.opts.Scopes == nil {
		return nil
	}
	return s.exec.opts.Scopes.SetVariable(name, value, scope)
}

func (s *scopes) Variable(name string, scope transform.Scope) (string, bool) {
	if scope == transform.ScopePipeline || s.exec.opts.Scopes == nil {
		return s.exec.opts.Vars.Get(name)
	}
	return s.exec.opts.Scopes.Variable(name, scope)
}

// ErrNoChildren means that pipelines cannot be started from here.
var ErrNoChildren = errors.New("no other pipeline or workflow can be run from here")

// childrenOf names the executor transform in what it starts.
type childrenOf struct {
	transform.Children
	by string
}

// RunPipeline implements transform.Children.
func (c childrenOf) RunPipeline(ctx context.Context, child transform.Child) (transform.Result, error) {
	child.By = c.by
	return c.Children.RunPipeline(ctx, child)
}

// RunWorkflow implements transform.Children.
func (c childrenOf) RunWorkflow(ctx context.Context, child transform.Child) (transform.Result, error) {
	child.By = c.by
	return c.Children.RunWorkflow(ctx, child)
}

type noChildren struct{}

func (noChildren) RunPipeline(context.Context, transform.Child) (transform.Result, error) {
	return transform.Result{}, ErrNoChildren
}

func (noChildren) RunWorkflow(context.Context, transform.Child) (transform.Result, error) {
	return transform.Result{}, ErrNoChildren
}

// ErrNoDatabases means that the execution has no access to databases.
var ErrNoDatabases = errors.New("there are no database connections here")

// liveDesign implements transform.Design at run time: layouts come from the
// databases themselves.
type liveDesign struct {
	exec *Execution
}

func (d *liveDesign) Resolve(text string) (string, error) { return d.exec.opts.Vars.Resolve(text) }
func (d *liveDesign) Semantics() *batch.Semantics         { return d.exec.semantics }
func (d *liveDesign) Metadata() *project.Metadata         { return d.exec.opts.Metadata }

func (d *liveDesign) QueryLayout(connection, query string) (*batch.Schema, error) {
	if d.exec.opts.Databases == nil {
		return nil, ErrNoDatabases
	}
	return d.exec.opts.Databases.QueryLayout(d.exec.opts.Vars, connection, query)
}

func (d *liveDesign) TableLayout(connection, schema, table string) (*batch.Schema, error) {
	if d.exec.opts.Databases == nil {
		return nil, ErrNoDatabases
	}
	return d.exec.opts.Databases.TableLayout(d.exec.opts.Vars, connection, schema, table)
}

func (d *liveDesign) PreviousRows() *batch.Schema {
	if rows := d.exec.opts.Previous.Rows; len(rows) > 0 {
		return rows[0].Schema
	}
	return nil
}
