package scenario_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// killedIn runs a file as a process of its own and kills it as soon as there is
// something to see; it gives the execution's id.
func (s *shop) killedIn(file string, seen func() bool) string {
	s.t.Helper()
	c := s.process("run", file)
	id := s.holder(c, func() string {
		if !seen() {
			return ""
		}
		return s.runningID()
	})
	if err := c.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		s.t.Fatal("it ended by itself")
	}
	return id
}

// lines counts the lines of a file; 0 when it is not there.
func (s *shop) lines(name string) int {
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		return 0
	}
	return bytes.Count(data, []byte("\n"))
}

// TestAnExtractThatWasKilledIsNotReplayed kills the process while its gate takes
// rows, of which none may be loaded.
func TestAnExtractThatWasKilledIsNotReplayed(t *testing.T) {
	s := newShop(t)
	// No row comes to its gate in time.
	slow := transformOf("slow", "Delay", "    <timeout>3600</timeout>\n    <scaletime>seconds</scaletime>")
	s.write("load.hpl", pipelineOf("load", "orders>slow slow>keep keep>target", orders, slow, keep, target))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "slow").want(ready)
	s.warehouseUp()
	id := s.killedIn(s.path("load.hpl"), func() bool {
		running := s.runningID()
		return running != "" && strings.Contains(s.sluice("preflight", "--json", running).out, `"kind": "gate"`)
	})
	s.sourceGone()
	p := s.preflight(blocked, id)
	p.wantCheck(t, "sealed", "BLOCK", "the source was partially extracted, stage it again from scratch")
	p.wantSteps(t, "slow=BLOCKED", "target=BLOCKED")
	s.sluice("replay", id, "--override", "sealed", "--reason", "some rows are better than none", "--ack", "second-write").want(blocked)
	s.wantLoaded(nil)
	a := s.sluice("executions", "show", id, "--json").want(ready)
	if state := between(a.out, `"state": "`, `"`); state != "INTERRUPTED" {
		t.Errorf("the execution is %s", state)
	}
}

// TestASideBranchAtHalfIsNeverDone is the load that fails while a slow audit has
// written half of its rows to a file of its own.
func TestASideBranchAtHalfIsNeverDone(t *testing.T) {
	audit := transformOf("audit", "TextFileOutput", "    <file>\n      <name>${PROJECT_HOME}/audit</name>\n      <extention>csv</extention>\n    </file>\n    <create_parent_folder>N</create_parent_folder>\n    <header>N</header>\n    <format>UNIX</format>")
	// The audit takes twice the time of the load, which fails at its last row.
	slow := transformOf("slow", "Delay", "    <timeout>40</timeout>\n    <scaletime>milliseconds</scaletime>")
	setup := func(t *testing.T) (*shop, string) {
		s := newShop(t)
		s.write("load.hpl", pipelineOf("load", "orders>keep keep>wait wait>target orders>slow slow>audit", orders, keep,
			transformOf("wait", "Delay", "    <timeout>20</timeout>\n    <scaletime>milliseconds</scaletime>"), target, slow, audit))
		s.warehouseUp()
		s.sql("warehouse/target.db", "DROP TABLE loaded")
		s.sql("warehouse/target.db", "CREATE TABLE loaded (id INTEGER, amount INTEGER CHECK (amount < 60))")
		return s, s.path("load.hpl")
	}
	t.Run("below the gate", func(t *testing.T) {
		s, file := setup(t)
		s.sluice("gate", "mark", file, "--transform", "orders").want(ready)
		id := s.fails(file)
		if n := s.lines("audit.csv"); n >= 6 {
			t.Fatalf("the audit was complete: %d rows", n)
		}
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TABLE loaded")
		s.warehouseUp()
		p := s.preflight(needsAck, id)
		p.wantSteps(t, "orders=REUSE", "keep=RUN", "target=RUN", "slow=RUN", "audit=RUN")
		s.sluice("replay", id, "--ack", "second-write:target").want(ready)
		s.wantLoaded(original)
		if n := s.lines("audit.csv"); n != 6 {
			t.Errorf("the audit holds %d rows", n)
		}
	})
	t.Run("beside the gate", func(t *testing.T) {
		s, file := setup(t)
		s.sluice("gate", "mark", file, "--transform", "keep").want(ready)
		id := s.fails(file)
		if n := s.lines("audit.csv"); n >= 6 {
			t.Fatalf("the audit was complete: %d rows", n)
		}
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TABLE loaded")
		s.warehouseUp()
		p := s.preflight(blocked, id, "--ack", "second-write")
		p.wantCheck(t, "open-path", "BLOCK", "orders", "slow")
		s.sluice("replay", id, "--ack", "second-write", "--override", "open-path", "--reason", "the audit can wait").want(blocked)
		s.wantLoaded(nil)
	})
	t.Run("finished", func(t *testing.T) {
		s, file := setup(t)
		s.edit("load.hpl", "<timeout>40</timeout>", "<timeout>0</timeout>")
		s.edit("load.hpl", "<timeout>20</timeout>", "<timeout>200</timeout>")
		s.sluice("gate", "mark", file, "--transform", "orders").want(ready)
		id := s.fails(file)
		if n := s.lines("audit.csv"); n != 6 {
			t.Fatalf("the audit was not complete: %d rows", n)
		}
		if err := os.Remove(s.path("audit.csv")); err != nil {
			t.Fatal(err)
		}
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TABLE loaded")
		s.warehouseUp()
		p := s.preflight(needsAck, id)
		p.wantSteps(t, "orders=REUSE", "target=RUN", "audit=SKIP")
		s.sluice("replay", id, "--ack", "second-write").want(ready)
		s.wantLoaded(original)
		if n := s.lines("audit.csv"); n != 0 {
			t.Errorf("the finished audit ran again: %d rows", n)
		}
	})
}

// TestTheLeftOverOfAKillEndsAtItsLastHeartbeat: what a dead process left is found
// at the next start.
func TestTheLeftOverOfAKillEndsAtItsLastHeartbeat(t *testing.T) {
	s := newShop(t)
	t.Setenv("SLUICE_HEARTBEAT", "100ms")
	s.warehouseUp()
	s.edit("load.hpl", keep, waiting)
	before := time.Now()
	id := s.killedIn(s.path("load.hpl"), func() bool { return s.runningID() != "" })
	dead := time.Now()
	a := s.sluice("executions", "show", id, "--json").want(ready)
	if state := between(a.out, `"state": "`, `"`); state != "INTERRUPTED" {
		t.Errorf("the execution is %s", state)
	}
	end, err := time.Parse(time.RFC3339Nano, between(a.out, `"ended": "`, `"`))
	if err != nil {
		t.Fatalf("%v\n%s", err, a.out)
	}
	if end.Before(before.Add(-time.Second)) || end.After(dead) {
		t.Errorf("it ended at %s, its process lived from %s to %s", end, before, dead)
	}
	if again := s.sluice("executions", "show", id, "--json").want(ready); strings.TrimSpace(again.out) != strings.TrimSpace(a.out) {
		t.Errorf("a second look tells something else:\n%s\n%s", a.out, again.out)
	}
}
