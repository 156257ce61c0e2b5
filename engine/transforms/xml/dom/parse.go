package dom

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"sluice/engine/transforms/filenames"
)

// maxDepth bounds the nesting of elements.
const maxDepth = 10000

// Options say how documents are read.
type Options struct {
	// Encoding of the bytes; nil: UTF-8. A byte order mark wins.
	Encoding     encoding.Encoding
	SkipComments bool
	// OnElement, when not nil, is called at the end of each element; memory is
	// saved by detaching it there.
	OnElement func(n *Node) error
}

// Parse reads a document. The error tells the line.
func Parse(in io.Reader, o Options) (*Node, error) {
	p := &parser{options: o, root: &Node{}}
	p.at = p.root
	var source io.Reader
	if o.OnElement == nil {
		doc, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		if p.doc, err = decode(doc, o.Encoding); err != nil {
			return nil, err
		}
		source = bytes.NewReader(p.doc)
	} else {
		source = transform.NewReader(in, decoder(o.Encoding))
	}
	p.dec = xml.NewDecoder(source)
	p.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return p.root, p.run()
}

func decoder(e encoding.Encoding) transform.Transformer {
	if e == nil {
		e = encoding.Nop
	}
	return unicode.BOMOverride(e.NewDecoder())
}

var declared = regexp.MustCompile(`^<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// decode gives UTF-8. Bytes that are not UTF-8 although they should be are read in
// the encoding that the document declares.
func decode(doc []byte, e encoding.Encoding) ([]byte, error) {
	if e == nil && !utf8.Valid(doc) {
		if m := declared.FindSubmatch(doc); m != nil {
			if known, err := lookup(string(m[1])); err == nil {
				e = known
			}
		}
	}
	out, _, err := transform.Bytes(decoder(e), doc)
	return out, err
}

type parser struct {
	options Options
	dec     *xml.Decoder
	doc     []byte // the whole document, nil when it is read piece by piece
	root    *Node
	at      *Node
	depth   int
	spaces  []Space
	marks   []int // len(spaces) at each open element
	started bool
}

func (p *parser) fail(format string, args ...any) error {
	line, col := p.dec.InputPos()
	return fmt.Errorf("invalid XML at line %d, column %d: %s", line, col, fmt.Sprintf(format, args...))
}

func (p *parser) run() error {
	for {
		offset := p.dec.InputOffset()
		tok, err := p.dec.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return p.end()
		case err != nil:
			if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
				return fmt.Errorf("invalid XML at line %d: %s", syntax.Line, syntax.Msg)
			}
			return err
		}
		if err := p.token(tok, offset); err != nil {
			return err
		}
	}
}

func (p *parser) end() error {
	if p.at != p.root {
		return p.fail("element <%s> has no end", QName(p.at.Prefix, p.at.Name))
	}
	if !p.started {
		return p.fail("there is no root element")
	}
	return nil
}

func (p *parser) token(tok xml.Token, offset int64) error {
	switch t := tok.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		return p.finish(t)
	case xml.CharData:
		return p.text(t, offset)
	case xml.Comment:
		if !p.options.SkipComments {
			p.at.append(&Node{Kind: Comment, Data: string(t)})
		}
	case xml.ProcInst:
		if t.Target != "xml" {
			p.at.append(&Node{Kind: Instruction, Name: t.Target, Data: string(t.Inst)})
		}
	}
	return nil
}

func (p *parser) text(t xml.CharData, offset int64) error {
	if p.at == p.root {
		if len(bytes.TrimSpace(t)) > 0 {
			return p.fail("there is text outside of the root element")
		}
		return nil
	}
	isCData := p.doc != nil && bytes.HasPrefix(p.doc[offset:], []byte("<![CDATA["))
	if last := p.at.Last; last != nil && last.Kind == Text && !isCData && !last.CData {
		last.Data += string(t)
		return nil
	}
	p.at.append(&Node{Kind: Text, Data: string(t), CData: isCData})
	return nil
}

func (p *parser) start(t xml.StartElement) error {
	if p.at == p.root && p.started {
		return p.fail("there is a second root element <%s>", QName(t.Name.Space, t.Name.Local))
	}
	if p.depth++; p.depth > maxDepth {
		return p.fail("elements are nested more than %d deep", maxDepth)
	}
	p.started = true
	n := &Node{Kind: Element, Prefix: t.Name.Space, Name: t.Name.Local}
	p.marks = append(p.marks, len(p.spaces))
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns":
			n.Spaces = append(n.Spaces, Space{a.Name.Local, a.Value})
		case a.Name.Space == "" && a.Name.Local == "xmlns":
			n.Spaces = append(n.Spaces, Space{"", a.Value})
		default:
			n.Attrs = append(n.Attrs, Attr{Prefix: a.Name.Space, Name: a.Name.Local, Value: a.Value})
		}
	}
	p.spaces = append(p.spaces, n.Spaces...)
	var ok bool
	if n.URI, ok = p.uri(n.Prefix); !ok {
		return p.fail("the prefix %q of <%s> is not declared", n.Prefix, QName(n.Prefix, n.Name))
	}
	n.DefaultSpace = n.Prefix == "" && n.URI != ""
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if a.Prefix == "" {
			continue
		}
		if a.URI, ok = p.uri(a.Prefix); !ok {
			return p.fail("the prefix %q of attribute %s is not declared", a.Prefix, QName(a.Prefix, a.Name))
		}
	}
	p.at.append(n)
	p.at = n
	return nil
}

func (p *parser) uri(prefix string) (string, bool) {
	for _, s := range slices.Backward(p.spaces) {
		if s.Prefix == prefix {
			return s.URI, true
		}
	}
	if prefix == "xml" {
		return "http://www.w3.org/XML/1998/namespace", true
	}
	return "", prefix == ""
}

func (p *parser) finish(t xml.EndElement) error {
	n := p.at
	if n == p.root || n.Prefix != t.Name.Space || n.Name != t.Name.Local {
		open := "no element is open"
		if n != p.root {
			open = "<" + QName(n.Prefix, n.Name) + "> is open"
		}
		return p.fail("</%s> ends what was not begun; %s", QName(t.Name.Space, t.Name.Local), open)
	}
	p.depth--
	p.spaces = p.spaces[:p.marks[len(p.marks)-1]]
	p.marks = p.marks[:len(p.marks)-1]
	p.at = n.Parent
	if p.options.OnElement != nil {
		return p.options.OnElement(n)
	}
	return nil
}

// lookup knows the encodings that documents declare.
func lookup(name string) (encoding.Encoding, error) {
	return filenames.Charset(name)
}
