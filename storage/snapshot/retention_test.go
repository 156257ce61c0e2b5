package snapshot_test

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

var day0 = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// shelf is a store with a clock that a test sets.
type shelf struct {
	t    *testing.T
	disk storage.Remote
	now  time.Time
	s    *snapshot.Store
}

func newShelf(t *testing.T, disk storage.Remote) *shelf {
	sh := &shelf{t: t, disk: disk, now: day0}
	sh.s = newStore(disk, snapshot.Options{Now: func() time.Time { return sh.now }})
	return sh
}

// sealed writes one snapshot of a root execution per day.
func (sh *shelf) sealed(roots ...string) []storage.SnapshotRef {
	sh.t.Helper()
	var refs []storage.SnapshotRef
	for _, root := range roots {
		ref, _ := mustWrite(sh.t, sh.s, root, 1, 2)
		refs = append(refs, ref)
		sh.now = sh.now.Add(24 * time.Hour)
	}
	return refs
}

func (sh *shelf) plan(p snapshot.Policy, facts func(string) snapshot.ExecutionFacts) snapshot.Plan {
	sh.t.Helper()
	list, err := sh.s.List(sh.t.Context(), "")
	if err != nil {
		sh.t.Fatal(err)
	}
	return snapshot.PlanRetention(list, p, facts, sh.now)
}

func succeeded(string) snapshot.ExecutionFacts {
	return snapshot.ExecutionFacts{Known: true, Ended: true}
}

// planned gives "kind index" of each action, by the order of refs.
func planned(p snapshot.Plan, refs []storage.SnapshotRef) []string {
	var out []string
	for _, a := range p.Actions {
		out = append(out, fmt.Sprintf("%s %d", a.Kind, slices.Index(refs, a.Ref)))
	}
	slices.Sort(out)
	return out
}

func TestPlanRetention(t *testing.T) {
	facts := map[string]snapshot.ExecutionFacts{
		"ok": {Known: true, Ended: true}, "running": {Known: true}, "failed": {Known: true, Ended: true, Failed: true},
		"replayed": {Known: true, Ended: true, Failed: true, Replayed: true}, "unknown": {Err: storage.ErrUnreachable},
	}
	ask := func(root string) snapshot.ExecutionFacts { return facts[strings.TrimRight(root, "0123456789")] }
	for name, c := range map[string]struct {
		roots   []string
		policy  snapshot.Policy
		prepare func(t *testing.T, sh *shelf, refs []storage.SnapshotRef)
		want    []string
	}{
		"within the limits":         {roots: []string{"ok1", "ok2"}, policy: snapshot.DefaultPolicy},
		"more than five":            {roots: []string{"ok1", "ok2", "ok3", "ok4", "ok5", "ok6", "ok7"}, policy: snapshot.DefaultPolicy, want: []string{"prune 0", "prune 1"}},
		"executions, not snapshots": {roots: []string{"ok1", "ok1", "ok2", "ok2"}, policy: snapshot.Policy{Executions: 1}, want: []string{"prune 0", "prune 1"}},
		"too old":                   {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{MaxAge: 36 * time.Hour}, want: []string{"prune 0"}},
		"too many bytes":            {roots: []string{"ok1", "ok2", "ok3"}, policy: snapshot.Policy{MaxBytes: 1}, want: []string{"prune 0", "prune 1", "prune 2"}},
		"no limits":                 {roots: []string{"ok1", "ok2", "ok3"}, policy: snapshot.Policy{}},
		"protected":                 {roots: []string{"running1", "failed1", "unknown1", "orphan1", "replayed1", "ok9"}, policy: snapshot.Policy{Executions: 1}, want: []string{"prune 4"}},
		"orphans by choice":         {roots: []string{"orphan1", "ok9"}, policy: snapshot.Policy{Executions: 1, Orphans: true}, want: []string{"prune 0"}},
		"pinned": {roots: []string{"ok1", "ok2", "ok3"}, policy: snapshot.Policy{Executions: 1}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			if err := sh.s.Pin(t.Context(), refs[0], "keep", "the audit", 0); err != nil {
				t.Fatal(err)
			}
		}, want: []string{"prune 1"}},
		"pin expired": {roots: []string{"ok1", "ok2", "ok3"}, policy: snapshot.Policy{Executions: 1}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			if err := sh.s.Pin(t.Context(), refs[0], "run-1", "", time.Hour); err != nil {
				t.Fatal(err)
			}
			sh.now = sh.now.Add(3 * time.Hour)
		}, want: []string{"prune 0", "prune 1"}},
		"unreadable pin holds": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{Executions: 1}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			mustPut(t, sh.disk, file(refs[0], "pin-x.json"), []byte("torn"))
		}},
		"unpinned": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{Executions: 1}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			if err := errors.Join(sh.s.Pin(t.Context(), refs[0], "k", "", 0), sh.s.Unpin(t.Context(), refs[0], "k")); err != nil {
				t.Fatal(err)
			}
		}, want: []string{"prune 0"}},
		"not ours": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{Executions: 1}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			if err := sh.disk.Delete(t.Context(), file(refs[0], "open.json")); err != nil {
				t.Fatal(err)
			}
		}},
		"damaged stays": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{Executions: 1, InterruptedAge: time.Hour}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			mustPut(t, sh.disk, file(refs[0], "SnapshotManifest.json"), []byte("torn"))
		}},
		"damaged by choice": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{Executions: 1, InterruptedAge: time.Hour, Damaged: true}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			mustPut(t, sh.disk, file(refs[0], "SnapshotManifest.json"), []byte("torn"))
		}, want: []string{"forget 0"}},
		"interrupted": {roots: []string{"ok1", "ok2"}, policy: snapshot.Policy{InterruptedAge: 36 * time.Hour}, prepare: func(t *testing.T, sh *shelf, refs []storage.SnapshotRef) {
			for _, ref := range refs {
				mustPut(t, sh.disk, file(ref, "interrupted.json"), []byte("{}"))
			}
		}, want: []string{"forget 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			sh := newShelf(t, &storage.Memory{})
			refs := sh.sealed(c.roots...)
			if c.prepare != nil {
				c.prepare(t, sh, refs)
			}
			p := sh.plan(c.policy, ask)
			if got := planned(p, refs); !slices.Equal(got, c.want) {
				t.Errorf("plan %v, want %v\n%s", got, c.want, p)
			}
			if len(p.Actions)+len(p.Kept) != len(refs) {
				t.Errorf("%d actions and %d kept of %d snapshots", len(p.Actions), len(p.Kept), len(refs))
			}
		})
	}
}

func TestOpenSnapshotsStay(t *testing.T) {
	sh := newShelf(t, &storage.Memory{})
	w, err := sh.s.Begin(t.Context(), begin("e1"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(t.Context()) }()
	sh.now = sh.now.Add(1000 * 24 * time.Hour)
	if p := sh.plan(snapshot.DefaultPolicy, succeeded); len(p.Actions) != 0 {
		t.Errorf("plan %s", p)
	}
}

// Prune leaves a record that says what was there; later that goes too, and
// nothing is left but what is not ours.
func TestPruneThenForget(t *testing.T) {
	for name, disk := range map[string]storage.Remote{
		"memory": &storage.Memory{},
		"folder": storage.NewPrivateFolder(filepath.Join(t.TempDir(), "s")),
	} {
		t.Run(name, func(t *testing.T) {
			sh := newShelf(t, disk)
			refs := sh.sealed("ok1", "ok2")
			mustPut(t, disk, file(refs[0], "SnapshotManifest.json.tmp-abc-1"), []byte("left over"))
			policy := snapshot.Policy{Executions: 1, PrunedAge: 30 * 24 * time.Hour}
			p := sh.plan(policy, succeeded)
			if p.Bytes() == 0 {
				t.Errorf("the plan frees nothing: %s", p)
			}
			if _, err := sh.s.Execute(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if got := files(t, disk, refs[0]); !slices.Equal(got, []string{"interrupted.json", "open.json"}) {
				t.Errorf("after prune: %v", got)
			}
			x := sh.s.Inspect(t.Context(), refs[0])
			if x.State != storage.SnapshotPruned || x.Rows != 101 || x.Digest == "" || !errors.Is(x.Why, snapshot.ErrPruned) {
				t.Errorf("summary %+v", x)
			}
			if err := sh.s.Pin(t.Context(), refs[0], "late", "", 0); !errors.Is(err, snapshot.ErrPruned) {
				t.Errorf("pin of a pruned snapshot: %v", err)
			}
			if p := sh.plan(policy, succeeded); len(p.Actions) != 0 {
				t.Errorf("a second prune: %s", p)
			}
			sh.now = sh.now.Add(31 * 24 * time.Hour)
			if _, err := sh.s.Execute(t.Context(), sh.plan(policy, succeeded)); err != nil {
				t.Fatal(err)
			}
			if ids, err := sh.s.IDs(t.Context(), gate); err != nil || !slices.Equal(ids, []string{refs[1].ID}) {
				t.Errorf("after forget: %v, %v", ids, err)
			}
			if _, err := sh.s.Load(t.Context(), refs[1]); err != nil {
				t.Errorf("the other one: %v", err)
			}
		})
	}
}

func files(t *testing.T, r storage.Remote, ref storage.SnapshotRef) []string {
	t.Helper()
	var out []string
	for name := range tree(t, r, path.Join(ref.Gate, ref.ID)) {
		out = append(out, path.Base(name))
	}
	slices.Sort(out)
	return out
}

// A stranger's file in a snapshot folder is not deleted.
func TestForgetLeavesStrangers(t *testing.T) {
	disk := &storage.Memory{}
	sh := newShelf(t, disk)
	refs := sh.sealed("ok1")
	mustPut(t, disk, file(refs[0], "interrupted.json"), []byte("{}"))
	mustPut(t, disk, file(refs[0], "thesis.docx"), []byte("mine"))
	sh.now = sh.now.Add(100 * 24 * time.Hour)
	if _, err := sh.s.Execute(t.Context(), sh.plan(snapshot.DefaultPolicy, succeeded)); err != nil {
		t.Fatal(err)
	}
	if got := files(t, disk, refs[0]); !slices.Equal(got, []string{"thesis.docx"}) {
		t.Errorf("left: %v", got)
	}
}

// A writer that was killed before its first file leaves an empty folder, or a
// temporary name.
func TestForgetHusks(t *testing.T) {
	disk := storage.NewPrivateFolder(t.TempDir())
	sh := newShelf(t, disk)
	kept := sh.sealed("ok1")[0]
	empty, torn, foreign := huskRef(1), huskRef(2), huskRef(3)
	if err := disk.MakeFolder(t.Context(), path.Join(gate, empty.ID)); err != nil {
		t.Fatal(err)
	}
	mustPut(t, disk, file(torn, "open.json.tmp-abc-1"), []byte("{"))
	mustPut(t, disk, file(foreign, "thesis.docx"), []byte("mine"))
	if p := sh.plan(snapshot.DefaultPolicy, succeeded); len(p.Actions) != 0 {
		t.Errorf("too early: %s", p)
	}
	sh.now = sh.now.Add(8 * 24 * time.Hour)
	if _, err := sh.s.Execute(t.Context(), sh.plan(snapshot.DefaultPolicy, succeeded)); err != nil {
		t.Fatal(err)
	}
	ids, err := sh.s.IDs(t.Context(), gate)
	slices.Sort(ids)
	want := []string{foreign.ID, kept.ID}
	slices.Sort(want)
	if err != nil || !slices.Equal(ids, want) {
		t.Errorf("left %v, %v, want %v", ids, err, want)
	}
}

// huskRef is a snapshot of the first day.
func huskRef(n uint64) storage.SnapshotRef {
	id, err := snapshot.NewID(day0, seeded(1000+n))
	if err != nil {
		panic(err)
	}
	return storage.SnapshotRef{Gate: gate, ID: id}
}

// A pin that comes between plan and execution, at whatever moment, holds.
func TestPinWhilePruning(t *testing.T) {
	won := map[string]int{}
	for at := 1; at < maxCalls; at++ {
		disk := &storage.Memory{}
		sh := newShelf(t, disk)
		ref := sh.sealed("ok1", "ok2")[0]
		p := sh.plan(snapshot.Policy{Executions: 1}, succeeded)
		var pinned error
		asked := false
		r := storagetest.NewFaulty(disk, storagetest.Faults{Hook: func(call int, _, _ string) {
			if call == at {
				asked = true
				pinned = sh.s.Pin(t.Context(), ref, "run-9", "", time.Hour)
			}
		}})
		_, err := newStore(r, snapshot.Options{Host: reaper, Random: seeded(8), Now: func() time.Time { return sh.now }}).Execute(t.Context(), p)
		if !asked {
			t.Logf("%v", won)
			if won["pin"] == 0 || won["prune"] == 0 {
				t.Errorf("always the same winner: %v", won)
			}
			return
		}
		sn, loadErr := sh.s.Load(t.Context(), ref)
		if pinned == nil {
			won["pin"]++
			if loadErr != nil || !errors.Is(err, snapshot.ErrPinned) {
				t.Fatalf("call %d: pinned, but load gives %v, prune %v", at, loadErr, err)
			}
			if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err != nil {
				t.Fatalf("call %d: pinned, but %v", at, err)
			}
			continue
		}
		won["prune"]++
	}
	t.Fatal("pruning does not end")
}

// A prune that dies anywhere leaves a snapshot that is whole or refused, and
// that the next prune finishes.
func TestPruneFailsAtEveryCall(t *testing.T) {
	for _, kind := range []snapshot.ActionKind{snapshot.Prune, snapshot.Forget} {
		for _, mode := range storagetest.Modes {
			t.Run(fmt.Sprintf("%s %s", kind, mode), func(t *testing.T) { pruneFails(t, kind, mode) })
		}
	}
}

func pruneFails(t *testing.T, kind snapshot.ActionKind, mode storagetest.Mode) {
	policy := snapshot.Policy{Executions: 1}
	for n := 1; n < maxCalls; n++ {
		disk := &storage.Memory{}
		sh := newShelf(t, disk)
		ref := sh.sealed("ok1", "ok2")[0]
		p := sh.plan(policy, succeeded)
		if kind == snapshot.Forget {
			mustPut(t, disk, file(ref, "interrupted.json"), []byte("{}"))
			p.Actions[0].Kind, p.Actions[0].State = kind, storage.SnapshotInterrupted
		}
		r := storagetest.NewFaulty(disk, storagetest.Faults{FailAt: n, Mode: mode, Crash: true})
		_, err := newStore(r, snapshot.Options{Random: seeded(8), Now: func() time.Time { return sh.now }}).Execute(t.Context(), p)
		r.Settle()
		if sn, loadErr := sh.s.Load(t.Context(), ref); loadErr == nil {
			if _, err := sn.Verify(t.Context(), snapshot.Full, nil); err != nil {
				t.Fatalf("call %d: SEALED, but %v", n, err)
			}
		}
		left := sh.s.Inspect(t.Context(), ref)
		if len(files(t, disk, ref)) > 0 && !left.Ours {
			t.Fatalf("call %d: what is left is not recognised: %v", n, files(t, disk, ref))
		}
		if kind == snapshot.Prune {
			if _, err := sh.s.Execute(t.Context(), sh.plan(policy, succeeded)); err != nil {
				t.Fatalf("call %d: the next prune: %v", n, err)
			}
			if got := files(t, disk, ref); !slices.Equal(got, []string{"interrupted.json", "open.json"}) {
				t.Fatalf("call %d: the next prune leaves %v", n, got)
			}
		}
		if err == nil {
			return
		}
	}
	t.Fatal("pruning does not end")
}
