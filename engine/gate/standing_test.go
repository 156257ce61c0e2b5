package gate_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/storage"
)

var errLooked = errors.New("looked")

// standing gives the standing of the only mark of a file.
func (w *world) standing(file string) gate.Standing {
	w.t.Helper()
	s := w.session(gate.SessionOptions{})
	var list []gate.Standing
	runner := &pipeline.Runner{
		Registry: transform.NewRegistry(transforms.Registry().All(), w.transforms()), Metadata: project.OpenMetadata(filepath.Join(w.dir, "metadata")),
		Alloc: w.alloc, Workers: 2, SpillFolder: w.dir,
		Extend: func(ctx context.Context, p *pipeline.Preparation) (err error) {
			list, err = s.Standings(ctx, p)
			return errors.Join(err, errLooked)
		},
	}
	if _, err := runner.Prepare(context.Background(), pipeline.Run{File: file, Scope: w.scope}); !errors.Is(err, errLooked) {
		w.t.Fatal(err)
	}
	if len(list) != 1 {
		w.t.Fatalf("%d marks, not 1", len(list))
	}
	if list[0].Err != nil {
		w.t.Fatal(list[0].Err)
	}
	return list[0]
}

func gated(t *testing.T, rows string) string {
	return marked(t, hpl("in>gate gate>out", node("in", "TestSource", "<rows>"+rows+"</rows>"), node("gate", "Dummy", ""), node("out", "TestTarget", "")), "gate")
}

func TestStandingFollowsTheSnapshotAndTheFile(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	text := gated(t, "20000")
	file := w.file("a.hpl", text)
	if x := w.standing(file); x.State != "" || x.Node != "gate" || x.Cache || x.Stale() {
		t.Errorf("before the first run: %+v", x)
	}

	o := w.mustRun(file, gate.SessionOptions{}).outcome(t)
	x := w.standing(file)
	if x.State != storage.SnapshotSealed || x.Stale() || x.Snapshot != o.Snapshot || x.Rows != 20000 || x.Bytes == 0 || x.At.IsZero() {
		t.Errorf("after the run: %+v", x)
	}

	file = w.file("a.hpl", strings.Replace(text, "<rows>20000</rows>", "<rows>20001</rows>", 1))
	x = w.standing(file)
	if !x.Stale() || len(x.Changes) != 1 || x.Changes[0].Node != "in" || x.Changes[0].Setting != "rows" || x.Changes[0].Then != "20000" || x.Changes[0].Now != "20001" {
		t.Errorf("after a change above: %+v", x)
	}

	file = w.file("a.hpl", strings.Replace(text, "TestTarget</type>", "Dummy</type>", 1))
	if x = w.standing(file); x.Stale() {
		t.Errorf("a change below made it stale: %+v", x)
	}
}

func TestStandingTellsWhatCannotBeReplayed(t *testing.T) {
	t.Run("interrupted", func(t *testing.T) {
		w := use(newWorld(t, &storage.Memory{}))
		w.sinks.failAt["gate"] = 10
		file := w.file("a.hpl", marked(t, hpl("in>gate gate>out", node("in", "TestSource", "<rows>20000</rows>"), node("gate", "TestTarget", ""), node("out", "Dummy", "")), "gate"))
		if r := w.run(file, gate.SessionOptions{}); r.err == nil {
			t.Fatal("it did not fail")
		}
		if x := w.standing(file); x.State != storage.SnapshotInterrupted || !strings.Contains(x.Why, "the target is dead") || x.Stale() {
			t.Errorf("%+v", x)
		}
	})
	for name, harm := range map[string]func([]byte) []byte{
		"cut short": func(b []byte) []byte { return b[:len(b)-1] },
		"gone":      func([]byte) []byte { return nil },
	} {
		t.Run("a segment is "+name, func(t *testing.T) {
			m := &storage.Memory{}
			w := use(newWorld(t, m))
			file := w.file("a.hpl", gated(t, "20000"))
			w.mustRun(file, gate.SessionOptions{})
			harmSegment(t, m, harm)
			if x := w.standing(file); x.State != storage.SnapshotDamaged || x.Why == "" {
				t.Errorf("%+v", x)
			}
		})
	}
}

// harmSegment changes the first segment found; harm that gives nothing deletes it.
func harmSegment(t *testing.T, m *storage.Memory, harm func([]byte) []byte) {
	t.Helper()
	var walk func(dir string) bool
	walk = func(dir string) bool {
		list, err := m.List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if o.Dir && walk(o.Name) {
				return true
			}
			if !strings.HasSuffix(o.Name, ".parquet") {
				continue
			}
			r, err := m.Open(t.Context(), o.Name, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if data = harm(data); data == nil {
				err = m.Delete(t.Context(), o.Name)
			} else {
				err = m.Put(t.Context(), o.Name, storage.Bytes(bytes.Clone(data)))
			}
			if err != nil {
				t.Fatal(err)
			}
			return true
		}
		return false
	}
	if !walk("") {
		t.Fatal("there is no segment")
	}
}

func TestStandingOfACache(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	text := edited(t, hpl("in>out", node("in", "TestSource", "<rows>100</rows>"), node("out", "TestTarget", "")), gate.MarkCache("in", 7, nil))
	file := w.file("a.hpl", text)
	if x := w.standing(file); !x.Cache || x.State != "" {
		t.Errorf("before the first run: %+v", x)
	}
	w.mustRun(file, gate.SessionOptions{})
	if x := w.standing(file); x.State != storage.SnapshotSealed || x.Rows != 7 || x.Stale() {
		t.Errorf("after the run: %+v", x)
	}
	file = w.file("a.hpl", strings.Replace(text, "<rows>100</rows>", "<rows>101</rows>", 1))
	if x := w.standing(file); !x.Stale() {
		t.Errorf("after a change: %+v", x)
	}
}

func TestStandingOfAnUnknownRemoteIsAnErrorOfTheGateAlone(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", marked(t, gated(t, "10"), "in", "location=unknown:"))
	d, err := hopxml.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.session(gate.SessionOptions{}).StandingsOf(t.Context(), d, w.scope)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %+v", err, list)
	}
	for _, x := range list {
		if wrong := x.Node == "in"; wrong != errors.Is(x.Err, storage.ErrUnknownRemote) {
			t.Errorf("%s: %v", x.Node, x.Err)
		}
	}
}
