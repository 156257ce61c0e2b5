package pipeline_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

func TestRowsKeepTheirOrderThroughWorkers(t *testing.T) {
	s := &sink{}
	g := graphOf([]*pipeline.Node{node("in", &numbers{n: 50_000, size: 37}), node("map", &mapper{f: same}), node("ordered", &mapper{f: same, ordered: true}), node("map2", &mapper{f: same}), node("out", s)},
		"in>map", "map>ordered", "ordered>map2", "map2>out")
	r, e, err := run(t, g, options(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.all(); !slices.Equal(got, count(0, 50_000)) {
		t.Errorf("rows are not 0 … 49999 in order (%d rows)", len(got))
	}
	if !r.OK || r.Read != 50_000 || r.Written != 50_000 {
		t.Errorf("result %+v", r)
	}
	for _, m := range e.Metrics() {
		if m.State != pipeline.Finished {
			t.Errorf("%s is %s", m.Name, m.State)
		}
	}
	if diff := cmp.Diff([]string{"commit"}, s.events); diff != "" {
		t.Error(diff)
	}
}

func TestDistributionIsRoundRobinByRow(t *testing.T) {
	for name, copies := range map[string]string{"stateful copies": "3"} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			out := node("out", s)
			out.Copies = copies
			_, _, err := run(t, graphOf([]*pipeline.Node{node("in", &numbers{n: 10, size: 4}), out}, "in>out"), options(t))
			if err != nil {
				t.Fatal(err)
			}
			want := map[int][]string{0: {"0", "3", "6", "9"}, 1: {"1", "4", "7"}, 2: {"2", "5", "8"}}
			if diff := cmp.Diff(want, s.rows); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCopyingGivesEveryRowToEveryHopAndCopy(t *testing.T) {
	a, b := &sink{}, &sink{}
	in := node("in", &numbers{n: 5, size: 2})
	in.Distribute = false
	twice := node("a", a)
	twice.Copies = "2"
	r, _, err := run(t, graphOf([]*pipeline.Node{in, twice, node("b", b)}, "in>a", "in>b"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int][]string{0: count(0, 5), 1: count(0, 5)}, a.rows); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(count(0, 5), b.all()); diff != "" {
		t.Error(diff)
	}
	if r.Written != 15 {
		t.Errorf("written counts %d rows, want every copy: 15", r.Written)
	}
}

func TestCopiesOfAStatelessTransformAreOneUnitWithDealtMetrics(t *testing.T) {
	s := &sink{}
	m := node("map", &mapper{f: same})
	m.Copies = "${N}"
	o := options(t)
	o.Vars.Set("N", "4")
	_, e, err := run(t, graphOf([]*pipeline.Node{node("in", &numbers{n: 10, size: 3}), m, node("out", s)}, "in>map", "map>out"), o)
	if err != nil {
		t.Fatal(err)
	}
	var read []int64
	for _, m := range e.Metrics() {
		if m.Name == "map" {
			read = append(read, m.Read)
		}
	}
	if diff := cmp.Diff([]int64{3, 3, 2, 2}, read); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(count(0, 10), s.all()); diff != "" {
		t.Error(diff)
	}
}

func TestMergedInputsTakeTurnsCountedInRows(t *testing.T) {
	var want []string
	for i, size := range []int{5, 4096, 1000} {
		s := &sink{}
		g := graphOf([]*pipeline.Node{node("a", &numbers{n: 10_000, size: size}), node("b", &numbers{n: 5_000, size: size}), node("out", s)}, "a>out", "b>out")
		if _, _, err := run(t, g, options(t)); err != nil {
			t.Fatal(err)
		}
		got := s.all()
		if i == 0 {
			want = got
			if len(got) != 15_000 || got[4095] != "4095" || got[4096] != "0" || got[8192] != "4096" {
				t.Fatalf("turns are not 4096 rows: %d rows, %v", len(got), got[4090:4100])
			}
		} else if !slices.Equal(got, want) {
			t.Errorf("batches of %d rows change the order", size)
		}
	}
}

func TestSplitAndRejoinOfAMillionRowsEndsWithBoundedMemory(t *testing.T) {
	const n = 1_000_000
	s := &sink{}
	in := node("in", &numbers{n: n, size: 4096})
	in.Distribute = false
	counted := int64(0)
	join := &inTurn{first: "a", second: "b"}
	g := graphOf([]*pipeline.Node{
		in, node("a", &mapper{f: same}), node("b", &mapper{f: same}), node("join", join),
		node("count", &mapper{f: func(v int64) (int64, error) { counted++; return v, nil }, ordered: true, port: func(v int64) transform.Port {
			if v == n-1 {
				return transform.Main
			}
			return "none"
		}, ports: &transform.Ports{Inputs: []transform.InputPort{{Name: "main"}}, Outputs: []transform.OutputPort{{ID: transform.Main}, {ID: "none", Target: "nobody"}}}}), node("out", s),
	},
		"in>a", "in>b", "a>join", "b>join", "join>count", "count>out")
	if _, _, err := run(t, g, options(t)); err != nil {
		t.Fatal(err)
	}
	if counted != 2*n || len(s.all()) != 2 {
		t.Errorf("%d rows arrived, want %d; %v", counted, 2*n, s.all())
	}
}

func TestLookupOfItsOwnSourceEnds(t *testing.T) {
	const n = 200_000
	s := &sink{}
	in := node("in", &numbers{n: n, size: 4096})
	in.Distribute = false
	g := graphOf([]*pipeline.Node{in, node("side", &mapper{f: same}), node("look", &lookup{from: "side"}), node("out", s)},
		"in>side", "side>look", "in>look", "look>out")
	if _, _, err := run(t, g, options(t)); err != nil {
		t.Fatal(err)
	}
	got := s.all()
	if len(got) != n || got[0] != "200000" {
		t.Errorf("%d rows, first %v", len(got), got[0])
	}
}

func TestAFailureNamesTransformRowAndAborts(t *testing.T) {
	for name, ordered := range map[string]bool{"parallel": false, "ordered": true} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			g := graphOf([]*pipeline.Node{node("in", &numbers{n: 100_000, size: 100}), node("map", &mapper{f: same}), node("bad", &mapper{f: failAt(5_432), ordered: ordered}), node("out", s)}, "in>map", "map>bad", "bad>out")
			r, e, err := run(t, g, options(t))
			var ee *engine.Error
			if !errors.As(err, &ee) || ee.Transform != "bad" || ee.Row != 5_433 || ee.Field != "n" {
				t.Fatalf("error is %v", err)
			}
			if r.OK || r.Errors != 1 {
				t.Errorf("result %+v", r)
			}
			if diff := cmp.Diff([]string{"abort"}, s.events); diff != "" {
				t.Error(diff)
			}
			for _, m := range e.Metrics() {
				if want := map[string]pipeline.State{"bad": pipeline.Failed, "out": pipeline.Stopped}[m.Name]; want != 0 && m.State != want {
					t.Errorf("%s is %s, want %s", m.Name, m.State, want)
				}
			}
		})
	}
}

func TestRejectedRowsGoDownTheErrorHop(t *testing.T) {
	good, bad := &sink{}, &sink{}
	m := node("map", &mapper{f: failAt(3)})
	m.Errors = &transform.ErrorLink{Target: "bad", CountField: "nr", DescriptionField: "why", FieldField: "which"}
	r, _, err := run(t, graphOf([]*pipeline.Node{node("in", &numbers{n: 6, size: 2}), m, node("good", good), node("bad", bad)}, "in>map", "map>good", "map>bad"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "4", "5"}, good.all()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"3|1|refused|n"}, bad.all()); diff != "" {
		t.Error(diff)
	}
	if !r.OK || r.Rejected != 1 {
		t.Errorf("result %+v", r)
	}
}

func TestTooManyRejectedRowsFail(t *testing.T) {
	m := node("map", &mapper{f: func(v int64) (int64, error) { return v, errors.New("no") }})
	m.Errors = &transform.ErrorLink{Target: "bad", MaxErrors: "2"}
	bad := &sink{}
	_, _, err := run(t, graphOf([]*pipeline.Node{node("in", &numbers{n: 100, size: 50}), m, node("good", &sink{}), node("bad", bad)}, "in>map", "map>good", "map>bad"), options(t))
	if err == nil || !strings.Contains(err.Error(), "more rows were rejected") {
		t.Fatalf("error is %v", err)
	}
	if n := len(bad.all()); n > 3 {
		t.Errorf("%d rows were rejected before the end, want 3", n)
	}
}

func TestAPanicFailsTheExecutionOnly(t *testing.T) {
	g := graphOf([]*pipeline.Node{node("in", &numbers{n: 10, size: 2}), node("map", &mapper{f: func(int64) (int64, error) { panic("broken") }})}, "in>map")
	o := options(t)
	e, err := pipeline.Prepare(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = e.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "internal error: broken") {
		t.Fatalf("error is %v", err)
	}
}

func TestStopCommitsAndSafeStopLetsRowsFinish(t *testing.T) {
	for name, safe := range map[string]bool{"stop": false, "safe stop": true} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			o := options(t)
			var e *pipeline.Execution
			g := graphOf([]*pipeline.Node{node("in", &numbers{size: 10, endless: true}), node("map", &mapper{ordered: true, f: func(v int64) (int64, error) {
				if v == 1000 {
					e.Stop(safe)
				}
				return v, nil
			}}), node("out", s)}, "in>map", "map>out")
			var err error
			if e, err = pipeline.Prepare(t.Context(), g, o); err != nil {
				t.Fatal(err)
			}
			r, err := e.Run(t.Context())
			if safe != (err == nil) || (!safe && !errors.Is(err, pipeline.ErrStopped)) {
				t.Fatalf("error is %v", err)
			}
			if !r.OK || r.Stopped == safe {
				t.Errorf("result %+v", r)
			}
			if diff := cmp.Diff([]string{"commit"}, s.events); diff != "" {
				t.Error(diff)
			}
			if err := o.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPauseHoldsRowsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		o := options(t)
		e, err := pipeline.Prepare(t.Context(), graphOf([]*pipeline.Node{node("in", &numbers{n: 100_000, size: 10}), node("out", s)}, "in>out"), o)
		if err != nil {
			t.Fatal(err)
		}
		e.Pause()
		done := make(chan error)
		go func() { _, err := e.Run(t.Context()); done <- err }()
		synctest.Wait()
		if n := len(s.all()); n != 0 {
			t.Errorf("%d rows arrived while paused", n)
		}
		e.Resume()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n := len(s.all()); n != 100_000 {
			t.Errorf("%d rows arrived", n)
		}
	})
}

func TestWhatCannotRunIsToldBeforeARowMoves(t *testing.T) {
	other := batch.NewSchema(batch.NewField("text", batch.String))
	for name, c := range map[string]struct {
		graph *pipeline.Graph
		want  string
	}{
		"different layouts": {
			graphOf([]*pipeline.Node{node("a", &numbers{n: 1, size: 1}), node("b", &fixed{other}), node("out", &sink{})}, "a>out", "b>out"),
			`rows from "a" and "b" have different layouts`,
		},
		"a circle": {
			graphOf([]*pipeline.Node{node("a", &mapper{f: same}), node("b", &mapper{f: same})}, "a>b", "b>a"), "circle",
		},
		"an input that is not connected": {
			graphOf([]*pipeline.Node{node("a", &numbers{n: 1, size: 1}), node("join", &inTurn{"a", "b"})}, "a>join"), `its input "b" is not connected`,
		},
		"copies that are no number": {
			graphOf([]*pipeline.Node{{Name: "a", Settings: &numbers{n: 1, size: 1}, Copies: "${NONE}"}}), "number of copies cannot be run",
		},
		"the same name twice": {
			graphOf([]*pipeline.Node{node("a", &numbers{n: 1, size: 1}), node("A", &numbers{n: 1, size: 1})}), "two transforms have this name",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pipeline.Prepare(t.Context(), c.graph, options(t))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

// anyLayout is a sink that takes rows of different layouts.
type anyLayout struct{ sink }

func (s *anyLayout) Ports(transform.Links) transform.Ports {
	p := transform.DefaultPorts()
	p.Inputs[0].AnyLayout = true
	return p
}

func TestALeafMayTakeDifferentLayouts(t *testing.T) {
	s := &anyLayout{}
	g := graphOf([]*pipeline.Node{node("a", &numbers{n: 2, size: 1}), node("b", &wide{rows: 2}), node("out", s)}, "a>out", "b>out")
	if _, _, err := run(t, g, options(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"0", "1", "0|0|0", "1|1|1"}, s.all()); diff != "" {
		t.Error(diff)
	}
	g = graphOf([]*pipeline.Node{node("a", &numbers{n: 2, size: 1}), node("b", &wide{}), node("out", s), node("next", &sink{})}, "a>out", "b>out", "out>next")
	if _, err := pipeline.Prepare(t.Context(), g, options(t)); err == nil || !strings.Contains(err.Error(), "different layouts") {
		t.Errorf("error is %v", err)
	}
}

// fixed is a source without rows of a given schema.
type fixed struct{ schema *batch.Schema }

func (s *fixed) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema)
}

func (s *fixed) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &numbersProcessor{s: &numbers{}, env: env}, nil
}
