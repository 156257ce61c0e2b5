package dom

import (
	"slices"
	"strings"
)

// XML gives what was found as XML: an element with all that is in it, an
// attribute as name="value".
func (m Match) XML() string {
	var w writer
	if m.Attr >= 0 {
		a := &m.Node.Attrs[m.Attr]
		w.attr(QName(a.Prefix, a.Name), a.Value)
		return w.String()[1:]
	}
	w.node(m.Node, nil)
	return w.String()
}

type writer struct{ strings.Builder }

// node writes a node; scope are the namespaces that are declared around it in
// what is written.
func (w *writer) node(n *Node, scope []Space) {
	switch n.Kind {
	case Document:
		for c := n.First; c != nil; c = c.Next {
			w.node(c, scope)
		}
	case Element:
		w.element(n, scope)
	case Text:
		if n.CData {
			w.WriteString("<![CDATA[" + n.Data + "]]>")
			return
		}
		w.WriteString(EscapeText(n.Data))
	case Comment:
		w.WriteString("<!--" + n.Data + "-->")
	case Instruction:
		w.WriteString("<?" + n.Name + " " + n.Data + "?>")
	}
}

func (w *writer) element(n *Node, scope []Space) {
	name := QName(n.Prefix, n.Name)
	w.WriteString("<" + name)
	declare := func(s Space) {
		key := "xmlns"
		if s.Prefix != "" {
			key += ":" + s.Prefix
		}
		w.attr(key, s.URI)
		scope = append(slices.Clip(scope), s)
	}
	for _, s := range n.Spaces {
		declare(s)
	}
	if lookupSpace(scope, n.Prefix) != n.URI && n.Prefix != "xml" {
		declare(Space{n.Prefix, n.URI})
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if a.Prefix != "" && a.Prefix != "xml" && lookupSpace(scope, a.Prefix) != a.URI {
			declare(Space{a.Prefix, a.URI})
		}
		w.attr(QName(a.Prefix, a.Name), a.Value)
	}
	if n.First == nil {
		w.WriteString("/>")
		return
	}
	w.WriteByte('>')
	for c := n.First; c != nil; c = c.Next {
		w.node(c, scope)
	}
	w.WriteString("</" + name + ">")
}

func lookupSpace(scope []Space, prefix string) string {
	for _, s := range slices.Backward(scope) {
		if s.Prefix == prefix {
			return s.URI
		}
	}
	return ""
}

func (w *writer) attr(name, value string) {
	w.WriteString(" " + name + `="` + EscapeAttr(value) + `"`)
}

var (
	textEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#13;")
	attrEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#13;", "\n", "&#10;", "\t", "&#9;")
)

// EscapeText gives a text as it stands in an element. Characters that XML does
// not allow become blanks.
func EscapeText(s string) string { return textEscapes.Replace(Allowed(s)) }

// EscapeAttr gives a text as it stands in a quoted attribute.
func EscapeAttr(s string) string { return attrEscapes.Replace(Allowed(s)) }

// Allowed replaces the characters that XML 1.0 does not allow by blanks.
func Allowed(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' || (r >= 0x20 && r != 0xFFFE && r != 0xFFFF) {
			return r
		}
		return ' '
	}, s)
}
