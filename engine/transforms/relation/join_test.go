package relation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

func joinXML(kind, keys1, keys2 string) string {
	list := func(tag, keys string) string {
		var b strings.Builder
		for k := range strings.FieldsSeq(keys) {
			b.WriteString("<key>" + k + "</key>")
		}
		return "<" + tag + ">" + b.String() + "</" + tag + ">"
	}
	return "<join_type>" + kind + "</join_type><transform1>L</transform1><transform2>r</transform2>" + list("keys_1", keys1) + list("keys_2", keys2)
}

func TestMergeJoin(t *testing.T) {
	left := transformtest.Input{From: "l", Info: true, Fields: fields("id:Integer", "v:String"), Rows: [][]any{{nil, "n"}, {1, "a"}, {2, "b"}, {2, "B"}, {4, "d"}}}
	right := transformtest.Input{From: "R", Info: true, Fields: fields("key:Integer", "v:String"), Rows: [][]any{{nil, "N"}, {2, "x"}, {2, "y"}, {3, "z"}, {5, "w"}}}
	inner := []string{"<null>|n|<null>|N", "2|b|2|x", "2|b|2|y", "2|B|2|x", "2|B|2|y"}
	cases := map[string]struct {
		kind string
		want []string
	}{
		"inner":       {"INNER", inner},
		"no type":     {"", inner},
		"left outer":  {"left outer", []string{inner[0], "1|a|<null>|<null>", inner[1], inner[2], inner[3], inner[4], "4|d|<null>|<null>"}},
		"right outer": {"RIGHT OUTER", []string{inner[0], inner[1], inner[2], inner[3], inner[4], "<null>|<null>|3|z", "<null>|<null>|5|w"}},
		"full outer":  {"FULL OUTER", []string{inner[0], "1|a|<null>|<null>", inner[1], inner[2], inner[3], inner[4], "<null>|<null>|3|z", "4|d|<null>|<null>", "<null>|<null>|5|w"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.MergeJoin, XML: joinXML(c.kind, "id", "key"), Inputs: []transformtest.Input{left, right}})
			checkRows(t, out, c.want...)
			if got := out.Fields("main"); got != "id Integer, v String, key Integer, v_1 String" {
				t.Error(got)
			}
		})
	}
	empty := right
	empty.Rows = nil
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MergeJoin, XML: joinXML("INNER", "id", "key"), Inputs: []transformtest.Input{left, empty}}))
}

func TestMergeJoinConvertsKeys(t *testing.T) {
	numbers := transformtest.Input{From: "l", Info: true, Fields: fields("i:Integer"), Rows: [][]any{{1}, {2}}}
	floats := transformtest.Input{From: "r", Info: true, Fields: fields("f:Number"), Rows: [][]any{{1.5}, {2.0}}}
	texts := transformtest.Input{From: "r", Info: true, Fields: fields("s:String"), Rows: [][]any{{"1"}, {"2"}}}
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MergeJoin, XML: joinXML("INNER", "i", "f"), Inputs: []transformtest.Input{numbers, floats}}), "2|2.0")
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MergeJoin, XML: joinXML("INNER", "i", "s"), Inputs: []transformtest.Input{numbers, texts}}), "1|1", "2|2")
}

func TestMergeJoinRefuses(t *testing.T) {
	in := []transformtest.Input{{From: "l", Info: true, Fields: fields("a:String")}, {From: "r", Info: true, Fields: fields("b:String")}}
	cases := map[string]struct {
		xml, want string
		inputs    []transformtest.Input
	}{
		"a missing key":       {joinXML("INNER", "a", "c"), `second input: field "c" not found; the input has b`, in},
		"a key too few":       {joinXML("INNER", "a a", "b"), "the first has 2, the second 1", in},
		"a missing transform": {joinXML("INNER", "a", "b"), `"r" is not connected`, in[:1]},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.MergeJoin, XML: c.xml, Inputs: c.inputs})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("got %v, want %q", out.Err, c.want)
			}
		})
	}
}

// TestMergeJoinSpillsEqualRows joins runs of equal keys that do not fit in memory.
func TestMergeJoinSpillsEqualRows(t *testing.T) {
	var left, right [][]any
	for i := range 30 {
		left = append(left, []any{i / 10, i})
	}
	for i := range 300 {
		right = append(right, []any{i / 100, fmt.Sprint("right ", i)})
	}
	run := func(limit int64) []string {
		out := transformtest.Run(t, transformtest.Case{
			Definition: relation.MergeJoin, XML: joinXML("INNER", "k", "k"),
			Inputs: []transformtest.Input{{From: "l", Info: true, Fields: fields("k:Integer", "v:Integer"), Rows: left}, {From: "r", Info: true, Fields: fields("k:Integer", "w:String"), Rows: right}},
			Env:    func(env *transform.Env) { env.Memory = &transformtest.Memory{Limit: limit} },
		})
		if out.Err != nil || !out.Env.Memory.Request(limit) {
			t.Fatal("memory was not given back: ", out.Err)
		}
		return out.Main()
	}
	want := run(1 << 40)
	if len(want) != 3000 || want[101] != "0|1|0|right 1" {
		t.Fatal(len(want), want[101])
	}
	if !slices.Equal(run(0), want) {
		t.Error("rows differ without memory")
	}
}

func TestMergeRows(t *testing.T) {
	reference := transformtest.Input{From: "ref", Info: true, Fields: fields("id:Integer", "name:String", "score:Number"), Rows: [][]any{
		{1, "James", 3.6}, {2, "Marie", 8.3}, {4, "Patrcia", 4.2}, {9, "Willian", 4.2}, {10, nil, 0.5},
	}}
	compare := transformtest.Input{From: "cmp", Info: true, Fields: fields("id:Integer", "name:String", "score:Number"), Rows: [][]any{
		{1, "James", 3.6}, {4, "Patricia", 4.2}, {9, "William", 4.3}, {10, "x", 0.5}, {11, "Richard", 9.6},
	}}
	base := "<reference>ref</reference><compare>cmp</compare><keys><key>id</key></keys><values><value>name</value><value>score</value></values>"
	cases := map[string]struct {
		xml    string
		inputs []transformtest.Input
		want   []string
		fields string
	}{
		"flags": {
			base,
			[]transformtest.Input{reference, compare},
			[]string{"1|James|3.6|identical", "2|Marie|8.3|deleted", "4|Patricia|4.2|changed", "9|William|4.3|changed", "10|x|0.5|changed", "11|Richard|9.6|new"},
			"id Integer, name String, score Number, flagfield String",
		},
		"differences": {
			base + "<flag_field>f</flag_field><diff-field>d</diff-field>",
			[]transformtest.Input{reference, compare},
			[]string{
				`1|James|3.6|identical|{"changes":[]}`, `2|Marie|8.3|deleted|{"changes":[]}`,
				`4|Patricia|4.2|changed|{"changes":[{"name":{"from":"Patrcia","to":"Patricia"}}]}`,
				`9|William|4.3|changed|{"changes":[{"name":{"from":"Willian","to":"William"}},{"score":{"from":4.2,"to":4.3}}]}`,
				`10|x|0.5|changed|{"changes":[{"name":{"from":null,"to":"x"}}]}`, `11|Richard|9.6|new|{"changes":[]}`,
			},
			"id Integer, name String, score Number, f String, d String",
		},
		"extra fields": {
			base + `<passthrough-fields><passthrough-field><referenceField>Y</referenceField><renameTo>old</renameTo><sourceField>name</sourceField></passthrough-field>
				<passthrough-field><sourceField>name</sourceField></passthrough-field></passthrough-fields>`,
			[]transformtest.Input{reference, compare},
			[]string{"1|James|3.6|identical|James|James", "2|Marie|8.3|deleted|Marie|<null>", "4|Patricia|4.2|changed|Patrcia|Patricia", "9|William|4.3|changed|Willian|William", "10|x|0.5|changed|<null>|x", "11|Richard|9.6|new|<null>|Richard"},
			"id Integer, name String, score Number, flagfield String, old String, name_1 String",
		},
		"aligned layouts": {
			"<align_input_layouts>Y</align_input_layouts><reference>ref</reference><compare>cmp</compare><keys><key>id</key></keys><values><value>status</value></values>",
			[]transformtest.Input{
				{From: "ref", Info: true, Fields: fields("id:Integer", "name:String", "status:String"), Rows: [][]any{{1, "Alice", "active"}, {2, "Bob", "active"}, {3, "Carol", "inactive"}}},
				{From: "cmp", Info: true, Fields: fields("id:String", "status:String", "region:String"), Rows: [][]any{{"1", "active", "US"}, {"2", "retired", "EU"}, {"4", "pending", "APAC"}}},
			},
			[]string{"1|<null>|active|US|identical", "2|<null>|retired|EU|changed", "3|Carol|inactive|<null>|deleted", "4|<null>|pending|APAC|new"},
			"id Integer, name String, status String, region String, flagfield String",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.MergeRows, XML: c.xml, Inputs: c.inputs})
			checkRows(t, out, c.want...)
			if got := out.Fields("main"); got != c.fields {
				t.Error(got)
			}
		})
	}
	other := compare
	other.Fields = fields("id:Integer", "name:String")
	out := transformtest.Run(t, transformtest.Case{Definition: relation.MergeRows, XML: base, Inputs: []transformtest.Input{reference, other}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), "cannot be compared: one has 3 fields") {
		t.Errorf("got %v", out.Err)
	}
}

func TestSortedMerge(t *testing.T) {
	in := func(name string, rows ...[]any) transformtest.Input {
		return transformtest.Input{From: name, Fields: fields("k:String", "n:Integer"), Rows: rows}
	}
	key := func(ascending string) string {
		return "<fields><field><name>K</name><ascending>" + ascending + "</ascending></field></fields>"
	}
	long := strings.Repeat("long key ", 3)
	cases := map[string]struct {
		xml    string
		inputs []transformtest.Input
		want   []string
	}{
		"three inputs, equal rows in the order of the hops": {
			key("Y"),
			[]transformtest.Input{in("a", []any{nil, 1}, []any{"b", 2}, []any{"b", 3}), in("b"), in("c", []any{"a", 4}, []any{"b", 5}, []any{"c", 6})},
			[]string{"<null>|1", "a|4", "b|2", "b|3", "b|5", "c|6"},
		},
		"descending": {
			key("N"),
			[]transformtest.Input{in("a", []any{"c", 1}, []any{"a", 2}), in("b", []any{"d", 3}, []any{"b", 4}, []any{nil, 5})},
			[]string{"d|3", "c|1", "b|4", "a|2", "<null>|5"},
		},
		"long keys": {
			key("Y"),
			[]transformtest.Input{in("a", []any{long + "b", 1}, []any{long + "d", 2}), in("b", []any{long + "a", 3}, []any{long + "c", 4})},
			[]string{long + "a|3", long + "b|1", long + "c|4", long + "d|2"},
		},
		"no rows": {key("Y"), []transformtest.Input{in("a"), in("b")}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.SortedMerge, XML: c.xml, Inputs: c.inputs}), c.want...)
		})
	}
	out := transformtest.Run(t, transformtest.Case{Definition: relation.SortedMerge, XML: key("Y"), Inputs: []transformtest.Input{in("a"), {From: "b", Fields: fields("k:String", "n:String")}}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), `the rows of "b" differ`) {
		t.Errorf("got %v", out.Err)
	}
}

func TestAppend(t *testing.T) {
	xml := "<head_name>One</head_name><tail_name>two</tail_name>"
	one := transformtest.Input{From: "one", Info: true, Fields: fields("a:String", "n:Integer"), Rows: [][]any{{"x", 1}, {nil, 2}}}
	two := transformtest.Input{From: "TWO", Info: true, Fields: fields("A:String", "n:Integer"), Rows: [][]any{{"y", 3}}}
	out := transformtest.Run(t, transformtest.Case{Definition: relation.Append, XML: xml, Inputs: []transformtest.Input{one, two}})
	checkRows(t, out, "x|1", "<null>|2", "y|3")
	if got := out.Fields("main"); got != "a String, n Integer" {
		t.Error(got)
	}
	two.Fields = fields("A:String", "n:Number")
	out = transformtest.Run(t, transformtest.Case{Definition: relation.Append, XML: xml, Inputs: []transformtest.Input{one, two}})
	if out.Err == nil || !strings.Contains(out.Err.Error(), `field "n" is Integer in one and Number in the other`) {
		t.Errorf("got %v", out.Err)
	}
}
