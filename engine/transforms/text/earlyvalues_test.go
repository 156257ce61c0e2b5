package text_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/text"
)

const typedFields = `<fields><field><name>i</name><type>Integer</type><format>#</format></field>
	<field><name>j</name><type>Integer</type><format>#,##0 EUR</format></field>
	<field><name>a</name><type>BigNumber</type><format>0.00</format><decimal>.</decimal></field>
	<field><name>n</name><type>Number</type><format>0.0</format></field>
	<field><name>d</name><type>Date</type><format>yyyy-MM-dd HH:mm:ss.SSS</format><trim_type>both</trim_type></field>
	<field><name>t</name><type>Timestamp</type><format>yyyy-MM-dd HH:mm:ss.SSSSSS</format></field>
	<field><name>b</name><type>Boolean</type></field>
	<field><name>s</name><type>String</type></field></fields>`

// converted reads rows with lazy conversion and gives their values, and what is
// wrong with the first one that has none. texts is nil for values that are
// converted when they are asked for.
func converted(t *testing.T, data string, texts []bool) []string {
	t.Helper()
	env, _ := transformtest.NewEnv(t, nil)
	hook, _ := with(map[string]string{"in.csv": data})
	hook(env)
	in := transformtest.Settings(t, text.CSVInput, "<filename>in.csv</filename><separator>,</separator><enclosure>\"</enclosure><lazy_conversion>Y</lazy_conversion>"+typedFields)
	src, err := in.Start(env, transform.Links{Transform: "in", Copies: 1})
	if err != nil {
		t.Fatal(err)
	}
	if texts != nil {
		src.(transform.Converter).ConvertAll(texts)
	}
	var out []string
	err = src.(transform.Source).Produce(t.Context(), func(_ transform.Port, b *batch.Batch) error {
		defer b.Release()
		codecs, err := env.Semantics.Codecs(b.Schema)
		if err != nil {
			return err
		}
		for c, codec := range codecs {
			if col := b.Cols[c]; texts != nil && texts[c] && col.Raw {
				for i := range b.All() {
					out = append(out, fmt.Sprintf("text %d %q %v", c, col.Str(i), col.IsNull(i)))
				}
			}
			col, err := b.Col(c, codec)
			if err != nil {
				row := -1
				if bad, ok := errors.AsType[*batch.RowError](err); ok {
					row = bad.Row
				}
				out = append(out, fmt.Sprintf("column %d: %v, row %d", c, err, row))
				continue
			}
			for i := range b.All() {
				v := col.Value(i)
				out = append(out, fmt.Sprintf("%d %v %d %d %v %v %q %s %v", c, v.Valid, v.Int, v.Nano, v.Float, col.Scale, v.Text, v.Dec, col.IsNull(i)))
			}
			out = append(out, fmt.Sprint(col.Len(), col.Nulls()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Alloc.CheckLeaks(); err != nil {
		t.Error(err)
	}
	return out
}

// Values that are converted while the file is read are those that would have been
// converted later, and so is what cannot be.
func TestEarlyValuesAreTheLateOnes(t *testing.T) {
	const good = "%d,7 EUR,%d.25,1.5,2024-02-29 12:34:56.789,2024-02-29 12:34:56.789012,Y,\"x\"\"y\"\n"
	var plain, empty, scales, wide, bad strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&plain, good, i*1237, i)
		fmt.Fprintf(&empty, good, i, i)
		fmt.Fprintf(&scales, good, i, i)
		fmt.Fprintf(&wide, good, i, i)
		fmt.Fprintf(&bad, good, i, i)
		switch {
		case i%3 == 0:
			empty.WriteString(",,,,,,,\n")
		case i%700 == 1:
			scales.WriteString("\"1\",,1.5,2,  2024-1-5 1:2:3.4 ,,N,\n-12345678901,,-7,,1582-10-01 00:00:00.000,,,\n")
		case i%700 == 2:
			wide.WriteString("1,,123456789012345678901234567890.5,,,,,\n,,-0.01,,,,,\n")
		case i%2500 == 3:
			bad.WriteString("x,y,z,w,v,u,t,s\n\"\"\"\",\"a\"\"b\",1.,\"1\"\"\",\"2024\"\"\",,,\n")
		}
	}
	all := []bool{true, true, true, true, true, true, true, true}
	none := make([]bool, len(all))
	for name, data := range map[string]string{
		"plain": plain.String(), "empty values": empty.String(), "several scales": scales.String(), "long decimals": wide.String(), "bad values": bad.String(),
		"the first is empty": ",,,,,,,\n" + plain.String(), "the first is bad": "1,1,x,1,x,x,x,x\n" + plain.String(), "short records": "1\n,2\n3,4,5\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := converted(t, data, nil)
			if diff := cmp.Diff(want, converted(t, data, none)); diff != "" {
				t.Errorf("without texts:\n%s", diff)
			}
			got := converted(t, data, all)
			texts, values := 0, got[:0]
			for _, line := range got {
				if strings.HasPrefix(line, "text") {
					texts++
					continue
				}
				values = append(values, line)
			}
			if diff := cmp.Diff(want, values); diff != "" {
				t.Errorf("with texts:\n%s", diff)
			}
			if strings.Contains(data, "1237") && texts == 0 {
				t.Error("the texts are gone")
			}
		})
	}
}
