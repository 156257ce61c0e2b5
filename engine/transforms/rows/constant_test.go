package rows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/rows"
)

func TestConstantAppendsConvertedValues(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.Constant,
		XML: `<fields>
			<field><name>n</name><type>Integer</type><nullif>42</nullif><format>#</format><length>-1</length><precision>-1</precision></field>
			<field><name>ID</name><type>String</type><nullif/><set_empty_string>Y</set_empty_string></field>
		</fields>`,
		Inputs: []transformtest.Input{{Fields: []batch.Field{batch.NewField("id", batch.String)}, Rows: [][]any{{"a"}, {nil}}}},
	})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if diff := cmp.Diff([]string{"a|42|", "<null>|42|"}, out.Main()); diff != "" {
		t.Error(diff)
	}
	if got := out.Fields("main"); got != "id String, n Integer, ID_1 String" {
		t.Error(got)
	}
}

func TestConstantRefusesWhatItsMaskCannotRead(t *testing.T) {
	out := transformtest.Run(t, transformtest.Case{
		Definition: rows.Constant,
		XML:        `<fields><field><name>n</name><type>Integer</type><nullif>x</nullif></field></fields>`,
		Inputs:     []transformtest.Input{{Fields: []batch.Field{batch.NewField("id", batch.String)}}},
	})
	if out.Err == nil {
		t.Error("want an error that names the constant")
	}
}
