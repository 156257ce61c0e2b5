package digest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/digest"
)

func schema() *batch.Schema {
	s := batch.NewSchema()
	for _, t := range batch.SelectableTypes() {
		s.Fields = append(s.Fields, batch.NewField(t.String(), t))
	}
	s.Fields = append(s.Fields, batch.NewField("scales", batch.BigNumber), batch.NewField("moment", batch.Timestamp))
	return s
}

// table makes rows of values, many of them null.
func table(n int) [][]batch.Value {
	r := rand.New(rand.NewPCG(1, 1))
	s := schema()
	out := make([][]batch.Value, n)
	for i := range out {
		for k, f := range s.Fields {
			v := batch.Value{Type: f.Type, Valid: r.IntN(4) > 0 || (i < 5000 && k%2 == 0)}
			v.Int = int64(r.Uint64() >> r.IntN(64))
			v.Float = r.NormFloat64()
			v.Text = fmt.Sprint(r.IntN(1000))
			v.Dec = decimal.FromInt128(0, uint64(r.IntN(1000)), 2)
			switch {
			case f.Type == batch.UUID:
				v.Text = fmt.Sprintf("%016d", r.IntN(1000))
			case f.Type == batch.Boolean:
				v.Int &= 1
			case f.Name == "scales":
				v.Dec = decimal.FromInt128(r.Int64N(2), uint64(r.IntN(1000)), r.Int32N(3))
			case f.Name == "moment":
				v.Nano = r.Int32N(1000)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// batches puts rows into batches of the given sizes, in turn.
func batches(rows [][]batch.Value, sizes ...int) []*batch.Batch {
	a := batch.NewAllocator()
	s := schema()
	var list []*batch.Batch
	for turn := 0; len(rows) > 0; turn++ {
		n := min(len(rows), sizes[turn%len(sizes)])
		b := a.Batch(s)
		for _, row := range rows[:n] {
			for k, v := range row {
				b.Cols[k].AppendValue(v)
			}
		}
		list = append(list, b)
		rows = rows[n:]
	}
	return list
}

func sum(t testing.TB, s *batch.Schema, list ...*batch.Batch) string {
	t.Helper()
	d := digest.New(s, []byte("canonical"))
	rows := int64(0)
	for _, b := range list {
		if err := d.Add(b); err != nil {
			t.Fatal(err)
		}
		rows += int64(b.Rows())
	}
	if d.Rows() != rows {
		t.Errorf("%d rows were counted of %d", d.Rows(), rows)
	}
	return fmt.Sprintf("%x", d.Sum())
}

// rowsTwo is the digest of table(13000): the layout "sluice rows 2" never changes.
const rowsTwo = "3f20f704bb81b5bbc6c0f10c4477d46921f079ebb3071de382157fa7798bcac6"

func TestBatchingDoesNotMatter(t *testing.T) {
	rows := table(13000)
	want := sum(t, schema(), batches(rows, 4096)...)
	if want != rowsTwo {
		t.Errorf("the digest is %s instead of %s", want, rowsTwo)
	}
	cases := map[string][]*batch.Batch{
		"one batch":      batches(rows, 13000),
		"single rows":    batches(rows, 1),
		"odd sizes":      batches(rows, 7, 1000, 4096, 3, 5000),
		"across a block": batches(rows, 4095, 2, 4096),
	}
	var selected []*batch.Batch
	for _, b := range batches(rows, 5000) {
		var even, odd []int32
		for i := range int32(b.Physical()) {
			if i < 2000 {
				even = append(even, i)
			} else {
				odd = append(odd, i)
			}
		}
		selected = append(selected, b.Select(even), b.Select(odd))
	}
	cases["selections"] = selected
	for name, list := range cases {
		t.Run(name, func(t *testing.T) {
			if got := sum(t, schema(), list...); got != want {
				t.Errorf("the digest is %s instead of %s", got, want)
			}
		})
	}
}

func TestJunkBehindNullsDoesNotMatter(t *testing.T) {
	rows := table(6000)
	clean := batches(rows, 3000)
	junk := batches(rows, 3000)
	for n, b := range junk {
		full := batches(func() [][]batch.Value {
			out := table(6000)[n*3000 : n*3000+3000]
			for _, row := range out {
				for k := range row {
					row[k].Valid = true
				}
			}
			return out
		}(), 3000)[0]
		for k, c := range b.Cols {
			if c.Nulls() > 0 {
				full.Cols[k].SetValid(c.Valid)
			}
		}
		junk[n] = full
	}
	if a, b := sum(t, schema(), clean...), sum(t, schema(), junk...); a != b {
		t.Errorf("the digest is %s instead of %s", b, a)
	}
}

func TestDecimalRepresentationDoesNotMatter(t *testing.T) {
	s := batch.NewSchema(batch.NewField("d", batch.BigNumber))
	words := batch.NewAllocator().Batch(s)
	big := batch.NewAllocator().Batch(s)
	huge, _ := decimal.Parse("123456789012345678901234567890123456789012345678901234567890")
	big.Cols[0].AppendDecimal(huge)
	for i := range 100 {
		d := decimal.FromInt128(0, uint64(i), 2)
		words.Cols[0].AppendDecimal(d)
		big.Cols[0].AppendDecimal(d)
	}
	if words.Cols[0].Big != nil || big.Cols[0].Big == nil {
		t.Fatal("the columns do not store their decimals in two ways")
	}
	var sel []int32
	for i := range int32(100) {
		sel = append(sel, i+1)
	}
	if a, b := sum(t, s, words), sum(t, s, big.Select(sel)); a != b {
		t.Errorf("the digests are %s and %s", a, b)
	}
}

func TestEveryCellCounts(t *testing.T) {
	rows := table(300)
	want := sum(t, schema(), batches(rows, 300)...)
	r := rand.New(rand.NewPCG(2, 2))
	for i := range rows {
		for k := range rows[i] {
			if i%10 != k%10 {
				continue
			}
			old := rows[i][k]
			changes := map[string]func(v *batch.Value){
				"null": func(v *batch.Value) { v.Valid = !v.Valid },
				"value": func(v *batch.Value) {
					v.Int ^= 1
					v.Float = math.Nextafter(v.Float, 9)
					v.Text = string(rune('a'+r.IntN(20))) + v.Text[1:]
					v.Dec = v.Dec.Neg()
				},
			}
			if v := old; v.Type == batch.BigNumber && (!v.Valid || v.Dec.IsZero()) || !v.Valid {
				delete(changes, "value")
			}
			if k == len(rows[i])-1 && old.Valid {
				changes["nanoseconds"] = func(v *batch.Value) { v.Nano = (v.Nano + 1) % 1000 }
			}
			for name, change := range changes {
				change(&rows[i][k])
				if got := sum(t, schema(), batches(rows, 300)...); got == want {
					t.Errorf("row %d, field %q: another %s gives the same digest", i, schema().Fields[k].Name, name)
				}
				rows[i][k] = old
			}
		}
	}
}

func one(t *testing.T, typ batch.Type, values ...batch.Value) string {
	s := batch.NewSchema(batch.NewField("f", typ))
	b := batch.NewAllocator().Batch(s)
	for _, v := range values {
		b.Cols[0].AppendValue(v)
	}
	return sum(t, s, b)
}

func TestDifferentRows(t *testing.T) {
	text := func(list ...string) string {
		var values []batch.Value
		for _, v := range list {
			values = append(values, batch.StringValue(v))
		}
		return one(t, batch.String, values...)
	}
	number := func(text string) string {
		d, err := decimal.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return one(t, batch.BigNumber, batch.DecimalValue(d))
	}
	cases := map[string][2]string{
		"order":               {text("a", "b"), text("b", "a")},
		"where a text ends":   {text("ab", "c"), text("a", "bc")},
		"empty and null":      {text(""), one(t, batch.String, batch.Null(batch.String))},
		"which one is null":   {one(t, batch.String, batch.Null(batch.String), batch.StringValue("x")), one(t, batch.String, batch.StringValue("x"), batch.Null(batch.String))},
		"number of rows":      {text(), one(t, batch.String, batch.Null(batch.String))},
		"scale":               {number("1.0"), number("1.00")},
		"scale of a long one": {number("1234567890123456789012345.0"), number("1234567890123456789012345.00")},
		"sign of zero":        {one(t, batch.Number, batch.NumberValue(0)), one(t, batch.Number, batch.NumberValue(math.Copysign(0, -1)))},
		"integer and date":    {one(t, batch.Integer, batch.IntegerValue(1)), one(t, batch.Integer, batch.IntegerValue(2))},
		"width":               {one(t, batch.Integer, batch.IntegerValue(1), batch.IntegerValue(300)), one(t, batch.Integer, batch.IntegerValue(1), batch.IntegerValue(44))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c[0] == c[1] {
				t.Error("different rows have the same digest")
			}
		})
	}
}

func TestSchemaCounts(t *testing.T) {
	s := batch.NewSchema()
	a, b := digest.New(s, []byte("a")).Sum(), digest.New(s, []byte("b")).Sum()
	if a == b {
		t.Error("different schemas have the same digest")
	}
}

func TestRowsWithoutFields(t *testing.T) {
	s := batch.NewSchema()
	b := batch.NewAllocator().Batch(s)
	b.SetRows(3)
	if sum(t, s, b) == sum(t, s, b, b) {
		t.Error("3 and 6 rows have the same digest")
	}
}

func TestWrongColumnsAreRefused(t *testing.T) {
	a := batch.NewAllocator()
	c := a.RawColumn(batch.Integer)
	c.AppendString("1")
	s := batch.NewSchema(batch.NewField("n", batch.Integer))
	if err := digest.New(s, nil).Add(a.Assemble(s, []*batch.Column{c}, 1)); err == nil {
		t.Error("unconverted text was added")
	}
}

func BenchmarkAdd(b *testing.B) {
	s := batch.NewSchema(batch.NewField("id", batch.Integer), batch.NewField("ts", batch.Date), batch.NewField("customer", batch.String),
		batch.NewField("country", batch.String), batch.NewField("amount", batch.BigNumber), batch.NewField("qty", batch.Integer), batch.NewField("note", batch.String))
	r := rand.New(rand.NewPCG(3, 3))
	rows := batch.NewAllocator().Batch(s)
	for i := range batch.MaxRows {
		rows.Cols[0].AppendInt(int64(i) + 1000000)
		rows.Cols[1].AppendInt(1704067200000 + r.Int64N(63072000000))
		rows.Cols[2].AppendString(fmt.Sprintf("C%07d", r.IntN(100000)))
		rows.Cols[3].AppendString("DE")
		rows.Cols[4].AppendDecimal(decimal.FromInt128(0, uint64(r.IntN(50000)), 2))
		rows.Cols[5].AppendInt(r.Int64N(20))
		if r.IntN(10) < 3 {
			rows.Cols[6].AppendNull()
		} else {
			rows.Cols[6].AppendString("leave it with the neighbour")
		}
	}
	d := digest.New(s, nil)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Add(rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(batch.MaxRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
