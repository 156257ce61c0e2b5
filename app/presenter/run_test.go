package presenter_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/canvas/scene"
	"sluice/engine"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
)

func opener(f *presenter.File) func(*presenter.Log, string) (*workspace.Workspace, error) {
	return func(l *presenter.Log, _ string) (*workspace.Workspace, error) {
		return workspace.Open(workspace.Options{File: f.Path(), Log: l.Logger(engine.LevelBasic)})
	}
}

func ran(t *testing.T, f *presenter.File, run pipeline.Run, rows *presenter.Rows) (*presenter.Session, *presenter.Log) {
	t.Helper()
	log := &presenter.Log{}
	s := presenter.NewSession(log, time.Now)
	if rows != nil {
		rows.OnFull(s.Enough)
		run.Sample = rows.Take
	}
	run.File, run.Pipeline = f.Path(), f.Pipeline()
	s.Run(context.Background(), opener(f), run, presenter.RunOptions{})
	return s, log
}

func TestARunSucceedsAndShowsItsNumbers(t *testing.T) {
	f := openSample(t)
	s, log := ran(t, f, pipeline.Run{}, nil)
	v := s.View()
	if v.State != presenter.RunSucceeded || v.Err != nil {
		t.Fatalf("state %v, %v", v.State, v.Err)
	}
	for _, n := range f.Scene(v).Nodes {
		if n.State != scene.StateSucceeded || n.Metric == "" {
			t.Errorf("%s shows %v %q", n.Label, n.State, n.Metric)
		}
	}
	lines, _ := log.Lines(0)
	if len(lines) == 0 || !strings.HasPrefix(lines[len(lines)-1].Text, "Succeeded after") {
		t.Errorf("log: %+v", lines)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(f.Path()), "out", "turnover-by-country.csv")); err != nil {
		t.Error(err)
	}
}

func TestAFailureNamesItsTransform(t *testing.T) {
	f := openSample(t)
	fm := form(t, f, "Customers")
	entry(t, fm, "filename").Text = "/no/such/file.csv"
	must(t, fm.Apply())
	s, log := ran(t, f, pipeline.Run{}, nil)
	v := s.View()
	if v.State != presenter.RunFailed || v.Err == nil || v.FailedAt != "Customers" {
		t.Fatalf("state %v at %q: %v", v.State, v.FailedAt, v.Err)
	}
	if log.Errors() == 0 {
		t.Error("the log has no error")
	}
	for _, n := range f.Scene(v).Nodes {
		if n.Label == "Customers" && n.State != scene.StateFailed {
			t.Errorf("it shows %v", n.State)
		}
	}
}

func TestAPreviewShowsRowsAndWritesNothing(t *testing.T) {
	f := openSample(t)
	rows := presenter.NewRows("Order value", 7)
	s, _ := ran(t, f, pipeline.Run{Until: "Order value", SuppressSinks: true}, rows)
	fields, list, err := rows.View()
	if err != nil || len(list) != 7 || len(fields) == 0 || len(list[0]) != len(fields) {
		t.Errorf("%d rows of %d fields: %v", len(list), len(fields), err)
	}
	if v := s.View(); v.State != presenter.RunSucceeded {
		t.Errorf("state %v: %v", v.State, v.Err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(f.Path()), "out")); err == nil {
		t.Error("the preview wrote")
	}
}

func TestStopBeforeTheStartAndUnknownConfiguration(t *testing.T) {
	f := openSample(t)
	s := presenter.NewSession(&presenter.Log{}, time.Now)
	s.Stop(false)
	s.Run(context.Background(), opener(f), pipeline.Run{File: f.Path(), Pipeline: f.Pipeline()}, presenter.RunOptions{})
	if v := s.View(); v.State != presenter.RunStopped {
		t.Errorf("state %v: %v", v.State, v.Err)
	}
	s = presenter.NewSession(&presenter.Log{}, time.Now)
	s.Run(context.Background(), opener(f), pipeline.Run{File: f.Path(), Pipeline: f.Pipeline()}, presenter.RunOptions{Configuration: "nowhere"})
	if v := s.View(); v.State != presenter.RunFailed || !strings.Contains(v.Err.Error(), "nowhere") {
		t.Errorf("state %v: %v", v.State, v.Err)
	}
}

func TestCheckListsErrorsFirst(t *testing.T) {
	f := newPipeline(t)
	a := place(t, f, presenter.Placed{Type: "RowGenerator", At: scene.Point{X: 100, Y: 100}})
	place(t, f, presenter.Placed{Type: "SortRows", At: scene.Point{X: 300, Y: 100}, From: a})
	ws, err := workspace.Open(workspace.Options{Project: t.TempDir(), Log: (&presenter.Log{}).Logger(engine.LevelBasic)})
	must(t, err)
	list := presenter.Check(context.Background(), ws, f.Pipeline(), "")
	if len(list) == 0 || list[0].Node != "Sort rows" || !strings.Contains(list[0].Message, "empty") {
		t.Errorf("problems: %+v", list)
	}
	must(t, f.Do("unknown", hopxml.AddNode(hopxml.NewNode{Name: "Odd", Type: "NoSuchType"})))
	list = presenter.Check(context.Background(), ws, f.Pipeline(), "")
	if len(list) == 0 || !strings.Contains(list[0].Node+list[0].Message, "Odd") {
		t.Errorf("problems: %+v", list)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	log := &presenter.Log{}
	const many = 250_000
	for i := range many {
		log.Add(presenter.LogLine{Text: "line", Error: i == 0})
	}
	lines, next := log.Lines(0)
	if next != many || len(lines) > 100_000 || len(lines) < 80_000 || log.Errors() != 1 {
		t.Errorf("%d lines, next %d, %d errors", len(lines), next, log.Errors())
	}
	if more, _ := log.Lines(next); len(more) != 0 {
		t.Errorf("%d lines behind the last", len(more))
	}
	log.Add(presenter.LogLine{Text: "new"})
	if more, _ := log.Lines(next); len(more) != 1 || more[0].Text != "new" {
		t.Errorf("lines behind: %v", more)
	}
}

func TestPaletteSearch(t *testing.T) {
	p := presenter.NewCatalog(workspace.Registry(), workspace.Actions()).Palette(true)
	first := func(text string) string {
		list := p.Search(text, "")
		if len(list) == 0 {
			return ""
		}
		return list[0].ID
	}
	for text, want := range map[string]string{"sort": "SortRows", "CSV": "CSVInput", "memory group": "MemoryGroupBy", "no such thing": ""} {
		if got := first(text); got != want {
			t.Errorf("%q finds %q first, want %q", text, got, want)
		}
	}
	if len(p.Search("", "")) != len(workspace.Registry().All()) || len(p.Search("", "Input")) == 0 {
		t.Error("the palette does not hold every transform")
	}
}
