package sheet

import (
	"archive/zip"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// odsBook is an OpenDocument spreadsheet.
type odsBook struct{ archive *zip.Reader }

const odsContent = "content.xml"

func (b *odsBook) sheets() []string {
	var names []string
	depth := 0
	// A damaged file shows its error when rows are read.
	_ = walk(b.archive, odsContent, func(_ *xml.Decoder, tok xml.Token) error {
		switch t := tok.(type) {
		case xml.StartElement:
			if t.Name.Local == "table" && t.Name.Space == "table" {
				if depth == 0 {
					e := element{attrs: t.Attr}
					names = append(names, e.attr("name"))
				}
				depth++
			}
		case xml.EndElement:
			if t.Name.Local == "table" && t.Name.Space == "table" {
				depth--
			}
		}
		return nil
	})
	return names
}

// odsRows reads the rows of one table.
type odsRows struct {
	name   string
	each   func(int, []cell) error
	inside bool
	depth  int // of tables within the table
	row    int
	repeat int
	cells  []cell
	width  int // of cells that are not blank
	cell   cell
	times  int
	inText int
	paras  int
	notes  int
	text   strings.Builder
}

func (b *odsBook) rows(name string, each func(int, []cell) error) error {
	r := &odsRows{name: name, each: each}
	return walk(b.archive, odsContent, func(_ *xml.Decoder, tok xml.Token) error {
		switch t := tok.(type) {
		case xml.StartElement:
			return r.start(t)
		case xml.EndElement:
			return r.end(t)
		case xml.CharData:
			if r.inText > 0 && r.notes == 0 {
				r.text.Write(t)
			}
		}
		return nil
	})
}

func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

func (r *odsRows) start(t xml.StartElement) error {
	e := element{attrs: t.Attr}
	if t.Name.Space == "table" && t.Name.Local == "table" {
		if r.inside {
			r.depth++
		}
		r.inside = r.inside || e.attr("name") == r.name
		return nil
	}
	if !r.inside || r.depth > 0 {
		return nil
	}
	switch t.Name.Local {
	case "table-row":
		r.repeat, r.cells, r.width = count(e.attr("number-rows-repeated")), r.cells[:0], 0
	case "table-cell", "covered-table-cell":
		r.times, r.paras = count(e.attr("number-columns-repeated")), 0
		r.text.Reset()
		var err error
		r.cell, err = odsCell(&e)
		return err
	case "annotation":
		r.notes++
	case "p":
		if r.inText == 0 {
			if r.paras > 0 && r.notes == 0 {
				r.text.WriteByte('\n')
			}
			r.paras++
		}
		r.inText++
	case "s":
		if r.notes == 0 {
			r.text.WriteString(strings.Repeat(" ", min(count(e.attr("c")), maxColumns)))
		}
	case "tab":
		r.text.WriteByte('\t')
	case "line-break":
		r.text.WriteByte('\n')
	}
	return nil
}

// odsCell reads a cell's value from its attributes; a text that stands in the
// cell is added at its end.
func odsCell(e *element) (cell, error) {
	switch e.attr("value-type") {
	case "boolean":
		c := cell{kind: boolean}
		if e.attr("boolean-value") == "true" {
			c.num = 1
		}
		return c, nil
	case "float", "currency", "percentage":
		f, err := strconv.ParseFloat(e.attr("value"), 64)
		if err != nil {
			return cell{}, fmt.Errorf("%q is not a number", e.attr("value"))
		}
		return cell{kind: number, num: f}, nil
	case "date":
		when, err := isoDate(e.attr("date-value"))
		return cell{kind: date, when: when}, err
	case "string":
		return cell{kind: label, text: e.attr("string-value")}, nil
	case "time":
		return cell{kind: label}, nil
	}
	return cell{}, nil
}

func (r *odsRows) end(t xml.EndElement) error {
	if t.Name.Space == "table" && t.Name.Local == "table" {
		if r.depth > 0 {
			r.depth--
		} else {
			r.inside = false
		}
		return nil
	}
	if !r.inside || r.depth > 0 {
		return nil
	}
	switch t.Name.Local {
	case "p":
		r.inText--
	case "annotation":
		r.notes--
	case "table-cell", "covered-table-cell":
		r.endCell()
	case "table-row":
		return r.endRow()
	}
	return nil
}

func (r *odsRows) endCell() {
	if r.cell.kind == label && r.cell.text == "" {
		r.cell.text = r.text.String()
	}
	for range min(r.times, maxColumns-len(r.cells)) {
		r.cells = append(r.cells, r.cell)
		if r.cell.kind != empty {
			r.width = len(r.cells)
		} else if r.times > 1 && len(r.cells) > maxBlankRun+r.width {
			break // the blank rest of a row
		}
	}
}

// maxBlankRun is how many blank cells are kept when one element stands for many.
const maxBlankRun = 1024

func (r *odsRows) endRow() error {
	if r.width == 0 {
		r.row += r.repeat
		return nil
	}
	for range r.repeat {
		if err := r.each(r.row, r.cells[:r.width]); err != nil {
			return err
		}
		r.row++
	}
	return nil
}
