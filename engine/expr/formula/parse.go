// Package formula evaluates the formula language of spreadsheets over the fields
// of rows, as Hop's Formula transform does: [field] stands for a cell.
//
// Compile binds a text to a schema and gives a Formula; Eval computes it for one
// row of a batch.
package formula

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// eval computes a node for the current row.
type eval func(r *Row) Value

// parser reads the language by recursive descent, lowest precedence first:
// comparison, &, + -, * /, ^, unary, %.
type parser struct {
	src    string
	pos    int
	field  func(name string) (int, error)
	fields []string
}

// SyntaxError tells where a formula cannot be read; Pos counts bytes from 0.
type SyntaxError struct {
	Formula string
	Pos     int
	Message string
}

// Error names the place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("formula %q, position %d: %s", e.Formula, e.Pos+1, e.Message)
}

func (p *parser) fail(format string, args ...any) {
	panic(&SyntaxError{Formula: p.src, Pos: p.pos, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) parse() (e eval, err error) {
	defer func() {
		if s, ok := recover().(*SyntaxError); ok {
			err = s
		}
	}()
	p.space()
	p.accept("=")
	e = p.comparison()
	if p.pos < len(p.src) {
		p.fail("unexpected %q", p.src[p.pos:])
	}
	return e, nil
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		p.pos += n
	}
}

// accept reads a symbol and the blanks behind it.
func (p *parser) accept(symbol string) bool {
	if !strings.HasPrefix(p.src[p.pos:], symbol) {
		return false
	}
	p.pos += len(symbol)
	p.space()
	return true
}

func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

var comparisons = []struct {
	symbol string
	holds  func(c int) bool
}{
	{"<>", func(c int) bool { return c != 0 }},
	{"<=", func(c int) bool { return c <= 0 }},
	{">=", func(c int) bool { return c >= 0 }},
	{"=", func(c int) bool { return c == 0 }},
	{"<", func(c int) bool { return c < 0 }},
	{">", func(c int) bool { return c > 0 }},
}

func (p *parser) comparison() eval {
	left := p.concatenation()
next:
	for {
		for _, c := range comparisons {
			if p.accept(c.symbol) {
				left = compared(left, p.concatenation(), c.holds)
				continue next
			}
		}
		return left
	}
}

func compared(a, b eval, holds func(int) bool) eval {
	return func(r *Row) Value {
		x, y := a(r), b(r)
		switch {
		case x.Kind == Failure:
			return x
		case y.Kind == Failure:
			return y
		}
		return boolean(holds(compare(x, y)))
	}
}

func (p *parser) concatenation() eval {
	left := p.sum()
	for p.accept("&") {
		a, b := left, p.sum()
		left = func(r *Row) Value {
			x, bad := a(r).asText()
			if bad.Kind == Failure {
				return bad
			}
			y, bad := b(r).asText()
			if bad.Kind == Failure {
				return bad
			}
			return text(x + y)
		}
	}
	return left
}

func (p *parser) sum() eval {
	left := p.product()
	for {
		switch {
		case p.accept("+"):
			left = arithmetic(left, p.product(), func(x, y float64) Value { return number(x + y) })
		case p.accept("-"):
			left = arithmetic(left, p.product(), func(x, y float64) Value { return number(x - y) })
		default:
			return left
		}
	}
}

func (p *parser) product() eval {
	left := p.power()
	for {
		switch {
		case p.accept("*"):
			left = arithmetic(left, p.power(), func(x, y float64) Value { return number(x * y) })
		case p.accept("/"):
			left = arithmetic(left, p.power(), divide)
		default:
			return left
		}
	}
}

func divide(x, y float64) Value {
	if y == 0 {
		return errDiv
	}
	return number(x / y)
}

func (p *parser) power() eval {
	left := p.percent()
	for p.accept("^") {
		left = arithmetic(left, p.percent(), power)
	}
	return left
}

func arithmetic(a, b eval, f func(x, y float64) Value) eval {
	return func(r *Row) Value {
		x, bad := a(r).asNumber()
		if bad.Kind == Failure {
			return bad
		}
		y, bad := b(r).asNumber()
		if bad.Kind == Failure {
			return bad
		}
		return f(x, y)
	}
}

func (p *parser) percent() eval {
	left := p.unary()
	for p.accept("%") {
		left = arithmetic(left, constant(number(100)), divide)
	}
	return left
}

// unary reads a sign; it holds for a whole power, as in Hop's evaluator.
func (p *parser) unary() eval {
	switch {
	case p.accept("-"):
		a := p.power()
		return arithmetic(constant(number(0)), a, func(_, y float64) Value { return number(-y) })
	case p.accept("+"):
		return p.power()
	}
	return p.operand()
}

func constant(v Value) eval { return func(*Row) Value { return v } }

func (p *parser) operand() eval {
	switch c := p.peek(); {
	case c == 0:
		p.fail("an operand is missing")
	case c == '(':
		p.accept("(")
		e := p.comparison()
		if !p.accept(")") {
			p.fail("a closing parenthesis is missing")
		}
		return e
	case c == '"':
		return constant(text(p.quoted()))
	case c == '[':
		return p.reference()
	case c == '#':
		return p.errorLiteral()
	case c >= '0' && c <= '9', c == '.':
		return p.numeral()
	}
	return p.name()
}

func (p *parser) quoted() string {
	var b strings.Builder
	for p.pos++; ; p.pos++ {
		if p.pos >= len(p.src) {
			p.fail("the text is not closed by a quote")
		}
		if p.src[p.pos] == '"' {
			if p.pos+1 >= len(p.src) || p.src[p.pos+1] != '"' {
				break
			}
			p.pos++
		}
		b.WriteByte(p.src[p.pos])
	}
	p.pos++
	p.space()
	return b.String()
}

func (p *parser) reference() eval {
	end := strings.IndexByte(p.src[p.pos:], ']')
	if end < 0 {
		p.fail("the field reference is not closed by ]")
	}
	name := p.src[p.pos+1 : p.pos+end]
	i, err := p.field(name)
	if err != nil {
		p.fail("%v", err)
	}
	p.pos += end + 1
	p.space()
	p.fields = append(p.fields, name)
	return func(r *Row) Value { return r.field(i) }
}

func (p *parser) errorLiteral() eval {
	for _, e := range errorNames {
		if strings.HasPrefix(strings.ToUpper(p.src[p.pos:]), e.Text) {
			p.pos += len(e.Text)
			p.space()
			return constant(e)
		}
	}
	p.fail("unknown error value")
	return nil
}

func (p *parser) numeral() eval {
	start := p.pos
	digits := func() {
		for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
			p.pos++
		}
	}
	digits()
	if p.peek() == '.' {
		p.pos++
		digits()
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		mark := p.pos
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		from := p.pos
		if digits(); p.pos == from {
			p.pos = mark
		}
	}
	f, err := strconv.ParseFloat(p.src[start:p.pos], 64)
	if err != nil {
		p.fail("%q is no number", p.src[start:p.pos])
	}
	p.space()
	return constant(number(f))
}

// name reads TRUE, FALSE or a function call.
func (p *parser) name() eval {
	start := p.pos
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' {
			break
		}
		p.pos += n
	}
	name := strings.ToUpper(p.src[start:p.pos])
	if name == "" {
		p.fail("unexpected %q", p.src[start:])
	}
	p.space()
	if !p.accept("(") {
		switch name {
		case "TRUE", "FALSE":
			return constant(boolean(name == "TRUE"))
		}
		p.pos = start
		p.fail("%q is neither a function nor a [field]", name)
	}
	args := p.arguments()
	f, ok := functions()[strings.TrimPrefix(name, "_XLFN.")]
	if !ok {
		p.pos = start
		p.fail("the function %s is not known", name)
	}
	if len(args) < f.min || (f.max >= 0 && len(args) > f.max) {
		p.pos = start
		p.fail("%s takes %s, not %d", name, f.arity(), len(args))
	}
	return f.build(args)
}

func (p *parser) arguments() []eval {
	var args []eval
	if p.accept(")") {
		return nil
	}
	for {
		if c := p.peek(); c == ',' || c == ';' || c == ')' {
			args = append(args, constant(Value{}))
		} else {
			args = append(args, p.comparison())
		}
		switch {
		case p.accept(")"):
			return args
		case p.accept(","), p.accept(";"):
		default:
			p.fail("a comma or a closing parenthesis is missing")
		}
	}
}
