package transforms_test

import (
	"strings"
	"testing"

	"sluice/engine/hopxml"
	"sluice/engine/project"
	"sluice/engine/transform"
	"sluice/engine/transforms"
)

// TestEverySinkSaysWhatASecondRunDoes keeps the second-write check of a replay
// from guessing.
func TestEverySinkSaysWhatASecondRunDoes(t *testing.T) {
	sinks := 0
	for _, d := range transforms.Registry().All() {
		if !d.Sink {
			continue
		}
		sinks++
		if _, ok := d.Default().(transform.Targeted); !ok {
			t.Errorf("%s is a sink and does not say what a second run does", d.ID)
			continue
		}
		if got := transform.TargetOf(d.Default(), project.NewVariables()); got.How == "" {
			t.Errorf("%s does not say how it writes", d.ID)
		}
	}
	if sinks < 13 {
		t.Errorf("%d sinks, there were 13", sinks)
	}
}

func TestTargets(t *testing.T) {
	vars := project.NewVariables()
	vars.Set("DIR", "/data")
	vars.Set("TABLE", "orders")
	for _, c := range []struct {
		name, kind, settings string
		want                 transform.Target
	}{
		{"a file is replaced", "TextFileOutput", "<file><name>${DIR}/out</name><extention>csv</extention></file>", transform.Target{Name: "/data/out.csv", Idempotent: true, How: transform.HowReplaced, TakenBack: true}},
		{"a file is appended to", "TextFileOutput", "<file><name>${DIR}/out</name><extention>csv</extention><append>Y</append></file>", transform.Target{Name: "/data/out.csv", How: transform.HowAppended}},
		{"a file has the time in its name", "TextFileOutput", "<file><name>${DIR}/out</name><extention>csv</extention><add_time>Y</add_time></file>", transform.Target{Name: "/data/out.csv", How: transform.HowNewFile, TakenBack: true}},
		{"rows name the file", "TextFileOutput", "<fileNameInField>Y</fileNameInField>", transform.Target{How: transform.HowUnknown}},
		{"rows are inserted", "TableOutput", "<connection>shop</connection><schema>main</schema><table>${TABLE}</table>", transform.Target{Name: "connection shop, table main.orders", How: transform.HowAppended}},
		{"a table is emptied first", "TableOutput", "<connection>shop</connection><table>${TABLE}</table><truncate>Y</truncate>", transform.Target{Name: "connection shop, table orders", Idempotent: true, How: transform.HowTruncated}},
		{"a table is emptied only for rows", "TableOutput", "<connection>shop</connection><table>${TABLE}</table><truncate>Y</truncate><only_when_have_rows>Y</only_when_have_rows>", transform.Target{Name: "connection shop, table orders", How: transform.HowAppended}},
		{"rows are found by key", "InsertUpdate", "<connection>shop</connection><lookup><table>${TABLE}</table></lookup>", transform.Target{Name: "connection shop, table orders", Idempotent: true, How: transform.HowUpsert}},
		{"a flag decides about rows", "SynchronizeAfterMerge", "<connection>shop</connection><lookup><table>${TABLE}</table></lookup>", transform.Target{Name: "connection shop, table orders", How: transform.HowAppended}},
		{"JSON goes to a field", "JsonOutput", "<operation_type>outputvalue</operation_type>", transform.Target{Idempotent: true, How: "no file", TakenBack: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, ok := transforms.Registry().Find(c.kind)
			if !ok {
				t.Fatalf("no %s", c.kind)
			}
			s, problems := d.Decode(element(t, "<transform><name>t</name><type>"+c.kind+"</type>"+c.settings+"</transform>"))
			for _, p := range problems {
				if strings.Contains(p.Message, "unknown") {
					t.Fatal(p)
				}
			}
			if got := transform.TargetOf(s, vars); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func element(t *testing.T, text string) *hopxml.Element {
	t.Helper()
	d, err := hopxml.Parse("test.hpl", []byte("<pipeline>"+text+"</pipeline>"))
	if err != nil {
		t.Fatal(err)
	}
	return d.Root().Child("transform")
}
