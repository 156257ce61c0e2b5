package formula_test

import (
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/expr/formula"
)

var clock = time.Date(2024, 2, 29, 13, 45, 30, 0, time.UTC)

func row(a *batch.Allocator) *batch.Batch {
	s := batch.NewSchema(
		batch.NewField("one", batch.Integer), batch.NewField("half", batch.Number), batch.NewField("foo", batch.String), batch.NewField("yes", batch.Boolean),
		batch.NewField("when", batch.Date), batch.NewField("none", batch.String), batch.NewField("a b", batch.Integer),
	)
	b := a.Batch(s)
	b.Cols[0].AppendInt(1)
	b.Cols[1].AppendFloat(2.5)
	b.Cols[2].AppendString("Foo bär")
	b.Cols[3].AppendBool(true)
	b.Cols[4].AppendInt(clock.UnixMilli())
	b.Cols[5].AppendNull()
	b.Cols[6].AppendInt(7)
	b.SetRows(1)
	return b
}

func TestEval(t *testing.T) {
	a := batch.NewAllocator()
	b := row(a)
	defer b.Release()
	for source, want := range map[string]string{
		`1+2*3`: "7", `(1+2)*3`: "9", `-2^2`: "-4", `2^-1`: "0.5", `2^3^2`: "64", `50%`: "0.5", `10-2-3`: "5", `1/0`: "#DIV/0!", `"a"+1`: "#VALUE!", `"2"+1`: "3",
		`1&"a"&TRUE`: "1aTRUE", `"say ""hi"""`: `say "hi"`, `1=1`: "TRUE", `"A"="a"`: "TRUE", `"b">"A"`: "TRUE", `1<"a"`: "TRUE", `[none]=""`: "TRUE", `[none]=0`: "TRUE",
		`[one]+[half]`: "3.5", `[ONE]`: "1", `[foo]`: "Foo bär", `[yes]`: "TRUE", `[none]`: "", `[a b]*2`: "14", `=1e3`: "1000", `.5`: "0.5", `0.1+0.2`: "0.3", `1/3`: "0.333333333333333", `1e25`: "1E+25",
		`IF([one]=1,"y","n")`: "y", `IF(FALSE,1)`: "FALSE", `if( [foo] = "sdsdf", 1, [one])`: "1", `IF(isNA(NA()), "N", 1)`: "N", `IFERROR(1/0,"e")`: "e", `IFNA(#N/A,2)`: "2", `NA()`: "#N/A",
		`AND([one], TRUE())`: "TRUE", `AND("true", TRUE())`: "TRUE", `AND([one] <= 2, [foo] <> "x")`: "TRUE", `OR(FALSE,0)`: "FALSE", `XOR(TRUE,TRUE,TRUE)`: "TRUE", `NOT(1)`: "FALSE",
		`CHOOSE(2,"a","b")`: "b", `SWITCH(3,1,"a",3,"c","d")`: "c", `IFS(FALSE,1,TRUE,2)`: "2",
		`ISBLANK([none])`: "TRUE", `ISNUMBER([one])`: "TRUE", `ISTEXT([foo])`: "TRUE", `ISERROR(1/0)`: "TRUE", `ISODD(24)`: "FALSE", `ISEVEN(3)`: "FALSE", `TYPE("a")`: "2", `N(TRUE)`: "1",
		`ROUND(2.345,2)`: "2.35", `ROUND(-2.5,0)`: "-3", `ROUNDUP(2.1,0)`: "3", `ROUNDDOWN(-2.9,0)`: "-2", `TRUNC(2.99)`: "2", `INT(-2.1)`: "-3", `MOD(-3,2)`: "1", `QUOTIENT(-7,2)`: "-3", `CEILING(2.1,1)`: "3", `FLOOR(2.9,0.5)`: "2.5",
		`MROUND(7,3)`: "6", `POWER(2,10)`: "1024", `SQRT(-1)`: "#NUM!", `LOG(8,2)`: "3", `LN(0)`: "#NUM!", `FACT(5)`: "120", `COMBIN(5,2)`: "10", `GCD(12,18)`: "6", `LCM(4,6)`: "12", `EVEN(1.5)`: "2", `ODD(2)`: "3", `SIGN(-3)`: "-1", `PI()`: "3.14159265358979", `ATAN2(1,1)`: "0.785398163397448",
		`CONCATENATE([foo], "x")`: "Foo bärx", `LEN([foo])`: "7", `LEFT([foo],3)`: "Foo", `RIGHT([foo],2)`: "är", `MID([foo],5,2)`: "bä", `UPPER([foo])`: "FOO BÄR", `LOWER("A")`: "a", `PROPER("ab cD")`: "Ab Cd", `TRIM("  a   b ")`: "a b", `REPT("ab",2)`: "abab",
		`FIND("b","abcb",3)`: "4", `FIND("B","ab")`: "#VALUE!", `SEARCH("B?d","abcd")`: "2", `SUBSTITUTE("aXbX","X","-",2)`: "aXb-", `SUBSTITUTE("aXbX","X","-")`: "a-b-", `REPLACE("abcd",2,2,"_")`: "a_d", `EXACT("a","A")`: "FALSE", `VALUE("$1,234.5")`: "1234.5", `CODE("A")`: "65", `CHAR(65)`: "A", `CLEAN("a")`: "a",
		`DOLLAR(2.5,2)`: "$2.50", `DOLLAR(-1234.567)`: "($1,234.57)", `FIXED(1234.5)`: "1,234.50", `FIXED(1234.5,1,TRUE)`: "1234.5", `TEXT(1234.567,"#,##0.00")`: "1,234.57", `TEXT([when],"yyyy-mm-dd hh:mm")`: "2024-02-29 13:45", `TEXTJOIN("-",TRUE,"a","","b")`: "a-b",
		`TODAY()`: "45351", `YEAR(TODAY())`: "2024", `MONTH([when])`: "2", `DAY([when])`: "29", `HOUR([when])`: "13", `MINUTE([when])`: "45", `SECOND([when])`: "30", `DATE(2021,12,17)`: "44547", `TODAY()-DATE(2024,2,1)`: "28", `DATE(1900,3,1)`: "61", `WEEKDAY(DATE(2024,2,29))`: "5", `WEEKDAY(DATE(2024,2,29),2)`: "4", `WEEKNUM(DATE(2024,2,29))`: "9", `EDATE(DATE(2024,1,31),1)`: "45351", `EOMONTH(DATE(2024,1,15),1)`: "45351",
		`NETWORKDAYS(DATE(2021,12,17),DATE(2021,12,31))`: "11", `WORKDAY(DATE(2024,2,29),1)`: "45352", `DAYS360(DATE(2024,1,30),DATE(2024,3,31))`: "60", `DATEDIF(DATE(2020,2,29),DATE(2024,2,28),"Y")`: "3", `DATEVALUE("2024-02-29")`: "45351", `TIME(12,0,0)`: "0.5", `DAYS(DATE(2024,3,1),DATE(2024,2,1))`: "29",
		`SUM(1,2,"3",[foo])`: "6", `AVERAGE(1,2,3)`: "2", `MIN(3,1)`: "1", `MAX([one],[half])`: "2.5", `COUNT(1,"a",[foo],"2")`: "2", `COUNTA([none],1)`: "1", `MEDIAN(1,2,3,10)`: "2.5", `MODE(1,2,2)`: "2", `STDEV(1,2,3)`: "1", `VARP(1,3)`: "1", `LARGE(1,5,3,2)`: "3", `SMALL(1,5,3,2)`: "3", `PRODUCT(2,3)`: "6", `SUMSQ(3,4)`: "25", `GEOMEAN(1,4)`: "2",
	} {
		f, err := formula.Compile(source, b.Schema, formula.Options{Now: func() time.Time { return clock }})
		if err != nil {
			t.Error(err)
			continue
		}
		if got := f.Eval(b.Cols, 0).AsText(); got != want {
			t.Errorf("%s = %s, want %s", source, got, want)
		}
	}
	if n := len(formula.Names()); n < 90 {
		t.Errorf("%d functions", n)
	}
}

func TestNullsAsNA(t *testing.T) {
	a := batch.NewAllocator()
	b := row(a)
	defer b.Release()
	f, err := formula.Compile(`IF(ISNA([nothing]),"null",1)`, b.Schema, formula.Options{NAForNull: true, Alias: map[string]string{"nothing": "none"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Eval(b.Cols, 0).AsText(); got != "null" {
		t.Error(got)
	}
}

func TestCompileNamesThePlace(t *testing.T) {
	for source, want := range map[string]string{
		`[nope]+1`: `field "nope" not found; there are one`, `FOO(1)`: "function FOO is not known", `1+`: "position 3: an operand is missing", `(1`: "closing parenthesis", `"a`: "not closed",
		`SUM()`: "at least 1", `IF(1,2,3,4)`: "1 to 3 arguments", `abc`: "neither a function", `1 2`: `unexpected "2"`, `[a`: "not closed by ]",
	} {
		_, err := formula.Compile(source, batch.NewSchema(batch.NewField("one", batch.Integer)), formula.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", source, err, want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`IF([one]>1,"a",LEFT("b",2))`, `-2^2%`, `SUM(1,,2)&#N/A`} {
		f.Add(s)
	}
	a := batch.NewAllocator()
	b := row(a)
	f.Fuzz(func(_ *testing.T, source string) {
		if c, err := formula.Compile(source, b.Schema, formula.Options{}); err == nil && len(source) < 60 {
			c.Eval(b.Cols, 0)
		}
	})
}
