package relation

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine/batch"
	"sluice/engine/transform"
)

// AggregateCode is what is computed of the values of a group (reference 9.4).
type AggregateCode string

// The aggregates.
const (
	Sum                   AggregateCode = "SUM"
	Average               AggregateCode = "AVERAGE"
	Median                AggregateCode = "MEDIAN"
	Percentile            AggregateCode = "PERCENTILE"
	Minimum               AggregateCode = "MIN"
	Maximum               AggregateCode = "MAX"
	CountAll              AggregateCode = "COUNT_ALL"
	ConcatComma           AggregateCode = "CONCAT_COMMA"
	First                 AggregateCode = "FIRST"
	Last                  AggregateCode = "LAST"
	FirstInclNull         AggregateCode = "FIRST_INCL_NULL"
	LastInclNull          AggregateCode = "LAST_INCL_NULL"
	CumulativeSum         AggregateCode = "CUM_SUM"
	CumulativeAverage     AggregateCode = "CUM_AVG"
	StandardDeviation     AggregateCode = "STD_DEV"
	ConcatString          AggregateCode = "CONCAT_STRING"
	CountDistinct         AggregateCode = "COUNT_DISTINCT"
	CountAny              AggregateCode = "COUNT_ANY"
	StandardDevSample     AggregateCode = "STD_DEV_SAMPLE"
	PercentileNearestRank AggregateCode = "PERCENTILE_NEAREST_RANK"
	ConcatStringCRLF      AggregateCode = "CONCAT_STRING_CRLF"
	ConcatDistinct        AggregateCode = "CONCAT_DISTINCT"
	MovingAverage         AggregateCode = "MOVING_AVG"
)

// Choices lists the codes for forms.
func (AggregateCode) Choices() []transform.Choice {
	return []transform.Choice{
		{Code: string(Sum), Label: "Sum"},
		{Code: string(Average), Label: "Average", Help: "Of integers: an integer, truncated"},
		{Code: string(Median), Label: "Median"},
		{Code: string(Percentile), Label: "Percentile", Help: "The value is the percentage; interpolates"},
		{Code: string(PercentileNearestRank), Label: "Percentile (nearest rank)", Help: "The value is the percentage"},
		{Code: string(Minimum), Label: "Minimum"},
		{Code: string(Maximum), Label: "Maximum"},
		{Code: string(CountAll), Label: "Number of values", Help: "Nulls are not counted"},
		{Code: string(CountAny), Label: "Number of rows"},
		{Code: string(CountDistinct), Label: "Number of distinct values"},
		{Code: string(ConcatComma), Label: "Values joined by a comma"},
		{Code: string(ConcatString), Label: "Values joined by a text", Help: "The value is the text between them"},
		{Code: string(ConcatStringCRLF), Label: "Values joined by a line end"},
		{Code: string(ConcatDistinct), Label: "Distinct values joined by a text", Help: "The value is the text between them"},
		{Code: string(First), Label: "First value that is not null"},
		{Code: string(Last), Label: "Last value that is not null"},
		{Code: string(FirstInclNull), Label: "First value"},
		{Code: string(LastInclNull), Label: "Last value"},
		{Code: string(CumulativeSum), Label: "Running sum", Help: "With all rows only"},
		{Code: string(CumulativeAverage), Label: "Running average", Help: "With all rows only"},
		{Code: string(MovingAverage), Label: "Moving average", Help: "With all rows only; the value is the number of rows"},
		{Code: string(StandardDeviation), Label: "Standard deviation", Help: "Of a population"},
		{Code: string(StandardDevSample), Label: "Standard deviation (sample)"},
	}
}

// isCount says whether the result counts something.
func (c AggregateCode) isCount() bool { return c == CountAll || c == CountAny || c == CountDistinct }

// isRunning says whether the result differs from row to row of a group.
func (c AggregateCode) isRunning() bool {
	return c == CumulativeSum || c == CumulativeAverage || c == MovingAverage
}

// aggregate is one computed field.
type aggregate struct {
	name    string
	subject string
	code    AggregateCode
	value   string // resolved
}

// dialect is where Group by and Memory group by differ.
type dialect struct {
	// memory: an empty text is null for FIRST, LAST and MIN, COUNT_DISTINCT of
	// nothing is 0, a null has no standard deviation, results keep the mask of
	// their subject.
	memory bool
}

// resultField gives the field of an aggregate.
func (d dialect) resultField(in *batch.Schema, a aggregate, origin string) (batch.Field, error) {
	if a.code == "" {
		return batch.Field{}, fmt.Errorf("aggregate %q: choose what is to be computed", a.name)
	}
	if a.code == CountAny {
		return fieldOf(a.name, batch.Integer, origin), nil
	}
	i, err := fieldIndex(in, a.subject)
	if err != nil {
		return batch.Field{}, fmt.Errorf("aggregate %q: %w", a.name, err)
	}
	subject := in.Fields[i]
	var f batch.Field
	switch a.code {
	case CountAll, CountDistinct:
		return fieldOf(a.name, batch.Integer, origin), nil
	case Sum, Average, CumulativeSum, CumulativeAverage:
		t := batch.Number
		if subject.Type.IsNumeric() && (a.code != CumulativeAverage || subject.Type != batch.Integer) {
			t = subject.Type
		}
		f = fieldOf(a.name, t, origin)
		if d.memory && t == subject.Type {
			f.Mask = subject.Mask
		}
	case Median, Percentile, PercentileNearestRank, StandardDeviation, StandardDevSample, MovingAverage:
		f = fieldOf(a.name, batch.Number, origin)
	case ConcatComma, ConcatString, ConcatStringCRLF, ConcatDistinct:
		f = fieldOf(a.name, batch.String, origin)
	default:
		f = subject
		f.Name, f.Origin = a.name, origin
		return f, nil
	}
	f.Length, f.Precision = subject.Length, subject.Precision
	return f, nil
}

func fieldOf(name string, t batch.Type, origin string) batch.Field {
	f := batch.NewField(name, t)
	f.Origin = origin
	return f
}

// accumulator folds the values of a field into groups, which have numbers from 0.
type accumulator interface {
	// grow makes room for n groups.
	grow(n int)
	// fold adds the selected rows of b in order; groups has the group of each of
	// them, negative for rows that do not count. c is the argument, a column with
	// the rows of b; it is nil for COUNT_ANY.
	fold(groups []int32, b *batch.Batch, c *batch.Column) error
	// result gives a column (one hold) of the groups from (included) to end.
	result(a *batch.Allocator, from, end int) *batch.Column
	// keep forgets all groups but g, which becomes group 0; -1 forgets all.
	keep(g int)
	// bytes is the memory in use.
	bytes() int64
}

// argument prepares the column that an accumulator folds.
type argument struct {
	index   int // of the subject; -1 when there is none
	codec   *batch.Codec
	convert *batch.Converter // to what is computed with; nil when the values are used as they are
}

// column gives the argument of b (one hold); nil when there is none.
func (a *argument) column(b *batch.Batch) (*batch.Column, error) {
	if a.index < 0 {
		return nil, nil
	}
	c, err := b.Col(a.index, a.codec)
	if err != nil {
		return nil, err
	}
	if a.convert == nil {
		return c.Retain(), nil
	}
	return a.convert.Column(b, c, func(row int, err error) error { return &batch.RowError{Row: row, Err: err} })
}

// aggregation computes several aggregates over groups.
type aggregation struct {
	specs []aggregate
	args  []argument
	accs  []accumulator
	zero  bool // nulls are zero
}

// newAggregation compiles aggregates over rows of a schema.
func (d dialect) newAggregation(sem *batch.Semantics, in *batch.Schema, specs []aggregate) (*aggregation, error) {
	g := &aggregation{specs: specs, zero: sem.AllNullsAreZero}
	for _, s := range specs {
		arg, acc, err := d.newAccumulator(sem, in, s)
		if err != nil {
			return nil, fmt.Errorf("aggregate %q: %w", s.name, err)
		}
		g.args = append(g.args, arg)
		g.accs = append(g.accs, acc)
	}
	return g, nil
}

func (d dialect) newAccumulator(sem *batch.Semantics, in *batch.Schema, s aggregate) (argument, accumulator, error) {
	if s.code == CountAny {
		return argument{index: -1}, &counts{rows: true}, nil
	}
	arg := argument{index: in.Index(s.subject)}
	if arg.index < 0 {
		_, err := fieldIndex(in, s.subject)
		return arg, nil, err
	}
	subject := &in.Fields[arg.index]
	var err error
	if arg.codec, err = sem.Codec(subject); err != nil {
		return arg, nil, err
	}
	toNumber := func() (err error) {
		if subject.Type != batch.Number {
			arg.convert, err = sem.Converter(subject, number(s.name))
		}
		return err
	}
	switch s.code {
	case Sum, Average:
		return d.sumOf(sem, subject, s, arg)
	case CountAll:
		return arg, &counts{sem: sem}, nil
	case CountDistinct:
		return arg, newDistinct(sem, arg.index, subject, !d.memory), nil
	case Minimum, Maximum, First, Last, FirstInclNull, LastInclNull:
		return arg, &picks{code: s.code, sem: sem, strict: !d.memory, cells: cells{typ: subject.Type}}, nil
	case ConcatComma:
		return arg, &concats{codec: arg.codec, separator: ", "}, nil
	case ConcatString:
		return arg, &concats{codec: arg.codec, separator: s.value}, nil
	case ConcatStringCRLF:
		return arg, &concats{codec: arg.codec, separator: lineEnd}, nil
	case ConcatDistinct:
		return arg, &concats{codec: arg.codec, separator: s.value, distinct: true}, nil
	case Median:
		err := toNumber()
		return arg, &percentiles{p: 50}, err
	case Percentile, PercentileNearestRank:
		p, perr := strconv.ParseFloat(strings.TrimSpace(s.value), 64)
		if perr != nil || p <= 0 || p > 100 {
			return arg, nil, fmt.Errorf("the percentage %q must be a number above 0 and up to 100", s.value)
		}
		err := toNumber()
		return arg, &percentiles{p: p, nearest: s.code == PercentileNearestRank}, err
	case StandardDeviation, StandardDevSample:
		err := toNumber()
		return arg, &deviations{sample: s.code == StandardDevSample, refuseNull: d.memory, field: s.subject}, err
	case CumulativeSum, CumulativeAverage, MovingAverage:
		f, err := d.resultField(in, s, "")
		return arg, &nulls{typ: f.Type}, err
	}
	return arg, nil, fmt.Errorf("%q is not an aggregate", s.code)
}

// number is the field that other types are converted to for sums.
func number(name string) *batch.Field {
	f := batch.NewField(name, batch.Number)
	return &f
}

func (d dialect) sumOf(sem *batch.Semantics, subject *batch.Field, s aggregate, arg argument) (argument, accumulator, error) {
	average := s.code == Average
	switch subject.Type {
	case batch.Integer:
		return arg, &sums[int64]{average: average, values: func(c *batch.Column) []int64 { return c.Ints }, put: (*batch.Column).AppendInt, typ: batch.Integer}, nil
	case batch.BigNumber:
		return arg, &decimalSums{average: average}, nil
	}
	var err error
	if subject.Type != batch.Number {
		arg.convert, err = sem.Converter(subject, number(s.name))
	}
	return arg, &sums[float64]{average: average, values: func(c *batch.Column) []float64 { return c.Floats }, put: (*batch.Column).AppendFloat, typ: batch.Number}, err
}

// columns gives the arguments of a batch, one hold each; nil where there is none.
// subject names the field at fault.
func (g *aggregation) columns(b *batch.Batch) (cols []*batch.Column, subject string, err error) {
	cols = make([]*batch.Column, len(g.args))
	for i := range g.args {
		if cols[i], err = g.args[i].column(b); err != nil {
			releaseColumns(cols[:i])
			return nil, g.specs[i].subject, err
		}
	}
	return cols, "", nil
}

func releaseColumns(cols []*batch.Column) {
	for _, c := range cols {
		if c != nil {
			c.Release()
		}
	}
}

func (g *aggregation) grow(n int) {
	for _, a := range g.accs {
		a.grow(n)
	}
}

func (g *aggregation) fold(groups []int32, b *batch.Batch, cols []*batch.Column) (subject string, err error) {
	for i, a := range g.accs {
		if err := a.fold(groups, b, cols[i]); err != nil {
			return g.specs[i].subject, err
		}
	}
	return "", nil
}

// results gives the columns (one hold each) of some groups.
func (g *aggregation) results(a *batch.Allocator, from, end int) []*batch.Column {
	cols := make([]*batch.Column, len(g.accs))
	for i, acc := range g.accs {
		cols[i] = acc.result(a, from, end)
		if g.zero {
			cols[i] = nullsToZero(a, cols[i])
		}
	}
	return cols
}

func (g *aggregation) keep(n int) {
	for _, a := range g.accs {
		a.keep(n)
	}
}

func (g *aggregation) bytes() int64 {
	var n int64
	for _, a := range g.accs {
		n += a.bytes()
	}
	return n
}

// nullsToZero is HOP_AGGREGATION_ALL_NULLS_ARE_ZERO; it takes over one hold of c.
func nullsToZero(a *batch.Allocator, c *batch.Column) *batch.Column {
	if c.Nulls() == 0 {
		return c
	}
	zero := batch.Value{Type: c.Type, Valid: true}
	switch c.Type {
	case batch.Integer, batch.Number, batch.BigNumber, batch.String:
	default:
		return c
	}
	out := a.Column(c.Type)
	for i := range c.Len() {
		if c.IsNull(i) {
			out.AppendValue(zero)
			continue
		}
		out.AppendFrom(c, i)
	}
	c.Release()
	return out
}
