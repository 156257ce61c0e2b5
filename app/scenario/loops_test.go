package scenario_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// countTo is a loop of an action that runs once for each number N, as hops and
// actions of a workflow.
func countTo(n int, body string) (hops string, actions []string) {
	counter := actionOf("count", "EVAL", "      <script>var n = parseInt(parent_workflow.getVariable(\"N\", \"0\")) + 1; parent_workflow.setVariable(\"N\", String(n)); true;</script>\n")
	enough := actionOf("enough", "SIMPLE_EVAL", "      <valuetype>variable</valuetype>\n      <variablename>N</variablename>\n      <fieldtype>number</fieldtype>\n      <successnumbercondition>smaller</successnumbercondition>\n      <comparevalue>"+strconv.Itoa(n)+"</comparevalue>\n")
	return "Start>count count+" + body + " " + body + "+enough enough+count enough-end", []string{counter, enough, writes("end", "end.txt", "N is ${N}")}
}

// decisionAt gives what the plan does with a node at a place of the tree.
func (p plan) decisionAt(path, node string, ordinal int) string {
	for _, st := range p.Steps {
		if st.CallPath == path && st.Node == node && st.Ordinal == ordinal {
			return st.Decision
		}
	}
	return "absent"
}

// TestALoopOfExtractsGoesOnInItsTurn: a gate that was sealed in each turn of a loop.
// Each turn is given its own rows, and turns that succeeded are not run again.
func TestALoopOfExtractsGoesOnInItsTurn(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", "WHERE status = '${STATUS}'", "WHERE id IN (${N}, ${N} + 3)")
	hops, actions := countTo(3, "each")
	s.write("night.hwf", workflowOf(hops, append(actions, runs("each", "load.hpl"))...))
	s.warehouseUp()
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	s.sql("warehouse/target.db", "CREATE TABLE loaded (id INTEGER, amount INTEGER CHECK (amount <> 30))")
	id := s.fails(s.path("night.hwf"))
	s.wantLoaded([]string{"1:10", "2:20", "4:40", "5:50"})
	s.sourceGone()
	s.sql("warehouse/target.db", "ALTER TABLE loaded RENAME TO before")
	s.warehouseUp()
	s.sql("warehouse/target.db", "INSERT INTO loaded SELECT * FROM before")
	p := s.preflight(ready, id, "--ack", "second-write")
	for _, want := range []struct {
		path, node string
		ordinal    int
		decision   string
	}{
		{"", "each", 1, "REUSE"},
		{"", "each", 2, "REUSE"},
		{"", "each", 3, "RUN"},
		{"each#3", "orders", 0, "REUSE"},
		{"each#3", "target", 0, "RUN"},
		{"", "end", 1, "RUN"},
	} {
		if got := p.decisionAt(want.path, want.node, want.ordinal); got != want.decision {
			t.Errorf("%s %s#%d is %s, want %s; steps %+v", want.path, want.node, want.ordinal, got, want.decision, p.Steps)
		}
	}
	s.sluice("replay", id, "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	if got := s.text("end.txt"); got != "N is 3" {
		t.Errorf("end.txt says %q", got)
	}
}

// TestALoopThatWasReplayedFailsAgain replays a replay: the first one came one turn
// further only.
func TestALoopThatWasReplayedFailsAgain(t *testing.T) {
	s := newShop(t)
	s.edit("load.hpl", "WHERE status = '${STATUS}'", "WHERE id IN (${N}, ${N} + 3)")
	hops, actions := countTo(3, "each")
	s.write("night.hwf", workflowOf(hops, append(actions, runs("each", "load.hpl"))...))
	s.warehouseUp()
	s.sql("warehouse/target.db", "CREATE TRIGGER bad BEFORE INSERT ON loaded WHEN new.id = 2 BEGIN SELECT RAISE(ABORT, 'two'); END")
	first := s.fails(s.path("night.hwf"))
	s.wantLoaded([]string{"1:10", "4:40"})
	s.sql("warehouse/target.db", "DROP TRIGGER bad")
	s.sql("warehouse/target.db", "CREATE TRIGGER bad BEFORE INSERT ON loaded WHEN new.id = 3 BEGIN SELECT RAISE(ABORT, 'three'); END")
	a := s.sluice("replay", first, "--json", "--ack", "second-write")
	second := between(a.out, `"execution_id": "`, `"`)
	a.want(failed)
	s.wantLoaded([]string{"1:10", "2:20", "4:40", "5:50"})
	s.sql("warehouse/target.db", "DROP TRIGGER bad")
	s.sourceGone()
	p := s.preflight(ready, second, "--ack", "second-write")
	for n, want := range map[int]string{1: "REUSE", 2: "REUSE", 3: "RUN"} {
		if got := p.decisionAt("", "each", n); got != want {
			t.Errorf("turn %d is %s, want %s", n, got, want)
		}
	}
	s.sluice("replay", second, "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	s.sluice("executions", "show", first).want(ready, "LINEAGE", first[:18], second[:18], s.newest()[:18])
}

// TestAnExecutorGoesOnWithTheSealedRows: the children of an executor transform ran
// several times, the last one of them failed.
func TestAnExecutorGoesOnWithTheSealedRows(t *testing.T) {
	s := newShop(t)
	fields := "    <fields>\n"
	for _, f := range []string{"id Integer", "status String", "amount Integer"} {
		name, kind, _ := strings.Cut(f, " ")
		fields += "      <field>\n        <name>" + name + "</name>\n        <type>" + kind + "</type>\n        <length>-1</length>\n        <precision>-1</precision>\n      </field>\n"
	}
	s.write("each.hpl", pipelineOf("each", "from>keep keep>target", transformOf("from", "RowsFromResult", fields+"    </fields>"), keep, target))
	s.write("load.hpl", pipelineOf("load", "orders>call", orders, transformOf("call", "PipelineExecutor", "    <filename>${PROJECT_HOME}/each.hpl</filename>\n    <run_configuration>local</run_configuration>\n    <group_size>2</group_size>")))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	s.write("night.hwf", workflowOf("Start>load load+end", runs("load", "load.hpl"), writes("end", "end.txt", "end")))
	s.warehouseUp()
	s.sql("warehouse/target.db", "CREATE TRIGGER bad BEFORE INSERT ON loaded WHEN new.id = 5 BEGIN SELECT RAISE(ABORT, 'five'); END")
	s.sluice("run", s.path("night.hwf"), "--log-level", "error")
	id := s.newest()
	s.sluice("executions", "tree", id).want(ready, "call#3: pipeline each FAILED")
	s.wantLoaded(original[:4])
	s.sourceGone()
	s.sql("warehouse/target.db", "DROP TRIGGER bad")
	if err := os.Remove(s.path("end.txt")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	// Rows are there twice when nobody empties the target, so a person has to look.
	p := s.preflight(needsAck, id, "--from", "orders")
	p.wantCheck(t, "second-write", "WARN", "4 rows", "table loaded")
	s.sql("warehouse/target.db", "DELETE FROM loaded")
	s.sluice("replay", id, "--from", "orders", "--ack", "second-write").want(ready)
	s.wantLoaded(original)
	if got := s.text("end.txt"); got != "end" {
		t.Errorf("end.txt says %q", got)
	}
}
