package expr_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/expr"
	"sluice/engine/expr/javaregex"
	"sluice/engine/hopxml"
)

// judge evaluates a condition for one row, straight from the words of the format
// page (7.1, 3.4, 3.6): no kernels, no selections, no sharing with the package.
type judge struct {
	schema *batch.Schema
	sem    *batch.Semantics
	row    []batch.Value
}

// errUnknown says that the page does not tell what the answer is.
var errUnknown = errors.New("the page does not say")

func (j *judge) condition(c *expr.Condition) (bool, error) {
	if len(c.Children) == 0 {
		return j.atom(c)
	}
	result := false
	for i, k := range c.Children {
		if skip(i, k.Operator, result) {
			continue
		}
		v, err := j.condition(k)
		if err != nil {
			return false, err
		}
		result = joined(i, k.Operator, result, v)
	}
	return result != c.Negated, nil
}

// skip says whether the answer so far is not changed by one more child.
func skip(i int, op expr.Operator, sofar bool) bool {
	switch {
	case i == 0:
		return false
	case op == expr.OpAnd || op == expr.OpAndNot:
		return !sofar
	case op == expr.OpOr || op == expr.OpOrNot:
		return sofar
	}
	return op != expr.OpXor
}

func joined(i int, op expr.Operator, sofar, v bool) bool {
	switch {
	case i == 0:
		return v
	case op == expr.OpXor:
		return sofar != v
	case op == expr.OpAndNot || op == expr.OpOrNot:
		return !v
	}
	return v // skip has sorted out what decides
}

func (j *judge) atom(c *expr.Condition) (bool, error) {
	if c.Function == expr.True {
		return !c.Negated, nil
	}
	left := j.schema.Index(c.Left)
	if left < 0 {
		return false, nil
	}
	v, err := j.compare(c, left)
	return v != c.Negated, err
}

func (j *judge) compare(c *expr.Condition, left int) (bool, error) {
	lv, lf := j.row[left], &j.schema.Fields[left]
	switch c.Function {
	case expr.IsNull:
		return j.sem.IsNullValue(lv), nil
	case expr.IsNotNull:
		return !j.sem.IsNullValue(lv), nil
	}
	rv, rf, err := j.right(c, lf)
	if err != nil {
		return false, err
	}
	switch c.Function {
	case expr.Regexp, expr.Like, expr.InList, expr.Contains, expr.StartsWith, expr.EndsWith:
		return j.text(c.Function, lv, lf, rv, rf)
	}
	return j.ordered(c.Function, lv, lf, rv, rf)
}

func (j *judge) right(c *expr.Condition, left *batch.Field) (batch.Value, *batch.Field, error) {
	if c.Right != "" {
		r := j.schema.Index(c.Right)
		return j.row[r], &j.schema.Fields[r], nil
	}
	k := c.Constant
	if k == nil {
		return batch.Null(left.Type), left, nil
	}
	f := batch.NewField(k.Name, k.Type)
	f.Length, f.Precision, f.Mask = k.Length, k.Precision, k.Mask
	if k.IsNull {
		return batch.Null(k.Type), &f, nil
	}
	if k.Type == batch.String {
		return batch.StringValue(k.Text), &f, nil
	}
	codec, err := j.sem.Codec(&f)
	if err != nil {
		return batch.Value{}, nil, errUnknown
	}
	v, err := codec.Parse([]byte(k.Text))
	if err != nil {
		return batch.Value{}, nil, errUnknown // a mask that does not fit its text
	}
	return v, &f, nil
}

// ordered answers = <> < <= > >= by the null rules of 7.1 and the order of 3.6.
func (j *judge) ordered(fn expr.Function, lv batch.Value, lf *batch.Field, rv batch.Value, rf *batch.Field) (bool, error) {
	if !j.sem.IsNullValue(rv) && rf.Type != lf.Type && (lf.Type != batch.Integer || rf.Type != batch.Number) {
		conv, err := j.sem.Converter(rf, lf)
		if err == nil {
			rv, err = conv.Value(rv)
		}
		if err != nil {
			return false, err
		}
	}
	ln, rn := j.sem.IsNullValue(lv), j.sem.IsNullValue(rv)
	if ln && (fn == expr.Smaller || fn == expr.SmallerEqual) {
		return false, nil
	}
	order := 0
	switch {
	case ln && rn:
	case ln:
		order = -1
	case rn:
		order = 1
	case lf.Type == batch.Integer && rv.Type == batch.Number:
		order = batch.CompareFloats(float64(lv.Int), rv.Float)
	default:
		order = j.sem.CompareValues(lv, rv, false)
	}
	switch fn {
	case expr.Equal:
		return order == 0, nil
	case expr.NotEqual:
		return order != 0, nil
	case expr.Smaller:
		return order < 0, nil
	case expr.SmallerEqual:
		return order <= 0, nil
	case expr.Larger:
		return order > 0, nil
	}
	return order >= 0, nil
}

// compatible is the text of a value without its mask (3.4).
func (j *judge) compatible(v batch.Value, f *batch.Field) (string, error) {
	if v.Type == batch.String {
		return v.Text, nil
	}
	codec, err := j.sem.Codec(f)
	if err != nil {
		return "", errUnknown
	}
	return string(codec.AppendCompatible(nil, v)), nil
}

func (j *judge) text(fn expr.Function, lv batch.Value, lf *batch.Field, rv batch.Value, rf *batch.Field) (bool, error) {
	if !rv.Valid {
		if fn == expr.Contains || fn == expr.StartsWith {
			return false, errors.New("null on the right")
		}
		return false, nil
	}
	if !lv.Valid || ((fn == expr.Regexp || fn == expr.Like) && j.sem.IsNullValue(lv)) {
		return false, j.broken(fn, rv, rf)
	}
	left, err := j.compatible(lv, lf)
	if err != nil {
		return false, err
	}
	right, err := j.compatible(rv, rf)
	if err != nil {
		return false, err
	}
	switch fn {
	case expr.Contains:
		return strings.Contains(left, right), nil
	case expr.StartsWith:
		return strings.HasPrefix(left, right), nil
	case expr.EndsWith:
		return left != "" && strings.HasSuffix(left, right), nil
	case expr.InList:
		return j.listed(left, right, rv, rf)
	case expr.Like:
		right = strings.ReplaceAll(strings.ReplaceAll(right, "%", ".*"), "?", ".")
	}
	re, err := javaregex.Compile(right, 0)
	if err != nil {
		return false, err
	}
	return re.MatchWhole([]byte(left)), nil
}

// broken is the error of a pattern that is compiled although no row is tested.
func (j *judge) broken(fn expr.Function, rv batch.Value, rf *batch.Field) error {
	if fn != expr.Regexp && fn != expr.Like {
		return nil
	}
	text, err := j.compatible(rv, rf)
	if err != nil {
		return err
	}
	if fn == expr.Like {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "%", ".*"), "?", ".")
	}
	if _, err := javaregex.Compile(text, 0); err != nil {
		return errUnknown
	}
	return nil
}

// separator is a semicolon that no backslash stands before.
var separator = regexp.MustCompile(`(^|[^\\]);`)

func (j *judge) listed(left, right string, rv batch.Value, rf *batch.Field) (bool, error) {
	if rv.Type != batch.String {
		codec, err := j.sem.Codec(rf)
		if err != nil {
			return false, errUnknown
		}
		right = codec.Text(rv)
	}
	for {
		at := separator.FindStringIndex(right)
		if at == nil {
			return strings.ReplaceAll(right, `\`, "") == left, nil
		}
		if strings.ReplaceAll(right[:at[1]-1], `\`, "") == left {
			return true, nil
		}
		right = right[at[1]:]
	}
}

// fuzzRows are rows for fields(), with what compares oddly.
func fuzzRows(a *batch.Allocator, text string, n int64, f float64) *batch.Batch {
	rows := slices.Clone(sample)
	rows = append(rows, []batch.Value{
		batch.IntegerValue(n), batch.NumberValue(f), batch.StringValue(text), batch.BooleanValue(n%2 == 0),
		batch.DecimalValue(decimal.FromInt64(n)), batch.IntegerValue(int64(len(text))), batch.StringValue(text + "x"),
	})
	b := a.Batch(fields())
	for _, row := range rows {
		for k, v := range row {
			b.Cols[k].AppendValue(v)
		}
	}
	b.SetRows(len(rows))
	return b
}

// FuzzCondition decodes any condition and, when it compiles, selects rows with
// it: nothing may panic, and the rows are those that a slow evaluation of one row
// after the other selects.
func FuzzCondition(f *testing.F) {
	value := func(kind, text string) string {
		return "<value><name>c</name><type>" + kind + "</type><text>" + text + "</text><length>-1</length><precision>-1</precision><isnull>N</isnull><mask/></value>"
	}
	for _, seed := range []string{
		"<leftvalue>i</leftvalue><function>=</function>" + value("Integer", "100"),
		"<negated>Y</negated><leftvalue>s</leftvalue><function>LIKE</function>" + value("String", "D%?"),
		"<leftvalue>s</leftvalue><function>IN LIST</function>" + value("String", `DE;a\;b;`),
		"<leftvalue>f</leftvalue><function>&gt;=</function><rightvalue>i</rightvalue>",
		"<leftvalue>f</leftvalue><function>&lt;</function>" + value("Number", "-0.0"),
		"<leftvalue>d</leftvalue><function>&lt;&gt;</function>" + value("BigNumber", "1.00"),
		"<leftvalue>t</leftvalue><function>CONTAINS</function><rightvalue>s</rightvalue>",
		"<leftvalue>b</leftvalue><function>ENDS WITH</function>" + value("String", "Y"),
		"<leftvalue>s</leftvalue><function>REGEXP</function>" + value("String", "(D|F).*"),
		"<conditions><condition><leftvalue>i</leftvalue><function>IS NULL</function></condition><condition><operator>OR NOT</operator><leftvalue>j</leftvalue><function>&gt;</function>" + value("Integer", "2") +
			"</condition><condition><operator>XOR</operator><function>TRUE</function></condition><condition><operator>AND NOT</operator><negated>Y</negated><leftvalue>s</leftvalue><function>STARTS WITH</function>" + value("String", "D") + "</condition></conditions>",
		"<negated>Y</negated><conditions><condition><operator>NOT</operator><leftvalue>none</leftvalue><function>=</function></condition><condition><operator>NOT</operator><function>TRUE</function></condition></conditions>",
	} {
		f.Add(seed, "DE", int64(7), 1.5, false)
		f.Add(seed, "", int64(math.MinInt64), math.Inf(-1), true)
	}
	f.Fuzz(func(t *testing.T, xml, text string, n int64, num float64, differs bool) {
		c := fuzzed(xml)
		if c == nil {
			return
		}
		sem := batch.DefaultSemantics(time.UTC)
		sem.EmptyDiffers = differs
		p, err := c.Compile(fields(), expr.Options{Semantics: sem, Lax: true})
		if err != nil {
			return
		}
		a := batch.NewAllocator()
		b := fuzzRows(a, text, n, num)
		defer b.Release()
		agree(t, c, p, b, sem)
		odd := b.Select([]int32{1, 3, 5})
		defer odd.Release()
		agree(t, c, p, odd, sem)
	})
}

// fuzzed decodes what stands inside of a <condition>; nil when it is none.
func fuzzed(xml string) *expr.Condition {
	doc, err := hopxml.Parse("c.xml", []byte("<condition>"+xml+"</condition>"))
	if err != nil {
		return nil
	}
	c, err := expr.DecodeCondition(doc.Root())
	if err != nil || c.IsEmpty() {
		return nil
	}
	_, _ = c.String(), c.Fields()
	return c
}

func agree(t *testing.T, c *expr.Condition, p *expr.Predicate, b *batch.Batch, sem *batch.Semantics) {
	t.Helper()
	var want []int32
	var failed error
	for i := range b.All() {
		row := make([]batch.Value, len(b.Cols))
		for k, col := range b.Cols {
			row[k] = col.Value(i)
		}
		yes, err := (&judge{schema: b.Schema, sem: sem, row: row}).condition(c)
		if errors.Is(err, errUnknown) {
			return
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("row %d: %w", i, err)
		}
		if yes {
			want = append(want, int32(i))
		}
	}
	got, err := p.Select(b)
	if (err != nil) != (failed != nil) {
		t.Fatalf("%s: error %v, want %v", c, err, failed)
	}
	if err == nil && !slices.Equal(got, want) {
		t.Fatalf("%s selects %v, want %v", c, got, want)
	}
}
