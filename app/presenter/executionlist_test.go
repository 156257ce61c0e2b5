package presenter_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/app/presenter"
	"sluice/canvas/scene"
	"sluice/storage"
)

// records is a store whose processes beat when the test says so.
type records struct {
	storage.MemoryExecutions
	beats map[string]time.Time
}

func (r *records) Heartbeats(context.Context) (map[string]time.Time, error) { return r.beats, nil }

// began records an execution that runs.
func (r *records) began(t *testing.T, h storage.ExecutionHead) storage.Execution {
	t.Helper()
	h.State = storage.StateRunning
	e, err := r.Create(t.Context(), storage.NewExecution{Execution: storage.Execution{ExecutionHead: h}})
	must(t, err)
	return e
}

func (r *records) ended(t *testing.T, e storage.Execution, to storage.State, message string) {
	t.Helper()
	_, err := r.Transition(t.Context(), e.ID, storage.Change{To: to, Message: message})
	must(t, err)
}

func TestTheListOfExecutionsIsNarrowed(t *testing.T) {
	s := &records{beats: map[string]time.Time{}}
	now := time.Now()
	failed := s.began(t, storage.ExecutionHead{Kind: storage.KindWorkflow, Name: "nightly"})
	child := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "load", Parent: failed.ID, Root: failed.ID, CallPath: "Load:1"})
	s.ended(t, child, storage.StateFailed, "no connection")
	s.ended(t, failed, storage.StateFailed, "Load failed\nno connection")
	silent := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "month end"})
	running := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "intake"})
	s.beats[silent.ID], s.beats[running.ID] = now.Add(-3*time.Minute), now.Add(-time.Second)

	for name, c := range map[string]struct {
		filter presenter.ExecutionFilter
		want   []string
	}{
		"roots":        {presenter.ExecutionFilter{}, []string{"intake", "month end", "nightly"}},
		"children too": {presenter.ExecutionFilter{Children: true}, []string{"intake", "load", "month end", "nightly"}},
		"failed":       {presenter.ExecutionFilter{State: "Failed", Age: "Today"}, []string{"nightly"}},
		"stalled":      {presenter.ExecutionFilter{State: "Stalled"}, []string{"month end"}},
		"workflows":    {presenter.ExecutionFilter{Kind: "Workflows", Age: "Last 7 days"}, []string{"nightly"}},
		"pipelines":    {presenter.ExecutionFilter{Kind: "Pipelines"}, []string{"intake", "month end"}},
		"a name":       {presenter.ExecutionFilter{Text: " NIGHT "}, []string{"nightly"}},
		"an id":        {presenter.ExecutionFilter{Text: running.ID[:20]}, []string{"intake"}},
		"nothing":      {presenter.ExecutionFilter{Text: "no such thing"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rows, next, err := presenter.LoadExecutions(t.Context(), s, c.filter, "", now)
			if err != nil || next != "" {
				t.Fatalf("next %q, %v", next, err)
			}
			var got []string
			for _, r := range rows {
				got = append(got, r.Name)
				if stalled := r.Name == "month end"; stalled != (r.Look == scene.StateStalled) || stalled && r.Why != "no heartbeat for 3 m 00 s" {
					t.Errorf("%s is %v: %s", r.Name, r.Look, r.Why)
				}
			}
			slices.Sort(got) // those of one millisecond come in any order
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if narrowed := name != "roots" && name != "children too"; c.filter.Narrowed() != narrowed {
				t.Errorf("narrowed: %v", c.filter.Narrowed())
			}
		})
	}
}

func TestTheTreeOfARunHasActionsAndWhatTheyCalled(t *testing.T) {
	s := &records{}
	at := time.Now().UTC().Truncate(time.Millisecond)
	root := s.began(t, storage.ExecutionHead{Kind: storage.KindWorkflow, Name: "nightly"})
	child := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "load", Parent: root.ID, Root: root.ID, CallPath: "Load:2"})
	grandchild := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "mapping", Parent: child.ID, Root: root.ID, CallPath: "Load:2/Map:1"})
	for _, a := range []storage.ActionRun{
		{ActionKey: storage.ActionKey{Root: root.ID, Node: "Start", Ordinal: 1}, State: storage.ActionSucceeded, Started: at, Ended: at.Add(time.Millisecond)},
		{ActionKey: storage.ActionKey{Root: root.ID, Node: "Load", Ordinal: 2}, State: storage.ActionFailed, Started: at.Add(time.Second), Ended: at.Add(3 * time.Second), Child: child.ID, Result: &storage.ActionResult{Written: 128}},
	} {
		a.Execution = root.ID
		must(t, s.SaveActionRun(t.Context(), a))
	}
	s.ended(t, grandchild, storage.StateFailed, "x")
	s.ended(t, child, storage.StateFailed, "x")
	s.ended(t, root, storage.StateFailed, "x")
	d, err := presenter.LoadExecution(t.Context(), s, root.ID)
	must(t, err)
	var got []string
	for _, l := range d.RunTree(at) {
		got = append(got, fmt.Sprintf("%s%s %s branch=%v node=%q", strings.Repeat(" ", l.Depth), l.Name, l.Look, l.Branch, l.Node))
	}
	want := []string{
		`nightly Failed branch=true node=""`, ` Start Succeeded branch=false node="Start"`, ` Load #2 Failed branch=true node="Load"`,
		`  load Failed branch=true node=""`, `   mapping Failed branch=false node=""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	v := d.View(at)
	if v.Notes["load"] != "128 written" || !v.NotReached {
		t.Errorf("%+v", v)
	}
}

func TestARecordedLogIsReadInPagesAndSearched(t *testing.T) {
	s := &records{}
	e := s.began(t, storage.ExecutionHead{Kind: storage.KindPipeline, Name: "load"})
	for i := range 4500 {
		x := storage.LogEntry{Execution: e.ID, Node: "in", Text: fmt.Sprintf("line %d", i)}
		if i == 10 || i == 3000 {
			x.Level, x.Node = storage.LevelError, "out"
		}
		must(t, s.Log(t.Context(), x))
	}
	l := &presenter.RecordedLog{}
	for pages := 0; ; pages++ {
		p, err := presenter.LoadLog(t.Context(), s, e.ExecutionHead, presenter.LogFilter{}, l.Next)
		must(t, err)
		if !l.Add(p) {
			t.Fatalf("page %d is empty", pages)
		}
		if !l.More {
			break
		}
	}
	if len(l.Entries) != 4500 {
		t.Errorf("%d lines", len(l.Entries))
	}
	if a, b, again := l.NextError(-1), l.NextError(10), l.NextError(3000); a != 10 || b != 3000 || again != 10 {
		t.Errorf("errors at %d, %d, %d", a, b, again)
	}
	if diff := cmp.Diff([]string{"in", "out"}, l.Nodes()); diff != "" {
		t.Error(diff)
	}
	p, err := presenter.LoadLog(t.Context(), s, e.ExecutionHead, presenter.LogFilter{Search: "LINE 30", Level: "Errors", Node: "out"}, 0)
	if err != nil || len(p.Entries) != 1 || p.Entries[0].Text != "line 3000" {
		t.Errorf("%v, %+v", err, p.Entries)
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	n, err := presenter.ExportLog(t.Context(), s, e.ExecutionHead, presenter.LogFilter{}, path)
	must(t, err)
	data, err := os.ReadFile(path)
	if err != nil || n != 4500 || strings.Count(string(data), "\n") != 4500 {
		t.Errorf("%d lines, %v", n, err)
	}
}

func TestAFailedStepSaysWhy(t *testing.T) {
	d := &presenter.ExecutionDetail{Metrics: []storage.TransformMetrics{
		{Transform: "in", State: "finished", Read: 3},
		{Transform: "out", Copy: 1, State: "failed", Errors: 1, Sink: &storage.SinkFacts{Target: "/shop/rows.txt"}},
		{Transform: "other", State: "finished", Sink: &storage.SinkFacts{Target: "sales"}},
	}}
	d.Message = "transform \"out\": the disk is full\nand more"
	steps := d.Steps(time.Now())
	got := []string{steps[0].Note, steps[1].Name, steps[1].Note, steps[1].Look.String(), steps[2].Note}
	if diff := cmp.Diff([]string{"", "out, copy 1", "the disk is full", "Failed", "writes sales"}, got); diff != "" {
		t.Error(diff)
	}
}
