package rows_test

import (
	"fmt"
	"io"
	"testing"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

// The transforms that stand in every second pipeline, one full batch at a time.
func BenchmarkApply(b *testing.B) {
	in := make([][]any, batch.MaxRows)
	for i := range in {
		in[i] = []any{i, float64(i) / 4, fmt.Sprintf(" some text %d,%d ", i, i*7)}
	}
	schema := batch.NewSchema(integer("i"), number("n"), text("s"))
	for name, c := range map[string]struct {
		definition transform.Definition
		xml        string
	}{
		"Dummy":            {rows.Dummy, ""},
		"SelectValues":     {rows.SelectValues, `<fields><field><name>s</name></field><field><name>i</name><rename>k</rename></field></fields>`},
		"Constant":         {rows.Constant, `<fields><field><name>c</name><type>String</type><nullif>x</nullif></field></fields>`},
		"Sequence":         {rows.Sequence, `<valuename>id</valuename><use_counter>Y</use_counter>`},
		"CloneRow":         {rows.CloneRow, `<nrclones>1</nrclones>`},
		"FieldSplitter":    {rows.FieldSplitter, `<splitfield>s</splitfield><fields><field><name>a</name></field><field><name>b</name></field></fields>`},
		"ConcatFields":     {rows.ConcatFields, `<ConcatFields><targetFieldName>t</targetFieldName></ConcatFields>`},
		"StringOperations": {rows.StringOperations, operation(`<trim_type>both</trim_type><lower_upper>upper</lower_upper>`)},
		"ReplaceString":    {rows.ReplaceString, replacement(`<replace_string>text</replace_string><replace_by_string>word</replace_by_string><case_sensitive>Y</case_sensitive>`)},
	} {
		b.Run(name, func(b *testing.B) {
			env, _ := transformtest.NewEnv(b, nil)
			rowsIn := transformtest.Batch(env, schema, in)
			p, err := transformtest.Settings(b, c.definition, c.xml).Start(env, transform.Links{Inputs: []transform.Input{{Schema: schema}}})
			if err != nil {
				b.Fatal(err)
			}
			if closer, ok := p.(io.Closer); ok {
				defer closer.Close()
			}
			emit := func(_ transform.Port, o *batch.Batch) error { o.Release(); return nil }
			b.ReportAllocs()
			for b.Loop() {
				if err := p.(transform.RowWise).Apply(b.Context(), rowsIn, emit); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*batch.MaxRows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
