package batch_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

func dec(t testing.TB, s string) decimal.Decimal {
	t.Helper()
	d, err := decimal.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// everyType has one field of each type.
func everyType() *batch.Schema {
	var fields []batch.Field
	for _, t := range batch.SelectableTypes() {
		fields = append(fields, batch.NewField(t.String(), t))
	}
	return batch.NewSchema(fields...)
}

// random gives a value of a type; some are null, some extreme.
func random(r *rand.Rand, t batch.Type) batch.Value {
	if r.IntN(5) == 0 {
		return batch.Null(t)
	}
	v := batch.Value{Type: t, Valid: true}
	switch t {
	case batch.Number:
		v.Float = []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1.5, r.NormFloat64()}[r.IntN(6)]
	case batch.Integer, batch.Date:
		v.Int = r.Int64() >> r.IntN(64)
	case batch.Timestamp:
		v.Int, v.Nano = r.Int64()>>r.IntN(40), int32(r.IntN(3)*r.IntN(1000)/2)
	case batch.Boolean:
		v.Int = int64(r.IntN(2))
	case batch.BigNumber:
		d, _ := decimal.Parse(strings.Repeat("9", 1+r.IntN(60)) + "." + strings.Repeat("3", r.IntN(4)))
		v.Dec = d
	case batch.UUID:
		v.Text = "0123456789abcdef"
	case batch.Inet:
		v.Text = "\x7f\x00\x00\x01"
	default:
		v.Text = strings.Repeat("é", r.IntN(20))
	}
	return v
}

func same(a, b batch.Value) bool {
	if a.Valid != b.Valid || a.Type != b.Type {
		return false
	}
	if !a.Valid {
		return true
	}
	if a.Type == batch.BigNumber {
		return a.Dec.String() == b.Dec.String()
	}
	return math.Float64bits(a.Float) == math.Float64bits(b.Float) && a.Int == b.Int && a.Nano == b.Nano && a.Text == b.Text
}

func TestColumnsKeepWhatIsAppended(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := batch.NewAllocator()
	for round := range 20 {
		schema := everyType()
		b := a.Batch(schema)
		want := make([][]batch.Value, schema.Len())
		rows := r.IntN(300)
		for range rows {
			for k := range schema.Fields {
				v := random(r, schema.Fields[k].Type)
				want[k] = append(want[k], v)
				b.Cols[k].AppendValue(v)
			}
		}
		var sel []int32
		for i := range rows {
			if r.IntN(2) == 0 {
				sel = append(sel, int32(i))
			}
		}
		g := b.Gather(sel)
		var enc batch.FrameEncoder
		frame := enc.Append(nil, g)
		dec := batch.NewFrameDecoder(a, schema)
		back, err := dec.Decode(frame[:batch.FrameHeader], frame[batch.FrameHeader:])
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		part := a.Batch(schema)
		for k := range schema.Fields {
			part.Cols[k].AppendRange(b.Cols[k], 0, rows/2)
			part.Cols[k].AppendRange(b.Cols[k], rows/2, rows)
			nulls := 0
			for i := range rows {
				if !want[k][i].Valid {
					nulls++
				}
				if got := b.Cols[k].Value(i); !same(got, want[k][i]) {
					t.Fatalf("round %d: %s row %d is %+v, want %+v", round, schema.Fields[k].Name, i, got, want[k][i])
				}
				if got := part.Cols[k].Value(i); !same(got, want[k][i]) {
					t.Fatalf("round %d: appended range: %s row %d is %+v, want %+v", round, schema.Fields[k].Name, i, got, want[k][i])
				}
			}
			if b.Cols[k].Nulls() != nulls {
				t.Errorf("%s counts %d nulls, want %d", schema.Fields[k].Name, b.Cols[k].Nulls(), nulls)
			}
			for o, i := range sel {
				if got := g.Cols[k].Value(o); !same(got, want[k][i]) {
					t.Fatalf("round %d: gathered %s row %d is %+v, want %+v", round, schema.Fields[k].Name, o, got, want[k][i])
				}
				if got := back.Cols[k].Value(o); !same(got, want[k][i]) {
					t.Fatalf("round %d: read back %s row %d is %+v, want %+v", round, schema.Fields[k].Name, o, got, want[k][i])
				}
			}
		}
		cut := rows / 3
		for k := range schema.Fields {
			part.Cols[k].Truncate(cut)
			for i := range cut {
				if got := part.Cols[k].Value(i); !same(got, want[k][i]) {
					t.Fatalf("round %d: truncated %s row %d is %+v", round, schema.Fields[k].Name, i, got)
				}
			}
			part.Cols[k].AppendValue(random(r, schema.Fields[k].Type))
			if part.Cols[k].Len() != cut+1 {
				t.Fatalf("round %d: %s has %d rows after a cut to %d and one more", round, schema.Fields[k].Name, part.Cols[k].Len(), cut)
			}
		}
		for _, x := range []*batch.Batch{b, g, back, part} {
			x.Release()
		}
	}
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestADamagedFrameIsRefused(t *testing.T) {
	a := batch.NewAllocator()
	schema := everyType()
	b := a.Batch(schema)
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		for k := range schema.Fields {
			b.Cols[k].AppendValue(random(r, schema.Fields[k].Type))
		}
	}
	var enc batch.FrameEncoder
	frame := enc.Append(nil, b)
	b.Release()
	d := batch.NewFrameDecoder(a, schema)
	for i := 4; i < len(frame); i++ {
		bad := bytes.Clone(frame)
		bad[i] ^= 0x40
		if got, err := d.Decode(bad[:batch.FrameHeader], bad[batch.FrameHeader:]); err == nil {
			got.Release()
			t.Fatalf("byte %d changed and nothing was noticed", i)
		}
	}
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestSelections(t *testing.T) {
	a := batch.NewAllocator()
	s := batch.NewSchema(batch.NewField("n", batch.Integer))
	b := a.Batch(s)
	for i := range 6 {
		b.Cols[0].AppendInt(int64(i))
	}
	sel := b.Select([]int32{1, 3, 5})
	part := sel.Slice(1, 3)
	dense := part.Dense()
	var got []string
	for i := range dense.All() {
		got = append(got, fmt.Sprint(dense.Cols[0].Int(i)))
	}
	if strings.Join(got, " ") != "3 5" || sel.Rows() != 3 || part.Row(1) != 5 || dense.Sel != nil {
		t.Errorf("got %v", got)
	}
	none := b.Select(nil)
	if none.Rows() != 0 {
		t.Error("an empty selection selects rows")
	}
	for _, x := range []*batch.Batch{b, sel, part, dense, none} {
		x.Release()
	}
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
	if a.Live() != 0 {
		t.Error("live")
	}
}

func TestReleasingTwiceIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	a := batch.NewAllocator()
	c := a.Column(batch.Integer)
	c.Release()
	c.Release()
}

func TestRawTextIsConvertedWhenItIsNeeded(t *testing.T) {
	a := batch.NewAllocator()
	f := batch.NewField("n", batch.Integer)
	s := batch.NewSchema(f)
	c := a.RawColumn(batch.Integer)
	for _, text := range []string{"1", "x", "3"} {
		c.AppendString(text)
	}
	b := a.Assemble(s, []*batch.Column{c}, 3)
	codec, err := batch.DefaultSemantics(time.UTC).Codec(&f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Col(0, codec); err == nil || !strings.Contains(err.Error(), `"x" cannot become Integer`) {
		t.Errorf("error is %v", err)
	}
	good := b.Select([]int32{0, 2})
	col, err := good.Col(0, codec)
	if err != nil {
		t.Fatalf("a text that nobody selected is in the way: %v", err)
	}
	if col.Int(0) != 1 || col.Int(2) != 3 {
		t.Error("wrong values")
	}
	good.Release()
	b.Release()
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestSchemaNames(t *testing.T) {
	s := batch.NewSchema(batch.NewField("a", batch.String), batch.NewField("B", batch.String))
	s = s.With(batch.NewField("A", batch.String), batch.NewField("a", batch.String), batch.NewField("b", batch.String))
	if diff := cmp.Diff([]string{"a", "B", "A_1", "a_2", "b_1"}, s.Names()); diff != "" {
		t.Error(diff)
	}
	if s.Index("b") != 1 || s.Index("a_1") != 2 || s.Index("zz") != -1 {
		t.Error("lookup without case, first match")
	}
	other := s.Clone()
	other.Fields[3].Type = batch.Integer
	if err := s.SameLayout(other); err == nil || !strings.Contains(err.Error(), `"a_2" is String in one and Integer in the other`) {
		t.Errorf("error is %v", err)
	}
}
