package presenter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/app/presenter"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

func TestRowsOfARunningHopAreSniffed(t *testing.T) {
	t.Setenv("SLUICE_DATA", t.TempDir())
	path := filepath.Join(t.TempDir(), "long.hpl")
	must(t, os.WriteFile(path, []byte(strings.Replace(cutText, "<limit>12</limit>", "<limit>100000000</limit>", 1)), 0o600))
	f := openFile(t, path)
	from, port, ok := f.SniffPort(hopOf(f, "rows", "gate"))
	if !ok || from != "rows" || port != transform.Main {
		t.Fatalf("%s, %s, %v", from, port, ok)
	}
	rows := presenter.NewRows("rows", 100)
	s := presenter.NewSession(&presenter.Log{}, time.Now)
	if s.Sniff(rows, port) {
		t.Error("something was sniffed before the run")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(t.Context(), opener(f), pipeline.Run{File: f.Path(), Pipeline: f.Pipeline()}, presenter.RunOptions{})
	}()
	for s.View().Execution == "" {
		time.Sleep(time.Millisecond)
	}
	if !s.Sniff(rows, port) {
		t.Fatal("nothing runs")
	}
	for rows.Len() < 100 {
		time.Sleep(time.Millisecond)
	}
	s.Stop(false)
	<-done
	if v := s.View(); v.State != presenter.RunStopped {
		t.Errorf("the run ended %v: %v", v.State, v.Err)
	}
	if row := rows.Row(99); rows.Len() != 100 || len(row) != 1 || row[0].Text != "x" {
		t.Errorf("%d rows: %+v", rows.Len(), row)
	}
	if s.Sniff(presenter.NewRows("rows", 100), port) {
		t.Error("something was sniffed after the run")
	}
}
