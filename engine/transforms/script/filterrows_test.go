package script_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

func input(fields []batch.Field, rows ...[]any) []transformtest.Input {
	return []transformtest.Input{{Fields: fields, Rows: rows}}
}

func field(name string, t batch.Type) batch.Field { return batch.NewField(name, t) }

const above100 = `<compare><condition><negated>N</negated><leftvalue>n</leftvalue><function>&gt;</function><rightvalue/>
	<value><name>constant</name><type>Integer</type><text>${LIMIT}</text><length>-1</length><precision>0</precision><isnull>N</isnull><mask>####0;-####0</mask></value></condition></compare>`

func TestFilterRows(t *testing.T) {
	rows := [][]any{{5, "a"}, {150, "b"}, {nil, "c"}, {101, "d"}}
	for name, c := range map[string]struct {
		xml  string
		want map[transform.Port][]string
	}{
		"both targets": {above100 + `<send_true_to>yes</send_true_to><send_false_to>no</send_false_to>`, map[transform.Port][]string{"true": {"150|b", "101|d"}, "false": {"5|a", "<null>|c"}}},
		"only true":    {above100 + `<send_true_to>yes</send_true_to><send_false_to/>`, map[transform.Port][]string{"true": {"150|b", "101|d"}}},
		"only false":   {above100 + `<send_false_to>no</send_false_to>`, map[transform.Port][]string{"false": {"5|a", "<null>|c"}}},
		"no targets":   {above100, map[transform.Port][]string{"main": {"150|b", "101|d"}}},
		"no condition": {`<send_false_to>no</send_false_to>`, map[transform.Port][]string{"false": {"5|a", "150|b", "<null>|c", "101|d"}}},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: script.FilterRows, XML: c.xml, Vars: map[string]string{"LIMIT": "100"},
				Inputs: input([]batch.Field{field("n", batch.Integer), field("s", batch.String)}, rows...),
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Rows); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFilterRowsFails(t *testing.T) {
	for name, c := range map[string]struct{ xml, want string }{
		"missing field":    {strings.Replace(above100, "<leftvalue>n<", "<leftvalue>m<", 1), `"m" not found; the input has n`},
		"unknown function": {`<compare><condition><leftvalue>n</leftvalue><function>~~</function></condition></compare>`, `"~~" is not known`},
		"row":              {`<compare><condition><leftvalue>n</leftvalue><function>=</function><value><type>String</type><text>x</text></value></condition></compare>`, "row 1"},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: script.FilterRows, XML: c.xml, Vars: map[string]string{"LIMIT": "100"}, Fixed: true,
				Inputs: input([]batch.Field{field("n", batch.Integer)}, []any{1}),
			})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Fatalf("error %v, want %q in it", out.Err, c.want)
			}
			var e *engine.Error
			if name == "row" && !errors.As(out.Err, &e) {
				t.Errorf("%T is no engine.Error", out.Err)
			}
		})
	}
}

func TestFilterRowsPorts(t *testing.T) {
	s := transformtest.Settings(t, script.FilterRows, `<send_true_to>yes</send_true_to><send_false_to>no</send_false_to>`)
	p := transform.PortsOf(s, transform.Links{})
	want := []transform.OutputPort{
		{ID: "true", Target: "yes", Setting: "send_true_to", Label: "true"},
		{ID: "false", Target: "no", Setting: "send_false_to", Label: "false"},
	}
	if diff := cmp.Diff(want, p.Outputs); diff != "" {
		t.Error(diff)
	}
	problems := 0
	for p := range s.(transform.Checker).Check(transform.Links{Outputs: []string{"YES"}}, &transformtest.Design{}) {
		if p.Setting == "send_false_to" {
			problems++
		}
	}
	if problems != 1 {
		t.Errorf("%d problems about the target that has no hop, want 1", problems)
	}
}
