package relation_test

import (
	"fmt"
	"strings"
	"testing"

	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// pivotXML makes denormaliser targets of "value|key|name|Type[|AGGREGATE]".
func pivotXML(targets ...string) string {
	var b strings.Builder
	b.WriteString("<key_field>k</key_field><group><field><name>id</name></field></group><fields>")
	for _, s := range targets {
		w := append(strings.Split(s, "|"), "-")
		fmt.Fprintf(&b, "<field><field_name>%s</field_name><key_value>%s</key_value><target_name>%s</target_name><target_type>%s</target_type><target_length>-1</target_length><target_precision>-1</target_precision><target_aggregation_type>%s</target_aggregation_type></field>", w[0], w[1], w[2], w[3], w[4])
	}
	return b.String() + "</fields>"
}

func TestDenormaliser(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("id:Integer", "k:String", "v:String", "rest:String"), Rows: [][]any{
		{1, "white", "10", "r1"},
		{1, "black", "20", "r2"},
		{1, "white", "30", "r3"},
		{1, "none", "99", "r4"},
		{2, "white", nil, "r5"},
		{2, nil, "5", "r6"},
		{3, "white", "7", "r7"},
		{3, "white", nil, "r8"},
	}}}
	cases := map[string]struct {
		xml    string
		vars   map[string]string
		want   []string
		fields string
	}{
		"last value": {
			pivotXML("v|white|w|String", "v|${B}|b|String"),
			map[string]string{"B": "black"},
			[]string{"1|r4|30|20", "2|r6|<null>|<null>", "3|r8|<null>|<null>"},
			"id Integer, rest String, w String, b String",
		},
		"converted": {
			pivotXML("v|white|w|Integer"), nil, []string{"1|r4|30", "2|r6|<null>", "3|r8|<null>"}, "id Integer, rest String, w Integer",
		},
		"aggregates": {
			pivotXML("v|white|s|Integer|SUM", "v|white|a|Number|AVERAGE", "v|white|lo|Integer|MIN", "v|white|hi|Integer|MAX", "v|white|c|Integer|COUNT_ALL", "v|white|t|String|CONCAT_COMMA"), nil,
			[]string{"1|r4|40|20.0|10|30|2|10,30", "2|r6|<null>|<null>|<null>|<null>|1|<null>", "3|r8|7|7.0|7|7|2|7,null"},
			"id Integer, rest String, s Integer, a Number, lo Integer, hi Integer, c Integer, t String",
		},
		"null aggregates are zero by variable": {
			pivotXML("v|black|s|Integer|SUM"),
			map[string]string{"HOP_AGGREGATION_ALL_NULLS_ARE_ZERO": "Y"},
			[]string{"1|r4|20", "2|r6|0", "3|r8|0"},
			"id Integer, rest String, s Integer",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.Denormaliser, XML: c.xml, Vars: c.vars, Inputs: in})
			checkRows(t, out, c.want...)
			if got := out.Fields("main"); got != c.fields {
				t.Error(got)
			}
		})
	}
	for xml, want := range map[string]string{
		pivotXML("zz|a|b|String"):             `target "b": field "zz" not found`,
		pivotXML("k|a|b|String"):              "the value cannot come from the key field",
		pivotXML("v|a|b|Number|CONCAT_COMMA"): "make it a String",
		pivotXML("rest|white|b|Integer"):      `row 1, field "rest"`,
	} {
		out := transformtest.Run(t, transformtest.Case{Definition: relation.Denormaliser, XML: xml, Inputs: in, Fixed: true})
		if out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("got %v, want %q", out.Err, want)
		}
	}
}

func TestDenormaliserKeysThatAreNumbers(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.Denormaliser, XML: strings.Replace(pivotXML("v|5|a|String", "v|5.0|b|String"), "<name>id</name>", "<name>id</name>", 1),
		Inputs: []transformtest.Input{{Fields: fields("id:Integer", "k:Number", "v:String"), Rows: [][]any{{1, 5.0, "x"}}}},
	})
	checkRows(t, out, "1|<null>|x")
}

func TestNormaliser(t *testing.T) {
	row := func(words ...string) string {
		return "<field><name>" + words[0] + "</name><value>" + words[1] + "</value><norm>" + words[2] + "</norm></field>"
	}
	in := []transformtest.Input{{Fields: fields("id:Integer", "en:String", "fr:String", "capEN:Integer", "capFR:Number"), Rows: [][]any{
		{1, "Belgium", "Belgique", 11, 12.6}, {2, nil, "France", nil, 22.0},
	}}}
	cases := map[string]struct {
		xml    string
		want   []string
		fields string
	}{
		"two targets": {
			"<typefield>lang</typefield><fields>" + row("en", "EN", "name") + row("fr", "FR", "name") + row("capEN", "EN", "capital") + row("capFR", "FR", "capital") + "</fields>",
			[]string{"1|EN|Belgium|11", "1|FR|Belgique|13", "2|EN|<null>|<null>", "2|FR|France|22"},
			"id Integer, lang String, name String, capital Integer",
		},
		"a type without all fields": {
			"<fields>" + row("en", "EN", "name") + row("fr", "FR", "name") + row("capEN", "EN", "capital") + "</fields>",
			[]string{"1|12.6|EN|Belgium|11", "1|12.6|FR|Belgique|<null>", "2|22.0|EN|<null>|<null>", "2|22.0|FR|France|<null>"},
			"id Integer, capFR Number, typefield String, name String, capital Integer",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.Normaliser, XML: c.xml, Inputs: in})
			checkRows(t, out, c.want...)
			if got := out.Fields("main"); got != c.fields {
				t.Error(got)
			}
		})
	}
}

func TestFlattener(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("a:String", "v:String", "b:Integer"), Rows: [][]any{
		{"Z", "One", 1}, {"Y", "Two", 2}, {"X", "Three", 3}, {"W", nil, 4}, {"V", "Five", 5},
	}}}
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.Flattener, Inputs: in,
		XML: "<field_name>V</field_name><fields><field><name>t1</name></field><field><name>t2</name></field></fields>",
	})
	checkRows(t, out, "Y|2|One|Two", "W|4|Three|<null>", "V|5|Five|<null>")
	if got := out.Fields("main"); got != "a String, b Integer, t1 String, t2 String" {
		t.Error(got)
	}
}

func TestAnalyticQuery(t *testing.T) {
	rows := [][]any{{"aaa", 1}, {"aaa", 2}, {"aaa", 3}, {"bbb", 4}, {"bbb", 5}, {"bbb", nil}}
	in := []transformtest.Input{{Fields: fields("X:String", "Y:Integer"), Rows: rows}}
	item := func(name, kind, n string) string {
		return "<field><aggregate>" + name + "</aggregate><subject>y</subject><type>" + kind + "</type><valuefield>" + n + "</valuefield></field>"
	}
	list := "<fields>" + item("l1", "LEAD", "1") + item("l4", "LEAD", "4") + item("b1", "LAG", "1") + item("b2", "LAG", "2") + item("b0", "LAG", "0") + "</fields>"
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"in groups": {
			"<group><field><name>x</name></field></group>" + list,
			[]string{"aaa|1|2|<null>|<null>|<null>|1", "aaa|2|3|<null>|1|<null>|2", "aaa|3|<null>|<null>|2|1|3", "bbb|4|5|<null>|<null>|<null>|4", "bbb|5|<null>|<null>|4|<null>|5", "bbb|<null>|<null>|<null>|5|4|<null>"},
		},
		"without groups": {
			list,
			[]string{"aaa|1|2|5|<null>|<null>|1", "aaa|2|3|<null>|1|<null>|2", "aaa|3|4|<null>|2|1|3", "bbb|4|5|<null>|3|2|4", "bbb|5|<null>|<null>|4|3|5", "bbb|<null>|<null>|<null>|5|4|<null>"},
		},
		"back only": {
			"<group><field><name>x</name></field></group><fields>" + item("b3", "LAG", "2") + "</fields>",
			[]string{"aaa|1|<null>", "aaa|2|<null>", "aaa|3|1", "bbb|4|<null>", "bbb|5|<null>", "bbb|<null>|4"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.AnalyticQuery, XML: c.xml, Inputs: in}), c.want...)
		})
	}
}
