package relation_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// lookupXML makes settings of "field=lookup" keys and "field[:rename[:default[:Type]]]" values.
func lookupXML(keys, values string) string {
	var b strings.Builder
	b.WriteString("<from>Side</from><lookup>")
	for k := range strings.FieldsSeq(keys) {
		name, f, _ := strings.Cut(k, "=")
		b.WriteString("<key><name>" + name + "</name><field>" + f + "</field></key>")
	}
	for v := range strings.FieldsSeq(values) {
		w := append(strings.Split(v, ":"), "", "", "", "")
		b.WriteString("<value><name>" + w[0] + "</name><rename>" + w[1] + "</rename><default>" + w[2] + "</default>")
		if w[3] != "" {
			b.WriteString("<type>" + w[3] + "</type>")
		}
		b.WriteString("</value>")
	}
	return b.String() + "</lookup>"
}

func TestStreamLookup(t *testing.T) {
	texts := transformtest.Input{From: "side", Info: true, Fields: fields("code:String", "name:String", "rank:Integer"), Rows: [][]any{
		{"a", "old", 1}, {"b", "bee", nil}, {"a", "new", 3}, {nil, "nothing", 4},
	}}
	numbers := transformtest.Input{From: "Side", Info: true, Fields: fields("id:Integer", "d:Number", "t:Boolean"), Rows: [][]any{
		{1, 1.5, true}, {2, 2.5, nil}, {nil, 9.5, false},
	}}
	cases := map[string]struct {
		main, side transformtest.Input
		xml        string
		want       []string
		fields     string
	}{
		"text key: last duplicate wins, null matches null": {
			transformtest.Input{Fields: fields("k:String"), Rows: [][]any{{"a"}, {"b"}, {"c"}, {nil}, {""}, {"A"}}},
			texts,
			lookupXML("k=CODE", "name rank:position"),
			[]string{"a|new|3", "b|bee|<null>", "c|<null>|<null>", "<null>|nothing|4", "|nothing|4", "A|<null>|<null>"},
			"k String, name String, position Integer",
		},
		"defaults": {
			transformtest.Input{Fields: fields("k:String"), Rows: [][]any{{"z"}, {"b"}}},
			texts,
			lookupXML("k=code", "name:n:none rank:r:-7:Integer rank:s:x:Integer"),
			[]string{"z|none|-7|<null>", "b|bee|<null>|<null>"},
			"k String, n String, r Integer, s Integer",
		},
		"a default of another type is converted": {
			transformtest.Input{Fields: fields("k:String"), Rows: [][]any{{"z"}}},
			texts,
			lookupXML("k=code", "rank:r:12"),
			[]string{"z|12"},
			"k String, r Integer",
		},
		"integer key": {
			transformtest.Input{Fields: fields("i:Integer"), Rows: [][]any{{2}, {3}, {nil}, {1}}},
			numbers,
			lookupXML("i=id", "d::0.5:Number t::Y:Boolean"),
			[]string{"2|2.5|<null>", "3|0.5|Y", "<null>|9.5|N", "1|1.5|Y"},
			"i Integer, d Number, t Boolean",
		},
		"a text key is converted to the lookup's integer": {
			transformtest.Input{Fields: fields("i:String"), Rows: [][]any{{"2"}, {""}}},
			numbers,
			lookupXML("i=id", "d"),
			[]string{"2|2.5", "|9.5"},
			"i String, d Number",
		},
		"a number key is compared as Java writes it": {
			transformtest.Input{Fields: fields("i:Number"), Rows: [][]any{{5.0}, {nil}}},
			transformtest.Input{From: "side", Info: true, Fields: fields("code:String", "name:String"), Rows: [][]any{{"5", "plain"}, {"5.0", "java"}}},
			lookupXML("i=code", "name"),
			[]string{"5.0|java", "<null>|<null>"},
			"i Number, name String",
		},
		"two keys": {
			transformtest.Input{Fields: fields("a:String", "b:Integer"), Rows: [][]any{{"x", 1}, {"x", 2}, {nil, 1}}},
			transformtest.Input{From: "side", Info: true, Fields: fields("p:String", "q:Integer", "v:String"), Rows: [][]any{{"x", 1, "x1"}, {nil, 1, "n1"}, {"x1", nil, "no"}}},
			lookupXML("a=p b=q", "v"),
			[]string{"x|1|x1", "x|2|<null>", "<null>|1|n1"},
			"a String, b Integer, v String",
		},
		"no lookup rows": {
			transformtest.Input{Fields: fields("k:String"), Rows: [][]any{{"a"}}},
			transformtest.Input{From: "side", Info: true, Fields: fields("code:String", "v:BigNumber")},
			lookupXML("k=code", "v:k:1.25:BigNumber"),
			[]string{"a|1.25"},
			"k String, k_1 BigNumber",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.StreamLookup, XML: c.xml, Inputs: []transformtest.Input{c.main, c.side}})
			checkRows(t, out, c.want...)
			if got := out.Fields("main"); got != c.fields {
				t.Errorf("fields %s", got)
			}
		})
	}
}

func TestStreamLookupRefuses(t *testing.T) {
	main := transformtest.Input{Fields: fields("k:String"), Rows: [][]any{{"x"}}}
	side := transformtest.Input{From: "side", Info: true, Fields: fields("id:Integer", "v:String"), Rows: [][]any{{1, "a"}}}
	cases := map[string]struct{ xml, want string }{
		"a missing value":          {lookupXML("k=id", "w"), `field "w" not found; the input has id, v`},
		"a missing key":            {lookupXML("k=w", "v"), `field "w" not found`},
		"a key that is no number":  {lookupXML("k=id", "v"), `row 1, field "k"`},
		"no key":                   {lookupXML("", "v"), "there is no key"},
		"no such transform":        {strings.Replace(lookupXML("k=id", ""), "Side", "Other", 1), `"Other" is not connected`},
		"a pair that is none":      {lookupXML("k=id", "v") + "<integer_pair>Y</integer_pair>", "exactly one Integer"},
		"a default that cannot be": {lookupXML("k=id", "v::1:UUID"), "a default cannot be of type UUID"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := transformtest.Run(t, transformtest.Case{Definition: relation.StreamLookup, XML: c.xml, Inputs: []transformtest.Input{main, side}, Fixed: true})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("got %v, want %q", out.Err, c.want)
			}
		})
	}
}

// TestStreamLookupSpills looks up with values on disk.
func TestStreamLookupSpills(t *testing.T) {
	var side, main [][]any
	for i := range 6000 {
		var v any = fmt.Sprint("value ", i)
		if i%13 == 0 {
			v = nil
		}
		side = append(side, []any{fmt.Sprint("key ", i%5000), i, v, float64(i) / 4})
	}
	for i := range 3000 {
		main = append(main, []any{fmt.Sprint("key ", i*7%6000)})
	}
	run := func(limit int64) *transformtest.Output {
		return transformtest.Run(t, transformtest.Case{
			Definition: relation.StreamLookup, XML: lookupXML("k=k", "i v d:d:-1:Number"), Fixed: true,
			Inputs: []transformtest.Input{{Fields: fields("k:String"), Rows: main}, {From: "side", Info: true, Fields: fields("k:String", "i:Integer", "v:String", "d:Number"), Rows: side}},
			Env:    func(env *transform.Env) { env.Memory = &transformtest.Memory{Limit: limit} },
		})
	}
	want := run(1 << 40)
	if want.Err != nil || len(want.Main()) != 3000 || strings.Contains(want.Log, "on disk") {
		t.Fatal(want.Err, want.Log)
	}
	for _, limit := range []int64{0, 200_000, 400_000} {
		got := run(limit)
		if got.Err != nil || !slices.Equal(got.Main(), want.Main()) {
			t.Errorf("budget %d: rows differ, %v", limit, got.Err)
		}
		if !strings.Contains(got.Log, "on disk") {
			t.Errorf("budget %d: nothing was spilled", limit)
		}
		if !got.Env.Memory.Request(limit) {
			t.Errorf("budget %d: memory was not given back", limit)
		}
	}
}

// TestStreamLookupKeepsRawText looks values up that nobody has converted: they
// come out as they were read, whether they are in memory or on disk.
func TestStreamLookupKeepsRawText(t *testing.T) {
	for _, limit := range []int64{1 << 40, 0} {
		env, _ := transformtest.NewEnv(t, nil)
		env.Memory = &transformtest.Memory{Limit: limit}
		in := batch.NewSchema(fields("k:Integer")...)
		info := batch.NewSchema(fields("k:Integer", "v:Number")...)
		side := env.Alloc.Assemble(info, []*batch.Column{rawColumn(env, batch.Integer, "1", "2"), rawColumn(env, batch.Number, "1.50", "002")}, 2)
		links := transform.Links{Transform: "tested", Inputs: []transform.Input{{From: "in", Schema: in}, {From: "Side", Schema: info, Info: true}}}
		p, err := transformtest.Settings(t, relation.StreamLookup, lookupXML("k=k", "v:v:7:Number")).Start(env, links)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.(transform.Preparer).Prepare(t.Context(), []transform.Reader{&sliceReader{info, []*batch.Batch{side}}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		b := env.Alloc.Assemble(in, []*batch.Column{rawColumn(env, batch.Integer, "2", "3", "1")}, 3)
		err = p.(transform.RowWise).Apply(t.Context(), b, func(_ transform.Port, o *batch.Batch) error {
			defer o.Release()
			if !o.Cols[1].Raw {
				t.Error("the value was converted")
			}
			for i := range o.Rows() {
				got = append(got, o.Cols[1].Str(i))
			}
			return nil
		})
		b.Release()
		if err != nil || !slices.Equal(got, []string{"002", "7.0", "1.50"}) {
			t.Errorf("got %q, %v", got, err)
		}
		if err := p.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		if err := env.Alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	}
}

func rawColumn(env *transform.Env, t batch.Type, texts ...string) *batch.Column {
	c := env.Alloc.RawColumn(t)
	for _, s := range texts {
		c.AppendString(s)
	}
	return c
}

func BenchmarkStreamLookup(b *testing.B) {
	const n = 1_000_000
	env, _ := transformtest.NewEnv(b, nil)
	schema := batch.NewSchema(fields("customer:String", "ts:String", "id:Integer", "amount:Number", "note:String")...)
	info := batch.NewSchema(fields("customer:String", "name:String", "segment:String", "limit:Number")...)
	batches := orders(env, schema, n)
	links := transform.Links{Transform: "tested", Inputs: []transform.Input{{From: "in", Schema: schema}, {From: "Side", Schema: info, Info: true}}}
	p, err := transformtest.Settings(b, relation.StreamLookup, lookupXML("customer=customer", "name segment limit")).Start(env, links)
	if err != nil {
		b.Fatal(err)
	}
	var side []*batch.Batch
	for from := 0; from < 100_000; from += batch.MaxRows {
		var rows [][]any
		for i := from; i < min(from+batch.MaxRows, 100_000); i++ {
			rows = append(rows, []any{fmt.Sprintf("C%07d", i*7919%100_000), "Standard Reorder", "small business", 1500.0})
		}
		side = append(side, transformtest.Batch(env, info, rows))
	}
	if err := p.(transform.Preparer).Prepare(b.Context(), []transform.Reader{&sliceReader{info, side}}); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		for _, x := range batches {
			if err := p.(transform.RowWise).Apply(b.Context(), x, func(_ transform.Port, o *batch.Batch) error { o.Release(); return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
