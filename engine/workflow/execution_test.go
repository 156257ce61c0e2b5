package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sluice/engine/pipeline"
	"sluice/engine/workflow"
)

const start = "<action><name>Start</name><type>SPECIAL</type></action>"

func TestHops(t *testing.T) {
	fails := func(name string) string { return node(name, "PROBE", "fail_first=1000000", "kind=other") }
	falses := func(name string) string { return node(name, "PROBE", "fail_first=1000000", "kind=false") }
	works := func(name string) string { return node(name, "PROBE") }
	cases := map[string]struct {
		nodes []string
		hops  []string
		order string
		ok    bool
		edit  func(string) string
	}{
		"depth first, in file order": {
			nodes: []string{start, works("a"), works("b"), works("c"), works("d")},
			hops:  []string{"Start>a", "a>b", "a>d", "b>c"},
			order: "Start a b c d", ok: true,
		},
		"a target of two paths runs twice": {
			nodes: []string{start, works("a"), works("b"), works("c")},
			hops:  []string{"Start>a", "Start>b", "a+c", "b+c"},
			order: "Start a c b c", ok: true,
		},
		"success and failure hops": {
			nodes: []string{start, fails("a"), works("yes"), works("no")},
			hops:  []string{"Start>a", "a+yes", "a-no"},
			order: "Start a no", ok: true,
		},
		"a failure without a hop is the workflow's": {
			nodes: []string{start, fails("a"), works("yes")},
			hops:  []string{"Start>a", "a+yes"},
			order: "Start a", ok: false,
		},
		"a false outcome without errors fails too": {
			nodes: []string{start, falses("a")},
			hops:  []string{"Start>a"},
			order: "Start a", ok: false,
		},
		"an action that keeps errors does not save the workflow": {
			nodes: []string{start, fails("a"), node("log", "WRITE_TO_LOG")},
			hops:  []string{"Start>a", "a-log"},
			order: "Start a log", ok: false,
		},
		"Success after it does": {
			nodes: []string{start, fails("a"), node("log", "WRITE_TO_LOG"), node("good", "SUCCESS")},
			hops:  []string{"Start>a", "a-log", "log+good"},
			order: "Start a log good", ok: true,
		},
		"the last hop followed decides": {
			nodes: []string{start, works("a"), fails("b"), works("c")},
			hops:  []string{"Start>a", "a>b", "a>c"},
			order: "Start a b c", ok: true,
		},
		"conditional hops out of Dummy are never followed": {
			nodes: []string{start, node("d", "DUMMY"), works("a"), works("b")},
			hops:  []string{"Start>d", "d+a", "d-a", "d>b"},
			order: "Start d b", ok: true,
		},
		"Abort ends the workflow": {
			nodes: []string{start, works("a"), node("stop", "ABORT"), works("b")},
			hops:  []string{"Start>a", "a>stop", "stop>b", "a>b", "Start>b"},
			order: "Start a stop", ok: false,
		},
		"a panic is a failed action": {
			nodes: []string{start, node("a", "PROBE", "fail_first=1", "kind=panic"), works("b")},
			hops:  []string{"Start>a", "a-b"},
			order: "Start a b", ok: true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			r, _, err := b.run(document(c.nodes, c.hops...))
			if err != nil {
				t.Fatal(err)
			}
			if b.order() != c.order || r.OK != c.ok {
				t.Errorf("ran %q, success %v; want %q, %v", b.order(), r.OK, c.order, c.ok)
			}
		})
	}
}

func TestLoopOfTenThousandTurns(t *testing.T) {
	b := newBench(t)
	doc := document([]string{start, node("turn", "PROBE", "below=10000", "rows=3"), node("back", "DUMMY"), node("done", "SUCCESS")},
		"Start>turn", "turn+back", "back>turn", "turn-done")
	r, _, err := b.run(doc)
	if err != nil || !r.OK {
		t.Fatalf("result %+v, %v", r.OK, err)
	}
	if want := 1 + 2*10000; len(b.runs) != want {
		t.Errorf("%d actions ran, want %d", len(b.runs), want)
	}
}

func TestParallel(t *testing.T) {
	nodes := []string{
		start,
		node("fork", "PROBE", "parallel=Y", "rows=1", "read=1"),
		node("a", "PROBE", "rows=2", "file=a.txt", "read=10"),
		node("b", "PROBE", "rows=3", "file=b.txt", "read=100"),
		node("meet", "JOIN"),
		node("after", "DUMMY"),
	}
	t.Run("results are added up", func(t *testing.T) {
		b := newBench(t)
		r, rows, err := b.run(document(nodes, "Start>fork", "fork+a", "fork+b"))
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK || r.Read != 111 || rows != 6 || len(r.ResultFiles) != 2 {
			t.Errorf("success %v, %d read, %d rows, %d files; want true, 111, 6, 2", r.OK, r.Read, rows, len(r.ResultFiles))
		}
	})
	t.Run("a join runs once, after all branches", func(t *testing.T) {
		b := newBench(t)
		r, rows, err := b.run(document(nodes, "Start>fork", "fork+a", "fork+b", "a+meet", "b+meet", "meet>after"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.order(), " meet after") || strings.Count(b.order(), "meet") != 1 || rows != 6 || !r.OK {
			t.Errorf("ran %q with %d rows, success %v", b.order(), rows, r.OK)
		}
	})
	t.Run("a join of an outer section waits for it", func(t *testing.T) {
		b := newBench(t)
		doc := document([]string{
			start, node("fork", "PROBE", "parallel=Y"), node("inner", "PROBE", "parallel=Y"), node("a", "PROBE"), node("b", "PROBE"),
			node("c", "PROBE"), node("meet", "JOIN"),
		}, "Start>fork", "fork>inner", "fork>c", "inner>a", "inner>b", "a>meet", "b>meet", "c>meet")
		if _, _, err := b.run(doc); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.order(), " meet") || strings.Count(b.order(), "meet") != 1 {
			t.Errorf("ran %q", b.order())
		}
	})
	t.Run("a failed branch fails the section", func(t *testing.T) {
		b := newBench(t)
		doc := document([]string{
			start, node("fork", "DUMMY", "parallel=Y"), node("a", "PROBE"), node("b", "PROBE", "fail_first=9", "kind=other"),
			node("meet", "JOIN"), node("no", "WRITE_TO_LOG"),
		}, "Start>fork", "fork>a", "fork>b", "a>meet", "b>meet", "meet-no")
		r, _, err := b.run(doc)
		if err != nil {
			t.Fatal(err)
		}
		if r.OK || !strings.HasSuffix(b.order(), " meet no") {
			t.Errorf("ran %q, success %v", b.order(), r.OK)
		}
	})
}

func TestStartAt(t *testing.T) {
	b := newBench(t)
	doc := document([]string{start, node("a", "PROBE"), node("b", "PROBE")}, "Start>a", "a>b")
	r, _, err := b.run(doc, func(r *workflow.Run) { r.StartAt = "B" })
	if err != nil || !r.OK || b.order() != "b" {
		t.Errorf("ran %q, success %v, %v", b.order(), r.OK, err)
	}
	_, err = b.runner.Prepare(workflow.Run{File: filepath.Join(b.dir, "test.hwf"), Scope: b.scope, StartAt: "zzz"})
	if err == nil || !strings.Contains(err.Error(), `no action "zzz"`) {
		t.Errorf("an unknown action to start at gave %v", err)
	}
}

func TestUnusable(t *testing.T) {
	cases := map[string]struct{ doc, want string }{
		"unsupported actions, all of them": {
			document([]string{start, node("x", "FTP_PUT"), node("y", "DBT")}, "Start>x", "x>y"),
			`action "x" (type FTP_PUT) is not supported yet; action "y" (type DBT) is not supported yet`,
		},
		"no start":  {document([]string{node("a", "PROBE")}), "no Start action"},
		"bad retry": {document([]string{start, node("a", "PROBE", retry("count=many"))}, "Start>a"), `action "a": retry: count "many"`},
		"unknown key": {
			document([]string{start, node("a", "PROBE", retry("tries=3"))}, "Start>a"), `key "tries" of attributes group sluice-retry`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			_, err := b.runner.Prepare(workflow.Run{File: b.write("test.hwf", c.doc), Scope: b.scope})
			var unusable *pipeline.UnusableError
			if !errors.As(err, &unusable) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("an unsupported action without a hop does not matter", func(t *testing.T) {
		b := newBench(t)
		if r, _, err := b.run(document([]string{start, node("x", "FTP_PUT")})); err != nil || !r.OK {
			t.Errorf("result %v, %v", r.OK, err)
		}
	})
}

func TestRetry(t *testing.T) {
	cases := map[string]struct {
		settings []string
		tries    int
		wait     time.Duration
		ok       bool
	}{
		"connection, delays grow": {
			[]string{"fail_first=3", "kind=refused", retry("count=3", "delay=2", "factor=3")}, 4, (2 + 6 + 18) * time.Second, true,
		},
		"the longest delay":                 {[]string{"fail_first=3", "kind=refused", retry("count=3", "delay=2s", "factor=3", "max_delay=4s")}, 4, (2 + 4 + 4) * time.Second, true},
		"too few":                           {[]string{"fail_first=3", "kind=refused", retry("count=2", "delay=1", "factor=1")}, 3, 2 * time.Second, false},
		"Retry-After is obeyed":             {[]string{"fail_first=1", "kind=429", retry("count=1", "delay=1")}, 2, time.Minute, true},
		"never 401":                         {[]string{"fail_first=1", "kind=401", retry("count=5", "on=any")}, 1, 0, false},
		"not another failure":               {[]string{"fail_first=1", "kind=other", retry("count=5")}, 1, 0, false},
		"any failure":                       {[]string{"fail_first=1", "kind=other", retry("count=5", "on=any", "delay=1")}, 2, time.Second, true},
		"an outcome is tried again for any": {[]string{"fail_first=1", "kind=false", retry("count=1", "on=any", "delay=1")}, 2, time.Second, true},
		"an outcome is not a connection":    {[]string{"fail_first=1", "kind=false", retry("count=1")}, 1, 0, false},
		"variables":                         {[]string{"fail_first=1", "kind=refused", retry("count=${TRIES}", "delay=1")}, 2, time.Second, true},
		"rows of a failed try are let go":   {[]string{"fail_first=1", "kind=refused", "rows=2", retry("count=1", "delay=1")}, 2, time.Second, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.scope.Set("TRIES", "1")
				began := time.Now()
				r, _, err := b.run(document([]string{start, node("a", "PROBE", c.settings...)}, "Start>a"))
				if err != nil {
					t.Fatal(err)
				}
				tries := strings.Count(b.order(), "a") - strings.Count(b.order(), "Start")
				if tries != c.tries || time.Since(began) != c.wait || r.OK != c.ok {
					t.Errorf("%d tries in %v, success %v; want %d in %v, %v", tries, time.Since(began), r.OK, c.tries, c.wait, c.ok)
				}
			})
		})
	}
}

func TestStop(t *testing.T) {
	doc := document([]string{start, node("wait", "DELAY", "maximumTimeout=60"), node("after", "PROBE")}, "Start>wait", "wait>after")
	for name, c := range map[string]struct {
		safe bool
		took time.Duration
	}{"at once": {false, time.Second}, "after the action": {true, time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				e := b.prepare(doc)
				began := time.Now()
				time.AfterFunc(time.Second, func() { e.Stop(c.safe) })
				r, err := e.Run(t.Context())
				if !errors.Is(err, pipeline.ErrStopped) || !r.Stopped || r.OK {
					t.Errorf("result %+v, %v", r, err)
				}
				if b.order() != "Start wait" || time.Since(began) != c.took {
					t.Errorf("ran %q in %v, want %v", b.order(), time.Since(began), c.took)
				}
			})
		})
	}
	t.Run("a cancelled context is the error", func(t *testing.T) {
		b := newBench(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("pulled the plug")
		cancel(cause)
		if r, err := b.prepare(doc).Run(ctx); !errors.Is(err, cause) || r.OK {
			t.Errorf("result %v, %v", r.OK, err)
		}
	})
}

func TestChildWorkflows(t *testing.T) {
	t.Run("an abort in a child is a failed action of its parent", func(t *testing.T) {
		b := newBench(t)
		child := b.write("child.hwf", document([]string{start, node("stop", "ABORT")}, "Start>stop"))
		r, _, err := b.run(document([]string{start, node("child", "WORKFLOW", "filename="+child, "run_configuration=local", "wait_until_finished=Y"), node("no", "SUCCESS")},
			"Start>child", "child-no"))
		if err != nil || !r.OK || b.order() != "Start child Start stop no" {
			t.Errorf("ran %q, success %v, %v", b.order(), r.OK, err)
		}
	})
	t.Run("a workflow that runs itself is refused", func(t *testing.T) {
		b := newBench(t)
		r, _, err := b.run(document([]string{start, node("again", "WORKFLOW", "filename=${DIR}/test.hwf", "run_configuration=local", "wait_until_finished=Y")}, "Start>again"))
		if err != nil || r.OK || !strings.Contains(r.LogText, "runs itself") {
			t.Errorf("success %v, %v, log %q", r.OK, err, r.LogText)
		}
	})
	t.Run("parameters, variables and scopes", func(t *testing.T) {
		b := newBench(t)
		child := b.write("child.hwf", document([]string{
			start,
			node("set", "SET_VARIABLES", "replacevars=Y", "<fields><field><variable_name>UP</variable_name><variable_value>${P}/${V}</variable_value><variable_type>PARENT_WORKFLOW</variable_type></field>"+
				"<field><variable_name>HERE</variable_name><variable_value>x</variable_value><variable_type>CURRENT_WORKFLOW</variable_type></field></fields>"),
		}, "Start>set"))
		b.scope.Set("V", "seen")
		e := b.prepare(document([]string{
			start,
			node("child", "WORKFLOW", "filename="+child, "run_configuration=local", "wait_until_finished=Y", "<parameters><parameter><name>P</name><value>given ${V}</value></parameter></parameters>"),
		}, "Start>child"))
		if r, err := e.Run(t.Context()); err != nil || !r.OK {
			t.Fatalf("success %v, %v, log %s", r.OK, err, r.LogText)
		}
		up, _ := e.Scope().Get("UP")
		if _, here := e.Scope().Get("HERE"); up != "given seen/seen" || here {
			t.Errorf("UP is %q, HERE set %v", up, here)
		}
	})
	t.Run("no parent to set a variable in", func(t *testing.T) {
		b := newBench(t)
		r, _, err := b.run(document([]string{start, node("set", "SET_VARIABLES", "<fields><field><variable_name>A</variable_name><variable_value>1</variable_value><variable_type>PARENT_WORKFLOW</variable_type></field></fields>")}, "Start>set"))
		if err != nil || r.OK || r.Errors != 1 {
			t.Errorf("success %v with %d errors, %v", r.OK, r.Errors, err)
		}
	})
	t.Run("a child that nobody waits for is waited for at the end", func(t *testing.T) {
		b := newBench(t)
		child := b.write("child.hwf", document([]string{start, node("make", "CREATE_FILE", "filename=${DIR}/made")}, "Start>make"))
		r, _, err := b.run(document([]string{start, node("child", "WORKFLOW", "filename="+child, "run_configuration=local", "wait_until_finished=N")}, "Start>child"))
		if err != nil || !r.OK {
			t.Fatalf("success %v, %v", r.OK, err)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "made")); err != nil {
			t.Error(err)
		}
	})
	t.Run("End Repeat ends the loop", func(t *testing.T) {
		b := newBench(t)
		child := b.write("child.hwf", document([]string{
			start, node("count", "EVAL", `script=var n = parseInt(parent_workflow.getVariable("N", "0")) + 1; parent_workflow.setVariable("N", String(n)); n &gt;= 3`), node("end", "EndRepeat"), node("go on", "SUCCESS"),
		}, "Start>count", "count+end", "count-go on"))
		r, _, err := b.run(document([]string{start, node("loop", "Repeat", "filename="+child, "keep_values=Y")}, "Start>loop"))
		if err != nil || !r.OK || strings.Count(b.order(), "count") != 3 {
			t.Errorf("ran %q, success %v, %v, log %s", b.order(), r.OK, err, r.LogText)
		}
	})
}

// pipelineOf writes a pipeline of transforms in a chain.
func pipelineOf(transforms ...string) string {
	var b strings.Builder
	b.WriteString("<pipeline><info><name>p</name><parameters><parameter><name>WHO</name></parameter></parameters></info><order>")
	for i := range len(transforms) - 1 {
		fmt.Fprintf(&b, "<hop><from>t%d</from><to>t%d</to><enabled>Y</enabled></hop>", i, i+1)
	}
	b.WriteString("</order>")
	for i, t := range transforms {
		fmt.Fprintf(&b, "<transform><name>t%d</name>%s<distribute>Y</distribute><copies>1</copies></transform>", i, t)
	}
	return b.String() + "</pipeline>"
}

const passRows = "<type>RowsToResult</type>"

func TestChildPipelines(t *testing.T) {
	take := "<type>RowsFromResult</type><fields><field><name>who</name><type>String</type></field></fields>"
	set := "<type>SetVariable</type><fields><field><field_name>who</field_name><variable_name>LAST</variable_name><variable_type>PARENT_WORKFLOW</variable_type></field></fields>"
	child := func(file string, settings ...string) string {
		return node("child", "PIPELINE", append([]string{"filename=" + file, "run_configuration=local", "wait_until_finished=Y"}, settings...)...)
	}
	t.Run("rows go in and out", func(t *testing.T) {
		b := newBench(t)
		file := b.write("p.hpl", pipelineOf(take, passRows))
		r, rows, err := b.run(document([]string{start, node("rows", "PROBE", "rows=3"), child(file)}, "Start>rows", "rows+child"))
		if err != nil || !r.OK || rows != 3 {
			t.Errorf("success %v, %d rows, %v, log %s", r.OK, rows, err, r.LogText)
		}
	})
	t.Run("rows are cleared before", func(t *testing.T) {
		b := newBench(t)
		file := b.write("p.hpl", pipelineOf("<type>Dummy</type>"))
		r, rows, err := b.run(document([]string{start, node("rows", "PROBE", "rows=3"), child(file, "clear_rows=Y")}, "Start>rows", "rows+child"))
		if err != nil || !r.OK || rows != 0 {
			t.Errorf("success %v, %d rows, %v, log %s", r.OK, rows, err, r.LogText)
		}
	})
	t.Run("no rows handed on are no rows, too", func(t *testing.T) {
		b := newBench(t)
		file := b.write("p.hpl", pipelineOf("<type>Dummy</type>", passRows))
		_, rows, err := b.run(document([]string{start, node("rows", "PROBE", "rows=3"), child(file)}, "Start>rows", "rows+child"))
		if err != nil || rows != 0 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
	t.Run("once per row, a variable set above", func(t *testing.T) {
		b := newBench(t)
		file := b.write("p.hpl", pipelineOf(take, set, passRows))
		e := b.prepare(document([]string{start, node("rows", "PROBE", "rows=2"), child(file, "exec_per_row=Y")}, "Start>rows", "rows+child"))
		r, err := e.Run(t.Context())
		last, _ := e.Scope().Get("LAST")
		if err != nil || !r.OK || last != "rows" || len(r.Rows) != 1 {
			t.Errorf("success %v, LAST %q, %d batches, %v, log %s", r.OK, last, len(r.Rows), err, r.LogText)
		}
		for _, b := range r.Rows {
			b.Release()
		}
	})
	t.Run("what runs too long is stopped", func(t *testing.T) {
		b := newBench(t)
		file := b.write("c.hwf", document([]string{start, node("wait", "DELAY", "maximumTimeout=60")}, "Start>wait"))
		began := time.Now()
		r, _, err := b.run(document([]string{start, node("child", "WORKFLOW", "filename="+file, "run_configuration=local", "wait_until_finished=Y", "wait_timeout=10")}, "Start>child"))
		if err != nil || r.OK || time.Since(began) > 20*time.Second || !strings.Contains(r.LogText, "did not end within") {
			t.Errorf("success %v, %v, log %s", r.OK, err, r.LogText)
		}
	})
	t.Run("a missing file is a failed action that names it", func(t *testing.T) {
		b := newBench(t)
		r, _, err := b.run(document([]string{start, child("${DIR}/none.hpl")}, "Start>child"))
		if err != nil || r.OK || !strings.Contains(r.LogText, "there is no pipeline file") {
			t.Errorf("success %v, %v, log %s", r.OK, err, r.LogText)
		}
	})
}
