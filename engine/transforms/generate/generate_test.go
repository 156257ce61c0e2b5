package generate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/files"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/generate"
)

// example is one run of one transform.
type example struct {
	xml    string
	input  *transformtest.Input
	vars   map[string]string
	env    func(*transform.Env)
	want   []string
	layout string
	err    string
}

func runExamples(t *testing.T, d transform.Definition, examples map[string]example) {
	t.Helper()
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			c := transformtest.Case{Definition: d, XML: e.xml, Vars: e.vars, Env: e.env}
			if e.input != nil {
				c.Inputs = []transformtest.Input{*e.input}
			}
			out := transformtest.Run(t, c)
			if e.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), e.err) {
					t.Fatalf("error is %v, want one with %q", out.Err, e.err)
				}
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(e.want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if got := out.Fields(transform.Main); e.layout != "" && got != e.layout {
				t.Errorf("fields are %q, want %q", got, e.layout)
			}
		})
	}
}

func oneField(name string, values ...any) *transformtest.Input {
	in := &transformtest.Input{Fields: []batch.Field{batch.NewField(name, batch.String)}}
	for _, v := range values {
		in.Rows = append(in.Rows, []any{v})
	}
	return in
}

func TestDataGrid(t *testing.T) {
	fields := `<fields><field><name>s</name><type>String</type></field><field><name/><type>Integer</type></field>
		<field><name>d</name><type>Date</type><format>yyyy-MM-dd</format></field><field><name>e</name><type>Foo</type></field></fields>`
	line := func(items ...string) string {
		return `<line><item>` + strings.Join(items, `</item><item>`) + `</item></line>`
	}
	runExamples(t, generate.DataGrid, map[string]example{
		"values by the fields that have a name": {
			xml:  fields + `<data>` + line("a", "2024-01-05", "x") + line("", "", "") + line(" ", "2024-02-30", "${V}") + `</data>`,
			vars: map[string]string{"V": "v"},
			want: []string{"a|2024-01-05|x", "<null>|<null>|<null>", "|2024-03-01|${V}"}, layout: "s String, d Date, e String",
		},
		"set empty string": {
			xml:  `<fields><field><name>s</name><set_empty_string>Y</set_empty_string></field><field><name>t</name></field></fields><data>` + line("a", "b") + `</data>`,
			want: []string{"|b"},
		},
		"a name twice":    {xml: `<fields><field><name>s</name></field><field><name>S</name></field></fields><data>` + line("a", "b") + `</data>`, want: []string{"a|b"}, layout: "s String, S_1 String"},
		"too few items":   {xml: fields + `<data>` + line("a") + `</data>`, err: "the line has 1 values for 3 fields"},
		"more items":      {xml: `<fields><field><name>s</name></field></fields><data>` + line("a", "b") + `</data>`, want: []string{"a"}},
		"of no number":    {xml: `<fields><field><name>n</name><type>Integer</type></field></fields><data>` + line("7") + line("x") + `</data>`, err: `row 2, field "n", value "x"`},
		"a bad mask":      {xml: `<fields><field><name>n</name><type>Integer</type><format>#.#.#</format></field></fields>`, err: "n"},
		"no lines":        {xml: fields},
		"a number's mask": {xml: `<fields><field><name>n</name><type>Number</type><format>0.00</format></field></fields><data>` + line("1.5") + `</data>`, want: []string{"1.50"}},
	})
}

func TestRowGenerator(t *testing.T) {
	field := `<fields><field><name>s</name><type>String</type><nullif>${V}</nullif></field><field><name>i</name><type>Integer</type><nullif>1,000</nullif><format>#,##0</format></field><field><name>x</name><type/></field></fields>`
	runExamples(t, generate.RowGenerator, map[string]example{
		"rows":           {xml: `<limit>${N}</limit>` + field, vars: map[string]string{"N": "2", "V": "v"}, want: []string{"${V}|1,000", "${V}|1,000"}, layout: "s String, i Integer"},
		"no rows":        {xml: `<limit>0</limit>` + field},
		"no fields":      {xml: `<limit>3</limit>`, want: []string{"", "", ""}},
		"ten by default": {xml: ``, want: make([]string, 10)},
		"empty is null":  {xml: `<limit>1</limit><fields><field><name>a</name><type>String</type><nullif/></field><field><name>b</name><type>String</type><set_empty_string>Y</set_empty_string></field></fields>`, want: []string{"<null>|"}},
		"below zero":     {xml: `<limit>-1</limit>`, err: "cannot be generated"},
		"no limit":       {xml: `<limit>many</limit>`, err: "limit"},
		"a bad constant": {xml: `<fields><field><name>i</name><type>Integer</type><nullif>x</nullif></field></fields>`, err: `field "i"`},
		"large values fit": {
			xml:  `<limit>3</limit><fields><field><name>a</name><type>String</type><nullif>` + strings.Repeat("x", batch.SoftBytes) + `</nullif></field></fields>`,
			want: []string{strings.Repeat("x", batch.SoftBytes), strings.Repeat("x", batch.SoftBytes), strings.Repeat("x", batch.SoftBytes)},
		},
	})
	out := transformtest.Run(t, transformtest.Case{Definition: generate.RowGenerator, XML: `<limit>10k</limit>`, Fixed: true})
	if out.Err != nil || len(out.Main()) != 10_000 {
		t.Errorf("%d rows, error %v; want 10000", len(out.Main()), out.Err)
	}
}

// endless starts an endless generator in a bubble and gives the row counts of the
// batches that left within a time.
func endless(t *testing.T, interval string, runFor time.Duration) (counts []int, rows []string) {
	synctest.Test(t, func(t *testing.T) {
		env, _ := transformtest.NewEnv(t, nil)
		stop := make(chan struct{})
		env.Stopping, env.Now = stop, time.Now
		s := transformtest.Settings(t, generate.RowGenerator, `<never_ending>Y</never_ending><interval_in_ms>`+interval+`</interval_in_ms><fields><field><name>c</name><type>String</type><nullif>x</nullif></field></fields>`)
		p, err := s.Start(env, transform.Links{Transform: "g"})
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := p.(transform.Unbounded); !ok || !u.Unbounded() {
			t.Error("an endless generator is unbounded")
		}
		done := make(chan error)
		go func() {
			done <- p.(transform.Source).Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
				defer b.Release()
				counts = append(counts, b.Rows())
				texts, err := transformtest.Texts(env.Semantics, b)
				rows = append(rows, texts...)
				return err
			})
		}()
		time.Sleep(runFor)
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := env.Alloc.CheckLeaks(); err != nil {
			t.Error(err)
		}
	})
	return counts, rows
}

func TestRowGeneratorWithoutEnd(t *testing.T) {
	counts, rows := endless(t, "1000", 2500*time.Millisecond)
	if diff := cmp.Diff([]int{1, 1, 1}, counts); diff != "" {
		t.Error("each row leaves at once:", diff)
	}
	want := []string{
		"2000/01/01 00:00:00.000|<null>|x", "2000/01/01 00:00:01.000|2000/01/01 00:00:00.000|x", "2000/01/01 00:00:02.000|2000/01/01 00:00:01.000|x",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	counts, _ = endless(t, "50", 925*time.Millisecond)
	total := 0
	for _, n := range counts {
		total += n
	}
	if len(counts) > 6 || total != 19 {
		t.Errorf("rows leave in %v; want 19 of them, together when they come fast", counts)
	}
}

func TestGetVariable(t *testing.T) {
	field := `<fields><field><name>a</name><variable>${A}-${MISSING}</variable><type>String</type></field>
		<field><name>n</name><variable>${N}</variable><type>Integer</type><format>#</format><trim_type>both</trim_type></field></fields>`
	vars := map[string]string{"A": "x", "N": " 7 "}
	runExamples(t, generate.GetVariable, map[string]example{
		"one row":             {xml: field, vars: vars, want: []string{"x-${MISSING}|7"}, layout: "a String, n Integer"},
		"appended":            {xml: field, vars: vars, input: oneField("A", "1", nil), want: []string{"1|x-${MISSING}|7", "<null>|x-${MISSING}|7"}, layout: "A String, a_1 String, n Integer"},
		"empty":               {xml: field, vars: map[string]string{"N": ""}, want: []string{"${A}-${MISSING}|<null>"}},
		"of no number":        {xml: field, vars: map[string]string{"N": "x"}, err: `"x" cannot become Integer`},
		"no rows, no results": {xml: field, vars: vars, input: oneField("A")},
	})
}

func TestSystemInfo(t *testing.T) {
	facts := func(codes ...string) string {
		xml := "<fields>"
		for i, c := range codes {
			xml += fmt.Sprintf("<field><name>f%d</name><type>%s</type></field>", i, c)
		}
		return xml + "</fields>"
	}
	// The clock of the tests: Tuesday, 2024-12-31 23:59:59.123.
	dates := map[string]string{
		"system date (variable)": "2024/12/31 23:59:59.123", "system date (fixed)": "2024/12/31 23:59:59.123",
		"yesterday start": "2024/12/30 00:00:00.000", "today end": "2024/12/31 23:59:59.999", "tomorrow start": "2025/01/01 00:00:00.000",
		"last month start": "2024/11/01 00:00:00.000", "last month end": "2024/11/30 23:59:59.999", "next month end": "2025/01/31 23:59:59.999",
		"this week start": "2024/12/29 00:00:00.000", "this week end": "2025/01/04 23:59:59.999", "this week open end": "2025/01/04 23:59:59.999",
		"last week start us": "2024/12/22 00:00:00.000", "next week end us": "2025/01/11 23:59:59.999",
		"prev quarter start": "2024/07/01 00:00:00.000", "this quarter end": "2024/12/31 23:59:59.999", "next quarter start": "2025/01/01 00:00:00.000",
		"prev year end": "2023/12/31 23:59:59.999", "this year start": "2024/01/01 00:00:00.000", "next year end": "2025/12/31 23:59:59.999",
	}
	for code, want := range dates {
		out := transformtest.Run(t, transformtest.Case{Definition: generate.SystemInfo, XML: facts(code)})
		if out.Err != nil || len(out.Main()) != 1 || out.Main()[0] != want {
			t.Errorf("%s is %v (%v), want %s", code, out.Main(), out.Err, want)
		}
	}
	runExamples(t, generate.SystemInfo, map[string]example{
		"codes with a blank": {
			xml: facts(" pipeline name", "pipeline file name", "copy of transform", "previous result nr errors", "previous result result"), input: oneField("a", "x"),
			env: func(e *transform.Env) {
				e.Copy = 2
				e.Results.(*transformtest.Results).Before = transform.Result{OK: true, Errors: 3}
			},
			want: []string{"x|test pipeline|<null>|2|3|Y"},
		},
		"an unknown code": {xml: facts("moon phase"), err: `no system info "moon phase"`},
	})
	out := transformtest.Run(t, transformtest.Case{Definition: generate.SystemInfo, Fixed: true, XML: facts("Current PID", "available processors", "Hostname", "jvm total memory", "jvm max memory", "IP address", "total physical memory size")})
	for i, v := range strings.Split(out.Main()[0], "|") {
		if v == "" || (v == "<null>" && i < 6) {
			t.Errorf("fact %d is %q", i, v)
		}
	}
	if want := strconv.Itoa(os.Getpid()); !strings.Contains(out.Main()[0], want) {
		t.Errorf("%s does not hold the process id %s", out.Main()[0], want)
	}
}

func TestSystemInfoKnowsAllCodes(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	choices := generate.SystemFact("").Choices()
	if len(choices) < 75 {
		t.Errorf("%d codes", len(choices))
	}
	xml := "<fields>"
	for i, c := range choices {
		xml += fmt.Sprintf("<field><name>f%d</name><type>%s</type></field>", i, c.Code)
	}
	p, err := transformtest.Settings(t, generate.SystemInfo, xml+"</fields>").Start(env, transform.Links{})
	if err != nil {
		t.Fatal(err)
	}
	err = p.(transform.Source).Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
		b.Release()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A seed gives the values of java.util.Random.
func TestRandomValueWithASeed(t *testing.T) {
	runExamples(t, generate.RandomValue, map[string]example{
		"numbers":     {xml: `<seed>42</seed><fields><field><name>i</name><type>random integer</type></field></fields>`, input: oneField("a", "x", "y"), want: []string{"x|-1170105035", "y|234785527"}, layout: "a String, i Integer"},
		"fractions":   {xml: `<seed>${S}</seed><fields><field><name>n</name><type>random number</type></field></fields>`, vars: map[string]string{"S": "42"}, want: []string{"0.72756368"}},
		"texts":       {xml: `<seed>42</seed><fields><field><name>s</name><type>random string</type></field></fields>`, want: []string{strconv.FormatInt(5025562857975149833, 32)}},
		"a bad seed":  {xml: `<seed>x</seed><fields><field><name>s</name><type>random string</type></field></fields>`, err: "seed"},
		"an odd kind": {xml: `<fields><field><name>s</name><type>random cat</type></field></fields>`, err: `"random cat"`},
	})
}

func TestRandomValueShapes(t *testing.T) {
	for kind, length := range map[string]int{"random uuid": 36, "random uuid4": 36, "random machmacmd5": 32, "random machmacsha1": 40, "random machmacsha256": 64, "random machmacsha384": 96, "random machmacsha512": 128} {
		out := transformtest.Run(t, transformtest.Case{Definition: generate.RandomValue, Fixed: true, XML: `<fields><field><name>v</name><type>` + kind + `</type></field></fields>`})
		if out.Err != nil || len(out.Main()) != 1 || len(out.Main()[0]) != length {
			t.Errorf("%s gives %v (%v), want %d characters", kind, out.Main(), out.Err, length)
		}
	}
}

func TestFake(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: generate.Fake, Fixed: true, Inputs: []transformtest.Input{*oneField("k", "a", "b", "c")},
		XML: `<locale>en</locale><fields>
			<field><name>first</name><type>Name</type><topic>firstName</topic></field>
			<field><name>age</name><type>number</type><topic>numberBetween</topic><arguments><argument><type>int</type><value>18</value></argument><argument><type>int</type><value>65</value></argument></arguments></field>
			<field><name>when</name><type>DateAndTime</type><topic>birthday</topic></field>
			<field><name>odd</name><type>GameOfThrones</type><topic>dragon</topic></field>
			<field><name>left out</name><type/><topic/></field>
			<field><name>md5</name><type>Crypto</type><topic>md5</topic></field></fields>`,
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if got, want := out.Fields(transform.Main), "k String, first String, age Integer, when Date, odd String, md5 String"; got != want {
		t.Errorf("fields are %q, want %q", got, want)
	}
	for _, row := range out.Main() {
		v := strings.Split(row, "|")
		if age, err := strconv.Atoi(v[2]); err != nil || age < 18 || age >= 65 {
			t.Errorf("age %q", v[2])
		}
		if v[1] == "" || v[4] == "" || len(v[5]) != 32 || v[3] > "2007" || v[3] < "1959" {
			t.Errorf("row %q", row)
		}
	}
	if !strings.Contains(out.Log, "dragon") {
		t.Error("the log does not tell of the topic that is not known")
	}
	bad := transformtest.Run(t, transformtest.Case{
		Definition: generate.Fake, Fixed: true, Inputs: []transformtest.Input{*oneField("k", "a")},
		XML: `<fields><field><name>n</name><type>number</type><topic>numberBetween</topic><arguments><argument><value>x</value></argument></arguments></field></fields>`,
	})
	if bad.Err == nil {
		t.Error("want an error for an argument that is no number")
	}
}

func TestInjector(t *testing.T) {
	runExamples(t, generate.Injector, map[string]example{
		"no rows of its own": {xml: `<fields><field><name>a</name><type>Integer</type><length>9</length><precision>0</precision></field></fields>`, layout: "a Integer"},
		"passes its input":   {input: oneField("k", "x"), want: []string{"x"}, layout: "k String"},
	})
}

func TestNewInjected(t *testing.T) {
	env, _ := transformtest.NewEnv(t, nil)
	schema := batch.NewSchema(batch.NewField("k", batch.String))
	s := generate.NewInjected(schema, func(e *transform.Env) ([]*batch.Batch, error) {
		return []*batch.Batch{transformtest.Batch(e, schema, [][]any{{"a"}, {"b"}}), transformtest.Batch(e, schema, [][]any{{"c"}})}, nil
	})
	if out, err := s.Output(transform.Links{}, env.Design); err != nil || out[transform.Main] != schema {
		t.Fatalf("%v %v", out, err)
	}
	var got []string
	produce := func(stopAfter int) error {
		p, err := s.Start(env, transform.Links{})
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		return p.(transform.Source).Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
			defer b.Release()
			texts, err := transformtest.Texts(env.Semantics, b)
			got = append(got, texts...)
			if err == nil && len(got) >= stopAfter {
				err = context.Canceled
			}
			return err
		})
	}
	if err := produce(99); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Error(diff)
	}
	if err := produce(1); err == nil {
		t.Error("want the error of emit")
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
	if _, err := s.Output(transform.Links{Inputs: []transform.Input{{Schema: batch.NewSchema()}}}, env.Design); err == nil {
		t.Error("want an error for an input of another layout")
	}
}

func TestDataSetInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("metadata/dataset/people.json", `{"name":"people","base_filename":"people.csv","folder_name":"${FOLDER}","dataset_fields":[
		{"field_name":"name","field_type":2,"field_length":-1,"field_precision":-1,"field_format":""},
		{"field_name":"age","field_type":5,"field_length":-1,"field_precision":-1,"field_format":""}]}`)
	write("data/people.csv", "name,age\nAnn,7\n\"B, \"\"x\"\"\",\n")
	env := func(e *transform.Env) {
		e.Files = files.Local{}
		e.Design.(*transformtest.Design).Meta = project.OpenMetadata(filepath.Join(dir, "metadata"))
	}
	runExamples(t, generate.DataSetInput, map[string]example{
		"rows":      {xml: `<dataSetName>${SET}</dataSetName>`, vars: map[string]string{"SET": "people", "FOLDER": filepath.Join(dir, "data")}, env: env, want: []string{"Ann|7", `B, "x"|<null>`}, layout: "name String, age Integer"},
		"not there": {xml: `<dataSetName>nobody</dataSetName>`, env: env, err: "nobody"},
		"not named": {env: env, err: "no data set is named"},
	})
}
