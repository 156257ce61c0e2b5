package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/gate"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// world is a place to run pipelines with gates in.
type world struct {
	t      testing.TB
	dir    string
	alloc  *batch.Allocator
	place  *gate.Place
	local  map[gate.Kind]*gate.Place
	scope  *project.Variables
	config string // run configuration
	sinks  *sinks
	now    time.Time
	more   []transform.Definition // beside the usual ones
}

// sinks is what the test transforms saw.
type sinks struct {
	mu     sync.Mutex
	rows   map[string][]string // by transform and copy
	starts map[string]int
	failAt map[string]int64 // of a target: rows after which it is dead
}

func newWorld(t testing.TB, r storage.Remote) *world {
	t.Helper()
	w := &world{
		t: t, dir: t.TempDir(), alloc: batch.NewAllocator(), scope: project.NewVariables(), local: map[gate.Kind]*gate.Place{},
		sinks: &sinks{rows: map[string][]string{}, starts: map[string]int{}, failAt: map[string]int64{}},
	}
	w.place = placeOf(r, snapshot.Options{})
	for _, k := range []gate.Kind{gate.KindCache, gate.KindSafe} {
		w.local[k] = placeOf(storage.NewPrivateFolder(filepath.Join(w.dir, string(k))), snapshot.Options{})
	}
	t.Cleanup(func() {
		if err := w.alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func placeOf(r storage.Remote, o snapshot.Options) *gate.Place {
	return &gate.Place{Location: storage.Location{Remote: "test"}, Remote: r, Store: snapshot.NewStore(r, o), Cache: o.Cache}
}

// Place implements gate.Places.
func (w *world) Place(_ context.Context, location string) (*gate.Place, error) {
	if location == "unknown:" {
		return nil, fmt.Errorf("open %s: %w", location, storage.ErrUnknownRemote)
	}
	return w.place, nil
}

// secretSums is a gate.Secrets of one fixed key.
type secretSums struct{ id string }

func (s secretSums) KeyID() string { return s.id }
func (s secretSums) Sum(text string) string {
	return fmt.Sprintf("%s:%x", s.id, len(text)*31+int(text[0]))
}

func (w *world) session(o gate.SessionOptions) *gate.Session {
	o.Places, o.Alloc = w, w.alloc
	if o.Secrets == nil {
		o.Secrets = secretSums{"k1"}
	}
	o.TempFolder = w.dir
	o.Local = func(k gate.Kind) (*gate.Place, error) { return w.local[k], nil }
	return gate.NewSession(o)
}

// ran is the outcome of one run.
type ran struct {
	err     error
	session *gate.Session
	exec    *pipeline.Execution
	rows    map[string][]string
	starts  map[string]int
}

func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// run runs a file with gates.
func (w *world) run(file string, o gate.SessionOptions) ran {
	w.t.Helper()
	w.sinks.mu.Lock()
	w.sinks.rows, w.sinks.starts = map[string][]string{}, map[string]int{}
	w.sinks.mu.Unlock()
	s := w.session(o)
	runner := &pipeline.Runner{
		Registry: transform.NewRegistry(transforms.Registry().All(), w.transforms()), Metadata: project.OpenMetadata(filepath.Join(w.dir, "metadata")),
		Alloc: w.alloc, Workers: 2, SpillFolder: w.dir, Engines: []string{gate.EngineSafe}, Extend: s.Extend,
	}
	if !w.now.IsZero() {
		runner.Now = func() time.Time { return w.now }
	}
	ctx := context.Background()
	if t, ok := w.t.(*testing.T); ok {
		ctx = t.Context()
	}
	out := ran{session: s}
	out.exec, out.err = runner.Prepare(ctx, pipeline.Run{File: file, Scope: w.scope, RunConfig: w.config, Parameters: o.Given})
	ok := false
	if out.err == nil {
		r, err := out.exec.Run(ctx)
		out.err, ok = err, r.OK
	}
	if err := s.Close(ctx, out.err == nil && ok); err != nil {
		w.t.Error(err)
	}
	w.sinks.mu.Lock()
	out.rows, out.starts = w.sinks.rows, w.sinks.starts
	w.sinks.mu.Unlock()
	return out
}

// mustRun fails the test when the run fails.
func (w *world) mustRun(file string, o gate.SessionOptions) ran {
	w.t.Helper()
	r := w.run(file, o)
	if r.err != nil {
		w.t.Fatal(r.err)
	}
	return r
}

// outcome gives what became of the only gate.
func (r ran) outcome(t testing.TB) gate.Outcome {
	t.Helper()
	list := r.session.Outcomes()
	if len(list) != 1 {
		t.Fatalf("%d gates were armed", len(list))
	}
	return list[0]
}

// transforms gives the test's own source and target.
func (w *world) transforms() []transform.Definition {
	return append([]transform.Definition{
		transform.Define[sourceSettings](transform.About{ID: "TestSource", Name: "Source"}),
		transform.Define[targetSettings](transform.About{ID: "TestTarget", Name: "Target", Sink: true, RowNeutral: []string{"note"}}),
		everyType, exact,
		transform.Define[splitSettings](transform.About{ID: "TestReject", Name: "Reject", HandlesErrors: true}),
	}, w.more...)
}

// current is the world that the test transforms work in; settings structs cannot
// carry it. Tests of this package do not run in parallel.
var current *world

func use(w *world) *world { current = w; return w }

type sourceSettings struct {
	Rows transform.Expr[int] `hop:"rows"`
	Wide bool                `hop:"wide"`
	Text string              `hop:"text"`
	Pass transform.Secret    `hop:"password"`
}

func (s *sourceSettings) schema() *batch.Schema {
	id, name := batch.NewField("id", batch.Integer), batch.NewField("name", batch.String)
	return batch.NewSchema(id, name)
}

func (s *sourceSettings) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema())
}

func (s *sourceSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	current.sinks.mu.Lock()
	current.sinks.starts[env.Transform]++
	current.sinks.mu.Unlock()
	n, err := s.Rows.Eval(env)
	return &source{n: n, wide: s.Wide, schema: s.schema(), env: env}, err
}

type source struct {
	transform.Producer
	n      int
	wide   bool
	schema *batch.Schema
	env    *transform.Env
}

func (p *source) Produce(ctx context.Context, emit transform.Emit) error {
	for i := 0; i < p.n; {
		b := p.env.Alloc.Batch(p.schema)
		for ; i < p.n && !b.Full(); i++ {
			b.Cols[0].AppendInt(int64(i))
			text := fmt.Sprintf("name %d", i)
			if p.wide { // text that no codec makes smaller
				text = noise(i)
			}
			b.Cols[1].AppendString(text)
		}
		if err := ctx.Err(); err != nil {
			b.Release()
			return err
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	return nil
}

func noise(i int) string {
	b := make([]byte, 4096)
	x := uint64(i)*0x9E3779B97F4A7C15 + 1
	for k := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[k] = 'A' + byte(x>>32)%58
	}
	return string(b)
}

type targetSettings struct {
	Note string `hop:"note"`
}

func (s *targetSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (s *targetSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	current.sinks.mu.Lock()
	current.sinks.starts[env.Transform]++
	current.sinks.mu.Unlock()
	return &target{env: env, key: fmt.Sprintf("%s.%d", env.Transform, env.Copy)}, nil
}

type target struct {
	transform.Stateful
	env  *transform.Env
	key  string
	seen int64
}

var errDead = errors.New("the target is dead")

func (p *target) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	s := current.sinks
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.All() {
		if at, ok := s.failAt[p.env.Transform]; ok && p.seen >= at {
			return errDead
		}
		p.seen++
		s.rows[p.key] = append(s.rows[p.key], rowText(b, i))
	}
	return emit(transform.Main, b.Retain())
}

func rowText(b *batch.Batch, i int) string {
	var list []string
	for _, c := range b.Cols {
		v := c.Value(i)
		switch {
		case !v.Valid:
			list = append(list, "<null>")
		case c.Type == batch.String && len(v.Text) > 40:
			list = append(list, v.Text[:40])
		case c.Type == batch.String:
			list = append(list, v.Text)
		default:
			list = append(list, fmt.Sprint(v.Int))
		}
	}
	return strings.Join(list, "|")
}

type splitSettings struct {
	Every transform.Expr[int] `hop:"every"`
}

func (s *splitSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (s *splitSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	n, err := s.Every.Eval(env)
	return &reject{env: env, every: int64(n)}, err
}

type reject struct {
	transform.Stateful
	env   *transform.Env
	every int64
}

func (p *reject) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	rej := p.env.Rejects(b)
	for i := range b.All() {
		if b.Cols[0].Int(i)%p.every == 0 {
			if err := rej.Add(i, transform.RowError{Err: errors.New("rejected"), Code: "R1"}); err != nil {
				return err
			}
		}
	}
	if sel := rej.Keep(); sel != nil || rej.Len() > 0 {
		good := b.Select(sel)
		if err := emit(transform.Main, good); err != nil {
			return err
		}
	} else if err := emit(transform.Main, b.Retain()); err != nil {
		return err
	}
	return rej.Flush(b, emit)
}

// node writes a <transform> element.
func node(name, kind, settings string, more ...string) string {
	copies, distribute := "1", "Y"
	for _, m := range more {
		if v, ok := strings.CutPrefix(m, "copies="); ok {
			copies = v
		}
		if m == "copy" {
			distribute = "N"
		}
	}
	return "  <transform>\n    <name>" + name + "</name>\n    <type>" + kind + "</type>\n    <distribute>" + distribute + "</distribute>\n    <copies>" + copies +
		"</copies>\n    " + settings + "\n    <attributes/>\n    <GUI>\n      <xloc>1</xloc>\n      <yloc>1</yloc>\n    </GUI>\n  </transform>\n"
}

// hpl writes a pipeline; hops are "a>b", error hops "a!b".
func hpl(hops string, nodes ...string) string {
	var order, errs strings.Builder
	for h := range strings.FieldsSeq(hops) {
		from, to, isErr := strings.Cut(h, "!")
		if !isErr {
			from, to, _ = strings.Cut(h, ">")
		} else {
			errs.WriteString("    <error><source_transform>" + from + "</source_transform><target_transform>" + to + "</target_transform><is_enabled>Y</is_enabled><nr_valuename>n</nr_valuename></error>\n")
		}
		order.WriteString("    <hop><from>" + from + "</from><to>" + to + "</to><enabled>Y</enabled></hop>\n")
	}
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pipeline>\n  <info>\n    <name>test</name>\n    <parameters>\n      <parameter><name>N</name><default_value>1000</default_value></parameter>\n    </parameters>\n  </info>\n  <order>\n" +
		order.String() + "  </order>\n" + strings.Join(nodes, "") + "  <transform_error_handling>\n" + errs.String() + "  </transform_error_handling>\n  <attributes/>\n</pipeline>\n"
}

// marked makes gates of nodes, with settings "key=value".
func marked(t testing.TB, text, name string, settings ...string) string {
	t.Helper()
	set := map[string]string{}
	for _, s := range settings {
		k, v, _ := strings.Cut(s, "=")
		set[k] = v
	}
	return edited(t, text, gate.Mark(name, set, nil))
}

var _ gate.Places = (*world)(nil)
