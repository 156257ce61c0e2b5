package gate_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
)

// cloneOf copies a remote.
func cloneOf(t testing.TB, objects map[string][]byte) *storage.Memory {
	t.Helper()
	m := &storage.Memory{}
	for name, data := range objects {
		if err := m.Put(t.Context(), name, storage.Bytes(data)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// mutate changes one thing of a snapshot and says what, and the index of the
// first segment of it; -1 when no segment was changed.
func mutate(r *rand.Rand, objects map[string][]byte, dir string) (what string, segment int) {
	var names []string
	for _, n := range slices.Sorted(maps.Keys(objects)) {
		if base := path.Base(n); base != "lease.json" {
			names = append(names, n)
		}
	}
	name := names[r.IntN(len(names))]
	index := func(n string) int {
		var p, i int
		if _, err := fmt.Sscanf(path.Base(n), "p%02d-seg-%06d-", &p, &i); err != nil {
			return -1
		}
		return i
	}
	segment = index(name)
	data := slices.Clone(objects[name])
	switch kind := r.IntN(6); kind {
	case 0:
		bit := r.IntN(len(data) * 8)
		data[bit/8] ^= 1 << (bit % 8)
		objects[name] = data
		what = fmt.Sprintf("bit %d of %s", bit, name)
	case 1:
		delete(objects, name)
		what = "without " + name
	case 2:
		n := r.IntN(len(data))
		objects[name] = data[:n]
		what = fmt.Sprintf("%s cut at %d", name, n)
	case 3:
		extra := path.Join(dir, fmt.Sprintf("p00-seg-%06d-%016x.parquet", r.IntN(9), r.Uint64()))
		objects[extra] = data
		what, segment = "a strange "+extra, -1
	case 4:
		other := names[r.IntN(len(names))]
		if string(objects[other]) == string(data) {
			return mutate(r, objects, dir)
		}
		objects[name], objects[other] = objects[other], data
		what = "swapped " + name + " and " + other
		if s := index(other); segment < 0 || s >= 0 && s < segment {
			segment = s
		}
		if index(name) < 0 {
			segment = -1
		}
	default:
		objects[name] = append(data, byte(r.Uint32()))
		what = "longer " + name
	}
	return what, segment
}

// TestNoRowLeavesAMutatedSnapshot: 500 random changes. Full verification lets no
// row out; with quick no row of the changed segment or a later one.
func TestNoRowLeavesAMutatedSnapshot(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	key, err := snapshot.ParseKey("a key of at least sixteen bytes")
	if err != nil {
		t.Fatal(err)
	}
	keys := []*snapshot.Key{key}
	original := &storage.Memory{}
	w.place = placeOf(original, snapshot.Options{Keys: keys})
	file := w.file("a.hpl", marked(t, hpl("in>gate gate>out", node("in", "TestSource", "<rows>60000</rows>"), node("gate", "Dummy", ""), node("out", "TestTarget", "")), "gate", "compression=none"))
	o := w.mustRun(file, gate.SessionOptions{SegmentBytes: 100_000}).outcome(t)
	objects := everything(t, original, "")
	dir := path.Join(o.Gate, o.Snapshot)
	clean := openSealed(t, w, o)
	var bounds []int64 // rows before each segment
	var rows int64
	for _, s := range clean.Manifest().SegmentsOf(0) {
		bounds = append(bounds, rows)
		rows += s.Rows
	}
	r := rand.New(rand.NewPCG(1, 2))
	found := map[string]int{}
	for n := range 500 {
		changed := maps.Clone(objects)
		what, segment := mutate(r, changed, dir)
		w.place = placeOf(cloneOf(t, changed), snapshot.Options{Keys: keys})
		quick := n%2 == 1
		opt := from("gate")
		opt.Quick = quick
		got := w.run(file, opt)
		switch {
		case got.err == nil && !(quick && strings.HasPrefix(what, "a strange ")):
			t.Fatalf("%d: %s was replayed (quick %v)", n, what, quick)
		case got.err == nil:
			found["only full verification minds"]++
			continue
		}
		out := int64(len(got.rows["out.0"]))
		if !quick && out > 0 {
			t.Fatalf("%d: %s: %d rows left", n, what, out)
		}
		if quick && segment >= 0 && out > bounds[segment] {
			t.Fatalf("%d: %s: %d rows left, the changed segment begins at %d", n, what, out, bounds[segment])
		}
		found[fmt.Sprintf("quick %v", quick)]++
	}
	if len(bounds) < 3 {
		t.Fatalf("only %d segments", len(bounds))
	}
	t.Logf("%d segments, found: %v", len(bounds), found)
}

func TestAStrippedHMACIsFound(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	key, err := snapshot.ParseKey("a key of at least sixteen bytes")
	if err != nil {
		t.Fatal(err)
	}
	text := hpl("in>out", node("in", "TestSource", "<rows>9</rows>"), node("out", "TestTarget", ""))
	file := w.file("a.hpl", marked(t, text, "in"))
	unsigned := w.mustRun(file, gate.SessionOptions{}).outcome(t)
	w.place = placeOf(w.place.Remote, snapshot.Options{Keys: []*snapshot.Key{key}})
	o := from("in")
	o.From[0].Snapshot = unsigned.Snapshot
	if list := refusal(t, w.run(file, o)); list[0].ID != gate.CheckManifest || list[0].Overridable {
		t.Errorf("%+v", list)
	}
}
