package calc_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sluice/engine/batch"
	"sluice/engine/expr/calc"
)

func TestTexts(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"init cap":        {calc.InitCap("o'neil's éCOLE 2nd_word"), "O'Neil'S École 2nd_word"},
		"mask xml":        {calc.MaskXML(`<a b="c">'&`), "&lt;a b=&quot;c&quot;&gt;&apos;&amp;"},
		"unescape xml":    {calc.UnescapeXML("&lt;&#65;&apos;"), "<A'"},
		"escape html":     {calc.EscapeHTML("é < Ω … €'"), "&eacute; &lt; &Omega; &hellip; &euro;'"},
		"unescape html":   {calc.UnescapeHTML("&eacute;&nbsp;"), "é\u00a0"},
		"url encode":      {calc.URLEncode("a b*c~d/é"), "a+b*c%7Ed%2F%C3%A9"},
		"soundex":         {calc.Soundex("Robert") + calc.Soundex("Rupert") + calc.Soundex("Ashcraft") + calc.Soundex("Tymczak") + calc.Soundex("1"), "R163R163A261T522"},
		"refined soundex": {calc.RefinedSoundex("testing") + " " + calc.RefinedSoundex("Braz"), "T6036084 B1905"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", name, c.got, c.want)
		}
	}
	if s, err := calc.URLDecode("a+b%C3%A9"); err != nil || s != "a bé" {
		t.Errorf("URL decode gives %q, %v", s, err)
	}
}

func TestMetaphone(t *testing.T) {
	for word, want := range map[string]string{"howl": "HL", "testing": "TSTN", "The": "0", "quick": "KK", "brown": "BRN", "fox": "FKS", "jumped": "JMPT", "over": "OFR", "lazy": "LS", "dogs": "TKS", "night": "NT", "Knot": "NT", "comb": "KM", "phone": "FN", "school": "SKL", "nation": "NXN", "judge": "JJ"} {
		if got := calc.Metaphone(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

func TestDoubleMetaphone(t *testing.T) {
	for word, want := range map[string]string{
		"testing": "TSTN", "The": "0", "quick": "KK", "brown": "PRN", "fox": "FKS", "jumped": "JMPT", "over": "AFR", "lazy": "LS", "dogs": "TKS",
		"MacCafferey": "MKFR", "Stephan": "STFN", "Kuczewski": "KSSK", "McClelland": "MKLL", "san jose": "SNHS", "xenophobia": "SNFP",
		"Smith": "SM0", "Schmidt": "XMT", "Thomas": "TMS", "Thumb": "0M", "Wright": "RT", "Knight": "NT", "laugh": "LF", "bough": "P", "Caesar": "SSR", "chemistry": "KMST", "edge": "AJ", "Edgar": "ATKR",
		"accident": "AKST", "Gough": "KF", "island": "ALNT", "Ñandú": "NNT", "": "",
	} {
		if got := calc.DoubleMetaphone(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

func TestDistances(t *testing.T) {
	if n := calc.Levenshtein("kitten", "sitting"); n != 3 {
		t.Errorf("Levenshtein %d", n)
	}
	if n := calc.DamerauLevenshtein("ab", "ba"); n != 1 {
		t.Errorf("Damerau-Levenshtein %d", n)
	}
	if n := calc.NeedlemanWunsch("kitten", "sitting"); n != -3 {
		t.Errorf("Needleman-Wunsch %d", n)
	}
	if f := calc.Jaro("MARTHA", "MARHTA"); f < 0.9444 || f > 0.9445 {
		t.Errorf("Jaro %v", f)
	}
	if f := calc.JaroWinkler("DIXON", "DICKSONX"); f < 0.8133 || f > 0.8134 {
		t.Errorf("Jaro-Winkler %v", f)
	}
}

func TestDatesFollowTheZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	schema := batch.NewSchema(batch.NewField("d", batch.Date), batch.NewField("n", batch.Integer), batch.NewField("e", batch.Date))
	a := batch.NewAllocator()
	b := a.Batch(schema)
	b.Cols[0].AppendInt(time.Date(2024, 3, 30, 12, 0, 0, 0, zone).UnixMilli()) // the day before clocks go forward
	b.Cols[1].AppendInt(1)
	b.Cols[2].AppendInt(time.Date(2024, 3, 31, 12, 0, 0, 0, zone).UnixMilli())
	target := func(name string, ty batch.Type) batch.Field {
		f := batch.NewField(name, ty)
		f.Mask = ""
		return f
	}
	p, err := calc.Compile(schema, []calc.Calculation{
		{Code: "ADD_DAYS", A: "d", B: "n", Target: target("next", batch.Date)},
		{Code: "DATE_DIFF_HR", A: "e", B: "d", Target: target("hours", batch.Integer)},
		{Code: "HOUR_OF_DAY", A: "d", Target: target("hour", batch.Integer)},
	}, calc.Options{Semantics: batch.DefaultSemantics(zone), Alloc: a})
	if err != nil {
		t.Fatal(err)
	}
	cols, err := p.Run(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	if cols[0].Int(0) != b.Cols[2].Int(0) || cols[1].Int(0) != 24 || cols[2].Int(0) != 12 {
		t.Errorf("next day %v, hours %d, hour %d", time.UnixMilli(cols[0].Int(0)).In(zone), cols[1].Int(0), cols[2].Int(0))
	}
	for _, c := range cols {
		c.Release()
	}
	b.Release()
	if err := a.CheckLeaks(); err != nil {
		t.Error(err)
	}
}

func TestCodesAreNamedOnce(t *testing.T) {
	seen := map[calc.Code]bool{}
	for _, c := range calc.Codes() {
		if seen[c.Code] || strings.TrimSpace(c.Label) == "" {
			t.Errorf("code %s", c.Code)
		}
		seen[c.Code] = true
	}
}

func TestWorkingDays(t *testing.T) {
	day := func(m, d int) time.Time { return time.Date(2024, time.Month(m), d, 12, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		from, to time.Time
		want     int64
	}{
		{day(1, 1), day(1, 1), 1}, {day(1, 6), day(1, 7), 0}, {day(1, 1), day(1, 31), 23}, {day(1, 31), day(1, 1), -23}, {day(1, 1), day(12, 31), 262},
	} {
		if got := calc.WorkingDays(c.from, c.to); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.from.Format("01-02"), c.to.Format("01-02"), got, c.want)
		}
	}
}
