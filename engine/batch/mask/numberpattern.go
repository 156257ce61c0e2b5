package mask

import (
	"fmt"
	"strings"
)

// maxFractionDigits is Java's limit for doubles, which the empty pattern uses.
const maxFractionDigits = 340

// subPattern is one half of a number pattern as it is read.
type subPattern struct {
	prefix, suffix    affix
	left, zero, right int // '#' before the zeros, '0', '#' after the zeros
	point             int // digits before the decimal point; -1: none
	group             int // digits since the last grouping sign; -1: none
	minExp            int
	multiplier        int64
}

// affix is literal text. spelt keeps quoted signs apart from literal characters,
// so that two affixes compare as their patterns do.
type affix struct{ text, spelt strings.Builder }

func (a *affix) literal(r rune) {
	a.text.WriteRune(r)
	a.spelt.WriteRune(r)
}

func (a *affix) sign(kind rune, text string) {
	a.text.WriteString(text)
	a.spelt.WriteRune('\'')
	a.spelt.WriteRune(kind)
}

func compileNumberPattern(m *NumberMask, pattern, currency string) error {
	if pattern == "" {
		m.negPrefix, m.groupSize, m.maxInt, m.maxFrac = "-", 3, maxFractionDigits, maxFractionDigits
		return nil
	}
	p := &numberPatternReader{runes: []rune(pattern), currency: currency}
	pos, err := p.read(false)
	if err != nil {
		return fmt.Errorf("%w %q: %w", ErrPattern, pattern, err)
	}
	m.setPositive(pos)
	m.negPrefix, m.negSuffix = "-"+m.posPrefix, m.posSuffix
	if p.at >= len(p.runes) {
		return nil
	}
	neg, err := p.read(true)
	if err != nil {
		return fmt.Errorf("%w %q: %w", ErrPattern, pattern, err)
	}
	same := neg.prefix.spelt.String() == pos.prefix.spelt.String() && neg.suffix.spelt.String() == pos.suffix.spelt.String()
	if !same {
		m.negPrefix, m.negSuffix = neg.prefix.text.String(), neg.suffix.text.String()
	}
	return nil
}

func (m *NumberMask) setPositive(p *subPattern) {
	m.posPrefix, m.posSuffix = p.prefix.text.String(), p.suffix.text.String()
	total := p.left + p.zero + p.right
	point := p.point
	if point < 0 {
		point = total
	} else {
		m.maxFrac, m.minFrac = total-point, max(0, p.left+p.zero-point)
		m.pointAlways = point == 0 || point == total
	}
	m.minInt = point - p.left
	m.maxInt = p.left + m.minInt
	m.groupSize = max(0, p.group)
	m.minExp, m.multiplier = p.minExp, p.multiplier
}

// numberPatternReader reads sub-patterns one after the other.
type numberPatternReader struct {
	runes    []rune
	at       int
	currency string
}

func (p *numberPatternReader) peek(ahead int) rune {
	if p.at+ahead < len(p.runes) {
		return p.runes[p.at+ahead]
	}
	return 0
}

func isNumberSign(r rune) bool { return r == '#' || r == '0' || r == ',' || r == '.' }

// read consumes a sub-pattern and the ';' behind it. Of the negative one only
// the affixes count.
func (p *numberPatternReader) read(negative bool) (*subPattern, error) {
	s := &subPattern{point: -1, group: -1, multiplier: 1}
	if err := p.readAffix(s, &s.prefix, false, negative); err != nil {
		return nil, err
	}
	if negative {
		for isNumberSign(p.peek(0)) || p.peek(0) == 'E' && len(p.runes) > p.at {
			p.at++
		}
	} else if err := p.readDigits(s); err != nil {
		return nil, err
	}
	if err := p.readAffix(s, &s.suffix, true, negative); err != nil {
		return nil, err
	}
	if negative {
		return s, nil
	}
	return s, s.settle()
}

func (p *numberPatternReader) readAffix(s *subPattern, a *affix, suffix, negative bool) error {
	quoted := false
	for ; p.at < len(p.runes); p.at++ {
		r := p.runes[p.at]
		switch {
		case r == '\'' && p.peek(1) == '\'':
			p.at++
			a.sign('\'', "'")
		case r == '\'':
			quoted = !quoted
		case quoted:
			a.literal(r)
		case isNumberSign(r):
			if suffix {
				return fmt.Errorf("%q after the digits, quote it", r)
			}
			return nil
		case r == ';':
			if !suffix || negative {
				return fmt.Errorf("misplaced %q", r)
			}
			p.at++
			return nil
		default:
			if err := p.affixSign(s, a, r); err != nil {
				return err
			}
		}
	}
	if quoted {
		return fmt.Errorf("quote not closed")
	}
	return nil
}

func (p *numberPatternReader) affixSign(s *subPattern, a *affix, r rune) error {
	switch r {
	case '¤':
		text := p.currency
		if p.peek(1) == '¤' {
			p.at++
			if text == "$" {
				text = "USD" // two signs ask for the international code
			}
		}
		a.sign(r, text)
	case '%', '‰':
		if s.multiplier != 1 {
			return fmt.Errorf("more than one percent sign")
		}
		s.multiplier = 100
		if r == '‰' {
			s.multiplier = 1000
		}
		a.sign(r, string(r))
	case '-':
		a.sign(r, "-")
	default:
		a.literal(r)
	}
	return nil
}

func (p *numberPatternReader) readDigits(s *subPattern) error {
	for ; p.at < len(p.runes); p.at++ {
		switch r := p.runes[p.at]; r {
		case '#':
			if s.zero > 0 {
				s.right++
			} else {
				s.left++
			}
			s.countGroup()
		case '0':
			if s.right > 0 {
				return fmt.Errorf("unexpected '0'")
			}
			s.zero++
			s.countGroup()
		case ',':
			s.group = 0
		case '.':
			if s.point >= 0 {
				return fmt.Errorf("more than one decimal point")
			}
			s.point = s.left + s.zero + s.right
		case 'E':
			return p.readExponent(s)
		default:
			return nil
		}
	}
	return nil
}

func (s *subPattern) countGroup() {
	if s.group >= 0 && s.point < 0 {
		s.group++
	}
}

func (p *numberPatternReader) readExponent(s *subPattern) error {
	p.at++
	for p.peek(0) == '0' {
		s.minExp++
		p.at++
	}
	if s.left+s.zero < 1 || s.minExp < 1 {
		return fmt.Errorf("malformed exponent")
	}
	return nil
}

// settle gives patterns without '0' their digits (##.## is #0.##) and refuses
// impossible orders.
func (s *subPattern) settle() error {
	if s.zero == 0 && s.left > 0 && s.point >= 0 {
		n := max(1, s.point)
		s.right = s.left - n
		s.left = n - 1
		s.zero = 1
	}
	switch {
	case s.point < 0 && s.right > 0:
		return fmt.Errorf("'#' after '0'")
	case s.point >= 0 && (s.point < s.left || s.point > s.left+s.zero):
		return fmt.Errorf("decimal point among the '#'")
	case s.group == 0:
		return fmt.Errorf("grouping sign without digits behind it")
	}
	return nil
}
