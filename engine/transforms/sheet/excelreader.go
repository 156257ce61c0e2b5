package sheet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/batch"
	"sluice/engine/expr/javaregex"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms/filenames"
)

type wantedSheet struct {
	ExcelSheet
	name  string
	match *javaregex.Regexp
}

// excelReader reads workbooks into batches.
type excelReader struct {
	env      *transform.Env
	settings *ExcelInputSettings
	schema   *batch.Schema
	extras   *extras
	columns  []column
	wanted   []wantedSheet
	password project.Secret

	emit   transform.Emit
	out    *batch.Batch
	file   files.Info
	total  int64
	hasRow bool // previous holds the row before, of the same sheet
	before []batch.Value
}

// errLimit ends reading when there are enough rows, errSheet the sheet.
var (
	errLimit = errors.New("row limit reached")
	errSheet = errors.New("end of the sheet")
)

// column converts the cells of one column. from has a converter per kind.
type column struct {
	field  batch.Field
	trim   batch.Trim
	repeat bool
	from   [number + 1]*batch.Converter
}

var cellTypes = [...]batch.Type{boolean: batch.Boolean, date: batch.Date, label: batch.String, number: batch.Number}

func newColumn(sem *batch.Semantics, f *batch.Field, x *ExcelField) (column, error) {
	c := column{field: *f, trim: x.Trim, repeat: x.Repeat}
	for k := boolean; k <= number; k++ {
		source := batch.Field{Name: f.Name, Type: cellTypes[k], Length: -1, Precision: -1, Mask: x.Format, Decimal: x.Decimal, Grouping: x.Group, Currency: x.Currency}
		if f.Type != batch.String {
			source.Mask = "" // a format is for text only
		}
		var err error
		if c.from[k], err = sem.Converter(&source, f); err != nil {
			source.Mask = "" // a date format does not fit numbers, and the other way round
			c.from[k], err = sem.Converter(&source, f)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// value converts a cell. Dates are wall-clock times of the execution's zone.
func (c *column) value(x *cell, sem *batch.Semantics) (batch.Value, error) {
	var v batch.Value
	switch x.kind {
	case boolean:
		v = batch.BooleanValue(x.num != 0)
	case date:
		loc := sem.Location
		if loc == nil {
			loc = time.UTC
		}
		w := x.when
		v = batch.DateValue(time.Date(w.Year(), w.Month(), w.Day(), w.Hour(), w.Minute(), w.Second(), w.Nanosecond(), loc).UnixMilli())
	case label:
		text := x.text
		if c.trim != batch.TrimNone {
			text = string(c.trim.Apply([]byte(text)))
		}
		v = batch.StringValue(text)
	case number:
		if math.IsNaN(x.num) {
			return batch.Null(c.field.Type), nil
		}
		v = batch.NumberValue(x.num)
	default:
		return batch.Null(c.field.Type), nil
	}
	return c.from[x.kind].Value(v)
}

// strict says whether a cell may stand in the column when types are strict.
func (c *column) strict(k kind) bool {
	t := c.field.Type
	switch k {
	case boolean:
		return t == batch.String || t == batch.Boolean
	case date:
		return t == batch.String || t.IsDate()
	case label:
		return t != batch.Boolean && t != batch.Date && t != batch.Integer && t != batch.Number
	case number:
		return t == batch.String || t.IsNumeric()
	}
	return true
}

// read reads one file.
func (r *excelReader) read(ctx context.Context, f files.Info) error {
	if f.Folder {
		return fmt.Errorf("%s is a folder; add a file mask to read the files in it", f.Path)
	}
	in, err := r.env.Files.Open(ctx, f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	if r.settings.AddToResult {
		r.env.Results.AddFile(transform.ResultFile{
			Path: f.Path, Type: "GENERAL", Origin: r.env.Transform, Parent: r.env.Pipeline.Name,
			Comment: "File was read by a Microsoft Excel input transform", Timestamp: r.env.Now(),
		})
	}
	r.file = f
	book, err := openWorkbook(data, r.password)
	if err != nil {
		return &engine.Error{Transform: r.env.Transform, Message: f.Path, Err: err}
	}
	for _, s := range r.sheets(book) {
		if err := r.sheet(ctx, book, s); err != nil {
			return err
		}
	}
	return nil
}

// sheets lists what is to be read of a workbook, in the order of the settings.
func (r *excelReader) sheets(book workbook) []wantedSheet {
	all := book.sheets()
	if len(r.wanted) == 0 || (len(r.wanted) == 1 && r.wanted[0].name == "") {
		var list []wantedSheet
		for _, name := range all {
			w := wantedSheet{name: name}
			if len(r.wanted) == 1 {
				w.ExcelSheet = r.wanted[0].ExcelSheet
			}
			list = append(list, w)
		}
		return list
	}
	var list []wantedSheet
	for _, w := range r.wanted {
		for _, name := range all {
			if (w.match != nil && w.match.MatchWholeString(name)) || (w.match == nil && strings.EqualFold(name, w.name)) {
				found := w
				found.name = name
				list = append(list, found)
			}
		}
	}
	return list
}

func (r *excelReader) sheet(ctx context.Context, book workbook, s wantedSheet) error {
	r.hasRow = false
	next := s.StartRow
	if r.settings.Header {
		next++
	}
	err := book.rows(s.name, func(row int, cells []cell) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if row < next {
			return nil
		}
		for ; next < row; next++ {
			if err := r.row(s, next, nil); err != nil {
				return err
			}
		}
		next = row + 1
		return r.row(s, row, cells)
	})
	if errors.Is(err, errSheet) {
		return nil
	}
	return err
}

// row adds one row of a sheet.
func (r *excelReader) row(s wantedSheet, row int, cells []cell) error {
	isEmpty := true
	for i := range cells {
		isEmpty = isEmpty && cells[i].blank()
	}
	if isEmpty && r.settings.StopOnEmpty {
		return errSheet
	}
	if isEmpty && r.settings.SkipEmpty {
		return nil
	}
	values := make([]batch.Value, 0, len(r.columns))
	for k := range r.columns {
		c := &r.columns[k]
		v := batch.Null(c.field.Type)
		if at := s.StartColumn + k; at < len(cells) {
			var err error
			if v, err = r.cell(c, &cells[at]); err != nil {
				if err := r.bad(err, s.name, row, at); err != nil {
					return err
				}
				if r.settings.SkipErrorLines {
					return nil
				}
				v = batch.Null(c.field.Type)
			}
		}
		if c.repeat && r.hasRow && r.env.Semantics.IsNullValue(v) {
			v = r.before[k]
		}
		values = append(values, v)
	}
	r.before, r.hasRow = values, true
	return r.add(s.name, row, values)
}

func (r *excelReader) cell(c *column, x *cell) (batch.Value, error) {
	if r.settings.StrictTypes && !c.strict(x.kind) {
		return batch.Value{}, fmt.Errorf("the cell holds a %s, but the field is %s", cellTypes[x.kind], c.field.Type)
	}
	return c.value(x, r.env.Semantics)
}

// bad reports a cell that cannot be converted; nil when errors are ignored.
func (r *excelReader) bad(err error, sheet string, row, col int) error {
	place := fmt.Sprintf("%s, sheet %q, cell %s", r.file.Path, sheet, cellName(row, col))
	if r.settings.ErrorIgnored {
		r.env.Log.Warn("Cell ignored", "cell", place, "err", err)
		return nil
	}
	return &engine.Error{Transform: r.env.Transform, Field: r.columnName(col), Message: place, Err: err, Hint: "'ignore errors' makes such values null"}
}

func (r *excelReader) columnName(col int) string {
	if col < len(r.columns) {
		return r.columns[col].field.Name
	}
	return ""
}

// cellName gives a cell reference such as B7.
func cellName(row, col int) string {
	name := ""
	for col++; col > 0; col = (col - 1) / 26 {
		name = string(rune('A'+(col-1)%26)) + name
	}
	return fmt.Sprintf("%s%d", name, row+1)
}

func (r *excelReader) add(sheet string, row int, values []batch.Value) error {
	if r.out == nil {
		r.out = r.env.Alloc.Batch(r.schema)
	}
	r.total++
	e := r.extras
	if e.file {
		values = append(values, batch.StringValue(r.file.Path))
	}
	if e.sheet {
		values = append(values, batch.StringValue(sheet))
	}
	if e.sheetRow {
		values = append(values, batch.IntegerValue(int64(row+1)))
	}
	if e.row {
		values = append(values, batch.IntegerValue(r.total))
	}
	for _, f := range e.facts {
		values = append(values, f.Value(r.file))
	}
	for i, v := range values {
		r.out.Cols[i].AppendValue(v)
	}
	if r.settings.Limit > 0 && r.total >= r.settings.Limit {
		return errLimit
	}
	if r.out.Physical()%64 == 0 && r.out.Full() {
		return r.flush()
	}
	return nil
}

func (r *excelReader) flush() error {
	b := r.out
	if b == nil {
		return nil
	}
	r.out = nil
	r.env.Counters.Input.Add(int64(b.Physical()))
	return r.emit(transform.Main, b)
}

// discard gives up rows that were not emitted.
func (r *excelReader) discard() {
	if r.out != nil {
		r.out.Release()
		r.out = nil
	}
}

// files reads a list of files until there are enough rows.
func (r *excelReader) files(ctx context.Context, list []files.Info, emit transform.Emit) error {
	defer r.discard()
	r.emit = emit
	for _, f := range list {
		select {
		case <-r.env.Stopping:
			return r.flush()
		default:
		}
		err := r.read(ctx, f)
		if errors.Is(err, errLimit) {
			break
		}
		if err != nil {
			return err
		}
	}
	return r.flush()
}

// excelSource reads the files of the file table.
type excelSource struct {
	transform.Producer
	*excelReader
}

// Produce implements transform.Source.
func (s *excelSource) Produce(ctx context.Context, emit transform.Emit) error {
	list, err := filenames.Find(ctx, s.env.Files, s.env, s.settings.Files)
	if err != nil {
		return &engine.Error{Transform: s.env.Transform, Err: err}
	}
	return s.files(ctx, list, emit)
}

// excelRows reads the files that the rows of the input name. The rows themselves
// do not go on.
type excelRows struct {
	transform.Stateful
	*excelReader
	index int
	codec *batch.Codec
}

// Apply implements transform.RowWise.
func (x *excelRows) Apply(ctx context.Context, b *batch.Batch, emit transform.Emit) error {
	var list []files.Info
	for i := range b.All() {
		if x.settings.Limit > 0 && x.total >= x.settings.Limit {
			return nil
		}
		path, err := x.env.Resolve(string(x.codec.AppendText(nil, b.Cols[x.index], i)))
		if err != nil {
			return err
		}
		info, err := x.env.Files.Stat(ctx, path)
		if err != nil {
			return x.env.Rejects(b).Add(i, transform.RowError{Fields: x.settings.AcceptField, Value: path, Err: err})
		}
		list = append(list, info)
	}
	return x.files(ctx, list, emit)
}
