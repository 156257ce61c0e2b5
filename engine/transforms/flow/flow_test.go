package flow_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/flow"
)

func integers(values ...any) []transformtest.Input {
	in := transformtest.Input{Fields: []batch.Field{batch.NewField("n", batch.Integer)}}
	for _, v := range values {
		in.Rows = append(in.Rows, []any{v})
	}
	return []transformtest.Input{in}
}

func expect(t *testing.T, out *transformtest.Output, port transform.Port, want ...string) {
	t.Helper()
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(want, out.Rows[port]); diff != "" {
		t.Errorf("port %s: %s", port, diff)
	}
}

func fails(t *testing.T, out *transformtest.Output, part string) {
	t.Helper()
	if out.Err == nil || !strings.Contains(out.Err.Error(), part) {
		t.Errorf("error is %v, want %q in it", out.Err, part)
	}
}

func TestAbort(t *testing.T) {
	var stops []transform.StopKind
	env := func(e *transform.Env) {
		stops = nil
		e.Stop = func(k transform.StopKind, _ string) { stops = append(stops, k) }
	}
	run := func(xml string, rows ...any) *transformtest.Output {
		return transformtest.Run(t, transformtest.Case{Definition: flow.Abort, XML: xml, Inputs: integers(rows...), Env: env})
	}
	t.Run("stays quiet up to its threshold", func(t *testing.T) {
		expect(t, run("<row_threshold>2</row_threshold>", 1, 2), transform.Main, "1", "2")
		if stops != nil {
			t.Errorf("stopped: %v", stops)
		}
	})
	t.Run("stops once beyond it", func(t *testing.T) {
		expect(t, run("<row_threshold>1</row_threshold><abort_option>ABORT</abort_option>", 1, 2, 3), transform.Main, "1", "2", "3")
		if diff := cmp.Diff([]transform.StopKind{transform.StopNow}, stops); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("stops safely", func(t *testing.T) {
		run("<abort_option>SAFE_STOP</abort_option>", 1)
		if diff := cmp.Diff([]transform.StopKind{transform.StopSafely}, stops); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("fails with its message", func(t *testing.T) {
		fails(t, run("<abort_option>ABORT_WITH_ERROR</abort_option><message>not allowed</message>", 1), "not allowed")
	})
	t.Run("reads the older flag", func(t *testing.T) {
		fails(t, run("<abort_with_error>Y</abort_with_error><message>old</message>", 1), "old")
	})
	t.Run("refuses a threshold that is no number", func(t *testing.T) {
		fails(t, run("<row_threshold>few</row_threshold>"), "abort threshold")
	})
}

func TestDetectEmptyStream(t *testing.T) {
	c := transformtest.Case{Definition: flow.DetectEmptyStream, Inputs: integers()}
	expect(t, transformtest.Run(t, c), transform.Main, "<null>")
	c.Inputs = integers(1)
	expect(t, transformtest.Run(t, c), transform.Main)
}

func TestBlocking(t *testing.T) {
	for name, c := range map[string]struct {
		xml   string
		limit int64
		want  []string
	}{
		"the last row only":       {"", 1 << 30, []string{"3"}},
		"all rows":                {"<pass_all_rows>Y</pass_all_rows>", 1 << 30, []string{"1", "2", "3"}},
		"all rows, none fits":     {"<pass_all_rows>Y</pass_all_rows>", 0, []string{"1", "2", "3"}},
		"all rows, some fit only": {"<pass_all_rows>Y</pass_all_rows>", 30, []string{"1", "2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, transformtest.Run(t, transformtest.Case{
				Definition: flow.BlockingTransform, XML: c.xml, Inputs: integers(1, 2, 3),
				Env: func(e *transform.Env) { e.Memory = &transformtest.Memory{Limit: c.limit} },
			}), transform.Main, c.want...)
		})
	}
	expect(t, transformtest.Run(t, transformtest.Case{Definition: flow.BlockingTransform, Inputs: integers()}), transform.Main)
}

func TestBlockUntilWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		ended := time.Time{}
		go func() {
			time.Sleep(time.Hour)
			ended = time.Now()
			close(done)
		}()
		out := transformtest.Run(t, transformtest.Case{
			Definition: flow.BlockUntilTransformsFinish, XML: "<transforms><transform><name>other</name><CopyNr>1</CopyNr></transform></transforms>",
			Inputs: integers(1), Fixed: true,
			Env: func(e *transform.Env) {
				e.Finished = func(name string, copy int) <-chan struct{} {
					if name == "other" && copy == 1 {
						return done
					}
					return nil
				}
			},
		})
		expect(t, out, transform.Main, "1")
		if ended.IsZero() {
			t.Error("rows passed before the other transform had ended")
		}
	})
	fails(t, transformtest.Run(t, transformtest.Case{
		Definition: flow.BlockUntilTransformsFinish, XML: "<transforms><transform><name>nobody</name></transform></transforms>", Inputs: integers(1),
	}), "no running copy of transform nobody")
}

func TestDelay(t *testing.T) {
	for name, c := range map[string]struct {
		xml  string
		want time.Duration
	}{
		"seconds":       {"<timeout>2</timeout><scaletime>seconds</scaletime>", 6 * time.Second},
		"unit absent":   {"<timeout>1</timeout>", 3 * time.Second},
		"a variable":    {"<timeout>${T}</timeout><scaletime>milliseconds</scaletime>", 1500 * time.Millisecond},
		"from a field":  {"<timeout_field>n</timeout_field><scaletime>minutes</scaletime>", 6 * time.Minute},
		"nothing given": {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				out := transformtest.Run(t, transformtest.Case{Definition: flow.Delay, XML: c.xml, Inputs: integers(1, 2, 3), Vars: map[string]string{"T": "500"}, Fixed: true})
				expect(t, out, transform.Main, "1", "2", "3")
				if took := time.Since(start); took != c.want {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
	fails(t, transformtest.Run(t, transformtest.Case{Definition: flow.Delay, XML: "<timeout>soon</timeout>", Inputs: integers(1)}), `"soon" is not a number`)
}

func TestResultRowsPassFromOneToTheNext(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{Definition: flow.RowsToResult, Inputs: integers(1, 2), Env: func(e *transform.Env) {
		t.Cleanup(func() {})
	}})
	expect(t, out, transform.Main, "1", "2")

	schema := batch.NewSchema(batch.NewField("n", batch.Integer))
	out = transformtest.Run(t, transformtest.Case{
		Definition: flow.RowsFromResult, XML: "<fields><field><name>declared</name><type>String</type></field></fields>",
		Env: func(e *transform.Env) {
			r := e.Results.(*transformtest.Results)
			r.Before.Rows = []*batch.Batch{transformtest.Batch(e, schema, [][]any{{1}, {2}}), transformtest.Batch(e, schema, [][]any{{3}})}
			e.Design.(*transformtest.Design).Previous = schema
		},
	})
	expect(t, out, transform.Main, "1", "2", "3")
	if got := out.Fields(transform.Main); got != "n Integer" {
		t.Errorf("layout is %q, want that of the rows", got)
	}
}

func TestWriteToLog(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: flow.WriteToLog, XML: "<loglevel>Detailed</loglevel><displayHeader>Y</displayHeader><logmessage>hello ${WHO}</logmessage>",
		Inputs: integers(7, nil), Vars: map[string]string{"WHO": "you"},
	})
	expect(t, out, transform.Main, "7", "<null>")
	for _, want := range []string{"hello you", "n = 7", "n = null", "Linenr 2"} {
		if !strings.Contains(out.Log, want) {
			t.Errorf("log lacks %q:\n%s", want, out.Log)
		}
	}
	out = transformtest.Run(t, transformtest.Case{Definition: flow.WriteToLog, XML: "<limitRows>Y</limitRows><limitRowsNumber>1</limitRowsNumber>", Inputs: integers(7, 8)})
	if strings.Contains(out.Log, "Linenr 2") {
		t.Error("the limit of one row was not kept")
	}
	fails(t, transformtest.Run(t, transformtest.Case{Definition: flow.WriteToLog, XML: "<fields><field><name>x</name></field></fields>", Inputs: integers(1)}), "the input has n")
}

func TestSetVariable(t *testing.T) {
	xml := `<use_formatting>N</use_formatting><fields><field><field_name>n</field_name><variable_name>V</variable_name><variable_type>PARENT_WORKFLOW</variable_type><default_value>none</default_value></field></fields>`
	set := func(rows ...any) (map[transform.Scope]map[string]string, *transformtest.Output) {
		s := &transformtest.Scopes{}
		out := transformtest.Run(t, transformtest.Case{Definition: flow.SetVariable, XML: xml, Inputs: integers(rows...), Env: func(e *transform.Env) { s = &transformtest.Scopes{}; e.Scopes = s }})
		return s.Set, out
	}
	got, out := set(42)
	expect(t, out, transform.Main, "42")
	if diff := cmp.Diff(map[transform.Scope]map[string]string{transform.ScopeParent: {"V": "42"}}, got); diff != "" {
		t.Error(diff)
	}
	if got, _ = set(); got[transform.ScopeParent]["V"] != "none" {
		t.Errorf("without rows the default is not set: %v", got)
	}
	if got, _ = set(nil); got[transform.ScopeParent]["V"] != "" {
		t.Errorf("null is not empty: %v", got)
	}
	_, out = set(1, 2)
	fails(t, out, "only one row can set variables")
}

// child answers for a pipeline that is run.
type child struct {
	calls []transform.Child
	rows  []string
}

func (c *child) RunPipeline(_ context.Context, run transform.Child) (transform.Result, error) {
	for _, b := range run.Rows {
		for i := range b.All() {
			c.rows = append(c.rows, string(rune('0'+b.Cols[0].Int(i))))
		}
	}
	c.rows = append(c.rows, ";")
	run.Rows = nil
	c.calls = append(c.calls, run)
	return transform.Result{OK: len(c.calls) != 2, Errors: 1, Written: 5}, nil
}

func (c *child) RunWorkflow(context.Context, transform.Child) (transform.Result, error) {
	return transform.Result{}, nil
}

func TestPipelineExecutorGroups(t *testing.T) {
	for name, c := range map[string]struct{ xml, want string }{
		"every row":   {"", "1;1;2;2;3;"},
		"every two":   {"<group_size>2</group_size>", "11;22;3;"},
		"all at once": {"<group_size/>", "11223;"},
		"by field":    {"<group_size/><group_field>n</group_field>", "11;22;3;"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &child{}
			out := transformtest.Run(t, transformtest.Case{
				Definition: flow.PipelineExecutor, Inputs: integers(1, 1, 2, 2, 3),
				XML: "<filename>${DIR}/x.hpl</filename>" + c.xml + "<execution_result_target_transform>report</execution_result_target_transform>" +
					"<execution_time_field/><executors_output_transform>in</executors_output_transform>" +
					"<parameters><variable_mapping><variable>P</variable><field>n</field><input/></variable_mapping><variable_mapping><variable>Q</variable><field/><input>fixed</input></variable_mapping></parameters>",
				Vars: map[string]string{"DIR": "/d"}, Outputs: []string{"report", "in"},
				Env: func(e *transform.Env) { k = &child{}; e.Children = k },
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if got := strings.Join(k.rows, ""); got != c.want {
				t.Errorf("runs %q, want %q", got, c.want)
			}
			if k.calls[0].File != "/d/x.hpl" || k.calls[0].Variables["Q"] != "fixed" || k.calls[0].Variables["P"] == "" {
				t.Errorf("call %+v", k.calls[0])
			}
			if diff := cmp.Diff([]string{"1", "1", "2", "2", "3"}, out.Rows["input rows"]); diff != "" {
				t.Error(diff)
			}
			if n := strings.Count(c.want, ";"); len(out.Rows["execution results"]) != n {
				t.Errorf("%d reports, want %d", len(out.Rows["execution results"]), n)
			}
		})
	}
	fails(t, transformtest.Run(t, transformtest.Case{Definition: flow.PipelineExecutor, Inputs: integers(1), Env: func(e *transform.Env) { e.Children = &child{} }}), "no pipeline is named")
}

func TestSuiteSettingsDecode(t *testing.T) {
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "hop-suite")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.hpl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pipelines under %s (set SLUICE_HOP_SUITE): %v", root, err)
	}
	registry := transform.NewRegistry(flow.Transforms)
	seen := 0
	for _, f := range files {
		d, err := hopxml.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Pipeline()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Transforms {
			def, ok := registry.Find(n.Type)
			if !ok {
				continue
			}
			seen++
			if _, problems := def.Decode(n.Element); len(problems) > 0 {
				t.Errorf("%s: %s: %v", f, n.Name, problems)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d transforms of this family found", seen)
	}
}
