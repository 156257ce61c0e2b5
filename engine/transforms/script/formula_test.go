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

func formulaXML(rows ...[4]string) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, `<formula><field_name>%s</field_name><formula>%s</formula><value_type>%s</value_type><value_length>-1</value_length><value_precision>-1</value_precision>%s</formula>`, r[0], r[1], r[2], r[3])
	}
	return "<formulas>" + b.String() + "</formulas>"
}

func TestFormula(t *testing.T) {
	in := input([]batch.Field{field("n", batch.Integer), field("s", batch.String), field("d", batch.Date)},
		[]any{4, "x", at("2024-02-29 12:00:00")}, []any{nil, nil, nil})
	for name, c := range map[string]struct {
		xml, fields string
		want        []string
	}{
		"types": {
			formulaXML([4]string{"i", "[n]/3", "5", ""}, [4]string{"f", "[n]/8", "1", ""}, [4]string{"b", "[n]=4", "4", ""}, [4]string{"t", "[s] &amp; [n]", "2", ""}, [4]string{"e", "[d]+1", "3", ""}),
			"n Integer, s String, d Date, i Integer, f Number, b Boolean, t String, e Date",
			[]string{"4|x|2024/02/29 12:00:00.000|1|0.5|Y|x4|2024/03/01 12:00:00.000", "<null>|<null>|<null>|0|0.0|N||1900/01/01 00:00:00.000"},
		},
		"chained and variable": {
			formulaXML([4]string{"a", "[n]+1", "5", ""}, [4]string{"b", "${F}([a],[n])", "5", ""}), "n Integer, s String, d Date, a Integer, b Integer",
			[]string{"4|x|2024/02/29 12:00:00.000|5|9", "<null>|<null>|<null>|1|1"},
		},
		"replace and alias": {
			formulaXML([4]string{"alias", "[s] &amp; &quot;!&quot;", "2", "<replace_field>s</replace_field>"}, [4]string{"t", "[alias] &amp; &quot;?&quot;", "2", ""}), "n Integer, s String, d Date, t String",
			[]string{"4|x!|2024/02/29 12:00:00.000|x!?", "<null>|!|<null>|!?"},
		},
		"not available": {
			formulaXML([4]string{"t", "IF(ISNA([n]), NA(), [n])", "5", "<set_na>Y</set_na>"}), "n Integer, s String, d Date, t Integer",
			[]string{"4|x|2024/02/29 12:00:00.000|4", "<null>|<null>|<null>|<null>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: script.Formula, XML: c.xml, Inputs: in, Vars: map[string]string{"F": "SUM"}})
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

func TestFormulaErrors(t *testing.T) {
	in := input([]batch.Field{field("n", batch.Integer)}, []any{4}, []any{0}, []any{2})
	xml := formulaXML([4]string{"q", "8/[n]", "5", ""}, [4]string{"r", "[q]+1", "5", ""})
	out := transformtest.Run(t, transformtest.Case{Definition: script.Formula, XML: xml, Inputs: in, Error: &transform.ErrorLink{Target: "e", FieldField: "f", CodeField: "c", DescriptionField: "why"}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	want := map[transform.Port][]string{"main": {"4|2|3", "2|4|5"}, "error": {"0|the formula gives #DIV/0!|q|Formula001"}}
	if diff := cmp.Diff(want, out.Rows); diff != "" {
		t.Error(diff)
	}
	for source, want := range map[string]string{"8/[n]": "row 2, field \"q\": the formula gives #DIV/0!", "[m]": `field "m" not found`, "[r]": "not found", "1+": "operand is missing"} {
		out := transformtest.Run(t, transformtest.Case{Definition: script.Formula, XML: formulaXML([4]string{"q", source, "5", ""}), Inputs: in, Fixed: true})
		if out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", source, out.Err, want)
		}
	}
	out = transformtest.Run(t, transformtest.Case{Definition: script.Formula, XML: formulaXML([4]string{"a", "[b]", "5", ""}, [4]string{"b", "1", "5", ""}), Inputs: in, Fixed: true})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "computed later") {
		t.Errorf("error %v", out.Err)
	}
}

func TestFormulaRandomIsOrdered(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	s := transformtest.Settings(t, script.Formula, formulaXML([4]string{"q", "RAND()", "1", ""}))
	p, err := s.Start(env, transform.Links{Inputs: []transform.Input{{Schema: batch.NewSchema(field("n", batch.Integer))}}})
	if err != nil {
		t.Fatal(err)
	}
	if transform.ShapeOf(p) != transform.ShapeStateful {
		t.Error("random numbers must come in row order")
	}
}
