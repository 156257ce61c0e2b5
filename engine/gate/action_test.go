package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/actions"
	"sluice/engine/files"
	"sluice/engine/gate"
	"sluice/engine/hopxml"
	"sluice/engine/pipeline"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms"
	"sluice/engine/workflow"
	"sluice/storage"
)

const rowsChild = `<pipeline><info><name>child</name></info><order><hop><from>rows</from><to>result</to><enabled>Y</enabled></hop></order>
<transform><name>rows</name><type>RowGenerator</type><limit>5</limit><fields><field><name>a</name><type>String</type><nullif>x</nullif></field></fields></transform>
<transform><name>result</name><type>RowsToResult</type></transform></pipeline>`

// actionsText runs a variable, a file and a child pipeline, one after the other.
// The gate is at the last one, which hands all of that on.
const actionsText = `<workflow><name>w</name><actions>
<action><name>Start</name><type>SPECIAL</type></action>
<action><name>file</name><type>CREATE_FILE</type><filename>${DIR}/made.txt</filename><add_filename_result>Y</add_filename_result></action>
<action><name>load</name><type>PIPELINE</type><filename>${DIR}/child.hpl</filename><run_configuration>local</run_configuration><wait_until_finished>Y</wait_until_finished></action>
<action><name>set</name><type>SET_VARIABLES</type><replacevars>Y</replacevars><fields><field><variable_name>DAY</variable_name><variable_value>monday</variable_value><variable_type>CURRENT_WORKFLOW</variable_type></field><field><variable_name>MY_TOKEN</variable_name><variable_value>hush hush</variable_value><variable_type>CURRENT_WORKFLOW</variable_type></field></fields></action>
</actions><hops>
<hop><from>Start</from><to>file</to><enabled>Y</enabled><evaluation>Y</evaluation><unconditional>Y</unconditional></hop>
<hop><from>file</from><to>load</to><enabled>Y</enabled><evaluation>Y</evaluation><unconditional>N</unconditional></hop>
<hop><from>load</from><to>set</to><enabled>Y</enabled><evaluation>Y</evaluation><unconditional>N</unconditional></hop>
</hops></workflow>`

// marked gives the workflow with gates at the named actions.
func (w *world) marked(settings map[string]string, names ...string) string {
	w.t.Helper()
	w.file("child.hpl", rowsChild)
	d, err := hopxml.Parse("w.hwf", []byte(actionsText))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, n := range names {
		if d, err = d.Apply(gate.Mark(n, settings, nil)); err != nil {
			w.t.Fatal(err)
		}
	}
	return w.file("w.hwf", string(d.Bytes()))
}

func (w *world) runWorkflow(file string, s *gate.Session) (transform.Result, error) {
	w.t.Helper()
	w.scope.Set("DIR", w.dir)
	r := &workflow.Runner{Actions: actions.Registry(), Pipelines: &pipeline.Runner{
		Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Files: files.Local{}, Alloc: w.alloc, Now: time.Now, Location: time.UTC,
	}}
	r.Hooks.Succeeded = s.SealAction
	r.Connect()
	e, err := r.Prepare(workflow.Run{File: file, Scope: w.scope})
	if err != nil {
		w.t.Fatal(err)
	}
	result, err := e.Run(w.t.Context())
	for _, b := range result.Rows {
		b.Release()
	}
	return result, err
}

func TestAnActionIsSealedAndReadBack(t *testing.T) {
	w := newWorld(t, &storage.Memory{})
	file := w.marked(nil, "set", "load")
	s := w.session(gate.SessionOptions{})
	if r, err := w.runWorkflow(file, s); err != nil || !r.OK {
		t.Fatalf("success %v, %v, %s", r.OK, err, r.LogText)
	}
	outcomes := s.Outcomes()
	if len(outcomes) != 2 || outcomes[0].Node != "load" || outcomes[0].Rows != 5 || outcomes[1].State != storage.SnapshotSealed {
		t.Fatalf("outcomes %+v", outcomes)
	}
	d, err := hopxml.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	a, checks, err := s.JudgeAction(t.Context(), d, gate.Start{Node: "set", Snapshot: outcomes[1].Snapshot, Digest: outcomes[1].Digest}, w.scope, time.Now())
	if err != nil || a == nil {
		t.Fatalf("%v, checks %v", err, checks)
	}
	if !a.OK || a.Variables["DAY"] != "monday" || len(a.Variables) != 1 || len(a.Secrets) != 1 || a.Secrets[0] != "MY_TOKEN" {
		t.Errorf("result %+v, variables %v", a.ActionResult, a.Variables)
	}
	if len(a.ResultFiles) != 1 || a.ResultFiles[0].SHA256 == "" || filepath.Base(a.ResultFiles[0].Path) != "made.txt" {
		t.Errorf("files %+v", a.ResultFiles)
	}
	rows, err := a.ReadRows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range rows {
		n += b.Rows()
		if b.Cols[0].Str(0) != "x" {
			t.Errorf("row %q", b.Cols[0].Str(0))
		}
		b.Release()
	}
	if n != 5 {
		t.Errorf("%d rows came back", n)
	}
	for _, c := range checks {
		if c.Status != gate.OK {
			t.Errorf("check %v", c)
		}
	}
	_, checks, err = s.JudgeAction(t.Context(), d, gate.Start{Node: "set", Snapshot: outcomes[1].Snapshot, Digest: strings.Repeat("0", 64)}, w.scope, time.Now())
	if err != nil || !blocks(checks, gate.CheckManifest) {
		t.Errorf("another digest: %v, %v", checks, err)
	}
}

func blocks(checks []gate.Check, id string) bool {
	for _, c := range checks {
		if c.ID == id && c.Status == gate.Block {
			return true
		}
	}
	return false
}

func TestAnActionThatBreaksItsContractFails(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"too few rows":  {"min-rows": "6"},
		"no such field": {"require": "b"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &storage.Memory{})
			s := w.session(gate.SessionOptions{})
			r, err := w.runWorkflow(w.marked(settings, "load"), s)
			if err != nil || r.OK {
				t.Errorf("success %v, %v", r.OK, err)
			}
			for _, o := range s.Outcomes() {
				if o.State == storage.SnapshotSealed {
					t.Errorf("sealed %+v", o)
				}
			}
		})
	}
}

func TestAResultFileThatIsGoneIsNotSealed(t *testing.T) {
	w := newWorld(t, &storage.Memory{})
	w.file("child.hpl", strings.Replace(rowsChild, "<limit>5</limit>", "<limit>0</limit>", 1))
	d, err := hopxml.Parse("w.hwf", []byte(actionsText))
	if err != nil {
		t.Fatal(err)
	}
	if d, err = d.Apply(gate.Mark("set", nil, nil)); err != nil {
		t.Fatal(err)
	}
	s := w.session(gate.SessionOptions{})
	w.scope.Set("DIR", w.dir)
	r := &workflow.Runner{Actions: actions.Registry(), Pipelines: &pipeline.Runner{
		Registry: transforms.Registry(), Metadata: project.OpenMetadata(), Files: files.Local{}, Alloc: w.alloc, Now: time.Now, Location: time.UTC,
	}}
	r.Hooks.Succeeded = s.SealAction
	r.Hooks.Started = func(run *workflow.ActionRun) {
		if run.Action == "set" {
			_ = os.Remove(filepath.Join(w.dir, "made.txt")) // it was there a moment ago
		}
	}
	e, err := r.Prepare(workflow.Run{File: w.file("w.hwf", string(d.Bytes())), Scope: w.scope})
	if err != nil {
		t.Fatal(err)
	}
	result, err := e.Run(t.Context())
	for _, b := range result.Rows {
		b.Release()
	}
	if err != nil || result.OK || !strings.Contains(result.LogText, "made.txt") {
		t.Errorf("success %v, %v, log %q", result.OK, err, result.LogText)
	}
}
