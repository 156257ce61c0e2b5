package script_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

func TestSwitchCase(t *testing.T) {
	cases := func(pairs ...string) string {
		var b strings.Builder
		for i := 0; i < len(pairs); i += 2 {
			b.WriteString("<case><value>" + pairs[i] + "</value><target_transform>" + pairs[i+1] + "</target_transform></case>")
		}
		return "<cases>" + b.String() + "</cases>"
	}
	text := []batch.Field{field("s", batch.String)}
	for name, c := range map[string]struct {
		xml    string
		fields []batch.Field
		rows   [][]any
		want   map[transform.Port][]string
	}{
		"strings, nulls and default": {
			"<fieldname>S</fieldname>" + cases("a", "A", "b", "B", "", "N") + "<default_target_transform>D</default_target_transform>", text,
			[][]any{{"a"}, {"b"}, {nil}, {"x"}, {""}, {"a"}},
			map[transform.Port][]string{"case:1": {"a", "a"}, "case:2": {"b"}, "case:3": {"<null>", ""}, "default": {"x"}},
		},
		"no default drops": {
			"<fieldname>s</fieldname>" + cases("a", "A"), text,
			[][]any{{"a"}, {"x"}, {nil}},
			map[transform.Port][]string{"case:1": {"a"}},
		},
		"nulls without a case": {
			"<fieldname>s</fieldname>" + cases("a", "A") + "<default_target_transform>D</default_target_transform>", text,
			[][]any{{nil}},
			map[transform.Port][]string{"default": {"<null>"}},
		},
		"same value twice": {
			"<fieldname>s</fieldname>" + cases("a", "A", "a", "B", "a", "a"), text,
			[][]any{{"a"}},
			map[transform.Port][]string{"case:1": {"a"}, "case:2": {"a"}},
		},
		"contains": {
			"<fieldname>s</fieldname><use_contains>Y</use_contains>" + cases("a", "A", "b", "B") + "<default_target_transform>D</default_target_transform>", text,
			[][]any{{"abc"}, {"xb"}, {"q"}},
			map[transform.Port][]string{"case:1": {"abc"}, "case:2": {"abc", "xb"}, "default": {"q"}},
		},
		"integers": {
			"<fieldname>i</fieldname><case_value_type>Integer</case_value_type>" + cases("1", "A", "2", "B"),
			[]batch.Field{field("i", batch.Integer)},
			[][]any{{1}, {2}, {3}},
			map[transform.Port][]string{"case:1": {"1"}, "case:2": {"2"}},
		},
		"text as integer": {
			"<fieldname>s</fieldname><case_value_type>Integer</case_value_type><case_value_format>#</case_value_format>" + cases("7", "A"), text,
			[][]any{{"007"}, {"8"}},
			map[transform.Port][]string{"case:1": {"007"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: script.SwitchCase, XML: c.xml, Inputs: input(c.fields, c.rows...)})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Rows); diff != "" {
				t.Error(diff)
			}
		})
	}
	out := transformtest.Run(t, transformtest.Case{Definition: script.SwitchCase, XML: "<fieldname>q</fieldname>", Inputs: input(text)})
	if out.Err == nil || !strings.Contains(out.Err.Error(), `"q" not found`) {
		t.Errorf("error %v", out.Err)
	}
}

const groupFields = `<allowcapturegroups>Y</allowcapturegroups><fields>
	<field><name>name</name><type>String</type><length>-1</length><precision>-1</precision></field>
	<field><name>n</name><type>Integer</type><format>#</format><length>-1</length><precision>-1</precision><ifnull>0</ifnull></field></fields>`

func TestRegexEval(t *testing.T) {
	text := []batch.Field{field("s", batch.String), field("n", batch.Integer)}
	rows := [][]any{{"ab12", 5}, {"AB", 6}, {nil, 7}, {"?", 8}}
	for name, c := range map[string]struct {
		xml, fields string
		want        []string
	}{
		"whole match": {
			`<matcher>s</matcher><script>[a-z]+\d+</script><resultfieldname>ok</resultfieldname>`, "s String, n Integer, ok Boolean",
			[]string{"ab12|5|Y", "AB|6|N", "<null>|7|N", "?|8|N"},
		},
		"flags and variables": {
			`<matcher>s</matcher><script>${P}</script><usevar>Y</usevar><caseinsensitive>Y</caseinsensitive><resultfieldname>ok</resultfieldname>`, "s String, n Integer, ok Boolean",
			[]string{"ab12|5|Y", "AB|6|Y", "<null>|7|N", "?|8|N"},
		},
		"groups": {
			`<matcher>s</matcher><script>([a-zA-Z]+)(\d+)?</script><resultfieldname>ok</resultfieldname>` + groupFields, "s String, n Integer, ok Boolean, name String, n_1 Integer",
			[]string{"ab12|5|Y|ab|12", "AB|6|Y|AB|0", "<null>|7|N|<null>|<null>", "?|8|N|<null>|0"},
		},
		"groups replace": {
			`<matcher>s</matcher><script>([a-zA-Z]+)(\d+)?</script><resultfieldname/><replacefields>Y</replacefields>` + groupFields, "s String, n Integer, name String",
			[]string{"ab12|12|ab", "AB|0|AB", "<null>|<null>|<null>", "?|0|<null>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: script.RegexEval, XML: c.xml, Vars: map[string]string{"P": "ab.*"}, Inputs: input(text, rows...)})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if got := out.Fields("main"); got != c.fields {
				t.Errorf("fields %s, want %s", got, c.fields)
			}
		})
	}
}

func TestRegexEvalErrors(t *testing.T) {
	xml := `<matcher>s</matcher><script>(.)(.*)</script><resultfieldname>ok</resultfieldname>` + groupFields
	in := input([]batch.Field{field("s", batch.String)}, []any{"a1"}, []any{"ax"}, []any{"b2"})
	out := transformtest.Run(t, transformtest.Case{Definition: script.RegexEval, XML: xml, Inputs: in, Error: &transform.ErrorLink{Target: "e", CodeField: "code", FieldField: "f"}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := map[transform.Port][]string{"main": {"a1|Y|a|1", "b2|Y|b|2"}, "error": {"ax|n|REGEX001"}}
	if diff := cmp.Diff(want, out.Rows); diff != "" {
		t.Error(diff)
	}
	for xml, want := range map[string]string{
		`<matcher>q</matcher><script>a</script>`:                 `"q" not found`,
		`<matcher>s</matcher><script>(a</script>`:                "unclosed group",
		`<matcher>s</matcher><script>(a)</script>` + groupFields: "1 capture groups but 2 fields",
	} {
		out := transformtest.Run(t, transformtest.Case{Definition: script.RegexEval, XML: xml, Inputs: in, Fixed: true})
		if out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: error %v", xml, out.Err)
		}
	}
}

func TestJoinRows(t *testing.T) {
	a := transformtest.Input{From: "a", Fields: []batch.Field{field("id", batch.Integer)}, Rows: [][]any{{1}, {2}, {3}}}
	b := transformtest.Input{From: "b", Fields: []batch.Field{field("id", batch.Integer), field("s", batch.String)}, Rows: [][]any{{1, "x"}, {3, "y"}}}
	c := transformtest.Input{From: "c", Fields: []batch.Field{field("c", batch.String)}, Rows: [][]any{{"p"}, {"q"}}}
	none := transformtest.Input{From: "none", Fields: []batch.Field{field("z", batch.String)}}
	const equal = `<compare><condition><negated>N</negated><leftvalue>id</leftvalue><function>=</function><rightvalue>id_1</rightvalue></condition></compare>`
	for name, tc := range map[string]struct {
		xml    string
		inputs []transformtest.Input
		want   []string
	}{
		"condition":     {equal, []transformtest.Input{a, b}, []string{"1|1|x", "3|3|y"}},
		"product":       {"", []transformtest.Input{b, c}, []string{"1|x|p", "1|x|q", "3|y|p", "3|y|q"}},
		"three":         {equal, []transformtest.Input{a, b, c}, []string{"1|1|x|p", "1|1|x|q", "3|3|y|p", "3|3|y|q"}},
		"empty input":   {"", []transformtest.Input{a, none}, nil},
		"one input":     {"", []transformtest.Input{a}, []string{"1", "2", "3"}},
		"lax condition": {strings.Replace(equal, "<leftvalue>id<", "<leftvalue>nope<", 1), []transformtest.Input{a, b}, nil},
	} {
		for _, limit := range []int64{1 << 30, 0} {
			t.Run(name, func(t *testing.T) {
				out := transformtest.Run(t, transformtest.Case{
					Definition: script.JoinRows, XML: tc.xml, Inputs: tc.inputs,
					Env: func(e *transform.Env) { e.Memory = &transformtest.Memory{Limit: limit} },
				})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				if diff := cmp.Diff(tc.want, out.Main()); diff != "" {
					t.Errorf("memory %d: %s", limit, diff)
				}
			})
		}
	}
}

func TestJoinRowsReadsMainLast(t *testing.T) {
	s := transformtest.Settings(t, script.JoinRows, "<main>B</main>").(*script.JoinRowsSettings)
	l := transform.Links{Inputs: []transform.Input{{From: "a", Schema: batch.NewSchema(field("x", batch.Integer))}, {From: "b", Schema: batch.NewSchema(field("x", batch.String))}}}
	p := s.Ports(l)
	if p.Inputs[0].From != "b" || p.Inputs[1].From != "a" || p.Inputs[1].Read != transform.First {
		t.Errorf("inputs %+v", p.Inputs)
	}
	out, err := s.Output(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out[transform.Main].Names(); !cmp.Equal(got, []string{"x", "x_1"}) || out[transform.Main].Fields[0].Type != batch.String {
		t.Errorf("fields %v", out[transform.Main].Fields)
	}
}

func TestJavaFilter(t *testing.T) {
	in := input([]batch.Field{field("id", batch.Integer), field("name", batch.String)}, []any{1, "abc"}, []any{7, "abd"}, []any{9, "x"})
	out := transformtest.Run(t, transformtest.Case{
		Definition: script.JavaFilter, Vars: map[string]string{"MIN": "5"}, Inputs: in,
		XML: `<condition>id &gt; ${MIN} &amp;&amp; name.startsWith("a") &amp;&amp; name.length() == 3</condition><send_true_to>a</send_true_to><send_false_to>b</send_false_to>`,
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(map[transform.Port][]string{"true": {"7|abd"}, "false": {"1|abc", "9|x"}}, out.Rows); diff != "" {
		t.Error(diff)
	}
	for condition, want := range map[string]string{
		"id / 2 == 3": "division", "java.lang.Math.abs(id) == 1": "Java class", "id + 1": "not a boolean", "((Long) id) == 1": "condition", "name.nope()": "row 1",
	} {
		out := transformtest.Run(t, transformtest.Case{Definition: script.JavaFilter, XML: "<condition>" + condition + "</condition>", Inputs: in, Fixed: true})
		if out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", condition, out.Err, want)
		}
	}
}
