package dom_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"sluice/engine/transforms/xml/dom"
)

func parse(t *testing.T, doc string) *dom.Node {
	t.Helper()
	n, err := dom.Parse(strings.NewReader(doc), dom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const items = `<?xml version="1.0"?>
<!DOCTYPE items SYSTEM "none.dtd">
<items xmlns:p="urn:p"><!-- c -->
 <item id="1" p:q="z"><name>A &amp; B</name><v>1.5</v><p:x>px</p:x></item>
 <item id="2"><name><![CDATA[<C>]]></name><v>2</v></item>
 <other xmlns="urn:d"><name>D</name></other>
</items>`

func TestValueOf(t *testing.T) {
	root := parse(t, items)
	for path, want := range map[string]string{
		"/items/item/name":                           "A & B",
		"/items/item[2]/name":                        "<C>",
		"/items/item[@id='2']/v":                     "2",
		"//item[v > 1.7]/@id":                        "2",
		"/items/item/@p:q":                           "z",
		"/items/item/p:x":                            "px",
		"/items/item[last()]/@id":                    "2",
		"count(/items/item)":                         "2",
		"sum(/items/item/v)":                         "3.5",
		"count(/items/item)=2":                       "true",
		"concat(/items/item[1]/@id,'-')":             "1-",
		"/items/none":                                "",
		"/items/other/name":                          "",
		"/items/*[local-name()='other']":             "D",
		"name(/items/*[3])":                          "other",
		"/items/item[1]/following-sibling::item/@id": "2",
		"/items/item[2]/../item[1]/@id":              "1",
		"string-length(/items/item[1]/name)":         "5",
	} {
		t.Run(path, func(t *testing.T) {
			e, err := dom.Compile(path, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.ValueOf(root)
			if err != nil || got != want {
				t.Errorf("%q %v, want %q", got, err, want)
			}
		})
	}
	e, _ := dom.Compile("/items/other/name", true)
	if got, _ := e.ValueOf(root); got != "D" {
		t.Errorf("with default namespaces: %q", got)
	}
}

func TestXML(t *testing.T) {
	root := parse(t, items)
	for path, want := range map[string]string{
		"/items/item[1]":       `<item id="1" xmlns:p="urn:p" p:q="z"><name>A &amp; B</name><v>1.5</v><p:x>px</p:x></item>`,
		"/items/item[2]":       `<item id="2"><name><![CDATA[<C>]]></name><v>2</v></item>`,
		"/items/item[1]/p:x":   `<p:x xmlns:p="urn:p">px</p:x>`,
		"/items/item/@id":      `id="1"`,
		"/items/item/v/text()": `1.5`,
		"/items/comment()":     `<!-- c -->`,
		"/items/*[3]":          `<other xmlns="urn:d"><name>D</name></other>`,
		"/items/*[3]/*":        `<name xmlns="urn:d">D</name>`,
	} {
		t.Run(path, func(t *testing.T) {
			e, err := dom.Compile(path, false)
			if err != nil {
				t.Fatal(err)
			}
			m, found, err := e.First(root)
			if err != nil || !found {
				t.Fatalf("found %v, %v", found, err)
			}
			if diff := cmp.Diff(want, m.XML()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ doc, err string }{
		"external entity":  {`<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`, "entity"},
		"internal entity":  {`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, "entity"},
		"wrong end":        {"<a>\n<b></a>", "line 2"},
		"no end":           {"<a><b></b>", "<a> has no end"},
		"two roots":        {"<a/><b/>", "second root"},
		"text outside":     {"<a/>x", "outside"},
		"nothing":          {"  ", "no root"},
		"unknown prefix":   {"<p:a/>", "not declared"},
		"attribute prefix": {`<a p:b=""/>`, "not declared"},
		"deep":             {strings.Repeat("<a>", 20000), "nested"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dom.Parse(strings.NewReader(c.doc), dom.Options{})
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	latin := "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe4</a>"
	for name, c := range map[string]struct {
		doc string
		o   dom.Options
	}{
		"declared":            {latin, dom.Options{}},
		"given":               {"<a>\xe4</a>", dom.Options{Encoding: charmap.ISO8859_1}},
		"UTF-8 though denied": {"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>ä</a>", dom.Options{}},
		"mark":                {"\xef\xbb\xbf<a>ä</a>", dom.Options{Encoding: charmap.ISO8859_1}},
	} {
		n, err := dom.Parse(strings.NewReader(c.doc), c.o)
		if err != nil || n.StringValue() != "ä" {
			t.Errorf("%s: %v %v", name, n.StringValue(), err)
		}
	}
}

func TestDetachKeepsOneElementAtATime(t *testing.T) {
	doc := "<r>" + strings.Repeat("<x>1</x>\n", 100) + "</r>"
	seen := 0
	root, err := dom.Parse(strings.NewReader(doc), dom.Options{OnElement: func(n *dom.Node) error {
		if n.Path() == "/r/x" {
			seen++
			if n.Prev != nil && n.Prev.Kind == dom.Element {
				t.Error("an earlier element is still there")
			}
			n.Detach()
		}
		return nil
	}})
	if err != nil || seen != 100 {
		t.Fatalf("%d elements, %v", seen, err)
	}
	if got := root.StringValue(); got != "\n" {
		t.Errorf("left over: %q", got)
	}
}
