package sql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	family "sluice/engine/transforms/sql"
)

func TestTableOutput(t *testing.T) {
	const table = "create table people(id INTEGER PRIMARY KEY, name TEXT, extra TEXT default '-'); insert into people values (9, 'old', 'x');"
	all := []string{"1|Ada|-", "2|Bob|-", "3|<nil>|-", "4|Dan|-", "5|<nil>|-"}
	cases := map[string]struct {
		xml    string
		before string
		want   []string
		main   []string // nil: as they came
	}{
		"all fields":        {xml: `<table>people</table>`, want: append(append([]string{}, all...), "9|old|x")},
		"commit of two":     {xml: `<table>people</table><commit>2</commit>`, want: append(append([]string{}, all...), "9|old|x")},
		"autocommit":        {xml: `<table>people</table><commit>0</commit>`, want: append(append([]string{}, all...), "9|old|x")},
		"truncate":          {xml: `<table>${TABLE}</table><truncate>Y</truncate>`, want: all},
		"schema":            {xml: `<schema>main</schema><table>people</table><truncate>Y</truncate>`, want: all},
		"specified columns": {xml: `<table>people</table><truncate>Y</truncate><specify_fields>Y</specify_fields><fields><field><column_name>id</column_name><stream_name>id</stream_name></field><field><column_name>EXTRA</column_name><stream_name>Name</stream_name></field></fields>`, want: []string{"1|<nil>|Ada", "2|<nil>|Bob", "3|<nil>|<nil>", "4|<nil>|Dan", "5|<nil>|<nil>"}},
		"table made":        {xml: `<table>new one</table><auto_update_table_structure>Y</auto_update_table_structure>`, before: "", want: nil},
		"table made anew":   {xml: `<table>people</table><auto_update_table_structure>Y</auto_update_table_structure><always_drop_and_recreate>Y</always_drop_and_recreate>`, want: []string{"1|Ada", "2|Bob", "3|<nil>", "4|Dan", "5|<nil>"}},
		"columns added":     {xml: `<table>people</table><truncate>Y</truncate><auto_update_table_structure>Y</auto_update_table_structure><add_columns>Y</add_columns>`, before: "alter table people drop column name", want: []string{"1|-|Ada", "2|-|Bob", "3|-|<nil>", "4|-|Dan", "5|-|<nil>"}},
		"columns dropped":   {xml: `<table>people</table><truncate>Y</truncate><auto_update_table_structure>Y</auto_update_table_structure><drop_columns>Y</drop_columns>`, want: []string{"1|Ada", "2|Bob", "3|<nil>", "4|Dan", "5|<nil>"}},
		"generated keys":    {xml: `<table>people</table><truncate>Y</truncate><return_keys>Y</return_keys><return_field>key</return_field><specify_fields>Y</specify_fields><fields><field><column_name>name</column_name><stream_name>name</stream_name></field></fields>`, want: all, main: []string{"1|Ada|1", "2|Bob|2", "3|<null>|3", "4|Dan|4", "5||5"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: table + c.before}
			out := transformtest.Run(t, transformtest.Case{
				Definition: family.TableOutput, XML: "<connection>db</connection>" + c.xml, Inputs: people(), Vars: map[string]string{"TABLE": "people"}, Env: b.env,
			})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if name == "table made" {
				if diff := cmp.Diff([]string{"1|Ada", "2|Bob", "3|<nil>", "4|Dan", "5|<nil>"}, b.rows("select * from `new one`")); diff != "" {
					t.Error(diff)
				}
				return
			}
			if diff := cmp.Diff(c.want, b.rows("select * from people order by id")); diff != "" {
				t.Error(diff)
			}
			if c.main == nil {
				c.main = []string{"1|Ada", "2|Bob", "3|<null>", "4|Dan", "5|"}
			}
			if diff := cmp.Diff(c.main, out.Main()); diff != "" {
				t.Error(diff)
			}
			if n := out.Env.Counters.Output.Load(); n != 5 {
				t.Errorf("output %d", n)
			}
		})
	}
}

func TestTableOutputTruncatesWithoutRowsToo(t *testing.T) {
	for flag, want := range map[string]int{"": 0, "<only_when_have_rows>Y</only_when_have_rows>": 1} {
		b := &base{t: t, script: "create table people(id, name); insert into people values (9, 'old')"}
		in := people()
		in[0].Rows = nil
		out := transformtest.Run(t, transformtest.Case{
			Definition: family.TableOutput, XML: "<connection>db</connection><table>people</table><truncate>Y</truncate>" + flag, Inputs: in, Env: b.env,
		})
		if got := b.rows("select * from people"); out.Err != nil || len(got) != want {
			t.Errorf("%q: got %v, %v", flag, got, out.Err)
		}
	}
}

func TestTableOutputFailureTakesBackTheOpenTransaction(t *testing.T) {
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"nothing was committed": {"", []string{"9"}},
		"some were committed":   {"<commit>2</commit>", []string{"1", "2", "9"}},
		"truncation too":        {"<truncate>Y</truncate>", []string{"9"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: "create table people(id INTEGER check (id <> 4), name TEXT); insert into people values (9, 'old')"}
			out := transformtest.Run(t, transformtest.Case{
				Definition: family.TableOutput, XML: "<connection>db</connection><table>people</table>" + c.xml, Inputs: people(), Env: b.env,
			})
			fails(t, out, "row 4", "CHECK")
			if diff := cmp.Diff(c.want, b.rows("select id from people order by id")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTableOutputSendsBadRowsToTheErrorHop(t *testing.T) {
	b := &base{t: t, script: "create table people(id INTEGER check (id % 2 = 1), name TEXT)"}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.TableOutput, XML: "<connection>db</connection><table>people</table>", Inputs: people(), Env: b.env,
		Error: &transform.ErrorLink{Target: "bad", CodeField: "code", CountField: "n"},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"2|Bob|1|TOP001", "4|Dan|1|TOP001"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1|Ada", "3|<null>", "5|"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1", "3", "5"}, b.rows("select id from people order by id")); diff != "" {
		t.Error(diff)
	}
	if w, r := out.Env.Counters.Output.Load(), out.Env.Counters.Rejected.Load(); w != 3 || r != 2 {
		t.Errorf("output %d, rejected %d", w, r)
	}
}

func TestTableOutputIgnoresErrorsWhenTold(t *testing.T) {
	b := &base{t: t, script: "create table people(id INTEGER check (id % 2 = 1), name TEXT)"}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.TableOutput, XML: "<connection>db</connection><table>people</table><ignore_errors>Y</ignore_errors>", Inputs: people(), Env: b.env,
	})
	if out.Err != nil || len(out.Main()) != 5 || len(b.rows("select id from people")) != 3 || !strings.Contains(out.Log, "CHECK") {
		t.Errorf("got %v, %v, log %s", out.Main(), out.Err, out.Log)
	}
}

func TestTableOutputChoosesTheTableByRow(t *testing.T) {
	in := []transformtest.Input{{
		Fields: []batch.Field{batch.NewField("t", batch.String), batch.NewField("v", batch.Integer), batch.NewField("day", batch.Date)},
		Rows: [][]any{
			{"one", 1, time.Date(2024, 5, 16, 0, 0, 0, 0, time.UTC)},
			{"two", 2, time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)},
			{"one", 3, time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)},
		},
	}}
	cases := map[string]struct {
		xml, script, query string
		want               []string
	}{
		"field": {
			"<tablename_in_field>Y</tablename_in_field><tablename_field>t</tablename_field>",
			"create table one(v, day); create table two(v, day)", "select 'one', v from one union all select 'two', v from two",
			[]string{"one|1", "one|3", "two|2"},
		},
		"field, stored": {
			"<tablename_in_field>Y</tablename_in_field><tablename_field>t</tablename_field><tablename_in_table>Y</tablename_in_table>",
			"create table one(t, v, day); create table two(t, v, day)", "select t, v from one union all select t, v from two",
			[]string{"one|1", "one|3", "two|2"},
		},
		"month": {
			"<table>log</table><partitioning_enabled>Y</partitioning_enabled><partitioning_monthly>Y</partitioning_monthly><partitioning_field>day</partitioning_field>",
			"create table log_202405(t, v, day); create table log_202406(t, v, day)", "select 5, v from log_202405 union all select 6, v from log_202406",
			[]string{"5|1", "5|3", "6|2"},
		},
		"day": {
			"<table>log</table><partitioning_enabled>Y</partitioning_enabled><partitioning_daily>Y</partitioning_daily><partitioning_field>day</partitioning_field>",
			"create table log_20240516(t, v, day); create table log_20240601(t, v, day); create table log_20240501(t, v, day)", "select v from log_20240516 union all select v from log_20240601",
			[]string{"1", "2"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: c.script}
			out := transformtest.Run(t, transformtest.Case{Definition: family.TableOutput, XML: "<connection>db</connection>" + c.xml, Inputs: in, Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, b.rows(c.query)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTableOutputRefusesWhatIsNotThere(t *testing.T) {
	cases := map[string]struct{ xml, want string }{
		"table":    {"<table>nowhere</table>", "nowhere"},
		"column":   {"<table>people</table>", "name"},
		"no table": {"<table/>", "no table is named"},
		"field":    {"<table>people</table><specify_fields>Y</specify_fields><fields><field><column_name>id</column_name><stream_name>nix</stream_name></field></fields>", "the input has id, name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: "create table people(id)"}
			fails(t, transformtest.Run(t, transformtest.Case{Definition: family.TableOutput, XML: "<connection>db</connection>" + c.xml, Inputs: people(), Env: b.env}), c.want)
		})
	}
}

// Two copies truncate once, before either of them inserts.
func TestTableOutputCopiesTruncateOnce(t *testing.T) {
	b := &base{t: t, script: "create table people(id, name); insert into people values (9, 'old')"}
	env, _ := transformtest.NewEnv(t, nil)
	b.env(env)
	env.Copies = 2
	s := transformtest.Settings(t, family.TableOutput, "<connection>db</connection><table>people</table><truncate>Y</truncate><commit>1</commit>")
	in := people()[0]
	links := transform.Links{Transform: "out", Copies: 2, Inputs: []transform.Input{{From: "in", Schema: batch.NewSchema(in.Fields...)}}}
	emit := func(_ transform.Port, b *batch.Batch) error { b.Release(); return nil }
	for range 2 {
		p, err := s.Start(env, links)
		if err != nil {
			t.Fatal(err)
		}
		rows := transformtest.Batch(env, links.Main(), in.Rows)
		if err := p.(transform.RowWise).Apply(t.Context(), rows, emit); err != nil {
			t.Fatal(err)
		}
		rows.Release()
		if err := errors.Join(p.(transform.Finisher).Finish(t.Context(), emit), p.(transform.Sink).Commit(t.Context()), p.(interface{ Close() error }).Close()); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.rows("select count(*), min(id), max(id) from people"); got[0] != "10|1|5" {
		t.Errorf("got %v", got)
	}
}

// The transaction lives on when the context of the rows has ended.
func TestTableOutputCommitsAfterItsContextEnded(t *testing.T) {
	b := &base{t: t, script: "create table people(id, name)"}
	env, _ := transformtest.NewEnv(t, nil)
	b.env(env)
	in := people()[0]
	links := transform.Links{Transform: "out", Copies: 1, Inputs: []transform.Input{{From: "in", Schema: batch.NewSchema(in.Fields...)}}}
	p, err := transformtest.Settings(t, family.TableOutput, "<connection>db</connection><table>people</table>").Start(env, links)
	if err != nil {
		t.Fatal(err)
	}
	rows := transformtest.Batch(env, links.Main(), in.Rows)
	defer rows.Release()
	ctx, cancel := context.WithCancel(t.Context())
	if err := p.(transform.RowWise).Apply(ctx, rows, func(_ transform.Port, b *batch.Batch) error { b.Release(); return nil }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := errors.Join(p.(transform.Sink).Commit(t.Context()), p.(interface{ Close() error }).Close()); err != nil {
		t.Fatal(err)
	}
	if got := b.rows("select count(*) from people"); got[0] != "5" {
		t.Errorf("got %v", got)
	}
}

const stock = `create table stock(code TEXT, place TEXT, amount INTEGER, note TEXT);
	insert into stock values ('a', 'x', 1, 'n1'), ('b', 'x', 2, 'n2'), ('c', null, 3, 'n3')`

func movements() []transformtest.Input {
	return []transformtest.Input{{
		Fields: []batch.Field{batch.NewField("code", batch.String), batch.NewField("place", batch.String), batch.NewField("amount", batch.String), batch.NewField("op", batch.String)},
		Rows:   [][]any{{"a", "x", "1", "same"}, {"b", "x", "20", "upd"}, {"c", nil, "30", "upd"}, {"d", "x", "4", "ins"}},
	}}
}

const stockKeys = `<key><name>code</name><field>code</field><condition>=</condition></key>`

func TestInsertUpdate(t *testing.T) {
	const values = `<value><name>code</name><rename>code</rename><update>N</update></value><value><name>place</name><rename/><update>N</update></value><value><name>amount</name><rename>amount</rename><update>Y</update></value>`
	cases := map[string]struct {
		xml              string
		want             []string
		inserts, updates int64
	}{
		"one key":        {`<lookup><table>stock</table>` + stockKeys + values + `</lookup>`, []string{"a|x|1|n1", "b|x|20|n2", "c|<nil>|30|n3", "d|x|4|<nil>"}, 1, 2},
		"null is no key": {`<lookup><table>stock</table>` + stockKeys + `<key><name>place</name><field>place</field><condition>=</condition></key>` + values + `</lookup>`, []string{"a|x|1|n1", "b|x|20|n2", "c|<nil>|3|n3", "c|<nil>|30|<nil>", "d|x|4|<nil>"}, 2, 1},
		"null is a key":  {`<lookup><table>stock</table>` + stockKeys + `<key><name>place</name><field>place</field><condition>= ~NULL</condition></key>` + values + `</lookup>`, []string{"a|x|1|n1", "b|x|20|n2", "c|<nil>|30|n3", "d|x|4|<nil>"}, 1, 2},
		"no updates":     {`<update_bypassed>Y</update_bypassed><lookup><table>stock</table>` + stockKeys + values + `</lookup>`, []string{"a|x|1|n1", "b|x|2|n2", "c|<nil>|3|n3", "d|x|4|<nil>"}, 1, 0},
		"other operator": {`<lookup><table>stock</table>` + stockKeys + `<key><name>amount</name><field>amount</field><condition>&lt;</condition></key>` + values + `</lookup>`, nil, 2, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: stock}
			out := transformtest.Run(t, transformtest.Case{Definition: family.InsertUpdate, XML: "<connection>db</connection>" + c.xml, Inputs: movements(), Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if got := b.rows("select * from stock order by 1, 3"); c.want != nil && !cmp.Equal(c.want, got) {
				t.Error(cmp.Diff(c.want, got))
			}
			n := out.Env.Counters
			if n.Input.Load() != 4 || n.Output.Load() != c.inserts || n.Updated.Load() != c.updates || len(out.Main()) != 4 {
				t.Errorf("input %d, output %d, updated %d, rows %v", n.Input.Load(), n.Output.Load(), n.Updated.Load(), out.Main())
			}
		})
	}
}

func TestInsertUpdateRefusesSettingsThatCannotWork(t *testing.T) {
	cases := map[string]struct{ xml, want string }{
		"no keys":      {`<lookup><table>stock</table><value><name>code</name></value></lookup>`, "no keys"},
		"field":        {`<lookup><table>stock</table>` + stockKeys + `<value><name>nix</name></value></lookup>`, "the input has code"},
		"twice":        {`<lookup><table>stock</table>` + stockKeys + `<value><name>code</name></value><value><name>CODE</name><rename>op</rename></value></lookup>`, "written twice"},
		"between":      {`<lookup><table>stock</table><key><name>code</name><field>code</field><condition>BETWEEN</condition></key><value><name>code</name></value></lookup>`, `field "" not found`},
		"not a number": {`<lookup><table>stock</table>` + stockKeys + `<value><name>amount</name><rename>op</rename><update>Y</update></value></lookup>`, "same"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: stock}
			fails(t, transformtest.Run(t, transformtest.Case{Definition: family.InsertUpdate, XML: "<connection>db</connection>" + c.xml, Inputs: movements(), Env: b.env}), c.want)
		})
	}
}

func TestUpdate(t *testing.T) {
	const xml = `<connection>db</connection><lookup><table>stock</table>` + stockKeys + `<value><name>amount</name><rename>amount</rename></value></lookup>`
	changed := []string{"a|1", "b|20", "c|30"}
	cases := map[string]struct {
		xml     string
		onError bool
		want    []string
		main    []string
		bad     []string
		updated int64
		wrong   string
	}{
		"not found":   {wrong: "no row with this key"},
		"error hop":   {onError: true, want: changed, main: []string{"a|x|1|same", "b|x|20|upd", "c|<null>|30|upd"}, bad: []string{"d|x|4|ins|code|UPD001"}, updated: 2},
		"ignored":     {xml: `<error_ignored>Y</error_ignored><ignore_flag_field>there</ignore_flag_field>`, want: changed, main: []string{"a|x|1|same|Y", "b|x|20|upd|Y", "c|<null>|30|upd|Y", "d|x|4|ins|N"}, updated: 2},
		"skip lookup": {xml: `<skip_lookup>Y</skip_lookup><ignore_flag_field>there</ignore_flag_field>`, want: changed, main: []string{"a|x|1|same|Y", "b|x|20|upd|Y", "c|<null>|30|upd|Y", "d|x|4|ins|Y"}, updated: 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: stock}
			tc := transformtest.Case{Definition: family.Update, XML: xml + c.xml, Inputs: movements(), Env: b.env}
			if c.onError {
				tc.Error = &transform.ErrorLink{Target: "bad", FieldField: "fields", CodeField: "code_"}
			}
			out := transformtest.Run(t, tc)
			if c.wrong != "" {
				fails(t, out, c.wrong, "row 4")
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, b.rows("select code, amount from stock order by 1")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.main, out.Main()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.bad, out.Rows[transform.Error]); diff != "" {
				t.Error(diff)
			}
			if n := out.Env.Counters.Updated.Load(); n != c.updated {
				t.Errorf("updated %d, want %d", n, c.updated)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	cases := map[string]struct {
		keys string
		want []string
	}{
		"equal":       {stockKeys, nil},
		"like":        {`<key><name>place</name><field>place</field><condition>LIKE</condition></key>`, []string{"c"}},
		"is null":     {`<key><name/><field>place</field><condition>IS NULL</condition></key>`, []string{"a", "b"}},
		"is not null": {`<key><name/><field>place</field><condition>IS NOT NULL</condition></key>`, []string{"c"}},
		"between":     {`<key><name>amount</name><field>amount</field><condition>BETWEEN</condition><name2>amount</name2></key>`, []string{"b", "c"}},
		"unequal":     {`<key><name>code</name><field>code</field><condition>&lt;&gt;</condition></key>`, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: stock}
			out := transformtest.Run(t, transformtest.Case{Definition: family.Delete, XML: `<connection>db</connection><lookup><table>stock</table>` + c.keys + `</lookup>`, Inputs: movements(), Env: b.env})
			if out.Err != nil || len(out.Main()) != 4 {
				t.Fatalf("%v, %v", out.Main(), out.Err)
			}
			if diff := cmp.Diff(c.want, b.rows("select code from stock order by 1")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSynchronizeAfterMerge(t *testing.T) {
	in := movements()
	in[0].Rows = [][]any{{"a", "x", "1", "same"}, {"b", "x", "20", "upd"}, {"c", nil, "30", "del"}, {"d", "x", "4", "ins"}}
	const xml = `<connection>db</connection><operation_order_field>op</operation_order_field><order_insert>ins</order_insert><order_update>upd</order_update><order_delete>del</order_delete>
		<lookup><table>stock</table>` + stockKeys + `<value><name>code</name><update>N</update></value><value><name>amount</name><update>Y</update></value></lookup>`
	for _, lookup := range []string{"", "<perform_lookup>Y</perform_lookup>"} {
		b := &base{t: t, script: stock}
		out := transformtest.Run(t, transformtest.Case{Definition: family.SynchronizeAfterMerge, XML: xml + lookup, Inputs: in, Env: b.env})
		if out.Err != nil || len(out.Main()) != 4 {
			t.Fatalf("%v, %v", out.Main(), out.Err)
		}
		if diff := cmp.Diff([]string{"a|1", "b|20", "d|4"}, b.rows("select code, amount from stock order by 1")); diff != "" {
			t.Error(diff)
		}
		if n := out.Env.Counters; n.Output.Load() != 1 || n.Updated.Load() != 2 {
			t.Errorf("output %d, updated %d", n.Output.Load(), n.Updated.Load())
		}
	}
	in[0].Rows = append(in[0].Rows, []any{"zz", "x", "1", "del"}, []any{"a", "x", "1", nil})
	b := &base{t: t, script: stock}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.SynchronizeAfterMerge, XML: xml + "<perform_lookup>Y</perform_lookup>", Inputs: in, Env: b.env,
		Error: &transform.ErrorLink{Target: "bad", DescriptionField: "why"},
	})
	if out.Err != nil || len(out.Main()) != 4 || len(out.Rows[transform.Error]) != 2 || !strings.Contains(out.Rows[transform.Error][0], "zz") {
		t.Errorf("%v, %v", out.Rows, out.Err)
	}
}
