package scenario_test

import (
	"os"
	"strings"
	"testing"
)

// keptSide is a load whose gate feeds a side branch, too, that came to its end long
// before the load failed.
func (s *shop) keptSide(hops string, side ...string) string {
	s.t.Helper()
	wait := transformOf("wait", "Delay", "    <timeout>60</timeout>\n    <scaletime>milliseconds</scaletime>")
	s.write("load.hpl", pipelineOf("load", "orders>keep keep>wait wait>target "+hops, append([]string{orders, keep, wait, target}, side...)...))
	s.sluice("gate", "mark", s.path("load.hpl"), "--transform", "orders").want(ready)
	s.warehouseUp()
	s.sql("warehouse/target.db", "CREATE TRIGGER bad BEFORE INSERT ON loaded WHEN new.id = 1 BEGIN SELECT RAISE(ABORT, 'no'); END")
	return s.path("night.hwf")
}

// TestWhatAFinishedBranchGaveToTheWorkflow: the load failed, but a branch beside it
// had come to its end and had set a variable, or given rows or files to what
// follows. They are there in the replay as well.
func TestWhatAFinishedBranchGaveToTheWorkflow(t *testing.T) {
	t.Run("a variable", func(t *testing.T) {
		s := newShop(t)
		file := s.keptSide("orders>one one>set", transformOf("one", "SampleRows", "    <linesrange>1</linesrange>"),
			transformOf("set", "SetVariable", "    <use_formatting>N</use_formatting>\n    <fields>\n      <field>\n        <field_name>status</field_name>\n        <variable_name>SEEN</variable_name>\n        <variable_type>ROOT_WORKFLOW</variable_type>\n        <default_value/>\n      </field>\n    </fields>"))
		s.write("night.hwf", workflowOf("Start>load load+end", runs("load", "load.hpl"), writes("end", "end.txt", "seen ${SEEN}")))
		id := s.fails(file)
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TRIGGER bad")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); got != "seen open" {
			t.Errorf("end.txt says %q", got)
		}
	})
	t.Run("rows", func(t *testing.T) {
		s := newShop(t)
		file := s.keptSide("orders>result", transformOf("result", "RowsToResult", ""))
		s.write("night.hwf", workflowOf("Start>load load+count count+end", runs("load", "load.hpl"),
			asserts("count", `parent_workflow.setVariable("ROWS", String(previous_result.getRows().size())); true;`), writes("end", "end.txt", "${ROWS} rows")))
		id := s.fails(file)
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TRIGGER bad")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); got != "6 rows" {
			t.Errorf("end.txt says %q", got)
		}
	})
	t.Run("a file", func(t *testing.T) {
		s := newShop(t)
		file := s.keptSide("orders>out", transformOf("out", "TextFileOutput", "    <file>\n      <name>${PROJECT_HOME}/side</name>\n      <extention>csv</extention>\n      <add_to_result_filenames>Y</add_to_result_filenames>\n    </file>\n    <create_parent_folder>N</create_parent_folder>\n    <add_to_result_filenames>Y</add_to_result_filenames>\n    <format>UNIX</format>"))
		s.write("night.hwf", workflowOf("Start>load load+count count+end", runs("load", "load.hpl"),
			asserts("count", `var l = previous_result.getResultFilesList(); parent_workflow.setVariable("FILES", l.size() + " " + (l.size() > 0 ? l.get(0).getFile() : "")); true;`), writes("end", "end.txt", "${FILES}")))
		id := s.fails(file)
		before, err := os.Stat(s.path("side.csv"))
		if err != nil {
			t.Fatal(err)
		}
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TRIGGER bad")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); !strings.HasPrefix(got, "1 ") || !strings.HasSuffix(got, "side.csv") {
			t.Errorf("end.txt says %q", got)
		}
		if after, err := os.Stat(s.path("side.csv")); err != nil || after.Size() != before.Size() {
			t.Errorf("the file is %v, %v", after, err)
		}
	})
	t.Run("a variable from beside the gate", func(t *testing.T) {
		s := newShop(t)
		file := s.keptSide("count>set", transformOf("count", "TableInput", "    <connection>source</connection>\n    <sql>SELECT count(*) AS n FROM orders</sql>\n    <limit>0</limit>"),
			transformOf("set", "SetVariable", "    <use_formatting>N</use_formatting>\n    <fields>\n      <field>\n        <field_name>n</field_name>\n        <variable_name>COUNTED</variable_name>\n        <variable_type>ROOT_WORKFLOW</variable_type>\n        <default_value/>\n      </field>\n    </fields>"))
		s.write("night.hwf", workflowOf("Start>load load+end", runs("load", "load.hpl"), writes("end", "end.txt", "of ${COUNTED}")))
		id := s.fails(file)
		s.sourceGone()
		s.sql("warehouse/target.db", "DROP TRIGGER bad")
		s.preflight(ready, id).wantSteps(t, "orders=REUSE", "count=SKIP", "set=SKIP", "target=RUN")
		s.sluice("replay", id).want(ready)
		s.wantLoaded(original)
		if got := s.text("end.txt"); got != "of 10" {
			t.Errorf("end.txt says %q", got)
		}
	})
}
