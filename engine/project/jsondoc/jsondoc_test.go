package jsondoc_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/engine/project/jsondoc"
)

func TestParseErrors(t *testing.T) {
	cases := map[string]struct {
		in           string
		line, column int
		says         string
	}{
		"empty":            {"", 1, 1, "end of file"},
		"blanks":           {" \n ", 2, 2, "end of file"},
		"trailing":         {"{} x", 1, 4, "'x'"},
		"missing comma":    {"{\n \"a\": 1\n \"b\": 2}", 3, 2, "expected , or }"},
		"trailing comma":   {`{"a": 1,}`, 1, 9, "key in quotes"},
		"list comma":       {"[1,]", 1, 4, "expected a value"},
		"no colon":         {`{"a" 1}`, 1, 6, `the key "a"`},
		"bare key":         {`{a: 1}`, 1, 2, "key in quotes"},
		"unclosed string":  {`{"a": "x`, 1, 9, "not closed"},
		"line break":       {"{\"ä\": \"x\ny\"}", 1, 9, "line break"},
		"bad escape":       {`["\x"]`, 1, 2, "escape"},
		"bad number":       {`[01]`, 1, 2, "not a number"},
		"minus":            {`[-]`, 1, 2, "not a number"},
		"word":             {`[tru]`, 1, 2, "expected a value"},
		"word goes on":     {`[truest]`, 1, 6, "expected , or ]"},
		"unclosed object":  {`{"a": {}`, 1, 9, "end of file"},
		"too deep":         {strings.Repeat("[", 5000), 1, 1002, "deep"},
		"after a bom":      {"\ufeff[x]", 1, 2, "'x'"},
		"comment":          {"// no\n{}", 1, 1, "'/'"},
		"escaped quote":    {`["a\"]`, 1, 7, "not closed"},
		"escape at end":    {`["a\`, 1, 5, "not closed"},
		"column of umlaut": {"[\"äöü\" x]", 1, 8, "'x'"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := jsondoc.Parse("f.json", []byte(c.in))
			var syntax *jsondoc.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error %v", err)
			}
			if syntax.Line != c.line || syntax.Column != c.column || !strings.Contains(syntax.Message, c.says) {
				t.Errorf("%v, want %d:%d … %s", err, c.line, c.column, c.says)
			}
		})
	}
}

const sample = "\ufeff{\r\n  \"b\" : 1.50,\r\n  \"a\" : { \"x\" : \"\\u00e9\", \"list\" : [ {\"n\": 1}, 2 ] },\r\n  \"y\" : \"Y\", \"n\" : null,\r\n  \"b\" : 2e3\r\n}\r\n"

func parse(t *testing.T, text string) *jsondoc.Document {
	t.Helper()
	d, err := jsondoc.Parse("f.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestValues(t *testing.T) {
	d := parse(t, sample)
	root := d.Root()
	if string(d.Bytes()) != sample {
		t.Error("the bytes changed")
	}
	if got := root.Get("b").Text(); got != "2e3" {
		t.Errorf("of two keys the last counts, got %s", got)
	}
	if got := root.Get("a").Get("x").Text(); got != "é" {
		t.Errorf("escape gives %q", got)
	}
	if root.Get("none").Get("deeper").Items() != nil || root.Get("none").Text() != "" || root.Get("none").Kind() != jsondoc.Absent {
		t.Error("absent values are not empty")
	}
	if !root.Get("y").Bool(false) || root.Get("n").Bool(false) || root.Get("n").Kind() != jsondoc.Null {
		t.Error("boolean as text, or null")
	}
	if got := root.Get("a").Get("list").Items()[0].Get("n").Int(0); got != 1 {
		t.Errorf("number %d", got)
	}
	if got := string(d.Raw(root.Get("a").Get("list"))); got != `[ {"n": 1}, 2 ]` {
		t.Errorf("raw %s", got)
	}
	if line, column := d.Position(root.Get("a").Get("x")); line != 3 || column != 17 {
		t.Errorf("position %d:%d", line, column)
	}
	var keys []string
	for _, m := range root.Members() {
		keys = append(keys, m.Key)
	}
	if !slices.Equal(keys, []string{"b", "a", "y", "n", "b"}) {
		t.Errorf("keys %v", keys)
	}
}

func TestEdits(t *testing.T) {
	cases := map[string]struct {
		in    string
		set   string
		path  []string
		want  string
		fails bool
	}{
		"replace":             {`{"a": 1, "b": 2}`, "3", []string{"a"}, `{"a": 3, "b": 2}`, false},
		"same spelling":       {`{"a": 1.50}`, "1.50", []string{"a"}, `{"a": 1.50}`, false},
		"add as its siblings": {"{\n  \"a\" : 1\n}\n", `"x"`, []string{"b"}, "{\n  \"a\" : 1,\n  \"b\" : \"x\"\n}\n", false},
		"add with crlf":       {"{\r\n\t\"a\": 1\r\n}", `2`, []string{"b"}, "{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", false},
		"add on one line":     {`{"a":1}`, `2`, []string{"b"}, `{"a":1,"b":2}`, false},
		"add to empty":        {`{ }`, `2`, []string{"b"}, `{"b": 2}`, false},
		"key with quotes":     {`{"a":1}`, `2`, []string{`q"<&`}, `{"a":1,"q\"<&":2}`, false},
		"odd first key":       {`{"a\":\"":1}`, `2`, []string{"b"}, `{"a\":\"":1,"b":2}`, false},
		"deep":                {`{"l": [{"x": 1}, {"x": 2}]}`, `3`, []string{"l", "1", "x"}, `{"l": [{"x": 1}, {"x": 3}]}`, false},
		"last of two keys":    {`{"a": 1, "a": 2}`, `3`, []string{"a"}, `{"a": 1, "a": 3}`, false},
		"whole":               {` 1 `, `2`, nil, ` 2 `, false},
		"no parent":           {`{}`, `1`, []string{"a", "b"}, "", true},
		"list has no key":     {`[1]`, `1`, []string{"x"}, "", true},
		"beyond the list":     {`[1]`, `1`, []string{"1"}, "", true},
		"not json":            {`{"a": 1}`, `x`, []string{"a"}, "", true},

		"delete first":  {"{\n  \"a\": 1,\n  \"b\": 2\n}", "", []string{"a"}, "{\n  \"b\": 2\n}", false},
		"delete middle": {`{"a": 1, "b": 2, "c": 3}`, "", []string{"b"}, `{"a": 1, "c": 3}`, false},
		"delete last":   {"{\n  \"a\": 1,\n  \"b\": 2\n}", "", []string{"b"}, "{\n  \"a\": 1\n}", false},
		"delete only":   {"{\n  \"a\": 1\n}", "", []string{"a"}, "{}", false},
		"delete item":   {`[1, 2, 3]`, "", []string{"0"}, `[2, 3]`, false},
		"delete absent": {`{"a": 1}`, "", []string{"x"}, `{"a": 1}`, false},
		"delete deeper": {`{"a": 1}`, "", []string{"x", "y"}, `{"a": 1}`, false},
		"delete root":   {`{"a": 1}`, "", nil, "", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := parse(t, c.in)
			var got *jsondoc.Document
			var err error
			if c.set == "" {
				got, err = d.Delete(c.path...)
			} else {
				got, err = d.Set([]byte(c.set), c.path...)
			}
			if c.fails {
				if err == nil {
					t.Errorf("no error, got %s", got.Bytes())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes()) != c.want {
				t.Errorf("got %q, want %q", got.Bytes(), c.want)
			}
			if string(d.Bytes()) != c.in {
				t.Error("the first document changed")
			}
			if c.in == c.want && got != d {
				t.Error("an edit without effect made a new document")
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"a":[1,-2.5e+3,true,null,"\ud83d\ude42"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := jsondoc.Parse("f", slices.Clone(data))
		withoutMark := []byte(strings.TrimPrefix(string(data), "\ufeff"))
		if (err == nil) != json.Valid(withoutMark) {
			t.Fatalf("%q: error %v, but encoding/json says valid is %v", data, err, json.Valid(withoutMark))
		}
		if err != nil || d.Root().Kind() != jsondoc.Object {
			return
		}
		added, err := d.Set([]byte("1"), "a new key")
		if err != nil {
			t.Fatal(err)
		}
		if added.Root().Get("a new key").Text() != "1" {
			t.Errorf("%q: the key is not in %q", data, added.Bytes())
		}
	})
}
