//go:build soak

package gate_test

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/engine/gate"
	"sluice/storage"
)

// killFolder makes the test binary the program that is killed.
const killFolder = "SLUICE_TEST_KILL_FOLDER"

const killRows = 40000

var killPhases = []string{"open", "segment", "before manifest", "manifest", "read back"}

// announcing says what a writer is about to do.
type announcing struct{ *storage.Folder }

func say(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

func (a announcing) Put(ctx context.Context, name string, c storage.Content) error {
	a.announce(name)
	return a.Folder.Put(ctx, name, c)
}

func (a announcing) PutIfAbsent(ctx context.Context, name string, c storage.Content) error {
	a.announce(name)
	return a.Folder.PutIfAbsent(ctx, name, c)
}

func (a announcing) announce(name string) {
	switch base := path.Base(name); {
	case base == "open.json":
		say("phase open")
	case strings.Contains(base, "-seg-"):
		say("phase segment")
	case base == "SnapshotManifest.json":
		say("phase manifest")
	}
}

func (a announcing) Stat(ctx context.Context, name string) (storage.Object, error) {
	if strings.Contains(name, "-seg-") {
		say("phase before manifest")
	}
	return a.Folder.Stat(ctx, name)
}

func TestMain(m *testing.M) {
	if os.Getenv(killFolder) == "" {
		os.Exit(m.Run())
	}
	os.Args = []string{os.Args[0], "-test.run=^TestSoakChild$"}
	os.Exit(m.Run())
}

// TestSoakChild is the program that TestSoakKill kills.
func TestSoakChild(t *testing.T) {
	dir := os.Getenv(killFolder)
	if dir == "" {
		return
	}
	w := use(newWorld(t, announcing{storage.NewPrivateFolder(dir)}))
	for {
		o := w.mustRun(killFile(t, w), gate.SessionOptions{SegmentBytes: 60_000}).outcome(t)
		say("sealed " + o.Snapshot)
	}
}

func killFile(t *testing.T, w *world) string {
	text := hpl("in>out", node("in", "TestSource", "<rows>"+strconv.Itoa(killRows)+"</rows>"), node("out", "TestTarget", ""))
	return w.file("a.hpl", edited(t, text, gate.Mark("in", nil, ids(1, 2, 3, 4, 5, 6))))
}

func soakSize(t *testing.T) (size int, seed uint64) {
	t.Helper()
	size, seed = 1, 1
	for name, set := range map[string]func(int){"SLUICE_SOAK": func(n int) { size = n }, "SLUICE_SOAK_SEED": func(n int) { seed = uint64(n) }} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set(n)
	}
	return size, seed
}

// TestSoakKill kills a running pipeline without warning in each phase of its gate:
// what is SEALED verifies and replays, everything else is INTERRUPTED or absent
// and refused.
func TestSoakKill(t *testing.T) {
	size, seed := soakSize(t)
	r := rand.New(rand.NewPCG(seed, 7))
	dir := t.TempDir()
	histogram, outcome := map[string]int{}, map[storage.SnapshotState]int{}
	reported := map[string]bool{}
	for i := range 5 * size {
		phase := killPhases[i%len(killPhases)]
		hit := killIn(t, dir, phase, time.Duration(r.IntN(3000))*time.Microsecond, 1+r.IntN(4), reported)
		histogram[hit]++
		examine(t, dir, outcome, reported)
	}
	t.Logf("%d kills by phase: %v; snapshots: %v; seed %d", 5*size, histogram, outcome, seed)
	for _, phase := range killPhases {
		if histogram[phase] == 0 {
			t.Errorf("no kill in the phase %q", phase)
		}
	}
}

// killIn starts the program and kills it a moment after it has entered a phase for
// the nth time.
func killIn(t *testing.T, dir, phase string, later time.Duration, nth int, reported map[string]bool) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), killFolder+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if phase == "open" || phase == "manifest" || phase == "read back" {
		nth = 1 + nth/3
	}
	lines := bufio.NewScanner(out)
	hit := "never"
	for lines.Scan() {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "sealed "); ok {
			reported[id] = true
			if phase == "read back" {
				continue
			}
		}
		want := phase
		if phase == "read back" {
			want = "manifest" // a read of the manifest follows its put at once
		}
		if line != "phase "+want {
			continue
		}
		if nth--; nth > 0 {
			continue
		}
		if hit == "never" {
			hit = phase
			go func() {
				if phase == "read back" {
					later += 2 * time.Millisecond
				}
				time.Sleep(later) // the moment of a kill cannot be told from inside
				_ = child.Process.Kill()
			}()
		}
	}
	_ = child.Wait()
	return hit
}

func examine(t *testing.T, dir string, outcome map[storage.SnapshotState]int, reported map[string]bool) {
	t.Helper()
	w := use(newWorld(t, storage.NewPrivateFolder(dir)))
	file := killFile(t, w)
	list, err := w.place.Store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.State == storage.SnapshotOpen {
			state, err := w.place.Store.DeclareDead(t.Context(), s.Ref, "killed")
			if err != nil {
				t.Fatalf("%s: %v", s.Ref, err)
			}
			s.State = state
		}
		if reported[s.Ref.ID] && s.State != storage.SnapshotSealed {
			t.Errorf("%s was reported as sealed and is %s", s.Ref, s.State)
		}
		outcome[s.State]++
		o := from("in")
		o.From[0].Snapshot = s.Ref.ID
		r := w.run(file, o)
		switch {
		case s.State == storage.SnapshotSealed:
			if r.err != nil || len(r.rows["out.0"]) != killRows {
				t.Errorf("%s is SEALED, and the replay gives %d rows, %v", s.Ref, len(r.rows["out.0"]), r.err)
			}
		case s.Husk:
		default:
			if list := refusal(t, r); s.State == storage.SnapshotInterrupted && list[0].What != gate.InterruptedMessage {
				t.Errorf("%s: %+v", s.Ref, list)
			}
		}
	}
	// Each round starts from an empty folder, so that every snapshot is judged once.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	clear(reported)
}
