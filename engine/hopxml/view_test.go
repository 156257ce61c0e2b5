package hopxml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/engine/hopxml"
)

const samplePipeline = head + `<!-- licence -->
<pipeline>
  <info>
    <name>stored</name>
    <name_sync_with_filename>y</name_sync_with_filename>
    <description>d &amp; e</description>
    <pipeline_status>1</pipeline_status>
    <parameters>
      <parameter>
        <name>P1</name>
        <default_value>1</default_value>
        <description/>
        <legacy>keep</legacy>
      </parameter>
      <parameter>
        <name>P2</name>
        <default_value/>
        <description>two</description>
      </parameter>
    </parameters>
    <directory>/old</directory>
  </info>
  <notepads>
    <notepad>
      <backgroundcolorblue>251</backgroundcolorblue>
      <backgroundcolorgreen>232</backgroundcolorgreen>
      <backgroundcolorred>201</backgroundcolorred>
      <fontbold>Y</fontbold>
      <fontsize>-1</fontsize>
      <heigth>26</heigth>
      <note>See &lt;docs&gt;</note>
      <width>100</width>
      <xloc>5</xloc>
      <yloc>6</yloc>
    </notepad>
  </notepads>
  <order>
    <hop>
      <from>READ</from>
      <to>Write</to>
      <enabled>Y</enabled>
    </hop>
    <hop>
      <from>Read</from>
      <to>Errors</to>
      <enabled>Y</enabled>
    </hop>
    <hop>
      <from>Read</from>
      <to>Nowhere</to>
      <enabled>Y</enabled>
    </hop>
  </order>
  <transform>
    <name>Read</name>
    <type>CSVInput</type>
    <description>first</description>
    <distribute>N</distribute>
    <custom_distribution/>
    <copies>${COPIES}</copies>
    <partitioning>
      <method>Mirror</method>
      <schema_name>s</schema_name>
    </partitioning>
    <filename>in.csv</filename>
    <attributes>
      <group>
        <name>replay-gate</name>
        <attribute>
          <key>id</key>
          <value>0123456789ab</value>
        </attribute>
      </group>
    </attributes>
    <cluster_schema/>
    <GUI>
      <xloc>100</xloc>
      <yloc>200</yloc>
      <draw>Y</draw>
    </GUI>
  </transform>
  <transform>
    <name>Write</name>
    <type>Dummy</type>
    <send_to>Read</send_to>
    <GUI>
      <xloc>300</xloc>
      <yloc>200</yloc>
    </GUI>
  </transform>
  <transform>
    <name>Errors</name>
    <type>Dummy</type>
  </transform>
  <transform_error_handling>
    <error>
      <source_transform>read</source_transform>
      <target_transform>Errors</target_transform>
      <is_enabled>N</is_enabled>
      <nr_valuename/>
      <max_errors>${MAX}</max_errors>
      <max_pct_errors/>
      <min_pct_rows>5</min_pct_rows>
    </error>
    <error>
      <source_transform>Nobody</source_transform>
      <target_transform>Errors</target_transform>
      <is_enabled>Y</is_enabled>
    </error>
  </transform_error_handling>
  <attributes>
    <group>
      <name>replay-gate</name>
      <attribute>
        <key>READ : location</key>
        <value>s3:bucket</value>
      </attribute>
      <attribute>
        <key>A : B : location</key>
        <value>x</value>
      </attribute>
    </group>
    <group>
      <name>other</name>
      <attribute>
        <key>Read : location</key>
        <value>y</value>
      </attribute>
    </group>
  </attributes>
</pipeline>
`

func pipeline(t testing.TB, d *hopxml.Document) *hopxml.Pipeline {
	t.Helper()
	p, err := d.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func workflow(t testing.TB, d *hopxml.Document) *hopxml.Workflow {
	t.Helper()
	w, err := d.Workflow()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func sample(t testing.TB) *hopxml.Document {
	t.Helper()
	d, err := hopxml.Parse(`folder.x/My pipeline.v2.hpl`, []byte(samplePipeline))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPipelineView(t *testing.T) {
	p := pipeline(t, sample(t))
	if p.Info.Name != "My pipeline.v2" || p.Info.StoredName != "stored" || !p.Info.NameFromFile || p.Info.Description != "d & e" || p.Info.Status != 1 {
		t.Errorf("info: %+v", p.Info)
	}
	if p.Type != "Normal" || p.CaptureDelay != 1000 || p.CaptureSizeLimit != "100" || p.CapturePerformance {
		t.Errorf("absent values: %+v", p)
	}
	if want := []hopxml.Parameter{{Name: "P1", Default: "1"}, {Name: "P2", Description: "two"}}; !reflect.DeepEqual(p.Info.Parameters, want) {
		t.Errorf("parameters: %+v", p.Info.Parameters)
	}
	read := p.Transform("rEAD")
	if read.Copies != "${COPIES}" || read.Distribute || read.Partitioning.Method != "Mirror" || read.Partitioning.Schema != "s" || read.X != 100 || read.Y != 200 {
		t.Errorf("read: %+v", read)
	}
	if v, ok := read.Attributes.Get(hopxml.GateGroup, "id"); !ok || v != "0123456789ab" {
		t.Errorf("gate id: %q, %v", v, ok)
	}
	errorsTo := p.Transform("Errors")
	if errorsTo.Copies != "1" || errorsTo.Distribute || errorsTo.Partitioning.Method != "none" || p.Transform("Nowhere") != nil {
		t.Errorf("errors: %+v", errorsTo)
	}
	if len(p.Hops) != 2 || len(p.UnboundHops) != 1 || p.Hops[0].From != "Read" || p.Hops[0].Error || !p.Hops[1].Error || p.Hops[1].ToID != errorsTo.ID {
		t.Errorf("hops: %+v, unbound %+v", p.Hops, p.UnboundHops)
	}
	if len(p.ErrorHandling) != 1 {
		t.Fatalf("error handling: %+v", p.ErrorHandling)
	}
	h := p.HandlingOf(read.ID)
	if h.Source != "Read" || !h.Enabled || h.MaxErrors != "${MAX}" || h.MinRows != "5" || h.TargetID != errorsTo.ID {
		t.Errorf("the hop's flag does not rule: %+v", h)
	}
	if n, d, f, c := h.FieldNames(); n != "error_row" || d != "error_description" || f != "" || c != "error_code" {
		t.Errorf("field names: %s %s %s %s", n, d, f, c)
	}
	h.CodesField = "code"
	if n, _, _, c := h.FieldNames(); n != "" || c != "code" {
		t.Errorf("field names: %s %s", n, c)
	}
	note := p.Notes[0]
	if note.Text != "See <docs>" || !note.Bold || note.Markdown || note.Height != 0 || note.Width != 100 || *note.Background != (hopxml.Color{Red: 201, Green: 232, Blue: 251}) || note.Font != nil {
		t.Errorf("note: %+v", note)
	}
	if len(p.Attributes) != 2 || p.Attributes.Group("other")[0].Value != "y" {
		t.Errorf("attributes: %+v", p.Attributes)
	}
}

func TestViewsOfSparseFiles(t *testing.T) {
	p := pipeline(t, parse(t, "<pipeline/>"))
	if p.Info.Name != "" || len(p.Transforms)+len(p.Hops)+len(p.Notes) != 0 {
		t.Errorf("%+v", p)
	}
	w := workflow(t, parse(t, "<workflow><name>w</name></workflow>"))
	if w.Info.Name != "w" || w.Start() != nil || w.Action("x") != nil {
		t.Errorf("%+v", w)
	}
	if _, err := parse(t, "<workflow/>").Pipeline(); !errors.Is(err, hopxml.ErrInvalid) {
		t.Errorf("a workflow as pipeline: %v", err)
	}
	if _, err := parse(t, "<transformation/>").Workflow(); !errors.Is(err, hopxml.ErrInvalid) {
		t.Errorf("other XML as workflow: %v", err)
	}
}

func TestFlag(t *testing.T) {
	for text, want := range map[string]bool{"Y": true, "y": true, "YES": true, "True": true, "t": true, "N": false, "": false, "1": false, " Y": false, "on": false} {
		if got := parse(t, "<p>"+text+"</p>").Root().Flag(); got != want {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// becomes applies an edit to the sample and compares the result with the
// sample in which old texts, each found once, are replaced.
func becomes(t *testing.T, edit func(d *hopxml.Document, p *hopxml.Pipeline) hopxml.Edit, oldNew ...string) *hopxml.Document {
	t.Helper()
	d := sample(t)
	got := apply(t, d, edit(d, pipeline(t, d)))
	want := samplePipeline
	for i := 0; i < len(oldNew); i += 2 {
		if strings.Count(want, oldNew[i]) != 1 {
			t.Fatalf("%q is not once in the sample", oldNew[i])
		}
		want = strings.Replace(want, oldNew[i], oldNew[i+1], 1)
	}
	if string(got.Bytes()) != want {
		gone, come := changedLines([]byte(want), got.Bytes())
		t.Errorf("want\n%s\ngot\n%s", strings.Join(gone, ""), strings.Join(come, ""))
	}
	return got
}

type (
	document = hopxml.Document
	view     = hopxml.Pipeline
)

const newNode = `  <transform>
    <name>New &amp; nice</name>
    <type>SortRows</type>
    <description/>
    <distribute>Y</distribute>
    <custom_distribution/>
    <copies>1</copies>
    <partitioning>
      <method>none</method>
      <schema_name/>
    </partitioning>
    <size>7</size>
    <attributes/>
    <GUI>
      <xloc>1</xloc>
      <yloc>2</yloc>
    </GUI>
  </transform>
`

func TestPipelineEdits(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(d *document, p *view) hopxml.Edit
		oldNew []string
	}{
		"move": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.MoveNode(p.Transform("Read").ID, -7, 200) },
			[]string{"<xloc>100</xloc>", "<xloc>-7</xloc>"},
		},
		"move a transform without a place": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.MoveNode(p.Transform("Errors").ID, 1, 2) },
			[]string{
				"<name>Errors</name>\n    <type>Dummy</type>\n",
				"<name>Errors</name>\n    <type>Dummy</type>\n    <GUI>\n      <xloc>1</xloc>\n      <yloc>2</yloc>\n    </GUI>\n",
			},
		},
		"move a note": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.MoveNode(p.Notes[0].ID, 5, 7) },
			[]string{"<yloc>6</yloc>", "<yloc>7</yloc>"},
		},
		"rename": {
			func(d *document, p *view) hopxml.Edit {
				return hopxml.RenameNode(p.Transform("Read").ID, "Load <all>", p.Transform("Write").Element.Child("send_to").ID())
			},
			[]string{
				"<name>Read</name>", "<name>Load &lt;all></name>",
				"<from>READ</from>", "<from>Load &lt;all></from>",
				"<from>Read</from>\n      <to>Errors", "<from>Load &lt;all></from>\n      <to>Errors",
				"<from>Read</from>\n      <to>Nowhere", "<from>Load &lt;all></from>\n      <to>Nowhere",
				"<source_transform>read<", "<source_transform>Load &lt;all><",
				"<key>READ : location", "<key>Load &lt;all> : location",
				"<send_to>Read<", "<send_to>Load &lt;all><",
			},
		},
		"remove": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.RemoveNode(p.Transform("Errors").ID) },
			[]string{
				"    <hop>\n      <from>Read</from>\n      <to>Errors</to>\n      <enabled>Y</enabled>\n    </hop>\n", "",
				"  <transform>\n    <name>Errors</name>\n    <type>Dummy</type>\n  </transform>\n", "",
				samplePipeline[strings.Index(samplePipeline, "    <error>"):strings.Index(samplePipeline, "  </transform_error_handling>")], "",
			},
		},
		"add": {
			func(*document, *view) hopxml.Edit {
				return hopxml.AddNode(hopxml.NewNode{Name: "New & nice", Type: "SortRows", X: 1, Y: 2, Settings: []hopxml.Draft{hopxml.Leaf("size", "7")}})
			},
			[]string{"  <transform_error_handling>\n", newNode + "  <transform_error_handling>\n"},
		},
		"add a hop": {
			func(*document, *view) hopxml.Edit {
				return hopxml.AddHop(hopxml.Hop{From: "write", To: "Errors", Enabled: true})
			},
			[]string{"  </order>", "    <hop>\n      <from>Write</from>\n      <to>Errors</to>\n      <enabled>Y</enabled>\n    </hop>\n  </order>"},
		},
		"remove a hop with its error handling": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.RemoveHop(p.Hops[1].ID) },
			[]string{
				"    <hop>\n      <from>Read</from>\n      <to>Errors</to>\n      <enabled>Y</enabled>\n    </hop>\n", "",
				samplePipeline[strings.Index(samplePipeline, "    <error>"):strings.Index(samplePipeline, "    <error>\n      <source_transform>Nobody")], "",
			},
		},
		"disable a hop": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.EnableHop(p.Hops[0].ID, false) },
			[]string{"<to>Write</to>\n      <enabled>Y", "<to>Write</to>\n      <enabled>N"},
		},
		"set error handling": {
			func(_ *document, p *view) hopxml.Edit {
				h := p.ErrorHandling[0]
				h.CodesField, h.MaxErrors, h.Enabled = "code", "", false
				return hopxml.SetErrorHandling(h)
			},
			[]string{
				"<to>Errors</to>\n      <enabled>Y", "<to>Errors</to>\n      <enabled>N",
				"<nr_valuename/>\n", "<nr_valuename/>\n      <codes_valuename>code</codes_valuename>\n",
				"<max_errors>${MAX}</max_errors>", "<max_errors/>",
			},
		},
		"new error handling": {
			func(*document, *view) hopxml.Edit {
				return hopxml.SetErrorHandling(hopxml.ErrorHandling{Source: "write", Target: "errors", Enabled: true, CountField: "n"})
			},
			[]string{
				"  </order>", "    <hop>\n      <from>Write</from>\n      <to>Errors</to>\n      <enabled>Y</enabled>\n    </hop>\n  </order>",
				"  </transform_error_handling>", "    <error>\n      <source_transform>Write</source_transform>\n      <target_transform>Errors</target_transform>\n" +
					"      <is_enabled>Y</is_enabled>\n      <nr_valuename>n</nr_valuename>\n      <descriptions_valuename/>\n      <fields_valuename/>\n" +
					"      <codes_valuename/>\n      <max_errors/>\n      <max_pct_errors/>\n      <min_pct_rows/>\n    </error>\n  </transform_error_handling>",
			},
		},
		"set a note": {
			func(_ *document, p *view) hopxml.Edit {
				n := p.Notes[0]
				n.Text, n.Markdown, n.Bold, n.Height = "a\nb", true, false, 30
				return hopxml.SetNote(n)
			},
			[]string{
				"<note>See &lt;docs&gt;</note>\n", "<note>a\nb</note>\n      <markdown>Y</markdown>\n",
				"<fontbold>Y", "<fontbold>N",
				"<yloc>6</yloc>\n", "<yloc>6</yloc>\n      <height>30</height>\n",
			},
		},
		"add a note": {
			func(*document, *view) hopxml.Edit {
				return hopxml.AddNote(hopxml.Note{Text: "<hi>", X: 1, Y: 2, Width: 3, Height: 4, FontName: "Sans", FontSize: 9, Font: &hopxml.Color{Red: 1, Green: 2, Blue: 3}})
			},
			[]string{"  </notepads>", `    <notepad>
      <note>&lt;hi></note>
      <fontname>Sans</fontname>
      <fontsize>9</fontsize>
      <fontbold>N</fontbold>
      <fontitalic>N</fontitalic>
      <fontcolorred>1</fontcolorred>
      <fontcolorgreen>2</fontcolorgreen>
      <fontcolorblue>3</fontcolorblue>
      <xloc>1</xloc>
      <yloc>2</yloc>
      <width>3</width>
      <height>4</height>
    </notepad>
  </notepads>`},
		},
		"set parameters": {
			func(*document, *view) hopxml.Edit {
				return hopxml.SetParameters([]hopxml.Parameter{{Name: "P3", Default: "3"}, {Name: "P1", Default: "one"}})
			},
			[]string{
				"      <parameter>\n        <name>P1", "      <parameter>\n        <name>P3</name>\n        <default_value>3</default_value>\n        <description/>\n      </parameter>\n      <parameter>\n        <name>P1",
				"<default_value>1<", "<default_value>one<",
				"      <parameter>\n        <name>P2</name>\n        <default_value/>\n        <description>two</description>\n      </parameter>\n", "",
			},
		},
		"order parameters": {
			func(_ *document, p *view) hopxml.Edit {
				return hopxml.SetParameters([]hopxml.Parameter{p.Info.Parameters[1], p.Info.Parameters[0]})
			},
			[]string{
				"      <parameter>\n        <name>P1</name>\n        <default_value>1</default_value>\n        <description/>\n        <legacy>keep</legacy>\n      </parameter>\n", "",
				"two</description>\n      </parameter>\n", "two</description>\n      </parameter>\n      <parameter>\n        <name>P1</name>\n        <default_value>1</default_value>\n        <description/>\n        <legacy>keep</legacy>\n      </parameter>\n",
			},
		},
		"same parameters": {
			func(_ *document, p *view) hopxml.Edit { return hopxml.SetParameters(p.Info.Parameters) },
			nil,
		},
		"set info": {
			func(*document, *view) hopxml.Edit {
				return hopxml.Join(hopxml.SetInfo("description", "x"), hopxml.SetInfo("pipeline_type", "SingleThreaded"))
			},
			[]string{
				"<description>d &amp; e</description>\n", "<description>x</description>\n    <pipeline_type>SingleThreaded</pipeline_type>\n",
			},
		},
		"set an attribute": {
			func(d *document, _ *view) hopxml.Edit {
				return hopxml.SetAttribute(d.Root().ID(), hopxml.GateGroup, "READ : location", "gs:b")
			},
			[]string{"s3:bucket", "gs:b"},
		},
		"add an attribute": {
			func(d *document, _ *view) hopxml.Edit {
				return hopxml.SetAttribute(d.Root().ID(), "other", "k", "v")
			},
			[]string{"<value>y</value>\n      </attribute>\n", "<value>y</value>\n      </attribute>\n      <attribute>\n        <key>k</key>\n        <value>v</value>\n      </attribute>\n"},
		},
		"add attributes to a transform": {
			func(_ *document, p *view) hopxml.Edit {
				return hopxml.SetAttribute(p.Transform("Write").ID, "g", "k", "v")
			},
			[]string{"<send_to>Read</send_to>\n", "<send_to>Read</send_to>\n    <attributes>\n      <group>\n        <name>g</name>\n        <attribute>\n          <key>k</key>\n          <value>v</value>\n        </attribute>\n      </group>\n    </attributes>\n"},
		},
		"remove an attribute": {
			func(d *document, _ *view) hopxml.Edit {
				return hopxml.RemoveAttribute(d.Root().ID(), hopxml.GateGroup, "READ : location")
			},
			[]string{"      <attribute>\n        <key>READ : location</key>\n        <value>s3:bucket</value>\n      </attribute>\n", ""},
		},
		"remove the last attribute of a group": {
			func(d *document, _ *view) hopxml.Edit {
				return hopxml.Join(hopxml.RemoveAttribute(d.Root().ID(), "other", "Read : location"), hopxml.RemoveAttribute(d.Root().ID(), "other", "absent"))
			},
			[]string{"    <group>\n      <name>other</name>\n      <attribute>\n        <key>Read : location</key>\n        <value>y</value>\n      </attribute>\n    </group>\n", ""},
		},
		"remove the last attribute": {
			func(_ *document, p *view) hopxml.Edit {
				return hopxml.RemoveAttribute(p.Transform("Read").ID, hopxml.GateGroup, "id")
			},
			[]string{"<attributes>\n      <group>\n        <name>replay-gate</name>\n        <attribute>\n          <key>id</key>\n          <value>0123456789ab</value>\n        </attribute>\n      </group>\n    </attributes>", "<attributes/>"},
		},
	} {
		t.Run(name, func(t *testing.T) { becomes(t, c.edit, c.oldNew...) })
	}
}

func TestRemovedNodeTakesItsGateMarksAlong(t *testing.T) {
	d := sample(t)
	got := pipeline(t, apply(t, d, hopxml.RemoveNode(pipeline(t, d).Transform("Read").ID)))
	if len(got.Hops)+len(got.UnboundHops)+len(got.ErrorHandling) != 0 {
		t.Errorf("hops %+v, error handling %+v", got.Hops, got.ErrorHandling)
	}
	if g := got.Attributes.Group(hopxml.GateGroup); len(g) != 1 || g[0].Key != "A : B : location" {
		t.Errorf("gate marks: %+v", g)
	}
	if len(got.Attributes.Group("other")) != 1 {
		t.Error("attributes of another program are gone")
	}
}

func TestCopiedNodeHasNoGate(t *testing.T) {
	d := sample(t)
	got := pipeline(t, apply(t, d, hopxml.CopyNode(pipeline(t, d).Transform("Read").ID, "Read 2", 9, 8)))
	c := got.Transforms[1]
	if c.Name != "Read 2" || c.Type != "CSVInput" || c.X != 9 || c.Y != 8 || len(c.Attributes) != 0 || c.Element.Child("filename").Text() != "in.csv" || c.Element.Child("GUI").Child("draw") == nil {
		t.Errorf("copy: %+v", c)
	}
	if len(got.Hops) != 2 || len(got.Transforms[0].Attributes) != 1 {
		t.Error("the original changed")
	}
}

func TestRemoveErrorHandlingKeepsTheHop(t *testing.T) {
	d := sample(t)
	got := pipeline(t, apply(t, d, hopxml.RemoveErrorHandling(pipeline(t, d).ErrorHandling[0].ID)))
	if len(got.Hops) != 2 || got.Hops[1].Error || len(got.ErrorHandling) != 0 {
		t.Errorf("hops %+v, error handling %+v", got.Hops, got.ErrorHandling)
	}
}

// Hop keeps one error handling per transform: that of the last entry.
func TestTheLastErrorHandlingCounts(t *testing.T) {
	const second = "<error><source_transform>Read</source_transform><target_transform>Write</target_transform></error>"
	d := parse(t, strings.Replace(samplePipeline, "  </transform_error", second+"  </transform_error", 1))
	p := pipeline(t, d)
	if !p.Hops[0].Error || p.Hops[1].Error {
		t.Errorf("hops: %+v", p.Hops)
	}
	changed := pipeline(t, apply(t, d, hopxml.SetErrorHandling(hopxml.ErrorHandling{Source: "read", Target: "write", Enabled: true, MaxErrors: "3"})))
	if h := changed.HandlingOf(p.Transforms[0].ID); h.MaxErrors != "3" || len(changed.ErrorHandling) != 2 {
		t.Errorf("error handling: %+v", changed.ErrorHandling)
	}
}

// What is missing in a file is added in Hop's order.
func TestEditsOfSparseFiles(t *testing.T) {
	d := parse(t, "<pipeline>\n  <transform>\n    <name>a</name>\n  </transform>\n</pipeline>\n")
	d = apply(t, d,
		hopxml.SetInfo("name", "n"), hopxml.SetParameters(nil), hopxml.AddNode(hopxml.NewNode{Name: "b", Type: "Dummy"}),
		hopxml.SetErrorHandling(hopxml.ErrorHandling{Source: "a", Target: "b"}), hopxml.AddNote(hopxml.Note{Text: "x"}),
		hopxml.SetAttribute(d.Root().ID(), "g", "k", "v"))
	var names []string
	for _, e := range d.Root().Elements() {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "info notepads order transform transform transform_error_handling attributes"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s := string(d.Bytes()); !strings.HasPrefix(s, "<pipeline>\n  <info>\n    <name>n</name>\n  </info>\n  <notepads>\n    <notepad>\n      <note>x</note>\n") {
		t.Errorf("layout:\n%s", s)
	}
}

func TestRepeatedGroupsAndKeys(t *testing.T) {
	group := func(entries string) string { return "<group><name>g</name>" + entries + "</group>" }
	entry := func(k, v string) string { return "<attribute><key>" + k + "</key><value>" + v + "</value></attribute>" }
	d := parse(t, "<pipeline><attributes>"+group(entry("k", "1"))+group(entry("k", "2")+entry("k", "3"))+"</attributes></pipeline>")
	if v, ok := pipeline(t, d).Attributes.Get("g", "k"); v != "3" || !ok {
		t.Errorf("got %q, want the last", v)
	}
	if v, ok := pipeline(t, d).Attributes.Get("h", "k"); v != "" || ok {
		t.Errorf("absent group gives %q", v)
	}
	changed := apply(t, d, hopxml.SetAttribute(d.Root().ID(), "g", "k", "4"))
	if v, _ := pipeline(t, changed).Attributes.Get("g", "k"); v != "4" {
		t.Errorf("set value reads %q", v)
	}
	removed := apply(t, d, hopxml.RemoveAttribute(d.Root().ID(), "g", "k"))
	if string(removed.Bytes()) != "<pipeline><attributes/></pipeline>" {
		t.Errorf("removed: %s", removed.Bytes())
	}
}

func TestNamed(t *testing.T) {
	d := sample(t).Named("other.hpl")
	if p := pipeline(t, d); p.Info.Name != "other" || d.Edited() {
		t.Errorf("name %q, edited %v", p.Info.Name, d.Edited())
	}
}

func TestNodeKey(t *testing.T) {
	if node, setting, ok := hopxml.SplitNodeKey(hopxml.NodeKey("A : B", "location")); node != "A : B" || setting != "location" || !ok {
		t.Errorf("got %q, %q, %v", node, setting, ok)
	}
	if _, _, ok := hopxml.SplitNodeKey("A:location"); ok {
		t.Error("a key without separator was split")
	}
}

func TestViewEditsRefuse(t *testing.T) {
	d := sample(t)
	p := pipeline(t, d)
	read, root := p.Transform("Read").ID, d.Root().ID()
	for name, c := range map[string]struct {
		edit hopxml.Edit
		want error
	}{
		"rename to a used name":       {hopxml.RenameNode(read, "WRITE"), hopxml.ErrInvalid},
		"rename to nothing":           {hopxml.RenameNode(read, " "), hopxml.ErrInvalid},
		"rename with false reference": {hopxml.RenameNode(read, "x", p.Transform("Write").Element.Child("type").ID()), hopxml.ErrInvalid},
		"rename a hop":                {hopxml.RenameNode(p.Hops[0].ID, "x"), hopxml.ErrNotFound},
		"remove a note as node":       {hopxml.RemoveNode(p.Notes[0].ID), hopxml.ErrNotFound},
		"add a used name":             {hopxml.AddNode(hopxml.NewNode{Name: "read", Type: "Dummy"}), hopxml.ErrInvalid},
		"add without type":            {hopxml.AddNode(hopxml.NewNode{Name: "x"}), hopxml.ErrInvalid},
		"copy to a used name":         {hopxml.CopyNode(read, "Read", 0, 0), hopxml.ErrInvalid},
		"hop to nowhere":              {hopxml.AddHop(hopxml.Hop{From: "Read", To: "Nowhere"}), hopxml.ErrNotFound},
		"hop to itself":               {hopxml.AddHop(hopxml.Hop{From: "Read", To: "READ"}), hopxml.ErrInvalid},
		"hop twice":                   {hopxml.AddHop(hopxml.Hop{From: "read", To: "write"}), hopxml.ErrInvalid},
		"error handling of nobody":    {hopxml.SetErrorHandling(hopxml.ErrorHandling{Source: "Nobody", Target: "Read"}), hopxml.ErrNotFound},
		"parameter without name":      {hopxml.SetParameters([]hopxml.Parameter{{}}), hopxml.ErrInvalid},
		"parameter twice":             {hopxml.SetParameters([]hopxml.Parameter{{Name: "a"}, {Name: "a"}}), hopxml.ErrInvalid},
		"empty value":                 {hopxml.SetAttribute(root, "g", "k", ""), hopxml.ErrInvalid},
		"blank value":                 {hopxml.SetAttribute(root, "g", "k", " \n"), hopxml.ErrInvalid},
		"value XML cannot hold":       {hopxml.SetAttribute(root, "g", "k", "\x00"), hopxml.ErrInvalid},
		"empty key":                   {hopxml.SetAttribute(root, "g", "", "v"), hopxml.ErrInvalid},
		"empty group":                 {hopxml.SetAttribute(root, "", "k", "v"), hopxml.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			if next, err := d.Apply(c.edit); next != nil || !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestRenameByCaseOnly(t *testing.T) {
	d := sample(t)
	got := pipeline(t, apply(t, d, hopxml.RenameNode(pipeline(t, d).Transform("Read").ID, "READ")))
	if got.Transforms[0].Name != "READ" || len(got.Hops) != 2 || got.Hops[1].Element.Child("from").Text() != "READ" {
		t.Errorf("%+v", got.Hops)
	}
}

// Of two transforms with one name in a damaged file, hops belong to the first.
func TestRenameTheSecondOfTwins(t *testing.T) {
	const twin = "<transform><name>Read</name></transform>"
	d := parse(t, strings.Replace(samplePipeline, "  <transform_error", twin+"  <transform_error", 1))
	twins := pipeline(t, d).Transforms
	got := pipeline(t, apply(t, d, hopxml.RenameNode(twins[3].ID, "Other")))
	if got.Hops[0].FromID != twins[0].ID || got.Transforms[3].Name != "Other" {
		t.Errorf("%+v", got.Hops)
	}
}

func TestNewDocuments(t *testing.T) {
	created := time.Date(2026, 8, 21, 7, 8, 9, 123e6, time.UTC)
	d, err := hopxml.NewPipeline("a<b", created)
	if err != nil {
		t.Fatal(err)
	}
	d = apply(t, d,
		hopxml.AddNode(hopxml.NewNode{Name: "one", Type: "DataGrid"}), hopxml.AddNode(hopxml.NewNode{Name: "two", Type: "Dummy"}),
		hopxml.AddHop(hopxml.Hop{From: "one", To: "two", Enabled: true}), hopxml.SetParameters([]hopxml.Parameter{{Name: "P"}}))
	p := pipeline(t, reparsed(t, d))
	if p.Info.StoredName != "a<b" || p.Info.CreatedDate != "2026/08/21 07:08:09.123" || len(p.Hops) != 1 || len(p.Info.Parameters) != 1 {
		t.Errorf("%+v", p)
	}
	if s := string(d.Bytes()); !strings.Contains(s, "\n  <order>\n    <hop>\n      <from>one</from>\n") || !strings.HasSuffix(s, "  <attributes/>\n</pipeline>\n") {
		t.Errorf("layout:\n%s", s)
	}
	d, err = hopxml.NewWorkflow("w", created)
	if err != nil {
		t.Fatal(err)
	}
	d = apply(t, d,
		hopxml.AddNode(hopxml.NewNode{Name: "Start", Type: hopxml.StartType, X: 5, Y: 6}), hopxml.AddNode(hopxml.NewNode{Name: "End", Type: "SUCCESS"}),
		hopxml.AddHop(hopxml.Hop{From: "Start", To: "End", Enabled: true, Unconditional: true, Evaluation: true}))
	w := workflow(t, reparsed(t, d))
	if w.Start() == nil || w.Start().X != 5 || len(w.Hops) != 1 || w.Hops[0].Condition() != hopxml.Always || w.Info.Name != "w" {
		t.Errorf("%+v", w)
	}
}

func TestWorkflowView(t *testing.T) {
	const in = head + `<workflow>
  <name>w</name>
  <workflow_version>2</workflow_version>
  <parameters/>
  <actions>
    <action>
      <name>Go</name>
      <type>SUCCESS</type>
      <parallel>Y</parallel>
      <xloc>1</xloc>
      <yloc>2</yloc>
      <attributes_hac>
        <group><name>g</name><attribute><key>k</key><value>v</value></attribute></group>
      </attributes_hac>
    </action>
    <action>
      <name>Start</name>
      <type>special</type>
    </action>
    <action>
      <name>Start 2</name>
      <type>SPECIAL</type>
    </action>
  </actions>
  <hops>
    <hop>
      <from>start</from>
      <to>go</to>
      <from_nr>0</from_nr>
      <enabled>Y</enabled>
      <unconditional>N</unconditional>
    </hop>
  </hops>
</workflow>
`
	d := parse(t, in)
	w := workflow(t, d)
	goOn := w.Action("go")
	if w.Info.Version != "2" || !goOn.Parallel || goOn.Y != 2 || w.Start().Name != "Start" {
		t.Errorf("%+v", w)
	}
	if v, ok := goOn.CanvasAttributes.Get("g", "k"); v != "v" || !ok {
		t.Error("canvas attributes are not read")
	}
	if h := w.Hops[0]; h.From != "Start" || h.To != "Go" || h.Condition() != hopxml.OnFailure {
		t.Errorf("hop: %+v", h)
	}
	for condition, want := range map[hopxml.Condition]string{
		hopxml.Always:    "<evaluation>Y</evaluation>\n      <unconditional>Y</unconditional>",
		hopxml.OnSuccess: "<evaluation>Y</evaluation>\n      <unconditional>N</unconditional>",
		hopxml.OnFailure: "<unconditional>N</unconditional>",
	} {
		got := apply(t, d, hopxml.SetCondition(w.Hops[0].ID, condition))
		if s := strings.Replace(in, "<unconditional>N</unconditional>", want, 1); string(got.Bytes()) != s {
			t.Errorf("condition %d:\n%s", condition, got.Bytes())
		}
		if workflow(t, got).Hops[0].Condition() != condition {
			t.Errorf("condition %d is not read back", condition)
		}
	}
	moved := apply(t, d, hopxml.MoveNode(goOn.ID, 1, 3), hopxml.SetInfo("name", "v"))
	if want := strings.NewReplacer("<yloc>2", "<yloc>3", "<name>w", "<name>v").Replace(in); string(moved.Bytes()) != want {
		t.Errorf("moved:\n%s", moved.Bytes())
	}
	params := apply(t, d, hopxml.SetParameters([]hopxml.Parameter{{Name: "p", Default: "1"}}))
	if got := workflow(t, params).Info.Parameters; len(got) != 1 || got[0].Default != "1" {
		t.Errorf("parameters: %+v", got)
	}
	renamed := apply(t, d, hopxml.RenameNode(w.Start().ID, "Begin"))
	if h := workflow(t, renamed).Hops[0]; h.From != "Begin" {
		t.Errorf("renamed: %+v", h)
	}
}
