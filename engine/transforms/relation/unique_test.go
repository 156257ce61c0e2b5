package relation_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/spill"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

var uniqueRows = [][]any{{"a", 1}, {"a", 1}, {"A", 1}, {"b", 1}, {"b", 2}, {nil, 2}, {"", 2}, {"a", 1}}

func TestUnique(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "n:Integer"), Rows: uniqueRows}}
	key := func(fold string) string {
		return "<fields><field><name>K</name><case_insensitive>" + fold + "</case_insensitive></field></fields>"
	}
	counter := "<count_rows>Y</count_rows><count_field>c</count_field>"
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"by a key":      {key("N"), []string{"a|1", "A|1", "b|1", "<null>|2", "a|1"}},
		"without case":  {key("Y"), []string{"a|1", "b|1", "<null>|2", "a|1"}},
		"all fields":    {"", []string{"a|1", "A|1", "b|1", "b|2", "<null>|2", "a|1"}},
		"with a count":  {key("Y") + counter, []string{"a|1|3", "b|1|2", "<null>|2|2", "a|1|1"}},
		"all and count": {counter, []string{"a|1|2", "A|1|1", "b|1|1", "b|2|1", "<null>|2|2", "a|1|1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.Unique, XML: c.xml, Inputs: in}), c.want...)
		})
	}
	in[0].Rows = nil
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.Unique, XML: key("N") + counter, Inputs: in}))
}

func TestUniqueRejectsDuplicates(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "n:Integer"), Rows: uniqueRows}}
	hop := &transform.ErrorLink{Target: "bad", CountField: "c", DescriptionField: "d", FieldField: "f", CodeField: "code"}
	xml := "<reject_duplicate_row>Y</reject_duplicate_row><error_description>${WHY}</error_description><fields><field><name>k</name></field></fields>"
	cases := map[string]struct {
		definition transform.Definition
		rejected   []string
	}{
		"neighbours": {relation.Unique, []string{"a|1|1|again|k|UNR001", "b|2|1|again|k|UNR001", "|2|1|again|k|UNR001"}},
		"all rows":   {relation.UniqueRowsByHashSet, []string{"a|1|1|again|k|UNRH001", "b|2|1|again|k|UNRH001", "|2|1|again|k|UNRH001", "a|1|1|again|k|UNRH001"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: c.definition, XML: xml, Inputs: in, Error: hop, Vars: map[string]string{"WHY": "again"}})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.rejected, out.Rows[transform.Error]); diff != "" {
				t.Error(diff)
			}
			if n := out.Env.Counters.Rejected.Load(); n != int64(len(c.rejected)) {
				t.Errorf("%d rows counted", n)
			}
		})
	}
}

func TestUniqueRowsByHashSet(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "n:Integer"), Rows: uniqueRows}}
	out := transformtest.Run(t, transformtest.Case{Definition: relation.UniqueRowsByHashSet, XML: "<fields><field><name>k</name></field></fields>", Inputs: in})
	checkRows(t, out, "a|1", "A|1", "b|1", "<null>|2")
	if n := out.Env.Counters.Rejected.Load(); n != 4 {
		t.Errorf("%d duplicates counted", n)
	}
	checkRows(t, transformtest.Run(t, transformtest.Case{Definition: relation.UniqueRowsByHashSet, Inputs: in}), "a|1", "A|1", "b|1", "b|2", "<null>|2")
}

func TestUniqueRowsByHashSetSpills(t *testing.T) {
	var rows [][]any
	for i := range 20_000 {
		rows = append(rows, []any{fmt.Sprint("key ", i*7919%9000), i})
	}
	run := func(limit int64) *transformtest.Output {
		out := transformtest.Run(t, transformtest.Case{
			Definition: relation.UniqueRowsByHashSet, XML: "<fields><field><name>k</name></field></fields>", Fixed: true,
			Inputs: []transformtest.Input{{Fields: fields("k:String", "n:Integer"), Rows: rows}},
			Env:    func(env *transform.Env) { env.Memory = &transformtest.Memory{Limit: limit} },
		})
		if out.Err != nil || !out.Env.Memory.Request(limit) {
			t.Fatal("memory was not given back: ", out.Err)
		}
		return out
	}
	want := run(1 << 40)
	if len(want.Main()) != 9000 {
		t.Fatal(len(want.Main()))
	}
	for _, limit := range []int64{0, 400_000} {
		got := run(limit)
		if !slices.Equal(got.Main(), want.Main()) {
			t.Errorf("budget %d: rows differ", limit)
		}
		if got.Env.Spill.(*spill.Dir).Bytes() == 0 {
			t.Errorf("budget %d: nothing was spilled", limit)
		}
		if n := got.Env.Counters.Rejected.Load(); n != 11_000 {
			t.Errorf("budget %d: %d duplicates counted", limit, n)
		}
	}
}
