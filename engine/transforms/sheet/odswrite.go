package sheet

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// odsSheet gathers the rows of a new OpenDocument spreadsheet. Each workbook has
// one sheet; what is there before is not kept.
type odsSheet struct {
	name string
	left int // first column, from 1
	body strings.Builder
}

const (
	odsMime = "application/vnd.oasis.opendocument.spreadsheet"
	odsOpen = `<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.2"><office:automatic-styles><number:date-style style:name="N1"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/><number:text> </number:text><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/></number:date-style><style:style style:name="date" style:family="table-cell" style:data-style-name="N1"/></office:automatic-styles><office:body><office:spreadsheet>`
	odsClose    = `</table:table></office:spreadsheet></office:body></office:document-content>`
	odsManifest = `<?xml version="1.0" encoding="UTF-8"?>
<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + odsMime + `"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`
)

// newODS starts a sheet at a cell.
func newODS(name string, left, row int) *odsSheet {
	s := &odsSheet{name: name, left: left}
	if row > 1 {
		fmt.Fprintf(&s.body, `<table:table-row table:number-rows-repeated="%d"><table:table-cell/></table:table-row>`, row-1)
	}
	return s
}

// moment marks a serial day number as a date.
type moment float64

// row adds a row of nil, bool, float64, moment, string and formula values.
func (s *odsSheet) row(values []any) {
	s.body.WriteString("<table:table-row>")
	if s.left > 1 {
		fmt.Fprintf(&s.body, `<table:table-cell table:number-columns-repeated="%d"/>`, s.left-1)
	}
	for _, v := range values {
		s.cell(v)
	}
	s.body.WriteString("</table:table-row>")
}

func (s *odsSheet) cell(v any) {
	b := &s.body
	switch v := v.(type) {
	case bool:
		fmt.Fprintf(b, `<table:table-cell office:value-type="boolean" office:boolean-value="%v"/>`, v)
	case float64:
		fmt.Fprintf(b, `<table:table-cell office:value-type="float" office:value="%s"/>`, strconv.FormatFloat(v, 'g', -1, 64))
	case moment:
		fmt.Fprintf(b, `<table:table-cell table:style-name="date" office:value-type="date" office:date-value="%s"/>`, serialDate(float64(v), false).Format("2006-01-02T15:04:05.999"))
	case formula:
		fmt.Fprintf(b, `<table:table-cell table:formula="of:=%s"/>`, escapeXML(string(v)))
	case string:
		b.WriteString(`<table:table-cell office:value-type="string"><text:p>`)
		for i, line := range strings.Split(v, "\n") {
			if i > 0 {
				b.WriteString("</text:p><text:p>")
			}
			s.text(line)
		}
		b.WriteString("</text:p></table:table-cell>")
	default:
		b.WriteString("<table:table-cell/>")
	}
}

// text writes one line; blanks that XML would drop are written as elements.
func (s *odsSheet) text(line string) {
	rest := line
	for rest != "" {
		at := strings.IndexAny(rest, " \t")
		if at < 0 {
			break
		}
		s.body.WriteString(escapeXML(rest[:at]))
		if rest[at] == '\t' {
			s.body.WriteString("<text:tab/>")
		} else {
			s.body.WriteString("<text:s/>")
		}
		rest = rest[at+1:]
	}
	s.body.WriteString(escapeXML(rest))
}

func escapeXML(text string) string {
	var b strings.Builder
	// Writing to a Builder cannot fail.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

// writeTo writes the workbook.
func (s *odsSheet) writeTo(w io.Writer) error {
	z := zip.NewWriter(w)
	mime, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(mime, odsMime)
	}
	add := func(name string, parts ...string) {
		f, e := z.Create(name)
		for _, part := range parts {
			if e == nil {
				_, e = io.WriteString(f, part)
			}
		}
		err = errors.Join(err, e)
	}
	add("META-INF/manifest.xml", odsManifest)
	add(odsContent, odsOpen, `<table:table table:name="`+escapeXML(s.name)+`">`, s.body.String(), odsClose)
	return errors.Join(err, z.Close())
}

// odsOnly refuses settings that need a workbook that is there, or the styles of
// .xlsx files.
func (s *ExcelWriterSettings) odsOnly() error {
	switch {
	case s.Template.Enabled || s.Template.SheetEnabled:
		return fmt.Errorf("templates are not supported for .ods files; use xlsx")
	case s.File.IfFileExists == Reuse:
		return fmt.Errorf("an existing .ods file cannot be added to; make a new one or use xlsx")
	case s.RowWriting == Push:
		return fmt.Errorf("rows cannot be pushed into .ods files; use xlsx")
	}
	return nil
}

// openODS starts a new OpenDocument workbook.
func (p *excelWriter) openODS(b *book) (*book, error) {
	b.left, b.row = 1, 1
	if p.start != "" {
		var err error
		if b.left, b.row, err = excelize.CellNameToCoordinates(strings.ReplaceAll(p.start, "$", "")); err != nil {
			return nil, fmt.Errorf("starting cell %q: %w", p.start, err)
		}
	}
	b.ods = newODS(p.sheet, b.left, b.row)
	if p.settings.Header {
		return b, b.writeTitles()
	}
	return b, nil
}
