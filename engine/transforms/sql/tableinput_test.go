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

const shop = `create table orders(id INTEGER PRIMARY KEY, customer INTEGER, total DECIMAL(10,2), day DATE);
	insert into orders values (1, 7, 10.5, '2024-05-16'), (2, 8, 20, null), (3, 7, 5.25, '2024-05-17 10:00:00');`

func TestTableInput(t *testing.T) {
	params := func(rows ...[]any) []transformtest.Input {
		return []transformtest.Input{{From: "params", Info: true, Rows: rows, Fields: []batch.Field{batch.NewField("a", batch.Integer), batch.NewField("b", batch.Integer)}}}
	}
	cases := map[string]struct {
		xml    string
		inputs []transformtest.Input
		want   []string
		fields string
		wrong  string
	}{
		"all rows": {
			xml:    `<sql>select * from orders order by id</sql>`,
			want:   []string{"1|7|10.5|2024/05/16 00:00:00.000", "2|8|20.0|<null>", "3|7|5.25|2024/05/17 10:00:00.000"},
			fields: "id Integer, customer Integer, total BigNumber, day Date",
		},
		"expressions":              {xml: `<sql>select count(*) n, sum(total) s, max(day) d from orders;</sql>`, want: []string{"3|35.75|2024-05-17 10:00:00"}, fields: "n Integer, s Number, d String"},
		"no rows":                  {xml: `<sql>select id from orders where id = 99</sql>`, fields: "id Integer"},
		"two columns of one name":  {xml: `<sql>select id, id from orders where id = 1</sql>`, want: []string{"1|1"}, fields: "id Integer, id_1 Integer"},
		"limit":                    {xml: `<sql>select id from orders order by id</sql><limit>${N}</limit>`, want: []string{"1", "2"}, fields: "id Integer"},
		"variables":                {xml: `<sql>select ${N} n</sql><variables_active>Y</variables_active>`, want: []string{"2"}, fields: "n Integer"},
		"variables left alone":     {xml: `<sql>select '${N}' n</sql>`, want: []string{"${N}"}, fields: "n String"},
		"all parameters at once":   {xml: `<sql>select id from orders where id in (?,?,?,?) order by id</sql><lookup>params</lookup>`, inputs: params([]any{3, 99}, []any{1, nil}), want: []string{"1", "3"}, fields: "id Integer"},
		"each row":                 {xml: `<sql>select ? a, id from orders where customer = ? order by id</sql><lookup>params</lookup><execute_each_row>Y</execute_each_row>`, inputs: params([]any{1, 7}, []any{2, 9}, []any{3, 8}), want: []string{"1|1", "1|3", "3|2"}, fields: "a String, id Integer"},
		"each of no rows":          {xml: `<sql>select ?, ?</sql><lookup>params</lookup><execute_each_row>Y</execute_each_row>`, inputs: params(), fields: "? String, ?_1 String"},
		"named":                    {xml: `<sql>select id, '{a}' x from orders where customer = {B}</sql><lookup>params</lookup><use_named_parameters>Y</use_named_parameters>`, inputs: params([]any{1, 8}), want: []string{"2|{a}"}, fields: "id Integer, x String"},
		"query without parameters": {xml: `<sql>select 1 x</sql><lookup>params</lookup>`, inputs: params([]any{1, 8}), want: []string{"1"}, fields: "x Integer"},
		"no parameter row":         {xml: `<sql>select ?, ?</sql><lookup>params</lookup>`, inputs: params(), wrong: "gave no row", fields: "? String, ?_1 String"},
		"too few parameters":       {xml: `<sql>select ?</sql><lookup>params</lookup>`, inputs: params([]any{1, 2}), wrong: "has 1 parameters, but \"params\" gives 2", fields: "? String"},
		"unknown name":             {xml: `<sql>select {c} x</sql><lookup>params</lookup><use_named_parameters>Y</use_named_parameters>`, inputs: params([]any{1, 2}), wrong: "input has a, b", fields: "x String"},
		"nobody to take them from": {xml: `<sql>select ?</sql>`, wrong: "no transform to take them from", fields: "? String"},
		"no such table":            {xml: `<sql>select * from nowhere</sql>`, wrong: "nowhere"},
		"no SQL":                   {xml: `<sql> ; </sql>`, wrong: "no SQL"},
		"specified fields": {
			xml:  `<sql>select id*2 as n, total, 'x' y from orders where id = 1</sql><specify_fields>Y</specify_fields><fields><field><name>total</name><type>Number</type></field><field><name>N</name><type>String</type></field></fields>`,
			want: []string{"10.5|2"}, fields: "total Number, N String",
		},
		"specified, but not there": {xml: `<sql>select id from orders</sql><specify_fields>Y</specify_fields><fields><field><name>nix</name><type>Number</type></field></fields>`, wrong: `no column "nix"`, fields: "nix Number"},
		"validated":                {xml: `<sql>select id from orders</sql><specify_fields>Y</specify_fields><validate_specified_fields>Y</validate_specified_fields><fields><field><name>id</name><type>Date</type></field></fields>`, wrong: `"id" is Integer`},
		"value that does not fit":  {xml: `<sql>select id from (select 1 id union all select v from odd)</sql>`, wrong: "abc", fields: "id Integer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: shop + "create table odd(v); with recursive n(i) as (select 2 union all select i+1 from n where i < 200) insert into odd select i from n; insert into odd values ('abc')"}
			out := transformtest.Run(t, transformtest.Case{
				Definition: family.TableInput, XML: "<connection>${DB}</connection>" + c.xml, Inputs: c.inputs, Vars: map[string]string{"N": "2"}, Env: b.env,
			})
			if got := out.Fields("main"); got != c.fields {
				t.Errorf("fields %q, want %q", got, c.fields)
			}
			if c.wrong != "" {
				fails(t, out, c.wrong)
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if n := out.Env.Counters.Input.Load(); n != int64(len(c.want)) {
				t.Errorf("input %d, want %d", n, len(c.want))
			}
		})
	}
}

func TestTableInputTakesParametersFromAnyHop(t *testing.T) {
	b := &base{t: t, script: shop}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.TableInput, XML: `<connection>db</connection><sql>select id from orders where customer = ? and id &lt; ?</sql>`, Env: b.env,
		Inputs: []transformtest.Input{{Fields: []batch.Field{batch.NewField("c", batch.Integer), batch.NewField("i", batch.Integer)}, Rows: [][]any{{7, 3}}}},
	})
	if out.Err != nil || !cmp.Equal(out.Main(), []string{"1"}) {
		t.Errorf("got %v, %v", out.Main(), out.Err)
	}
}

func TestTableInputReadsTheQueryFromAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "query.sql")
	if err := os.WriteFile(file, []byte("select id from orders where id = ${ID}\n;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &base{t: t, script: shop}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.TableInput, Env: b.env, Vars: map[string]string{"FILE": file, "ID": "3"},
		XML: `<connection>db</connection><sql/><sql_from_file>${FILE}</sql_from_file><variables_active>Y</variables_active>`,
	})
	if out.Err != nil || !cmp.Equal(out.Main(), []string{"3"}) {
		t.Errorf("got %v, %v", out.Main(), out.Err)
	}
}

func TestTableInputStopsSafely(t *testing.T) {
	b := &base{t: t, script: shop}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.TableInput, XML: `<connection>db</connection><sql>select id from orders</sql>`,
		Env: func(env *transform.Env) {
			b.env(env)
			stop := make(chan struct{})
			close(stop)
			env.Stopping = stop
		},
	})
	if out.Err != nil || len(out.Main()) != 0 {
		t.Errorf("got %v, %v", out.Main(), out.Err)
	}
}
