package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// recordReader cuts CSV into records: commas between values, double quotes around
// a value and doubled inside of it, any line end. Empty lines are no records.
type recordReader struct {
	in      *bufio.Reader
	line    int // the line where the last record began, from 1
	current int
	data    []byte
	ends    []int
	record  [][]byte
}

func newRecordReader(in io.Reader) *recordReader {
	return &recordReader{in: bufio.NewReader(in), current: 1}
}

// next gives the values of a record, which stay valid until the next call. The
// error is io.EOF after the last one.
func (r *recordReader) next() ([][]byte, error) {
	for {
		r.line = r.current
		r.data, r.ends, r.record = r.data[:0], r.ends[:0], r.record[:0]
		quoted, last, err := r.values()
		if err != nil {
			return nil, err
		}
		empty := len(r.ends) == 1 && len(r.data) == 0 && !quoted
		if empty && last {
			return nil, io.EOF
		}
		if empty {
			continue
		}
		start := 0
		for _, end := range r.ends {
			r.record = append(r.record, r.data[start:end:end])
			start = end
		}
		return r.record, nil
	}
}

// values reads up to the end of a line. quoted says that a value was in quotes,
// last that the file ended.
func (r *recordReader) values() (quoted, last bool, err error) {
	for {
		inQuotes, end, err := r.value()
		if err != nil {
			return false, false, err
		}
		quoted = quoted || inQuotes
		r.ends = append(r.ends, len(r.data))
		if end != ',' {
			return quoted, end == endOfData, nil
		}
	}
}

// value reads one value and what ends it: a comma, a line end or endOfData.
func (r *recordReader) value() (quoted bool, end int, err error) {
	c, err := r.read()
	if err != nil {
		return false, 0, err
	}
	if c == '"' {
		if err := r.quotedText(); err != nil {
			return true, 0, err
		}
		c, err = r.afterQuote()
		return true, c, err
	}
	for c != ',' && c != '\n' && c != endOfData {
		r.data = append(r.data, byte(c))
		if c, err = r.read(); err != nil {
			return false, 0, err
		}
	}
	return false, c, nil
}

func (r *recordReader) quotedText() error {
	for {
		c, err := r.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return fmt.Errorf("line %d: a quoted value is not closed", r.line)
		case err != nil:
			return err
		case c == '\n':
			r.current++
		case c == '"':
			if next, err := r.in.Peek(1); err != nil || next[0] != '"' {
				return nil //nolint:nilerr // the file may end behind a quote; the next read tells
			}
			if _, err := r.in.ReadByte(); err != nil {
				return err
			}
		}
		r.data = append(r.data, c)
	}
}

// afterQuote skips blanks up to what ends the value.
func (r *recordReader) afterQuote() (int, error) {
	for {
		c, err := r.read()
		if err != nil || c == ',' || c == '\n' || c == endOfData {
			return c, err
		}
		if c != ' ' && c != '\t' {
			return 0, fmt.Errorf("line %d: %q follows a quoted value; a comma or the end of the line is expected", r.current, rune(c))
		}
	}
}

// endOfData is what read gives after the last byte.
const endOfData = -1

// read gives the next byte, \n for every kind of line end.
func (r *recordReader) read() (int, error) {
	c, err := r.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return endOfData, nil
	case err != nil:
		return 0, err
	case c == '\r':
		if next, err := r.in.Peek(1); err == nil && next[0] == '\n' {
			_, _ = r.in.ReadByte() // it was just peeked
		}
		c = '\n'
	}
	if c == '\n' {
		r.current++
	}
	return int(c), nil
}
