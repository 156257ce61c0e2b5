package workflow_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/engine/action"
	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
	"sluice/engine/workflow"
)

// reusing answers for the named runs, "path/action#ordinal", and notes what it
// was asked.
type reusing struct {
	recorded map[string]workflow.Recorded
	err      error

	mu    sync.Mutex // guards asked
	asked []string
}

func (r *reusing) reuse(_ context.Context, run *workflow.ActionRun) (*workflow.Recorded, error) {
	key := string(run.CallPath.Child(run.Action, run.Ordinal(), 1))
	r.mu.Lock()
	r.asked = append(r.asked, key)
	r.mu.Unlock()
	if was, ok := r.recorded[key]; ok {
		return &was, nil
	}
	return nil, r.err
}

func ok() workflow.Recorded {
	return workflow.Recorded{Result: action.Result{Result: transform.Result{OK: true}}, From: "earlier"}
}

func TestReusedActionsDoNotRun(t *testing.T) {
	b := newBench(t)
	rows := b.alloc.Batch(batch.NewSchema(batch.NewField("who", batch.String)))
	rows.Cols[0].AppendString("earlier")
	rows.SetRows(1)
	was := ok()
	was.Result.Rows, was.Result.Read = []*batch.Batch{rows}, 7
	was.Result.ResultFiles = []transform.ResultFile{{Path: "made.txt"}}
	was.Variables = map[string]string{"COUNT": "41"}
	was.From = "earlier"
	r := &reusing{recorded: map[string]workflow.Recorded{"Start#1": ok(), "A#1": was, "B#1": ok()}}
	b.runner.Reuse = r.reuse
	var ended []string
	b.runner.Hooks.Ended = func(run *workflow.ActionRun) {
		ended = append(ended, run.Action+"<"+run.ReusedFrom)
		if run.Action == "A" && (run.Set["COUNT"] != "41" || run.After.Read != 7) {
			t.Errorf("A is told with %v and %d rows read", run.Set, run.After.Read)
		}
		if run.Action == "C" && (run.Before.RowCount() != 1 || len(run.Before.ResultFiles) != 1) {
			t.Errorf("C got %d rows and %d files", run.Before.RowCount(), len(run.Before.ResultFiles))
		}
	}
	e := b.prepare(document([]string{start, node("A", "PROBE"), node("C", "PROBE"), node("B", "PROBE")}, "Start>A", "A+C", "C+B"))
	result, err := e.Run(t.Context())
	for _, x := range result.Rows {
		x.Release()
	}
	if err != nil || !result.OK {
		t.Fatalf("success %v, %v", result.OK, err)
	}
	if got := b.order(); got != "C B" {
		t.Errorf("ran %q; B is recorded, but C before it ran anew", got)
	}
	if !slices.Equal(r.asked, []string{"Start#1", "A#1", "C#1"}) {
		t.Errorf("asked %q", r.asked)
	}
	if !slices.Equal(ended, []string{"Start<earlier", "A<earlier", "C<", "B<"}) {
		t.Errorf("told of %q", ended)
	}
	if v, _ := e.Scope().Get("COUNT"); v != "43" {
		t.Errorf("COUNT is %q; C and B count on from the recorded 41", v)
	}
}

func TestReuseFollowsTheRecordedOutcome(t *testing.T) {
	b := newBench(t)
	failed := ok()
	failed.Result.OK = false
	b.runner.Reuse = (&reusing{recorded: map[string]workflow.Recorded{"Start#1": ok(), "A#1": failed}}).reuse
	if _, _, err := b.run(document([]string{start, node("A", "PROBE"), node("good", "PROBE"), node("bad", "PROBE")}, "Start>A", "A+good", "A-bad")); err != nil || b.order() != "bad" {
		t.Errorf("ran %q, %v", b.order(), err)
	}
}

func TestReuseInLoopsAndSections(t *testing.T) {
	t.Run("turns of a loop are told apart", func(t *testing.T) {
		b := newBench(t)
		turn := func(n string) workflow.Recorded {
			r := ok()
			r.Variables = map[string]string{"COUNT": n}
			return r
		}
		b.runner.Reuse = (&reusing{recorded: map[string]workflow.Recorded{
			"Start#1": ok(), "A#1": turn("1"), "again#1": ok(), "A#2": turn("2"), "again#2": ok(),
		}}).reuse
		_, _, err := b.run(document([]string{start, node("A", "PROBE", "below=4"), node("again", "DUMMY"), node("end", "SUCCESS")}, "Start>A", "A+again", "again>A", "A-end"))
		if err != nil || b.order() != "A again A end" {
			t.Errorf("ran %q, %v; two of four turns were recorded", b.order(), err)
		}
	})
	t.Run("a join behind one fresh branch is fresh", func(t *testing.T) {
		b := newBench(t)
		b.runner.Reuse = (&reusing{recorded: map[string]workflow.Recorded{
			"Start#1": ok(), "fork#1": ok(), "A#1": ok(), "join#1": ok(), "end#1": ok(),
		}}).reuse
		_, _, err := b.run(document([]string{
			start, node("fork", "DUMMY", "parallel=Y"), node("A", "PROBE"), node("B", "PROBE"), node("join", "JOIN"), node("end", "SUCCESS"),
		}, "Start>fork", "fork>A", "fork>B", "A>join", "B>join", "join>end"))
		if err != nil || b.order() != "B join end" {
			t.Errorf("ran %q, %v", b.order(), err)
		}
	})
	t.Run("a child is asked about, unless something before it ran", func(t *testing.T) {
		for name, c := range map[string]struct {
			recorded []string
			want     string
		}{
			"nothing before": {[]string{"Start#1", "P#1", "child#1/Start#1", "child#1/X#1"}, "child Y"},
			"P ran anew":     {[]string{"Start#1", "child#1/Start#1", "child#1/X#1"}, "P child Start X Y"},
		} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t)
				file := b.write("child.hwf", document([]string{start, node("X", "PROBE"), node("Y", "PROBE")}, "Start>X", "X>Y"))
				r := &reusing{recorded: map[string]workflow.Recorded{}}
				for _, key := range c.recorded {
					r.recorded[key] = ok()
				}
				b.runner.Reuse = r.reuse
				_, _, err := b.run(document([]string{start, node("P", "PROBE"), node("child", "WORKFLOW", "filename="+file, "run_configuration=local", "wait_until_finished=Y")}, "Start>P", "P>child"))
				if err != nil || b.order() != c.want {
					t.Errorf("ran %q, want %q, %v", b.order(), c.want, err)
				}
			})
		}
	})
}

func TestWhatCannotBeGivenBackEndsTheWorkflow(t *testing.T) {
	b := newBench(t)
	b.runner.Reuse = (&reusing{err: errors.New("rows are damaged")}).reuse
	r, _, err := b.run(document([]string{start, node("A", "PROBE")}, "Start>A"))
	if err != nil || r.OK || b.order() != "Start" {
		t.Errorf("success %v, ran %q, %v", r.OK, b.order(), err)
	}
}

// TestHooksSeeEveryExecution also shows the places of children in the tree.
func TestHooksSeeEveryExecution(t *testing.T) {
	b := newBench(t)
	child := b.write("child.hpl", pipelineOf("<type>RowGenerator</type><limit>2</limit>", passRows))
	sub := b.write("sub.hwf", document([]string{start, node("load", "PIPELINE", "filename="+child, "run_configuration=local", "wait_until_finished=Y")}, "Start>load"))
	var seen []string
	b.runner.Hooks.Begin = func(_ context.Context, e *workflow.Execution) (*slog.Logger, error) {
		seen = append(seen, "begin "+string(e.CallPath()))
		return nil, nil
	}
	b.runner.Hooks.End = func(_ context.Context, e *workflow.Execution, r transform.Result, _ error) {
		seen = append(seen, "end "+string(e.CallPath()))
	}
	w := &watcher{}
	b.runner.Pipelines.Watcher = w
	var children int
	b.runner.Hooks.Ended = func(r *workflow.ActionRun) { children += len(r.Children) }
	r, _, err := b.run(document([]string{start, node("both", "WORKFLOW", "filename="+sub, "run_configuration=local", "wait_until_finished=Y")}, "Start>both"))
	if err != nil || !r.OK {
		t.Fatalf("success %v, %v, log %s", r.OK, err, r.LogText)
	}
	want := []string{"begin ", "begin both#1", "end both#1", "end "}
	if !slices.Equal(seen, want) || !slices.Equal(w.seen, []string{"begin both#1/load#1", "running both#1/load#1", "end both#1/load#1 true"}) || children != 2 {
		t.Errorf("saw %q and %q, %d children", seen, w.seen, children)
	}
}

type watcher struct{ seen []string }

func (w *watcher) Begin(_ context.Context, p *pipeline.Preparation) error {
	w.seen = append(w.seen, "begin "+string(p.Run.CallPath))
	return nil
}

func (w *watcher) Running(_ *pipeline.Preparation, e *pipeline.Execution) {
	w.seen = append(w.seen, "running "+string(e.CallPath()))
}

func (w *watcher) End(_ context.Context, p *pipeline.Preparation, r transform.Result, _ error) {
	state := "false"
	if r.OK {
		state = "true"
	}
	w.seen = append(w.seen, "end "+string(p.Run.CallPath)+" "+state)
}

func TestSucceededMayFailTheAction(t *testing.T) {
	b := newBench(t)
	b.runner.Hooks.Succeeded = func(_ context.Context, r *workflow.ActionRun) error {
		if r.Action == "A" {
			return errors.New("the result was not sealed")
		}
		return nil
	}
	r, _, err := b.run(document([]string{start, node("A", "PROBE"), node("good", "PROBE"), node("bad", "PROBE")}, "Start>A", "A+good", "A-bad"))
	if err != nil || b.order() != "Start A bad" || !strings.Contains(r.LogText, "was not sealed") {
		t.Errorf("ran %q, %v, log %q", b.order(), err, r.LogText)
	}
}
