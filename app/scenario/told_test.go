package scenario_test

import (
	"os/exec"
	"os/user"
	"strings"
	"testing"
	"time"
)

// waiting is a fix behind the gate that never comes to its end.
var waiting = transformOf("keep", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>")

// holder starts a replay that stays busy behind the gate, and gives its id once its
// record can be seen from the data folder that is in use.
func (s *shop) holder(c *exec.Cmd, seen func() string) string {
	s.t.Helper()
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if id := seen(); id != "" {
			return id
		}
		if time.Now().After(end) {
			_ = c.Process.Kill()
			_ = c.Wait() // out is complete then
			s.t.Fatalf("the replay of the other operator was never seen:\n%s", out.String())
		}
	}
}

// runningID is the execution that runs on this machine; empty when none does.
func (s *shop) runningID() string {
	a := s.sluice("executions", "list", "--state", "RUNNING", "--json")
	return between(a.out, `"execution_id": "`, `"`)
}

func me(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

func TestASecondOperatorIsToldWhoReplays(t *testing.T) {
	s := newShop(t)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", keep, waiting)
	c := s.process("replay", id)
	other := s.holder(c, s.runningID)
	p := s.preflight(blocked, id)
	p.wantCheck(t, "active", "BLOCK", other, "process", me(t))
	s.sluice("replay", id).want(blocked, other, me(t))
	s.sluice("replay", id, "--override", "active", "--reason", "mine first", "--ack", "active").want(blocked, other)
	// The other's process dies; then nobody is in the way.
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	s.edit("load.hpl", waiting, keep)
	s.wantLoaded(nil)
	s.sluice("replay", id, "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	s.sluice("executions", "show", other).want(ready, "INTERRUPTED")
}

func TestASecondMachineIsToldWhoReplays(t *testing.T) {
	s := newShop(t)
	t.Setenv("SLUICE_HEARTBEAT", "200ms")
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.edit("load.hpl", keep, waiting)
	theirs := t.TempDir()
	s.use(theirs)
	c := s.process("replay", id, "--record", remote, "--project", s.dir)
	other := s.holder(c, s.runningID)
	s.use(t.TempDir()) // a third installation
	args := []string{id, "--record", remote, "--project", s.dir}
	p := s.preflight(blocked, args...)
	p.wantCheck(t, "active", "BLOCK", other, me(t))
	s.sluice(append([]string{"replay"}, args...)...).want(blocked, other, me(t))
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	s.edit("load.hpl", waiting, keep)
	s.sluice(append([]string{"replay", "--ack", "second-write"}, args...)...).want(ready)
	s.wantLoaded(original)
}

// TestARunOnAnotherMachineIsNotReplayed: the run itself still goes on there.
func TestARunOnAnotherMachineIsNotReplayed(t *testing.T) {
	s := newShop(t)
	t.Setenv("SLUICE_HEARTBEAT", "200ms")
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	s.edit("load.hpl", keep, waiting)
	s.warehouseUp()
	c := s.process("run", s.path("load.hpl"))
	id := s.holder(c, func() string {
		if list := s.sluice("snapshots", "list", "--location", remote, "--json"); strings.Contains(list.out, "SEALED") {
			return s.runningID()
		}
		return ""
	})
	s.use(t.TempDir())
	p := s.preflight(blocked, id, "--record", remote, "--project", s.dir)
	p.wantCheck(t, "active", "BLOCK", id)
	s.sluice("replay", id, "--record", remote, "--project", s.dir, "--ack", "second-write").want(blocked, id)
	s.wantLoaded(nil)
}
