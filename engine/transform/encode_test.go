package transform_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/engine/hopxml"
	"sluice/engine/transform"
	"sluice/engine/transforms"
)

// edited is the inside of a <transform> element after a change of its settings.
func edited(t *testing.T, xml string, change func(*everything)) string {
	t.Helper()
	d, err := hopxml.Parse("x.hpl", []byte("<transform>"+xml+"\n</transform>"))
	if err != nil {
		t.Fatal(err)
	}
	old, _ := definition.Decode(d.Root())
	fresh, _ := definition.Decode(d.Root())
	change(fresh.(*everything))
	edits, err := definition.Encode(d.Root(), old, fresh)
	if err != nil {
		t.Fatal(err)
	}
	next, err := d.Apply(edits...)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := definition.Decode(next.Root())
	if diff := cmp.Diff(fresh, again, cmp.AllowUnexported(everything{})); diff != "" {
		t.Errorf("what is written reads back differently: %s", diff)
	}
	s := strings.TrimPrefix(string(next.Bytes()), "<transform>")
	return strings.TrimSuffix(strings.TrimSuffix(s, "</transform>"), "\n")
}

func TestEncode(t *testing.T) {
	const rows = "\n  <fields>\n    <field>\n      <name>a</name>\n      <extra>1</extra>\n    </field>\n    <field>\n      <name>b</name>\n    </field>\n    <field>\n      <name>c</name>\n    </field>\n  </fields>"
	const files = "\n  <file>\n    <name>a</name>\n    <filemask>m</filemask>\n    <include_subfolders>N</include_subfolders>\n    <name>b</name>\n    <filemask/>\n    <include_subfolders>Y</include_subfolders>\n  </file>"
	field := func(inside string) string { return "    <field>\n      " + inside + "\n    </field>\n" }
	for name, c := range map[string]struct {
		xml    string
		change func(*everything)
		want   string
	}{
		"nothing": {"\n  <text>a</text><!-- kept -->", func(*everything) {}, "\n  <text>a</text><!-- kept -->"},
		"a text":  {"\n  <text>a</text>", func(s *everything) { s.Text = "b & c" }, "\n  <text>b &amp; c</text>"},
		"under an old name": {
			"\n  <old_text>a</old_text>", func(s *everything) { s.Text = "b" }, "\n  <old_text>b</old_text>",
		},
		"into the name as it is spelled": {"\n  <TEXT>a</TEXT>", func(s *everything) { s.Text = "" }, "\n  <TEXT/>"},
		"an absent one appears":          {"\n  <on>N</on>", func(s *everything) { s.Size.Text = "${N}" }, "\n  <on>N</on>\n  <size>${N}</size>"},
		"flags and numbers": {
			"\n  <on>true</on>\n  <ratio>1</ratio>\n  <type_id>2</type_id>",
			func(s *everything) { s.On, s.Ratio, s.TypeID = false, 0.25, 5 },
			"\n  <on>N</on>\n  <ratio>0.25</ratio>\n  <type_id>5</type_id>",
		},
		"a password": {
			"\n  <password>x</password>", func(s *everything) { s.Password = "${PW}" }, "\n  <password>${PW}</password>",
		},
		"inside a group": {
			"\n  <inner>\n    <level>3</level>\n  </inner>", func(s *everything) { s.Inner.Level = 4 }, "\n  <inner>\n    <level>4</level>\n  </inner>",
		},
		"a group that is absent": {"\n  <on>N</on>", func(s *everything) { s.Inner.Level = 4 }, "\n  <on>N</on>\n  <inner>\n    <level>4</level>\n  </inner>"},
		"a cell":                 {rows, func(s *everything) { s.Rows[0].Name = "z" }, strings.Replace(rows, ">a<", ">z<", 1)},
		"a row less": {
			rows, func(s *everything) { s.Rows = append(s.Rows[:1], s.Rows[2]) },
			strings.Replace(rows, field("<name>b</name>"), "", 1),
		},
		"a row more": {
			rows, func(s *everything) { s.Rows = append(s.Rows[:2:2], row{"n", 4}, s.Rows[2]) },
			strings.Replace(rows, field("<name>c</name>"), field("<name>n</name>\n      <length>4</length>")+field("<name>c</name>"), 1),
		},
		"a row moved keeps what it holds": {
			rows, func(s *everything) { s.Rows = []row{s.Rows[1], s.Rows[2], s.Rows[0]} },
			"\n  <fields>\n" + field("<name>b</name>") + field("<name>c</name>") + field("<name>a</name>\n      <extra>1</extra>") + "  </fields>",
		},
		"rows where there were none": {
			"\n  <on>N</on>", func(s *everything) { s.Keys = []string{"k"} }, "\n  <on>N</on>\n  <keys>\n    <key>k</key>\n  </keys>",
		},
		"all rows gone": {"\n  <keys>\n    <key>k</key>\n  </keys>", func(s *everything) { s.Keys = nil }, "\n  <keys>\n  </keys>"},
		"a cell of columns inside one element": {
			files, func(s *everything) { s.Files[1].Mask = "x" }, strings.Replace(files, "<filemask/>", "<filemask>x</filemask>", 1),
		},
		"a row less inside one element": {
			files, func(s *everything) { s.Files = s.Files[1:] },
			"\n  <file>\n    <name>b</name>\n    <filemask/>\n    <include_subfolders>Y</include_subfolders>\n  </file>",
		},
		"a row more inside one element": {
			files, func(s *everything) { s.Files = append(s.Files, file{"c", "", true}) },
			strings.Replace(files, "\n  </file>", "\n    <name>c</name>\n    <filemask/>\n    <include_subfolders>Y</include_subfolders>\n  </file>", 1),
		},
		"a first row inside one element": {
			files, func(s *everything) { s.Files = append([]file{{"c", "", true}}, s.Files...) },
			strings.Replace(files, "<file>", "<file>\n    <name>c</name>\n    <filemask/>\n    <include_subfolders>Y</include_subfolders>", 1),
		},
		"columns inside one element with a gap": {
			"\n  <file>\n    <name>a</name>\n    <name>b</name>\n  </file>", func(s *everything) { s.Files[1].Mask = "x" },
			"\n  <file>\n    <name>a</name>\n    <name>b</name>\n    <filemask/>\n    <filemask>x</filemask>\n  </file>",
		},
		"columns inside an absent element": {
			"\n  <on>N</on>", func(s *everything) { s.Files = []file{{"c", "m", false}} },
			"\n  <on>N</on>\n  <file>\n    <name>c</name>\n    <filemask>m</filemask>\n    <include_subfolders>N</include_subfolders>\n  </file>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, edited(t, c.xml, c.change)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNewSettingsReadBackAsDefaults(t *testing.T) {
	for _, def := range transforms.Registry().All() {
		d, err := hopxml.NewPipeline("p", testTime)
		if err != nil {
			t.Fatal(err)
		}
		want, err := def.Entries(def.Default())
		if err != nil {
			t.Fatal(err)
		}
		d, err = d.Apply(hopxml.AddNode(hopxml.NewNode{Name: "n", Type: def.ID, Settings: transform.NewSettings(want)}))
		if err != nil {
			t.Errorf("%s: %v", def.ID, err)
			continue
		}
		p, err := d.Pipeline()
		if err != nil {
			t.Fatal(err)
		}
		s, problems := def.Decode(p.Transform("n").Element)
		got, _ := def.Entries(s)
		if len(problems) > 0 || !transform.EqualEntries(got, want) {
			t.Errorf("%s: problems %v; new settings read back as %s", def.ID, problems, cmp.Diff(texts(want), texts(got)))
		}
	}
}

// texts lists the paths and texts of entries.
func texts(list []transform.Entry) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.Setting.Key()+"="+e.Text)
		for _, r := range e.Rows {
			out = append(out, texts(r)...)
		}
		out = append(out, texts(e.Items)...)
	}
	return out
}

func TestEncodeOverTheSuite(t *testing.T) {
	registry := transforms.Registry()
	nodes, changes := 0, 0
	for _, path := range suitePipelines(t) {
		d, err := hopxml.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Pipeline()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i := range p.Transforms {
			node := &p.Transforms[i]
			def, ok := registry.Find(node.Type)
			if !ok {
				continue
			}
			nodes++
			s, problems := def.Decode(node.Element)
			same, err := def.Encode(node.Element, s, s)
			if err != nil || len(same) != 0 {
				t.Errorf("%s: %s: %d edits without a change (%v)", path, node.Name, len(same), err)
			}
			if len(problems) == 0 {
				changes += changeEach(t, d, def, node)
			}
		}
	}
	if nodes < 1200 || changes < 15000 {
		t.Errorf("only %d transforms and %d changes were tried", nodes, changes)
	}
}

// changeEach changes one setting after the other.
func changeEach(t *testing.T, d *hopxml.Document, def transform.Definition, node *hopxml.Transform) int {
	t.Helper()
	s, _ := def.Decode(node.Element)
	old, err := def.Entries(s)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, at := range simple(old, nil) {
		changed := transform.CloneEntries(old)
		e := entryAt(changed, at)
		before := e.Text
		if !mutate(e) {
			continue
		}
		n++
		next, err := d.Apply(transform.EncodeEntries(node.Element, old, changed)...)
		if err != nil {
			t.Errorf("%s: %s: %s: %v", d.Name(), node.Name, e.Setting.Key(), err)
			continue
		}
		got, _ := def.Entries(decodeAgain(t, def, next, node))
		back := entryAt(got, at)
		if back == nil || back.Text != e.Text {
			t.Errorf("%s: %s: %s: %q was written, but it reads as %v", d.Name(), node.Name, e.Setting.Key(), e.Text, back)
			continue
		}
		if lines, most := changedLines(d.Bytes(), next.Bytes()), 1+len(e.Setting.Path)*2+strings.Count(before, "\n"); lines > most && !e.Setting.Inline {
			if !inlined(old, at) {
				t.Errorf("%s: %s: %s: %d lines changed, at most %d were expected", d.Name(), node.Name, e.Setting.Key(), lines, most)
			}
		}
	}
	return n
}

func decodeAgain(t *testing.T, def transform.Definition, d *hopxml.Document, node *hopxml.Transform) transform.Settings {
	t.Helper()
	s, _ := def.Decode(d.Element(node.ID))
	return s
}

// inlined tells whether a place lies in a table whose columns share one element:
// a cell that is absent there brings those before it along.
func inlined(list []transform.Entry, at []int) bool { return list[at[0]].Setting.Inline }

// simple lists the places of simple entries: index, then row and column, or index
// in the group; of a table the first two rows.
func simple(list []transform.Entry, prefix []int) [][]int {
	var out [][]int
	for i := range list {
		at := append(append([]int(nil), prefix...), i)
		switch list[i].Setting.Kind {
		case transform.KindGroup:
			out = append(out, simple(list[i].Items, append(at, -1))...)
		case transform.KindTable:
			for n := range min(len(list[i].Rows), 2) {
				out = append(out, simple(list[i].Rows[n], append(at, n))...)
			}
		case transform.KindList:
		default:
			out = append(out, at)
		}
	}
	return out
}

func entryAt(list []transform.Entry, at []int) *transform.Entry {
	e := &list[at[0]]
	for at = at[1:]; len(at) > 0; at = at[2:] {
		if at[0] < 0 {
			e = &e.Items[at[1]]
		} else if at[0] < len(e.Rows) {
			e = &e.Rows[at[0]][at[1]]
		} else {
			return nil
		}
	}
	return e
}

// mutate gives an entry another value of its kind.
func mutate(e *transform.Entry) bool {
	switch e.Setting.Kind {
	case transform.KindText, transform.KindExpr:
		e.Text = "changed ${HERE}"
	case transform.KindNumber:
		if e.Text = "7"; e.Setting.Default == "7" {
			e.Text = "8"
		}
	case transform.KindFlag:
		if e.Text == "Y" {
			e.Text = "N"
		} else {
			e.Text = "Y"
		}
	case transform.KindChoice:
		for _, c := range e.Setting.Choices() {
			if c.Code != e.Text {
				e.Text = c.Code
				return true
			}
		}
		return false
	case transform.KindType:
		if e.Text == "Integer" {
			e.Text = "Date"
		} else {
			e.Text = "Integer"
		}
	case transform.KindSecret:
		e.Text = "${SECRET}"
	default:
		return false
	}
	return true
}

// changedLines counts the lines between what is the same at both ends.
func changedLines(a, b []byte) int {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[0], y[0]) {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[len(x)-1], y[len(y)-1]) {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return max(len(x), len(y))
}

func suitePipelines(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".hpl" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("the Hop suite is missing; set SLUICE_HOP_SUITE: %v", err)
	}
	return files
}

var testTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
