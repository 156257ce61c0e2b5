package jsonpath

import (
	"strings"

	"sluice/engine/expr/javaregex"
)

// operators, longest first where one starts with another.
var operators = []string{"==", "!=", "<=", ">=", "=~", "<", ">", "in", "nin", "contains", "anyof", "noneof", "subsetof", "all", "size", "empty"}

func (c *compiler) or() (condition, error) {
	first, err := c.and()
	list := anyOf{first}
	for err == nil && c.eat("||") {
		var next condition
		next, err = c.and()
		list = append(list, next)
	}
	if len(list) == 1 {
		return first, err
	}
	return list, err
}

func (c *compiler) and() (condition, error) {
	first, err := c.not()
	list := allOf{first}
	for err == nil && c.eat("&&") {
		var next condition
		next, err = c.not()
		list = append(list, next)
	}
	if len(list) == 1 {
		return first, err
	}
	return list, err
}

func (c *compiler) not() (condition, error) {
	if c.eat("!") {
		inner, err := c.not()
		return negate{inner}, err
	}
	if c.eat("(") {
		inner, err := c.or()
		if err == nil && !c.eat(")") {
			err = c.fail(") is missing")
		}
		return inner, err
	}
	return c.comparison()
}

// eat skips blanks and then a word, if it stands there.
func (c *compiler) eat(word string) bool {
	c.blanks()
	if strings.HasPrefix(c.src[c.pos:], word) {
		c.pos += len(word)
		return true
	}
	return false
}

func (c *compiler) operator() string {
	c.blanks()
	rest := c.src[c.pos:]
	for _, op := range operators {
		if len(rest) < len(op) || !strings.EqualFold(rest[:len(op)], op) {
			continue
		}
		isWord := op[0] >= 'a'
		if isWord && len(rest) > len(op) && !strings.ContainsRune(" \t[$@'\"", rune(rest[len(op)])) {
			continue
		}
		c.pos += len(op)
		return op
	}
	return ""
}

func (c *compiler) comparison() (condition, error) {
	left, err := c.operand()
	if err != nil {
		return nil, err
	}
	op := c.operator()
	if op == "" {
		if left.path == nil {
			return nil, c.fail("a comparison is missing")
		}
		return exists{left}, nil
	}
	cmp := &compare{left: left, op: op}
	if op == "=~" {
		cmp.pattern, err = c.pattern()
		cmp.right.literal = null
		return cmp, err
	}
	cmp.right, err = c.operand()
	return cmp, err
}

func (c *compiler) operand() (operand, error) {
	c.blanks()
	switch b := c.peek(); b {
	case '@', '$':
		return c.path(b == '$')
	case 0:
		return operand{}, c.fail("the filter ends too early")
	case '\'', '"':
		text, err := c.literal()
		return operand{literal: &Node{Kind: String, Text: text}}, err
	}
	p := parser{src: c.src, pos: c.pos}
	n := &Node{}
	if err := p.value(n, 0); err != nil {
		return operand{}, c.fail("a value, @ or $ is expected")
	}
	c.pos = p.pos
	return operand{literal: n}, nil
}

func (c *compiler) path(fromRoot bool) (operand, error) {
	start := c.pos
	c.pos++
	x := operand{path: &Path{}, fromRoot: fromRoot}
	for c.peek() == '.' || c.peek() == '[' {
		if c.eat(".length()") || c.eat(".size()") {
			x.length = true
			break
		}
		t, err := c.token(true)
		if err != nil {
			return x, err
		}
		x.path.tokens = append(x.path.tokens, t)
	}
	x.path.text = c.src[start:c.pos]
	return x, nil
}

// pattern reads /regex/flags.
func (c *compiler) pattern() (*javaregex.Regexp, error) {
	c.blanks()
	if c.peek() != '/' {
		return nil, c.fail("a pattern between slashes is expected after =~")
	}
	end := c.pos + 1
	for ; end < len(c.src) && c.src[end] != '/'; end++ {
		if c.src[end] == '\\' {
			end++
		}
	}
	if end >= len(c.src) {
		return nil, c.fail("the pattern has no end")
	}
	text := strings.ReplaceAll(c.src[c.pos+1:end], `\/`, `/`)
	c.pos = end + 1
	var flags javaregex.Flags
	for ; strings.IndexByte("imsxduU", c.peek()) >= 0 && c.peek() != 0; c.pos++ {
		flags |= map[byte]javaregex.Flags{
			'i': javaregex.CaseInsensitive, 'm': javaregex.Multiline, 's': javaregex.DotAll, 'x': javaregex.Comments,
			'd': javaregex.UnixLines, 'u': javaregex.UnicodeCase,
		}[c.peek()]
	}
	re, err := javaregex.Compile(text, flags)
	if err != nil {
		return nil, c.fail("%v", err)
	}
	return re, nil
}
