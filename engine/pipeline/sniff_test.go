package pipeline_test

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/pipeline"
	"sluice/engine/transform"
)

func TestRowsOfOneTransformCanBeSniffedAtFullSpeed(t *testing.T) {
	s := &sink{}
	o := options(t)
	e, err := pipeline.Prepare(t.Context(), graphOf([]*pipeline.Node{node("in", &numbers{n: 50_000, size: 37}), node("Map", &mapper{f: func(v int64) (int64, error) { return -v, nil }}), node("out", s)},
		"in>Map", "Map>out"), o)
	if err != nil {
		t.Fatal(err)
	}
	var rows, positive atomic.Int64
	look := func(_ int, _ transform.Port, b *batch.Batch) {
		rows.Add(int64(b.Rows()))
		for i := range b.All() {
			if b.Cols[0].Int(i) > 0 {
				positive.Add(1)
			}
		}
	}
	e.Sniff("in", func(int, transform.Port, *batch.Batch) { t.Error("it was ended before the run") })
	e.Sniff("", nil)
	if unread := e.Unread("map"); unread != nil {
		t.Errorf("not read: %v", unread)
	}
	e.Sniff("map", look)
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows.Load() != 50_000 || positive.Load() != 0 {
		t.Errorf("%d rows were shown, %d not of the transform", rows.Load(), positive.Load())
	}
	if err := o.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestSniffedFieldsThatNothingNeedsAreNamed(t *testing.T) {
	src := &wide{rows: 3}
	e, err := pipeline.Prepare(t.Context(), graphOf([]*pipeline.Node{node("s", src), node("x", &user{fields: []string{"b"}})}, "s>x"), options(t))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "c"}, e.Unread("S")); diff != "" {
		t.Error(diff)
	}
}
