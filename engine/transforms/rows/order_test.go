package rows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

func TestFieldsChangeSequence(t *testing.T) {
	in := []batch.Field{text("a"), integer("b")}
	row := [][]any{{"x", 1}, {"x", 1}, {"x", 2}, {"y", 2}, {"y", 2}, {nil, 2}, {"", 2}}
	runExamples(t, rows.FieldsChangeSequence, map[string]example{
		"listed fields": {
			xml: `<resultfieldName>n</resultfieldName><start>3</start><increment>2</increment><fields><field><name>a</name></field></fields>`, fields: in, rows: row,
			want: []string{"x|1|3", "x|1|5", "x|2|7", "y|2|3", "y|2|5", "<null>|2|3", "|2|5"}, layout: "a String, b Integer, n Integer",
		},
		"all fields": {
			xml: `<resultfieldName>n</resultfieldName>`, fields: in, rows: row[:4], want: []string{"x|1|1", "x|1|2", "x|2|1", "y|2|1"},
		},
		"an unknown field": {xml: `<resultfieldName>n</resultfieldName><fields><field><name>q</name></field></fields>`, fields: in, err: `field "q" not found`},
	})
}

func TestRepeatFields(t *testing.T) {
	in := []batch.Field{text("id"), text("v"), text("sign")}
	row := [][]any{{"1", "a", "A"}, {"1", nil, "B"}, {"1", "c", "A"}, {"2", nil, "B"}, {"2", "e", "B"}, {"2", nil, "A"}}
	repeat := func(kind, more string) string {
		return `<group_fields><group_field>id</group_field></group_fields><repeats><field><type>` + kind + `</type><source_field>v</source_field><target_field>t</target_field>` + more + `</field></repeats>`
	}
	targets := func(values ...string) []string {
		var want []string
		for i, r := range row {
			v := "<null>"
			if r[1] != nil {
				v = r[1].(string)
			}
			want = append(want, r[0].(string)+"|"+v+"|"+r[2].(string)+"|"+values[i])
		}
		return want
	}
	runExamples(t, rows.RepeatFields, map[string]example{
		"previous":           {xml: repeat("previous", ""), fields: in, rows: row, want: targets("a", "a", "a", "<null>", "<null>", "<null>")},
		"previous when null": {xml: repeat("previous_when_null", ""), fields: in, rows: row, want: targets("a", "a", "c", "<null>", "e", "e")},
		"current when indicated": {
			xml:    repeat("current_when_indicated", `<indicator_field_name>sign</indicator_field_name><indicator_value>A</indicator_value>`),
			fields: in, rows: row, want: targets("a", "a", "c", "<null>", "<null>", "<null>"),
		},
		"no indicator field": {xml: repeat("current_when_indicated", ""), fields: in, err: "indicator field has no name"},
		"an empty indicator": {
			xml:    repeat("current_when_indicated", `<indicator_field_name>sign</indicator_field_name>`),
			fields: in, rows: [][]any{{"1", "a", nil}}, err: "indicator is empty",
		},
	})
}

func TestDetectLastRow(t *testing.T) {
	runExamples(t, rows.DetectLastRow, map[string]example{
		"rows":    {fields: []batch.Field{text("a")}, rows: [][]any{{"x"}, {"y"}, {"z"}, {"u"}}, want: []string{"x|N", "y|N", "z|N", "u|Y"}, layout: "a String, result Boolean"},
		"no rows": {fields: []batch.Field{text("a")}},
	})
}

func TestSampleRows(t *testing.T) {
	five := [][]any{{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}
	runExamples(t, rows.SampleRows, map[string]example{
		"numbers and ranges":          {xml: `<linesrange>4..9,2</linesrange>`, fields: []batch.Field{text("s")}, rows: five, want: []string{"b", "d", "e"}},
		"with numbers":                {xml: `<linesrange>2..3</linesrange><linenumfield>n</linenumfield>`, fields: []batch.Field{text("s")}, rows: five, want: []string{"b|2", "c|3"}, layout: "s String, n Integer"},
		"nonsense counts for nothing": {xml: `<linesrange>x,1,-</linesrange>`, fields: []batch.Field{text("s")}, rows: five, want: []string{"a"}},
		"a backward range":            {xml: `<linesrange>3..2</linesrange>`, fields: []batch.Field{text("s")}, err: "ends before it begins"},
	})
}

// The rows are those that Hop's own algorithm picks with Java's random numbers.
func TestReservoirSampling(t *testing.T) {
	var hundred [][]any
	for i := range 100 {
		hundred = append(hundred, []any{i})
	}
	size := func(n string) string {
		return `<reservoir_sampling><sample_size>` + n + `</sample_size><seed>123456</seed></reservoir_sampling>`
	}
	in := []batch.Field{integer("i")}
	runExamples(t, rows.ReservoirSampling, map[string]example{
		"fewer rows than asked for": {xml: size("5"), fields: in, rows: hundred[:3], want: []string{"0", "1", "2"}},
		"0 passes all":              {xml: size("0"), fields: in, rows: hundred[:3], want: []string{"0", "1", "2"}},
		"below 0 none":              {xml: size("-1"), fields: in, rows: hundred[:3]},
	})
	out := transformtest.Run(t, transformtest.Case{Definition: rows.ReservoirSampling, XML: size("5"), Inputs: []transformtest.Input{{Fields: in, Rows: hundred}}})
	if len(out.Main()) != 5 {
		t.Errorf("%v, want 5 rows", out.Main())
	}
}

func TestTransformMetaStructure(t *testing.T) {
	f := typed("Amount", batch.Number, "0.00")
	f.Length, f.Precision, f.Origin, f.Comments = 9, 2, "source", "money"
	in := []batch.Field{text("s"), f}
	in[0].Precision = 5 // a String has none
	runExamples(t, rows.TransformMetaStructure, map[string]example{
		"everything": {
			xml: `<outputRowcount>Y</outputRowcount><rowcountField>rows</rowcountField>`, fields: in, rows: [][]any{{"a", 1.0}, {"b", 2.0}},
			want:   []string{"1|s|<null>|String|-1|-1|<null>|<null>|2", "2|Amount|money|Number|9|2|0.00|source|2"},
			layout: "Position Integer, Fieldname String, Comments String, Type String, Length Integer, Precision Integer, Mask String, Origin String, rows Integer",
		},
		"some of it": {
			xml:    `<includePositionField>N</includePositionField><includeCommentsField>N</includeCommentsField><includeMaskField>N</includeMaskField><includeOriginField>N</includeOriginField><includeLengthField>N</includeLengthField><includePrecisionField>N</includePrecisionField><fieldFieldname>f</fieldFieldname>`,
			fields: in, rows: [][]any{{"a", 1.0}}, want: []string{"s|String", "Amount|Number"}, layout: "f String, Type String",
		},
		"an Integer has no fraction": {
			xml:    `<includeCommentsField>N</includeCommentsField><includeMaskField>N</includeMaskField><includeOriginField>N</includeOriginField>`,
			fields: []batch.Field{integer("i")}, rows: [][]any{{1}}, want: []string{"1|i|Integer|-1|0"},
		},
		"no rows": {fields: in},
	})
}

func TestStreamSchema(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.StreamSchema,
		XML:        `<transforms><transform><name>two</name></transform><transform><name>one</name></transform></transforms>`,
		Inputs: []transformtest.Input{
			{From: "two", Fields: []batch.Field{text("a"), integer("b")}, Rows: [][]any{{"x", 1}, {"y", 2}}},
			{From: "one", Fields: []batch.Field{text("c"), text("B")}, Rows: [][]any{{"z", "two"}}},
		},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"x|1|<null>", "y|2|<null>", "<null>|two|z"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields("main"); got != "a String, b String, c String" {
		t.Error(got)
	}
	out = transformtest.Run(t, transformtest.Case{Definition: rows.StreamSchema, XML: `<transforms><transform><name>gone</name></transform></transforms>`})
	if out.Err == nil {
		t.Error("want an error that names the missing input")
	}
}
