package xml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/batch"
	"sluice/engine/transform/transformtest"
	"sluice/engine/transforms/xml"
)

const eventDoc = `<?xml version="1.0"?>
<r xmlns:p="urn:p"><!-- c -->
 <p:x a="1" b="2">t<y/></p:x>
</r>`

func TestXMLInputStream(t *testing.T) {
	const fields = `<includeXmlElementIDField>Y</includeXmlElementIDField><includeXmlParentElementIDField>Y</includeXmlParentElementIDField><includeXmlElementLevelField>Y</includeXmlElementLevelField>
		<includeXmlPathField>Y</includeXmlPathField><includeXmlDataNameField>Y</includeXmlDataNameField><includeXmlDataValueField>Y</includeXmlDataValueField><includeDataTypeDescriptionField>Y</includeDataTypeDescriptionField>`
	for name, c := range map[string]struct {
		xml  string
		want []string
		err  string
		doc  string
	}{
		"events": {
			xml: `<enableTrim>Y</enableTrim>` + fields,
			want: []string{
				"START_DOCUMENT|0|<null>|0||<null>|<null>",
				"START_ELEMENT|1|0|1|/r|r|<null>",
				"START_ELEMENT|2|1|2|/r/x|x|<null>",
				"ATTRIBUTE|2|1|2|/r/x|a|1",
				"ATTRIBUTE|2|1|2|/r/x|b|2",
				"CHARACTERS|2|1|2|/r/x|x|t",
				"START_ELEMENT|3|2|3|/r/x/y|y|<null>",
				"END_ELEMENT|3|2|3|/r/x/y|y|<null>",
				"END_ELEMENT|2|1|2|/r/x|x|<null>",
				"END_ELEMENT|1|0|1|/r|r|<null>",
				"END_DOCUMENT|0|<null>|0||<null>|<null>",
			},
		},
		"namespaces, skip and limit": {
			xml:  `<enableTrim>Y</enableTrim><enableNamespaces>Y</enableNamespaces><nrRowsToSkip>2</nrRowsToSkip><rowLimit>4</rowLimit><includeXmlDataNameField>Y</includeXmlDataNameField><includeXmlDataValueField>Y</includeXmlDataValueField><includeRowNumberField>Y</includeRowNumberField>`,
			want: []string{"3|p|urn:p", "4|p:x|<null>"},
		},
		"not closed": {xml: fields, doc: "<a><b></a>", err: "ends what was not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := eventDoc
			if c.doc != "" {
				doc = c.doc
			}
			out := transformtest.Run(t, transformtest.Case{
				Definition: xml.XMLInputStream, XML: `<sourceFromInput>Y</sourceFromInput><sourceFieldName>doc</sourceFieldName>` + c.xml,
				Inputs: []transformtest.Input{{Fields: []batch.Field{field("doc", batch.String)}, Rows: [][]any{{doc}}}},
			})
			if (out.Err == nil) != (c.err == "") || (out.Err != nil && !strings.Contains(out.Err.Error(), c.err)) {
				t.Fatalf("error %v, want %q", out.Err, c.err)
			}
			var got []string
			for _, row := range out.Main() {
				got = append(got, strings.TrimPrefix(row, doc+"|"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" && c.err == "" {
				t.Error(diff)
			}
		})
	}
}

func TestXMLInputStreamReadsFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.xml")
	if err := os.WriteFile(file, []byte("<a>\xe4</a>"), 0o644); err != nil {
		t.Fatal(err)
	}
	const fields = `<encoding>ISO-8859-1</encoding><includeXmlDataValueField>Y</includeXmlDataValueField><includeDataTypeNumericField>Y</includeDataTypeNumericField>`
	alone := transformtest.Run(t, transformtest.Case{Definition: xml.XMLInputStream, XML: `<filename>${DIR}/a.xml</filename>` + fields, Vars: map[string]string{"DIR": dir}})
	if diff := cmp.Diff([]string{"7|<null>", "1|<null>", "4|ä", "2|<null>", "8|<null>"}, alone.Main()); diff != "" || alone.Err != nil {
		t.Error(diff, alone.Err)
	}
	named := transformtest.Run(t, transformtest.Case{
		Definition: xml.XMLInputStream, XML: `<filename>f</filename>` + fields,
		Inputs: []transformtest.Input{{Fields: []batch.Field{field("f", batch.String)}, Rows: [][]any{{file}}}},
	})
	if diff := cmp.Diff([]string{file + "|7|<null>", file + "|1|<null>", file + "|4|ä", file + "|2|<null>", file + "|8|<null>"}, named.Main()); diff != "" || named.Err != nil {
		t.Error(diff, named.Err)
	}
}
