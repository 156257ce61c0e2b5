package jsonpath_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/transforms/json/jsonpath"
)

const store = `{"store":{"book":[
 {"category":"reference","author":"Rees","title":"Sayings","price":8.95},
 {"category":"fiction","author":"Waugh","title":"Sword","price":12.99},
 {"category":"fiction","author":"Melville","title":"Moby","isbn":"0-553","price":8.99}],
 "bicycle":{"color":"red","price":19.95}},"expensive":10,"a.b":{"c":null},"n":12345678901234567890}`

func parse(t *testing.T, doc string) *jsonpath.Node {
	t.Helper()
	n, err := jsonpath.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEval(t *testing.T) {
	root := parse(t, store)
	for path, want := range map[string]string{
		"$.expensive":                         `10`,
		"expensive":                           `10`,
		"$":                                   "*",
		"$.n":                                 `12345678901234567890`,
		"$['a.b'].c":                          `null`,
		"$['a.b']['d']":                       `null`,
		"$.none":                              `null`,
		"$.none.deeper":                       ``,
		"$.expensive.deeper":                  ``,
		"$.store.book[0].title":               `"Sayings"`,
		"$.store.book[-1].title":              `"Moby"`,
		"$.store.book[7].title":               ``,
		"$.store.book[0,2].title":             `"Sayings" "Moby"`,
		"$.store.book[:2].title":              `"Sayings" "Sword"`,
		"$.store.book[-2:].title":             `"Sword" "Moby"`,
		"$.store.book[1:].title":              `"Sword" "Moby"`,
		"$.store.book[::2].title":             `"Sayings" "Moby"`,
		"$.store.book[*].isbn":                `null null "0-553"`,
		"$.store.book.*.isbn":                 `null null "0-553"`,
		"$.store.book[*].isbn.x":              ``,
		"$.store.bicycle.*":                   `"red" 19.95`,
		"$.store.bicycle['price','color']":    `{"price":19.95,"color":"red"}`,
		"$.store['book','bicycle'].price":     `19.95`,
		"$..isbn.length":                      ``,
		"$..book[2].author":                   `"Melville"`,
		"$..book[*].price":                    `8.95 12.99 8.99`,
		"$..[?(@.isbn)].title":                `"Moby"`,
		"$.store.book[?(@.price < 10)].title": `"Sayings" "Moby"`,
		"$.store.book[?(@.price < $.expensive && @.category=='fiction')].title": `"Moby"`,
		"$.store.book[?(@.category != 'fiction' || @.isbn == '0-553')].title":   `"Sayings" "Moby"`,
		"$.store.book[?(!(@.category == 'fiction'))].title":                     `"Sayings"`,
		"$.store.book[?(!@.isbn)].title":                                        `"Sayings" "Sword"`,
		"$.store.book[?(@.isbn == null)].title":                                 `"Sayings" "Sword"`,
		"$.store.book[?(@.author =~ /.*(ees|mel.*)/i)].title":                   `"Sayings" "Moby"`,
		"$.store.book[?(@.author in ['Rees','Waugh'])].title":                   `"Sayings" "Sword"`,
		"$.store.book[?(@.author nin ['Rees'])].title":                          `"Sword" "Moby"`,
		"$.store.book[?(@.title contains 'ay')].title":                          `"Sayings"`,
		"$.store.book[?(@.author.length() > 4)].title":                          `"Sword" "Moby"`,
		"$.store.book[?(@['price'] >= 8.99)].title":                             `"Sword" "Moby"`,
		"$.store.book[?(@.price == '8.95')].title":                              `"Sayings"`,
		"$.store[?(@.color)].price":                                             ``,
		"$.store.bicycle[?(@.color == 'red')].price":                            `19.95`,
		"$.store.book[?(@.author size 4)].title":                                `"Sayings"`,
	} {
		t.Run(path, func(t *testing.T) {
			p, err := jsonpath.Compile(path)
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for _, n := range p.Eval(nil, root, jsonpath.Options{LeafToNull: true}) {
				words = append(words, string(n.AppendJSON(nil)))
			}
			got := strings.Join(words, " ")
			if want == "*" {
				want = string(root.AppendJSON(nil))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanWithNullLeavesAsksEveryObject(t *testing.T) {
	root := parse(t, `{"a":{"x":1},"b":[{"x":2},{"y":3}]}`)
	p, err := jsonpath.Compile("$..x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		null bool
		want int
	}{{true, 4}, {false, 2}} {
		if got := len(p.Eval(nil, root, jsonpath.Options{LeafToNull: c.null})); got != c.want {
			t.Errorf("leaf to null %v: %d values, want %d", c.null, got, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, path := range []string{"", "$.", "$.a[", "$.a['b]", "$.a[x]", "$.a[1:2:0]", "$.a[?(@.b ==)]", "$.a[?(@.b", "$.a.length()", "$a", "$.a[?('x')]", "$.a[?(@.b =~ /[/)]", "$.a[1"} {
		if _, err := jsonpath.Compile(path); err == nil {
			t.Errorf("%q: want an error", path)
		}
	}
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"order and numbers": {`{"z":1.50,"a":-0,"b":1e400,"c":9007199254740993,"d":0.1234567890123456789}`, `{"z":1.5,"a":-0,"b":1e400,"c":9007199254740993,"d":0.1234567890123456789}`},
		"escapes":           {`["\u00e4\n\"\\\/","\ud83d\ude00","\ud83d"]`, "[\"ä\\n\\\"\\\\/\",\"😀\",\"\uFFFD\"]"},
		"loose":             {`{a_b:'it''s', $c-d:"x"}`, ""},
		"loose names":       {`{a_b:'it\'s', $c-d:"x"}`, `{"a_b":"it's","$c-d":"x"}`},
		"repeated name":     {`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		"empty":             {` { "a" : [ ] , "b":{} } `, `{"a":[],"b":{}}`},
		"byte order mark":   {"\uFEFF[true,false,null]", `[true,false,null]`},
		"cut off":           {`{"a":[1,2`, ""},
		"trailing":          {`{} x`, ""},
		"bad number":        {`[01x]`, ""},
		"no value":          {`{"a":}`, ""},
		"nothing":           {``, ""},
		"bad word":          {`[nul]`, ""},
		"deep":              {strings.Repeat("[", 5000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := jsonpath.Parse([]byte(c.doc))
			if c.want == "" {
				if _, syntax := errors.AsType[*jsonpath.SyntaxError](err); !syntax {
					t.Fatalf("got %v, want a syntax error", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(n.AppendJSON(nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSyntaxErrorNamesThePlace(t *testing.T) {
	_, err := jsonpath.Parse([]byte("{\n \"a\": tru\n}"))
	if err == nil || !strings.Contains(err.Error(), "line 2, column 7") {
		t.Error(err)
	}
}

func elements(t *testing.T, doc string, paths ...string) (string, error) {
	t.Helper()
	var list []*jsonpath.Path
	for _, p := range paths {
		c, err := jsonpath.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	rows, ok := jsonpath.RowsOf(list)
	if !ok {
		return "no rows", nil
	}
	var words []string
	for e, err := range rows.Elements(iotest.OneByteReader(strings.NewReader(doc))) {
		if err != nil {
			return strings.Join(words, " "), err
		}
		for k := range paths {
			if v := rows.Value(k, e, jsonpath.Options{LeafToNull: true}); v == nil {
				words = append(words, "-")
			} else {
				words = append(words, string(v.AppendJSON(nil)))
			}
		}
	}
	return strings.Join(words, " "), nil
}

func TestElements(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		paths []string
		want  string
		err   string
	}{
		"root array":        {`[{"a":1},{"a":"]\"}"},{}]`, []string{"$[*].a"}, `1 "]\"}" null`, ""},
		"two paths":         {`{"x":[ {"a":1,"b":{"c":2}}, {"a":3} ], "y":1}`, []string{"$.x[*].a", "$.x.*.b.c"}, `1 2 3 -`, ""},
		"skips others":      {`{"p":{"x":[9]},"q":"[{","x":[1 , 2,"3"]}`, []string{"$.x[*]"}, `1 2 "3"`, ""},
		"object members":    {`{"x":{"k1":{"a":1},"k2":{"a":2}}}`, []string{"$.x.*.a"}, `1 2`, ""},
		"prefix missing":    {`{"y":[1]}`, []string{"$.x[*]"}, ``, ""},
		"prefix is scalar":  {`{"x":5}`, []string{"$.x[*]"}, ``, ""},
		"index in prefix":   {`[[1],[2,3]]`, []string{"$[1][*]"}, `2 3`, ""},
		"escaped name":      {`{"x\u0079":[1],"a\"":[2]}`, []string{"$['xy'][*]"}, `1`, ""},
		"different arrays":  {`{}`, []string{"$.x[*].a", "$.y[*].a"}, `no rows`, ""},
		"definite":          {`{}`, []string{"$.x"}, `no rows`, ""},
		"cut off":           {`[1,2`, []string{"$[*]"}, `1 2`, "ends"},
		"cut off in string": {`[1,"2`, []string{"$[*]"}, `1`, "ends"},
		"trailing text":     {`[1] 2`, []string{"$[*]"}, `1`, "more text"},
		"bad element":       {`[1,{"a":x}]`, []string{"$[*]"}, `1`, "element 2, from byte 3"},
		"missing element":   {`[1,,2]`, []string{"$[*]"}, `1`, "missing"},
		"UTF-16":            {"\xff\xfe[\x001\x00]\x00", []string{"$[*]"}, `1`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := elements(t, c.doc, c.paths...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if (err == nil) != (c.err == "") || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// FuzzParse checks that what was read and written again reads the same, and that
// cutting elements out gives what the whole document gives.
func FuzzParse(f *testing.F) {
	for _, doc := range []string{store, `[1,"a",{"b":[null]}]`, `{a:'b'}`, `["\u00zz"]`, `[1,,2]`} {
		f.Add(doc)
	}
	p, err := jsonpath.Compile("$[*]")
	if err != nil {
		f.Fatal(err)
	}
	rows, _ := jsonpath.RowsOf([]*jsonpath.Path{p})
	f.Fuzz(func(t *testing.T, doc string) {
		n, err := jsonpath.Parse([]byte(doc))
		if err != nil {
			return
		}
		text := string(n.AppendJSON(nil))
		again, err := jsonpath.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q was written as %q: %v", doc, text, err)
		}
		if back := string(again.AppendJSON(nil)); back != text {
			t.Fatalf("%q then %q", text, back)
		}
		if n.Kind != jsonpath.Array {
			return
		}
		i := 0
		for e, err := range rows.Elements(strings.NewReader(text)) {
			if err != nil {
				t.Fatal(err)
			}
			if string(e.AppendJSON(nil)) != string(n.Items[i].AppendJSON(nil)) {
				t.Fatalf("element %d differs", i)
			}
			i++
		}
		if i != len(n.Items) {
			t.Fatalf("%d elements, want %d", i, len(n.Items))
		}
	})
}
