package relation

import (
	"encoding/binary"
	"math"
	"unicode"
	"unicode/utf8"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// keyField is one field of a key.
type keyField struct {
	name       string
	index      int // of the column
	typ        batch.Type
	fold, desc bool // text without regard to case; greatest first
	codec      *batch.Codec
}

// keys orders and identifies rows by some of their fields. A key has a normalised
// form: bytes whose plain order is the order of the rows (reference 3.6), null
// first, and which are equal exactly when the keys are equal. No normalised key
// is a prefix of another one.
type keys struct {
	sem    *batch.Semantics
	fields []keyField
}

// newKeys fills in the types and codecs of the fields.
func newKeys(sem *batch.Semantics, s *batch.Schema, fields []keyField) (*keys, error) {
	for i := range fields {
		f := &fields[i]
		f.typ = s.Fields[f.index].Type
		f.name = s.Fields[f.index].Name
		codec, err := sem.Codec(&s.Fields[f.index])
		if err != nil {
			return nil, err
		}
		f.codec = codec
	}
	return &keys{sem: sem, fields: fields}, nil
}

// namedKeys is a key of the named fields in their order.
func namedKeys(sem *batch.Semantics, s *batch.Schema, names ...string) (*keys, error) {
	fields := make([]keyField, len(names))
	for i, name := range names {
		k, err := fieldIndex(s, name)
		if err != nil {
			return nil, err
		}
		fields[i].index = k
	}
	return newKeys(sem, s, fields)
}

// columns appends the typed key columns of b to dst; they belong to b. On an
// error field names the one at fault.
func (k *keys) columns(dst []*batch.Column, b *batch.Batch) (cols []*batch.Column, field string, err error) {
	for i := range k.fields {
		c, err := b.Col(k.fields[i].index, k.fields[i].codec)
		if err != nil {
			return dst, k.fields[i].name, err
		}
		dst = append(dst, c)
	}
	return dst, "", nil
}

// compare orders row i of a and row j of b, typed key columns both.
func (k *keys) compare(a []*batch.Column, i int, b []*batch.Column, j int) int {
	for f := range k.fields {
		if c := k.sem.Compare(a[f], i, b[f], j, k.fields[f].fold); c != 0 {
			if k.fields[f].desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// isText says that the key is one case-sensitive String whose bytes are as good
// a key as the normalised form when only equality counts.
func (k *keys) isText() bool {
	return len(k.fields) == 1 && k.fields[0].typ == batch.String && !k.fields[0].fold && !k.sem.EmptyDiffers
}

// The first byte of a field's normalised form, and the end of its text.
const (
	keyNull  = 0
	keyValue = 1
	keyEnd   = 0
)

// append appends the normalised key of row i. It may stop as soon as dst has
// limit bytes; 0 is no limit.
func (k *keys) append(dst []byte, cols []*batch.Column, i, limit int) []byte {
	for f := range k.fields {
		if limit > 0 && len(dst) >= limit {
			break
		}
		start := len(dst)
		dst = k.appendField(dst, &k.fields[f], cols[f], i, limit)
		if k.fields[f].desc {
			for n := start; n < len(dst); n++ {
				dst[n] = ^dst[n]
			}
		}
	}
	return dst
}

func (k *keys) appendField(dst []byte, f *keyField, c *batch.Column, i, limit int) []byte {
	if c.IsNull(i) {
		return append(dst, keyNull)
	}
	switch f.typ {
	case batch.String:
		// When an empty text is null, its end is what a null is.
		if k.sem.EmptyDiffers {
			dst = append(dst, keyValue)
		}
		return appendKeyString(dst, c.Bytes(i), f.fold, limit)
	case batch.JSON:
		return appendKeyString(append(dst, keyValue), c.Bytes(i), f.fold, limit)
	case batch.Integer, batch.Date:
		return appendKeyInt(append(dst, keyValue), c.Ints[i])
	case batch.Timestamp:
		return binary.BigEndian.AppendUint16(appendKeyInt(append(dst, keyValue), c.Ints[i]), uint16(c.Nano(i)))
	case batch.Number:
		return binary.BigEndian.AppendUint64(append(dst, keyValue), floatKey(c.Floats[i]))
	case batch.Boolean:
		if c.Bits.Get(i) {
			return append(dst, keyValue, 1)
		}
		return append(dst, keyValue, 0)
	case batch.BigNumber:
		return appendKeyDecimal(append(dst, keyValue), c.Decimal(i))
	case batch.Inet:
		b := c.Bytes(i)
		return append(appendKeyBytes(append(dst, keyValue, byte(min(len(b), 255))), b), keyEnd)
	}
	return append(appendKeyBytes(append(dst, keyValue), c.Bytes(i)), keyEnd)
}

func appendKeyInt(dst []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^1<<63)
}

// floatKey orders as Java's Double.compare: -0 below 0, NaN greatest.
func floatKey(v float64) uint64 {
	if v != v {
		return math.MaxUint64
	}
	u := math.Float64bits(v)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

// appendKeyDecimal writes sign, exponent and digits, complemented below zero.
func appendKeyDecimal(dst []byte, d decimal.Decimal) []byte {
	sign := d.Sign()
	dst = append(dst, byte(sign+1))
	if sign == 0 {
		return dst
	}
	d = d.Abs().Strip()
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(int32(d.Precision())-d.Scale())^1<<31)
	dst = append(d.AppendDigits(dst), keyEnd)
	if sign < 0 {
		for n := start; n < len(dst); n++ {
			dst[n] = ^dst[n]
		}
	}
	return dst
}

func appendKeyString(dst, s []byte, fold bool, limit int) []byte {
	if fold {
		return appendKeyFolded(dst, s, limit)
	}
	if room := limit - len(dst); limit > 0 && len(s) > room {
		if room <= 0 {
			return dst
		}
		s = s[:room]
		return appendKeyUnits(dst, s)
	}
	return append(appendKeyUnits(dst, s), keyEnd)
}

// appendKeyUnits writes UTF-8 text so that bytes compare as UTF-16 code units do:
// the lead bytes of characters beyond U+FFFF (from 0xF0) go below those of U+E000
// to U+FFFF (0xEE and 0xEF). The bytes 0 and 1 are escaped, 0 ends a text.
func appendKeyUnits(dst, s []byte) []byte {
	done := 0
	for n, c := range s {
		if c-2 < 0xEC {
			continue
		}
		dst = append(dst, s[done:n]...)
		switch {
		case c < 2:
			dst = append(dst, 1, c+1)
		case c >= 0xF0:
			dst = append(dst, c-2)
		default:
			dst = append(dst, c+0x10)
		}
		done = n + 1
	}
	return append(dst, s[done:]...)
}

func appendKeyBytes(dst, s []byte) []byte {
	for _, c := range s {
		if c < 2 {
			dst = append(dst, 1, c+1)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// appendKeyFolded writes text as Java's compareToIgnoreCase sees it.
func appendKeyFolded(dst, s []byte, limit int) []byte {
	for len(s) > 0 {
		if limit > 0 && len(dst) >= limit {
			return dst
		}
		r, n := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(s)
		}
		s = s[n:]
		switch {
		case r < 2:
			dst = append(dst, 1, byte(r)+1)
		case r < utf8.RuneSelf:
			if r >= 'A' && r <= 'Z' {
				r += 'a' - 'A'
			}
			dst = append(dst, byte(r))
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return append(dst, keyEnd)
}

// prefixBytes is how much of a normalised key a sort entry holds.
const prefixBytes = 16

// prefix gives the first 16 bytes of a row's normalised key as two numbers whose
// order is the bytes' order, filled up with zeros.
func (k *keys) prefix(cols []*batch.Column, i int) (hi, lo uint64) {
	var room [4 * prefixBytes]byte
	return keyPrefix(k.append(room[:0], cols, i, prefixBytes+1))
}

// keyPrefix is prefix of a normalised key that is there already.
func keyPrefix(key []byte) (hi, lo uint64) {
	if len(key) < prefixBytes {
		var padded [prefixBytes]byte
		copy(padded[:], key)
		key = padded[:]
	}
	return binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:])
}
