package sql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	family "sluice/engine/transforms/sql"
)

const countries = `create table country(code TEXT, name TEXT, people INTEGER, area DECIMAL(10,1));
	insert into country values ('de', ' Germany ', 84, 357.6), ('fr', 'France', null, 643.8), (null, 'Nowhere', 0, 0), ('fr', 'France again', 1, 2)`

func codes() []transformtest.Input {
	return []transformtest.Input{{
		Fields: []batch.Field{batch.NewField("c", batch.String), batch.NewField("n", batch.Integer)},
		Rows:   [][]any{{"de", 1}, {"xx", 2}, {"fr", 3}, {nil, 4}, {"de", 5}, {"xx", 6}},
	}}
}

func TestDBLookup(t *testing.T) {
	const key = `<key><name>c</name><field>code</field><condition>=</condition></key>`
	const values = `<value><name>name</name><rename>country</rename><default>none</default><type>String</type><trim_type>both</trim_type></value><value><name>people</name><default>-1</default><type>String</type></value>`
	found := []string{"de|1|Germany|84", "xx|2|none|-1", "fr|3|France|<null>", "<null>|4|none|-1", "de|5|Germany|84", "xx|6|none|-1"}
	cases := map[string]struct {
		xml     string
		onError bool
		memory  int64
		want    []string
		bad     int
		wrong   string
	}{
		"row by row":      {xml: `<lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, want: found},
		"cache":           {xml: `<cache>Y</cache><lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, want: found},
		"cache of one":    {xml: `<cache>Y</cache><cache_size>1</cache_size><lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, want: found},
		"no memory":       {xml: `<cache>Y</cache><lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, memory: 1, want: found},
		"whole table":     {xml: `<cache>Y</cache><cache_load_all>Y</cache_load_all><lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, want: found},
		"too large":       {xml: `<cache>Y</cache><cache_load_all>Y</cache_load_all><lookup><table>country</table><orderby>name</orderby>` + key + values + `</lookup>`, memory: 1, want: found},
		"dropped":         {xml: `<lookup><table>country</table><eat_row_on_failure>Y</eat_row_on_failure>` + key + `<value><name>people</name><type>Integer</type></value></lookup>`, want: []string{"de|1|84", "fr|3|<null>", "de|5|84"}},
		"error hop":       {xml: `<lookup><table>country</table>` + key + `<value><name>people</name><type>Integer</type></value></lookup>`, onError: true, want: []string{"de|1|84", "fr|3|<null>", "de|5|84"}, bad: 3},
		"nothing to add":  {xml: `<cache>Y</cache><lookup><table>country</table><eat_row_on_failure>Y</eat_row_on_failure>` + key + `</lookup>`, want: []string{"de|1", "fr|3", "de|5"}},
		"null is a key":   {xml: `<cache>Y</cache><lookup><table>country</table><eat_row_on_failure>Y</eat_row_on_failure><key><name>c</name><field>code</field><condition>= ~NULL</condition></key><value><name>people</name><type>Integer</type></value></lookup>`, want: []string{"de|1|84", "fr|3|<null>", "<null>|4|0", "de|5|84"}},
		"several":         {xml: `<lookup><table>country</table><fail_on_multiple>Y</fail_on_multiple>` + key + values + `</lookup>`, wrong: "several rows"},
		"several in all":  {xml: `<cache>Y</cache><cache_load_all>Y</cache_load_all><lookup><table>country</table><fail_on_multiple>Y</fail_on_multiple>` + key + values + `</lookup>`, wrong: "several rows"},
		"converted key":   {xml: `<cache>Y</cache><cache_load_all>Y</cache_load_all><lookup><table>country</table><eat_row_on_failure>Y</eat_row_on_failure><key><name>n</name><field>area</field><condition>=</condition></key><value><name>name</name><type>String</type></value></lookup>`, want: []string{"xx|2|France again"}},
		"no such table":   {xml: `<lookup><table>nowhere</table>` + key + `<value><name>people</name><type>Integer</type></value></lookup>`, wrong: "nowhere"},
		"no such column":  {xml: `<lookup><table>country</table>` + key + `<value><name>nix</name><type>Integer</type></value></lookup>`, wrong: "nix"},
		"no such field":   {xml: `<lookup><table>country</table><key><name>q</name><field>code</field></key></lookup>`, wrong: "the input has c, n"},
		"a wrong default": {xml: `<lookup><table>country</table>` + key + `<value><name>people</name><default>many</default><type>Integer</type></value></lookup>`, wrong: "many"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: countries}
			tc := transformtest.Case{
				Definition: family.DBLookup, XML: "<connection>db</connection>" + c.xml, Inputs: codes(),
				Env: func(env *transform.Env) {
					b.env(env)
					if c.memory > 0 {
						env.Memory = &transformtest.Memory{Limit: c.memory}
					}
				},
			}
			if c.onError {
				tc.Error = &transform.ErrorLink{Target: "bad", CodeField: "code"}
			}
			out := transformtest.Run(t, tc)
			if c.wrong != "" {
				fails(t, out, c.wrong)
				return
			}
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			// Integer columns of SQLite have a length, but keep the mask of new fields.
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
			if n := len(out.Rows[transform.Error]); n != c.bad {
				t.Errorf("%d rejected rows: %v", n, out.Rows[transform.Error])
			}
		})
	}
}

func TestDBLookupTakesTheTypesOfTheTable(t *testing.T) {
	b := &base{t: t, script: countries}
	out := transformtest.Run(t, transformtest.Case{
		Definition: family.DBLookup, Inputs: codes(), Env: b.env,
		XML: `<connection>db</connection><lookup><table>country</table><key><name>c</name><field>code</field></key><value><name>people</name><type>String</type></value><value><name>area</name><rename>c</rename><type>None</type></value></lookup>`,
	})
	if got := out.Fields("main"); out.Err != nil || got != "c String, n Integer, people Integer, c_1 BigNumber" {
		t.Errorf("fields %q, %v", got, out.Err)
	}
}

func TestDBJoin(t *testing.T) {
	const xml = `<sql>select name, people*? as times from country where code = ? order by name</sql><parameter><field><name>n</name><type>Integer</type></field><field><name>c</name><type>String</type></field></parameter>`
	inner := []string{"de|1| Germany |84", "fr|3|France|<null>", "fr|3|France again|3", "de|5| Germany |420"}
	cases := map[string]struct {
		xml  string
		want []string
	}{
		"inner":         {xml, inner},
		"cache":         {xml + `<cache>Y</cache>`, inner},
		"cache of one":  {xml + `<cache>Y</cache><cache_size>1</cache_size>`, inner},
		"outer":         {xml + `<outer_join>Y</outer_join>`, []string{"de|1| Germany |84", "xx|2|<null>|<null>", "fr|3|France|<null>", "fr|3|France again|3", "<null>|4|<null>|<null>", "de|5| Germany |420", "xx|6|<null>|<null>"}},
		"outer, cached": {xml + `<outer_join>Y</outer_join><cache>Y</cache>`, []string{"de|1| Germany |84", "xx|2|<null>|<null>", "fr|3|France|<null>", "fr|3|France again|3", "<null>|4|<null>|<null>", "de|5| Germany |420", "xx|6|<null>|<null>"}},
		"limit":         {xml + `<rowlimit>1</rowlimit>`, []string{"de|1| Germany |84", "fr|3|France|<null>", "de|5| Germany |420"}},
		"variables":     {`<replace_vars>Y</replace_vars><sql>select '${V}' v from country where code = 'de';</sql>`, []string{"de|1|val", "xx|2|val", "fr|3|val", "<null>|4|val", "de|5|val", "xx|6|val"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &base{t: t, script: countries}
			out := transformtest.Run(t, transformtest.Case{Definition: family.DBJoin, XML: "<connection>db</connection>" + c.xml, Inputs: codes(), Vars: map[string]string{"V": "val"}, Env: b.env})
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if diff := cmp.Diff(c.want, out.Main()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDBJoinErrors(t *testing.T) {
	b := &base{t: t, script: "create table v(id INTEGER, a INTEGER); insert into v values (1, 10), (1, 11), (2, 'no'), (3, 30)"}
	xml := `<connection>db</connection><sql>select a from v where id = ? order by a</sql><parameter><field><name>n</name></field></parameter>`
	out := transformtest.Run(t, transformtest.Case{Definition: family.DBJoin, XML: xml, Inputs: codes(), Env: b.env, Error: &transform.ErrorLink{Target: "bad", CodeField: "code"}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"de|1|10", "de|1|11", "fr|3|30"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"xx|2|DBJOIN001"}, out.Rows[transform.Error]); diff != "" {
		t.Error(diff)
	}
	fails(t, transformtest.Run(t, transformtest.Case{Definition: family.DBJoin, XML: xml, Inputs: codes(), Env: b.env}), "row 2", "no")
	fails(t, transformtest.Run(t, transformtest.Case{Definition: family.DBJoin, XML: `<connection>db</connection><sql>select ?, ?</sql><parameter><field><name>n</name></field></parameter>`, Inputs: codes(), Env: b.env}), "2 question marks")
}

func TestTableExistsAndColumnExists(t *testing.T) {
	in := []transformtest.Input{{
		Fields: []batch.Field{batch.NewField("t", batch.String), batch.NewField("c", batch.String)},
		Rows:   [][]any{{"country", "name"}, {"COUNTRY", "nix"}, {"nowhere", "name"}},
	}}
	b := &base{t: t, script: countries}
	out := transformtest.Run(t, transformtest.Case{Definition: family.TableExists, XML: "<connection>db</connection><tablenamefield>t</tablenamefield><resultfieldname>r</resultfieldname>", Inputs: in, Env: b.env})
	if diff := cmp.Diff([]string{"country|name|Y", "COUNTRY|nix|Y", "nowhere|name|N"}, out.Main()); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
	out = transformtest.Run(t, transformtest.Case{Definition: family.ColumnExists, XML: "<connection>db</connection><istablenameInfield>Y</istablenameInfield><tablenamefield>t</tablenamefield><columnnamefield>c</columnnamefield>", Inputs: in, Env: b.env})
	if diff := cmp.Diff([]string{"country|name|Y", "COUNTRY|nix|N", "nowhere|name|N"}, out.Main()); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
	out = transformtest.Run(t, transformtest.Case{Definition: family.ColumnExists, XML: "<connection>db</connection><tablename>country</tablename><columnnamefield>c</columnnamefield>", Inputs: in, Env: b.env})
	if diff := cmp.Diff([]string{"country|name|Y", "COUNTRY|nix|N", "nowhere|name|Y"}, out.Main()); diff != "" || out.Err != nil {
		t.Error(diff, out.Err)
	}
}
