package rows_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

func TestDummyPassesRows(t *testing.T) {
	runExamples(t, rows.Dummy, map[string]example{
		"rows":    {fields: []batch.Field{text("a")}, rows: [][]any{{"x"}, {nil}}, want: []string{"x", "<null>"}, layout: "a String"},
		"no rows": {fields: []batch.Field{text("a")}},
	})
	out := transformtest.Run(t, transformtest.Case{Definition: rows.Dummy})
	if out.Err != nil || len(out.Main()) != 0 {
		t.Errorf("without an input: %v %v, want nothing", out.Main(), out.Err)
	}
}

func TestSequence(t *testing.T) {
	three := [][]any{{"a"}, {"b"}, {"c"}}
	runExamples(t, rows.Sequence, map[string]example{
		"counts": {
			xml:    `<valuename>id</valuename><use_counter>Y</use_counter><start_at>10</start_at><increment_by>5</increment_by>`,
			fields: []batch.Field{text("s")}, rows: three, want: []string{"a|10", "b|15", "c|20"}, layout: "s String, id Integer",
		},
		"starts over behind the maximum": {
			xml:    `<valuename>id</valuename><use_counter>Y</use_counter><start_at>${S}</start_at><max_value>2</max_value>`,
			fields: []batch.Field{text("s")}, rows: three, vars: map[string]string{"S": "1"}, want: []string{"a|1", "b|2", "c|1"},
		},
		"no kind":     {xml: `<valuename>id</valuename>`, fields: []batch.Field{text("s")}, err: "no kind of sequence"},
		"a bad start": {xml: `<use_counter>Y</use_counter><start_at>x</start_at>`, fields: []batch.Field{text("s")}, err: "start of the counter"},
	})
}

func TestCloneRow(t *testing.T) {
	runExamples(t, rows.CloneRow, map[string]example{
		"fixed number with flag and number": {
			xml:    `<nrclones>2</nrclones><addcloneflag>Y</addcloneflag><cloneflagfield>f</cloneflagfield><addclonenum>Y</addclonenum><clonenumfield>n</clonenumfield>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"a"}, {"b"}},
			want: []string{"a|N|0", "a|Y|1", "a|Y|2", "b|N|0", "b|Y|1", "b|Y|2"}, layout: "s String, f Boolean, n Integer",
		},
		"number in a field": {
			xml:    `<nrcloneinfield>Y</nrcloneinfield><nrclonefield>k</nrclonefield>`,
			fields: []batch.Field{text("s"), text("k")}, rows: [][]any{{"a", "1"}, {"b", "0"}, {"c", "-3"}}, want: []string{"a|1", "a|1", "b|0", "c|-3"},
		},
		"a null number": {
			xml:    `<nrcloneinfield>Y</nrcloneinfield><nrclonefield>k</nrclonefield>`,
			fields: []batch.Field{integer("k")}, rows: [][]any{{nil}}, err: "number of clones is null",
		},
		"no number":     {xml: `<nrclones>x</nrclones>`, fields: []batch.Field{text("s")}, rows: [][]any{{"a"}}, want: []string{"a"}},
		"short forms":   {xml: `<nrclones>${N}</nrclones>`, vars: map[string]string{"N": "1"}, fields: []batch.Field{text("s")}, rows: [][]any{{"a"}}, want: []string{"a", "a"}},
		"flag unnamed":  {xml: `<addcloneflag>Y</addcloneflag>`, fields: []batch.Field{text("s")}, err: "clone flag field has no name"},
		"field unknown": {xml: `<nrcloneinfield>Y</nrcloneinfield><nrclonefield>q</nrclonefield>`, fields: []batch.Field{text("s")}, err: `field "q" not found`},
	})
}

func TestCloneRowFillsBatches(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.CloneRow, XML: `<nrclones>10k</nrclones>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{text("s")}, Rows: [][]any{{"a"}}}}, Fixed: true,
	})
	if out.Err != nil || len(out.Main()) != 10_001 {
		t.Errorf("%d rows, error %v; want 10001", len(out.Main()), out.Err)
	}
}

func TestValueMapper(t *testing.T) {
	values := `<fields><field><source_value>1</source_value><target_value>one</target_value></field>
		<field><source_value>2</source_value><target_value/></field></fields>`
	withNull := `<fields><field><source_value>1</source_value><target_value>one</target_value></field>
		<field><target_value>[${X}]</target_value></field></fields>`
	in := []batch.Field{text("k")}
	row := [][]any{{"1"}, {"2"}, {"3"}, {nil}, {""}}
	runExamples(t, rows.ValueMapper, map[string]example{
		"in place keeps what does not match": {xml: `<field_to_use>k</field_to_use>` + values, fields: in, rows: row, want: []string{"one", "<null>", "3", "<null>", ""}},
		"in place with a default":            {xml: `<field_to_use>k</field_to_use><non_match_default>?</non_match_default>` + values, fields: in, rows: row, want: []string{"one", "<null>", "?", "<null>", "<null>"}},
		"in place, keep said": {
			xml:    `<field_to_use>k</field_to_use><non_match_default>?</non_match_default><keep_original_value_on_non_match>Y</keep_original_value_on_non_match>` + values,
			fields: in, rows: row, want: []string{"one", "<null>", "3", "<null>", ""},
		},
		"a new field": {
			xml: `<field_to_use>K</field_to_use><target_field>t</target_field><non_match_default/>` + withNull, fields: in, rows: row, vars: map[string]string{"X": "none"},
			want: []string{"1|one", "2|<null>", "3|<null>", "<null>|[none]", "|[none]"}, layout: "k String, t String",
		},
		"numbers match by value": {
			xml: `<field_to_use>k</field_to_use><target_field>t</target_field>` + values, fields: []batch.Field{integer("k")}, rows: [][]any{{1}, {3}, {nil}},
			want: []string{"1|one", "3|<null>", "<null>|<null>"},
		},
		"a typed target": {
			xml:    `<field_to_use>k</field_to_use><target_field>t</target_field><target_type>Integer</target_type><non_match_default>-1</non_match_default><fields><field><source_value>a</source_value><target_value>10</target_value></field></fields>`,
			fields: in, rows: [][]any{{"a"}, {"b"}}, want: []string{"a|10", "b|-1"}, layout: "k String, t Integer",
		},
		"a number in place becomes text": {
			xml: `<field_to_use>k</field_to_use>` + values, fields: []batch.Field{integer("k")}, rows: [][]any{{1}, {7}}, want: []string{"one", "7"}, layout: "k String",
		},
		"decimals match by value": {
			xml: `<field_to_use>k</field_to_use><target_field>t</target_field>` + values, fields: []batch.Field{batch.NewField("k", batch.BigNumber)},
			rows: [][]any{{decimal.FromInt64(1)}}, want: []string{"1.0|one"},
		},
		"two null entries":      {xml: `<field_to_use>k</field_to_use><fields><field/><field/></fields>`, fields: in, err: "empty source value"},
		"a source of no number": {xml: `<field_to_use>k</field_to_use><fields><field><source_value>x</source_value></field></fields>`, fields: []batch.Field{integer("k")}, err: "source value"},
		"an unknown field":      {xml: `<field_to_use>q</field_to_use>`, fields: in, err: `field "q" not found`},
		"an empty target that is no null": {
			xml:    `<field_to_use>k</field_to_use><fields><field><source_value>1</source_value><target_value/><empty_string_equals_null>N</empty_string_equals_null></field></fields>`,
			fields: in, rows: [][]any{{"1"}}, want: []string{""},
		},
	})
}

func TestNumberRange(t *testing.T) {
	rules := `<inputField>n</inputField><outputField>r</outputField><fallBackValue>none</fallBackValue><rules>
		<rule><lower_bound/><upper_bound>10.0</upper_bound><value>low</value></rule>
		<rule><lower_bound>5</lower_bound><upper_bound>1.7976931348623157E308</upper_bound><value>high</value></rule></rules>`
	runExamples(t, rows.NumberRange, map[string]example{
		"ranges": {
			xml: rules, fields: []batch.Field{number("n")}, rows: [][]any{{4.9}, {5.0}, {10.0}, {nil}},
			want: []string{"4.9|low", "5.0|low,high", "10.0|high", "<null>|none"}, layout: "n Number, r String",
		},
		"integers":           {xml: rules, fields: []batch.Field{integer("n")}, rows: [][]any{{1}, {20}}, want: []string{"1|low", "20|high"}},
		"text is converted":  {xml: rules, fields: []batch.Field{text("n")}, rows: [][]any{{"1.5"}}, want: []string{"1.5|low"}},
		"text of no number":  {xml: rules, fields: []batch.Field{text("n")}, rows: [][]any{{"x"}}, err: `"x" cannot become Number`},
		"a bound of no sort": {xml: `<inputField>n</inputField><rules><rule><lower_bound>x</lower_bound></rule></rules>`, fields: []batch.Field{number("n")}, err: "not a number"},
	})
}

func TestIfNull(t *testing.T) {
	in := []batch.Field{text("s"), typed("i", batch.Integer, "#"), typed("d", batch.Date, "yyyy-MM-dd")}
	row := [][]any{{nil, nil, nil}, {"", 1, time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)}}
	runExamples(t, rows.IfNull, map[string]example{
		"listed fields": {
			xml: `<selectFields>Y</selectFields><fields><field><name>S</name><value>${V}</value></field><field><name>i</name><value>1,000</value><mask>#,##0</mask></field></fields>`, vars: map[string]string{"V": "?"},
			fields: in, rows: row, want: []string{"?|1000|<null>", "?|1|2024-01-02"},
		},
		"by type": {
			xml:    `<selectValuesType>Y</selectValuesType><valuetypes><valuetype><name>Integer</name><value>9</value></valuetype><valuetype><name>Date</name><value>05/2024</value><mask>MM/yyyy</mask></valuetype></valuetypes>`,
			fields: in, rows: row, want: []string{"<null>|9|2024-05-01", "|1|2024-01-02"},
		},
		"all fields": {xml: `<replaceAllByValue>?</replaceAllByValue>`, fields: []batch.Field{text("a"), text("b")}, rows: [][]any{{"x", nil}, {nil, ""}}, want: []string{"x|?", "?|?"}},
		"a date mask for all": {
			xml: `<replaceAllByValue>2024</replaceAllByValue><replaceAllMask>yyyy</replaceAllMask>`, fields: in, rows: row, want: []string{"2024|2024|2024-01-01", "2024|1|2024-01-02"},
		},
		"a value the type cannot hold": {xml: `<replaceAllByValue>?</replaceAllByValue>`, fields: []batch.Field{integer("i")}, rows: [][]any{{nil}}, err: `"?" cannot become Integer`},
		"only where a null is":         {xml: `<replaceAllByValue>?</replaceAllByValue>`, fields: []batch.Field{integer("i")}, rows: [][]any{{5}}, want: []string{"5"}},
		"an empty text":                {xml: `<setEmptyStringAll>Y</setEmptyStringAll>`, fields: []batch.Field{text("a"), integer("i")}, rows: [][]any{{nil, nil}}, want: []string{"|<null>"}},
		"no fields listed":             {xml: `<selectFields>Y</selectFields>`, fields: in, err: "no fields are listed"},
		"an unknown type":              {xml: `<selectValuesType>Y</selectValuesType><valuetypes><valuetype><name>Foo</name></valuetype></valuetypes>`, fields: in, err: `no type "Foo"`},
	})
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.IfNull, XML: `<replaceAllByValue>?</replaceAllByValue>`, Error: &transform.ErrorLink{CodeField: "c"},
		Inputs: []transformtest.Input{{Fields: []batch.Field{integer("i")}, Rows: [][]any{{1}, {nil}}}},
	})
	if diff := cmp.Diff([]string{"<null>|IFNULL001"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
}

func TestNullIf(t *testing.T) {
	runExamples(t, rows.NullIf, map[string]example{
		"texts and numbers": {
			xml:    `<fields><field><name>s</name><value>x</value></field><field><name>n</name><value>1.5</value></field><field><name>i</name><value>7</value></field></fields>`,
			fields: []batch.Field{text("s"), number("n"), integer("i")}, rows: [][]any{{"x", 1.5, 7}, {"X", 2.0, 8}, {nil, nil, nil}},
			want: []string{"<null>|<null>|<null>", "X|2.0|8", "<null>|<null>|<null>"},
		},
		"an empty text":        {xml: `<fields><field><name>s</name><value/></field></fields>`, fields: []batch.Field{text("s")}, rows: [][]any{{""}, {"a"}}, want: []string{"<null>", "a"}},
		"a value of no number": {xml: `<fields><field><name>i</name><value>x</value></field></fields>`, fields: []batch.Field{integer("i")}, err: `field "i"`},
	})
}

func TestSetValue(t *testing.T) {
	in := []batch.Field{text("a"), text("b"), typed("i", batch.Integer, "#")}
	row := [][]any{{"x", "y", 1}, {nil, "z", nil}}
	runExamples(t, rows.SetValueConstant, map[string]example{
		"constants": {
			xml:  `<usevar>Y</usevar><fields><field><name>A</name><value>${V}</value></field><field><name>i</name><value>1,5</value><mask>#,##0</mask></field><field><name>b</name><set_empty_string>Y</set_empty_string></field></fields>`,
			vars: map[string]string{"V": "v"}, fields: in, rows: row, want: []string{"v||15", "v||15"},
		},
		"variables are left alone": {xml: `<fields><field><name>a</name><value>${V}</value></field></fields>`, vars: map[string]string{"V": "v"}, fields: in, rows: row[:1], want: []string{"${V}|y|1"}},
		"twice":                    {xml: `<fields><field><name>a</name></field><field><name>A</name></field></fields>`, fields: in, err: "listed twice"},
		"none":                     {fields: in, err: "no fields"},
		"of no number":             {xml: `<fields><field><name>i</name><value>x</value></field></fields>`, fields: in, err: `"x" cannot become Integer`},
	})
	runExamples(t, rows.SetValueField, map[string]example{
		"one after the other": {
			xml:    `<fields><field><name>a</name><replaceby>b</replaceby></field><field><name>b</name><replaceby>a</replaceby></field></fields>`,
			fields: in, rows: row, want: []string{"y|y|1", "z|z|<null>"},
		},
		"other types": {xml: `<fields><field><name>a</name><replaceby>i</replaceby></field></fields>`, fields: in, err: "convert one of them"},
	})
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.SetValueConstant, XML: `<fields><field><name>i</name><value>x</value></field></fields>`, Error: &transform.ErrorLink{CodeField: "c"},
		Inputs: []transformtest.Input{{Fields: in, Rows: row}},
	})
	if diff := cmp.Diff([]string{"x|y|1|SVC001", "<null>|z|<null>|SVC001"}, out.Rows[transform.Error]); diff != "" || len(out.Main()) != 0 {
		t.Error(diff, out.Main())
	}
}

func TestCoalesce(t *testing.T) {
	in := []batch.Field{text("a"), text("b"), integer("i"), number("n")}
	row := [][]any{{"", "b", 1, 2.5}, {nil, nil, nil, 2.5}, {nil, "", nil, nil}}
	entry := func(name, input, more string) string {
		return `<field><name>` + name + `</name><input>` + input + `</input>` + more + `</field>`
	}
	runExamples(t, rows.Coalesce, map[string]example{
		"the first that is not null": {
			xml: `<fields>` + entry("r", "A, b", "") + `</fields>`, fields: in, rows: row,
			want: []string{"|b|1|2.5|", "<null>|<null>|<null>|2.5|<null>", "<null>||<null>|<null>|"},
		},
		"empty is null": {
			xml: `<empty_is_null>Y</empty_is_null><fields>` + entry("r", "a,b", "") + `</fields>`, fields: in, rows: row,
			want: []string{"|b|1|2.5|b", "<null>|<null>|<null>|2.5|<null>", "<null>||<null>|<null>|<null>"},
		},
		"the common type, inputs removed": {
			xml: `<fields>` + entry("r", "i,n", "<remove>Y</remove>") + `</fields>`, fields: in, rows: row,
			want: []string{"|b|1.0", "<null>|<null>|2.5", "<null>||<null>"}, layout: "a String, b String, r Number",
		},
		"texts and numbers give text": {
			xml: `<fields>` + entry("r", "i,b", "<remove>Y</remove>") + `</fields>`, fields: in, rows: row[:1], want: []string{"|2.5|1"}, layout: "a String, n Number, r String",
		},
		"an existing field is replaced": {
			xml: `<fields>` + entry("a", "a,b", "<remove>Y</remove><type>String</type>") + `</fields>`, fields: in[:2], rows: [][]any{{nil, "b"}}, want: []string{"b"}, layout: "a String",
		},
		"an unknown field": {xml: `<fields>` + entry("r", "q", "") + `</fields>`, fields: in, err: `field "q" not found`},
		"no name":          {xml: `<fields>` + entry("", "a", "") + `</fields>`, fields: in, err: "no name"},
		"what does not convert": {
			xml: `<fields>` + entry("r", "a", "<type>Integer</type>") + `</fields>`, fields: in, rows: [][]any{{"x", "", 1, 1.0}}, err: `"x" cannot become Integer`,
		},
	})
}

func TestCheckSum(t *testing.T) {
	in := []batch.Field{text("s"), integer("i"), number("n"), batch.NewField("b", batch.Boolean), batch.NewField("d", batch.Date)}
	day := time.Date(2024, 12, 31, 23, 59, 59, 0, time.UTC)
	sum := func(kind, result, fields string) string {
		return `<checksumtype>` + kind + `</checksumtype><resultType>` + result + `</resultType><resultfieldName>c</resultfieldName>` + fields
	}
	only := func(names ...string) string {
		xml := "<fields>"
		for _, n := range names {
			xml += "<field><name>" + n + "</name></field>"
		}
		return xml + "</fields>"
	}
	one := []batch.Field{text("s")}
	runExamples(t, rows.CheckSum, map[string]example{
		"MD5 of a value":   {xml: sum("MD5", "hexadecimal", ""), fields: one, rows: [][]any{{"2"}}, want: []string{"2|c81e728d9d4c2f636f067f89cc14862c"}},
		"SHA-1":            {xml: sum("SHA-1", "hexadecimal", ""), fields: one, rows: [][]any{{"1"}}, want: []string{"1|356a192b7913b04c54574d18c28d46e6395428ab"}},
		"CRC32":            {xml: sum("CRC32", "string", ""), fields: one, rows: [][]any{{"2"}}, want: []string{"2|450215437"}, layout: "s String, c Integer"},
		"ADLER32":          {xml: sum("ADLER32", "string", ""), fields: one, rows: [][]any{{"2"}}, want: []string{"2|3342387"}},
		"decimal bytes":    {xml: sum("MD5", "string", ""), fields: one, rows: [][]any{{"2"}}, want: []string{"2|200-30-114-141-157-76-47-99-111-6-127-137-204-20-134-44"}},
		"empty is no null": {xml: sum("MD5", "hexadecimal", ""), fields: one, rows: [][]any{{""}, {nil}}, want: []string{"|d41d8cd98f00b204e9800998ecf8427e", "<null>|<null>"}},
		// The MD5 of "a15.0trueTue Dec 31 23:59:59 UTC 2024".
		"values as Java writes them": {
			xml: sum("MD5", "hexadecimal", ""), fields: in, rows: [][]any{{"a", 1, 5.0, true, day}},
			want: []string{"a|1|5.0|Y|2024/12/31 23:59:59.000|caa209f66f1676985819e355fdcd3a0f"},
		},
		// The MD5 of "<1||1>".
		"prefix, separator, suffix": {
			xml: sum("MD5", "hexadecimal", only("i", "i")) + `<prefix>&lt;</prefix><separator>||</separator><suffix>&gt;</suffix>`, fields: []batch.Field{integer("i")}, rows: [][]any{{1}},
			want: []string{"1|a2ebec562fa55a48125cc170efd341cd"},
		},
		"no result field":  {xml: `<checksumtype>MD5</checksumtype>`, fields: in, err: "result field has no name"},
		"an unknown field": {xml: sum("MD5", "string", only("q")), fields: in, err: `field "q" not found`},
	})
}
