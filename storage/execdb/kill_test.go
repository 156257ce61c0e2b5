package execdb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/storage"
	"sluice/storage/execdb"
)

// The variables that make the test binary a process that is killed.
const (
	childFolder = "SLUICE_TEST_EXECDB_FOLDER"
	childRole   = "SLUICE_TEST_EXECDB_ROLE"
	childSeed   = "SLUICE_TEST_EXECDB_SEED"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(childFolder)
	if dir == "" {
		os.Exit(m.Run())
	}
	seed, err := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	if err == nil {
		roles := map[string]func(context.Context, string, *rand.Rand) error{"wander": wander, "count": count}
		err = roles[os.Getenv(childRole)](context.Background(), dir, rand.New(rand.NewPCG(seed, 1)))
	}
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func startChild(t *testing.T, role, dir string, seed uint64) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childFolder+"="+dir, childRole+"="+role, childSeed+"="+strconv.FormatUint(seed, 10))
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	return c, bufio.NewScanner(out)
}

// say must arrive before the process dies, so it is one write.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format+"\n", args...) }

// wander makes executions and moves them at random, for ever. It tries moves
// that the table forbids too, and says what was reported as stored.
func wander(ctx context.Context, dir string, r *rand.Rand) error {
	s, err := execdb.Open(ctx, dir, execdb.Options{Heartbeat: 5 * time.Millisecond, FlushEvery: 10 * time.Millisecond})
	if err != nil {
		return err
	}
	var live []storage.Execution
	for n := 0; ; n++ {
		if len(live) < 4 {
			e, err := s.Create(ctx, named("p", []storage.State{storage.StateQueued, storage.StateRunning}[r.IntN(2)]))
			if err != nil {
				return err
			}
			say("state %s %s", e.ID, e.State)
			live = append(live, e)
		}
		i := r.IntN(len(live))
		e := live[i]
		to := storage.States()[r.IntN(len(storage.States()))]
		_, err := s.Transition(ctx, e.ID, storage.Change{To: to})
		switch {
		case err == nil && !e.State.CanBecome(to):
			say("fault %s from %s to %s", e.ID, e.State, to)
		case err != nil && (e.State.CanBecome(to) || !errors.Is(err, storage.ErrTransition)):
			return err
		case err == nil:
			say("state %s %s", e.ID, to)
			live[i].State = to
		}
		if err := s.Log(ctx, storage.LogEntry{Execution: e.ID, Text: strconv.Itoa(n)}); err != nil {
			return err
		}
		if n%20 == 0 {
			// Reading writes what waits.
			if _, err := s.Logs(ctx, storage.LogQuery{Execution: e.ID}); err != nil {
				return err
			}
			say("logged x %d", n+1)
		}
		if live[i].State.Ended() {
			live = append(live[:i], live[i+1:]...)
		}
	}
}

// saidSoFar are the promises of a wandering process.
type saidSoFar struct {
	states map[string]storage.State
	logged int
	// behind: the process may have gone on for more than one move since.
	behind bool
}

func (p *saidSoFar) hear(t *testing.T, line string) {
	t.Helper()
	word := strings.Fields(line)
	if len(word) != 3 || word[0] == "fault" {
		t.Fatalf("child says %q", line)
	}
	switch word[0] {
	case "state":
		p.states[word[1]] = storage.State(word[2])
	case "logged":
		n, err := strconv.Atoi(word[2])
		if err != nil {
			t.Fatal(err)
		}
		p.logged = n
	}
}

// kept checks a store that was opened after the process died.
func (p *saidSoFar) kept(t *testing.T, s *execdb.Store) {
	t.Helper()
	page, err := s.Executions(t.Context(), storage.ExecutionQuery{Limit: storage.MaxPageSize})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]storage.ExecutionHead{}
	for _, h := range page.Executions {
		found[h.ID] = h
		if !h.State.Ended() || h.Ended.IsZero() || h.Ended.Before(h.Started) {
			t.Errorf("%s is %s, %v to %v", h.ID, h.State, h.Started, h.Ended)
		}
	}
	for id, promised := range p.states {
		h, ok := found[id]
		// One move after the last promise may have been stored, and then death.
		if !ok || h.State != promised && !promised.CanBecome(h.State) && !swept(promised, h.State) && !(p.behind && reachable(promised, h.State)) {
			t.Errorf("%s was %s and is %q", id, promised, h.State)
		}
		if promised.Ended() && h.State != promised {
			t.Errorf("%s ended %s and is %s", id, promised, h.State)
		}
	}
}

// swept: one unpromised move, then the sweep.
func swept(promised, end storage.State) bool {
	return end == storage.StateInterrupted && !promised.Ended()
}

// reachable by any number of moves.
func reachable(from, to storage.State) bool {
	for _, next := range storage.States() {
		if from.CanBecome(next) && (next == to || reachable(next, to)) {
			return true
		}
	}
	return false
}

func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("SLUICE_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SLUICE_TEST_SEED=%d", seed)
	return seed
}

// TestKilledProcess kills real processes without warning at random moments.
// The variable SLUICE_TEST_KILLS sets how many.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	kills := 12
	if text := os.Getenv("SLUICE_TEST_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	logged, ends := 0, map[storage.State]int{}
	for range kills {
		c, lines := startChild(t, "wander", dir, r.Uint64())
		said := saidSoFar{states: map[string]storage.State{}}
		for n := 1 + r.IntN(150); n > 0 && lines.Scan(); n-- {
			said.hear(t, lines.Text())
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it said before it died
			said.hear(t, lines.Text())
		}
		_ = c.Wait()
		logged += said.logged
		s := open(t, dir, execdb.Options{})
		said.kept(t, s)
		if n := countLog(t, s); n < logged {
			t.Errorf("%d log entries, at least %d were flushed", n, logged)
		} else {
			logged = n
		}
		for id := range said.states {
			e, err := s.Execution(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			ends[e.State]++
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("ends %v, %d log entries", ends, logged)
	if ends[storage.StateInterrupted] == 0 || ends[storage.StateSucceeded] == 0 {
		t.Error("the kills hit nothing")
	}
}

func countLog(t *testing.T, s *execdb.Store) int {
	t.Helper()
	n := 0
	for q := (storage.LogQuery{Limit: 50_000}); ; {
		page, err := s.Logs(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		n += len(page.Entries)
		if q.After = page.Next; !page.More {
			return n
		}
	}
}

const (
	countTurns  = 40
	countLogs   = 300
	counterFile = "counter"
)

// count raises a number in a file, without any lock but the lease, and writes
// executions and logs meanwhile.
func count(ctx context.Context, dir string, r *rand.Rand) error {
	s, err := execdb.Open(ctx, dir, execdb.Options{FlushEvery: 5 * time.Millisecond})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, counterFile)
	for turn := 0; turn < countTurns; {
		e, err := s.Create(ctx, named("task", storage.StateQueued))
		if err != nil {
			return err
		}
		lease, err := s.Acquire(ctx, "task/counter", e.ID)
		if errors.Is(err, storage.ErrLeaseHeld) {
			if _, err := s.Transition(ctx, e.ID, storage.Change{To: storage.StateSkipped}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(text))
		if err != nil {
			return fmt.Errorf("counter: %w", err)
		}
		if err := s.CheckLease(ctx, lease); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			return err
		}
		for range countLogs / countTurns {
			if err := s.Log(ctx, storage.LogEntry{Execution: e.ID, Text: strconv.Itoa(r.Int())}); err != nil {
				return err
			}
		}
		if _, err := s.Transition(ctx, e.ID, storage.Change{To: storage.StateFailed}); err != nil {
			return err
		}
		if err := s.Release(ctx, lease); err != nil {
			return err
		}
		turn++
	}
	return s.Close()
}

// Several processes write at once: leases exclude, nothing is lost, nobody is
// turned away because the database is busy.
func TestProcessesWriteAtOnce(t *testing.T) {
	t.Parallel()
	const processes = 3
	dir := t.TempDir()
	file := filepath.Join(dir, counterFile)
	if err := os.WriteFile(file, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := seedOf(t)
	var children []*exec.Cmd
	for i := range processes {
		c, _ := startChild(t, "count", dir, seed+uint64(i))
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != strconv.Itoa(processes*countTurns) {
		t.Errorf("counter %s, %v", text, err)
	}
	s := open(t, dir, execdb.Options{})
	page, err := s.Executions(t.Context(), storage.ExecutionQuery{States: []storage.State{storage.StateFailed}, Limit: 1000})
	if err != nil || len(page.Executions) != processes*countTurns {
		t.Errorf("%d executions, %v", len(page.Executions), err)
	}
	if n, want := countLog(t, s), processes*countTurns*(countLogs/countTurns); n != want {
		t.Errorf("%d log entries, want %d", n, want)
	}
}
