package sheet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf16"

	"github.com/richardlehane/mscfb"

	"sluice/engine/project"
)

// Records of BIFF8, the stream within .xls files ([MS-XLS] 2.3).
const (
	recFormula    = 0x0006
	recEOF        = 0x000A
	recDateMode   = 0x0022
	recFilePass   = 0x002F
	recContinue   = 0x003C
	recBoundSheet = 0x0085
	recMulRK      = 0x00BD
	recRString    = 0x00D6
	recXF         = 0x00E0
	recSST        = 0x00FC
	recLabelSST   = 0x00FD
	recNumber     = 0x0203
	recLabel      = 0x0204
	recBoolErr    = 0x0205
	recString     = 0x0207
	recRK         = 0x027E
	recFormat     = 0x041E
	recBOF        = 0x0809

	biff8 = 0x0600
)

// xlsBook is an Excel 97–2003 workbook. The sheet that is read is held in memory.
type xlsBook struct {
	stream   []byte
	names    []string
	starts   map[string]int
	texts    []string
	formats  map[int]string
	xfs      []int
	from1904 bool
}

func (b *xlsBook) sheets() []string { return b.names }

// openXLS opens a compound file. encrypted says that it holds an encrypted .xlsx.
func openXLS(data []byte, password project.Secret) (book *xlsBook, encrypted bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the .xls workbook is damaged: %v", r)
		}
	}()
	ole, err := mscfb.New(bytes.NewReader(data))
	if err != nil {
		return nil, false, fmt.Errorf("the workbook is damaged: %w", err)
	}
	for entry, err := ole.Next(); err == nil; entry, err = ole.Next() {
		switch entry.Name {
		case "EncryptedPackage":
			return nil, true, nil
		case "Book":
			if book == nil {
				book = &xlsBook{}
			}
		case "Workbook":
			stream, err := io.ReadAll(entry)
			if err != nil {
				return nil, false, fmt.Errorf("the workbook is damaged: %w", err)
			}
			book = &xlsBook{stream: stream, starts: map[string]int{}, formats: map[int]string{}}
			return book, false, book.globals(password)
		}
	}
	if book != nil {
		return nil, false, fmt.Errorf("the workbook is of Excel 95 or older; save it as .xlsx")
	}
	return nil, false, fmt.Errorf("the file is no .xls workbook")
}

// record is one record and the records that continue it.
type record struct {
	id   int
	data []byte
	more [][]byte
}

var errDamaged = errors.New("the .xls workbook is damaged: a record is cut off")

// next reads the record at an offset and gives the offset after it.
func (b *xlsBook) next(at int) (record, int, error) {
	id, data, at, err := b.plain(at)
	r := record{id: id, data: data}
	for err == nil && at+4 <= len(b.stream) && int(binary.LittleEndian.Uint16(b.stream[at:])) == recContinue {
		_, data, at, err = b.plain(at)
		r.more = append(r.more, data)
	}
	return r, at, err
}

func (b *xlsBook) plain(at int) (int, []byte, int, error) {
	if at+4 > len(b.stream) {
		return 0, nil, at, errDamaged
	}
	id, size := int(binary.LittleEndian.Uint16(b.stream[at:])), int(binary.LittleEndian.Uint16(b.stream[at+2:]))
	if at+4+size > len(b.stream) {
		return 0, nil, at, errDamaged
	}
	return id, b.stream[at+4 : at+4+size], at + 4 + size, nil
}

func (b *xlsBook) globals(password project.Secret) error {
	for at := 0; ; {
		r, after, err := b.next(at)
		if err != nil {
			return err
		}
		switch r.id {
		case recEOF:
			return nil
		case recBOF:
			if binary.LittleEndian.Uint16(r.data) != biff8 {
				return fmt.Errorf("the workbook is of Excel 95 or older; save it as .xlsx")
			}
		case recFilePass:
			if err := b.decrypt(r.data, password, after); err != nil {
				return err
			}
		case recDateMode:
			b.from1904 = r.data[0] == 1
		case recFormat:
			s := segments{parts: [][]byte{r.data[2:]}}
			b.formats[int(binary.LittleEndian.Uint16(r.data))] = s.text(s.u16())
		case recXF:
			b.xfs = append(b.xfs, int(binary.LittleEndian.Uint16(r.data[2:])))
		case recBoundSheet:
			if r.data[5] == 0 { // a worksheet, no chart or macro sheet
				s := segments{parts: [][]byte{r.data[6:]}}
				name := s.text(int(s.u8()))
				b.names = append(b.names, name)
				b.starts[name] = int(binary.LittleEndian.Uint32(r.data))
			}
		case recSST:
			b.sharedTexts(r)
		}
		at = after
	}
}

func (b *xlsBook) sharedTexts(r record) {
	s := segments{parts: append([][]byte{r.data}, r.more...)}
	s.skip(4)
	n := int(s.u32())
	for range n {
		if s.atEnd() {
			return
		}
		b.texts = append(b.texts, s.richText())
	}
}

// segments reads through a record and its continuations.
type segments struct {
	parts [][]byte
	pos   int
}

func (s *segments) atEnd() bool {
	for len(s.parts) > 0 && s.pos >= len(s.parts[0]) {
		s.parts, s.pos = s.parts[1:], 0
	}
	return len(s.parts) == 0
}

func (s *segments) u8() byte {
	if s.atEnd() {
		panic(errDamaged)
	}
	s.pos++
	return s.parts[0][s.pos-1]
}

func (s *segments) u16() int    { return int(s.u8()) | int(s.u8())<<8 }
func (s *segments) u32() uint32 { return uint32(s.u16()) | uint32(s.u16())<<16 }

func (s *segments) skip(n int) {
	for range n {
		s.u8()
	}
}

// text reads the flags and the characters of a string.
func (s *segments) text(chars int) string { return s.chars(chars, s.u8()) }

// richText reads a string of the shared table with its formatting, which is
// dropped.
func (s *segments) richText() string {
	chars, flags := s.u16(), s.u8()
	runs, extension := 0, 0
	if flags&0x08 != 0 {
		runs = s.u16()
	}
	if flags&0x04 != 0 {
		extension = int(s.u32())
	}
	text := s.chars(chars, flags)
	s.skip(4*runs + extension)
	return text
}

// chars reads characters of one or two bytes; a continuation within a string
// starts with its own flags.
func (s *segments) chars(n int, flags byte) string {
	units := make([]uint16, 0, n)
	for len(units) < n {
		if s.pos >= len(s.parts[0]) {
			if s.atEnd() {
				panic(errDamaged)
			}
			flags = s.u8()
		}
		if flags&1 != 0 {
			units = append(units, uint16(s.u16()))
		} else {
			units = append(units, uint16(s.u8()))
		}
	}
	return string(utf16.Decode(units))
}

// grid gathers the cells of a sheet.
type grid struct{ rows [][]cell }

func (g *grid) put(row, col int, c cell) {
	for len(g.rows) <= row {
		g.rows = append(g.rows, nil)
	}
	for len(g.rows[row]) <= col {
		g.rows[row] = append(g.rows[row], cell{})
	}
	g.rows[row][col] = c
}

func (b *xlsBook) rows(name string, each func(int, []cell) error) error {
	g, err := b.grid(name)
	if err != nil {
		return fmt.Errorf("sheet %q: %w", name, err)
	}
	for i, cells := range g.rows {
		if len(cells) == 0 {
			continue
		}
		if err := each(i, cells); err != nil {
			return err
		}
	}
	return nil
}

func (b *xlsBook) grid(name string) (g *grid, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the .xls workbook is damaged: %v", r)
		}
	}()
	g = &grid{}
	depth := 0
	row, col := -1, -1 // of a formula whose text follows
	for at := b.starts[name]; ; {
		r, after, err := b.next(at)
		if err != nil {
			return nil, err
		}
		switch r.id {
		case recBOF:
			depth++ // charts within the sheet have their own
		case recEOF:
			if depth--; depth == 0 {
				return g, nil
			}
		case recString:
			if depth == 1 && row >= 0 {
				s := segments{parts: append([][]byte{r.data}, r.more...)}
				g.put(row, col, cell{kind: label, text: s.text(s.u16())})
				row = -1
			}
		default:
			if depth == 1 && b.cells(g, r) {
				row, col = place(r.data)
			}
		}
		at = after
	}
}

func place(data []byte) (row, col int) {
	return int(binary.LittleEndian.Uint16(data)), int(binary.LittleEndian.Uint16(data[2:]))
}

// cells puts the cells of a record; true when the text of a formula follows.
func (b *xlsBook) cells(g *grid, r record) bool {
	u16 := func(at int) int { return int(binary.LittleEndian.Uint16(r.data[at:])) }
	switch r.id {
	case recLabelSST:
		row, col := place(r.data)
		g.put(row, col, cell{kind: label, text: b.texts[binary.LittleEndian.Uint32(r.data[6:])]})
	case recLabel, recRString:
		row, col := place(r.data)
		s := segments{parts: append([][]byte{r.data[6:]}, r.more...)}
		g.put(row, col, cell{kind: label, text: s.text(s.u16())})
	case recNumber:
		row, col := place(r.data)
		g.put(row, col, b.number(u16(4), math.Float64frombits(binary.LittleEndian.Uint64(r.data[6:]))))
	case recRK:
		row, col := place(r.data)
		g.put(row, col, b.number(u16(4), rk(binary.LittleEndian.Uint32(r.data[6:]))))
	case recMulRK:
		row, col := place(r.data)
		for at := 4; at+6 < len(r.data); at += 6 {
			g.put(row, col, b.number(u16(at), rk(binary.LittleEndian.Uint32(r.data[at+2:]))))
			col++
		}
	case recBoolErr:
		if row, col := place(r.data); r.data[7] == 0 {
			g.put(row, col, cell{kind: boolean, num: float64(r.data[6])})
		}
	case recFormula:
		return b.formula(g, r.data)
	}
	return false
}

// formula puts the cached result of a formula.
func (b *xlsBook) formula(g *grid, data []byte) (textFollows bool) {
	row, col := place(data)
	if binary.LittleEndian.Uint16(data[12:]) != 0xFFFF {
		g.put(row, col, b.number(int(binary.LittleEndian.Uint16(data[4:])), math.Float64frombits(binary.LittleEndian.Uint64(data[6:]))))
		return false
	}
	switch data[6] {
	case 0:
		return true
	case 1:
		g.put(row, col, cell{kind: boolean, num: float64(data[8])})
	}
	return false // an error or an empty text: an empty cell
}

func (b *xlsBook) number(xf int, f float64) cell {
	if xf < len(b.xfs) {
		if id := b.xfs[xf]; isDateFormat(id, b.formats[id]) {
			return cell{kind: date, when: serialDate(f, b.from1904)}
		}
	}
	return cell{kind: number, num: f}
}

// rk unpacks a number of 30 bits.
func rk(v uint32) float64 {
	f := math.Float64frombits(uint64(v&^3) << 32)
	if v&2 != 0 {
		f = float64(int32(v) >> 2)
	}
	if v&1 != 0 {
		f /= 100
	}
	return f
}
