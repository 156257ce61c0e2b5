package sheet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/xuri/excelize/v2"

	"sluice/engine/batch"
	"sluice/engine/files"
)

// book is a workbook that is being written, at a place of one sheet.
type book struct {
	*excelWriter
	path   string
	file   *excelize.File
	ods    *odsSheet              // an .ods workbook instead of file
	stream *excelize.StreamWriter // nil when cells are set one by one
	left   int                    // first column, from 1
	row    int                    // next row, from 1
	rows   int64                  // written so far, without header
	styles []int                  // per column, -1 before the first row
	links  []int
	widths []float64
}

// maxCellText is the number of characters a cell holds at most.
const maxCellText = 32767

// openBook opens or makes a workbook and finds the place to write to.
func (p *excelWriter) openBook(ctx context.Context, file string) (*book, error) {
	b := &book{excelWriter: p, path: file, widths: make([]float64, len(p.columns))}
	for range p.columns {
		b.styles, b.links = append(b.styles, -1), append(b.links, -1)
	}
	if strings.EqualFold(p.settings.File.Extension, odsExtension) {
		return p.openODS(b)
	}
	there := false
	if p.settings.File.IfFileExists == Reuse {
		var err error
		if there, err = files.Exists(ctx, p.env.Files, file); err != nil {
			return nil, err
		}
	}
	if err := b.load(ctx, there); err != nil {
		return nil, err
	}
	appending, err := b.makeSheet(there)
	if err != nil {
		return nil, errors.Join(err, b.file.Close())
	}
	if err := b.place(appending); err != nil {
		return nil, errors.Join(err, b.file.Close())
	}
	return b, nil
}

// load reads the workbook, its template, or makes an empty one.
func (b *book) load(ctx context.Context, there bool) error {
	source := b.path
	switch {
	case there:
	case b.settings.Template.Enabled:
		source = b.template
	default:
		b.file = excelize.NewFile()
		return b.file.SetSheetName(b.file.GetSheetName(0), b.sheet)
	}
	data, err := files.ReadAll(ctx, b.env.Files, source)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("template %s does not exist", source)
	}
	if err != nil {
		return err
	}
	b.file, err = excelize.OpenReader(strings.NewReader(string(data)))
	return err
}

// makeSheet makes sure that the sheet is there; true when it is one that was
// there before, in a file that was there before.
func (b *book) makeSheet(there bool) (appending bool, err error) {
	f := b.file
	at, err := f.GetSheetIndex(b.sheet)
	if err != nil {
		return false, err
	}
	active := f.GetActiveSheetIndex()
	fresh := !there && !b.settings.Template.Enabled
	switch {
	case at >= 0 && (fresh || b.settings.File.IfSheetExists == Reuse):
		appending = there
	default:
		if err := b.replaceSheet(at); err != nil {
			return false, err
		}
	}
	if at, err = f.GetSheetIndex(b.sheet); err != nil {
		return false, err
	}
	if b.settings.MakeActive {
		active = at
	}
	f.SetActiveSheet(active)
	if b.settings.File.Protect {
		err = f.ProtectSheet(b.sheet, &excelize.SheetProtectionOptions{Password: b.password.Reveal(), SelectLockedCells: true, SelectUnlockedCells: true})
	}
	return appending, err
}

// replaceSheet makes the sheet new, at the place of the one it replaces.
func (b *book) replaceSheet(at int) error {
	f := b.file
	old := ""
	if at >= 0 {
		old = b.freeName()
		if err := f.SetSheetName(b.sheet, old); err != nil {
			return err
		}
	}
	if err := b.addSheet(old); err != nil || old == "" {
		return err
	}
	if err := f.MoveSheet(b.sheet, old); err != nil {
		return err
	}
	return f.DeleteSheet(old)
}

func (b *book) freeName() string {
	for n := 0; ; n++ {
		name := fmt.Sprintf("replaced %d", n)
		if i, err := b.file.GetSheetIndex(name); err == nil && i < 0 {
			return name
		}
	}
}

// addSheet adds an empty sheet or a copy of the template sheet.
func (b *book) addSheet(replaced string) error {
	f := b.file
	to, err := f.NewSheet(b.sheet)
	if err != nil || !b.settings.Template.SheetEnabled {
		return err
	}
	template := b.templateSheet
	if strings.EqualFold(template, b.sheet) && replaced != "" {
		template = replaced
	}
	from, err := f.GetSheetIndex(template)
	if err != nil {
		return err
	}
	if from < 0 {
		return fmt.Errorf("the template sheet %q is not in the workbook", b.templateSheet)
	}
	if err := f.CopySheet(from, to); err != nil {
		return err
	}
	if err := f.SetSheetVisible(b.sheet, true); err != nil || !b.settings.Template.Hidden || template == replaced {
		return err
	}
	f.SetActiveSheet(to) // the active sheet cannot be hidden
	return f.SetSheetVisible(template, false)
}

// place finds the first cell to write and writes the header.
func (b *book) place(appending bool) error {
	b.left, b.row = 1, 1
	var err error
	if b.start != "" {
		if b.left, b.row, err = excelize.CellNameToCoordinates(strings.ReplaceAll(b.start, "$", "")); err != nil {
			return fmt.Errorf("starting cell %q: %w", b.start, err)
		}
	}
	s := b.settings
	appending = appending && s.File.IfSheetExists == Reuse
	last := 0
	if appending || s.Template.Enabled || s.Template.SheetEnabled {
		if last, err = b.lastRow(); err != nil {
			return err
		}
	} else if b.canStream() {
		if b.stream, err = b.file.NewStreamWriter(b.sheet); err != nil {
			return err
		}
	}
	if appending && s.AppendLines {
		b.row = last + 1
	}
	if appending {
		b.row += s.AppendOffset
		for range s.AppendEmpty {
			if err := b.openRow(); err != nil {
				return err
			}
			if s.RowWriting != Push || s.AppendLines {
				b.row++
			}
		}
	}
	if b.row < 1 {
		return fmt.Errorf("the offset %d leads above the first row", s.AppendOffset)
	}
	if b.start == "" {
		b.row = max(b.row, last)
	}
	if s.Header && (!appending || !s.OmitHeader) {
		return b.writeTitles()
	}
	return nil
}

func (b *book) lastRow() (int, error) {
	rows, err := b.file.Rows(b.sheet)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	return n, rows.Error()
}

// canStream says whether a new sheet can be written piece by piece.
func (b *book) canStream() bool {
	if b.settings.RowWriting == Push || b.settings.File.AutoSize || b.settings.File.Protect {
		return false
	}
	for i := range b.columns {
		c := &b.columns[i]
		if c.comment >= 0 || c.link >= 0 || c.Style != "" || c.TitleStyle != "" {
			return false
		}
	}
	return true
}

// openRow shifts what is at the row and below it down, if rows are pushed in.
func (b *book) openRow() error {
	if b.settings.RowWriting != Push {
		return nil
	}
	return b.file.InsertRows(b.sheet, b.row, 1)
}

func (b *book) writeTitles() error {
	if err := b.openRow(); err != nil {
		return err
	}
	if b.stream != nil || b.ods != nil {
		titles := make([]any, len(b.columns))
		for k := range b.columns {
			titles[k] = b.columns[k].Title
		}
		return b.streamRow(titles)
	}
	for k := range b.columns {
		c := &b.columns[k]
		name, err := excelize.CoordinatesToCellName(b.left+k, b.row)
		if err != nil {
			return err
		}
		isNew, err := b.isNew(name)
		if err != nil {
			return err
		}
		if err := b.file.SetCellStr(b.sheet, name, c.Title); err != nil {
			return err
		}
		b.fit(k, c.Title)
		if c.TitleStyle == "" || (b.settings.KeepStyles && !isNew) {
			continue
		}
		style, err := b.styleAt(c.TitleStyle)
		if err == nil {
			err = b.file.SetCellStyle(b.sheet, name, name, style)
		}
		if err != nil {
			return err
		}
	}
	b.row++
	return nil
}

func (b *book) streamRow(values []any) error {
	if b.ods != nil {
		b.ods.row(values)
		return nil
	}
	name, err := excelize.CoordinatesToCellName(b.left, b.row)
	if err != nil {
		return err
	}
	b.row++
	return b.stream.SetRow(name, values)
}

// writeRow writes row i of a batch.
func (b *book) writeRow(in *batch.Batch, i int) error {
	b.rows++
	if err := b.openRow(); err != nil {
		return err
	}
	values := make([]any, len(b.columns))
	for k := range b.columns {
		c := &b.columns[k]
		v, err := b.value(c, in, i)
		if err != nil {
			return fmt.Errorf("field %q: %w", c.Name, err)
		}
		if b.ods != nil {
			if serial, ok := v.(float64); ok && in.Cols[c.index].Type == batch.Date {
				v = moment(serial)
			}
			values[k] = v
			continue
		}
		if b.stream == nil {
			if err := b.writeCell(c, k, v, in, i); err != nil {
				return fmt.Errorf("field %q: %w", c.Name, err)
			}
			continue
		}
		if b.styles[k] < 0 {
			if b.styles[k], err = b.columnStyle(c, 0); err != nil {
				return fmt.Errorf("field %q: %w", c.Name, err)
			}
		}
		cell := excelize.Cell{StyleID: b.styles[k], Value: v}
		if f, ok := v.(formula); ok {
			cell.Value, cell.Formula = nil, string(f)
		}
		values[k] = cell
	}
	if b.stream != nil || b.ods != nil {
		return b.streamRow(values)
	}
	b.row++
	return nil
}

// save writes the workbook.
func (b *book) save(ctx context.Context) error {
	if b.file != nil {
		defer b.file.Close()
	}
	if b.settings.Footer {
		if err := b.writeTitles(); err != nil {
			return err
		}
	}
	if b.ods != nil {
		return b.store(ctx, b.ods.writeTo)
	}
	if b.stream != nil {
		if err := b.stream.Flush(); err != nil {
			return err
		}
	}
	for k, w := range b.widths {
		if w == 0 {
			continue
		}
		name, err := excelize.ColumnNumberToName(b.left + k)
		if err == nil {
			err = b.file.SetColWidth(b.sheet, name, name, min(max(w, minWidth), maxWidth))
		}
		if err != nil {
			return err
		}
	}
	if b.settings.Recalculate {
		yes := true
		if err := b.file.SetCalcProps(&excelize.CalcPropsOptions{FullCalcOnLoad: &yes}); err != nil {
			return err
		}
	}
	return b.store(ctx, func(w io.Writer) error {
		_, err := b.file.WriteTo(w)
		return err
	})
}

// store writes the file in one go.
func (b *book) store(ctx context.Context, write func(io.Writer) error) error {
	w, err := b.env.Files.Create(ctx, b.path, files.CreateOptions{Parents: b.settings.File.CreateParent})
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(w, 64<<10)
	if err := errors.Join(write(buffer), buffer.Flush()); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}
