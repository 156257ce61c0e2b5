package sheet

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// xlsxBook is a workbook in Office Open XML. Sheets are read row by row; shared
// texts are held in memory.
type xlsxBook struct {
	archive  *zip.Reader
	names    []string
	parts    map[string]string // part of the archive by sheet name
	texts    []string
	dates    []bool // per cell style: its numbers are dates
	from1904 bool
}

func (b *xlsxBook) sheets() []string { return b.names }

func openXLSX(z *zip.Reader) (*xlsxBook, error) {
	b := &xlsxBook{archive: z, parts: map[string]string{}}
	main := "xl/workbook.xml"
	targets, err := b.relations("_rels/.rels", "")
	if err != nil {
		return nil, err
	}
	for _, r := range targets {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			main = r.target
		}
	}
	folder := path.Dir(main)
	relations, err := b.relations(path.Join(folder, "_rels", path.Base(main)+".rels"), folder)
	if err != nil {
		return nil, err
	}
	if err := b.workbook(main, relations); err != nil {
		return nil, err
	}
	for _, r := range relations {
		switch {
		case strings.HasSuffix(r.kind, "/sharedStrings"):
			err = b.shared(r.target)
		case strings.HasSuffix(r.kind, "/styles"):
			err = b.styles(r.target)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// element is a start tag with the attributes that are of interest, by local name.
type element struct {
	attrs []xml.Attr
}

func (e *element) attr(name string) string {
	for i := range e.attrs {
		if e.attrs[i].Name.Local == name {
			return e.attrs[i].Value
		}
	}
	return ""
}

// walk reads a part of an archive; on gets each start tag, text and end tag (a
// name without attributes). A part that is not there is passed over.
func walk(z *zip.Reader, part string, on func(d *xml.Decoder, tok xml.Token) error) error {
	f, err := z.Open(part)
	if err != nil {
		return nil
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = on(d, tok)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
}

type relation struct{ id, kind, target string }

func (b *xlsxBook) relations(part, folder string) (map[string]relation, error) {
	list := map[string]relation{}
	err := walk(b.archive, part, func(_ *xml.Decoder, tok xml.Token) error {
		if t, ok := tok.(xml.StartElement); ok && t.Name.Local == "Relationship" {
			e := element{attrs: t.Attr}
			target := e.attr("Target")
			if strings.HasPrefix(target, "/") {
				target = target[1:]
			} else {
				target = path.Join(folder, target)
			}
			list[e.attr("Id")] = relation{e.attr("Id"), e.attr("Type"), target}
		}
		return nil
	})
	return list, err
}

func (b *xlsxBook) workbook(part string, relations map[string]relation) error {
	err := walk(b.archive, part, func(_ *xml.Decoder, tok xml.Token) error {
		t, ok := tok.(xml.StartElement)
		if !ok {
			return nil
		}
		e := element{attrs: t.Attr}
		switch t.Name.Local {
		case "workbookPr":
			v := e.attr("date1904")
			b.from1904 = v == "1" || v == "true"
		case "sheet":
			id := ""
			for _, a := range t.Attr {
				if a.Name.Local == "id" && a.Name.Space != "" {
					id = a.Value
				}
			}
			b.names = append(b.names, e.attr("name"))
			b.parts[e.attr("name")] = relations[id].target
		}
		return nil
	})
	if err == nil && len(b.names) == 0 {
		err = fmt.Errorf("the archive holds no workbook")
	}
	return err
}

func (b *xlsxBook) shared(part string) error {
	var text strings.Builder
	inText, phonetic := false, false
	return walk(b.archive, part, func(_ *xml.Decoder, tok xml.Token) error {
		switch t := tok.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
			case "t":
				inText = !phonetic
			case "rPh":
				phonetic = true
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				b.texts = append(b.texts, text.String())
			case "t":
				inText = false
			case "rPh":
				phonetic = false
			}
		case xml.CharData:
			if inText {
				text.Write(t)
			}
		}
		return nil
	})
}

func (b *xlsxBook) styles(part string) error {
	codes := map[int]string{}
	inCells := false
	return walk(b.archive, part, func(_ *xml.Decoder, tok xml.Token) error {
		switch t := tok.(type) {
		case xml.StartElement:
			e := element{attrs: t.Attr}
			id, _ := strconv.Atoi(e.attr("numFmtId"))
			switch t.Name.Local {
			case "numFmt":
				codes[id] = e.attr("formatCode")
			case "cellXfs":
				inCells = true
			case "xf":
				if inCells {
					b.dates = append(b.dates, isDateFormat(id, codes[id]))
				}
			}
		case xml.EndElement:
			if t.Name.Local == "cellXfs" {
				inCells = false
			}
		}
		return nil
	})
}

// xlsxRows reads the rows of one sheet.
type xlsxRows struct {
	book  *xlsxBook
	each  func(int, []cell) error
	cells []cell
	row   int
	col   int
	kind  string
	style int
	value strings.Builder
	take  bool
}

func (b *xlsxBook) rows(name string, each func(int, []cell) error) error {
	r := &xlsxRows{book: b, each: each, row: -1}
	return walk(b.archive, b.parts[name], r.token)
}

func (r *xlsxRows) token(_ *xml.Decoder, tok xml.Token) error {
	switch t := tok.(type) {
	case xml.StartElement:
		return r.start(t)
	case xml.CharData:
		if r.take {
			r.value.Write(t)
		}
	case xml.EndElement:
		return r.end(t.Name.Local)
	}
	return nil
}

func (r *xlsxRows) start(t xml.StartElement) error {
	e := element{attrs: t.Attr}
	switch t.Name.Local {
	case "row":
		r.row++
		if n, err := strconv.Atoi(e.attr("r")); err == nil {
			r.row = n - 1
		}
		r.cells, r.col = r.cells[:0], -1
	case "c":
		r.col++
		if col, ok := columnOf(e.attr("r")); ok {
			r.col = col
		}
		r.kind = e.attr("t")
		r.style, _ = strconv.Atoi(e.attr("s"))
		r.value.Reset()
	case "v":
		r.take = true
		r.value.Reset()
	case "t":
		r.take = r.kind == "inlineStr"
	}
	return nil
}

// maxColumns is the number of columns of a sheet in Excel.
const maxColumns = 16384

// columnOf gives the column of a cell reference, from 0.
func columnOf(ref string) (int, bool) {
	n := 0
	for i := range len(ref) {
		c := ref[i]
		if c < 'A' || c > 'Z' {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return n - 1, n > 0 && n <= maxColumns
}

func (r *xlsxRows) end(name string) error {
	switch name {
	case "v", "t":
		r.take = false
	case "c":
		for len(r.cells) <= r.col {
			r.cells = append(r.cells, cell{})
		}
		var err error
		r.cells[r.col], err = r.cell()
		return err
	case "row":
		return r.each(r.row, r.cells)
	}
	return nil
}

func (r *xlsxRows) cell() (cell, error) {
	text := r.value.String()
	switch r.kind {
	case "s":
		if text == "" {
			return cell{}, nil
		}
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(r.book.texts) {
			return cell{}, fmt.Errorf("row %d: a cell refers to the text %q, which is not there", r.row+1, text)
		}
		return cell{kind: label, text: r.book.texts[i]}, nil
	case "inlineStr", "str":
		return cell{kind: label, text: text}, nil
	case "e":
		return cell{}, nil
	case "b":
		if text == "" {
			return cell{}, nil
		}
		c := cell{kind: boolean}
		if text == "1" || strings.EqualFold(text, "true") {
			c.num = 1
		}
		return c, nil
	case "d":
		when, err := isoDate(text)
		return cell{kind: date, when: when}, err
	}
	if text == "" {
		return cell{}, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return cell{}, fmt.Errorf("row %d: %q is not a number", r.row+1, text)
	}
	if r.style >= 0 && r.style < len(r.book.dates) && r.book.dates[r.style] {
		return cell{kind: date, when: serialDate(f, r.book.from1904)}, nil
	}
	return cell{kind: number, num: f}, nil
}

// isoDate reads dates as .ods and strict .xlsx files write them.
func isoDate(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date", text)
}
