package formula

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"sluice/engine/batch"
)

// Options are what a formula depends on besides its row.
type Options struct {
	Location *time.Location   // of dates; nil is UTC
	Now      func() time.Time // for TODAY and NOW
	Random   func() float64   // 0 to 1, for RAND
	// NAForNull gives #N/A for nulls instead of blank cells.
	NAForNull bool
	// Alias maps field names that stand for other fields.
	Alias map[string]string
}

// Formula is a compiled formula. It is safe for many goroutines as long as
// Options.Random is.
type Formula struct {
	source string
	root   eval
	fields []string
	o      Options
}

// Compile binds a formula to the fields of a schema. The error is a *SyntaxError
// that names the place, also for fields that are missing.
func Compile(source string, schema *batch.Schema, o Options) (*Formula, error) {
	if o.Location == nil {
		o.Location = time.UTC
	}
	p := &parser{src: source}
	p.field = func(name string) (int, error) {
		if a, ok := o.Alias[name]; ok {
			name = a
		}
		i := schema.Index(name)
		if i < 0 {
			return i, fmt.Errorf("field %q not found; there are %s", name, strings.Join(schema.Names(), ", "))
		}
		return i, nil
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	return &Formula{source: source, root: root, fields: p.fields, o: o}, nil
}

// UsesRandom says whether two evaluations of the same row may differ by chance.
func (f *Formula) UsesRandom() bool {
	return strings.Contains(strings.ToUpper(f.source), "RAND")
}

// Fields lists the names that the formula refers to.
func (f *Formula) Fields() []string { return f.fields }

// Row is where a formula is evaluated: typed columns and the row in them. It
// belongs to one goroutine.
type Row struct {
	Columns []*batch.Column
	Index   int
	f       *Formula
}

// Eval computes the formula for a row of typed columns. A formula that gives a
// blank cell gives a Blank, which stands for null.
func (f *Formula) Eval(cols []*batch.Column, row int) Value {
	return f.root(&Row{Columns: cols, Index: row, f: f})
}

// field gives a field as a cell's value.
func (r *Row) field(i int) Value {
	c := r.Columns[i]
	if c.IsNull(r.Index) {
		if r.f.o.NAForNull {
			return errNA
		}
		return Value{cell: true}
	}
	v := Value{cell: true}
	switch c.Type {
	case batch.Number:
		v.Kind, v.Num = Number, c.Floats[r.Index]
	case batch.Integer:
		v.Kind, v.Num = Number, float64(c.Ints[r.Index])
	case batch.BigNumber:
		v.Kind, v.Num = Number, c.Decimal(r.Index).Float64()
	case batch.Boolean:
		v = boolean(c.Bool(r.Index))
		v.cell = true
	case batch.Date, batch.Timestamp:
		serial, ok := Serial(time.UnixMilli(c.Value(r.Index).Millis()).In(r.f.o.Location))
		if !ok {
			return errValue
		}
		v.Kind, v.Num = Number, serial
	default:
		v.Kind, v.Text = Text, c.Str(r.Index)
	}
	if v.Kind == Number && (math.IsNaN(v.Num) || math.IsInf(v.Num, 0)) {
		return errNum
	}
	return v
}

func (r *Row) now() time.Time {
	if r.f.o.Now == nil {
		return time.Unix(0, 0).In(r.f.o.Location)
	}
	return r.f.o.Now().In(r.f.o.Location)
}

// AsText gives the text that a value is shown with; a Failure gives its name.
func (v Value) AsText() string {
	if v.Kind == Failure {
		return v.Text
	}
	s, _ := v.asText()
	return s
}

// Names lists the functions of the language, sorted, for completion.
func Names() []string {
	list := make([]string, 0, len(functions()))
	for n := range functions() {
		list = append(list, n)
	}
	sort.Strings(list)
	return list
}
