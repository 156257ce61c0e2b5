package gate_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/gate"
	"sluice/engine/hopxml"
)

func parse(t testing.TB, text string) *hopxml.Document {
	t.Helper()
	d, err := hopxml.Parse("test.hpl", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func edited(t testing.TB, text string, e hopxml.Edit) string {
	t.Helper()
	d, err := parse(t, text).Apply(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(d.Bytes())
}

func marksIn(t testing.TB, text string) *gate.Marks {
	t.Helper()
	m, err := gate.ReadMarks(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ids(b ...byte) *bytes.Reader { return bytes.NewReader(b) }

var plain = hpl("in>out", node("in", "TestSource", "<rows>5</rows>"), node("out", "TestTarget", "<note>n</note>"))

const workflowText = `<?xml version="1.0" encoding="UTF-8"?>
<workflow>
  <name>w</name>
  <actions>
    <action>
      <name>Load : all</name>
      <type>PIPELINE</type>
      <attributes/>
    </action>
  </actions>
  <hops>
  </hops>
  <attributes/>
</workflow>
`

func TestMarkAndUnmarkLeaveNothing(t *testing.T) {
	for name, c := range map[string]struct{ text, node string }{
		"transform": {plain, "IN"}, "action with the separator in its name": {workflowText, "Load : all"},
	} {
		t.Run(name, func(t *testing.T) {
			on := edited(t, c.text, gate.Mark(c.node, map[string]string{gate.KeyLocation: "${WHERE}", gate.KeyPolicy: "younger-than 7d"}, ids(1, 2, 3, 4, 5, 6)))
			m := marksIn(t, on)
			if len(m.Gates) != 1 || len(m.Problems) != 0 {
				t.Fatalf("%d gates, %v", len(m.Gates), m.Err())
			}
			want := map[string]string{"id": "010203040506", "location": "${WHERE}", "policy": "younger-than 7d"}
			if diff := cmp.Diff(want, m.Gates[0].Settings); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(on, "<value></value>") || strings.Contains(on, "<value/>") {
				t.Error("an empty value, which Hop cannot save")
			}
			if off := edited(t, on, gate.Unmark(c.node)); off != c.text {
				t.Errorf("not as before: %s", cmp.Diff(c.text, off))
			}
		})
	}
}

func TestSettingsChangeOneLine(t *testing.T) {
	on := edited(t, plain, gate.Mark("in", map[string]string{gate.KeyMinRows: "1"}, ids(1, 2, 3, 4, 5, 6)))
	more := edited(t, on, gate.Mark("in", map[string]string{gate.KeyMinRows: "2"}, nil))
	if n := strings.Count(cmp.Diff(strings.Split(on, "\n"), strings.Split(more, "\n")), "\n+"); n != 1 {
		t.Errorf("%d lines were added or changed", n)
	}
	none := edited(t, more, gate.Mark("in", map[string]string{gate.KeyMinRows: ""}, nil))
	if g := marksIn(t, none).Gates[0]; len(g.Settings) != 1 {
		t.Errorf("left: %v", g.Settings)
	}
	d := parse(t, plain)
	next, err := d.Apply(gate.Mark("in", nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if !next.Edited() || d.Edited() || string(d.Bytes()) != plain {
		t.Error("the earlier document changed, so undo is not what it was")
	}
}

func TestANewGateHasItsOwnID(t *testing.T) {
	a := marksIn(t, edited(t, plain, gate.Mark("in", nil, nil))).Gates[0].ID
	b := marksIn(t, edited(t, plain, gate.Mark("in", nil, nil))).Gates[0].ID
	if a == b || !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(a) {
		t.Errorf("%s and %s", a, b)
	}
}

func TestCopiesRenamesAndLostMarks(t *testing.T) {
	on := edited(t, plain, gate.Mark("in", map[string]string{gate.KeyMinRows: "1"}, ids(1, 2, 3, 4, 5, 6)))
	byHop := func(old, name string) func(*testing.T) string { // Hop renames the node, not our keys
		return func(*testing.T) string {
			return strings.ReplaceAll(strings.ReplaceAll(on, "<name>"+old+"</name>", "<name>"+name+"</name>"), "<from>"+old+"</from>", "<from>"+name+"</from>")
		}
	}
	anchor := regexp.MustCompile(`(?s)<attributes>\s*<group>.*?</attributes>`)
	node := regexp.MustCompile(`(?s)  <transform>\s*<name>in</name>.*?</transform>\n`)
	for name, c := range map[string]struct {
		text    func(*testing.T) string
		gate    string // node that is the gate
		former  string
		problem string // part of message and repair
	}{
		"as marked": {func(*testing.T) string { return on }, "in", "", ""},
		"renamed here": {func(t *testing.T) string {
			d := parse(t, on)
			p, _ := d.Pipeline()
			return edited(t, on, renameIn(d, p.Transform("in").ID))
		}, "source", "", ""},
		"renamed by Hop": {byHop("in", "reader"), "reader", "in", ""},
		"anchor lost": {func(*testing.T) string {
			return anchor.ReplaceAllString(on[:strings.Index(on, "<name>out")], "<attributes/>") + on[strings.Index(on, "<name>out"):]
		}, "in", "", ""},
		"copied by Hop":  {func(*testing.T) string { return copyOf(on, node, "in 2") }, "", "", "copied"},
		"removed by Hop": {func(*testing.T) string { return strings.Replace(on, node.FindString(on), "", 1) }, "", "", "belongs to no node"},
		"renamed, anchor lost": {func(t *testing.T) string {
			return strings.ReplaceAll(byHop("in", "reader")(t), "<key>id</key>", "<key>other</key>")
		}, "", "", "belongs to no node"},
		"mark lost": {func(*testing.T) string {
			return on[:strings.LastIndex(on, "<attributes>")] + "<attributes/>\n</pipeline>\n"
		}, "", "", "settings of that mark are gone"},
		"name here, anchor there": {func(*testing.T) string {
			return strings.Replace(copyOf(byHopText(on, "in", "x"), regexp.MustCompile(`(?s)  <transform>\s*<name>x</name>.*?</transform>\n`), "in"), "010203040506</value>", "010203040506</value>", 1)
		}, "", "", "copied"},
		"id damaged":                 {func(*testing.T) string { return strings.ReplaceAll(on, "010203040506", "nonsense") }, "", "", "no usable id"},
		"upper case name in the key": {func(*testing.T) string { return strings.ReplaceAll(on, "<key>in : ", "<key>IN : ") }, "in", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := marksIn(t, c.text(t))
			if c.problem != "" {
				err := m.Err()
				if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), "sluice gate") {
					t.Fatalf("problem is %v", err)
				}
				return
			}
			if err := m.Err(); err != nil {
				t.Fatal(err)
			}
			g := m.Gates[0]
			if g.Node != c.gate || g.FormerName != c.former || g.ID != "010203040506" || g.Settings[gate.KeyMinRows] != "1" {
				t.Errorf("%+v", g)
			}
		})
	}
}

func renameIn(_ *hopxml.Document, id hopxml.ID) hopxml.Edit {
	return func(d *hopxml.Document) (*hopxml.Document, error) {
		p, err := d.Pipeline()
		if err != nil {
			return nil, err
		}
		_ = id // ids are of one lineage; the name is what both share
		return d.Apply(hopxml.RenameNode(p.Transform("in").ID, "source"))
	}
}

func byHopText(text, old, name string) string {
	return strings.ReplaceAll(text, "<name>"+old+"</name>", "<name>"+name+"</name>")
}

// copyOf pastes a node as Hop does, attributes included.
func copyOf(text string, node *regexp.Regexp, name string) string {
	n := node.FindString(text)
	c := regexp.MustCompile(`<name>[^<]*</name>`).ReplaceAllStringFunc(n[:strings.Index(n, "<type>")], func(string) string { return "<name>" + name + "</name>" }) + n[strings.Index(n, "<type>"):]
	return strings.Replace(text, n, n+c, 1)
}

func TestARenameByHopIsRepairedByTheNextEdit(t *testing.T) {
	on := byHopText(edited(t, plain, gate.Mark("in", map[string]string{gate.KeyMinRows: "1"}, ids(1, 2, 3, 4, 5, 6))), "in", "reader")
	fixed := edited(t, on, gate.Mark("reader", nil, nil))
	g := marksIn(t, fixed).Gates[0]
	if g.FormerName != "" || g.ID != "010203040506" || g.Settings[gate.KeyMinRows] != "1" || strings.Contains(fixed, "<key>in : ") {
		t.Errorf("%+v in %s", g, fixed)
	}
	off := edited(t, on, gate.Unmark("reader"))
	if strings.Contains(off, "010203040506") || strings.Contains(off, gate.KeyMinRows) {
		t.Error("unmarking a renamed gate leaves something")
	}
}

func TestACopyMadeHereHasNoGate(t *testing.T) {
	on := parse(t, edited(t, plain, gate.Mark("in", nil, ids(1, 2, 3, 4, 5, 6))))
	p, err := on.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	two, err := on.Apply(hopxml.CopyNode(p.Transform("in").ID, "in 2", 1, 1), gate.Mark("in 2", nil, ids(6, 5, 4, 3, 2, 1)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := gate.ReadMarks(two)
	if err != nil || m.Err() != nil || len(m.Gates) != 2 || m.Gates[0].ID == m.Gates[1].ID {
		t.Errorf("%v %v %+v", err, m.Err(), m.Gates)
	}
}

func TestSettingsAreRefusedByName(t *testing.T) {
	for key, bad := range map[string]string{
		gate.KeyCompression: "lzma", gate.KeyRelease: "later", gate.KeyMinRows: "-1", gate.KeyMaxAge: "soon", gate.KeyPolicy: "younger-than",
		gate.KeyLimitBytes: "big", gate.KeyOnFailure: "cry", gate.KeyRequire: "id:Nonsense", "colour": "red",
	} {
		g := &gate.Gate{Node: "in", ID: "010203040506", Settings: map[string]string{key: bad}}
		_, err := g.Resolve(same{})
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), `"in"`) {
			t.Errorf("%s=%s: %v", key, bad, err)
		}
	}
	good := &gate.Gate{Node: "in", ID: "010203040506", Settings: map[string]string{
		gate.KeyCompression: "ZSTD", gate.KeyRelease: "streaming", gate.KeyMinRows: "1", gate.KeyMaxAge: "2w", gate.KeyPolicy: "younger-than 36h",
		gate.KeyLimitBytes: "1.5 GiB", gate.KeyOnFailure: "stop", gate.KeyRequire: "id:Integer, Created At:Date", gate.KeyCompatible: "yes",
	}}
	c, err := good.Resolve(same{})
	if err != nil || c.Contract.Fields[1].Name != "Created At" || c.Limits.Bytes != 3<<29 || !c.StopOnFailure {
		t.Errorf("%+v, %v", c, err)
	}
}

type same struct{}

func (same) Resolve(text string) (string, error) { return text, nil }
