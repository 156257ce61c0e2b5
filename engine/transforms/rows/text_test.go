package rows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

func operation(steps string) string {
	return `<fields><field><in_stream_name>s</in_stream_name><out_stream_name/>` + steps + `</field></fields>`
}

func TestStringOperations(t *testing.T) {
	one := func(steps, in string, want string) example {
		return example{xml: operation(steps), fields: []batch.Field{text("s")}, rows: [][]any{{in}}, want: []string{want}}
	}
	runExamples(t, rows.StringOperations, map[string]example{
		"trim both":              one(`<trim_type>both</trim_type>`, " \ta b\n", "a b"),
		"trim left":              one(`<trim_type>left</trim_type>`, "  a ", "a "),
		"lower":                  one(`<lower_upper>lower</lower_upper>`, "ÄBc", "äbc"),
		"upper of ß":             one(`<lower_upper>upper</lower_upper>`, "straße", "STRASSE"),
		"upper ASCII":            one(`<lower_upper>upper</lower_upper>`, "aZ9", "AZ9"),
		"pad left":               one(`<padding_type>left</padding_type><pad_char>ab</pad_char><pad_len>5</pad_len>`, "xy", "babxy"),
		"pad right":              one(`<padding_type>right</padding_type><pad_char>ab</pad_char><pad_len>5</pad_len>`, "xy", "xyaba"),
		"pad counts UTF-16":      one(`<padding_type>left</padding_type><pad_char>.</pad_char><pad_len>4</pad_len>`, "é😀", ".é😀"),
		"no padding of the long": one(`<padding_type>left</padding_type><pad_char>.</pad_char><pad_len>2</pad_len>`, "abc", "abc"),
		"no filler":              one(`<padding_type>left</padding_type><pad_char/><pad_len>9</pad_len>`, "abc", "abc"),
		"words":                  one(`<init_cap>yes</init_cap>`, "hELLO wORLD_x o'neil", "Hello World_x O'Neil"),
		"XML":                    one(`<mask_xml>escapexml</mask_xml>`, `<a b="c">'&`, "&lt;a b=&quot;c&quot;&gt;&apos;&amp;"),
		"XML back":               one(`<mask_xml>unescapexml</mask_xml>`, "&lt;&#65;&amp;&nbsp;&", "<A&&nbsp;&"),
		"CDATA":                  one(`<mask_xml>cdata</mask_xml>`, "a&b", "<![CDATA[a&b]]>"),
		"SQL":                    one(`<mask_xml>escapesql</mask_xml>`, "it's", "it''s"),
		"HTML":                   one(`<mask_xml>escapehtml</mask_xml>`, "é<€'", "&eacute;&lt;&euro;'"),
		"HTML back":              one(`<mask_xml>unescapehtml</mask_xml>`, "&eacute;&lt;", "é<"),
		"digits only":            one(`<digits>digits_only</digits>`, "a1b22", "122"),
		"no digits":              one(`<digits>remove_digits</digits>`, "a1b22", "ab"),
		"no line ends":           one(`<remove_special_characters>crlf</remove_special_characters>`, "a\r\nb\n", "ab"),
		"no blanks":              one(`<remove_special_characters>espace</remove_special_characters>`, " a b ", "ab"),
		"steps in Hop's order":   one(`<trim_type>both</trim_type><lower_upper>upper</lower_upper><padding_type>left</padding_type><pad_char>-</pad_char><pad_len>4</pad_len><init_cap>yes</init_cap>`, " ab ", "--Ab"),
		"trimmed to nothing stops": one(`<trim_type>both</trim_type><padding_type>left</padding_type><pad_char>-</pad_char><pad_len>4</pad_len>`,
			"  ", ""),
		"null stays": {xml: operation(`<lower_upper>upper</lower_upper>`), fields: []batch.Field{text("s")}, rows: [][]any{{nil}, {"a"}}, want: []string{"<null>", "A"}},
		"a new field": {
			xml:    `<fields><field><in_stream_name>S</in_stream_name><out_stream_name>${OUT}</out_stream_name><lower_upper>upper</lower_upper></field></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"a"}}, vars: map[string]string{"OUT": "big"}, want: []string{"a|A"}, layout: "s String, big String",
		},
		"numbers are refused": {xml: operation(""), fields: []batch.Field{integer("s")}, err: "only a String can be used"},
	})
}

func TestStringCut(t *testing.T) {
	one := func(from, to, in, want string) example {
		return example{
			xml:    `<fields><field><in_stream_name>s</in_stream_name><out_stream_name/><cut_from>` + from + `</cut_from><cut_to>` + to + `</cut_to></field></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{in}}, want: []string{want},
		}
	}
	runExamples(t, rows.StringCut, map[string]example{
		"middle":               one("1", "3", "abcdef", "bc"),
		"to beyond the end":    one("4", "99", "abcdef", "ef"),
		"from beyond the end":  one("7", "9", "abcdef", "<null>"),
		"to before from":       one("3", "2", "abcdef", "<null>"),
		"from the end":         one("-1", "-4", "abcdef", "cde"),
		"from the end, far":    one("-1", "-99", "abcdef", "abcde"),
		"from too far":         one("-9", "-10", "abcdef", "<null>"),
		"last characters":      one("0", "-2", "abcdef", "ef"),
		"last of a short text": one("0", "-9", "ab", "ab"),
		"mixed signs":          one("2", "-1", "abcdef", "abcdef"),
		"nothing given":        one("", "", "abcdef", "abcdef"),
		"empty stays":          one("5", "9", "", ""),
		"beyond ASCII":         one("1", "3", "äöü😀", "öü"),
	})
}

func replacement(settings string) string {
	return `<fields><field><in_stream_name>s</in_stream_name>` + settings + `</field></fields>`
}

func TestReplaceString(t *testing.T) {
	two := []batch.Field{text("s"), text("by")}
	one := func(settings, in, want string) example {
		return example{xml: replacement(settings), fields: []batch.Field{text("s")}, rows: [][]any{{in}}, want: []string{want}}
	}
	runExamples(t, rows.ReplaceString, map[string]example{
		"plain text":               one(`<replace_string>a.b</replace_string><replace_by_string>-</replace_by_string><case_sensitive>Y</case_sensitive>`, "a.b axb A.B", "- axb A.B"),
		"case does not matter":     one(`<replace_string>a.b</replace_string><replace_by_string>-</replace_by_string><case_sensitive>no</case_sensitive>`, "a.b axb A.B", "- axb -"),
		"expression with groups":   one(`<use_regex>yes</use_regex><replace_string>(\w)(\d)</replace_string><replace_by_string>$2$1</replace_by_string>`, "a1 b2", "1a 2b"),
		"a backslash is itself":    one(`<replace_string>x</replace_string><replace_by_string>a\b</replace_by_string>`, "x", `a\b`),
		"whole words":              one(`<replace_string>cat</replace_string><replace_by_string>dog</replace_by_string><whole_word>Y</whole_word>`, "cat concat cat.", "dog concat dog."),
		"nothing given deletes":    one(`<replace_string>b</replace_string>`, "abc", "ac"),
		"set empty string":         one(`<replace_string>abc</replace_string><replace_by_string>zzz</replace_by_string><set_empty_string>Y</set_empty_string>`, "abc", ""),
		"an unknown group refused": {xml: replacement(`<replace_string>x</replace_string><replace_by_string>$1</replace_by_string>`), fields: []batch.Field{text("s")}, err: "$1"},
		"variables": {
			xml:    replacement(`<replace_string>${A}</replace_string><replace_by_string>${B}</replace_by_string>`),
			fields: []batch.Field{text("s")}, rows: [][]any{{"one two"}, {nil}}, vars: map[string]string{"A": "one", "B": "1"}, want: []string{"1 two", "<null>"},
		},
		"by a field": {
			xml:    replacement(`<replace_string>x</replace_string><replace_field_by_string>by</replace_field_by_string>`),
			fields: two, rows: [][]any{{"axb", "1"}, {"x", nil}, {"xx", nil}, {nil, "1"}},
			want: []string{"a1b|1", "<null>|<null>", "xx|<null>", "<null>|1"},
		},
		"the same name makes a new field": {
			xml:    replacement(`<out_stream_name>s</out_stream_name><replace_string>,</replace_string><replace_by_string>;</replace_by_string>`),
			fields: []batch.Field{text("s")}, rows: [][]any{{"a,b"}}, want: []string{"a,b|a;b"}, layout: "s String, s_1 String",
		},
		"entries on one field follow each other": {
			xml: `<fields><field><in_stream_name>s</in_stream_name><replace_string>a</replace_string><replace_by_string>b</replace_by_string></field>
				<field><in_stream_name>s</in_stream_name><replace_string>b</replace_string><replace_by_string>c</replace_by_string></field></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"ab"}}, want: []string{"cc"},
		},
	})
}

func TestReplaceStringRejectsABadReplacement(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.ReplaceString,
		XML:        replacement(`<replace_string>x</replace_string><replace_field_by_string>by</replace_field_by_string>`),
		Inputs:     []transformtest.Input{{Fields: []batch.Field{text("s"), text("by")}, Rows: [][]any{{"x", "$7"}, {"x", "y"}}}},
		Error:      &transform.ErrorLink{CodeField: "code"},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"y|y"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"x|$7|ReplaceString001"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
}

func TestConcatFields(t *testing.T) {
	target := func(more string) string {
		return `<ConcatFields><targetFieldName>t</targetFieldName>` + more + `</ConcatFields>`
	}
	ab := []batch.Field{text("a"), typed("n", batch.Number, "0.00"), text("c")}
	row := [][]any{{" x ", 1.5, nil}}
	runExamples(t, rows.ConcatFields, map[string]example{
		"all fields by their own masks": {xml: target(""), fields: ab, rows: row, want: []string{" x |1.50|<null>| x ;1.50;"}},
		"listed, trimmed, text for null": {
			xml:    target("") + `<separator>-</separator><fields><field><name>c</name><nullif>none</nullif></field><field><name>a</name><trim_type>both</trim_type></field></fields>`,
			fields: ab, rows: row, want: []string{" x |1.50|<null>|none-x"},
		},
		"enclosed": {xml: target("") + `<force_enclosure>Y</force_enclosure><enclosure>'</enclosure>`, fields: ab, rows: row, want: []string{" x |1.50|<null>|' x ';'1.50';''"}},
		"empty left out": {
			xml: target("") + `<skip_value_empty>Y</skip_value_empty><separator>,</separator>`, fields: []batch.Field{text("a"), text("b"), text("c")},
			rows: [][]any{{"", "x", "y"}, {"x", nil, "y"}, {nil, nil, nil}}, want: []string{"|x|y|x,y", "x|<null>|y|x,y", "<null>|<null>|<null>|"},
		},
		"inputs removed": {
			xml:    target(`<removeSelectedFields>Y</removeSelectedFields>`) + `<fields><field><name>a</name></field><field><name>n</name></field></fields>`,
			fields: ab, rows: row, want: []string{"<null>| x ;1.50"}, layout: "c String, t String",
		},
		"no target":     {xml: "", fields: ab, err: "target field has no name"},
		"unknown field": {xml: target("") + `<fields><field><name>q</name></field></fields>`, fields: ab, err: `field "q" not found`},
	})
}

func TestFieldSplitter(t *testing.T) {
	fields := `<fields><field><name>a</name><type>String</type></field><field><name>b</name><type>Integer</type><format>#</format></field></fields>`
	in := []batch.Field{text("k"), text("s"), text("z")}
	runExamples(t, rows.FieldSplitter, map[string]example{
		"by position in place": {
			xml: `<splitfield>s</splitfield><delimiter>,</delimiter>` + fields, fields: in,
			rows: [][]any{{"k", "x,1,more", "z"}, {"k", "x", "z"}, {"k", nil, "z"}, {"k", ",2", "z"}},
			want: []string{"k|x|1|z", "k|x|<null>|z", "k|<null>|<null>|z", "k|<null>|2|z"}, layout: "k String, a String, b Integer, z String",
		},
		"the field is kept": {
			xml: `<splitfield>S</splitfield><keep_split_field>Y</keep_split_field>` + fields, fields: in,
			rows: [][]any{{"k", "x,1", "z"}}, want: []string{"k|x,1|z|x|1"}, layout: "k String, s String, z String, a String, b Integer",
		},
		"by id": {
			xml: `<splitfield>s</splitfield><fields><field><name>p</name><id>p=</id><idrem>Y</idrem><type>String</type></field>
				<field><name>q</name><id>q=</id><idrem>N</idrem><type>String</type></field></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"q=2,p=1"}, {"x=1"}}, want: []string{"1|q=2", "<null>|<null>"},
		},
		"enclosed delimiters": {
			xml: `<splitfield>s</splitfield><delimiter>:</delimiter><enclosure>"</enclosure><fields><field><name>a</name></field><field><name>b</name></field></fields>`, fields: []batch.Field{text("s")},
			rows: [][]any{{`"x:y":z`}, {`a"b:c"d:e`}, {`"open:z`}}, want: []string{`"x:y"|z`, `a"b:c"d|e`, `"open:z|<null>`},
		},
		"enclosures removed": {
			xml: `<splitfield>s</splitfield><enclosure>"</enclosure><fields><field><name>a</name></field></fields>`, fields: []batch.Field{text("s")},
			rows: [][]any{{`"x,y",z`}}, vars: map[string]string{"HOP_SPLIT_FIELDS_REMOVE_ENCLOSURE": "Y"}, want: []string{"x,y"},
		},
		"escaped delimiters": {
			xml: `<splitfield>s</splitfield><escape_string>\</escape_string><fields><field><name>a</name></field><field><name>b</name></field></fields>`, fields: []batch.Field{text("s")},
			rows: [][]any{{`x\,y,z`}}, want: []string{"x,y|z"},
		},
		"null text, default and trim": {
			xml:    `<splitfield>s</splitfield><fields><field><name>a</name><nullif>-</nullif></field><field><name>b</name><ifnull>none</ifnull></field><field><name>c</name><trimtype>both</trimtype></field></fields>`,
			fields: []batch.Field{text("s")}, rows: [][]any{{"-,, x "}}, want: []string{"|none|x"},
		},
		"a part that cannot be read": {xml: `<splitfield>s</splitfield>` + fields, fields: []batch.Field{text("s")}, rows: [][]any{{"x,y"}}, err: `value "y"`},
		"numbers are refused":        {xml: `<splitfield>s</splitfield>` + fields, fields: []batch.Field{integer("s")}, err: "only a String"},
		"no fields drop the text":    {xml: `<splitfield>s</splitfield>`, fields: in, rows: [][]any{{"k", "x", "z"}}, want: []string{"k|z"}},
	})
}

func TestSplitFieldToRows(t *testing.T) {
	in := []batch.Field{text("s"), integer("k")}
	runExamples(t, rows.SplitFieldToRows, map[string]example{
		"plain delimiter, empty parts kept": {
			xml: `<splitfield>s</splitfield><delimiter>;</delimiter><newfield>part</newfield>`, fields: in,
			rows: [][]any{{"a;b;;", 1}, {nil, 2}}, want: []string{"a;b;;|1|a", "a;b;;|1|b", "a;b;;|1|", "a;b;;|1|", "<null>|2|"}, layout: "s String, k Integer, part String",
		},
		"expression and numbers per row": {
			xml:    `<splitfield>s</splitfield><delimiter>,\s*</delimiter><delimiter_is_regex>Y</delimiter_is_regex><newfield>p</newfield><rownum>Y</rownum><rownum_field>n</rownum_field><resetrownumber>Y</resetrownumber>`,
			fields: in, rows: [][]any{{"a,  b", 1}, {"c,d", 2}}, want: []string{"a,  b|1|a|1", "a,  b|1|b|2", "c,d|2|c|1", "c,d|2|d|2"},
		},
		"numbers go on": {
			xml: `<splitfield>s</splitfield><newfield>p</newfield><rownum>Y</rownum><rownum_field>n</rownum_field>`, fields: in,
			rows: [][]any{{"a;b", 1}, {"c", 2}}, want: []string{"a;b|1|a|1", "a;b|1|b|2", "c|2|c|3"},
		},
		"no delimiter splits characters": {
			xml: `<splitfield>s</splitfield><delimiter/><newfield>p</newfield>`, fields: []batch.Field{text("s")}, rows: [][]any{{"ab"}}, want: []string{"ab|a", "ab|b", "ab|"},
		},
		"no new field":     {xml: `<splitfield>s</splitfield>`, fields: in, err: "new field has no name"},
		"number unnamed":   {xml: `<splitfield>s</splitfield><newfield>p</newfield><rownum>Y</rownum>`, fields: in, err: "row number field has no name"},
		"only texts split": {xml: `<splitfield>k</splitfield><newfield>p</newfield>`, fields: in, err: "only a String"},
	})
}
