package relation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

func TestGroupByAggregates(t *testing.T) {
	for name, c := range aggregateCases {
		t.Run(name, func(t *testing.T) {
			want := c.sorted
			if want == "" {
				want = c.memory
			}
			out := transformtest.Run(t, transformtest.Case{
				Definition: relation.GroupBy, Vars: c.vars, XML: groupXML("k", c.aggregates...),
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("k", batch.String), field("v", c.typ)}, Rows: keyed(c.values)}},
			})
			checkRows(t, out, "k|"+want)
		})
	}
}

func TestGroupByAggregatesOfItsOwn(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.GroupBy,
		XML:        groupXML("k", "STD_DEV_SAMPLE v", "STD_DEV v", "PERCENTILE_NEAREST_RANK v 50", "CONCAT_STRING_CRLF v", "CONCAT_DISTINCT v ;", "CUM_SUM v"),
		Inputs:     []transformtest.Input{{Fields: fields("k:String", "v:Integer"), Rows: [][]any{{"a", 4}, {"a", nil}, {"a", 2}, {"a", 4}, {"b", nil}, {"c", 9}}}},
	})
	checkRows(t, out, "a|1.1547005384|0.9428090416|4.0|4\n2\n4|2;4|<null>", "b|<null>|<null>|<null>|||<null>", "c|NaN|0.0|9.0|9|9|<null>")
}

// TestGroupByStartsAgain has groups that end within batches and go on in the next
// one, for every kind of accumulator.
func TestGroupByStartsAgain(t *testing.T) {
	big := func(s string) any { return dec(s) }
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.GroupBy,
		XML:        groupXML("k", "COUNT_DISTINCT n", "SUM n", "SUM d", "MIN d", "MEDIAN n", "STD_DEV n", "CONCAT_STRING s -", "CONCAT_DISTINCT s -", "MAX s", "LAST t", "MIN b", "COUNT_ALL s"),
		Inputs: []transformtest.Input{{Fields: fields("k:Integer", "n:Integer", "d:BigNumber", "s:String", "t:Number", "b:Boolean"), Rows: [][]any{
			{1, 5, big("0.1"), "y", 0.5, true},
			{1, 5, big("0.2"), "x", nil, nil},
			{1, 6, nil, "y", 1.5, false},
			{1, 6, nil, nil, nil, nil},
			{2, 5, big("7"), "z", nil, true},
			{3, 1, nil, nil, 2.5, nil},
			{3, 2, big("1.5"), "a", 3.5, true},
			{3, 2, big("1.5"), "b", nil, true},
		}}},
	})
	checkRows(t, out,
		"1|2|22|0.3|0.1|5.5|0.5|y-x-y|x-y|y|1.5|N|3",
		"2|1|5|7.0|7.0|5.0|0.0|z|z|z|<null>|Y|1",
		"3|2|5|3.0|1.5|2.0|0.4714045208|a-b|a-b|b|3.5|Y|2")
}

func TestGroupByRunningAggregatesByType(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.GroupBy,
		XML:        "<all_rows>Y</all_rows>" + groupXML("k", "CUM_SUM d", "CUM_AVG d", "CUM_SUM f", "CUM_AVG f", "CUM_SUM s", "MOVING_AVG s 2"),
		Inputs: []transformtest.Input{{Fields: fields("k:Integer", "d:BigNumber", "f:Number", "s:String"), Rows: [][]any{
			{1, nil, 0.5, "1"}, {1, dec("0.1"), nil, ""}, {1, dec("0.2"), 1.5, "2"}, {2, dec("4"), nil, "3"},
		}}},
	})
	checkRows(t, out,
		"1|<null>|0.5|1|<null>|<null>|0.5|0.5|1.0|<null>", "1|0.1|<null>||0.1|0.1|0.5|0.5|1.0|<null>",
		"1|0.2|1.5|2|0.3|0.15|2.0|1.0|3.0|1.5", "2|4.0|<null>|3|4.0|4.0|<null>|<null>|3.0|<null>")
}

var groupRows = [][]any{
	{"a", 1, 10}, {"a", 1, nil}, {"a", 1, 30}, {"a", 2, 5}, {nil, 2, 7}, {"", 2, 8}, {"b", 1, 1}, {"a", 1, 2}, {"A", 1, 4},
}

func TestGroupByGroupsNeighbours(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "n:Integer", "v:Integer"), Rows: groupRows}}
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"one key; null and empty are the same, the last one shows": {groupXML("K", "SUM v"), []string{"a|45", "|15", "b|1", "a|2", "A|4"}},
		"two keys": {groupXML("k n", "COUNT_ANY"), []string{"a|1|3", "a|2|1", "|2|2", "b|1|1", "a|1|1", "A|1|1"}},
		"no keys":  {groupXML("", "SUM v", "COUNT_ANY"), []string{"67|9"}},
		"all rows": {
			"<all_rows>Y</all_rows><add_linenr>Y</add_linenr><linenr_fieldname>line</linenr_fieldname>" + groupXML("k", "SUM v", "CUM_SUM v", "CUM_AVG v", "MOVING_AVG v 2"),
			[]string{
				"a|1|10|45|10|10.0|<null>|1", "a|1|<null>|45|10|10.0|<null>|2", "a|1|30|45|40|20.0|20.0|3", "a|2|5|45|45|15.0|17.5|4",
				"<null>|2|7|15|7|7.0|<null>|1", "|2|8|15|15|7.5|7.5|2", "b|1|1|1|1|1.0|<null>|1", "a|1|2|2|2|2.0|<null>|1", "A|1|4|4|4|4.0|<null>|1",
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.GroupBy, XML: c.xml, Inputs: in}), c.want...)
		})
	}
}

func TestGroupByWithoutRows(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "v:Integer")}}
	xml := groupXML("k", "SUM v", "COUNT_ALL v", "COUNT_DISTINCT v", "COUNT_ANY")
	cases := map[string]struct {
		xml  string
		vars map[string]string
		want []string
	}{
		"nothing":         {xml, nil, nil},
		"a row":           {xml + "<give_back_row>Y</give_back_row>", nil, []string{"<null>|<null>|0|<null>|0"}},
		"a row of zeros":  {xml + "<give_back_row>Y</give_back_row>", map[string]string{"HOP_AGGREGATION_ALL_NULLS_ARE_ZERO": "Y"}, []string{"<null>|0|0|0|0"}},
		"all of no rows":  {xml + "<give_back_row>Y</give_back_row><all_rows>Y</all_rows>", nil, nil},
		"none, no groups": {groupXML("", "COUNT_ANY"), nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.GroupBy, XML: c.xml, Vars: c.vars, Inputs: in}), c.want...)
		})
	}
}

func TestGroupByAllRowsSpills(t *testing.T) {
	var rows [][]any
	for i := range 5000 {
		rows = append(rows, []any{fmt.Sprint("group ", i/2000), i})
	}
	run := func(limit int64) []string {
		out := transformtest.Run(t, transformtest.Case{
			Definition: relation.GroupBy, XML: "<all_rows>Y</all_rows>" + groupXML("k", "SUM v", "CUM_SUM v"), Fixed: true,
			Inputs: []transformtest.Input{{Fields: fields("k:String", "v:Integer"), Rows: rows}},
			Env:    func(env *transform.Env) { env.Memory = &transformtest.Memory{Limit: limit} },
		})
		if out.Err != nil || !out.Env.Memory.Request(limit) {
			t.Fatal("memory was not given back: ", out.Err)
		}
		return out.Main()
	}
	want := run(1 << 40)
	if len(want) != 5000 || !strings.HasPrefix(want[1999], "group 0|1999|1999000|1999000") {
		t.Fatal(len(want), want[1999])
	}
	for _, limit := range []int64{0, 100_000} {
		if got := run(limit); !slices.Equal(got, want) {
			t.Errorf("budget %d: rows differ", limit)
		}
	}
}
