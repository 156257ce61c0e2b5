package rows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

func TestSelectValues(t *testing.T) {
	abc := []batch.Field{text("b"), integer("A"), text("c")}
	row := [][]any{{"x", 7, "z"}}
	day := time.Date(2024, 1, 5, 0, 0, 0, 0, time.UTC)
	runExamples(t, rows.SelectValues, map[string]example{
		"selects in the listed order and renames": {
			xml:    `<fields><field><name>c</name></field><field><name>a</name><rename>n</rename></field></fields>`,
			fields: abc, rows: row, want: []string{"z|7"}, layout: "c String, n Integer",
		},
		"one field twice": {
			xml:    `<fields><field><name>b</name></field><field><name>b</name><rename>B2</rename></field></fields>`,
			fields: abc, rows: row, want: []string{"x|x"}, layout: "b String, B2 String",
		},
		"unspecified fields follow by name": {
			xml:    `<fields><field><name>c</name></field><select_unspecified>Y</select_unspecified></fields>`,
			fields: abc, rows: row, want: []string{"z|7|x"}, layout: "c String, A Integer, b String",
		},
		"removes": {
			xml:    `<fields><remove><name>a</name></remove><remove><name>C</name></remove></fields>`,
			fields: abc, rows: row, want: []string{"x"}, layout: "b String",
		},
		"nothing set passes rows on": {fields: abc, rows: row, want: []string{"x|7|z"}},
		"remove looks at the new names": {
			xml:    `<fields><field><name>b</name><rename>x</rename></field><field><name>c</name></field><remove><name>x</name></remove></fields>`,
			fields: abc, rows: row, want: []string{"z"},
		},
		"the same name twice is refused": {
			xml:    `<fields><field><name>b</name></field><field><name>c</name><rename>b</rename></field></fields>`,
			fields: abc, err: `"b" is selected twice`,
		},
		"names that differ in case get a number": {
			xml:    `<fields><field><name>b</name></field><field><name>c</name><rename>B</rename></field></fields>`,
			fields: abc, rows: row, want: []string{"x|z"}, layout: "b String, B_1 String",
		},
		"an unknown field is refused":       {xml: `<fields><field><name>q</name></field></fields>`, fields: abc, err: `field "q" not found; the input has b, A, c`},
		"an unknown removal is refused":     {xml: `<fields><remove><name>q</name></remove></fields>`, fields: abc, err: `remove: field "q"`},
		"an unknown conversion is refused":  {xml: `<fields><meta><name>q</name></meta></fields>`, fields: abc, err: `change metadata: field "q"`},
		"a conversion listed twice as well": {xml: `<fields><meta><name>b</name></meta><meta><name>B</name></meta></fields>`, fields: abc, err: "listed twice"},
		"text becomes a date by its mask": {
			xml:    `<fields><meta><name>d</name><type>Date</type><conversion_mask>dd-MM-yyyy</conversion_mask></meta></fields>`,
			fields: []batch.Field{text("d")}, rows: [][]any{{"05-01-2024"}, {nil}, {""}}, want: []string{"05-01-2024", "<null>", "<null>"}, layout: "d Date",
		},
		"dates are strict unless lenient is set": {
			xml:    `<fields><meta><name>d</name><type>Date</type><conversion_mask>dd-MM-yyyy</conversion_mask></meta></fields>`,
			fields: []batch.Field{text("d")}, rows: [][]any{{"05-13-2024"}}, err: `"05-13-2024" cannot become Date`,
		},
		"lenient dates roll over": {
			xml:    `<fields><meta><name>d</name><type>Date</type><conversion_mask>dd-MM-yyyy</conversion_mask><date_format_lenient>true</date_format_lenient></meta></fields>`,
			fields: []batch.Field{text("d")}, rows: [][]any{{"05-13-2024"}}, want: []string{"05-01-2025"},
		},
		"a date becomes text by the new mask": {
			xml:    `<fields><meta><name>d</name><type>String</type><conversion_mask>yyyy</conversion_mask></meta></fields>`,
			fields: []batch.Field{typed("d", batch.Date, "yyyy/MM/dd")}, rows: [][]any{{day}}, want: []string{"2024"},
		},
		"a number keeps the mask it had": {
			xml:    `<fields><meta><name>n</name><type>String</type></meta></fields>`,
			fields: []batch.Field{typed("n", batch.Number, "0.00")}, rows: [][]any{{1.5}}, want: []string{"1.50"},
		},
		"only the mask changes": {
			xml:    `<fields><meta><name>n</name><rename>m</rename><conversion_mask>000</conversion_mask></meta></fields>`,
			fields: []batch.Field{integer("n")}, rows: [][]any{{7}}, want: []string{"007"}, layout: "m Integer",
		},
		"rounding half up": {
			xml:    `<fields><meta><name>n</name><type>String</type><conversion_mask>0.0</conversion_mask><roundingType>half_up</roundingType></meta></fields>`,
			fields: []batch.Field{number("n")}, rows: [][]any{{0.25}, {nil}}, want: []string{"0.3", "<null>"},
		},
		"a lenient number ignores what follows": {
			xml:    `<fields><meta><name>s</name><type>Integer</type><conversion_mask>#</conversion_mask><lenient_string_to_number>Y</lenient_string_to_number></meta></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"12kg"}}, want: []string{"12"},
		},
		"length from the select part": {
			xml:    `<fields><field><name>n</name><length>3</length><precision>0</precision></field></fields>`,
			fields: []batch.Field{typed("n", batch.Integer, "")}, rows: [][]any{{7}}, want: []string{" 007"},
		},
	})
}

func TestSelectValuesRejects(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.SelectValues,
		XML: `<fields><meta><name>a</name><type>Integer</type><conversion_mask>#</conversion_mask></meta>
			<meta><name>b</name><type>Integer</type><conversion_mask>#</conversion_mask></meta></fields>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{text("a"), text("b")}, Rows: [][]any{{"1", "2"}, {"x", "y"}, {"3", "z"}, {"4", "5"}}}},
		Error:  &transform.ErrorLink{FieldField: "f", CodeField: "c"},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"1|2", "4|5"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x|y|a|SELECT001", "3|z|b|SELECT001"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
	if n := out.Env.Counters.Rejected.Load(); n != 2 {
		t.Errorf("rejected %d, want 2", n)
	}
}

// rawBatch has one Integer column whose values are unread text.
func rawBatch(env *transform.Env, values ...string) *batch.Batch {
	f := typed("n", batch.Integer, "#")
	f.Lazy = true
	c := env.Alloc.RawColumn(batch.Integer)
	for _, v := range values {
		if v == "" {
			c.AppendNull()
			continue
		}
		c.AppendString(v)
	}
	return env.Alloc.Assemble(batch.NewSchema(f), []*batch.Column{c}, len(values))
}

// apply runs one batch through a transform and gives the rows of each port.
func apply(t *testing.T, env *transform.Env, d transform.Definition, xml string, b *batch.Batch) (map[transform.Port][]string, []*batch.Batch, error) {
	t.Helper()
	links := transform.Links{Transform: "tested", Inputs: []transform.Input{{From: "in", Schema: b.Schema}}, Error: env.Errors}
	p, err := transformtest.Settings(t, d, xml).Start(env, links)
	if err != nil {
		t.Fatal(err)
	}
	got := map[transform.Port][]string{}
	var batches []*batch.Batch
	err = p.(transform.RowWise).Apply(context.Background(), b, func(port transform.Port, out *batch.Batch) error {
		rows, err := transformtest.Texts(env.Semantics, out)
		got[port] = append(got[port], rows...)
		batches = append(batches, out)
		return err
	})
	return got, batches, err
}

func TestSelectValuesLeavesTextUnread(t *testing.T) {
	for name, c := range map[string]struct {
		xml, want string
		raw       bool
	}{
		"selected":       {`<fields><field><name>n</name><rename>m</rename></field></fields>`, "12", true},
		"same mask":      {`<fields><meta><name>n</name><conversion_mask>#</conversion_mask><date_format_lenient>Y</date_format_lenient></meta></fields>`, "12", true},
		"another mask":   {`<fields><meta><name>n</name><conversion_mask>000</conversion_mask></meta></fields>`, "012", false},
		"normal storage": {`<fields><meta><name>n</name><storage_type>normal</storage_type><date_format_lenient>Y</date_format_lenient></meta></fields>`, "12", false},
		"another type":   {`<fields><meta><name>n</name><type>Number</type><conversion_mask>0.0</conversion_mask></meta></fields>`, "12.0", false},
	} {
		t.Run(name, func(t *testing.T) {
			env, _ := transformtest.NewEnv(t, nil)
			b := rawBatch(env, "12", "")
			got, out, err := apply(t, env, rows.SelectValues, c.xml, b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want, "<null>"}, got[transform.Main]); diff != "" {
				t.Error(diff)
			}
			if out[0].Cols[0].Raw != c.raw {
				t.Errorf("raw is %v, want %v", out[0].Cols[0].Raw, c.raw)
			}
			out[0].Release()
			b.Release()
			if err := env.Alloc.CheckLeaks(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSelectValuesRejectsUnreadableText(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	env.Errors = &transform.ErrorLink{CodeField: "code"}
	b := rawBatch(env, "1", "x", "3")
	got, out, err := apply(t, env, rows.SelectValues, `<fields><meta><name>n</name><type>String</type></meta></fields>`, b)
	if err == nil {
		t.Error("the test writes rejected rows as text and they cannot be read; want that error")
	}
	if diff := cmp.Diff([]string{"1", "3"}, got[transform.Main]); diff != "" {
		t.Error(diff)
	}
	for _, o := range out {
		o.Release()
	}
	b.Release()
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func BenchmarkSelectValuesMeta(b *testing.B) {
	env, _ := transformtest.NewEnv(b, nil)
	in := make([][]any, batch.MaxRows)
	for i := range in {
		in[i] = []any{i, float64(i), "some text"}
	}
	schema := batch.NewSchema(integer("i"), number("n"), text("s"))
	rowsIn := transformtest.Batch(env, schema, in)
	links := transform.Links{Transform: "tested", Inputs: []transform.Input{{From: "in", Schema: schema}}}
	s := transformtest.Settings(b, rows.SelectValues, `<fields><field><name>n</name></field><field><name>i</name></field><meta><name>i</name><type>Number</type></meta></fields>`)
	p, err := s.Start(env, links)
	if err != nil {
		b.Fatal(err)
	}
	emit := func(_ transform.Port, o *batch.Batch) error { o.Release(); return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := p.(transform.RowWise).Apply(b.Context(), rowsIn, emit); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*batch.MaxRows/b.Elapsed().Seconds(), "rows/s")
}
