package relation_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/relation"
)

// randomText gives the text of a random value of a type.
func randomText(rnd *rand.Rand, t batch.Type) string {
	digits := func(n int) string {
		var s strings.Builder
		for range n {
			s.WriteByte(byte('1' + rnd.IntN(9)))
		}
		return s.String()
	}
	sign := []string{"", "-"}[rnd.IntN(2)]
	switch t {
	case batch.Integer:
		return sign + digits(1+rnd.IntN(18))
	case batch.Number:
		return sign + digits(1+rnd.IntN(6)) + "." + digits(rnd.IntN(4)+1)
	case batch.BigNumber: // one scale or several, 64, 128 and more bits
		return sign + digits(1+rnd.IntN([]int{3, 17, 36, 90}[rnd.IntN(4)])) + "." + digits(1+rnd.IntN(3))
	case batch.Boolean:
		return []string{"Y", "N"}[rnd.IntN(2)]
	case batch.Date:
		return fmt.Sprintf("%d/%02d/%02d 01:02:03.%03d", 1900+rnd.IntN(200), 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(1000))
	case batch.Timestamp:
		return fmt.Sprintf("%d/%02d/%02d 01:02:03.%09d", 1900+rnd.IntN(200), 1+rnd.IntN(12), 1+rnd.IntN(28), rnd.IntN(1e9))
	case batch.UUID:
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", rnd.Uint32(), rnd.Uint32())
	case batch.Inet:
		return fmt.Sprintf("10.%d.%d.%d", rnd.IntN(256), rnd.IntN(256), rnd.IntN(256))
	case batch.JSON:
		return `{"a":"` + digits(1+rnd.IntN(20)) + `"}`
	}
	sizes := []int{0, 1, 15, 16, 17, 110, 125, 300}
	n := sizes[rnd.IntN(len(sizes))]
	if rnd.IntN(3000) == 0 {
		n = 700_000 // more than a piece of a run has
	}
	room := make([]byte, (n+1)/2)
	for i := range room {
		room[i] = byte(rnd.Uint32())
	}
	return hex.EncodeToString(room)[:n]
}

var everyType = []batch.Type{
	batch.String, batch.Integer, batch.Number, batch.BigNumber, batch.Boolean, batch.Date,
	batch.Timestamp, batch.Binary, batch.JSON, batch.UUID, batch.Inet,
}

// TestSortRowsKeepsAllValues sorts rows of all types, in columns that are typed, raw
// or either, in memory and on disk, and compares them with the rows that went in.
func TestSortRowsKeepsAllValues(t *testing.T) {
	const typed, raw, mixed = 0, 1, 2
	schema := batch.NewSchema(field("n", batch.Integer))
	for i, typ := range everyType {
		schema = schema.With(field(fmt.Sprintf("f%d", i), typ))
	}
	for name, kind := range map[string]int{"typed": typed, "raw": raw, "typed and raw": mixed} {
		for _, limit := range []int64{1 << 40, 1_500_000, 0} {
			t.Run(fmt.Sprintf("%s, budget %d", name, limit), func(t *testing.T) {
				env, _ := transformtest.NewEnv(t, nil)
				env.Memory = &transformtest.Memory{Limit: limit}
				codecs, err := env.Semantics.Codecs(schema)
				if err != nil {
					t.Fatal(err)
				}
				rnd := rand.New(rand.NewPCG(3, uint64(kind)))
				order := rnd.Perm(9000)
				want := make([]string, len(order))
				var batches []*batch.Batch
				for len(order) > 0 {
					rows := order[:min(len(order), 1+rnd.IntN(2000))]
					order = order[len(rows):]
					b := env.Alloc.Batch(schema)
					for k := range b.Cols {
						if k > 0 && (kind == raw || (kind == mixed && rnd.IntN(2) == 0)) {
							b.Cols[k].Release()
							b.Cols[k] = env.Alloc.RawColumn(schema.Fields[k].Type)
						}
						b.Cols[k].Plain = batch.PlainText{Separator: ';', Quote: '"'}
					}
					for _, n := range rows {
						b.Cols[0].AppendInt(int64(n))
						for k, c := range b.Cols[1:] {
							if rnd.IntN(9) == 0 {
								c.AppendNull()
								continue
							}
							text := randomText(rnd, everyType[k])
							if c.Raw {
								c.AppendString(text)
							} else if err := codecs[k+1].ParseInto(c, []byte(text)); err != nil {
								t.Fatal(err)
							}
						}
					}
					texts, err := transformtest.Texts(env.Semantics, b)
					if err != nil {
						t.Fatal(err)
					}
					for i, n := range rows {
						want[n] = texts[i]
					}
					if rnd.IntN(2) == 0 { // as two batches that share columns
						half := b.Rows() / 2
						batches = append(batches, b.Slice(0, half), b.Slice(half, b.Rows()))
						b.Release()
						continue
					}
					batches = append(batches, b)
				}
				var got []string
				drive(t, env, relation.SortRows, "<fields>"+sortKey("n", "Y", "Y")+"</fields>", schema, batches, func(b *batch.Batch) {
					texts, err := transformtest.Texts(env.Semantics, b)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, texts...)
					for k, c := range b.Cols {
						if k > 0 && kind != mixed && c.Raw != (kind == raw) {
							t.Errorf("column %d: raw is %v", k, c.Raw)
						}
						if c.Plain != (batch.PlainText{Separator: ';', Quote: '"'}) {
							t.Errorf("column %d: plainness was lost", k)
						}
					}
				})
				if err := env.Alloc.CheckLeaks(); err != nil {
					t.Error(err)
				}
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("%d rows; row %d differs", len(got), i)
					}
				}
				if len(got) != len(want) {
					t.Errorf("%d rows, want %d", len(got), len(want))
				}
			})
		}
	}
}

// TestSortRowsPromisesPlainTextOnlyWhenAllBatchesDo has one batch without the promise.
func TestSortRowsPromisesPlainTextOnlyWhenAllBatchesDo(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	schema := batch.NewSchema(fields("s:String")...)
	var batches []*batch.Batch
	for _, text := range []string{"plain", "not;plain"} {
		b := env.Alloc.Batch(schema)
		b.Cols[0].AppendString(text)
		if text == "plain" {
			b.Cols[0].Plain = batch.PlainText{Separator: ';', Quote: '"'}
		}
		batches = append(batches, b)
	}
	drive(t, env, relation.SortRows, "<fields>"+sortKey("s", "Y", "Y")+"</fields>", schema, batches, func(b *batch.Batch) {
		if b.Cols[0].Plain != (batch.PlainText{}) {
			t.Errorf("plain: %+v", b.Cols[0].Plain)
		}
	})
}

// TestSortRowsNamesWhatCannotBeConverted has text that is no number in a key, and in
// a column that has to become typed because another batch's is.
func TestSortRowsNamesWhatCannotBeConverted(t *testing.T) {
	schema := batch.NewSchema(fields("k:Integer", "v:Integer")...)
	cases := map[string]struct {
		key, value, field string
		row               int64
	}{
		"key":   {"x", "1", "k", 3},
		"value": {"1", "x", "v", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			env, _ := transformtest.NewEnv(t, nil)
			first := transformtest.Batch(env, schema, [][]any{{1, 2}})
			second := env.Alloc.Assemble(schema, []*batch.Column{env.Alloc.RawColumn(batch.Integer), env.Alloc.RawColumn(batch.Integer)}, 2)
			for i, text := range []string{"1", c.key} {
				second.Cols[0].AppendString(text)
				second.Cols[1].AppendString([]string{"1", c.value}[i])
			}
			p, err := transformtest.Settings(t, relation.SortRows, "<fields>"+sortKey("k", "Y", "Y")+"</fields>").
				Start(env, transform.Links{Transform: "tested", Copies: 1, Outputs: []string{"out"}, Inputs: []transform.Input{{From: "in", Schema: schema}}})
			if err != nil {
				t.Fatal(err)
			}
			err = p.(transform.Stream).Run(context.Background(), []transform.Reader{&sliceReader{schema, []*batch.Batch{first, second}}}, func(_ transform.Port, b *batch.Batch) error {
				b.Release()
				return nil
			})
			var at *engine.Error
			if !errors.As(err, &at) || at.Field != c.field || at.Row != c.row {
				t.Errorf("got %v (%+v)", err, at)
			}
			if err := env.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSortRowsComparesLongKeysWhole has keys that differ far behind their beginning,
// in several fields, in memory and on disk.
func TestSortRowsComparesLongKeysWhole(t *testing.T) {
	for _, limit := range []int64{1 << 40, 0} {
		env, _ := transformtest.NewEnv(t, nil)
		env.Memory = &transformtest.Memory{Limit: limit}
		schema := batch.NewSchema(fields("a:String", "b:String", "pad:String")...)
		rnd := rand.New(rand.NewPCG(1, 1))
		var want []string
		var batches []*batch.Batch
		for range 8 {
			b := env.Alloc.Batch(schema)
			for range 1000 {
				x := strings.Repeat("same ", rnd.IntN(30)) + string(rune('a'+rnd.IntN(3)))
				y := strings.Repeat("again ", 40) + fmt.Sprint(rnd.IntN(1000))
				b.Cols[0].AppendString(x)
				b.Cols[1].AppendString(y)
				b.Cols[2].AppendString(strings.Repeat(".", 100))
				want = append(want, x+"\x00"+y)
			}
			batches = append(batches, b)
		}
		slices.Sort(want)
		var got []string
		drive(t, env, relation.SortRows, "<fields>"+sortKey("a", "Y", "Y")+sortKey("b", "Y", "Y")+"</fields>", schema, batches, func(b *batch.Batch) {
			for i := range b.All() {
				got = append(got, b.Cols[0].Str(i)+"\x00"+b.Cols[1].Str(i))
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("budget %d: rows are not in order", limit)
		}
	}
}
