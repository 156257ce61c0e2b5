package scenario_test

import (
	"strings"
	"testing"
)

// The replays of these need no gate any more: the load is done, and what failed is
// behind it. Other machines have to know of them all the same.

// behindTheLoad runs a workflow whose load succeeds and whose script fails, with its
// snapshots at a remote.
func (s *shop) behindTheLoad(remote, script string) (id string) {
	s.t.Helper()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	s.warehouseUp()
	s.write("night.hwf", workflowOf("Start>load load+send", runs("load", "load.hpl"),
		actionOf("send", "SHELL", "      <insertScript>Y</insertScript>\n      <script>"+strings.NewReplacer("&", "&amp;", ">", "&gt;").Replace(script)+"</script>\n")))
	id = s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.wantLoaded(original)
	return id
}

func TestAReplayThatNeedsNoGateIsKnownElsewhere(t *testing.T) {
	s := newShop(t)
	remote := t.TempDir()
	id := s.behindTheLoad(remote, "test -e ${PROJECT_HOME}/up && echo sent >> ${PROJECT_HOME}/sent.txt")
	s.write("up", "")
	s.sluice("replay", id, "--ack", "second-write:send").want(ready)
	here := s.newest()
	if n := s.lines("sent.txt"); n != 1 {
		t.Fatalf("it was sent %d times", n)
	}
	s.use(t.TempDir())
	p := s.preflight(needsAck, id, "--record", remote, "--project", s.dir, "--ack", "second-write")
	p.wantCheck(t, "replayed", "WARN", here)
	s.sluice("replay", id, "--record", remote, "--project", s.dir, "--ack", "second-write").want(needsAck)
	if n := s.lines("sent.txt"); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

func TestAReplayThatWasKilledIsKnownElsewhere(t *testing.T) {
	newShop(t).killedReplayIsKnown(t.TempDir())
}

// killedReplayIsKnown kills a replay behind what it did, and replays on another
// machine that shares only the remote.
func (s *shop) killedReplayIsKnown(remote string) {
	t := s.t
	t.Helper()
	id := s.behindTheLoad(remote, "test -e ${PROJECT_HOME}/up && echo sent >> ${PROJECT_HOME}/sent.txt && sleep 60")
	s.write("up", "")
	c := s.process("replay", id, "--ack", "second-write:send")
	other := s.holder(c, func() string {
		if s.lines("sent.txt") == 0 {
			return ""
		}
		return s.runningID()
	})
	s.use(t.TempDir())
	args := []string{id, "--record", remote, "--project", s.dir}
	s.preflight(blocked, args...).wantCheck(t, "active", "BLOCK", other, "process")
	s.sluice(append([]string{"replay", "--ack", "second-write"}, args...)...).want(blocked, other)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	p := s.preflight(needsAck, append(args, "--ack", "second-write")...)
	p.wantCheck(t, "replayed", "WARN", other, "not fully known")
	s.edit("night.hwf", " &amp;&amp; sleep 60", "")
	s.sluice(append([]string{"replay", "--ack", "second-write", "--ack", "replayed"}, args...)...).want(ready)
	if n := s.lines("sent.txt"); n != 2 {
		t.Errorf("it was sent %d times; the second was acknowledged", n)
	}
	s.sluice(append([]string{"preflight", "--ack", "second-write"}, args...)...).want(needsAck, other, "has succeeded already")
}

// TestAFailedReplayIsNotTakenForADeadOne on another machine.
func TestAFailedReplayIsNotTakenForADeadOne(t *testing.T) {
	s := newShop(t)
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	s.write("night.hwf", workflowOf("Start>load", runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.sluice("replay", id).want(failed) // the warehouse is still down
	s.warehouseUp()
	s.use(t.TempDir())
	s.preflight(ready, id, "--record", remote, "--project", s.dir)
	s.sluice("replay", id, "--record", remote, "--project", s.dir).want(ready)
	s.wantLoaded(original)
}
