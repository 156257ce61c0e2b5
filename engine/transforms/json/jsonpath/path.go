package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a compiled JSONPath. It is immutable and safe for many goroutines.
type Path struct {
	text   string
	tokens []token
}

type tokenKind uint8

const (
	property tokenKind = iota // .a ['a'] ['a','b']
	index                     // [0] [0,-1]
	slice                     // [1:3]
	wildcard                  // .* [*]
	filter                    // [?(…)]
)

// token is one step. A scanning token ("..a") is tried on every value below.
type token struct {
	kind     tokenKind
	scan     bool
	names    []string
	indexes  []int
	from, to *int
	step     int
	cond     condition
}

func (t *token) definite() bool {
	return !t.scan && ((t.kind == property && len(t.names) == 1) || (t.kind == index && len(t.indexes) == 1))
}

// Definite says that the path leads to one value at most.
func (p *Path) Definite() bool {
	for i := range p.tokens {
		if !p.tokens[i].definite() {
			return false
		}
	}
	return true
}

// String gives the text of the path.
func (p *Path) String() string { return p.text }

// Compile reads a path. One that starts with neither $ nor @ starts at the root.
// The error says where the text is not understood. Functions at the end of a path
// (length() and so on) are refused, as Hop does.
func Compile(text string) (*Path, error) {
	c := compiler{src: strings.TrimSpace(text)}
	if c.src == "" {
		return nil, fmt.Errorf("JSON path is empty")
	}
	if c.src[0] != '$' && c.src[0] != '@' {
		c.src = "$." + c.src
		if strings.HasPrefix(c.src, "$.[") {
			c.src = "$" + c.src[2:]
		}
	}
	c.pos = 1
	p := &Path{text: text}
	for c.pos < len(c.src) {
		t, err := c.token(false)
		if err != nil {
			return nil, fmt.Errorf("JSON path %q: %w", text, err)
		}
		p.tokens = append(p.tokens, t)
	}
	return p, nil
}

type compiler struct {
	src string
	pos int
}

func (c *compiler) peek() byte {
	if c.pos < len(c.src) {
		return c.src[c.pos]
	}
	return 0
}

func (c *compiler) fail(format string, args ...any) error {
	return fmt.Errorf("position %d: %s", c.pos+1, fmt.Sprintf(format, args...))
}

// token reads one step. Within a filter a dotted name ends at blanks and
// operators too.
func (c *compiler) token(inFilter bool) (token, error) {
	var t token
	switch c.peek() {
	case '.':
		c.pos++
		if c.peek() == '.' {
			t.scan = true
			c.pos++
		}
		switch c.peek() {
		case '[':
			if !t.scan {
				return t, c.fail("a name is missing after the dot")
			}
		case '*':
			c.pos++
			t.kind = wildcard
			return t, nil
		default:
			return t, c.dotted(&t, inFilter)
		}
		fallthrough
	case '[':
		c.pos++
		return t, c.bracket(&t)
	}
	return t, c.fail("expected . or [ but found %q", c.peek())
}

func (c *compiler) dotted(t *token, inFilter bool) error {
	start := c.pos
	for c.pos < len(c.src) {
		b := c.src[c.pos]
		if b == '.' || b == '[' || (inFilter && strings.IndexByte(" =<>!&|),~\t", b) >= 0) {
			break
		}
		if b == '(' {
			return c.fail("functions are not supported in paths; use a filter or compute the value in a later transform")
		}
		c.pos++
	}
	name := strings.TrimSpace(c.src[start:c.pos])
	if name == "" {
		return c.fail("a name is missing")
	}
	t.kind, t.names = property, []string{name}
	return nil
}

func (c *compiler) blanks() {
	for c.peek() == ' ' || c.peek() == '\t' {
		c.pos++
	}
}

func (c *compiler) bracket(t *token) error {
	c.blanks()
	switch c.peek() {
	case '*':
		c.pos++
		t.kind = wildcard
	case '?':
		c.pos++
		return c.filter(t)
	case '\'', '"':
		t.kind = property
		if err := c.names(t); err != nil {
			return err
		}
	default:
		if err := c.numbers(t); err != nil {
			return err
		}
	}
	return c.closing()
}

func (c *compiler) closing() error {
	c.blanks()
	if c.peek() != ']' {
		return c.fail("] is missing")
	}
	c.pos++
	return nil
}

func (c *compiler) names(t *token) error {
	for {
		c.blanks()
		name, err := c.literal()
		if err != nil {
			return err
		}
		t.names = append(t.names, name)
		c.blanks()
		if c.peek() != ',' {
			return nil
		}
		c.pos++
	}
}

// literal reads a quoted text with backslash escapes.
func (c *compiler) literal() (string, error) {
	quote := c.peek()
	if quote != '\'' && quote != '"' {
		return "", c.fail("a quoted name is missing")
	}
	var b strings.Builder
	for i := c.pos + 1; i < len(c.src); i++ {
		switch c.src[i] {
		case quote:
			c.pos = i + 1
			return b.String(), nil
		case '\\':
			i++
			if i < len(c.src) {
				b.WriteString(unescape(c.src[i]))
			}
		default:
			b.WriteByte(c.src[i])
		}
	}
	return "", c.fail("the quoted text has no end")
}

func unescape(b byte) string {
	switch b {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	}
	return string(rune(b))
}

func (c *compiler) numbers(t *token) error {
	end := strings.IndexByte(c.src[c.pos:], ']')
	if end < 0 {
		return c.fail("] is missing")
	}
	text := c.src[c.pos : c.pos+end]
	if strings.Contains(text, ":") {
		if err := t.slice(text); err != nil {
			return c.fail("%v", err)
		}
		c.pos += end
		return nil
	}
	t.kind = index
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return c.fail("%q is not an array index; names stand in quotes", strings.TrimSpace(word))
		}
		t.indexes = append(t.indexes, n)
	}
	c.pos += end
	return nil
}

func (t *token) slice(text string) error {
	t.kind, t.step = slice, 1
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return fmt.Errorf("%q is not a slice", text)
	}
	var bounds [3]*int
	for i, word := range parts {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q is not a slice", text)
		}
		bounds[i] = &n
	}
	t.from, t.to = bounds[0], bounds[1]
	if bounds[2] != nil {
		t.step = *bounds[2]
	}
	if t.step <= 0 {
		return fmt.Errorf("the step of slice %q must be positive", text)
	}
	return nil
}

func (c *compiler) filter(t *token) error {
	t.kind = filter
	c.blanks()
	if c.peek() != '(' {
		return c.fail("( is missing after ?")
	}
	c.pos++
	cond, err := c.or()
	if err != nil {
		return err
	}
	c.blanks()
	if c.peek() != ')' {
		return c.fail(") is missing at the end of the filter")
	}
	c.pos++
	t.cond = cond
	return c.closing()
}
