package scenario_test

import (
	"os"
	"strings"
	"testing"
)

// asserts is an action that fails unless a script says yes.
func asserts(name, script string) string {
	return actionOf(name, "EVAL", "      <script>"+strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(script)+"</script>\n")
}

// TestEachPartOfABypassedResultIsGivenBack lets the action behind a bypassed one
// look at its outcome, counters, rows and files, in the first run and in the replay.
// What it saw is written down both times.
func TestEachPartOfABypassedResultIsGivenBack(t *testing.T) {
	s := newShop(t)
	s.write("extract.hpl", pipelineOf("extract", "orders>out out>result", strings.Replace(orders, "${STATUS}", "open", 1),
		transformOf("out", "TextFileOutput", "    <file>\n      <name>${PROJECT_HOME}/extracted</name>\n      <extention>csv</extention>\n      <add_to_result_filenames>Y</add_to_result_filenames>\n    </file>\n    <create_parent_folder>N</create_parent_folder>\n    <add_to_result_filenames>Y</add_to_result_filenames>\n    <format>UNIX</format>"),
		transformOf("result", "RowsToResult", "")))
	sees := asserts("sees", `var r = previous_result; var text = [r.getResult(), r.getNrErrors(), r.getNrLinesInput(), r.getNrLinesOutput(), r.getNrLinesRead(), r.getNrLinesWritten(), r.getNrLinesUpdated(), r.getNrLinesRejected(), r.getExitStatus(), r.getRows().size(), r.getResultFilesList().size(), r.getResultFilesList().get(0).getFile()].join(" "); parent_workflow.setVariable("SEEN", text); true;`)
	s.write("night.hwf", workflowOf("Start>extract extract+sees sees+note note+load load+end",
		runs("extract", "extract.hpl"), sees, writes("note", "seen.txt", "${SEEN}"), runs("load", "load.hpl"), writes("end", "end.txt", "${SEEN}")))
	id := s.fails(s.path("night.hwf"))
	first := s.text("seen.txt")
	if !strings.HasPrefix(first, "true 0 6 6 6 6 0 0 0 6 1 ") || !strings.HasSuffix(first, "extracted.csv") {
		t.Fatalf("the first run saw %q", first)
	}
	s.sourceGone()
	s.warehouseUp()
	if err := os.Remove(s.path("seen.txt")); err != nil {
		t.Fatal(err)
	}
	s.preflight(ready, id, "--from", "sees").wantSteps(t, "extract=REUSE", "sees=RUN", "note=RUN")
	// What is behind "sees" runs anew, and with it the load's extract: its source is gone.
	s.sluice("replay", id, "--from", "sees").want(failed)
	if again := s.text("seen.txt"); again != first {
		t.Errorf("the replay saw\n%s\nthe first run\n%s", again, first)
	}
	s.sluice("replay", id).want(ready)
	if end := s.text("end.txt"); end != first {
		t.Errorf("the variable of a bypassed action is %q, was %q", end, first)
	}
	s.wantLoaded(original)
}

// TestVariablesThatAPipelineSetAreGivenBack: set by a transform, in the scope of
// the workflow around it.
func TestVariablesThatAPipelineSetAreGivenBack(t *testing.T) {
	for _, scope := range []string{"PARENT_WORKFLOW", "ROOT_WORKFLOW"} {
		t.Run(scope, func(t *testing.T) {
			s := newShop(t)
			s.write("day.hpl", pipelineOf("day", "gen>set",
				transformOf("gen", "RowGenerator", "    <limit>1</limit>\n    <fields>\n      <field>\n        <name>day</name>\n        <type>String</type>\n        <nullif>friday</nullif>\n      </field>\n    </fields>"),
				transformOf("set", "SetVariable", "    <use_formatting>N</use_formatting>\n    <fields>\n      <field>\n        <field_name>day</field_name>\n        <variable_name>DAY</variable_name>\n        <variable_type>"+scope+"</variable_type>\n        <default_value/>\n      </field>\n    </fields>")))
			s.write("night.hwf", workflowOf("Start>day day+load load+end", runs("day", "day.hpl"), runs("load", "load.hpl"), writes("end", "end.txt", "on ${DAY}")))
			id := s.fails(s.path("night.hwf"))
			s.sourceGone()
			s.warehouseUp()
			s.preflight(ready, id).wantSteps(t, "day=REUSE", "load=RUN")
			s.sluice("replay", id).want(ready)
			s.wantLoaded(original)
			if got := s.text("end.txt"); got != "on friday" {
				t.Errorf("end.txt says %q", got)
			}
		})
	}
	t.Run("by a child workflow for the root", func(t *testing.T) {
		s := newShop(t)
		s.write("inner.hwf", workflowOf("Start>day", strings.Replace(sets("day", "DAY", "friday"), "CURRENT_WORKFLOW", "ROOT_WORKFLOW", 1)))
		s.write("night.hwf", workflowOf("Start>inner inner+load load+end",
			actionOf("inner", "WORKFLOW", "      <filename>${PROJECT_HOME}/inner.hwf</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n"),
			runs("load", "load.hpl"), writes("end", "end.txt", "on ${DAY}")))
		id := s.fails(s.path("night.hwf"))
		s.sourceGone()
		s.warehouseUp()
		s.preflight(ready, id).wantSteps(t, "inner=REUSE", "load=RUN")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); got != "on friday" {
			t.Errorf("end.txt says %q", got)
		}
	})
	t.Run("in a child workflow that goes on inside", func(t *testing.T) {
		s := newShop(t)
		s.write("inner.hwf", workflowOf("Start>day day+load", strings.Replace(sets("day", "DAY", "friday"), "CURRENT_WORKFLOW", "ROOT_WORKFLOW", 1), runs("load", "load.hpl")))
		s.write("night.hwf", workflowOf("Start>inner inner+end",
			actionOf("inner", "WORKFLOW", "      <filename>${PROJECT_HOME}/inner.hwf</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n"),
			writes("end", "end.txt", "on ${DAY}")))
		id := s.fails(s.path("night.hwf"))
		s.sourceGone()
		s.warehouseUp()
		s.preflight(ready, id).wantSteps(t, "inner=RUN", "day=REUSE", "load=RUN")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); got != "on friday" {
			t.Errorf("end.txt says %q", got)
		}
	})
}

// TestABypassedCommandIsNotRunAgain: what it did is there once.
func TestABypassedCommandIsNotRunAgain(t *testing.T) {
	s := newShop(t)
	ask := actionOf("ask", "SHELL", "      <insertScript>Y</insertScript>\n      <script>echo once &gt;&gt; ${PROJECT_HOME}/asked.txt</script>\n")
	s.write("night.hwf", workflowOf("Start>ask ask+load load+end", ask, runs("load", "load.hpl"), writes("end", "end.txt", "end")))
	id := s.fails(s.path("night.hwf"))
	s.sourceGone()
	s.warehouseUp()
	s.sluice("replay", id, "--ack", "side-effect").want(ready)
	s.wantLoaded(original)
	if got := s.text("asked.txt"); got != "once\n" {
		t.Errorf("the bypassed command ran again: %q", got)
	}
}

// TestAnEditInsideABypassedChildBlocks: the file that changed is two levels below
// the bypassed action.
func TestAnEditInsideABypassedChildBlocks(t *testing.T) {
	s := newShop(t)
	s.write("count.hpl", pipelineOf("count", "gen>gone", transformOf("gen", "RowGenerator", "    <limit>3</limit>"), transformOf("gone", "Dummy", "")))
	s.write("inner.hwf", workflowOf("Start>count", runs("count", "count.hpl")))
	s.write("night.hwf", workflowOf("Start>inner inner+load",
		actionOf("inner", "WORKFLOW", "      <filename>${PROJECT_HOME}/inner.hwf</filename>\n      <run_configuration>local</run_configuration>\n      <wait_until_finished>Y</wait_until_finished>\n"), runs("load", "load.hpl")))
	id := s.fails(s.path("night.hwf"))
	s.warehouseUp()
	s.preflight(ready, id)
	s.edit("count.hpl", "<limit>3</limit>", "<limit>4</limit>")
	s.preflight(blocked, id).wantCheck(t, "upstream", "BLOCK", "limit", "then 3", "now 4")
	s.sluice("replay", id).want(blocked)
	s.wantLoaded(nil)
	s.edit("count.hpl", "<limit>4</limit>", "<limit>3</limit>")
	s.edit("count.hpl", "<xloc>100</xloc>", "<xloc>300</xloc>")
	s.sluice("replay", id).want(ready)
	s.wantLoaded(original)
}
