package expr_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/batch/decimal"
	"sluice/engine/expr"
	"sluice/engine/hopxml"
	"sluice/engine/project"
)

func fields() *batch.Schema {
	return batch.NewSchema(
		batch.NewField("i", batch.Integer), batch.NewField("f", batch.Number), batch.NewField("s", batch.String),
		batch.NewField("b", batch.Boolean), batch.NewField("d", batch.BigNumber), batch.NewField("j", batch.Integer), batch.NewField("t", batch.String),
	)
}

// rows: i, f, s, b, d, j, t
var sample = [][]batch.Value{
	{batch.IntegerValue(1), batch.NumberValue(1), batch.StringValue("DE"), batch.BooleanValue(true), batch.DecimalValue(decimal.FromInt64(1)), batch.IntegerValue(2), batch.StringValue("D")},
	{batch.IntegerValue(100), batch.NumberValue(100.5), batch.StringValue("FRANCE or more"), batch.BooleanValue(false), batch.DecimalValue(decimal.FromInt64(100)), batch.IntegerValue(100), batch.StringValue("FRANCE or more")},
	{batch.Null(batch.Integer), batch.Null(batch.Number), batch.Null(batch.String), batch.Null(batch.Boolean), batch.Null(batch.BigNumber), batch.IntegerValue(1), batch.StringValue("x")},
	{batch.IntegerValue(-5), batch.NumberValue(math.NaN()), batch.StringValue(""), batch.BooleanValue(true), batch.DecimalValue(decimal.FromInt64(-5)), batch.Null(batch.Integer), batch.Null(batch.String)},
	{batch.IntegerValue(200), batch.NumberValue(math.Copysign(0, -1)), batch.StringValue("DEU"), batch.BooleanValue(true), batch.DecimalValue(decimal.FromInt64(7)), batch.IntegerValue(3), batch.StringValue("EU")},
}

func build(a *batch.Allocator) *batch.Batch {
	b := a.Batch(fields())
	for _, row := range sample {
		for k, v := range row {
			b.Cols[k].AppendValue(v)
		}
	}
	b.SetRows(len(sample))
	return b
}

func decode(t testing.TB, xml string) *expr.Condition {
	t.Helper()
	doc, err := hopxml.Parse("c.xml", []byte("<condition>"+xml+"</condition>"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := expr.DecodeCondition(doc.Root())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func atom(left, fn, typ, text string) *expr.Condition {
	c := &expr.Condition{Left: left, Function: expr.Function(fn)}
	switch typ {
	case "field":
		c.Right = text
	case "null":
		c.Constant = &expr.Constant{Type: batch.String, IsNull: true}
	default:
		c.Constant = &expr.Constant{Type: batch.ParseType(typ), Text: text, Length: -1, Precision: -1}
	}
	return c
}

func group(ops string, kids ...*expr.Condition) *expr.Condition {
	for i, op := range strings.Split(ops, ",") {
		kids[i].Operator = expr.Operator(op)
	}
	return &expr.Condition{Children: kids}
}

func negate(c *expr.Condition) *expr.Condition { c.Negated = true; return c }

func TestSelect(t *testing.T) {
	sem := batch.DefaultSemantics(time.UTC)
	differs := batch.DefaultSemantics(time.UTC)
	differs.EmptyDiffers = true
	for name, c := range map[string]struct {
		cond *expr.Condition
		sem  *batch.Semantics
		want []int32
	}{
		"integer equal":                     {cond: atom("i", "=", "Integer", "100"), want: []int32{1}},
		"integer not equal takes nulls":     {cond: atom("i", "<>", "Integer", "100"), want: []int32{0, 2, 3, 4}},
		"smaller leaves nulls":              {cond: atom("i", "<", "Integer", "100"), want: []int32{0, 3}},
		"smaller or equal":                  {cond: atom("i", "<=", "Integer", "100"), want: []int32{0, 1, 3}},
		"larger":                            {cond: atom("i", ">", "Integer", "1"), want: []int32{1, 4}},
		"larger or equal":                   {cond: atom("i", ">=", "Integer", "1"), want: []int32{0, 1, 4}},
		"smallest integer":                  {cond: atom("i", "<", "Integer", "-9223372036854775808"), want: []int32{}},
		"above the smallest":                {cond: atom("i", ">=", "Integer", "-9223372036854775808"), want: []int32{0, 1, 3, 4}},
		"integer with number":               {cond: atom("i", ">", "Number", "0.5"), want: []int32{0, 1, 4}},
		"number with integer":               {cond: atom("f", ">=", "Integer", "1"), want: []int32{0, 1, 3}},
		"NaN is greatest":                   {cond: atom("f", ">", "Number", "1000"), want: []int32{3}},
		"minus zero is less":                {cond: atom("f", "<", "Number", "0"), want: []int32{4}},
		"minus zero is not zero":            {cond: atom("f", "=", "Number", "0"), want: []int32{}},
		"number not equal":                  {cond: atom("f", "<>", "Number", "1"), want: []int32{1, 2, 3, 4}},
		"text equal":                        {cond: atom("s", "=", "String", "DE"), want: []int32{0}},
		"text equal at the end":             {cond: atom("s", "=", "String", "DEU"), want: []int32{4}},
		"long text":                         {cond: atom("s", "=", "String", "FRANCE or more"), want: []int32{1}},
		"text not equal":                    {cond: atom("s", "<>", "String", "DE"), want: []int32{1, 2, 3, 4}},
		"text order":                        {cond: atom("s", "<", "String", "DEU"), want: []int32{0}},
		"text with integer":                 {cond: atom("s", "=", "Integer", "5"), want: []int32{}},
		"variables":                         {cond: atom("s", "=", "String", "${C}"), want: []int32{0}},
		"empty is null":                     {cond: atom("s", "=", "String", ""), want: []int32{2, 3}},
		"empty differs":                     {cond: atom("s", "=", "String", ""), sem: differs, want: []int32{3}},
		"equal to null":                     {cond: atom("s", "=", "null", ""), want: []int32{2, 3}},
		"not equal to null":                 {cond: atom("i", "<>", "null", ""), want: []int32{0, 1, 3, 4}},
		"value above null":                  {cond: atom("i", ">", "null", ""), want: []int32{0, 1, 3, 4}},
		"null at least null":                {cond: atom("i", ">=", "null", ""), want: []int32{0, 1, 2, 3, 4}},
		"nothing below null":                {cond: atom("i", "<=", "null", ""), want: []int32{}},
		"is null":                           {cond: atom("s", "IS NULL", "null", ""), want: []int32{2, 3}},
		"is null, empty differs":            {cond: atom("s", "IS NULL", "null", ""), sem: differs, want: []int32{2}},
		"is not null":                       {cond: atom("i", "IS NOT NULL", "null", ""), want: []int32{0, 1, 3, 4}},
		"boolean":                           {cond: atom("b", "=", "Boolean", "Y"), want: []int32{0, 3, 4}},
		"big number":                        {cond: atom("d", ">", "BigNumber", "6.5"), want: []int32{1, 4}},
		"fields":                            {cond: atom("i", "=", "field", "j"), want: []int32{1}},
		"fields, null on the right":         {cond: atom("i", ">", "field", "j"), want: []int32{3, 4}},
		"fields, null on the left":          {cond: atom("i", "<", "field", "j"), want: []int32{0}},
		"text fields":                       {cond: atom("s", "=", "field", "t"), want: []int32{1, 3}},
		"integer with number field":         {cond: atom("i", "<", "field", "f"), want: []int32{1, 3}},
		"number with integer field":         {cond: atom("f", "=", "field", "i"), want: []int32{0, 2}},
		"case of names":                     {cond: atom("I", "=", "field", "J"), want: []int32{1}},
		"contains":                          {cond: atom("s", "CONTAINS", "String", "E"), want: []int32{0, 1, 4}},
		"contains nothing":                  {cond: atom("s", "CONTAINS", "String", ""), want: []int32{0, 1, 3, 4}},
		"contains number text":              {cond: atom("f", "CONTAINS", "String", "0.5"), want: []int32{1}},
		"starts":                            {cond: atom("s", "STARTS WITH", "String", "DE"), want: []int32{0, 4}},
		"starts with integer":               {cond: atom("i", "STARTS WITH", "Integer", "1"), want: []int32{0, 1}},
		"ends":                              {cond: atom("s", "ENDS WITH", "String", "U"), want: []int32{4}},
		"ends with field":                   {cond: atom("s", "ENDS WITH", "field", "t"), want: []int32{1, 4}},
		"ends with nothing":                 {cond: atom("s", "ENDS WITH", "String", ""), want: []int32{0, 1, 4}},
		"no left field":                     {cond: negate(atom("", "=", "String", "x")), want: []int32{}},
		"no condition":                      {cond: &expr.Condition{}, want: []int32{}},
		"regexp":                            {cond: atom("s", "REGEXP", "String", "DE.?"), want: []int32{0, 4}},
		"regexp of a number":                {cond: atom("f", "REGEXP", "String", `1\.0`), want: []int32{0}},
		"regexp field":                      {cond: atom("s", "REGEXP", "field", "t"), want: []int32{1}},
		"like":                              {cond: atom("s", "LIKE", "String", "%E%"), want: []int32{0, 1, 4}},
		"like one":                          {cond: atom("s", "LIKE", "String", "D??"), want: []int32{4}},
		"in list":                           {cond: atom("s", "IN LIST", "String", `DE;DE\;U;x`), want: []int32{0}},
		"in list of integers":               {cond: atom("i", "IN LIST", "String", "1;200;7"), want: []int32{0, 4}},
		"true":                              {cond: atom("", "TRUE", "null", ""), want: []int32{0, 1, 2, 3, 4}},
		"not true":                          {cond: negate(atom("", "TRUE", "null", "")), want: []int32{}},
		"negated":                           {cond: negate(atom("i", "=", "Integer", "100")), want: []int32{0, 2, 3, 4}},
		"negated text":                      {cond: negate(atom("s", "=", "String", "DE")), want: []int32{1, 2, 3, 4}},
		"and":                               {cond: group("-,AND", atom("s", "CONTAINS", "String", "D"), atom("i", ">", "Integer", "50")), want: []int32{4}},
		"or":                                {cond: group("-,OR", atom("i", "=", "Integer", "200"), atom("i", "=", "Integer", "1")), want: []int32{0, 4}},
		"no precedence":                     {cond: group("-,OR,AND", atom("i", "=", "Integer", "1"), atom("i", "=", "Integer", "200"), atom("s", "=", "String", "DEU")), want: []int32{4}},
		"and not":                           {cond: group("-,AND NOT", atom("b", "=", "Boolean", "Y"), atom("i", "<", "Integer", "0")), want: []int32{0, 4}},
		"or not":                            {cond: group("-,OR NOT", atom("i", "=", "Integer", "1"), atom("b", "=", "Boolean", "Y")), want: []int32{0, 1, 2}},
		"xor":                               {cond: group("-,XOR", atom("b", "=", "Boolean", "Y"), atom("i", ">", "Integer", "50")), want: []int32{0, 1, 3}},
		"not behind the first does nothing": {cond: group("-,NOT", atom("i", "=", "Integer", "1"), atom("i", "=", "Integer", "200")), want: []int32{0}},
		"negated group":                     {cond: negate(group("-,OR", atom("i", "=", "Integer", "1"), atom("i", "=", "Integer", "200"))), want: []int32{1, 2, 3}},
		"short circuit skips errors":        {cond: group("-,AND", atom("i", "=", "Integer", "100"), atom("s", "CONTAINS", "field", "t")), want: []int32{1}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.sem == nil {
				c.sem = sem
			}
			vars := project.NewVariables()
			vars.SetAll(map[string]string{"C": "DE"})
			p, err := c.cond.Compile(fields(), expr.Options{Semantics: c.sem, Vars: vars})
			if err != nil {
				t.Fatal(err)
			}
			checkSelection(t, p, c.want)
		})
	}
}

// checkSelection runs a predicate over all rows and over every selection of them.
func checkSelection(t *testing.T, p *expr.Predicate, want []int32) {
	t.Helper()
	a := batch.NewAllocator()
	b := build(a)
	got, err := p.Select(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all rows: %s", diff)
	}
	for m := range 1 << len(sample) {
		sel := []int32{}
		for i := range int32(len(sample)) {
			if m>>i&1 == 1 {
				sel = append(sel, i)
			}
		}
		sub := b.Select(sel)
		yes, no, err := p.Split(sub)
		sub.Release()
		if err != nil {
			t.Fatal(err)
		}
		var wantYes, wantNo []int32
		for _, i := range sel {
			if slices.Contains(want, i) {
				wantYes = append(wantYes, i)
			} else {
				wantNo = append(wantNo, i)
			}
		}
		if fmt.Sprint(wantYes) != fmt.Sprint(yes) || fmt.Sprint(wantNo) != fmt.Sprint(no) {
			t.Errorf("selection %v: %v and %v, want %v and %v", sel, yes, no, wantYes, wantNo)
		}
	}
	b.Release()
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestCompileNamesWhatIsMissing(t *testing.T) {
	o := expr.Options{Semantics: batch.DefaultSemantics(time.UTC)}
	for name, c := range map[string]struct {
		cond *expr.Condition
		want string
	}{
		"left":     {atom("nope", "=", "Integer", "1"), `"nope" not found; the input has i, f, s`},
		"right":    {atom("i", "=", "field", "nope"), `"nope" not found`},
		"constant": {atom("i", "=", "Integer", "abc"), "abc"},
		"regexp":   {atom("s", "REGEXP", "String", "(a"), "unclosed group"},
		"no type":  {atom("s", "=", "", "a"), "has no type"},
	} {
		if _, err := c.cond.Compile(fields(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
	o.Lax = true
	p, err := negate(atom("nope", "=", "Integer", "1")).Compile(fields(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSelection(t, p, []int32{})
}

func TestRowErrors(t *testing.T) {
	o := expr.Options{Semantics: batch.DefaultSemantics(time.UTC)}
	a := batch.NewAllocator()
	b := build(a)
	defer b.Release()
	for name, cond := range map[string]*expr.Condition{
		"contains null":       atom("s", "CONTAINS", "field", "t"),
		"starts with null":    atom("s", "STARTS WITH", "null", ""),
		"not a number":        atom("i", "=", "String", "abc"),
		"field not a number":  atom("i", "=", "field", "t"),
		"field not a pattern": {Left: "i", Function: expr.Like, Constant: nil, Right: "s", Negated: false, Children: nil, Operator: "-"},
	} {
		p, err := cond.Compile(fields(), o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Select(b)
		if name == "field not a pattern" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if _, ok := errors.AsType[*batch.RowError](err); !ok {
			t.Errorf("%s: %v is not a row error", name, err)
		}
	}
}

func TestDecodeCondition(t *testing.T) {
	c := decode(t, `<negated>N</negated><conditions>
		<condition><negated>Y</negated><operator>-</operator><leftvalue>country</leftvalue><function>=</function><rightvalue/>
			<value><name>constant</name><type>String</type><text>D'E</text><length>-1</length><precision>-1</precision><isnull>N</isnull><mask/></value></condition>
		<condition><operator>AND NOT</operator><conditions>
			<condition><operator>-</operator><leftvalue>a</leftvalue><function>IS NULL</function></condition>
			<condition><operator>OR</operator><leftvalue>a</leftvalue><function>&gt;</function><rightvalue>b</rightvalue></condition></conditions></condition>
		</conditions>`)
	if got, want := c.String(), "NOT country = 'D''E' AND NOT (a IS NULL OR a > b)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"country", "a", "b"}, c.Fields()); diff != "" {
		t.Error(diff)
	}
	doc, _ := hopxml.Parse("c.xml", []byte("<condition>\n<leftvalue>a</leftvalue><function>~</function></condition>"))
	if _, err := expr.DecodeCondition(doc.Root()); err == nil || !strings.Contains(err.Error(), `"~"`) {
		t.Errorf("error %v", err)
	}
}

func TestRawTextIsCompared(t *testing.T) {
	a := batch.NewAllocator()
	s := batch.NewSchema(batch.NewField("s", batch.String), batch.NewField("i", batch.Integer))
	text, num := a.RawColumn(batch.String), a.RawColumn(batch.Integer)
	for _, v := range []string{"DE", "FR", "DE"} {
		text.AppendString(v)
	}
	for _, v := range []string{"1", "200", "300"} {
		num.AppendString(v)
	}
	b := a.Assemble(s, []*batch.Column{text, num}, 3)
	p, err := group("-,AND", atom("s", "=", "String", "DE"), atom("i", ">", "Integer", "100")).Compile(s, expr.Options{Semantics: batch.DefaultSemantics(time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Select(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{2}, got); diff != "" {
		t.Error(diff)
	}
	b.Release()
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func BenchmarkFilter(b *testing.B) {
	a := batch.NewAllocator()
	s := batch.NewSchema(batch.NewField("country", batch.String), batch.NewField("amount", batch.Number), batch.NewField("id", batch.Integer))
	data := a.Batch(s)
	countries := []string{"DE", "FR", "US", "NL", "DE", "IT", "ES"}
	seed := uint32(7)
	for i := range batch.MaxRows {
		seed = seed*1664525 + 1013904223
		data.Cols[0].AppendString(countries[seed>>16%7])
		data.Cols[1].AppendFloat(float64(seed>>8%20000) / 100)
		data.Cols[2].AppendInt(int64(i))
	}
	defer data.Release()
	for _, c := range []struct {
		name string
		cond *expr.Condition
	}{
		{"country and amount", group("-,AND", atom("country", "=", "String", "DE"), atom("amount", ">", "Number", "100"))},
		{"country", atom("country", "=", "String", "DE")},
		{"amount", atom("amount", ">", "Number", "100")},
		{"or", group("-,OR", atom("country", "=", "String", "DE"), atom("id", ">", "Integer", "2000"))},
		{"like", atom("country", "LIKE", "String", "D%")},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := c.cond.Compile(s, expr.Options{Semantics: batch.DefaultSemantics(time.UTC)})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Select(data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch.MaxRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func TestAppendXMLIsReadBack(t *testing.T) {
	want := &expr.Condition{Operator: "-", Function: expr.Equal, Negated: true, Children: []*expr.Condition{
		{Operator: "-", Left: "a & b", Function: expr.Contains, Constant: &expr.Constant{Name: "constant", Type: batch.String, Text: "<x>", Length: -1, Precision: -1}},
		{Operator: expr.OpOr, Left: "i", Function: expr.SmallerEqual, Right: "j"},
		{Operator: expr.OpAndNot, Left: "d", Function: expr.Equal, Constant: &expr.Constant{Name: "constant", Type: batch.Date, IsNull: true, Length: -1, Precision: -1, Mask: "yyyy"}},
	}}
	doc, err := hopxml.Parse("c.xml", want.AppendXML(nil, "  "))
	if err != nil {
		t.Fatal(err)
	}
	got, err := expr.DecodeCondition(doc.Root())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
