package scenario_test

import (
	"os"
	"strings"
	"testing"
)

// What ran already and would run again is named, wherever the replay starts.

var (
	aborts   = actionOf("stop", "ABORT", "      <message>no further</message>\n")
	shells   = actionOf("tell", "SHELL", "      <insertScript>Y</insertScript>\n      <script>echo told</script>\n")
	emptied  = strings.Replace(target, "<commit>2</commit>", "<commit>2</commit>\n    <truncate>Y</truncate>", 1)
	dropping = "DROP TABLE loaded"
	picky    = "CREATE TABLE loaded (id INTEGER, amount INTEGER CHECK (amount < 50))"
)

func inner(name, file string) string {
	return actionOf(name, "WORKFLOW", "      <filename>${PROJECT_HOME}/"+file+"</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n")
}

// wantsAck expects that both a pre-flight and a replay stop for a second write, and
// that the target keeps what it holds.
func (s *shop) wantsAck(check string, args ...string) {
	s.t.Helper()
	before := s.loaded()
	s.preflight(needsAck, args...).wantCheck(s.t, check, "WARN")
	s.sluice(append([]string{"replay"}, args...)...).want(needsAck)
	s.wantLoaded(before)
}

func TestALoadBehindTheStartIsNotRepeatedUnnoticed(t *testing.T) {
	for name, from := range map[string]string{"from the action": "load", "from the first action": "Start", "from the start": "start", "from the one before": "day"} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			s.warehouseUp()
			s.write("night.hwf", workflowOf("Start>day day+load load+stop", sets("day", "DAY", "monday"), runs("load", "load.hpl"), aborts))
			id := s.fails(s.path("night.hwf"))
			s.wantLoaded(original)
			s.preflight(ready, id).wantSteps(t, "load=REUSE", "stop=RUN")
			s.wantsAck("second-write:target", id, "--from", from)
		})
	}
	t.Run("inside of a child workflow", func(t *testing.T) {
		s := newShop(t)
		s.warehouseUp()
		s.write("inner.hwf", workflowOf("Start>load load+stop", runs("load", "load.hpl"), aborts))
		s.write("night.hwf", workflowOf("Start>day day+inner", sets("day", "DAY", "monday"), inner("inner", "inner.hwf")))
		id := s.fails(s.path("night.hwf"))
		s.preflight(ready, id)
		s.wantsAck("second-write:target", id, "--from", "day")
		s.wantsAck("second-write:target", id, "--from", "start")
	})
	t.Run("an action with effects", func(t *testing.T) {
		s := newShop(t)
		s.write("night.hwf", workflowOf("Start>day day+tell tell+load", sets("day", "DAY", "monday"), shells, runs("load", "load.hpl")))
		id := s.fails(s.path("night.hwf"))
		s.warehouseUp()
		s.wantsAck("second-write:tell", id, "--from", "start")
	})
}

func TestASinkIsKnownByItsTarget(t *testing.T) {
	begin := func(t *testing.T, sink string) (*shop, string) {
		s := newShop(t)
		s.edit("load.hpl", target, sink)
		s.warehouseUp()
		s.sql("warehouse/target.db", dropping)
		s.sql("warehouse/target.db", picky)
		id := s.fails(s.path("load.hpl"))
		if n := len(s.loaded()); n != 4 {
			t.Fatalf("%d rows were committed before the failure", n)
		}
		return s, id
	}
	t.Run("renamed", func(t *testing.T) {
		s, id := begin(t, target)
		s.edit("load.hpl", "<name>target</name>", "<name>warehouse</name>")
		s.edit("load.hpl", "<to>target</to>", "<to>warehouse</to>")
		s.wantsAck("second-write:warehouse", id)
	})
	t.Run("no longer emptied first", func(t *testing.T) {
		s, id := begin(t, emptied)
		s.preflight(ready, id)
		s.edit("load.hpl", "<truncate>Y</truncate>", "<truncate>N</truncate>")
		s.wantsAck("second-write:target", id)
	})
	t.Run("emptied first from now on", func(t *testing.T) {
		s, id := begin(t, target)
		s.wantsAck("second-write:target", id)
		s.edit("load.hpl", target, emptied)
		s.preflight(ready, id)
	})
	t.Run("emptied but another table", func(t *testing.T) {
		s, id := begin(t, emptied)
		s.sql("warehouse/target.db", "CREATE TABLE other (id INTEGER, amount INTEGER)")
		s.edit("load.hpl", "<table>loaded</table>", "<table>other</table>")
		s.preflight(needsAck, id).wantCheck(t, "second-write:target", "WARN", "table loaded", "table other")
	})
}

func TestAReplayOfAReplay(t *testing.T) {
	begin := func(t *testing.T) (s *shop, first, second string) {
		s = newShop(t)
		s.write("words.hpl", pipelineOf("words", "gen>result",
			transformOf("gen", "RowGenerator", "    <limit>2</limit>\n    <fields>\n      <field>\n        <name>word</name>\n        <type>String</type>\n        <nullif>kept</nullif>\n      </field>\n    </fields>"),
			transformOf("result", "RowsToResult", "")))
		s.write("night.hwf", workflowOf("Start>words words+day day+load load+after", runs("words", "words.hpl"), sets("day", "DAY", "monday"), runs("load", "load.hpl"), writes("after", "after.txt", "done on ${DAY}")))
		first = s.fails(s.path("night.hwf"))
		s.sourceGone()
		s.sluice("replay", first).want(failed) // the warehouse is still down
		second = s.newest()
		if second == first {
			t.Fatal("the replay was not recorded")
		}
		return s, first, second
	}
	t.Run("works", func(t *testing.T) {
		s, first, second := begin(t)
		s.warehouseUp()
		s.preflight(ready, second).wantSteps(t, "words=REUSE", "day=REUSE", "load=RUN", "orders=REUSE", "target=RUN")
		s.sluice("replay", second).want(ready)
		s.wantLoaded(original)
		if got := s.text("after.txt"); got != "done on monday" {
			t.Errorf("after.txt says %q", got)
		}
		s.preflight(needsAck, first).wantCheck(t, "replayed", "WARN", s.newest())
	})
	t.Run("knows how bypassed children ran", func(t *testing.T) {
		s, _, second := begin(t)
		s.warehouseUp()
		s.edit("words.hpl", "<limit>2</limit>", "<limit>3</limit>")
		s.preflight(blocked, second).wantCheck(t, "upstream:words", "BLOCK", "limit", "2", "3")
	})
	t.Run("the first again when the second has gone further", func(t *testing.T) {
		s, first, _ := begin(t)
		s.warehouseUp()
		s.write("night.hwf", workflowOf("Start>words words+day day+load load+tell tell+stop", runs("words", "words.hpl"), sets("day", "DAY", "monday"), runs("load", "load.hpl"), shells, aborts))
		s.sluice("replay", first).want(failed)
		s.wantLoaded(original)
		p := s.preflight(needsAck, first)
		p.wantCheck(t, "second-write:target", "WARN", "6 rows")
		p.wantCheck(t, "second-write:tell", "WARN", "has run already")
	})
}

func TestAVariableOfABypassedChildCannotChange(t *testing.T) {
	s := newShop(t)
	s.write("audit.hpl", pipelineOf("audit", "orders>gone", orders, transformOf("gone", "Dummy", "")))
	s.write("night.hwf", workflowOf("Start>audit audit+load", runs("audit", "audit.hpl"), runs("load", "load.hpl")))
	s.sluice("gate", "unmark", s.path("load.hpl"), "--transform", "orders").want(ready)
	id := s.fails(s.path("night.hwf"))
	s.warehouseUp()
	s.preflight(ready, id)
	s.preflight(blocked, id, "--var", "STATUS=shipped").wantCheck(t, "variable:STATUS", "BLOCK", "audit", "open", "shipped")
}

func TestASuccessIsReplayedOnlyWhenConfirmed(t *testing.T) {
	s := newShop(t)
	s.warehouseUp()
	s.sluice("run", s.path("load.hpl"), "--log-level", "error").want(ready)
	id := s.newest()
	s.sql("warehouse/target.db", "DELETE FROM loaded")
	s.preflight(needsAck, id, "--from", "orders", "--ack", "second-write").wantCheck(t, "replayed", "WARN", "succeeded")
	s.preflight(blocked, id).wantCheck(t, "start", "BLOCK", "nothing")
	s.sluice("replay", id, "--from", "orders", "--ack", "second-write", "--ack", "replayed").want(ready)
	s.wantLoaded(original)
}

// TestAStartBehindAFailureThatWasHandled: the failure led to another way, and that
// way is what the replay goes on with.
func TestAStartBehindAFailureThatWasHandled(t *testing.T) {
	s := newShop(t)
	bad := actionOf("try", "SHELL", "      <insertScript>Y</insertScript>\n      <script>exit 3</script>\n")
	s.write("night.hwf", workflowOf("Start>try try-note note+load", bad, writes("note", "note.txt", "handled"), runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.path("note.txt")); err != nil {
		t.Fatal(err)
	}
	p := s.preflight(needsAck, id, "--from", "load", "--ack", "nothing")
	p.wantSteps(t, "try=REUSE", "note=REUSE", "load=RUN", "orders=REUSE")
	s.sluice("replay", id, "--from", "load", "--ack", "side-effect").want(ready)
	s.wantLoaded(original)
	if _, err := os.Stat(s.path("note.txt")); err == nil {
		t.Error("a bypassed action ran")
	}
}

// TestAReplayElsewhereIsKnown: another machine that shares only the remote has
// replayed already.
func TestAReplayElsewhereIsKnown(t *testing.T) {
	s := newShop(t)
	remote := t.TempDir()
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders", "--location", remote).want(ready)
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	p := s.preflight(ready, id)
	s.use(t.TempDir())
	s.sluice("replay", id, "--record", remote, "--project", s.dir).want(ready)
	elsewhere := s.newest()
	s.use(s.data)
	s.sluice("replay", id, "--plan", p.Token).want(blocked, "has changed since")
	again := s.preflight(needsAck, id)
	again.wantCheck(t, "replayed", "WARN", elsewhere)
	again.wantCheck(t, "second-write:target", "WARN", "6 rows")
	s.sluice("replay", id).want(needsAck)
	s.wantLoaded(original)
}
