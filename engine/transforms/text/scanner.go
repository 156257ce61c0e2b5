package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// dialect says how records and fields are told apart. An empty quote means that
// there is none.
type dialect struct {
	separator, quote []byte
	// lineEndsInside keeps line ends as data in all columns but the last one
	// (Hop's newline_possible); otherwise only between quotes.
	lineEndsInside bool
}

// simple says whether the fast scanner and the fast cutter know the dialect.
func (d *dialect) simple() bool {
	if len(d.separator) != 1 || len(d.quote) > 1 || d.lineEndsInside || isLineEnd(d.separator[0]) {
		return false
	}
	return len(d.quote) == 0 || d.quote[0] != d.separator[0] && !isLineEnd(d.quote[0])
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

// span is where a field lies in its block, half open. In start the top bit says
// that the field holds doubled quotes.
type span struct{ start, end uint32 }

const doubled = 1 << 31

// absent is the span of a column that its record does not have.
var absent = span{^uint32(0), ^uint32(0)}

// padding is the number of bytes behind a block that a scanner may load. They
// are padByte, which is never part of a dialect.
const padding = 16

// scanner finds the fields of the records in a block. Its rules are those of
// Hop's CSV file input: a quote counts only at the start of a field, two quotes
// inside stand for one, what follows the closing quote up to the separator
// belongs to the field, and a line end right behind another one is skipped.
// Quotes in columns beyond the known ones are respected too, so that a line end
// between them does not start a record.
type scanner struct {
	dialect
	columns int
	spans   []span // of the last call to scan, row by row
	quoted  []bool // by column: a value was quoted
	pos     int    // of the next record
}

func newScanner(d dialect, columns int) *scanner {
	return &scanner{dialect: d, columns: columns, quoted: make([]bool, columns)}
}

// reset starts a new block.
func (s *scanner) reset() {
	s.pos = 0
	clear(s.quoted)
}

// scan finds up to limit records of data[:n], which ends with a record, and
// returns how many. data has padding behind n.
func (s *scanner) scan(data []byte, n, limit int) int {
	if need := limit * s.columns; cap(s.spans) < need {
		s.spans = make([]span, need)
	}
	s.spans = s.spans[:limit*s.columns]
	if s.simple() {
		return s.fast(data, n, limit)
	}
	rows := 0
	for rows < limit && s.pos < n {
		s.pos, _ = s.record(data, n, s.pos, s.spans[rows*s.columns:(rows+1)*s.columns])
		rows++
	}
	return rows
}

const (
	low7   = 0x7f7f7f7f7f7f7f7f
	spread = 0x0101010101010101 // times a byte: that byte eight times
)

// zeroBytes sets the top bit of every byte of w that is 0, and no other bit.
func zeroBytes(w uint64) uint64 { return ^((w&low7 + low7) | w | low7) }

// fast is scan for simple dialects: it looks at eight bytes at a time.
func (s *scanner) fast(data []byte, n, limit int) int {
	sep := s.separator[0]
	sepW, lfW, crW := uint64(sep)*spread, uint64('\n')*spread, uint64('\r')*spread
	quoting, quote := len(s.quote) == 1, byte(0)
	if quoting {
		quote = s.quote[0]
	}
	spans, columns := s.spans, s.columns
	rows, base, col := 0, 0, 0
	start, i := s.pos, s.pos
	inset, flag := 0, uint32(0) // of the field at start: 1 when quoted, doubled quotes
	data = data[: n+padding : n+padding]

	if quoting && i < n && data[i] == quote {
		i, inset, flag = s.enterQuotes(data, n, i, 0)
	}
words:
	for i < n {
		w := binary.LittleEndian.Uint64(data[i:])
		m := zeroBytes(w^sepW) | zeroBytes(w^lfW) | zeroBytes(w^crW)
		for m != 0 {
			p := i + bits.TrailingZeros64(m)>>3
			m &= m - 1
			if col < columns {
				spans[base+col] = span{uint32(start+inset) | flag, uint32(p - inset)}
			}
			inset, flag = 0, 0
			col++
			next := p + 1
			start = next
			if data[p] != sep {
				start = lineStart(data, n, next, col > columns)
				for ; col < columns; col++ {
					spans[base+col] = absent
				}
				rows, base, col = rows+1, base+columns, 0
				if rows == limit {
					s.pos = start
					return rows
				}
			}
			if quoting && data[start] == quote && start < n {
				i, inset, flag = s.enterQuotes(data, n, start, col)
				continue words
			}
			if start != next {
				i = start
				continue words
			}
		}
		i += 8
	}
	if start < n || col > 0 { // the last record has no line end
		if col < columns && start < n {
			spans[base+col] = span{uint32(start+inset) | flag, uint32(n - inset)}
			col++
		}
		for ; col < columns; col++ {
			spans[base+col] = absent
		}
		rows++
	}
	s.pos = n
	return rows
}

// lineStart gives where the next record begins after a line end that ends at
// from: one more line end character is skipped (LF of CRLF, or a blank line), all
// of them behind a record with surplus columns.
func lineStart(data []byte, n, from int, surplus bool) int {
	if from < n && isLineEnd(data[from]) {
		from++
		for surplus && from < n && isLineEnd(data[from]) {
			from++
		}
	}
	return from
}

// enterQuotes handles a quote at a field's start: where to go on behind the
// closing one, and how the field's span is to be cut. A field that is never
// closed reaches to the end, with its quote.
func (s *scanner) enterQuotes(data []byte, n, at, col int) (next, inset int, flag uint32) {
	if col < s.columns {
		s.quoted[col] = true
	}
	next, twice, closed := closing(data[:n], s.quote[0], at+1)
	if !closed {
		return n, 0, 0
	}
	if twice {
		flag = doubled
	}
	return next, 1, flag
}

// closing finds the end of a quoted text whose content starts at from: next is
// the index behind the closing quote, twice says that quotes are doubled inside.
func closing(data []byte, quote byte, from int) (next int, twice, closed bool) {
	for {
		k := bytes.IndexByte(data[from:], quote)
		if k < 0 {
			return len(data), twice, false
		}
		from += k + 1
		if from >= len(data) || data[from] != quote {
			return from, twice, true
		}
		from++
		twice = true
	}
}

// record reads one record that starts at pos, byte by byte, for every dialect.
// complete is false when it reaches the end of data without a line end. fields
// may be nil.
func (s *scanner) record(data []byte, n, pos int, fields []span) (next int, complete bool) {
	col, start := 0, pos
	inset, flag := 0, uint32(0)
	put := func(end int) {
		if col < s.columns && fields != nil {
			fields[col] = span{uint32(start+inset) | flag, uint32(max(end-inset, start+inset))}
		}
		inset, flag = 0, 0
		col++
	}
	fill := func() {
		for ; col < s.columns && fields != nil; col++ {
			fields[col] = absent
		}
	}
	for i := pos; i < n; {
		switch {
		case bytes.HasPrefix(data[i:n], s.separator):
			put(i)
			i += len(s.separator)
			start = i
		case isLineEnd(data[i]) && (!s.lineEndsInside || col >= s.columns-1):
			put(i)
			next = lineStart(data, n, i+1, col > s.columns)
			fill()
			return next, next < n
		case i == start && inset == 0 && len(s.quote) > 0 && bytes.HasPrefix(data[i:n], s.quote):
			if col < s.columns {
				s.quoted[col] = true
			}
			end, twice, closed := closingText(data[:n], s.quote, i+len(s.quote))
			if closed {
				inset = len(s.quote)
			}
			if closed && twice {
				flag = doubled
			}
			i = end
		default:
			i++
		}
	}
	if start < n {
		put(n)
	}
	fill()
	return n, false
}

func closingText(data, quote []byte, from int) (next int, twice, closed bool) {
	for {
		k := bytes.Index(data[from:], quote)
		if k < 0 {
			return len(data), twice, false
		}
		from += k + len(quote)
		if !bytes.HasPrefix(data[from:], quote) {
			return from, twice, true
		}
		from += len(quote)
		twice = true
	}
}

// undouble replaces doubled quotes in data[from:end], in place, and gives the new
// end.
func undouble(data, quote []byte, from, end int) int {
	out := from
	for i := from; i < end; {
		next := bytes.Index(data[i:end], quote)
		if next < 0 {
			return out + copy(data[out:], data[i:end])
		}
		next += len(quote)
		out += copy(data[out:], data[i:i+next])
		if i += next; bytes.HasPrefix(data[i:end], quote) {
			i += len(quote)
		}
	}
	return out
}
