package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/gate"
	"sluice/engine/transform"
	"sluice/storage"
)

// everyType gives rows of all types: null and empty, decimals of any precision,
// nanoseconds, NaN, the ends of time.
var everyType = transform.Define[everySettings](transform.About{ID: "TestEveryType", Name: "Every type"})

type everySettings struct {
	Rows int `hop:"rows"`
}

func (s *everySettings) schema() *batch.Schema {
	var fields []batch.Field
	for _, t := range batch.SelectableTypes() {
		f := batch.NewField("f "+t.String(), t)
		f.Comments = "<&> \"é\""
		fields = append(fields, f)
	}
	fields[0].Length, fields[0].Trim = 40, batch.TrimBoth
	fields[3].Length, fields[3].Precision, fields[3].Mask = 30, 2, "#,##0.00"
	fields[5].Mask, fields[5].Zone, fields[5].Locale, fields[5].Strict = "yyyy-MM-dd", "Europe/Berlin", "de_DE", true
	return batch.NewSchema(fields...)
}

func (s *everySettings) Output(transform.Links, transform.Design) (transform.Schemas, error) {
	return transform.OnMain(s.schema())
}

func (s *everySettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &everySource{env: env, schema: s.schema(), n: s.Rows}, nil
}

type everySource struct {
	transform.Producer
	env    *transform.Env
	schema *batch.Schema
	n      int
}

func (p *everySource) Produce(_ context.Context, emit transform.Emit) error {
	for from := 0; from < p.n; from += 1000 {
		b := p.env.Alloc.Batch(p.schema)
		for i := from; i < min(p.n, from+1000); i++ {
			for k, c := range b.Cols {
				if (i+k)%7 == 0 {
					c.AppendNull()
					continue
				}
				appendAny(c, i)
			}
		}
		if err := emit(transform.Main, b); err != nil {
			return err
		}
	}
	return nil
}

func appendAny(c *batch.Column, i int) {
	moments := []int64{0, -1, -62135596800000, 253402300799999, 1700000000123}
	switch c.Type {
	case batch.String, batch.JSON:
		c.AppendString([]string{"", "text é\x00", `{"a":null}`, strings.Repeat("x", i%50)}[i%4])
	case batch.Integer:
		c.AppendInt([]int64{0, -1, math.MaxInt64, math.MinInt64, int64(i)}[i%5])
	case batch.Number:
		c.AppendFloat([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.MaxFloat64, 1.0 / 3}[i%7])
	case batch.BigNumber:
		text := []string{"0", "1.00", "1.0", "-123456789012345678901234567890.123456789", "1E+40", "99999999999999999999999999999999999999999999"}[i%6]
		if i < 2000 { // a scale that fits first, then others
			text = fmt.Sprintf("%d.%02d", i, i%100)
		}
		d, err := decimal.Parse(text)
		if err != nil {
			panic(err)
		}
		c.AppendDecimal(d)
	case batch.Boolean:
		c.AppendBool(i%2 == 0)
	case batch.Date:
		c.AppendInt(moments[i%len(moments)])
	case batch.Timestamp:
		c.AppendTimestamp(moments[i%len(moments)]*1000, int32(i%1000))
	case batch.Inet:
		c.AppendBytes([]byte{127, 0, 0, byte(i)})
	case batch.UUID:
		c.AppendBytes(bytes.Repeat([]byte{byte(i)}, 16))
	default:
		c.AppendBytes([]byte{0, byte(i), 255})
	}
}

func TestAllTypesComeBackExactly(t *testing.T) {
	for name, settings := range map[string][]string{"snappy": nil, "zstd, compatible": {"compression=zstd", "compatible=yes"}} {
		t.Run(name, func(t *testing.T) {
			w := use(newWorld(t, &storage.Memory{}))
			file := w.file("a.hpl", marked(t, hpl("in>out", node("in", "TestEveryType", "<rows>9000</rows>"), node("out", "TestExact", "")), "in", settings...))
			first := w.mustRun(file, gate.SessionOptions{})
			again := w.mustRun(file, from("in"))
			if n := len(first.rows["out.0"]); n != 9000 {
				t.Fatalf("%d rows", n)
			}
			if diff := cmp.Diff(first.rows, again.rows); diff != "" {
				t.Error(diff)
			}
			src := openSealed(t, w, first.outcome(t))
			want := (&everySettings{}).schema()
			got := src.Parts()[0].Schema
			if diff := cmp.Diff(want.Fields, got.Fields); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func openSealed(t testing.TB, w *world, o gate.Outcome) *gate.Source {
	t.Helper()
	src, err := gate.OpenSource(t.Context(), w.place, storage.SnapshotRef{Gate: o.Gate, ID: o.Snapshot}, w.alloc)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// exact is a target that keeps every bit of a row.
var exact = transform.Define[exactSettings](transform.About{ID: "TestExact", Name: "Exact", Sink: true})

type exactSettings struct {
	Note string `hop:"note"`
}

func (s *exactSettings) Output(l transform.Links, _ transform.Design) (transform.Schemas, error) {
	return transform.OnMain(l.Main())
}

func (s *exactSettings) Start(env *transform.Env, _ transform.Links) (transform.Processor, error) {
	return &exactTarget{key: fmt.Sprintf("%s.%d", env.Transform, env.Copy)}, nil
}

type exactTarget struct {
	transform.Stateful
	key string
}

func (p *exactTarget) Apply(_ context.Context, b *batch.Batch, emit transform.Emit) error {
	s := current.sinks
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.All() {
		var row strings.Builder
		for _, c := range b.Cols {
			v := c.Value(i)
			fmt.Fprintf(&row, "%v %x %d %d %q %s;", v.Valid, math.Float64bits(v.Float), v.Int, v.Nano, v.Text, v.Dec.String())
		}
		s.rows[p.key] = append(s.rows[p.key], row.String())
	}
	return emit(transform.Main, b.Retain())
}

func TestExportAndCompare(t *testing.T) {
	w := use(newWorld(t, &storage.Memory{}))
	text := func(rows string) string {
		return edited(t, hpl("in>out", node("in", "TestSource", "<rows>"+rows+"</rows>"), node("out", "TestTarget", "")), gate.Mark("in", nil, ids(1, 2, 3, 4, 5, 6)))
	}
	a := openSealed(t, w, w.mustRun(w.file("a.hpl", text("3")), gate.SessionOptions{}).outcome(t))
	b := openSealed(t, w, w.mustRun(w.file("a.hpl", text("5")), gate.SessionOptions{}).outcome(t))
	var csv bytes.Buffer
	part, err := a.Part("")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := a.ExportCSV(t.Context(), part, &csv); n != 3 || err != nil || csv.String() != "id,name\n0,name 0\n1,name 1\n2,name 2\n" {
		t.Errorf("%d, %v: %s", n, err, csv.String())
	}
	c, err := gate.Compare(t.Context(), a, b, 10)
	if err != nil {
		t.Fatal(err)
	}
	if c.Equal || len(c.Rows) != 2 || c.Rows[0].Row != 4 || c.Rows[0].Then != nil || len(c.Counts) != 1 || len(c.Schemas) != 0 {
		t.Errorf("%+v", c)
	}
	if c, err := gate.Compare(t.Context(), a, a, 10); err != nil || !c.Equal {
		t.Errorf("%+v, %v", c, err)
	}
}
