//go:build soak

package workspace_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/app/workspace"
	"sluice/engine/gate"
	"sluice/storage"
	"sluice/storage/snapshot"
	"sluice/storage/storagetest"
)

// A soak test runs pipelines with a gate in processes of their own, which it kills
// or pauses. The variables below make the test binary that process.
const (
	childFile     = "SLUICE_TEST_SOAK_FILE"     // the pipeline
	childLocation = "SLUICE_TEST_SOAK_LOCATION" // of its gate
	childBeat     = "SLUICE_TEST_SOAK_BEAT"     // of the snapshot's lease
	childRuns     = "SLUICE_TEST_SOAK_RUNS"     // how many before it ends
)

const (
	soakRows         = 20_000
	soakSegmentBytes = 25_000
)

// phases of a gate's life, each named by a call that the process is about to make.
var phases = []string{"open", "segment", "before manifest", "manifest", "read back"}

func phaseOf(method, name string) string {
	file := name[strings.LastIndexByte(name, '/')+1:]
	put := method == "Put" || method == "PutIfAbsent"
	switch {
	case put && file == "open.json":
		return "open"
	case put && strings.Contains(file, "-seg-"):
		return "segment"
	case method == "Stat" && strings.Contains(file, "-seg-"):
		return "before manifest"
	case put && file == "SnapshotManifest.json":
		return "manifest"
	case method == "Open" && file == "SnapshotManifest.json":
		return "read back"
	}
	return ""
}

// say must arrive before the process dies, so it is one write.
func say(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

// announcing says what is about to be done at the place of a gate.
type announcing struct {
	places *workspace.Places
	beat   time.Duration
	place  *gate.Place
}

func (a *announcing) Place(ctx context.Context, location string) (*gate.Place, error) {
	if a.place != nil {
		return a.place, nil
	}
	place, err := a.places.Place(ctx, location)
	if err != nil {
		return nil, err
	}
	remote := storagetest.NewFaulty(place.Remote, storagetest.Faults{Hook: func(_ int, method, name string) {
		if phase := phaseOf(method, name); phase != "" {
			say("phase " + phase)
		}
	}})
	a.place = &gate.Place{
		Location: place.Location, Remote: remote, Cache: place.Cache,
		Store: snapshot.NewStore(remote, snapshot.Options{Cache: place.Cache, Heartbeat: a.beat}),
	}
	return a.place, nil
}

// TestSoakChild is the process that the other tests kill and pause.
func TestSoakChild(t *testing.T) {
	file := os.Getenv(childFile)
	if file == "" {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	beat, err := time.ParseDuration(os.Getenv(childBeat))
	if err != nil {
		t.Fatal(err)
	}
	b := newSoakBench(t, string(text), os.Getenv(childLocation))
	b.places = &announcing{places: b.ws.Places, beat: beat}
	for range setting(t, childRuns, 1) {
		_, s, err := b.run(gate.SessionOptions{})
		for _, o := range s.Outcomes() {
			if o.State == storage.SnapshotSealed {
				say("sealed " + o.Snapshot)
			}
		}
		if err != nil {
			say("failed " + strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func newSoakBench(t *testing.T, text, location string) *bench {
	t.Helper()
	b := newBench(t, text, location, soakRows)
	b.segmentBytes = soakSegmentBytes
	return b
}

// soak is a series of children at one place.
type soak struct {
	root string // location, one folder a round below it
	text string // of the pipeline
	file string // with that text
	want string // what the target holds in the end
	size int
	rng  *rand.Rand
}

// eachPlace runs a soak over a folder and over S3, which must be there.
func eachPlace(t *testing.T, run func(t *testing.T, s *soak)) {
	server := os.Getenv("SLUICE_TEST_S3")
	if server == "" {
		t.Fatal("SLUICE_TEST_S3 is not set; `make soak` starts the server")
	}
	for name, root := range map[string]string{
		"local": filepath.Join(t.TempDir(), "snapshots"),
		"S3":    fmt.Sprintf("%s/soak-%d", server, time.Now().UnixNano()),
	} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(setting(t, "SLUICE_SOAK_SEED", 1))
			t.Logf("seed %d", seed)
			s := &soak{
				root: root, text: gatePipeline(t, "7"), file: filepath.Join(t.TempDir(), "gates.hpl"),
				size: setting(t, "SLUICE_SOAK", 1), rng: rand.New(rand.NewPCG(seed, 7)),
			}
			if err := os.WriteFile(s.file, []byte(s.text), 0o600); err != nil {
				t.Fatal(err)
			}
			b := newSoakBench(t, s.text, s.root+"/undisturbed")
			var session *gate.Session
			var err error
			if s.want, session, err = b.run(gate.SessionOptions{}); err != nil {
				t.Fatal(err)
			}
			o := session.Outcomes()[0]
			if o.State != storage.SnapshotSealed || o.Rows != soakRows || o.Bytes < 3*soakSegmentBytes {
				t.Fatalf("undisturbed: %+v", o)
			}
			run(t, s)
		})
	}
}

// child starts the process; hear gets each line that it says. It returns when the
// process has ended.
func (s *soak) child(t *testing.T, location string, runs int, beat time.Duration, hear func(p *os.Process, line string)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^TestSoakChild$")
	child.Env = append(os.Environ(), childFile+"="+s.file, childLocation+"="+location, childBeat+"="+beat.String(),
		childRuns+"="+strconv.Itoa(runs), "TMPDIR="+t.TempDir()) // what a killed process leaves goes with the test
	var problems bytes.Buffer
	child.Stderr = &problems
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		hear(child.Process, lines.Text())
	}
	if err := child.Wait(); err != nil && child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v\n%s", err, problems.String())
	}
}

// judge looks at everything below a location: a snapshot is SEALED, verifies and
// replays the whole, or it is INTERRUPTED, now or once it was declared dead, and a
// replay is refused. What was reported as sealed is.
func (s *soak) judge(t *testing.T, location string, reported []string, states map[storage.SnapshotState]int) {
	t.Helper()
	b := newSoakBench(t, s.text, location)
	place, err := b.ws.Places.Place(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	list, err := place.Store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	sealed := map[string]bool{}
	for _, x := range list {
		if x.State == storage.SnapshotOpen {
			if x.State, err = place.Store.DeclareDead(t.Context(), x.Ref, "killed"); err != nil && !x.Husk {
				t.Errorf("%s: %v", x.Ref, err)
			}
		}
		if x.Husk {
			states["absent"]++
			continue
		}
		states[x.State]++
		got, _, err := b.run(gate.SessionOptions{From: []gate.Start{{Node: "number", Snapshot: x.Ref.ID}}})
		if x.State != storage.SnapshotSealed {
			wantRefused(t, x.Ref, err)
			continue
		}
		sealed[x.Ref.ID] = true
		if err != nil || got != s.want {
			t.Errorf("%s is SEALED, and the replay gives %d of %d bytes, %v", x.Ref, len(got), len(s.want), err)
		}
		if err := verifyFully(t.Context(), place, x.Ref); err != nil {
			t.Errorf("%s is SEALED, and %v", x.Ref, err)
		}
	}
	for _, id := range reported {
		if !sealed[id] {
			t.Errorf("%s was reported as sealed and is lost", id)
		}
	}
}

func verifyFully(ctx context.Context, p *gate.Place, ref storage.SnapshotRef) error {
	sn, err := p.Store.Load(ctx, ref)
	if err != nil {
		return err
	}
	_, err = sn.Verify(ctx, snapshot.Full, nil)
	return err
}

// wantRefused: the error of a replay from an interrupted snapshot.
func wantRefused(t *testing.T, ref storage.SnapshotRef, err error) {
	t.Helper()
	refused, ok := errors.AsType[*gate.RefusedError](err)
	if !ok || !slices.ContainsFunc(refused.Checks, isInterrupted) {
		t.Errorf("the replay from %s: %v", ref, err)
	}
}

func isInterrupted(c gate.Check) bool {
	return c.What == gate.InterruptedMessage && c.Status == gate.Block && !c.Overridable
}
