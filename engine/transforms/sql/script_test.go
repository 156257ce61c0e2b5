package sql_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	family "sluice/engine/transforms/sql"
)

const counters = `<insert_field>ins</insert_field><update_field>upd</update_field><delete_field>del</delete_field><read_field>rd</read_field>`

func TestExecSQLOnce(t *testing.T) {
	cases := map[string]struct {
		xml    string
		inputs []transformtest.Input
		want   []string
		fields string
	}{
		"as a source":      {`<sql>insert into t values (${A}); insert into t values (2),(3); update t set a = a where a > 1; delete from t where a = 3; select * from t</sql><replace_variables>Y</replace_variables>` + counters, nil, []string{"2|3|1|2"}, "upd Integer, ins Integer, del Integer, rd Integer"},
		"rows end here":    {`<sql>insert into t values (1)</sql><insert_field>ins</insert_field>`, people(), []string{"1"}, "ins Integer"},
		"without counters": {`<sql>insert into t values (1)</sql>`, nil, []string{""}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: "create table t(a INTEGER)"}
			out := transformtest.Run(t, transformtest.Case{Definition: family.ExecSQL, XML: "<connection>db</connection>" + c.xml, Inputs: c.inputs, Vars: map[string]string{"A": "1"}, Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if got := out.Fields("main"); got != c.fields {
				t.Errorf("fields %q", got)
			}
			if got := b.rows("select a from t where a = 1"); len(got) != 1 {
				t.Errorf("table %v", got)
			}
		})
	}
}

func TestExecSQLForEachRow(t *testing.T) {
	args := `<arguments><argument><name>id</name></argument><argument><name>name</name></argument></arguments>`
	cases := map[string]struct {
		xml  string
		want []string
		main []string
	}{
		"bound":            {`<sql>insert into t values (?, ?)</sql><set_params>Y</set_params>` + args, []string{"1|Ada", "2|Bob", "3|<nil>", "4|Dan", "5|<nil>"}, nil},
		"bound, two":       {`<sql>insert into t(a) values (?); update t set b = ? where b is null</sql><set_params>Y</set_params>` + args, []string{"1|Ada", "2|Bob", "3|Dan", "4|Dan", "5|<nil>"}, nil},
		"quoted":           {`<sql>insert into t values (?, ?)</sql><quoteString>Y</quoteString>` + args, []string{"1|Ada", "2|Bob", "3|", "4|Dan", "5|"}, nil},
		"replaced by text": {`<sql>insert into t values (?, '?!')</sql>` + args, []string{"1|Ada!", "2|Bob!", "3|!", "4|Dan!", "5|!"}, nil},
		"one statement":    {`<sql>insert into t values (?, ';'||?)</sql><single_statement>Y</single_statement><set_params>Y</set_params>` + args, []string{"1|;Ada", "2|;Bob", "3|<nil>", "4|;Dan", "5|<nil>"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: "create table t(a INTEGER, b TEXT)"}
			out := transformtest.Run(t, transformtest.Case{Definition: family.ExecSQL, XML: "<connection>db</connection><execute_each_row>Y</execute_each_row><insert_field>n</insert_field>" + c.xml, Inputs: people(), Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, b.rows("select a, b from t order by a")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"1|Ada|1", "2|Bob|1", "3|<null>|1", "4|Dan|1", "5||1"}, out.Main()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExecSQLErrors(t *testing.T) {
	b := &base{t: t, script: "create table t(a INTEGER check (a <> 2))"}
	xml := `<connection>db</connection><execute_each_row>Y</execute_each_row><set_params>Y</set_params><sql>insert into t values (?)</sql><arguments><argument><name>id</name></argument></arguments>`
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.ExecSQL, XML: xml, Inputs: people(), Env: b.env, Error: &transform.ErrorLink{Target: "bad", CodeField: "code"},
	})
	if out.Err != nil || len(out.Main()) != 4 || !cmp.Equal(out.Rows[transform.Error], []string{"2|Bob|ExecSql001"}) {
		t.Errorf("%v, %v", out.Rows, out.Err)
	}
	fails(t, transformtest.Run(t, transformtest.Case{Definition: family.ExecSQL, XML: xml, Inputs: people(), Env: b.env}), "row 2", "CHECK")
	fails(t, transformtest.Run(t, transformtest.Case{
		Definition: family.ExecSQL, XML: `<connection>db</connection><execute_each_row>Y</execute_each_row><sql>select ?, ?</sql><arguments><argument><name>id</name></argument></arguments>`, Inputs: people(), Env: b.env,
	}), "2 question marks, but 1 fields")
	fails(t, transformtest.Run(t, transformtest.Case{Definition: family.ExecSQL, XML: `<connection>db</connection><sql>drop table nowhere</sql>`, Env: b.env}), "nowhere")
}

func TestExecSQLRow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.sql")
	if err := os.WriteFile(file, []byte("insert into t values (7); delete from t where a = 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	in := func(scripts ...string) []transformtest.Input {
		i := transformtest.Input{Fields: []batch.Field{batch.NewField("q", batch.String)}}
		for _, s := range scripts {
			i.Rows = append(i.Rows, []any{s})
		}
		return []transformtest.Input{i}
	}
	cases := map[string]struct {
		xml    string
		inputs []transformtest.Input
		counts []string
		table  []string
	}{
		"script":        {"", in("insert into t values (2); insert into t values (3)", "update t set a = a"), []string{"0|2|0|0", "3|0|0|0"}, []string{"1", "2", "3"}},
		"commit of two": {"<commit>2</commit>", in("insert into t values (2)", "insert into t values (3)", "select * from t"), []string{"0|1|0|0", "0|1|0|0", "0|0|0|3"}, []string{"1", "2", "3"}},
		"file":          {"<sqlFromfile>Y</sqlFromfile>", in(file), []string{"0|1|1|0"}, []string{"7"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: "create table t(a INTEGER); insert into t values (1)"}
			out := transformtest.Run(t, transformtest.Case{Definition: family.ExecSQLRow, XML: "<connection>db</connection><sql_field>q</sql_field>" + counters + c.xml, Inputs: c.inputs, Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			var want []string
			for i, n := range c.counts {
				want = append(want, c.inputs[0].Rows[i][0].(string)+"|"+n)
			}
			if diff := cmp.Diff(want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.table, b.rows("select a from t order by a")); diff != "" {
				t.Error(diff)
			}
		})
	}
	b := &base{t: t, script: "create table t(a INTEGER)"}
	fails(t, transformtest.Run(t, transformtest.Case{
		Definition: family.ExecSQLRow, XML: "<connection>db</connection><sql_field>q</sql_field><commit>10</commit>", Inputs: in("insert into t values (1)", "nonsense"), Env: b.env,
	}), "row 2", "nonsense")
	if got := b.rows("select * from t"); len(got) != 0 {
		t.Errorf("Abort left %v", got)
	}
}
