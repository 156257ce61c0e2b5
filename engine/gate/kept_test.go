package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/gate"
	"sluice/storage"
)

func reusedNodes(r ran) []string {
	var names []string
	for _, x := range r.session.Reused() {
		names = append(names, x.Node)
	}
	return names
}

func TestTheSafeEngineContinuesAtTheFailedTransform(t *testing.T) {
	text := func(rows, note string) string {
		return hpl("in>mid mid>done mid>bad", node("in", "TestSource", "<rows>"+rows+"</rows>", "copy"), node("mid", "TestTarget", "", "copy"), node("done", "TestTarget", ""), node("bad", "TestTarget", "<note>"+note+"</note>"))
	}
	safe := gate.SessionOptions{Safe: true}
	fail := func(t *testing.T) (*world, string) {
		w := use(newWorld(t, &storage.Memory{}))
		file := w.file("a.hpl", text("5000", "x"))
		w.sinks.failAt["bad"] = 10
		r := w.run(file, safe)
		if !errors.Is(r.err, errDead) {
			t.Fatal(r.err)
		}
		delete(w.sinks.failAt, "bad")
		return w, file
	}
	t.Run("same inputs", func(t *testing.T) {
		w, file := fail(t)
		r := w.mustRun(file, safe)
		if diff := cmp.Diff([]string{"in", "mid", "done"}, reusedNodes(r)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]int{"bad": 1}, r.starts); diff != "" || len(r.rows["bad.0"]) != 5000 {
			t.Errorf("%s, %d rows", diff, len(r.rows["bad.0"]))
		}
		again := w.mustRun(file, safe)
		if len(reusedNodes(again)) != 0 || again.starts["in"] != 1 {
			t.Errorf("after a success %v is reused", reusedNodes(again))
		}
	})
	t.Run("fresh", func(t *testing.T) {
		w, file := fail(t)
		o := safe
		o.Fresh = true
		if r := w.mustRun(file, o); len(reusedNodes(r)) != 0 || r.starts["in"] != 1 {
			t.Errorf("%v", reusedNodes(r))
		}
	})
	t.Run("the failed transform was repaired", func(t *testing.T) {
		w, _ := fail(t)
		if r := w.mustRun(w.file("a.hpl", text("5000", "y")), safe); r.starts["in"]+r.starts["done"] != 0 {
			t.Errorf("%v", r.starts)
		}
	})
	t.Run("the source changed", func(t *testing.T) {
		w, _ := fail(t)
		r := w.mustRun(w.file("a.hpl", text("4000", "x")), safe)
		if len(reusedNodes(r)) != 0 || len(r.rows["bad.0"]) != 4000 || len(r.session.Stale()) == 0 || !strings.Contains(r.session.Stale()[0].Reason, "5000") {
			t.Errorf("%v, %d rows, %v", reusedNodes(r), len(r.rows["bad.0"]), r.session.Stale())
		}
	})
	t.Run("it fails twice, then the rows above are lost", func(t *testing.T) {
		w, file := fail(t)
		w.sinks.failAt["bad"] = 10
		if r := w.run(file, safe); !errors.Is(r.err, errDead) || len(reusedNodes(r)) != 3 {
			t.Fatalf("%v, %v", r.err, reusedNodes(r))
		}
		delete(w.sinks.failAt, "bad")
		place := w.local[gate.KindSafe]
		list, err := place.Store.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Origin.Node == "in" {
				if _, err := place.Store.DeclareDead(t.Context(), s.Ref, "lost"); err != nil {
					t.Fatal(err)
				}
				if err := place.Remote.Delete(t.Context(), s.Ref.Gate+"/"+s.Ref.ID+"/SnapshotManifest.json"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := w.mustRun(file, safe); len(reusedNodes(r)) != 0 || r.starts["in"] != 1 || r.starts["done"] != 1 {
			t.Errorf("rows that were made of lost ones are reused: %v", reusedNodes(r))
		}
	})
}

func TestTheSafeEngineIsARunConfiguration(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	mustMkdir(t, w.dir+"/metadata/pipeline-run-configuration")
	w.file("metadata/pipeline-run-configuration/careful.json", `{"name":"careful","engineRunConfiguration":{"Safe":{}},"configurationVariables":[]}`)
	w.config = "careful"
	file := w.file("a.hpl", hpl("in>out", node("in", "TestSource", "<rows>9</rows>"), node("out", "TestTarget", "")))
	w.sinks.failAt["out"] = 1
	w.run(file, gate.SessionOptions{})
	delete(w.sinks.failAt, "out")
	if r := w.mustRun(file, gate.SessionOptions{}); r.starts["in"] != 0 || len(r.rows["out.0"]) != 9 {
		t.Errorf("%v", r.starts)
	}
}

func TestTheDevCache(t *testing.T) {
	text := func(source string) string {
		return edited(t, hpl("in>mid mid>out", node("in", "TestSource", source), node("mid", "Dummy", ""), node("out", "TestTarget", "")), gate.MarkCache("mid", 5, ids(1, 2, 3, 4, 5, 6)))
	}
	cached := gate.SessionOptions{FromCache: true}
	w := use(newWorld(t, &storage.Memory{}))
	file := w.file("a.hpl", text("<rows>100</rows>"))
	if r := w.mustRun(file, cached); len(r.session.Stale()) != 1 || len(r.rows["out.0"]) != 100 {
		t.Errorf("first run: %v, %d rows", r.session.Stale(), len(r.rows["out.0"]))
	}
	if r := w.mustRun(file, cached); r.starts["in"] != 0 || len(r.rows["out.0"]) != 5 {
		t.Errorf("from the cache: starts %v, %d rows", r.starts, len(r.rows["out.0"]))
	}
	changed := w.file("a.hpl", text("<rows>7</rows>"))
	r := w.mustRun(changed, cached)
	if r.starts["in"] != 1 || len(r.rows["out.0"]) != 7 || len(r.session.Stale()) != 1 || !strings.Contains(r.session.Stale()[0].Reason, `setting`) && !strings.Contains(r.session.Stale()[0].Reason, `rows`) {
		t.Errorf("stale: %v, %v", r.starts, r.session.Stale())
	}
	if r := w.mustRun(changed, cached); r.starts["in"] != 0 {
		t.Error("the refreshed cache is not used")
	}
	if r := w.mustRun(changed, gate.SessionOptions{}); r.starts["in"] != 1 {
		t.Error("the cache is used without being asked for")
	}
	freed, err := gate.ClearCache(t.Context(), w.local[gate.KindCache], "")
	if err != nil || freed == 0 {
		t.Errorf("%d bytes freed, %v", freed, err)
	}
	if r := w.mustRun(changed, cached); r.starts["in"] != 1 {
		t.Error("a cleared cache is used")
	}
}

// TestACacheEntryIsNoGate: even a gate with the id of a cache mark, over the same
// store, does not take its rows.
func TestACacheEntryIsNoGate(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	text := hpl("in>out", node("in", "TestSource", "<rows>9</rows>"), node("out", "TestTarget", ""))
	w.mustRun(w.file("a.hpl", edited(t, text, gate.MarkCache("in", 0, ids(1, 2, 3, 4, 5, 6)))), gate.SessionOptions{})
	w.place = w.local[gate.KindCache]
	list := refusal(t, w.run(w.file("a.hpl", edited(t, text, gate.Mark("in", nil, ids(1, 2, 3, 4, 5, 6)))), from("in")))
	if len(list) != 1 || list[0].Overridable || !strings.Contains(list[0].What, "dev-cache") {
		t.Errorf("%+v", list)
	}
}
