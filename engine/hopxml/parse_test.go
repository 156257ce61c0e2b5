package hopxml_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"sluice/engine/hopxml"
)

const head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

func parse(t testing.TB, data string) *hopxml.Document {
	t.Helper()
	d, err := hopxml.Parse("test.hpl", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParseKeepsEveryByte(t *testing.T) {
	for name, data := range map[string]string{
		"declaration":                head + "<pipeline/>\n",
		"no declaration":             "<pipeline></pipeline>",
		"byte order mark":            "\ufeff" + head + "<pipeline/>",
		"CRLF":                       "<?xml version=\"1.0\"?>\r\n<pipeline>\r\n  <a/>\r\n</pipeline>\r\n",
		"comment before declaration": "<!-- licence -->\n" + head + "<pipeline/>\n",
		"comments everywhere":        head + "<!--a--><pipeline><!--b--><x>1<!--c-->2</x></pipeline><!--d-->\n\n",
		"CDATA":                      "<pipeline><x><![CDATA[a<b&]]></x></pipeline>",
		"attributes":                 `<pipeline a="1" b = '>"'><x c="&lt;"  /></pipeline >`,
		"instructions":               `<?a?><pipeline><?php echo ">" ?></pipeline><?b c?>`,
		"mixed content":              "<pipeline>text <b>bold</b> more</pipeline>",
		"empty forms":                "<pipeline><a/><a></a><a> </a><a\n/></pipeline>",
		"prefixes":                   `<p:pipeline xmlns:p="urn:x"><p:a/></p:pipeline>`,
		"names beyond ASCII":         "<pipeline><größe>1</größe></pipeline>",
		"mark against declaration":   "\ufeff<?xml version='1.0' encoding='ISO-8859-1'?><pipeline><x>é</x></pipeline>",
		"single quoted declaration":  "<?xml version='1.0' encoding='utf-8' standalone='yes'?><pipeline/>",
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, data)
			if got := string(d.Bytes()); got != data {
				t.Errorf("got %q, want %q", got, data)
			}
			// an edit and its opposite make the splice, not the copy
			e := d.Root()
			edited := apply(t, d, hopxml.Insert(e.ID(), hopxml.AtEnd(), hopxml.Leaf("zz", "1")))
			if strings.Count(string(edited.Bytes()), "<zz>1</zz>") != 1 {
				t.Errorf("inserted: %q", edited.Bytes())
			}
		})
	}
}

func TestText(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"named":             {"&lt;&gt;&amp;&quot;&apos;", `<>&"'`},
		"numbers":           {"&#10;&#x0a;&#x00A4;&#34;&#x1F600;&#0013;", "\n\n\u00a4\"\U0001F600\r"},
		"blanks are kept":   {"  a \t", "  a \t"},
		"CRLF is LF":        {"a\r\nb\rc", "a\nb\nc"},
		"CDATA":             {"<![CDATA[a<b&amp;\r\n]]>", "a<b&amp;\n"},
		"up to a comment":   {"a<!-- x -->b", "a"},
		"behind a comment":  {"<!-- x -->b", "b"},
		"text before CDATA": {"a<![CDATA[b]]>", "a"},
		"empty":             {"", ""},
		"unescaped >":       {"a > b ]] >", "a > b ]] >"},
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, "<pipeline><X>"+c.raw+"</X><x>other</x></pipeline>")
			if got := d.Root().Child("x").Text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLineEnd(t *testing.T) {
	for data, want := range map[string]string{"<p/>": "\n", "<p/>\n": "\n", "<p>\r\n</p>\n": "\r\n", "\n<p>\r\n</p>": "\n"} {
		if got := parse(t, data).LineEnd(); got != want {
			t.Errorf("%q: got %q, want %q", data, got, want)
		}
	}
}

func TestNavigation(t *testing.T) {
	d := parse(t, head+"<pipeline>\n  <info>\n    <Name>n</Name>\n  </info>\n  <transform/><TRANSFORM/>\n</pipeline>")
	root := d.Root()
	if got := root.Child("INFO").Child("name"); got.Text() != "n" || got.Line() != 4 || got.Name() != "Name" || string(got.Raw()) != "<Name>n</Name>" {
		t.Errorf("name: %+v", got)
	}
	if n := len(root.All("transform")); n != 2 {
		t.Errorf("%d transforms, want 2", n)
	}
	if n := len(root.Elements()); n != 3 {
		t.Errorf("%d elements, want 3", n)
	}
	none := root.Child("absent")
	if none != nil || none.Child("x").Text() != "" || none.All("x") != nil || none.Elements() != nil || none.Line() != 0 || none.ID() != 0 || none.Raw() != nil || none.Flag() {
		t.Error("an absent element does not answer as absent")
	}
	if d.Element(root.Child("info").ID()) != root.Child("info") || d.Element(0) != nil || d.Element(1e6) != nil {
		t.Error("Element does not find by identity")
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		data         string
		line, column int
		says         string
	}{
		"nothing":                 {"", 1, 1, "no element"},
		"only blanks":             {" \n\n ", 3, 2, "no element"},
		"text":                    {"hello", 1, 1, "stray text"},
		"stray text behind":       {"<p/>\n  x", 2, 3, "stray text"},
		"second root":             {"<p/>\n<q/>", 2, 1, "second element"},
		"mismatch":                {"<p>\n  <a>1</b>\n</p>", 2, 7, "</b> found where <a> of line 2"},
		"case of names":           {"<p><a></A></p>", 1, 7, "</A> found"},
		"unclosed":                {"<p>\n<a>", 2, 4, "end of file inside <a>"},
		"closes nothing":          {"<p/></p>", 1, 5, "closes nothing"},
		"cut tag":                 {"<p><a", 1, 4, "no end"},
		"cut end tag":             {"<p></p", 1, 4, "no end"},
		"lone less-than":          {"<p>a < b</p>", 1, 6, "starts no element"},
		"tag in tag":              {"<p><a <b></p>", 1, 7, "inside a tag"},
		"ampersand":               {"<p>\né & b</p>", 2, 3, "'&' starts no"},
		"html entity":             {"<p>&nbsp;</p>", 1, 4, "unknown entity &nbsp;"},
		"reference to NUL":        {"<p>&#0;</p>", 1, 4, "no character"},
		"reference to U+0001":     {"<p>&#x1;</p>", 1, 4, "no character"},
		"reference too large":     {"<p>&#x110000;</p>", 1, 4, "no character"},
		"reference to surrogate":  {"<p>&#xD800;</p>", 1, 4, "no character"},
		"reference in attribute":  {"<p a='&x;'/>", 1, 7, "unknown entity"},
		"NUL":                     {"<p>\n a\x00</p>", 2, 3, "U+0000"},
		"control character":       {"<p>\x08</p>", 1, 4, "U+0008"},
		"U+FFFE":                  {"<p>\uFFFE</p>", 1, 4, "U+FFFE"},
		"not UTF-8":               {"<p>\nab\xe9</p>", 2, 3, "0xE9 is not valid UTF-8"},
		"doctype":                 {head + "<!DOCTYPE p>\n<p/>", 2, 1, "document types"},
		"entity bomb":             {`<!DOCTYPE p [<!ENTITY a "aa">]><p>&a;</p>`, 1, 1, "document types"},
		"doctype inside":          {"<p><!DOCTYPE x></p>", 1, 4, "document types"},
		"open comment":            {"<p><!-- a</p>", 1, 4, "comment has no end"},
		"hyphens in comment":      {"<p><!-- a -- b --></p>", 1, 11, "-- is not allowed"},
		"open CDATA":              {"<p><![CDATA[ a</p>", 1, 4, "CDATA section has no end"},
		"CDATA outside":           {"<![CDATA[a]]><p/>", 1, 1, "outside the document"},
		"CDATA end in text":       {"<p>a]]>b</p>", 1, 5, "]]>"},
		"open instruction":        {"<?a <p/>", 1, 1, "no end"},
		"nameless instruction":    {"<? a?><p/>", 1, 1, "no valid name"},
		"second declaration":      {head + head + "<p/>", 2, 1, "wrong place"},
		"declaration inside":      {"<p><?xml version='1.0'?></p>", 1, 4, "wrong place"},
		"declaration in capitals": {"<?XML version='1.0'?><p/>", 1, 1, "wrong place"},
		"no version":              {"<?xml encoding='UTF-8'?><p/>", 1, 1, "without version"},
		"unquoted attribute":      {"<p a=1/>", 1, 4, "no quoted value"},
		"attribute without value": {"<p a/>", 1, 4, "malformed attribute"},
		"attribute twice":         {"<p a='1' a='2'/>", 1, 10, "stands twice"},
		"attributes run together": {"<p a='1'b='2'/>", 1, 9, "without a space"},
		"open attribute":          {"<p a='1/>", 1, 1, "no end"},
		"bad name":                {"<p><a$b/></p>", 1, 6, "unexpected '$'"},
		"digit as name":           {"<p><1/></p>", 1, 4, "starts no element"},
		"unknown encoding":        {"<?xml version='1.0' encoding='klingon'?><p/>", 1, 31, `encoding "klingon"`},
		"false UCS-2":             {"<?xml version='1.0' encoding='ISO-10646-UCS-2'?><p/>", 1, 31, `encoding "ISO-10646-UCS-2"`},
		"false UTF-16":            {"<?xml version='1.0' encoding='UTF-16'?><p/>", 1, 31, `encoding "UTF-16"`},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := hopxml.Parse("bad.hpl", []byte(c.data))
			var syntax *hopxml.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, %v; want a SyntaxError", d, err)
			}
			if syntax.Line != c.line || syntax.Column != c.column || !strings.Contains(syntax.Message, c.says) {
				t.Errorf("got %v\nwant %d:%d: … %s", err, c.line, c.column, c.says)
			}
			if syntax.Hint == "" || syntax.File != "bad.hpl" {
				t.Errorf("no hint or no file: %v", err)
			}
		})
	}
}

func TestDeepNestingIsRefusedAtOnce(t *testing.T) {
	const size = 100 << 20
	for name, piece := range map[string]string{"elements": "<a>", "tags without end": "<a ", "half": "<"} {
		t.Run(name, func(t *testing.T) {
			_, err := hopxml.Parse("deep.hpl", bytes.Repeat([]byte(piece), size/len(piece)))
			syntax, ok := errors.AsType[*hopxml.SyntaxError](err)
			if !ok {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Line != 1 || syntax.Column > 10_000 {
				t.Errorf("refused at %d:%d only, of %d bytes", syntax.Line, syntax.Column, size)
			}
		})
	}
	deep := strings.Repeat("<a>", 900) + strings.Repeat("</a>", 900)
	d := parse(t, deep)
	e := d.Root()
	for len(e.Elements()) > 0 {
		e = e.Elements()[0]
	}
	if _, err := d.Apply(hopxml.Copy(d.Root().Elements()[0].ID(), e.ID(), hopxml.AtEnd())); !errors.Is(err, hopxml.ErrInvalid) {
		t.Errorf("a copy that nests too deep: %v", err)
	}
}

func TestOtherEncodingsAreReadOnly(t *testing.T) {
	const text = "<pipeline><info><name>größer</name></info></pipeline>"
	encode := func(e interface{ String(string) (string, error) }, s string) string {
		out, err := e.String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	little := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	big := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, data := range map[string]string{
		"ISO-8859-1":   encode(charmap.ISO8859_1.NewEncoder(), `<?xml version="1.0" encoding="ISO-8859-1"?>`+text),
		"windows-1252": encode(charmap.Windows1252.NewEncoder(), "<!-- ä -->"+`<?xml version="1.0" encoding="windows-1252"?>`+text),
		"UTF-16LE":     encode(little.NewEncoder(), `<?xml version="1.0" encoding="UTF-16"?>`+text),
		"UTF-16BE":     encode(big.NewEncoder(), text),
	} {
		t.Run(name, func(t *testing.T) {
			d := parse(t, data)
			if !d.ReadOnly() || d.Encoding() != name {
				t.Errorf("read-only %v, encoding %s", d.ReadOnly(), d.Encoding())
			}
			leaf := d.Root().Child("info").Child("name")
			if leaf.Text() != "größer" {
				t.Errorf("name is %q", leaf.Text())
			}
			if string(d.Bytes()) != data {
				t.Error("bytes changed")
			}
			if _, err := d.Apply(hopxml.SetText(leaf.ID(), "x")); !errors.Is(err, hopxml.ErrReadOnly) {
				t.Errorf("edit: %v", err)
			}
			if err := d.Save(t.TempDir() + "/x.hpl"); !errors.Is(err, hopxml.ErrReadOnly) {
				t.Errorf("save: %v", err)
			}
		})
	}
}

// encoding/xml reads the same names and texts from every file of the suite.
func TestSuiteAgreesWithTheStandardLibrary(t *testing.T) {
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		want, err := standardTexts(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var got []string
		walk(d.Root(), func(e *hopxml.Element) {
			if len(e.Elements()) == 0 && !bytes.Contains(e.Raw(), []byte("<!--")) {
				got = append(got, e.Name()+"="+e.Text())
			}
		})
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Errorf("%s: texts differ", path)
		}
	}
}

// standardTexts lists name=text of every leaf without comments.
func standardTexts(data []byte) ([]string, error) {
	var (
		all            []string
		text           strings.Builder
		leaf, comments bool
	)
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			leaf, comments = true, false
			text.Reset()
		case xml.Comment:
			comments = true
		case xml.CharData:
			text.Write(token)
		case xml.EndElement:
			if leaf && !comments {
				all = append(all, token.Name.Local+"="+text.String())
			}
			leaf = false
		}
	}
}
