package transformtest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/spill"
	"sluice/engine/transform"
)

// Clock is the time that NewEnv's Now gives.
var Clock = time.Date(2024, 12, 31, 23, 59, 59, 123e6, time.UTC)

// Log keeps the execution log of a test.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// NewEnv gives an environment with fakes: files below a temporary folder, memory
// without limit, in-memory results, UTC.
func NewEnv(t testing.TB, vars map[string]string) (*transform.Env, *Log) {
	t.Helper()
	log := &Log{}
	alloc := batch.NewAllocator()
	sp := spill.NewDir(t.TempDir(), alloc)
	t.Cleanup(func() {
		if err := sp.Close(); err != nil {
			t.Errorf("close spill: %v", err)
		}
	})
	v := project.NewVariables()
	v.SetAll(vars)
	sem := batch.ReadSemantics(v.Get, time.UTC)
	results := &Results{}
	return &transform.Env{
		Transform: "tested", Copies: 1, Vars: v, Alloc: alloc, Semantics: sem,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 8})),
		Now: func() time.Time { return Clock }, Started: Clock,
		Design: &Design{Resolver: v, Sem: sem}, Files: files.Local{Dir: t.TempDir()},
		Memory: &Memory{Limit: 1 << 40}, Spill: sp, Results: results, Scopes: &Scopes{}, Children: noChildren{},
		Databases: noDatabases{}, Counters: &transform.Counters{}, Shared: &Shared{}, Stopping: make(chan struct{}),
		Stop:     func(transform.StopKind, string) {},
		Finished: func(string, int) <-chan struct{} { return nil },
		Pipeline: transform.PipelineFacts{Name: "test pipeline", ID: "0"},
	}, log
}

// Memory is a budget of Limit bytes.
type Memory struct {
	Limit int64
	mu    sync.Mutex
	used  int64
}

// Request implements transform.Memory.
func (m *Memory) Request(n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used+n > m.Limit {
		return false
	}
	m.used += n
	return true
}

// Release implements transform.Memory.
func (m *Memory) Release(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
}

// Design answers from maps.
type Design struct {
	transform.Resolver
	Sem      *batch.Semantics
	Meta     *project.Metadata        // nil: an empty one
	Layouts  map[string]*batch.Schema // by query text or table name
	Previous *batch.Schema
}

// Semantics implements transform.Design.
func (d *Design) Semantics() *batch.Semantics { return d.Sem }

// Metadata implements transform.Design.
func (d *Design) Metadata() *project.Metadata {
	if d.Meta == nil {
		return project.OpenMetadata()
	}
	return d.Meta
}

// QueryLayout implements transform.Design.
func (d *Design) QueryLayout(_, query string) (*batch.Schema, error) { return d.layout(query) }

// TableLayout implements transform.Design.
func (d *Design) TableLayout(_, _, table string) (*batch.Schema, error) { return d.layout(table) }

func (d *Design) layout(key string) (*batch.Schema, error) {
	if s := d.Layouts[key]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("no layout for %q", key)
}

// PreviousRows implements transform.Design.
func (d *Design) PreviousRows() *batch.Schema { return d.Previous }

// Results keeps result rows and files in memory.
type Results struct {
	mu     sync.Mutex
	Rows   []*batch.Batch
	Files  []transform.ResultFile
	Before transform.Result
}

// PreviousRows implements transform.Results.
func (r *Results) PreviousRows() []*batch.Batch { return r.Before.Rows }

// PreviousFiles implements transform.Results.
func (r *Results) PreviousFiles() []transform.ResultFile { return r.Before.ResultFiles }

// Previous implements transform.Results.
func (r *Results) Previous() transform.Result { return r.Before }

// AddRows implements transform.Results.
func (r *Results) AddRows(b *batch.Batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Rows = append(r.Rows, b.Retain())
}

// AddFile implements transform.Results.
func (r *Results) AddFile(f transform.ResultFile) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Files = append(r.Files, f)
}

func (r *Results) release() {
	for _, b := range append(r.Rows, r.Before.Rows...) {
		b.Release()
	}
	r.Rows, r.Before.Rows = nil, nil
}

// Scopes keeps variables by scope.
type Scopes struct {
	mu  sync.Mutex
	Set map[transform.Scope]map[string]string
}

// SetVariable implements transform.Scopes.
func (s *Scopes) SetVariable(name, value string, scope transform.Scope) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Set == nil {
		s.Set = map[transform.Scope]map[string]string{}
	}
	if s.Set[scope] == nil {
		s.Set[scope] = map[string]string{}
	}
	s.Set[scope][name] = value
	return nil
}

// Variable implements transform.Scopes.
func (s *Scopes) Variable(name string, scope transform.Scope) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.Set[scope][name]
	return v, ok
}

// Shared gives counters in memory.
type Shared struct {
	mu       sync.Mutex
	counters map[string]*counter
}

// Counter implements transform.Shared.
func (s *Shared) Counter(name string, start, increment, maximum int64) transform.Counter {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counters == nil {
		s.counters = map[string]*counter{}
	}
	if s.counters[name] == nil {
		s.counters[name] = &counter{next: start, start: start, increment: increment, maximum: maximum}
	}
	return s.counters[name]
}

type counter struct {
	mu                              sync.Mutex
	next, start, increment, maximum int64
}

func (c *counter) Next() int64 { return c.Take(nil, 1)[0] }

func (c *counter) Take(dst []int64, n int) []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		dst = append(dst, c.next)
		c.next += c.increment
		if c.increment > 0 && c.next > c.maximum {
			c.next = c.start
		}
	}
	return dst
}

var errNone = errors.New("not available in this test")

type noChildren struct{}

func (noChildren) RunPipeline(context.Context, transform.Child) (transform.Result, error) {
	return transform.Result{}, errNone
}

func (noChildren) RunWorkflow(context.Context, transform.Child) (transform.Result, error) {
	return transform.Result{}, errNone
}

type noDatabases struct{}

func (noDatabases) DB(context.Context, string) (*sql.DB, transform.Dialect, error) {
	return nil, nil, errNone
}

type reader struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

func (r *reader) Schema() *batch.Schema { return r.schema }

func (r *reader) Next(ctx context.Context) (*batch.Batch, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	b := r.batches[0]
	r.batches = r.batches[1:]
	return b, nil
}

func (r *reader) close() {
	for _, b := range r.batches {
		b.Release()
	}
	r.batches = nil
}

// Batch makes one batch of rows (one hold).
func Batch(env *transform.Env, schema *batch.Schema, rows [][]any) *batch.Batch {
	b := env.Alloc.Batch(schema)
	for _, row := range rows {
		for k, c := range b.Cols {
			var v any
			if k < len(row) {
				v = row[k]
			}
			c.AppendValue(valueOf(c.Type, v))
		}
	}
	b.SetRows(len(rows))
	return b
}

func makeBatches(env *transform.Env, schema *batch.Schema, rows [][]any, f feed) []*batch.Batch {
	var list []*batch.Batch
	for len(rows) > 0 {
		n := min(f.size, len(rows))
		switch {
		case f.raw:
			list = append(list, rawBatch(env, schema, rows[:n]))
		case f.junked:
			list = append(list, junked(env, schema, rows[:n], rows[0]))
		default:
			list = append(list, Batch(env, schema, rows[:n]))
		}
		rows = rows[n:]
	}
	return list
}

// junked makes a batch in which every second row is a copy of another row that
// is not selected.
func junked(env *transform.Env, schema *batch.Schema, rows [][]any, junk []any) *batch.Batch {
	var all [][]any
	var sel []int32
	for _, r := range rows {
		all = append(all, junk)
		sel = append(sel, int32(len(all)))
		all = append(all, r)
	}
	b := Batch(env, schema, all)
	defer b.Release()
	return b.Select(sel)
}

func valueOf(t batch.Type, v any) batch.Value {
	out := batch.Value{Type: t, Valid: true}
	switch v := v.(type) {
	case nil:
		return batch.Null(t)
	case batch.Value:
		return v
	case string:
		out.Text = v
	case []byte:
		out.Text = string(v)
	case int:
		out.Int, out.Float, out.Dec = int64(v), float64(v), decimal.FromInt64(int64(v))
	case int64:
		out.Int, out.Float, out.Dec = v, float64(v), decimal.FromInt64(v)
	case float64:
		out.Float = v
	case bool:
		if v {
			out.Int = 1
		}
	case decimal.Decimal:
		out.Dec = v
	case time.Time:
		out.Int = v.UnixMilli()
		if t == batch.Timestamp {
			out.Int, out.Nano = v.UnixMicro(), int32(v.Nanosecond()%1000)
		}
	default:
		panic(fmt.Sprintf("transformtest: a row cannot hold a %T", v))
	}
	return out
}
