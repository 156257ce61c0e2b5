package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/script"
)

func js(kind int, source string) string {
	source = strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(source)
	return fmt.Sprintf("<jsScript><jsScript_type>%d</jsScript_type><jsScript_name>s%d</jsScript_name><jsScript_script>%s</jsScript_script></jsScript>", kind, kind, source)
}

func jsField(name, rename, typ, replace string) string {
	return fmt.Sprintf("<field><name>%s</name><rename>%s</rename><type>%s</type><length>-1</length><precision>-1</precision><replace>%s</replace></field>", name, rename, typ, replace)
}

func jsXML(scripts, fields string) string {
	return "<jsScripts>" + scripts + "</jsScripts><fields>" + fields + "</fields>"
}

var jsInput = input([]batch.Field{field("n", batch.Integer), field("s", batch.String)}, []any{1, "a"}, []any{2, nil}, []any{3, "c"}, []any{4, "d"})

func TestScriptValueMod(t *testing.T) {
	for name, c := range map[string]struct {
		xml, fields string
		want        []string
	}{
		"values": {
			jsXML(js(0, "var twice = n * 2; var text = s == null ? 'none' : upper(s); var missing;"), jsField("twice", "", "Integer", "N")+jsField("text", "t", "String", "N")+jsField("unknown", "", "Date", "N")),
			"n Integer, s String, twice Integer, t String, unknown Date",
			[]string{"1|a|2|A|<null>", "2|<null>|4|none|<null>", "3|c|6|C|<null>", "4|d|8|D|<null>"},
		},
		"replace": {
			jsXML(js(0, "n = n + 0.5; var q = s + '!';"), jsField("n", "", "Number", "Y")+jsField("q", "S", "String", "Y")),
			"n Number, s String",
			[]string{"1.5|a!", "2.5|null!", "3.5|c!", "4.5|d!"},
		},
		"keeps its variables, start script": {
			jsXML(js(1, "var total = 100;")+js(0, "total += n;"), jsField("total", "", "Integer", "N")),
			"n Integer, s String, total Integer",
			[]string{"1|a|101", "2|<null>|103", "3|c|106", "4|d|110"},
		},
		"skips rows": {
			jsXML(js(0, "if (n % 2 == 0) { pipeline_Status = SKIP_PIPELINE; } else { pipeline_Status = CONTINUE_PIPELINE; }"), ""),
			"n Integer, s String",
			[]string{"1|a", "3|c"},
		},
		"status must come in the first run": {
			jsXML(js(0, "if (n > 1) pipeline_Status = SKIP_PIPELINE;"), ""),
			"n Integer, s String",
			[]string{"1|a", "2|<null>", "3|c", "4|d"},
		},
		"aborts": {
			jsXML(js(0, "pipeline_Status = n > 2 ? ABORT_PIPELINE : CONTINUE_PIPELINE;"), ""),
			"n Integer, s String",
			[]string{"1|a", "2|<null>"},
		},
		"makes rows": {
			jsXML(js(0, "var copy = createRowCopy(getOutputRowMeta().size()); copy[getInputRowMeta().size()] = 'extra ' + row[0]; if (n > 3) putRow(copy); var kind = 'own';"), jsField("kind", "", "String", "N")),
			"n Integer, s String, kind String",
			[]string{"1|a|own", "2|<null>|own", "3|c|own", "4|d|extra 4", "4|d|own"},
		},
		"old layout": {
			"<script>var x = n;</script><fields>" + jsField("x", "", "String", "N") + "</fields>",
			"n Integer, s String, x String",
			[]string{"1|a|1", "2|<null>|2", "3|c|3", "4|d|4"},
		},
		"variables": {
			jsXML(js(0, "var v = getVariable('V', 'd') + getVariable('none', 'd');"), jsField("v", "", "String", "N")),
			"n Integer, s String, v String",
			[]string{"1|a|xd", "2|<null>|xd", "3|c|xd", "4|d|xd"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: script.ScriptValueMod, XML: c.xml, Inputs: jsInput, Vars: map[string]string{"V": "x"}})
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

func TestScriptValueModErrors(t *testing.T) {
	xml := jsXML(js(0, "var q = 1;\nif (n == 2) nope();\nq = n;"), jsField("q", "", "Integer", "N"))
	out := transformtest.Run(t, transformtest.Case{Definition: script.ScriptValueMod, XML: xml, Inputs: jsInput, Error: &transform.ErrorLink{Target: "e", CodeField: "c"}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(map[transform.Port][]string{"main": {"1|a|1", "3|c|3", "4|d|4"}, "error": {"2|<null>|SCR-001"}}, out.Rows); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct{ xml, want string }{
		"row":             {xml, `row 2: script "s0", line 2`},
		"java":            {jsXML(js(0, "var d = 1;\nvar x = java.lang.Math.abs(n);"), ""), "line 2: TypeError: Java classes are not available"},
		"syntax":          {jsXML(js(0, "var a = ;"), ""), `script "s0", line 1`},
		"status":          {jsXML(js(0, "pipeline_Status = ERROR_PIPELINE"), ""), "ERROR_PIPELINE"},
		"missing replace": {jsXML(js(0, ""), jsField("zz", "", "String", "Y")), `"zz", was not found; the input has n, s`},
		"bad value":       {jsXML(js(0, "var q = 'abc'"), jsField("q", "", "Integer", "N")), `variable "q": "abc" is not a number`},
	} {
		out := transformtest.Run(t, transformtest.Case{Definition: script.ScriptValueMod, XML: c.xml, Inputs: jsInput, Fixed: true})
		if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, out.Err, c.want)
		}
	}
}

func TestScriptValueModEndAndShape(t *testing.T) {
	xml := jsXML(js(0, "var seen = (typeof seen == 'undefined' ? 0 : seen) + 1;")+js(2, "setVariable('SEEN', seen, 'r'); writeToLog('m', 'seen ' + seen);"), "")
	out := transformtest.Run(t, transformtest.Case{Definition: script.ScriptValueMod, XML: xml, Inputs: jsInput, Fixed: true})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if v, _ := out.Env.Scopes.Variable("SEEN", transform.ScopeRoot); v != "4" {
		t.Errorf("SEEN is %q", v)
	}
	if !strings.Contains(out.Log, "seen 4") {
		t.Errorf("log %s", out.Log)
	}
	for source, want := range map[string]transform.Shape{"var x = n * 2;": transform.ShapeStateless, "x = n * 2;": transform.ShapeStateful, "var x = n; pipeline_Status = 0": transform.ShapeStateful} {
		env, _ := transformtest.NewEnv(t, nil)
		s := transformtest.Settings(t, script.ScriptValueMod, jsXML(js(0, source), ""))
		p, err := s.Start(env, transform.Links{Inputs: []transform.Input{{Schema: batch.NewSchema(field("n", batch.Integer))}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := transform.ShapeOf(p); got != want {
			t.Errorf("%s: shape %v, want %v", source, got, want)
		}
	}
}
