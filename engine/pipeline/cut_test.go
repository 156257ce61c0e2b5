package pipeline_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

// memoryCut keeps spooled rows in memory and can stand in as a snapshot.
type memoryCut struct {
	streams, fragile bool

	mu      sync.Mutex
	parts   []pipeline.PartSpec
	rows    [][]*batch.Batch
	sealed  bool
	why     string
	effects pipeline.Effects
}

func (c *memoryCut) Parts() []pipeline.PartSpec { return c.parts }
func (c *memoryCut) Streams() bool              { return c.streams }
func (c *memoryCut) Survives() bool             { return !c.fragile }
func (c *memoryCut) Effects() pipeline.Effects  { return c.effects }

func (c *memoryCut) Begin(_ context.Context, parts []pipeline.PartSpec) error {
	c.parts, c.rows = parts, make([][]*batch.Batch, len(parts))
	return nil
}

func (c *memoryCut) Add(_ context.Context, part int, b *batch.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[part] = append(c.rows[part], b.Dense())
	return nil
}

func (c *memoryCut) EndPart(context.Context, int) error { return nil }

func (c *memoryCut) Seal(_ context.Context, e pipeline.Effects) error {
	c.sealed, c.effects = true, e
	return nil
}

func (c *memoryCut) Interrupt(_ context.Context, reason string) error {
	c.why = reason
	return nil
}

func (c *memoryCut) Read(_ context.Context, part int) iter.Seq2[*batch.Batch, error] {
	return func(yield func(*batch.Batch, error) bool) {
		for _, b := range c.rows[part] {
			if !yield(b.Retain(), nil) {
				return
			}
		}
	}
}

func (c *memoryCut) release() {
	for _, list := range c.rows {
		for _, b := range list {
			b.Release()
		}
	}
	c.rows = nil
}

// routed is in -> map (an error hop, two copies) -> a and b in turns.
func routed(in transform.Settings, a, b, bad *sink) *pipeline.Graph {
	m := node("map", &mapper{ordered: true, f: func(v int64) (int64, error) {
		if v%10 == 7 {
			return 0, errors.New("seven")
		}
		return v, nil
	}})
	m.Copies = "2"
	m.Errors = &transform.ErrorLink{Target: "bad", DescriptionField: "why"}
	na := node("a", a)
	na.Copies = "3"
	return graphOf([]*pipeline.Node{node("in", in), m, na, node("b", b), node("bad", bad)}, "in>map", "map>a", "map>b", "map>bad")
}

func TestACutChangesNothingAndAReplayGivesTheSame(t *testing.T) {
	type seen struct{ A, B, Bad map[int][]string }
	runIt := func(t *testing.T, in transform.Settings, o pipeline.Options) seen {
		t.Helper()
		a, b, bad := &sink{}, &sink{}, &sink{}
		e, err := pipeline.Prepare(t.Context(), routed(in, a, b, bad), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(bad.rows[0]) // two copies reject side by side
		return seen{a.rows, b.rows, bad.rows}
	}
	in := &numbers{n: 1000, size: 64}
	plain := runIt(t, in, options(t))
	for name, streams := range map[string]bool{"sealed": false, "streaming": true} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			cut := &memoryCut{streams: streams}
			o.Cuts = map[string]pipeline.Cut{"map": cut}
			if diff := cmp.Diff(plain, runIt(t, in, o)); diff != "" {
				t.Errorf("with the cut: %s", diff)
			}
			if !cut.sealed {
				t.Fatalf("not sealed: %s", cut.why)
			}
			var parts []string
			for _, p := range cut.parts {
				parts = append(parts, string(p.Port)+string(rune('0'+p.Copy)))
			}
			if diff := cmp.Diff([]string{"error0", "main0", "error1", "main1"}, parts); diff != "" {
				t.Error(diff)
			}
			r := options(t)
			r.Bound = map[string]pipeline.Bound{"map": cut}
			again := runIt(t, &untouchable{t}, pipeline.Options{Vars: r.Vars, Alloc: r.Alloc, SpillFolder: r.SpillFolder, Workers: 4, Bound: r.Bound, Run: map[string]bool{"map": true, "a": true, "b": true, "bad": true}})
			if diff := cmp.Diff(plain, again); diff != "" {
				t.Errorf("replayed: %s", diff)
			}
			cut.release()
			for _, a := range []*batch.Allocator{o.Alloc, r.Alloc} {
				if err := a.CheckLeaks(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// untouchable is a source that must not be started.
type untouchable struct{ t *testing.T }

func (s *untouchable) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	s.t.Error("the layout of a source upstream of a bound snapshot was asked for")
	return transform.OnMain(oneInteger)
}

func (s *untouchable) Start(*transform.Env, transform.Links) (transform.Processor, error) {
	s.t.Error("a source upstream of a bound snapshot was started")
	return nil, errors.New("started")
}

func TestAFailureElsewhereLetsTheCutSeal(t *testing.T) {
	for name, c := range map[string]struct{ streams, fragile, want bool }{
		"sealed": {false, false, true}, "streaming": {true, false, true}, "streaming, stopped on failure": {true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			cut := &memoryCut{streams: c.streams, fragile: c.fragile}
			o.Cuts = map[string]pipeline.Cut{"gate": cut}
			g := graphOf([]*pipeline.Node{node("in", &numbers{n: 300_000, size: 1000}), node("gate", &mapper{f: same}), node("target", &mapper{f: failAt(5), ordered: true})}, "in>gate", "gate>target")
			e, err := pipeline.Prepare(t.Context(), g, o)
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), `"target"`) {
				t.Fatalf("error is %v", err)
			}
			if cut.sealed != c.want {
				t.Errorf("sealed is %v: %s", cut.sealed, cut.why)
			}
			rows := 0
			for _, b := range cut.rows[0] {
				rows += b.Rows()
			}
			if c.want && rows != 300_000 {
				t.Errorf("%d rows were spooled", rows)
			}
			cut.release()
			if err := o.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStopNeverSeals(t *testing.T) {
	for name, safe := range map[string]bool{"stop": false, "safe stop": true} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			cut := &memoryCut{streams: true}
			o.Cuts = map[string]pipeline.Cut{"gate": cut}
			var e *pipeline.Execution
			g := graphOf([]*pipeline.Node{node("in", &numbers{size: 10, endless: true}), node("gate", &mapper{ordered: true, f: func(v int64) (int64, error) {
				if v == 1000 {
					e.Stop(safe)
				}
				return v, nil
			}}), node("out", &sink{})}, "in>gate", "gate>out")
			var err error
			if e, err = pipeline.Prepare(t.Context(), g, o); err != nil {
				t.Fatal(err)
			}
			_, err = e.Run(t.Context())
			if cut.sealed || cut.why == "" {
				t.Errorf("sealed %v, why %q, error %v", cut.sealed, cut.why, err)
			}
			cut.release()
			if err := o.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAFailedExtractionLeavesTheOthersAlone: of two gates fed by one source, the
// one whose own branch fails is given up, and the other seals.
func TestAFailedExtractionLeavesTheOthersAlone(t *testing.T) {
	for name, streams := range map[string]bool{"sealed": false, "streaming": true} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			good, bad := &memoryCut{streams: streams}, &memoryCut{streams: streams}
			o.Cuts = map[string]pipeline.Cut{"good": good, "bad": bad}
			in := node("in", &numbers{n: 200_000, size: 1000})
			in.Distribute = false
			g := graphOf([]*pipeline.Node{in, node("good", &mapper{f: same}), node("bad", &mapper{f: failAt(5), ordered: true}), node("out", &sink{})}, "in>good", "in>bad", "good>out")
			e, err := pipeline.Prepare(t.Context(), g, o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `"bad"`) {
				t.Fatalf("error is %v", err)
			}
			rows := 0
			for _, b := range good.rows[0] {
				rows += b.Rows()
			}
			if !good.sealed || rows != 200_000 || bad.sealed || bad.why == "" {
				t.Errorf("good sealed %v with %d rows (%s), bad sealed %v: %q", good.sealed, rows, good.why, bad.sealed, bad.why)
			}
			good.release()
			bad.release()
			if err := o.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}
