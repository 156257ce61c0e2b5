package text

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/batch/mask"
)

// format turns rows into lines.
type format struct {
	separator, quote, newline []byte
	forced                    bool // every text is enclosed
	forcedHeader              bool // and so are the titles of text fields
	checked                   bool // texts that need it are enclosed
	raw                       bool // values are written as Java prints them, without masks
	header, footer            bool
	charset                   charset
	columns                   []outputColumn
	sem                       *batch.Semantics
}

// outputColumn is one column of the file.
type outputColumn struct {
	index    int // in the row
	title    string
	field    batch.Field  // as it is written
	in       *batch.Codec // reads raw text
	out      *batch.Codec
	rounded  *mask.NumberMask // for other roundings than HALF_EVEN
	null     []byte           // text for null; nil: nothing
	verbatim bool             // raw text is written as it is
	digits   bool             // an Integer is written as plain digits
	dates    *plainDate       // nil: the codec writes dates
	java     *mask.DateMask   // writes dates as Java prints them
}

func newOutputColumn(sem *batch.Semantics, in *batch.Schema, at int, out batch.Field, r decimal.Rounding) (outputColumn, error) {
	c := outputColumn{index: at, title: out.Name, field: out}
	var err error
	if c.in, err = sem.Codec(&in.Fields[at]); err != nil {
		return c, err
	}
	if c.out, err = sem.Codec(&out); err != nil {
		return c, err
	}
	c.verbatim = in.Fields[at].SameText(&out)
	if r != decimal.HalfEven && (out.Type == batch.Number || out.Type == batch.BigNumber) {
		c.verbatim = false
		c.rounded, err = roundedMask(sem, &out, r)
	}
	if out.Type == batch.Integer {
		c.digits = writes(c.out, 0, "0") && writes(c.out, -1234567, "-1234567") && writes(c.out, 1<<62, "4611686018427387904")
	}
	if out.Type == batch.Date {
		c.dates = newPlainDate(sem, &out)
		if c.java, err = mask.CompileDate(javaDate, mask.DateOptions{Location: sem.Location}); err != nil {
			return c, err
		}
	}
	return c, err
}

func writes(c *batch.Codec, v int64, want string) bool {
	return c.Text(batch.IntegerValue(v)) == want
}

// roundedMask compiles the mask of a field with another rounding than the one
// the codec uses.
func roundedMask(sem *batch.Semantics, f *batch.Field, r decimal.Rounding) (*mask.NumberMask, error) {
	pattern := f.Mask
	if pattern == "" {
		kind := mask.Number
		if f.Type == batch.BigNumber {
			kind = mask.BigNumber
		}
		pattern = mask.DefaultFormat(kind, f.Length, f.Precision)
		if m := sem.Formats[f.Type]; m != "" && f.Length <= 0 {
			pattern = m
		}
	}
	o := mask.NumberOptions{Rounding: r, Symbols: mask.Symbols{Currency: f.Currency}}
	if f.Decimal != "" {
		o.Symbols.Decimal, _ = utf8.DecodeRuneInString(f.Decimal)
	}
	if f.Grouping != "" {
		o.Symbols.Grouping, _ = utf8.DecodeRuneInString(f.Grouping)
	}
	return mask.CompileNumber(pattern, o)
}

// cellKind says how the values of a column of one batch are written.
type cellKind int

const (
	cellCodec   cellKind = iota
	cellCopy             // bytes as they are
	cellText             // String that may have to be enclosed
	cellShaped           // String that is trimmed, cut or filled up, then as cellText
	cellInteger          // plain digits
	cellFixed            // BigNumber of 64 bits and a fixed scale
	cellDate
	cellRounded
	cellJava // as Java prints it
)

// cell is a column of the batch under way.
type cell struct {
	*outputColumn
	kind   cellKind
	col    *batch.Column
	offset offset // of the last date
}

// cells looks up, once per batch, how each column is written.
func (f *format) cells(dst []cell, b *batch.Batch) ([]cell, error) {
	for i := range f.columns {
		c := cell{outputColumn: &f.columns[i], col: b.Cols[f.columns[i].index]}
		if c.col.Raw && !c.verbatim || c.col.Raw && f.raw {
			typed, err := b.Col(c.index, c.in)
			if err != nil {
				return dst, err
			}
			c.col = typed
		}
		c.kind = f.kind(&c)
		dst = append(dst, c)
	}
	return dst, nil
}

func (f *format) kind(c *cell) cellKind {
	switch {
	case c.col.Raw:
		return cellCopy
	case c.field.Type == batch.String && f.raw:
		return f.textKind(c)
	case f.raw:
		return cellJava
	case c.field.Type == batch.String && (c.field.Trim != batch.TrimNone || c.field.Length >= 0):
		return cellShaped
	case c.field.Type == batch.String:
		return f.textKind(c)
	case c.rounded != nil:
		return cellRounded
	case c.digits:
		return cellInteger
	case c.dates != nil:
		return cellDate
	case c.field.Type == batch.BigNumber && c.col.Big == nil && c.writesScale(c.col.Scale):
		return cellFixed
	}
	return cellCodec
}

func (f *format) textKind(c *cell) cellKind {
	if f.forced {
		return cellText
	}
	if !f.checked || len(f.separator) == 1 && len(f.quote) == 1 && c.col.Plain == (batch.PlainText{Separator: f.separator[0], Quote: f.quote[0]}) {
		return cellCopy
	}
	return cellText
}

// writesScale says whether the mask shows numbers of a scale with exactly their
// digits: it is tried with numbers that tell zeros, signs, grouping and cut
// digits apart.
func (c *outputColumn) writesScale(scale int32) bool {
	if scale < 0 || scale > maxDigits {
		return false
	}
	pow := int64(1)
	for range scale {
		pow *= 10
	}
	for _, v := range []int64{0, 1, -1, pow, 10 * pow, 1234567890123456789, -12 * pow / 10} {
		d := decimal.FromInt128(v>>63, uint64(v), scale)
		if got := c.out.Text(batch.DecimalValue(d)); got != string(appendFixed(nil, v, int(scale))) {
			return false
		}
	}
	return true
}

// appendFixed appends v / 10^scale with all its digits.
func appendFixed(dst []byte, v int64, scale int) []byte {
	if v < 0 {
		dst = append(dst, '-')
	}
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	var buf [24]byte
	i := len(buf)
	for range scale {
		i--
		buf[i] = byte('0' + u%10)
		u /= 10
	}
	if scale > 0 {
		i--
		buf[i] = '.'
	}
	for {
		i--
		buf[i] = byte('0' + u%10)
		u /= 10
		if u == 0 {
			break
		}
	}
	return append(dst, buf[i:]...)
}

// lines appends the selected rows of a batch as lines, in UTF-8. ends, when not
// nil, gets the end of each line.
func (f *format) lines(dst []byte, cells []cell, b *batch.Batch, ends *[]int) []byte {
	n := b.Rows()
	for r := range n {
		i := b.Row(r)
		for k := range cells {
			if k > 0 {
				if len(f.separator) == 1 {
					dst = append(dst, f.separator[0])
				} else {
					dst = append(dst, f.separator...)
				}
			}
			dst = f.value(dst, &cells[k], i)
		}
		if len(f.newline) == 1 {
			dst = append(dst, f.newline[0])
		} else {
			dst = append(dst, f.newline...)
		}
		if ends != nil {
			*ends = append(*ends, len(dst))
		}
	}
	return dst
}

// value appends row i of a column.
func (f *format) value(dst []byte, c *cell, i int) []byte {
	col := c.col
	if c.null != nil && f.sem.IsNull(col, i) {
		if c.field.Type == batch.String {
			return f.enclose(dst, c.null)
		}
		return append(dst, c.null...)
	}
	switch c.kind {
	case cellCopy:
		return appendShort(dst, col.Data, col.Offsets[i], col.Offsets[i+1])
	case cellText:
		return f.enclose(dst, col.Data[col.Offsets[i]:col.Offsets[i+1]])
	}
	if col.IsNull(i) {
		return dst
	}
	switch c.kind {
	case cellInteger:
		return appendInteger(dst, col.Ints[i])
	case cellDate:
		if ms := col.Ints[i]; ms >= dayMillis && ms < lastPlain {
			c.offset = c.dates.at(c.offset, ms)
			return c.dates.append(dst, ms+c.offset.millis)
		}
	case cellFixed:
		d := col.Decs[i]
		if v := int64(d.Lo); v>>63 == d.Hi {
			return appendFixed(dst, v, int(col.Scale))
		}
	case cellShaped:
		return f.enclose(dst, c.shape(col.Bytes(i)))
	case cellRounded:
		return c.round(dst, col, i)
	case cellJava:
		return c.appendJava(dst, col, i)
	}
	return c.out.AppendText(dst, col, i)
}

// appendInteger appends plain digits, two at a time.
func appendInteger(dst []byte, v int64) []byte {
	if 0 <= v && v < 10 {
		return append(dst, byte('0'+v))
	}
	return strconv.AppendInt(dst, v, 10)
}

// appendShort appends data[from:end]; short texts are copied as 16 bytes at once
// where both sides have that much room.
func appendShort(dst, data []byte, from, end int32) []byte {
	n, at := int(end-from), len(dst)
	if n <= shortText && at+shortText <= cap(dst) && int(from)+shortText <= cap(data) {
		*(*[shortText]byte)(dst[at : at+shortText]) = *(*[shortText]byte)(data[from : from+shortText])
		return dst[:at+n]
	}
	return append(dst, data[from:end]...)
}

// enclose appends a text of a String field: enclosed when that is forced or when
// it holds the separator or the enclosure, which is doubled inside. An empty text
// is never enclosed.
func (f *format) enclose(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	if !f.forced && (!f.checked || !f.needsQuote(text)) {
		return append(dst, text...)
	}
	dst = append(dst, f.quote...)
	if len(f.quote) > 0 {
		for {
			k := bytes.Index(text, f.quote)
			if k < 0 {
				break
			}
			dst = append(append(dst, text[:k+len(f.quote)]...), f.quote...)
			text = text[k+len(f.quote):]
		}
	}
	return append(append(dst, text...), f.quote...)
}

func (f *format) needsQuote(text []byte) bool {
	if len(f.separator) == 1 && len(f.quote) == 1 {
		sep, quote := f.separator[0], f.quote[0]
		for _, c := range text {
			if c == sep || c == quote {
				return true
			}
		}
		return false
	}
	return len(f.separator) > 0 && bytes.Contains(text, f.separator) || len(f.quote) > 0 && bytes.Contains(text, f.quote)
}

// shape trims a text and makes it as long as the field: cut, or filled up with
// blanks. Lengths count UTF-16 units, as Java does.
func (c *outputColumn) shape(text []byte) []byte {
	text = c.field.Trim.Apply(text)
	if c.field.Length < 0 {
		return text
	}
	units := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		width := 1
		if r > 0xFFFF {
			width = 2
		}
		if units+width > c.field.Length {
			return text[:at]
		}
		units += width
		at += size
	}
	if units == c.field.Length {
		return text
	}
	return append(bytes.Clone(text), bytes.Repeat([]byte(" "), c.field.Length-units)...)
}

func (c *outputColumn) round(dst []byte, col *batch.Column, i int) []byte {
	// The only error is that UNNECESSARY would lose digits; then all are shown.
	var out []byte
	var err error
	if col.Type == batch.Number {
		out, err = c.rounded.AppendFloat64(dst, col.Floats[i])
	} else {
		out, err = c.rounded.AppendDecimal(dst, col.Decimal(i))
	}
	if err != nil {
		return c.out.AppendCompatible(dst, col.Value(i))
	}
	return out
}

// javaDate is how Java prints a date.
const javaDate = "EEE MMM dd HH:mm:ss zzz yyyy"

// appendJava appends a value as Java's toString does.
func (c *outputColumn) appendJava(dst []byte, col *batch.Column, i int) []byte {
	switch col.Type {
	case batch.Boolean:
		return strconv.AppendBool(dst, col.Bool(i))
	case batch.Date:
		return c.java.AppendMillis(dst, col.Ints[i])
	}
	return c.out.AppendCompatible(dst, col.Value(i))
}

// titles appends the header line.
func (f *format) titles(dst []byte) []byte {
	for k := range f.columns {
		c := &f.columns[k]
		if k > 0 {
			dst = append(dst, f.separator...)
		}
		title := []byte(c.title)
		quote := f.forcedHeader && c.field.Type == batch.String || f.checked && f.needsQuote(title)
		if quote {
			dst = append(dst, f.quote...)
		}
		dst = append(dst, title...)
		if quote {
			dst = append(dst, f.quote...)
		}
	}
	return append(dst, f.newline...)
}
