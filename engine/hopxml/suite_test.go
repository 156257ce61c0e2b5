package hopxml_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/engine/hopxml"
)

// suiteFiles lists every pipeline and workflow of the Hop suite.
func suiteFiles(t testing.TB) []string {
	t.Helper()
	root := os.Getenv("SLUICE_HOP_SUITE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "hop-suite")
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); ext == ".hpl" || ext == ".hwf" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatalf("Hop suite: %v (set SLUICE_HOP_SUITE)", err)
	}
	const known = 566
	if len(files) < known {
		t.Fatalf("Hop suite at %s has %d files, want at least %d", root, len(files), known)
	}
	return files
}

func open(t testing.TB, path string) (*hopxml.Document, []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := hopxml.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d, data
}

func apply(t testing.TB, d *hopxml.Document, edits ...hopxml.Edit) *hopxml.Document {
	t.Helper()
	next, err := d.Apply(edits...)
	if err != nil {
		t.Fatal(err)
	}
	reparsed(t, next)
	return next
}

// reparsed checks that the tree in memory and the one in the file are the same.
func reparsed(t testing.TB, d *hopxml.Document) *hopxml.Document {
	t.Helper()
	again, err := hopxml.Parse(d.Name(), d.Bytes())
	if err != nil {
		t.Fatalf("the edit broke the file: %v\n%s", err, d.Bytes())
	}
	if !sameTree(d.Root(), again.Root()) {
		t.Fatalf("the tree differs from the file:\n%s", d.Bytes())
	}
	return again
}

func sameTree(a, b *hopxml.Element) bool {
	x, y := a.Elements(), b.Elements()
	if a.Name() != b.Name() || a.Text() != b.Text() || len(x) != len(y) {
		return false
	}
	for i := range x {
		if !sameTree(x[i], y[i]) {
			return false
		}
	}
	return true
}

func walk(e *hopxml.Element, visit func(*hopxml.Element)) {
	visit(e)
	for _, c := range e.Elements() {
		walk(c, visit)
	}
}

func nodeIDs(t testing.TB, d *hopxml.Document) (ids []hopxml.ID, places [][2]int) {
	t.Helper()
	if d.Kind() == hopxml.WorkflowKind {
		w, err := d.Workflow()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range w.Actions {
			ids, places = append(ids, a.ID), append(places, [2]int{a.X, a.Y})
		}
		return ids, places
	}
	p, err := d.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Transforms {
		ids, places = append(ids, a.ID), append(places, [2]int{a.X, a.Y})
	}
	return ids, places
}

func TestSuiteOpensToTheSameBytes(t *testing.T) {
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		if !bytes.Equal(d.Bytes(), data) || d.Edited() || d.ReadOnly() {
			t.Errorf("%s: not the bytes that were read", path)
		}
	}
}

func TestSuiteMovingEveryNodeAndBackGivesTheSameBytes(t *testing.T) {
	moved := 0
	for _, path := range suiteFiles(t) {
		first, data := open(t, path)
		d := first
		ids, places := nodeIDs(t, d)
		for _, id := range ids {
			d = apply(t, d, hopxml.MoveNode(id, 4711, -3))
		}
		if len(ids) > 0 && bytes.Equal(d.Bytes(), data) {
			t.Errorf("%s: nothing moved", path)
		}
		for i, id := range ids {
			d = apply(t, d, hopxml.MoveNode(id, places[i][0], places[i][1]))
			moved++
		}
		if got := d.Bytes(); !bytes.Equal(got, data) {
			gone, come := changedLines(data, got)
			t.Errorf("%s: moved and moved back: %q became %q", path, gone, come)
		}
		if !bytes.Equal(first.Bytes(), data) {
			t.Errorf("%s: the earlier document changed", path)
		}
	}
	if moved < 1000 {
		t.Errorf("only %d nodes moved", moved)
	}
}

// changedLines are the lines of a that are not in b and of b that are not in
// a, with the common head and tail of the files taken off.
func changedLines(a, b []byte) (gone, come []string) {
	x, y := bytes.SplitAfter(a, []byte("\n")), bytes.SplitAfter(b, []byte("\n"))
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[0], y[0]) {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && bytes.Equal(x[len(x)-1], y[len(y)-1]) {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	for _, l := range x {
		gone = append(gone, string(l))
	}
	for _, l := range y {
		come = append(come, string(l))
	}
	return gone, come
}

func TestSuiteASettingChangesOnlyItsLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		var leaves []*hopxml.Element
		walk(d.Root(), func(e *hopxml.Element) {
			if len(e.Elements()) == 0 && !strings.Contains(string(e.Raw()), "<!--") {
				leaves = append(leaves, e)
			}
		})
		for range 5 {
			leaf := leaves[rng.IntN(len(leaves))]
			const text = "a < b & \"c\" > 'd' é"
			edited := apply(t, d, hopxml.SetText(leaf.ID(), text))
			gone, come := changedLines(data, edited.Bytes())
			lines := bytes.Count(leaf.Raw(), []byte("\n")) + 1
			if len(gone) != lines || len(come) != 1 {
				t.Errorf("%s:%d: <%s>: %d lines became %d, want %d to become 1", path, leaf.Line(), leaf.Name(), len(gone), len(come), lines)
			}
			if want := "<" + leaf.Name() + ">a &lt; b &amp; \"c\" > 'd' é</" + leaf.Name() + ">"; !strings.Contains(come[0], want) {
				t.Errorf("%s:%d: %q, want %q in it", path, leaf.Line(), come[0], want)
			}
			if got := edited.Element(leaf.ID()).Text(); got != text {
				t.Errorf("%s: reads back %q", path, got)
			}
		}
	}
}

// Every edit of the designer, on a copy of a real file, keeps every line that
// it has no business with.
func TestSuiteRemovedAndAddedNodes(t *testing.T) {
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		ids, _ := nodeIDs(t, d)
		if len(ids) == 0 {
			continue
		}
		added := apply(t, d, hopxml.AddNode(hopxml.NewNode{Name: "Brand new", Type: "Dummy", X: 1, Y: 2}))
		gone, come := changedLines(data, added.Bytes())
		if len(come)-len(gone) < 10 || len(gone) > 1 {
			t.Errorf("%s: adding a node took %q away", path, gone)
		}
		after, _ := nodeIDs(t, added)
		back := apply(t, added, hopxml.RemoveNode(after[len(after)-1]))
		if !bytes.Equal(back.Bytes(), data) {
			gone, come = changedLines(data, back.Bytes())
			t.Errorf("%s: added and removed: %q became %q", path, gone, come)
		}
		none := d
		for _, id := range ids {
			none = apply(t, none, hopxml.RemoveNode(id))
		}
		left, _ := nodeIDs(t, none)
		hops := none.Root().Child("order")
		if d.Kind() == hopxml.WorkflowKind {
			hops = none.Root().Child("hops")
		}
		if len(left) != 0 || len(hops.Elements()) != 0 {
			t.Errorf("%s: %d nodes and %d hops left", path, len(left), len(hops.Elements()))
		}
	}
}

func TestSuiteRenameReachesHops(t *testing.T) {
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		ids, _ := nodeIDs(t, d)
		for i, id := range ids {
			old := d.Element(id).Child("name").Text()
			renamed := apply(t, d, hopxml.RenameNode(id, "Renamed & more"))
			if n := hopsNaming(renamed, old); n != 0 {
				t.Errorf("%s: %d hops still name %q", path, n, old)
			}
			if hopsNaming(renamed, "Renamed & more") != hopsNaming(d, old) {
				t.Errorf("%s: hops of %q got lost", path, old)
			}
			if back := apply(t, renamed, hopxml.RenameNode(id, old)); i == 0 && bytes.Count(back.Bytes(), []byte("\n")) != bytes.Count(data, []byte("\n")) {
				t.Errorf("%s: renaming back changed the number of lines", path)
			}
		}
	}
}

func hopsNaming(d *hopxml.Document, name string) int {
	n := 0
	walk(d.Root(), func(e *hopxml.Element) {
		if e.Name() == "hop" {
			for _, end := range []string{"from", "to"} {
				if hopxml.EqualName(e.Child(end).Text(), name) {
					n++
				}
			}
		}
	})
	return n
}

// designerEdits is a little of everything a person does to a file.
func designerEdits(t *testing.T, d *hopxml.Document) *hopxml.Document {
	t.Helper()
	ids, _ := nodeIDs(t, d)
	first, last := ids[0], ids[len(ids)-1]
	name := func(id hopxml.ID) string { return d.Element(id).Child("name").Text() }
	edits := []hopxml.Edit{
		hopxml.AddNode(hopxml.NewNode{Name: "Brand new", Type: "Dummy", Settings: []hopxml.Draft{
			hopxml.Branch("fields", hopxml.Branch("field", hopxml.Leaf("name", "a\nb"))),
		}}),
		hopxml.AddHop(hopxml.Hop{From: name(first), To: "Brand new", Enabled: true}),
		hopxml.AddHop(hopxml.Hop{From: "Brand new", To: name(last)}),
		hopxml.RenameNode(first, "Renamed"),
		hopxml.CopyNode(last, "Copied", 3, 4),
		hopxml.MoveNode(last, 55, 66),
		hopxml.AddNote(hopxml.Note{Text: "two\nlines", Width: 10}),
		hopxml.SetParameters([]hopxml.Parameter{{Name: "p", Default: "1"}}),
		hopxml.SetAttribute(d.Root().ID(), hopxml.GateGroup, hopxml.NodeKey("Renamed", "location"), "s3:x"),
		hopxml.SetAttribute(first, hopxml.GateGroup, "id", "0123456789ab"),
		hopxml.SetInfo("extended_description", "line\nline"),
	}
	return apply(t, d, edits...)
}

// The same edits on the same file with other line ends, other indent or none
// give the same file with those.
func TestSuiteEditsKeepTheLayout(t *testing.T) {
	replacer := func(oldNew ...string) func([]byte) []byte {
		r := strings.NewReplacer(oldNew...)
		return func(data []byte) []byte { return []byte(r.Replace(string(data))) }
	}
	indent := regexp.MustCompile(`(?m)^( +)<`)
	layouts := map[string]func([]byte) []byte{
		"CRLF": replacer("\n", "\r\n"),
		"tabs": func(data []byte) []byte {
			return indent.ReplaceAllFunc(data, func(m []byte) []byte { return bytes.ReplaceAll(m, []byte("  "), []byte("\t")) })
		},
	}
	for _, path := range suiteFiles(t) {
		d, data := open(t, path)
		if ids, _ := nodeIDs(t, d); len(ids) == 0 {
			continue
		}
		want := designerEdits(t, d).Bytes()
		for name, layout := range layouts {
			other, err := hopxml.Parse(path, layout(data))
			if err != nil {
				t.Fatalf("%s: %s: %v", path, name, err)
			}
			if got := designerEdits(t, other).Bytes(); !bytes.Equal(got, layout(want)) {
				gone, come := changedLines(layout(want), got)
				t.Errorf("%s: %s: want %q, got %q", path, name, gone, come)
			}
		}
	}
}
