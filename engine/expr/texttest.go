package expr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
)

// textEqual keeps the texts that are equal to a constant, which is not empty, or
// all others, nulls included.
type textEqual struct {
	left  *operand
	value []byte
	// word and mask compare up to eight bytes at once; mask 0: longer values
	word, mask uint64
	invert     bool
}

const wordBytes = 8

func newTextEqual(left *operand, value string, invert bool) *textEqual {
	t := &textEqual{left: left, value: []byte(value), invert: invert}
	if n := len(value); n <= wordBytes {
		var w [wordBytes]byte
		copy(w[:], value)
		t.word = binary.LittleEndian.Uint64(w[:])
		t.mask = ^uint64(0) >> (8 * (wordBytes - n))
	}
	return t
}

func (t *textEqual) inverted() (node, bool) {
	o := *t
	o.invert = !o.invert
	return &o, true
}

func (t *textEqual) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	col, err := t.left.column(b, in)
	if err != nil {
		return nil, err
	}
	n := b.Physical()
	m := count(in, n)
	out := s.take(m)[:m]
	k := 0
	switch {
	case in != nil:
		flip := bit(t.invert)
		for _, i := range in {
			out[k] = i
			k += bit(t.is(col.Offsets, col.Data, int(i))) ^ flip
		}
	case t.mask != 0:
		k = t.dense(out, col.Offsets[:n+1], col.Data)
	default:
		flip := bit(t.invert)
		for i := range n {
			out[k] = int32(i)
			k += bit(t.is(col.Offsets, col.Data, i)) ^ flip
		}
	}
	return out[:k], nil
}

func (t *textEqual) is(offsets []int32, data []byte, i int) bool {
	from, end := int(offsets[i]), int(offsets[i+1])
	if end-from != len(t.value) {
		return false
	}
	if t.mask != 0 && from+wordBytes <= len(data) {
		return binary.LittleEndian.Uint64(data[from:])&t.mask == t.word
	}
	return bytes.Equal(data[from:end], t.value)
}

// dense tests all rows; the last few values, behind which there are not eight
// bytes to load, are tested one by one.
func (t *textEqual) dense(out, offsets []int32, data []byte) int {
	k, i, n := 0, 0, len(offsets)-1
	word, mask, size, flip := t.word, t.mask, int32(len(t.value)), bit(t.invert)
	last := int32(len(data) - wordBytes)
	from := offsets[0]
	for ; i < n && from <= last; i++ {
		end := offsets[i+1]
		out[k] = int32(i)
		k += bit(end-from == size)&bit(binary.LittleEndian.Uint64(data[from:])&mask == word) ^ flip
		from = end
	}
	for ; i < n; i++ {
		out[k] = int32(i)
		k += bit(t.is(offsets, data, i)) ^ flip
	}
	return k
}

// textOrder compares texts with a constant that is not null.
type textOrder struct {
	op    order
	left  *operand
	value []byte
	sem   *batch.Semantics
}

func (o *textOrder) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	return judged(s, b, in, o.left, o.op, func(c *batch.Column, i int) int { return batch.CompareBytes(c.Bytes(i), o.value) })
}

// textTest is a function on compatible strings: REGEXP, LIKE, IN LIST, CONTAINS,
// STARTS WITH, ENDS WITH.
type textTest struct {
	left  *operand
	right *operand // nil: match is fixed
	sem   *batch.Semantics
	fn    Function
	match *matcher
}

// matcher is a function with its right side in place.
type matcher struct {
	fn      Function
	text    []byte
	regex   *javaregex.Regexp
	items   map[string]bool
	noEmpty bool // the function answers false for what counts as null
}

var errNullRight = fmt.Errorf("the right side is null; test it with IS NOT NULL first")

func (t *textTest) withConstant(v batch.Value, f *batch.Field) (node, error) {
	if !v.Valid {
		if t.fn == Contains || t.fn == StartsWith {
			return failing{errNullRight}, nil
		}
		return constant(false), nil
	}
	text := v.Text
	if v.Type != batch.String {
		codec, err := t.sem.Codec(f)
		if err != nil {
			return nil, err
		}
		if t.fn == InList {
			text = codec.Text(v)
		} else {
			text = string(codec.AppendCompatible(nil, v))
		}
	}
	var err error
	t.match, err = newMatcher(t.fn, text)
	return t, err
}

func newMatcher(fn Function, text string) (*matcher, error) {
	m := &matcher{fn: fn, text: []byte(text)}
	var err error
	switch fn {
	case Regexp:
		m.regex, err = javaregex.Compile(text, 0)
	case Like:
		m.regex, err = javaregex.Compile(strings.NewReplacer("%", ".*", "?", ".").Replace(text), 0)
	case InList:
		m.items = listItems(text)
	}
	m.noEmpty = fn == Regexp || fn == Like
	return m, err
}

// listItems splits at semicolons that no backslash escapes.
func listItems(text string) map[string]bool {
	items := map[string]bool{}
	from := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] != ';' || (i > 0 && text[i-1] == '\\')) {
			continue
		}
		items[strings.ReplaceAll(text[from:i], `\`, "")] = true
		from = i + 1
	}
	return items
}

func (m *matcher) test(text []byte) bool {
	switch m.fn {
	case Regexp, Like:
		return m.regex.MatchWhole(text)
	case InList:
		return m.items[string(text)]
	case Contains:
		return bytes.Contains(text, m.text)
	case StartsWith:
		return bytes.HasPrefix(text, m.text)
	}
	return len(text) > 0 && bytes.HasSuffix(text, m.text) // an empty left side has no end, as in Hop
}

func (t *textTest) eval(s *scratch, b *batch.Batch, in []int32) ([]int32, error) {
	l, err := t.left.column(b, in)
	if err != nil {
		return nil, err
	}
	var right func(i int) (*matcher, error) // nil: the same for all rows
	if t.right != nil {
		if right, err = t.fieldMatchers(b, in); err != nil {
			return nil, err
		}
	}
	var bad error
	var buf [64]byte
	n := b.Physical()
	out := filter(s.take(count(in, n)), in, n, func(i int) bool {
		if bad != nil {
			return false
		}
		m := t.match
		if right != nil {
			var err error
			if m, err = right(i); err != nil {
				bad = &batch.RowError{Row: i, Err: err}
				return false
			}
		}
		if m == nil || (m.noEmpty && t.sem.IsNull(l, i)) {
			return false
		}
		text, ok, err := t.left.compatible(buf[:0], l, i)
		if err != nil {
			bad = &batch.RowError{Row: i, Err: err}
		}
		return ok && m.test(text)
	})
	return out, bad
}

// matcherCache bounds the number of patterns that one evaluation keeps.
const matcherCache = 256

// fieldMatchers gives the matcher of each row when the right side is a field;
// nil for a null that makes the atom false.
func (t *textTest) fieldMatchers(b *batch.Batch, in []int32) (func(i int) (*matcher, error), error) {
	r, err := t.right.column(b, in)
	if err != nil {
		return nil, err
	}
	known := map[string]*matcher{}
	return func(i int) (*matcher, error) {
		text, ok, err := t.rightText(r, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			if t.fn == Contains || t.fn == StartsWith {
				return nil, errNullRight
			}
			return nil, nil
		}
		if m := known[text]; m != nil {
			return m, nil
		}
		if len(known) >= matcherCache {
			clear(known)
		}
		m, err := newMatcher(t.fn, text)
		if err == nil {
			known[text] = m
		}
		return m, err
	}, nil
}

func (t *textTest) rightText(r *batch.Column, i int) (string, bool, error) {
	if t.fn != InList || r.Type == batch.String {
		text, ok, err := t.right.compatible(nil, r, i)
		return string(text), ok, err
	}
	codec, err := t.right.text()
	if err != nil || r.IsNull(i) {
		return "", false, err
	}
	return codec.Text(r.Value(i)), true, nil
}
