package scenario_test

import (
	"os"
	"strings"
	"testing"
)

func (s *shop) text(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func TestAWorkflowGoesOnAtTheFirstFailedAction(t *testing.T) {
	s := newShop(t)
	s.write("night.hwf", workflowOf("Start>day day+before before+load load+after",
		sets("day", "DAY", "monday"), writes("before", "before.txt", "once for ${DAY}"), runs("load", "load.hpl"), writes("after", "after.txt", "done on ${DAY}")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.path("before.txt")); err != nil {
		t.Fatal(err)
	}
	p := s.preflight(ready, id)
	p.wantSteps(t, "Start=REUSE", "day=REUSE", "before=REUSE", "load=RUN", "orders=REUSE", "keep=RUN", "target=RUN", "after=RUN")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
	if got := s.text("after.txt"); got != "done on monday" {
		t.Errorf("after.txt says %q: the variable was not given back", got)
	}
	if _, err := os.Stat(s.path("before.txt")); err == nil {
		t.Error("a bypassed action ran")
	}
	s.sluice("executions", "show", s.newest()).want(ready, "REUSED")
}

func TestABypassedActionThatChangedBlocks(t *testing.T) {
	s := newShop(t)
	s.write("night.hwf", workflowOf("Start>day day+load", sets("day", "DAY", "monday"), runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.warehouseUp()
	s.edit("night.hwf", "monday", "tuesday")
	s.preflight(blocked, id).wantCheck(t, "upstream:day", "BLOCK", "monday", "tuesday")
	s.sluice("replay", id, "--from", "day").want(ready) // then it is not bypassed
	s.wantLoaded(original)                              // from the source: what is behind an action that ran anew is not reused
}

func TestAnActionWithEffectsIsAcknowledged(t *testing.T) {
	s := newShop(t)
	s.write("night.hwf", workflowOf("Start>tell tell+load", actionOf("tell", "SHELL", "      <insertScript>Y</insertScript>\n      <script>echo told</script>\n"), runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	s.preflight(needsAck, id).wantCheck(t, "side-effect:tell", "WARN", "not done again")
	s.sluice("replay", id).want(needsAck)
	s.sluice("replay", id, "--ack", "side-effect:tell").want(ready)
	s.wantLoaded(original)
}

func TestLoopsReuseTheTurnsThatSucceeded(t *testing.T) {
	s := newShop(t)
	counter := actionOf("count", "EVAL", "      <script>var n = parseInt(parent_workflow.getVariable(\"N\", \"0\")) + 1; parent_workflow.setVariable(\"N\", String(n)); true;</script>\n")
	enough := actionOf("enough", "SIMPLE_EVAL", "      <valuetype>variable</valuetype>\n      <variablename>N</variablename>\n      <fieldtype>number</fieldtype>\n      <successnumbercondition>smaller</successnumbercondition>\n      <comparevalue>3</comparevalue>\n")
	s.write("night.hwf", workflowOf("Start>count count+enough enough+count enough-load load+end", counter, enough, runs("load", "load.hpl"), writes("end", "end.txt", "N is ${N}")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	p := s.preflight(ready, id)
	turns := 0
	for _, st := range p.Steps {
		if st.Node == "count" && st.Decision == "REUSE" {
			turns++
		}
	}
	if turns != 3 {
		t.Errorf("%d turns of the loop are reused: %+v", turns, p.Steps)
	}
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
	if got := s.text("end.txt"); got != "N is 3" {
		t.Errorf("end.txt says %q", got)
	}
}

func TestParallelBranchesThatSucceededAreReused(t *testing.T) {
	s := newShop(t)
	fork := strings.Replace(actionOf("fork", "DUMMY", ""), "<parallel>N</parallel>", "<parallel>Y</parallel>", 1)
	s.write("night.hwf", workflowOf("Start>fork fork>a fork>load a+join load+join join+end",
		fork, writes("a", "a.txt", "a"), runs("load", "load.hpl"), actionOf("join", "JOIN", ""), writes("end", "end.txt", "both")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	p := s.preflight(ready, id)
	p.wantSteps(t, "fork=REUSE", "a=REUSE", "load=RUN", "join=RUN", "end=RUN")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
	if _, err := os.Stat(s.path("a.txt")); err == nil {
		t.Error("the branch that had succeeded ran again")
	}
	if got := s.text("end.txt"); got != "both" {
		t.Errorf("end.txt says %q", got)
	}
}

func TestAChildWorkflowGoesOnInside(t *testing.T) {
	s := newShop(t)
	s.write("inner.hwf", workflowOf("Start>first first+load", writes("first", "first.txt", "first"), runs("load", "load.hpl")))
	s.write("night.hwf", workflowOf("Start>inner inner+end",
		actionOf("inner", "WORKFLOW", "      <filename>${PROJECT_HOME}/inner.hwf</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n"), writes("end", "end.txt", "end")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.path("first.txt")); err != nil {
		t.Fatal(err)
	}
	p := s.preflight(ready, id)
	p.wantSteps(t, "inner=RUN", "first=REUSE", "load=RUN", "orders=REUSE", "target=RUN", "end=RUN")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
	if _, err := os.Stat(s.path("first.txt")); err == nil {
		t.Error("a bypassed action of the child ran")
	}
}

func TestTheResultOfABypassedActionIsGivenBack(t *testing.T) {
	s := newShop(t)
	s.write("rows.hpl", pipelineOf("rows", "gen>result",
		transformOf("gen", "RowGenerator", "    <limit>3</limit>\n    <fields>\n      <field>\n        <name>word</name>\n        <type>String</type>\n        <nullif>kept</nullif>\n      </field>\n    </fields>"),
		transformOf("result", "RowsToResult", "")))
	s.write("use.hpl", pipelineOf("use", "from>out",
		transformOf("from", "RowsFromResult", "    <fields>\n      <field>\n        <name>word</name>\n        <type>String</type>\n        <length>-1</length>\n        <precision>-1</precision>\n      </field>\n    </fields>"),
		transformOf("out", "TextFileOutput", "    <file>\n      <name>${WAREHOUSE}/out</name>\n      <extention>csv</extention>\n      <create_parent_folder>N</create_parent_folder>\n    </file>\n    <create_parent_folder>N</create_parent_folder>\n    <header>N</header>\n    <format>UNIX</format>")))
	s.write("night.hwf", workflowOf("Start>rows rows+use", runs("rows", "rows.hpl"), runs("use", "use.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.warehouseUp()
	p := s.preflight(ready, id)
	p.wantSteps(t, "rows=REUSE", "use=RUN")
	s.sluice("replay", id).want(ready)
	if got := s.text("warehouse/out.csv"); got != "kept\nkept\nkept\n" {
		t.Errorf("the file holds %q: the rows of the bypassed action were not given back", got)
	}
}

func TestTwoSourcesOfDifferentTimes(t *testing.T) {
	s := newShop(t)
	other := strings.ReplaceAll(orders, "<name>orders</name>", "<name>others</name>")
	s.write("load.hpl", pipelineOf("load", "orders>all others>all all>keep keep>target",
		orders, other, transformOf("all", "Append", "    <head_name>orders</head_name>\n    <tail_name>others</tail_name>"), keep, target))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	p := s.preflight(blocked, id)
	p.wantCheck(t, "mixed-time", "BLOCK", "others", "orders")
	s.sluice("replay", id, "--override", "mixed-time", "--reason", "nothing is sold at night").want(ready)
	if n := len(s.loaded()); n != 12 {
		t.Errorf("%d rows", n)
	}
}

func TestAnUncutPathIsNamed(t *testing.T) {
	s := newShop(t)
	s.write("load.hpl", pipelineOf("load", "orders>keep keep>target orders>audit", orders, keep, target,
		transformOf("audit", "TextFileOutput", "    <file>\n      <name>${WAREHOUSE}/audit</name>\n      <extention>csv</extention>\n    </file>\n    <create_parent_folder>N</create_parent_folder>")))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "keep").want(ready)
	id := s.fails(s.path("load.hpl"))
	s.warehouseUp()
	s.preflight(blocked, id).wantCheck(t, "open-path", "BLOCK", "orders", "audit")
	s.sluice("replay", id, "--override", "open-path", "--reason", "x").want(blocked)
	s.wantLoaded(nil)
}

// TestAnUnfinishedSideBranchRunsAgain fails the load while a slow audit has
// written a part of its rows.
func TestAnUnfinishedSideBranchRunsAgain(t *testing.T) {
	s := newShop(t)
	audit := transformOf("audit", "TableOutput", "    <connection>target</connection>\n    <table>audited</table>\n    <commit>1</commit>\n    <use_batch>N</use_batch>\n    <specify_fields>Y</specify_fields>\n    <fields>\n      <field>\n        <column_name>id</column_name>\n        <stream_name>id</stream_name>\n      </field>\n    </fields>")
	s.write("load.hpl", pipelineOf("load", "orders>keep keep>target orders>audit", orders, keep, target, audit))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	s.warehouseUp()
	s.sql("warehouse/target.db", "CREATE TABLE audited (id INTEGER CHECK (id < 4))")
	s.sql("warehouse/target.db", "DROP TABLE loaded")
	id := s.fails(s.path("load.hpl"))
	s.sourceGone()
	s.warehouseUp()
	s.sql("warehouse/target.db", "DROP TABLE audited")
	s.sql("warehouse/target.db", "CREATE TABLE audited (id INTEGER)")
	a := s.sluice("preflight", id, "--json", "--ack", "second-write:audit").want(ready)
	for _, node := range []string{"target", "audit"} {
		if !strings.Contains(a.out, node) {
			t.Errorf("the plan does not name %s", node)
		}
	}
	s.sluice("replay", id, "--ack", "second-write:audit").want(ready)
	s.wantLoaded(original)
	if n := s.count("audited"); n != 6 {
		t.Errorf("the audit holds %d rows", n)
	}
}

// TestExecutorsRunAgainAsAWhole: one transform that starts a child for each row.
func TestExecutorsRunAgainAsAWhole(t *testing.T) {
	s := newShop(t)
	s.write("each.hpl", pipelineOf("each", "from>out",
		transformOf("from", "RowsFromResult", "    <fields>\n      <field>\n        <name>id</name>\n        <type>Integer</type>\n        <length>-1</length>\n        <precision>-1</precision>\n      </field>\n      <field>\n        <name>status</name>\n        <type>String</type>\n        <length>-1</length>\n        <precision>-1</precision>\n      </field>\n      <field>\n        <name>amount</name>\n        <type>Integer</type>\n        <length>-1</length>\n        <precision>-1</precision>\n      </field>\n    </fields>"),
		strings.Replace(target, "<name>target</name>", "<name>out</name>", 1)))
	s.edit("each.hpl", "<use_batch>N</use_batch>", "<use_batch>N</use_batch>\n    <specify_fields>Y</specify_fields>\n    <fields>\n      <field>\n        <column_name>id</column_name>\n        <stream_name>id</stream_name>\n      </field>\n      <field>\n        <column_name>amount</column_name>\n        <stream_name>amount</stream_name>\n      </field>\n    </fields>")
	s.write("load.hpl", pipelineOf("load", "orders>call", orders, transformOf("call", "PipelineExecutor", "    <filename>${PROJECT_HOME}/each.hpl</filename>\n    <run_configuration>local</run_configuration>\n    <group_size>2</group_size>")))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	s.write("night.hwf", workflowOf("Start>load", runs("load", "load.hpl")))
	s.sluice("run", s.path("night.hwf"), "--log-level", "error")
	id := s.newest()
	s.sluice("executions", "tree", id).want(ready, "call#1: pipeline each", "call#3: pipeline each")
	s.sourceGone()
	s.warehouseUp()
	p := s.preflight(ready, id, "--from", "orders")
	p.wantSteps(t, "load=RUN", "orders=REUSE", "call=RUN")
	s.sluice("replay", id, "--from", "orders").want(ready)
	s.wantLoaded(original)
}

// TestFilesAndOutcomeOfABypassedAction looks at each of the four things that an
// action leaves: outcome, rows, files and variables (the rows have a test above).
func TestFilesAndOutcomeOfABypassedAction(t *testing.T) {
	s := newShop(t)
	makes := actionOf("make", "CREATE_FILE", "      <filename>${PROJECT_HOME}/made.txt</filename>\n      <fail_if_file_exists>Y</fail_if_file_exists>\n      <add_filename_result>Y</add_filename_result>\n")
	there := actionOf("there", "FILE_EXISTS", "      <filename>${PROJECT_HOME}/nowhere.txt</filename>\n")
	copies := actionOf("copy", "COPY_MOVE_RESULT_FILENAMES", "      <destination_folder>${WAREHOUSE}/copied</destination_folder>\n      <CreateDestinationFolder>N</CreateDestinationFolder>\n      <action>copy</action>\n      <OverwriteFile>Y</OverwriteFile>\n      <success_condition>success_if_no_errors</success_condition>\n      <nr_errors_less_than>10</nr_errors_less_than>\n")
	s.write("night.hwf", workflowOf("Start>make make+there there-copy copy+end", makes, there, copies, writes("end", "end.txt", "end")))
	id := s.fails(s.path("night.hwf"))
	if err := os.MkdirAll(s.path("warehouse/copied"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := s.preflight(needsAck, id, "--ack", "nothing")
	p.wantSteps(t, "make=REUSE", "there=REUSE", "copy=RUN", "end=RUN")
	s.sluice("replay", id, "--ack", "second-write:copy").want(ready)
	if got := s.text("warehouse/copied/made.txt"); got != "" {
		t.Errorf("the copy holds %q", got)
	}
	s.write("made.txt", "somebody else's")
	s.preflight(needsAck, id, "--ack", "second-write", "--ack", "replayed").wantCheck(t, "result:make", "WARN", "other content")
}
