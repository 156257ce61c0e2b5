package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
)

// inputField is a column of a text file: what its text becomes and how.
type inputField struct {
	field batch.Field
	codec *batch.Codec
	// raw keeps the text of a value until somebody needs the value.
	raw bool
	// keepEmpty makes an empty text an empty String instead of null.
	keepEmpty bool
	// keepEnclosed does so for an empty text between enclosures.
	keepEnclosed bool
	// rule is nil for CSV file input, which knows no null texts.
	rule *batch.TextRule
	path convertPath
	// skip leaves the values out: nobody looks at them.
	skip bool
	// early gives a raw column its values at once, by the path of values; textless
	// leaves its text out.
	early, textless bool
	valuePath       convertPath
}

// convertPath says how a column's text is converted.
type convertPath int

const (
	pathCodec   convertPath = iota // one value at a time
	pathText                       // copied
	pathInteger                    // plain digits without going through the codec
	pathDecimal                    // plain digits with a point, the same
	pathDate                       // the codec, many at a time
)

func newInputField(sem *batch.Semantics, f batch.Field, lazy bool) (inputField, error) {
	codec, err := sem.Codec(&f)
	if err != nil {
		return inputField{}, err
	}
	in := inputField{field: f, codec: codec, keepEmpty: f.Type == batch.String && sem.EmptyDiffers}
	in.raw = lazy && f.Type != batch.String && f.Type != batch.Binary
	switch {
	case f.Type == batch.String:
		in.path = pathText
	case f.Type == batch.Integer && reads(codec, "1234567890", "1234567890") && reads(codec, "-7", "-7"):
		in.path = pathInteger
	case f.Type == batch.BigNumber && reads(codec, "12.50", "12.50") && reads(codec, "-7", "-7") && reads(codec, "0.05", "0.05"):
		in.path = pathDecimal
	case f.Type == batch.Date && in.raw:
		in.path = pathDate
	}
	if in.raw {
		in.valuePath, in.path = in.path, pathText
	}
	return in, nil
}

// withRule makes the field follow the rules of Text file input: null texts,
// blanks alone are null, trimming.
func (f inputField) withRule(r batch.TextRule) inputField {
	f.rule = &r
	f.field.Trim = batch.TrimNone // the rule does it
	if r != (batch.TextRule{}) {
		f.path = pathCodec
	}
	return f
}

// reads says whether the codec gives a plain number the value it shows. The masks
// it does so for (no prefix, no multiplier, a point as decimal symbol) may be
// skipped for plain numbers.
func reads(c *batch.Codec, text, want string) bool {
	v, err := c.Parse([]byte(text))
	if err != nil || !v.Valid {
		return false
	}
	if v.Type == batch.Integer {
		v.Dec = decimal.FromInt64(v.Int)
	}
	return v.Dec.Plain() == want
}

// newColumn gives an empty column for the field's values.
func (f *inputField) newColumn(a *batch.Allocator) *batch.Column {
	if f.raw {
		return a.RawColumn(f.field.Type)
	}
	return a.Column(f.field.Type)
}

// badValue is a text that could not be converted; row is its index in the batch.
type badValue struct {
	row, column int
	text        string
	err         error
}

// column is the work on one column: the spans of rows records, one every stride.
type column struct {
	*inputField
	to     *batch.Column
	data   []byte // the block, with padding
	spans  []span // from the first record's span of the column on
	stride int
	rows   int
	index  int // of the column in its record
	bad    []badValue
	values *values // of an early field
}

// append converts the texts and appends rows values.
func (w *column) append(quote []byte, quoted bool) {
	if w.skip {
		w.to.AppendNulls(w.rows)
		return
	}
	if quoted {
		w.undoubleAll(quote)
	}
	if w.field.Trim != batch.TrimNone {
		w.trimAll()
	}
	if w.early {
		w.convertEarly()
	}
	switch w.path {
	case pathText:
		if !w.textless {
			w.texts()
		}
	case pathInteger:
		w.integers()
	case pathDecimal:
		w.decimals()
	default:
		w.oneByOne()
	}
}

func (w *column) undoubleAll(quote []byte) {
	for k := 0; k < w.rows*w.stride; k += w.stride {
		s := w.spans[k]
		if s == absent || s.start&doubled == 0 {
			continue
		}
		start := s.start &^ doubled
		w.spans[k] = span{start, uint32(undouble(w.data, quote, int(start), int(s.end)))}
	}
}

func (w *column) trimAll() {
	for k := 0; k < w.rows*w.stride; k += w.stride {
		s := w.spans[k]
		if s.start == s.end {
			continue
		}
		text := w.data[s.start:s.end]
		left := len(text) - len((w.field.Trim & batch.TrimLeft).Apply(text))
		kept := len(w.field.Trim.Apply(text))
		w.spans[k] = span{s.start + uint32(left), s.start + uint32(left+kept)}
	}
}

const shortText = 16

// texts copies texts. Short ones are copied as 16 bytes at once, which is why
// both sides have that much room.
func (w *column) texts() {
	c, data := w.to, w.data
	total := shortText
	for k := 0; k < w.rows*w.stride; k += w.stride {
		total += int(w.spans[k].end - w.spans[k].start)
	}
	if free := cap(c.Data) - len(c.Data); free < total {
		grown := make([]byte, len(c.Data), max(2*cap(c.Data), len(c.Data)+total))
		copy(grown, c.Data)
		c.Data = grown
	}
	room, at := c.Data[:cap(c.Data)], len(c.Data)
	first := c.Len()
	c.Extend(first + w.rows)
	ends := c.Offsets[first+1:]
	for k := range ends {
		s := w.spans[k*w.stride]
		n := int(s.end - s.start)
		switch {
		case n == 0:
			if !w.keepEmpty || s == absent {
				c.SetNull(first + k)
			}
		case w.rule != nil && data[s.start] == ' ' && blank(data[s.start:s.end]):
			n = 0 // As in Hop a text of blanks alone is an empty one.
		case n <= shortText:
			*(*[shortText]byte)(room[at : at+shortText]) = *(*[shortText]byte)(data[s.start : s.start+shortText])
		default:
			copy(room[at:], data[s.start:s.end])
		}
		at += n
		ends[k] = int32(at)
	}
	c.Data = room[:at]
}

func blank(text []byte) bool { return len(bytes.TrimLeft(text, " ")) == 0 }

// oneByOne converts one text at a time.
func (w *column) oneByOne() {
	for k := 0; k < w.rows*w.stride; k += w.stride {
		s := w.spans[k]
		if s.start == s.end {
			w.none(s)
			continue
		}
		w.value(w.data[s.start:s.end])
	}
}

// none appends the value of an empty or absent text.
func (w *column) none(s span) {
	switch {
	case w.keepEmpty && s != absent:
		w.value(nil)
	case w.rule != nil && w.rule.IfNull != "":
		w.convert(nil, true)
	default:
		w.to.AppendNull()
	}
}

func (w *column) value(text []byte) { w.convert(text, false) }

func (w *column) convert(text []byte, isNull bool) {
	var err error
	if w.rule != nil {
		err = w.codec.ParseTextInto(w.to, text, isNull, *w.rule)
	} else {
		err = w.codec.ParseInto(w.to, text)
	}
	if err != nil {
		w.bad = append(w.bad, badValue{row: w.to.Len(), column: w.index, text: string(text), err: err})
		w.to.AppendNull()
	}
}

func (w *column) integers() {
	for k := 0; k < w.rows*w.stride; k += w.stride {
		s := w.spans[k]
		if s.start == s.end {
			w.to.AppendNull()
			continue
		}
		if v, ok := w.shortInteger(s); ok {
			w.to.AppendInt(v)
			continue
		}
		w.value(w.data[s.start:s.end])
	}
}

// shortInteger reads one to eight digits at once.
func (w *column) shortInteger(s span) (int64, bool) {
	n := s.end - s.start
	if n > 8 {
		return 0, false
	}
	return eightDigits(binary.LittleEndian.Uint64(w.data[s.start:]), uint(n))
}

const zeros = '0' * spread

// eightDigits reads the first n bytes (1 to 8, little endian) of w as digits.
func eightDigits(w uint64, n uint) (int64, bool) {
	w = w<<(64-8*n) | zeros>>(8*n)
	if (w+0x4646464646464646|(w-zeros))&^uint64(low7) != 0 {
		return 0, false
	}
	w -= zeros
	w = w*10 + w>>8 // pairs in every second byte
	const mask = 0x000000ff000000ff
	const mul1, mul2 = 100 + 1000000<<32, 1 + 10000<<32
	return int64(((w&mask)*mul1 + (w>>16&mask)*mul2) >> 32), true
}

// maxDigits is how many decimal digits a uint64 always holds.
const maxDigits = 18

func (w *column) decimals() {
	for k := 0; k < w.rows*w.stride; k += w.stride {
		s := w.spans[k]
		if s.start == s.end {
			w.to.AppendNull()
			continue
		}
		if v, scale, ok := w.plainDecimal(s); ok {
			w.to.AppendDecimal64(v, scale)
			continue
		}
		w.value(w.data[s.start:s.end])
	}
}

// plainDecimal reads up to eight bytes at once, others one by one. The text is not
// empty.
func (w *column) plainDecimal(s span) (v int64, scale int32, ok bool) {
	n := uint(s.end - s.start)
	if n > 8 {
		return plainDecimal(w.data[s.start:s.end])
	}
	digits := binary.LittleEndian.Uint64(w.data[s.start:])
	if point := uint(bits.TrailingZeros64(zeroBytes(digits^'.'*spread))) &^ 7; point < 8*n {
		before := uint64(1)<<point - 1
		digits = digits&before | digits>>8&^before
		n--
		scale = int32(n - point/8)
		if point == 0 || scale == 0 {
			return 0, 0, false
		}
	}
	if v, ok = eightDigits(digits, n); ok {
		return v, scale, true
	}
	return plainDecimal(w.data[s.start:s.end]) // it may have a sign
}

// plainDecimal reads [-]digits[.digits] with at most 18 digits and at least one on
// each side of the point. The scale is the number of digits behind it.
func plainDecimal(text []byte) (v int64, scale int32, ok bool) {
	neg := text[0] == '-'
	if neg {
		text = text[1:]
	}
	point := -1
	if len(text) > maxDigits+1 || len(text) == 0 {
		return 0, 0, false
	}
	for i, c := range text {
		if d := c - '0'; d <= 9 {
			v = v*10 + int64(d)
			continue
		}
		if c != '.' || point >= 0 || i == 0 {
			return 0, 0, false
		}
		point = i
	}
	switch {
	case point == len(text)-1:
		return 0, 0, false
	case point >= 0:
		scale = int32(len(text) - 1 - point)
	case len(text) > maxDigits:
		return 0, 0, false
	}
	if neg {
		v = -v
	}
	return v, scale, true
}

// plainText gives what may be promised about a text column: nothing, or that no
// value holds the dialect's separator, its quote or a line end.
func plainText(c *batch.Column, d *dialect, quoted bool) batch.PlainText {
	if !c.IsText() || !d.simple() {
		return batch.PlainText{}
	}
	p := batch.PlainText{Separator: d.separator[0], Quote: '"'}
	if len(d.quote) == 1 {
		p.Quote = d.quote[0]
	}
	if bytes.IndexByte(c.Data, p.Quote) >= 0 {
		return batch.PlainText{}
	}
	if quoted && (bytes.IndexByte(c.Data, p.Separator) >= 0 || bytes.IndexByte(c.Data, '\n') >= 0 || bytes.IndexByte(c.Data, '\r') >= 0) {
		return batch.PlainText{}
	}
	return p
}
