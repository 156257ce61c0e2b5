package sheet

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"sluice/engine/batch"
)

// formula is a value that is computed by Excel.
type formula string

// value gives what a cell gets: nil, bool, float64, string or formula. Dates are
// serial numbers of their wall-clock time.
func (b *book) value(c *outColumn, in *batch.Batch, i int) (any, error) {
	col := in.Cols[c.index]
	if col.IsNull(i) {
		return nil, nil
	}
	if c.Formula {
		return formula(strings.TrimPrefix(string(b.codecs[c.index].AppendText(nil, col, i)), "=")), nil
	}
	switch col.Type {
	case batch.Boolean:
		return col.Bool(i), nil
	case batch.Integer:
		return float64(col.Int(i)), nil
	case batch.Number:
		if f := col.Float(i); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v cannot stand in a cell", f)
		}
		return col.Float(i), nil
	case batch.BigNumber:
		return col.Decimal(i).Float64(), nil
	case batch.Date:
		return dateSerial(col.Int(i), b.env.Semantics.Location)
	}
	text := string(b.codecs[c.index].AppendText(nil, col, i))
	if n := utf8.RuneCountInString(text); n > maxCellText {
		return nil, fmt.Errorf("the text has %d characters; a cell holds %d", n, maxCellText)
	}
	return text, nil
}

// dateSerial gives the day number of a moment as a zone's clock shows it.
func dateSerial(ms int64, loc *time.Location) (any, error) {
	if loc == nil {
		loc = time.UTC
	}
	t := time.UnixMilli(ms).In(loc)
	wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	base := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	serial := float64(wall.UnixMilli()-base.UnixMilli()) / dayMillis
	if serial < leapBugSerial {
		serial--
	}
	if serial < 0 {
		return nil, fmt.Errorf("%s is before 1900, which Excel dates cannot show", t.Format(time.DateOnly))
	}
	return serial, nil
}

func (b *book) isNew(name string) (bool, error) {
	t, err := b.file.GetCellType(b.sheet, name)
	if err != nil || t != excelize.CellTypeUnset {
		return false, err
	}
	style, err := b.file.GetCellStyle(b.sheet, name)
	return style == 0, err
}

func (b *book) writeCell(c *outColumn, k int, v any, in *batch.Batch, i int) error {
	name, err := excelize.CoordinatesToCellName(b.left+k, b.row)
	if err != nil {
		return err
	}
	isNew, err := b.isNew(name)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
	case formula:
		err = b.file.SetCellFormula(b.sheet, name, string(v))
	case string:
		err = b.file.SetCellStr(b.sheet, name, v)
	case float64:
		err = b.file.SetCellFloat(b.sheet, name, v, -1, 64)
	case bool:
		err = b.file.SetCellBool(b.sheet, name, v)
	}
	if err != nil {
		return err
	}
	b.fit(k, fmt.Sprint(v))
	if isNew || !b.settings.KeepStyles {
		if err := b.style(c, k, name); err != nil {
			return err
		}
	}
	return b.attach(c, k, name, isNew, in, i)
}

// style gives a cell the style of its column.
func (b *book) style(c *outColumn, k int, name string) error {
	if b.styles[k] < 0 {
		base, err := b.file.GetCellStyle(b.sheet, name)
		if err == nil && c.Style != "" {
			base, err = b.styleAt(c.Style)
		}
		if err == nil {
			b.styles[k], err = b.columnStyle(c, base)
		}
		if err != nil {
			return err
		}
	}
	return b.file.SetCellStyle(b.sheet, name, name, b.styles[k])
}

// styleAt gives the style of a cell that a setting names, such as C2 or Sheet!C2.
func (b *book) styleAt(ref string) (int, error) {
	sheet, name := b.sheet, ref
	if at := strings.LastIndexByte(ref, '!'); at >= 0 {
		sheet, name = strings.Trim(ref[:at], "'"), ref[at+1:]
	}
	style, err := b.file.GetCellStyle(sheet, strings.ReplaceAll(name, "$", ""))
	if err != nil {
		return 0, fmt.Errorf("style cell %q: %w", ref, err)
	}
	return style, nil
}

// columnStyle gives the style of a column: base with the number format.
func (b *book) columnStyle(c *outColumn, base int) (int, error) {
	format := c.Format
	if strings.HasPrefix(format, "Image") {
		return base, nil
	}
	field := &b.in.Fields[c.index]
	if format == "" && field.Type == batch.Date {
		format = excelDate(field.Mask)
	}
	if format == "" {
		return base, nil
	}
	style, err := b.file.GetStyle(base)
	if err != nil {
		return 0, err
	}
	style.CustomNumFmt, style.NumFmt = &format, 0
	return b.file.NewStyle(style)
}

const javaDateMask = "yyyy/MM/dd HH:mm:ss.SSS"

// excelDate gives the number format that shows what a Java date mask shows.
func excelDate(mask string) string {
	if mask == "" {
		mask = javaDateMask
	}
	return strings.NewReplacer("SSS", "000", "'", `"`, "a", "AM/PM", "E", "ddd", "u", "", "Z", "", "X", "", "z", "").Replace(mask)
}

// attach adds link and comment.
func (b *book) attach(c *outColumn, k int, name string, isNew bool, in *batch.Batch, i int) error {
	text := func(at int) string {
		if at < 0 {
			return ""
		}
		return string(b.codecs[at].AppendText(nil, in.Cols[at], i))
	}
	if link := text(c.link); link != "" {
		kind := "External"
		if strings.HasPrefix(link, "'") || strings.HasPrefix(link, "#") {
			kind = "Location"
		}
		if err := b.file.SetCellHyperLink(b.sheet, name, strings.TrimPrefix(link, "#"), kind); err != nil {
			return err
		}
		if isNew || !b.settings.KeepStyles {
			if err := b.linkStyle(k, name); err != nil {
				return err
			}
		}
	}
	if comment := text(c.comment); comment != "" {
		author := text(c.author)
		if author == "" {
			author = "Sluice"
		}
		return b.file.AddComment(b.sheet, excelize.Comment{Cell: name, Author: author, Paragraph: []excelize.RichTextRun{{Text: comment}}})
	}
	return nil
}

// linkStyle makes a cell blue and underlined and keeps the rest of its style.
func (b *book) linkStyle(k int, name string) error {
	if b.links[k] < 0 {
		base, err := b.file.GetCellStyle(b.sheet, name)
		if err != nil {
			return err
		}
		style, err := b.file.GetStyle(base)
		if err != nil {
			return err
		}
		if style.Font == nil {
			style.Font = &excelize.Font{}
		}
		style.Font.Color, style.Font.Underline = "0000FF", "single"
		if b.links[k], err = b.file.NewStyle(style); err != nil {
			return err
		}
	}
	return b.file.SetCellStyle(b.sheet, name, name, b.links[k])
}

const (
	minWidth     = 8.43 // Excel's default
	maxWidth     = 255
	widthPadding = 1.5
)

// fit remembers the widest text of a column.
func (b *book) fit(k int, text string) {
	if b.settings.File.AutoSize {
		b.widths[k] = max(b.widths[k], float64(utf8.RuneCountInString(text))+widthPadding)
	}
}
