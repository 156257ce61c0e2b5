package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// TestFailAtEveryCall lets each call that a gate makes to its remote fail in each
// way. Either the run fails and nothing is sealed, or what is sealed verifies and
// replays.
func TestFailAtEveryCall(t *testing.T) {
	text := hpl("in>out", node("in", "TestSource", "<rows>30000</rows>"), node("out", "TestTarget", ""))
	for _, mode := range storagetest.Modes {
		t.Run(mode.String(), func(t *testing.T) {
			for at := 1; ; at++ {
				m := &storage.Memory{}
				w := use(newWorld(t, m))
				faulty := storagetest.NewFaulty(m, storagetest.Faults{FailAt: at, Mode: mode})
				w.place = placeOf(faulty, snapshot.Options{})
				file := w.file("a.hpl", marked(t, text, "in"))
				r := w.run(file, gate.SessionOptions{SegmentBytes: 60_000})
				faulty.Settle()
				if faulty.Calls() < at {
					if r.err != nil {
						t.Fatal(r.err)
					}
					return
				}
				w.place = placeOf(m, snapshot.Options{})
				judge(t, w, file, at, r)
			}
		})
	}
}

func judge(t *testing.T, w *world, file string, at int, r ran) {
	t.Helper()
	gates, err := w.place.Store.Gates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sealed := 0
	for _, g := range gates {
		list, err := w.place.Store.List(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			o := from("in")
			o.From[0].Snapshot = s.Ref.ID
			if s.State == storage.SnapshotSealed {
				sealed++
				if again := w.run(file, o); again.err != nil || len(again.rows["out.0"]) != 30000 {
					t.Errorf("call %d: SEALED, and the replay gives %d rows, %v", at, len(again.rows["out.0"]), again.err)
				}
				continue
			}
			if again := w.run(file, o); again.err == nil || len(again.starts) != 0 {
				t.Errorf("call %d: %s was replayed", at, s.State)
			}
		}
	}
	if r.err == nil && sealed != 1 {
		t.Errorf("call %d: the run succeeded with %d sealed snapshots", at, sealed)
	}
}

// fullDisk has little space left.
type fullDisk struct {
	*storage.Memory
	free int64
}

func (d *fullDisk) FreeSpace(context.Context) (int64, error) { return d.free, nil }

func TestAFullDiskIsFoundBeforeAnythingIsRead(t *testing.T) {
	w := use(newWorld(t, &fullDisk{&storage.Memory{}, 1000}))
	r := w.run(w.file("a.hpl", marked(t, plain, "in")), gate.SessionOptions{})
	if !errors.Is(r.err, storage.ErrNoSpace) || !strings.Contains(r.err.Error(), "sluice disk") {
		t.Errorf("%v", r.err)
	}
	if len(r.rows) != 0 {
		t.Errorf("rows moved: %v", r.rows)
	}
}

// lonely loses its heartbeat after a while, as when the network is gone.
type lonely struct {
	*storage.Memory
	lost atomic.Bool
}

func (l *lonely) Put(ctx context.Context, name string, c storage.Content) error {
	if strings.HasSuffix(name, "lease.json") && l.lost.Load() {
		return storage.ErrUnreachable
	}
	l.lost.Store(l.lost.Load() || strings.Contains(name, "-seg-"))
	return l.Memory.Put(ctx, name, c)
}

func TestALostHeartbeatStopsTheExtraction(t *testing.T) {
	l := &lonely{Memory: &storage.Memory{}}
	w := use(newWorld(t, l))
	w.place = placeOf(l, snapshot.Options{Heartbeat: 2 * time.Millisecond})
	r := w.run(w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestSource", "<rows>2000000000</rows>"), node("out", "TestTarget", "")), "in")), gate.SessionOptions{SegmentBytes: 50_000})
	if !errors.Is(r.err, snapshot.ErrFenced) {
		t.Fatalf("%v", r.err)
	}
	if o := r.outcome(t); o.State != storage.SnapshotInterrupted {
		t.Errorf("%+v", o)
	}
}
