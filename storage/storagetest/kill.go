package storagetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sluice/storage"
	"sluice/storage/snapshot"
)

// killGate is the gate whose snapshots a kill test writes.
const killGate = "0000000000ff"

// killSegments of killBytes each make one snapshot.
const (
	killSegments = 4
	killBytes    = 256 << 10
)

// killPhases are the moments at which a writer is killed: while the call runs
// that the phase names.
var killPhases = []string{"open", "segment", "before manifest", "manifest", "read back"}

// WriteUntilKilled is the body of the process that KillWriters kills: it writes
// one snapshot after the other and says on standard output what it is about
// to do. It returns only when something fails.
func WriteUntilKilled(ctx context.Context, r storage.Remote) error {
	remote := NewFaulty(r, Faults{Hook: func(_ int, method, name string) {
		if phase := phaseOf(method, name[strings.LastIndexByte(name, '/')+1:]); phase != "" {
			say("phase " + phase)
		}
	}})
	s := snapshot.NewStore(remote, snapshot.Options{})
	for {
		ref, err := writeOne(ctx, s)
		if err != nil {
			return err
		}
		say("sealed " + ref.ID)
	}
}

// say must arrive before the process dies, so it is one write.
func say(line string) { _, _ = os.Stdout.WriteString(line + "\n") }

func phaseOf(method, file string) string {
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

func killData(i int) []byte { return noise(killBytes, uint64(100+i)) }

func writeOne(ctx context.Context, s *snapshot.Store) (storage.SnapshotRef, error) {
	w, err := s.Begin(ctx, snapshot.Begin{Gate: killGate, Origin: snapshot.Origin{RootExecutionID: "kill"}})
	if err != nil {
		return storage.SnapshotRef{}, err
	}
	defer func() { _ = w.Close(ctx) }()
	part, err := w.AddPart("main", 0, []byte("{}"))
	if err != nil {
		return w.Ref(), err
	}
	content := sha256.New()
	for i := range killSegments {
		data := killData(i)
		content.Write(data)
		if _, err := w.PutSegment(ctx, snapshot.NewSegment{Part: part, Index: i, Rows: 1, Extension: "parquet", Data: data}); err != nil {
			return w.Ref(), err
		}
	}
	if err := w.EndPart(part, killSegments, [32]byte(content.Sum(nil))); err != nil {
		return w.Ref(), err
	}
	_, err = w.Seal(ctx, snapshot.Sealing{})
	return w.Ref(), err
}

// KillWriters starts child again and again (a process that calls
// WriteUntilKilled), kills it without warning in each phase in turn, and looks
// at what it left with r: every snapshot is SEALED and verifies in full, or is
// INTERRUPTED once it was declared dead, or has left nothing; and what the
// child reported as SEALED is.
func KillWriters(t *testing.T, kills int, r storage.Remote, child func() *exec.Cmd) {
	t.Helper()
	k := &killer{t: t, remote: r, histogram: map[string]int{}, outcome: map[storage.SnapshotState]int{}, rng: rand.New(rand.NewPCG(1, 2))}
	for i := range kills {
		k.kill(child(), killPhases[i%len(killPhases)])
		k.examine()
	}
	t.Logf("%d kills by phase: %v; snapshots left: %v", kills, k.histogram, k.outcome)
	for _, phase := range killPhases {
		if kills >= len(killPhases) && k.histogram[phase] == 0 {
			t.Errorf("no kill hit the phase %q", phase)
		}
	}
}

type killer struct {
	t         *testing.T
	remote    storage.Remote
	rng       *rand.Rand
	sealed    []string // ids that the last child reported
	histogram map[string]int
	outcome   map[storage.SnapshotState]int
}

// kill runs one child until a phase has begun for the nth time.
func (k *killer) kill(child *exec.Cmd, phase string) {
	k.t.Helper()
	var problems bytes.Buffer
	child.Stderr = &problems
	out, err := child.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		k.t.Fatal(err)
	}
	k.sealed = nil
	nth, last := 1+k.rng.IntN(killSegments), ""
	killed := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if id, ok := strings.CutPrefix(line, "sealed "); ok {
			k.sealed = append(k.sealed, id)
			continue
		}
		now, ok := strings.CutPrefix(line, "phase ")
		if !ok {
			continue
		}
		last = now // what is read after the kill was written before it
		if now != phase || killed {
			continue
		}
		if nth--; nth == 0 {
			killed = true
			if err := child.Process.Kill(); err != nil {
				k.t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if !killed {
		k.t.Fatalf("the child ended by itself in phase %q: %s", last, problems.String())
	}
	k.histogram[last]++
}

// examine judges and removes what a child left.
func (k *killer) examine() {
	k.t.Helper()
	ctx := k.t.Context()
	s := snapshot.NewStore(k.remote, snapshot.Options{})
	ids, err := s.IDs(ctx, killGate)
	if err != nil {
		k.t.Fatal(err)
	}
	seen := map[string]storage.SnapshotState{}
	for _, id := range ids {
		ref := storage.SnapshotRef{Gate: killGate, ID: id}
		k.check(s, ref)
		state, err := s.DeclareDead(ctx, ref, "killed")
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			k.t.Fatalf("declare dead: %v", err)
		}
		k.check(s, ref)
		seen[id] = state
		k.outcome[state]++
		k.remove(s, ref, state)
	}
	for _, id := range k.sealed {
		if seen[id] != storage.SnapshotSealed {
			k.t.Fatalf("snapshot %s was reported SEALED and is %q", id, seen[id])
		}
	}
}

// check lets a snapshot be sealed and whole, or refused for a good reason.
func (k *killer) check(s *snapshot.Store, ref storage.SnapshotRef) {
	k.t.Helper()
	sn, err := s.Load(k.t.Context(), ref)
	if err != nil {
		if !errors.Is(err, snapshot.ErrInterrupted) && !errors.Is(err, snapshot.ErrOpen) && !errors.Is(err, storage.ErrNotFound) {
			k.t.Fatalf("a killed writer left %v", err)
		}
		return
	}
	if _, err := sn.Verify(k.t.Context(), snapshot.Full, nil); err != nil {
		k.t.Fatalf("SEALED, but %v", err)
	}
	n := 0
	for loaded, err := range sn.Segments(k.t.Context(), 0, snapshot.Reading{}) {
		if err != nil || !bytes.Equal(loaded.Data, killData(n)) {
			k.t.Fatalf("SEALED, but segment %d: %v", n, err)
		}
		n++
	}
	if n != killSegments {
		k.t.Fatalf("SEALED with %d segments", n)
	}
}

func (k *killer) remove(s *snapshot.Store, ref storage.SnapshotRef, state storage.SnapshotState) {
	k.t.Helper()
	plan := snapshot.Plan{Actions: []snapshot.Action{{Ref: ref, Kind: snapshot.Forget, State: state, Reason: "examined"}}}
	if _, err := s.Execute(k.t.Context(), plan); err != nil {
		k.t.Fatal(fmt.Errorf("remove: %w", err))
	}
}
