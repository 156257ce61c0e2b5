package scenario_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/app/cli"
)

// beSluice makes the test binary be the program, for what has to be killed.
const beSluice = "SLUICE_TEST_BE_SLUICE"

func TestMain(m *testing.M) {
	if os.Getenv(beSluice) != "" {
		os.Exit(cli.Run(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// process starts the program as a process of its own.
func (s *shop) process(args ...string) *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), beSluice+"=1")
	return c
}

// TestTheLostPod: the machine that ran is gone with its data; only the remote is
// left.
func TestTheLostPod(t *testing.T) {
	s := newShop(t)
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	// The load waits for ever, so that the process can be killed behind the seal.
	s.edit("load.hpl", keep, transformOf("keep", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>"))
	c := s.process("run", s.path("load.hpl"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	sealed := filepath.Join(remote, "*", "*", "SnapshotManifest.json")
	for wait := time.Now().Add(time.Minute); ; {
		if list, err := filepath.Glob(sealed); err == nil && len(list) == 1 && strings.Contains(string(mustRead(t, list[0])), "SEALED") {
			break
		}
		if time.Now().After(wait) {
			t.Fatal("nothing was sealed")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if err := os.RemoveAll(s.data); err != nil {
		t.Fatal(err)
	}
	s.use(t.TempDir())
	s.sourceGone()
	s.edit("load.hpl", transformOf("keep", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>"), keep)
	s.warehouseUp()
	list, err := filepath.Glob(filepath.Join(remote, "executions", "*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("records %v, %v", list, err)
	}
	id := filepath.Base(list[0])
	s.sluice("preflight", id).want(unusable, "--record")
	a := s.sluice("preflight", id, "--record", remote, "--project", s.dir).want(needsAck, "second-write:target")
	if !strings.Contains(a.out, "REUSE  orders") {
		t.Errorf("the plan does not reuse the sealed rows:\n%s", a.out)
	}
	s.sluice("replay", id, "--record", remote, "--project", s.dir, "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	s.sluice("preflight", id, "--record", remote, "--project", s.dir).want(needsAck, "replayed")
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// race starts replays at once and gives their answers.
func race(n int, replay func(i int) answer) []answer {
	answers := make([]answer, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { answers[i] = replay(i) })
	}
	group.Wait()
	return answers
}

// winners counts who replayed, and checks that the others were told who does.
func winners(t *testing.T, answers []answer) int {
	t.Helper()
	won := 0
	for _, a := range answers {
		switch {
		case a.code == ready:
			won++
		case a.code != blocked && a.code != needsAck:
			t.Errorf("a loser ended with %d:\n%s%s", a.code, a.out, a.errs)
		case !strings.Contains(a.out+a.errs, "active") && !strings.Contains(a.out+a.errs, "succeeded already") && !strings.Contains(a.errs+a.out, "acknowledgement of replayed") && !strings.Contains(a.out+a.errs, "has changed since"):
			t.Errorf("a loser was not told why:\n%s%s", a.out, a.errs)
		}
	}
	return won
}

func TestTwoOperatorsOnOneMachine(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	answers := race(4, func(int) answer {
		out, err := s.process("replay", id).CombinedOutput()
		return answer{t: t, code: exitCode(err), out: string(out)}
	})
	if n := winners(t, answers); n != 1 {
		t.Errorf("%d of 4 replayed", n)
	}
	s.wantLoaded(original)
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}

func TestTwoMachinesThatShareOnlyTheRemote(t *testing.T) {
	s := newShop(t)
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	folders := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	answers := race(len(folders), func(i int) answer {
		c := s.process("replay", id, "--record", remote, "--project", s.dir)
		c.Env = append(c.Env, "SLUICE_DATA="+folders[i])
		out, err := c.CombinedOutput()
		return answer{t: t, code: exitCode(err), out: string(out)}
	})
	if n := winners(t, answers); n != 1 {
		t.Errorf("%d of %d replayed", n, len(folders))
		for _, a := range answers {
			t.Log(a.code, a.out)
		}
	}
	s.wantLoaded(original)
}

func TestARunningExecutionIsNotReplayed(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", keep, transformOf("keep", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>"))
	c := s.process("run", s.path("load.hpl"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	var id string
	for wait := time.Now().Add(time.Minute); id == "" && time.Now().Before(wait); time.Sleep(20 * time.Millisecond) {
		if a := s.sluice("executions", "list", "--state", "RUNNING", "--json"); strings.Contains(a.out, "execution_id") {
			id = s.newest()
		}
	}
	if id == "" {
		t.Fatal("it did not start")
	}
	s.preflight(blocked, id).wantCheck(t, "active", "BLOCK", "process")
	s.sluice("replay", id).want(blocked)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	s.sluice("executions", "show", id).want(ready, "INTERRUPTED")
}
