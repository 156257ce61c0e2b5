package relation_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/spill"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// field is a short name for batch.NewField.
func field(name string, t batch.Type) batch.Field { return batch.NewField(name, t) }

// fields gives fields of "name:Type" words.
func fields(words ...string) []batch.Field {
	var list []batch.Field
	for _, w := range words {
		name, typ, _ := strings.Cut(w, ":")
		list = append(list, field(name, batch.ParseType(typ)))
	}
	return list
}

func checkRows(t *testing.T, out *transformtest.Output, want ...string) {
	t.Helper()
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff(want, out.Main()); diff != "" {
		t.Error(diff)
	}
}

func sortKey(name, ascending, caseSensitive string) string {
	return "<field><name>" + name + "</name><ascending>" + ascending + "</ascending><case_sensitive>" + caseSensitive + "</case_sensitive></field>"
}

func TestSortRowsOrders(t *testing.T) {
	big := func(s string) decimal.Decimal {
		d, err := decimal.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	ts := func(ns int) time.Time { return time.Date(2024, 2, 3, 4, 5, 6, ns, time.UTC) }
	cases := map[string]struct {
		typ    batch.Type
		values []any
		fold   bool
		want   []string
	}{
		"text, null and empty first":         {batch.String, []any{"b", "", "a", nil, "ab"}, false, []string{"|1", "<null>|3", "a|2", "ab|4", "b|0"}},
		"text by UTF-16 units":               {batch.String, []any{"\U0001F600", "\uFFFD", "\uE000", "z"}, false, []string{"z|3", "\U0001F600|0", "\uE000|2", "\uFFFD|1"}},
		"text with zero bytes":               {batch.String, []any{"a\x01", "a", "a\x00b", "a\x00", "a\x02"}, false, []string{"a|1", "a\x00|3", "a\x00b|2", "a\x01|0", "a\x02|4"}},
		"text without case is stable":        {batch.String, []any{"b", "A", "a", "B", "É", "é"}, true, []string{"A|1", "a|2", "b|0", "B|3", "É|4", "é|5"}},
		"text with case":                     {batch.String, []any{"b", "A", "a", "B"}, false, []string{"A|1", "B|3", "a|2", "b|0"}},
		"text equal in the first 16 bytes":   {batch.String, []any{strings.Repeat("x", 40) + "b", strings.Repeat("x", 40), strings.Repeat("x", 16), strings.Repeat("x", 40) + "a"}, false, []string{strings.Repeat("x", 16) + "|2", strings.Repeat("x", 40) + "|1", strings.Repeat("x", 40) + "a|3", strings.Repeat("x", 40) + "b|0"}},
		"integers":                           {batch.Integer, []any{3, -7, nil, 0, -1 << 63, 1<<63 - 1}, false, []string{"<null>|2", "-9223372036854775808|4", "-7|1", "0|3", "3|0", "9223372036854775807|5"}},
		"numbers, minus zero before zero":    {batch.Number, []any{1.5, -2.5, 0.0, negativeZero(), nan(), nil}, false, []string{"<null>|5", "-2.5|1", "-0.0|3", "0.0|2", "1.5|0", "NaN|4"}},
		"big numbers by value, not by scale": {batch.BigNumber, []any{big("10"), big("-3.25"), big("1.50"), big("1.5"), big("-30"), big("0"), big("0.0001"), big("123456789012345678901234567890123456789012345")}, false, []string{"-30.0|4", "-3.25|1", "0.0|5", "0.0001|6", "1.5|2", "1.5|3", "10.0|0", "123456789012345678901234567890123456789012345.0|7"}},
		"booleans":                           {batch.Boolean, []any{true, nil, false}, false, []string{"<null>|1", "N|2", "Y|0"}},
		"bytes, unsigned":                    {batch.Binary, []any{"\xff", "\x01\x00", "\x01", "", nil, "\x00"}, false, []string{"<null>|4", "|3", "\x00|5", "\x01|2", "\x01\x00|1", "\xff|0"}},
		"timestamps by nanoseconds":          {batch.Timestamp, []any{ts(1002), ts(1001), ts(0)}, false, []string{"2024/02/03 04:05:06.000000000|2", "2024/02/03 04:05:06.000001001|1", "2024/02/03 04:05:06.000001002|0"}},
		"dates before 1970":                  {batch.Date, []any{time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(1901, 1, 2, 0, 0, 0, 0, time.UTC)}, false, []string{"1901/01/02 00:00:00.000|1", "1970/01/02 00:00:00.000|0"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var rows [][]any
			for i, v := range c.values {
				rows = append(rows, []any{v, i})
			}
			cs := "Y"
			if c.fold {
				cs = "N"
			}
			in := []transformtest.Input{{Fields: []batch.Field{field("v", c.typ), field("n", batch.Integer)}, Rows: rows}}
			up := transformtest.Run(t, transformtest.Case{Definition: relation.SortRows, Inputs: in, XML: "<fields>" + sortKey("V", "Y", cs) + "</fields>"})
			checkRows(t, up, c.want...)
			// Descending is the reverse, but equal rows keep their order.
			down := transformtest.Run(t, transformtest.Case{Definition: relation.SortRows, Inputs: in, XML: "<fields>" + sortKey("v", "N", cs) + sortKey("n", "N", "Y") + "</fields>"})
			both := transformtest.Run(t, transformtest.Case{Definition: relation.SortRows, Inputs: in, XML: "<fields>" + sortKey("v", "Y", cs) + sortKey("n", "Y", "Y") + "</fields>"})
			slices.Reverse(both.Rows[transform.Main])
			checkRows(t, down, both.Main()...)
		})
	}
}

// TestSortRowsAgreesWithCompare sorts random texts, good and bad UTF-8, long and
// short, in the order that comparing them gives.
func TestSortRowsAgreesWithCompare(t *testing.T) {
	parts := []string{"", "a", "B", "b", "\x00", "\x01", "\x02", "\x7f", "é", "É", "\uD7FF", "\uE000", "\uFFFD", "\U0001F600", "\U0010FFFF", "\xEE", "\xF0\x90", "\x80", "ß", "İ", "ı", "ǅ", "common beginning "}
	for _, fold := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(8, 9))
		env, _ := transformtest.NewEnv(t, nil)
		schema := batch.NewSchema(fields("s:String", "n:Integer")...)
		b := env.Alloc.Batch(schema)
		type row struct {
			text string
			n    int64
		}
		var want []row
		for n := range 4000 {
			var s strings.Builder
			for range rnd.IntN(9) {
				s.WriteString(parts[rnd.IntN(len(parts))])
			}
			b.Cols[0].AppendString(s.String())
			b.Cols[1].AppendInt(int64(n))
			want = append(want, row{s.String(), int64(n)})
		}
		slices.SortStableFunc(want, func(x, y row) int {
			return env.Semantics.CompareValues(batch.StringValue(x.text), batch.StringValue(y.text), fold)
		})
		caseSensitive := map[bool]string{false: "Y", true: "N"}[fold]
		i := 0
		drive(t, env, relation.SortRows, "<fields>"+sortKey("s", "Y", caseSensitive)+"</fields>", schema, []*batch.Batch{b}, func(o *batch.Batch) {
			for k := range o.All() {
				if got := (row{o.Cols[0].Str(k), o.Cols[1].Int(k)}); got != want[i] {
					t.Fatalf("ignoring case %v: row %d is %q (%d), want %q (%d)", fold, i, got.text, got.n, want[i].text, want[i].n)
				}
				i++
			}
		})
	}
}

func TestSortRowsUniqueKeepsTheFirstOfEqualKeys(t *testing.T) {
	in := []transformtest.Input{{Fields: fields("k:String", "n:Integer"), Rows: [][]any{
		{"b", 1}, {"a", 2}, {"B", 3}, {nil, 4}, {"a", 5}, {"", 6},
	}}}
	out := transformtest.Run(t, transformtest.Case{Definition: relation.SortRows, Inputs: in, XML: "<unique_rows>Y</unique_rows><fields>" + sortKey("k", "Y", "N") + "</fields>"})
	checkRows(t, out, "<null>|4", "a|2", "b|1")
}

func TestSortRowsNamesTheMissingField(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: relation.SortRows, Inputs: []transformtest.Input{{Fields: fields("a:String", "b:String")}},
		XML: "<fields>" + sortKey("c", "Y", "Y") + "</fields>",
	})
	if out.Err == nil || !strings.Contains(out.Err.Error(), `field "c" not found; the input has a, b`) {
		t.Errorf("got %v", out.Err)
	}
}

// TestSortRowsSpills sorts more rows than fit in memory, with every size of
// budget giving the rows of an unlimited one.
func TestSortRowsSpills(t *testing.T) {
	for _, unique := range []bool{false, true} {
		want := sortLarge(t, 1<<40, unique, 30_000)
		if n := len(want); !unique && n != 30_000 {
			t.Fatalf("%d rows", n)
		}
		for _, limit := range []int64{0, 300_000, 3_000_000, 6_000_000} {
			if got := sortLarge(t, limit, unique, 30_000); !slices.Equal(got, want) {
				t.Errorf("budget %d, unique %v: rows differ (%d rows, want %d)", limit, unique, len(got), len(want))
			}
		}
	}
}

// TestSortRowsMergesManyRuns makes more runs than are merged at once.
func TestSortRowsMergesManyRuns(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	env.Memory = &transformtest.Memory{Limit: 2 << 20}
	schema := batch.NewSchema(fields("k:String", "n:Integer", "pad:String")...)
	rnd := rand.New(rand.NewPCG(5, 6))
	pad := strings.Repeat("x", 6000)
	var list []*batch.Batch
	var want []string
	n := 0
	for range 100 {
		b := env.Alloc.Batch(schema)
		for range 100 {
			key := fmt.Sprintf("a common beginning %03d", rnd.IntN(500))
			b.Cols[0].AppendString(key)
			b.Cols[1].AppendInt(int64(n))
			b.Cols[2].AppendString(pad)
			want = append(want, fmt.Sprintf("%s %06d", key, n))
			n++
		}
		list = append(list, b)
	}
	slices.Sort(want) // the number keeps equal keys in the order they came
	var got []string
	drive(t, env, relation.SortRows, "<fields>"+sortKey("k", "Y", "Y")+"</fields>", schema, list, func(b *batch.Batch) {
		for i := range b.All() {
			got = append(got, fmt.Sprintf("%s %06d", b.Cols[0].Str(i), b.Cols[1].Int(i)))
		}
	})
	if !slices.Equal(got, want) {
		t.Error("rows are not in order")
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func sortLarge(t *testing.T, limit int64, unique bool, n int) []string {
	t.Helper()
	env, _ := transformtest.NewEnv(t, nil)
	memory := &transformtest.Memory{Limit: limit}
	env.Memory = memory
	xml := "<fields>" + sortKey("k", "Y", "Y") + sortKey("d", "N", "Y") + "</fields>"
	if unique {
		xml += "<unique_rows>Y</unique_rows>"
	}
	schema := batch.NewSchema(fields("k:String", "d:Number", "n:Integer", "pad:String")...)
	rnd := rand.New(rand.NewPCG(1, 2))
	var rows [][]any
	for i := range n {
		var d any = float64(rnd.IntN(5))
		if rnd.IntN(20) == 0 {
			d = nil
		}
		rows = append(rows, []any{fmt.Sprintf("a common beginning %d", rnd.IntN(n/10)), d, i, strings.Repeat("p", rnd.IntN(300))})
	}
	var batches []*batch.Batch
	for len(rows) > 0 {
		k := min(len(rows), 1+rnd.IntN(1500))
		batches = append(batches, transformtest.Batch(env, schema, rows[:k]))
		rows = rows[k:]
	}
	got := runStream(t, env, relation.SortRows, xml, schema, batches)
	if spilled := env.Spill.(*spill.Dir).Bytes() > 0; spilled != (limit < 1<<40) {
		t.Errorf("budget %d: spilled: %v", limit, spilled)
	}
	if memory.Request(limit) {
		memory.Release(limit)
	} else {
		t.Errorf("budget %d: memory was not given back", limit)
	}
	return got
}

// runStream runs a Stream over batches, which it takes over, and gives the rows.
func runStream(t testing.TB, env *transform.Env, d transform.Definition, xml string, schema *batch.Schema, batches []*batch.Batch) []string {
	t.Helper()
	var got []string
	drive(t, env, d, xml, schema, batches, func(b *batch.Batch) {
		texts, err := transformtest.Texts(env.Semantics, b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, texts...)
	})
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
	return got
}

// drive runs a transform of any shape over batches, which it takes over.
func drive(t testing.TB, env *transform.Env, d transform.Definition, xml string, schema *batch.Schema, batches []*batch.Batch, see func(*batch.Batch)) {
	t.Helper()
	links := transform.Links{Transform: "tested", Copies: 1, Outputs: []string{"out"}, Inputs: []transform.Input{{From: "in", Schema: schema}}}
	p, err := transformtest.Settings(t, d, xml).Start(env, links)
	if err != nil {
		t.Fatal(err)
	}
	emit := func(_ transform.Port, b *batch.Batch) error {
		see(b)
		b.Release()
		return nil
	}
	ctx := context.Background()
	if s, ok := p.(transform.Stream); ok {
		if err := s.Run(ctx, []transform.Reader{&sliceReader{schema, batches}}, emit); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, b := range batches {
		if err := apply(ctx, p, b, emit); err != nil {
			t.Fatal(err)
		}
		b.Release()
	}
	if f, ok := p.(transform.Finisher); ok {
		if err := f.Finish(ctx, emit); err != nil {
			t.Fatal(err)
		}
	}
	if c, ok := p.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func apply(ctx context.Context, p transform.Processor, b *batch.Batch, emit transform.Emit) error {
	if e, ok := p.(transform.Encoder); ok {
		half, err := e.Encode(ctx, b)
		if err != nil {
			return err
		}
		return e.ApplyEncoded(ctx, b, half, emit)
	}
	return p.(transform.RowWise).Apply(ctx, b, emit)
}

type sliceReader struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

func (r *sliceReader) Schema() *batch.Schema { return r.schema }

func (r *sliceReader) Next(context.Context) (*batch.Batch, error) {
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	b := r.batches[0]
	r.batches = r.batches[1:]
	return b, nil
}

func BenchmarkSortRowsTwoTextKeys(b *testing.B) {
	for name, limit := range map[string]int64{"memory": 1 << 40, "spill": 40 << 20} {
		b.Run(name, func(b *testing.B) {
			const n = 1_000_000
			env, _ := transformtest.NewEnv(b, nil)
			schema := batch.NewSchema(fields("customer:String", "ts:String", "id:Integer", "amount:Number", "note:String")...)
			batches := orders(env, schema, n)
			xml := "<fields>" + sortKey("customer", "Y", "Y") + sortKey("ts", "Y", "Y") + "</fields>"
			b.ResetTimer()
			for b.Loop() {
				env.Memory = &transformtest.Memory{Limit: limit}
				for _, x := range batches {
					x.Retain()
				}
				drive(b, env, relation.SortRows, xml, schema, batches, func(*batch.Batch) {})
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// orders makes rows as the order workloads have them.
func orders(env *transform.Env, schema *batch.Schema, n int) []*batch.Batch {
	rnd := rand.New(rand.NewPCG(7, 7))
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	var list []*batch.Batch
	for n > 0 {
		k := min(n, batch.MaxRows)
		n -= k
		o := env.Alloc.Batch(schema)
		for range k {
			o.Cols[0].AppendString(fmt.Sprintf("C%07d", rnd.IntN(105_000)))
			o.Cols[1].AppendString(day.Add(time.Duration(rnd.Int64N(731*24*3600*1000)) * time.Millisecond).Format("2006-01-02 15:04:05.000"))
			o.Cols[2].AppendInt(int64(n))
			o.Cols[3].AppendFloat(float64(rnd.IntN(100_000)) / 100)
			o.Cols[4].AppendString("leave at the door call before delivery"[:rnd.IntN(38)])
		}
		list = append(list, o)
	}
	return list
}

func negativeZero() float64 { z := 0.0; return -z * 1 }

func nan() float64 { z := 0.0; return z / z }
