package rows_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
)

// example is one run of one transform.
type example struct {
	xml    string
	fields []batch.Field
	rows   [][]any
	vars   map[string]string
	want   []string
	layout string // "name Type, …"; not checked when empty
	err    string // part of the error; no error when empty
}

func (e example) input() transformtest.Input {
	return transformtest.Input{Fields: e.fields, Rows: e.rows}
}

func runExamples(t *testing.T, d transform.Definition, examples map[string]example) {
	t.Helper()
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: d, XML: e.xml, Inputs: []transformtest.Input{e.input()}, Vars: e.vars})
			checkExample(t, out, e)
		})
	}
}

func checkExample(t *testing.T, out *transformtest.Output, e example) {
	t.Helper()
	if e.err != "" {
		if out.Err == nil || !strings.Contains(out.Err.Error(), e.err) {
			t.Fatalf("error is %v, want one with %q", out.Err, e.err)
		}
		return
	}
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(e.want, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields(transform.Main); e.layout != "" && got != e.layout {
		t.Errorf("fields are %q, want %q", got, e.layout)
	}
}

func text(name string) batch.Field    { return batch.NewField(name, batch.String) }
func integer(name string) batch.Field { return batch.NewField(name, batch.Integer) }
func number(name string) batch.Field  { return batch.NewField(name, batch.Number) }

func typed(name string, t batch.Type, mask string) batch.Field {
	f := batch.NewField(name, t)
	f.Mask = mask
	return f
}
