package jsonpath

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Rows are several paths that run over the elements of the same array or object
// ("$.x[*].a", "$.x[*].b"): Elements gives these one by one, and Value what path
// k finds in one of them, a single value at most.
type Rows struct {
	prefix []token
	rest   []*Path
}

// RowsOf finds what several paths have in common; false when they do not share
// everything up to one wildcard that is followed by definite steps only.
func RowsOf(paths []*Path) (*Rows, bool) {
	r := &Rows{}
	for i, p := range paths {
		at := -1
		for k := range p.tokens {
			switch t := &p.tokens[k]; {
			case t.definite():
			case t.kind == wildcard && !t.scan && at < 0:
				at = k
			default:
				return nil, false
			}
		}
		if at < 0 {
			return nil, false
		}
		if i == 0 {
			r.prefix = p.tokens[:at]
		} else if !reflect.DeepEqual(r.prefix, p.tokens[:at]) && (len(r.prefix) > 0 || at > 0) {
			return nil, false
		}
		r.rest = append(r.rest, &Path{text: p.text, tokens: p.tokens[at+1:]})
	}
	return r, len(paths) > 0
}

// Value gives what path k finds in an element, nil when it finds nothing.
func (r *Rows) Value(k int, element *Node, o Options) *Node {
	var space [1]*Node
	if found := r.rest[k].Eval(space[:0], element, o); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Of gives the elements within a parsed document.
func (r *Rows) Of(root *Node) iter.Seq2[*Node, error] {
	return func(yield func(*Node, error) bool) {
		p := Path{tokens: r.prefix}
		for _, parent := range p.Eval(nil, root, Options{}) {
			for i := range parent.Items {
				if !yield(&parent.Items[i], nil) {
					return
				}
			}
		}
	}
}

// Streams says whether Elements reads a document piece by piece: it does when the
// steps before the wildcard are names.
func (r *Rows) Streams() bool {
	for i := range r.prefix {
		if r.prefix[i].kind != property {
			return false
		}
	}
	return true
}

// Elements reads a document and gives the elements as they come, each valid as
// long as the caller likes. When Streams is true the memory is that of one
// element; what lies outside of the array is only checked for its brackets and
// quotes. The error ends the sequence.
func (r *Rows) Elements(in io.Reader) iter.Seq2[*Node, error] {
	if !r.Streams() {
		return func(yield func(*Node, error) bool) {
			root, err := Read(in)
			if err != nil {
				yield(nil, err)
				return
			}
			r.Of(root)(yield)
		}
	}
	return func(yield func(*Node, error) bool) {
		s := &stream{in: Decode(in), buf: make([]byte, 0, streamBuffer)}
		err := s.document(r.prefix, yield)
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// Read reads a whole document.
func Read(in io.Reader) (*Node, error) {
	doc, err := io.ReadAll(Decode(in))
	if err != nil {
		return nil, err
	}
	return Parse(doc)
}

// Decode gives UTF-8 of a document that may start with a byte order mark.
func Decode(in io.Reader) io.Reader {
	return transform.NewReader(in, unicode.BOMOverride(encoding.Nop.NewDecoder()))
}

const streamBuffer = 64 << 10

// errEnough ends a stream whose caller wants no more.
var errEnough = errors.New("enough")

type stream struct {
	in     io.Reader
	buf    []byte
	pos    int
	base   int64 // offset of buf in the document
	value  []byte
	count  int64
	parser parser
}

func (s *stream) fail(format string, args ...any) error {
	return fmt.Errorf("invalid JSON at byte %d: %s", s.base+int64(s.pos), fmt.Sprintf(format, args...))
}

// more reads on; false at the end of the document.
func (s *stream) more() (bool, error) {
	s.base += int64(len(s.buf))
	s.pos, s.buf = 0, s.buf[:0]
	for range 100 {
		n, err := s.in.Read(s.buf[:cap(s.buf)])
		s.buf = s.buf[:n]
		if n > 0 {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, io.ErrNoProgress
}

// peek gives the next byte that is not blank, 0 at the end of the document.
func (s *stream) peek() (byte, error) {
	for {
		for ; s.pos < len(s.buf); s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if ok, err := s.more(); !ok {
			return 0, err
		}
	}
}

func (s *stream) document(prefix []token, yield func(*Node, error) bool) error {
	if err := s.descend(prefix, yield); err != nil {
		return err
	}
	c, err := s.peek()
	if err == nil && c != 0 {
		err = s.fail("there is more text after the end of the document")
	}
	return err
}

// descend reads one value; elements of the one that prefix leads to are yielded.
func (s *stream) descend(prefix []token, yield func(*Node, error) bool) error {
	c, err := s.peek()
	switch {
	case err != nil:
		return err
	case c == '{':
		return s.members(prefix, yield)
	case c == '[' && len(prefix) == 0:
		return s.elements(yield)
	}
	return s.take(false)
}

func (s *stream) elements(yield func(*Node, error) bool) error {
	s.pos++
	for first := true; ; first = false {
		c, err := s.peek()
		if err != nil {
			return err
		}
		if c == ']' && first {
			s.pos++
			return nil
		}
		if err := s.element(yield); err != nil {
			return err
		}
		if done, err := s.separator(']'); done || err != nil {
			return err
		}
	}
}

func (s *stream) element(yield func(*Node, error) bool) error {
	if _, err := s.peek(); err != nil {
		return err
	}
	start := s.base + int64(s.pos)
	if err := s.take(true); err != nil {
		return err
	}
	s.count++
	n, err := s.parser.parse(s.value)
	if err != nil {
		return fmt.Errorf("element %d, from byte %d: %w", s.count, start, err)
	}
	if !yield(n, nil) {
		return errEnough
	}
	return nil
}

func (s *stream) separator(end byte) (bool, error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case c == end:
		s.pos++
		return true, nil
	case c == ',':
		s.pos++
		return false, nil
	case c == 0:
		return false, s.fail("the document ends before its closing %q", end)
	}
	return false, s.fail("%q or a comma is missing", end)
}

func (s *stream) members(prefix []token, yield func(*Node, error) bool) error {
	s.pos++
	for first := true; ; first = false {
		c, err := s.peek()
		if err != nil {
			return err
		}
		if c == '}' && first {
			s.pos++
			return nil
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		switch {
		case len(prefix) == 0:
			err = s.element(yield)
		case name == prefix[0].names[0]:
			err = s.descend(prefix[1:], yield)
		default:
			err = s.take(false)
		}
		if err != nil {
			return err
		}
		if done, err := s.separator('}'); done || err != nil {
			return err
		}
	}
}

// name reads a member's name and its colon.
func (s *stream) name() (string, error) {
	s.value = s.value[:0]
	var quote byte
	c, err := s.peek()
	if err != nil {
		return "", err
	}
	if c == '"' || c == '\'' {
		quote = c
	}
	for first := true; ; first = false {
		if s.pos == len(s.buf) {
			if ok, err := s.more(); err != nil {
				return "", err
			} else if !ok {
				return "", s.fail("the document ends within an object")
			}
		}
		c := s.buf[s.pos]
		if quote == 0 && (c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			break
		}
		s.pos++
		s.value = append(s.value, c)
		if quote != 0 && c == quote && !first && !escapedEnd(s.value) {
			break
		}
	}
	p := parser{src: string(s.value)}
	name, err := p.name()
	if err == nil && p.pos != len(p.src) {
		err = s.fail("%q is not a name", p.src)
	}
	if err != nil {
		return "", err
	}
	if c, err = s.peek(); err == nil && c != ':' {
		err = s.fail("a colon is missing after the name %q", name)
	}
	s.pos++
	return name, err
}

// escapedEnd says whether the last byte is escaped by a backslash.
func escapedEnd(v []byte) bool {
	n := 0
	for i := len(v) - 2; i >= 0 && v[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// take passes over one value; keep puts its bytes into s.value.
func (s *stream) take(keep bool) error {
	s.value = s.value[:0]
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c == 0 || c == ',' || c == ']' || c == '}' || c == ':' {
		return s.fail("a value is missing")
	}
	var q quoting
	depth := 0
	for {
		start := s.pos
		for ; s.pos < len(s.buf); s.pos++ {
			c := s.buf[s.pos]
			if q.inside(c) {
				continue
			}
			switch c {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			ends := depth == 0 && (c == '}' || c == ']' || c == '"' || c == '\'')
			if ends && !q.open {
				s.pos++
				s.keep(keep, start, s.pos)
				return nil
			}
			if depth < 0 || (depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n')) {
				s.keep(keep, start, s.pos)
				return nil
			}
		}
		s.keep(keep, start, s.pos)
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			if depth > 0 || q.open {
				return s.fail("the document ends within a value")
			}
			return nil
		}
	}
}

func (s *stream) keep(wanted bool, from, to int) {
	if wanted {
		s.value = append(s.value, s.buf[from:to]...)
	}
}

// quoting follows strings through the bytes of a document.
type quoting struct {
	open    bool
	escaped bool
	quote   byte
}

// inside says whether a byte belongs to a string and is not its closing quote.
func (q *quoting) inside(c byte) bool {
	switch {
	case !q.open:
		if c == '"' || c == '\'' {
			q.open, q.quote = true, c
			return true
		}
		return false
	case q.escaped:
		q.escaped = false
	case c == '\\':
		q.escaped = true
	case c == q.quote:
		q.open = false
		return false
	}
	return true
}
