package relation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/spill"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// groupXML makes group settings of "type subject [value]" words.
func groupXML(group string, aggregates ...string) string {
	var b strings.Builder
	b.WriteString("<group>")
	for g := range strings.FieldsSeq(group) {
		b.WriteString("<field><name>" + g + "</name></field>")
	}
	b.WriteString("</group><fields>")
	for i, a := range aggregates {
		w := append(strings.SplitN(a, " ", 3), "", "")
		fmt.Fprintf(&b, "<field><aggregate>a%d</aggregate><subject>%s</subject><type>%s</type><valuefield>%s</valuefield></field>", i+1, w[1], w[0], w[2])
	}
	return b.String() + "</fields>"
}

func dec(s string) decimal.Decimal {
	d, err := decimal.Parse(s)
	if err != nil {
		panic(err)
	}
	return d
}

// aggregateCases have one group key and rows for every aggregate that both group
// transforms know. The rows are sorted by key.
var aggregateCases = map[string]struct {
	typ        batch.Type
	values     []any
	vars       map[string]string
	aggregates []string
	memory     string // result of Memory group by
	sorted     string // of Group by, when it differs
}{
	"integers": {
		typ: batch.Integer, values: []any{1, 42, nil},
		aggregates: []string{"SUM v", "AVERAGE v", "MIN v", "MAX v", "COUNT_ALL v", "COUNT_ANY", "COUNT_DISTINCT v", "FIRST v", "LAST v", "FIRST_INCL_NULL v", "LAST_INCL_NULL v"},
		memory:     "43|21|1|42|2|3|2|1|42|1|<null>",
	},
	"average of negative integers truncates": {
		typ: batch.Integer, values: []any{-3, -4}, aggregates: []string{"AVERAGE v"}, memory: "-3",
	},
	"numbers": {
		typ: batch.Number, values: []any{1.5, 2.5, 2.5},
		aggregates: []string{"SUM v", "AVERAGE v", "COUNT_DISTINCT v", "MEDIAN v", "PERCENTILE v 25", "STD_DEV v"},
		memory:     "6.5|2.1666666667|2|2.5|1.5|0.4714045208",
	},
	"big numbers stay exact": {
		typ: batch.BigNumber, values: []any{dec("0.1"), dec("0.2"), dec("1E+30")},
		aggregates: []string{"SUM v", "AVERAGE v", "MAX v", "COUNT_DISTINCT v"},
		memory:     "1000000000000000000000000000000.3|333333333333333333333333333333.4333|1000000000000000000000000000000.0|3",
	},
	"texts": {
		typ: batch.String, values: []any{"b", nil, "a", "b"},
		aggregates: []string{"CONCAT_COMMA v", "CONCAT_STRING v -", "MIN v", "MAX v", "FIRST v", "LAST v", "COUNT_ALL v", "COUNT_ANY"},
		memory:     "b, a, b|b-a-b|a|b|b|b|3|4",
	},
	"texts that are numbers add up": {
		typ: batch.String, values: []any{"1.5", "", "2"}, aggregates: []string{"SUM v", "AVERAGE v"}, memory: "3.5|1.75",
	},
	"all null": {
		typ: batch.Integer, values: []any{nil, nil},
		aggregates: []string{"SUM v", "AVERAGE v", "MIN v", "MAX v", "COUNT_ALL v", "COUNT_ANY", "COUNT_DISTINCT v", "FIRST v", "LAST v", "CONCAT_COMMA v", "MEDIAN v"},
		memory:     "<null>|<null>|<null>|<null>|0|2|0|<null>|<null>||NaN",
		sorted:     "<null>|<null>|<null>|<null>|0|2|<null>|<null>|<null>||NaN",
	},
	"all null are zero by variable": {
		typ: batch.Integer, values: []any{nil, nil}, vars: map[string]string{"HOP_AGGREGATION_ALL_NULLS_ARE_ZERO": "Y"},
		aggregates: []string{"SUM v", "MIN v", "COUNT_DISTINCT v"}, memory: "0|0|0",
	},
	"minimum skips nulls": {
		typ: batch.Integer, values: []any{5, nil, 3}, aggregates: []string{"MIN v"}, memory: "3",
	},
	"minimum counts nulls by variable": {
		typ: batch.Integer, values: []any{5, nil, 3}, vars: map[string]string{"HOP_AGGREGATION_MIN_NULL_IS_VALUED": "Y"},
		aggregates: []string{"MIN v"}, memory: "<null>",
	},
	"empty texts": {
		typ: batch.String, values: []any{"x", "", "a"},
		aggregates: []string{"MIN v", "LAST v", "COUNT_ALL v", "COUNT_DISTINCT v", "CONCAT_STRING v ,"},
		memory:     "a|a|2|2|x,,a", sorted: "|a|2|2|x,,a",
	},
	"separators take variables": {
		typ: batch.String, values: []any{"x", "y"}, vars: map[string]string{"SEP": " + "},
		aggregates: []string{"CONCAT_STRING v ${SEP}"}, memory: "x + y",
	},
	"booleans": {
		typ: batch.Boolean, values: []any{true, false, nil}, aggregates: []string{"MIN v", "MAX v", "FIRST v"}, memory: "N|Y|Y",
	},
}

func TestMemoryGroupByAggregates(t *testing.T) {
	for name, c := range aggregateCases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{
				Definition: relation.MemoryGroupBy, Vars: c.vars, XML: groupXML("k", c.aggregates...),
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("k", batch.String), field("v", c.typ)}, Rows: keyed(c.values)}},
			})
			checkRows(t, out, "k|"+c.memory)
		})
	}
}

func keyed(values []any) [][]any {
	var rows [][]any
	for _, v := range values {
		rows = append(rows, []any{"k", v})
	}
	return rows
}

func TestMemoryGroupByGroups(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("a:String", "b:Integer", "v:Integer"), Rows: [][]any{
		{"y", 1, 1}, {"x", 1, 2}, {nil, nil, 3}, {"y", 1, 4}, {"", nil, 5}, {"y", 2, 6}, {"Y", 1, 7},
	}}}
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"first seen first; null and empty are one": {groupXML("a", "SUM v"), []string{"y|11", "x|2", "<null>|8", "Y|7"}},
		"two keys":             {groupXML("A B", "SUM v"), []string{"y|1|5", "x|1|2", "<null>|<null>|8", "y|2|6", "Y|1|7"}},
		"no keys":              {groupXML("", "COUNT_ANY", "MAX v"), []string{"7|7"}},
		"no aggregates":        {groupXML("b"), []string{"1", "<null>", "2"}},
		"names that are taken": {strings.ReplaceAll(groupXML("a", "COUNT_ANY"), "a1", "A"), []string{"y|3", "x|1", "<null>|2", "Y|1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MemoryGroupBy, XML: c.xml, Inputs: in}), c.want...)
		})
	}
}

func TestMemoryGroupByWithoutRows(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("a:String", "v:Integer")}}
	xml := groupXML("a", "SUM v", "COUNT_ALL v", "COUNT_ANY", "COUNT_DISTINCT v")
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MemoryGroupBy, XML: xml, Inputs: in}))
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.MemoryGroupBy, XML: xml + "<give_back_row>Y</give_back_row>", Inputs: in}),
		"<null>|<null>|0|0|0")
}

func TestMemoryGroupByRefuses(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("a:String", "v:Integer"), Rows: [][]any{{"a", 1}, {"a", nil}}}}
	cases := map[string]struct{ xml, want string }{
		"a missing key":                  {groupXML("zz", "SUM v"), `field "zz" not found; the input has a, v`},
		"a missing subject":              {groupXML("a", "SUM zz"), `aggregate "a1": field "zz" not found`},
		"a percentage out of range":      {groupXML("a", "PERCENTILE v 0"), "must be a number above 0"},
		"the standard deviation of null": {groupXML("a", "STD_DEV v"), "row 2, field \"v\""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.MemoryGroupBy, XML: c.xml, Inputs: in, Fixed: true})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("got %v, want %q", out.Err, c.want)
			}
		})
	}
}

func TestMemoryGroupBySpills(t *testing.T) {
	cases := map[string]struct {
		batches, keys int
		limits        []int64
	}{
		"parts":          {40, 9000, []int64{0, 300_000, 1_000_000}},
		"parts of parts": {130, 100_000, []int64{0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want := groupRandom(t, 1<<40, c.batches, c.keys)
			if len(want) < c.keys*2/3 {
				t.Fatalf("%d groups", len(want))
			}
			for _, limit := range c.limits {
				if got := groupRandom(t, limit, c.batches, c.keys); !slices.Equal(got, want) {
					t.Errorf("budget %d: %d groups differ from %d", limit, len(got), len(want))
				}
			}
		})
	}
}

func groupRandom(t *testing.T, limit int64, batches, keys int) []string {
	t.Helper()
	env, _ := transformtest.NewEnv(t, nil)
	memory := &transformtest.Memory{Limit: limit}
	env.Memory = memory
	schema := batch.NewSchema(fields("k:String", "n:Integer", "v:Number", "unused:String")...)
	rnd := rand.New(rand.NewPCG(3, 4))
	var list []*batch.Batch
	for range batches {
		var rows [][]any
		for range 1000 {
			k := rnd.IntN(keys)
			rows = append(rows, []any{fmt.Sprint("key ", k), k % 7, float64(rnd.IntN(100)), "x"})
		}
		list = append(list, transformtest.Batch(env, schema, rows))
	}
	got := runStream(t, env, relation.MemoryGroupBy, groupXML("k n", "SUM v", "COUNT_ANY", "MIN v", "CONCAT_STRING v /"), schema, list)
	if spilled := env.Spill.(*spill.Dir).Bytes() > 0; spilled != (limit < 1<<40) {
		t.Errorf("budget %d: spilled: %v", limit, spilled)
	}
	if !memory.Request(limit) {
		t.Errorf("budget %d: memory was not given back", limit)
	}
	return got
}

func BenchmarkMemoryGroupBy(b *testing.B) {
	const n = 1_000_000
	env, _ := transformtest.NewEnv(b, nil)
	schema := batch.NewSchema(fields("customer:String", "ts:String", "id:Integer", "amount:Number", "note:String")...)
	batches := orders(env, schema, n)
	b.ResetTimer()
	for b.Loop() {
		for _, x := range batches {
			x.Retain()
		}
		groups := 0
		drive(b, env, relation.MemoryGroupBy, groupXML("customer", "SUM amount", "COUNT_ANY"), schema, batches, func(x *batch.Batch) { groups += x.Rows() })
		if groups < 100_000 {
			b.Fatal(groups)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
