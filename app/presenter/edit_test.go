package presenter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/app/presenter"
	"sluice/app/workspace"
	"sluice/canvas/scene"
)

func setting(t *testing.T, f *presenter.File, node, name string) string {
	t.Helper()
	n, ok := f.NodeNamed(node)
	if !ok {
		t.Fatalf("there is no %s", node)
	}
	return n.Element.Child(name).Text()
}

func TestPlaceAndConnect(t *testing.T) {
	f := newPipeline(t)
	a := place(t, f, presenter.Placed{Type: "RowGenerator", At: scene.Point{X: 100, Y: 100}})
	b := place(t, f, presenter.Placed{Type: "FilterRows", At: scene.Point{X: 260, Y: 100}, From: a})
	c := place(t, f, presenter.Placed{Type: "Dummy", At: scene.Point{X: 420, Y: 100}})
	if hopOf(f, "Generate rows", "Filter rows") == "" {
		t.Fatal("the placed node is not fed")
	}
	links := f.Links(b)
	i := slices.IndexFunc(links, func(l presenter.Link) bool { return l.Setting == "send_true_to" })
	if i < 0 {
		t.Fatalf("no output for matching rows: %+v", links)
	}
	must(t, f.Connect(b, c, links[i]))
	if got := setting(t, f, "Filter rows", "send_true_to"); got != "Dummy (do nothing)" && got != f.Nodes()[2].Name {
		t.Errorf("matching rows go to %q", got)
	}
	g := f.Scene(nil)
	if g.Hops[1].Label != "true" {
		t.Errorf("the hop is labelled %q", g.Hops[1].Label)
	}
	if f.CanConnect(c, a) || f.CanConnect(a, b) || f.CanConnect(a, a) || !f.CanConnect(a, c) {
		t.Error("hops in a circle, twice or to itself are not told from others")
	}
	must(t, f.Delete([]scene.Ref{scene.HopRef(hopOf(f, "Filter rows", f.Nodes()[2].Name))}))
	if got := setting(t, f, "Filter rows", "send_true_to"); got != "" {
		t.Errorf("without the hop, matching rows still go to %q", got)
	}
}

func TestAnErrorHop(t *testing.T) {
	f := newPipeline(t)
	a := place(t, f, presenter.Placed{Type: "SelectValues", At: scene.Point{X: 100, Y: 100}})
	b := place(t, f, presenter.Placed{Type: "Dummy", At: scene.Point{X: 260, Y: 100}})
	links := f.Links(a)
	i := slices.IndexFunc(links, func(l presenter.Link) bool { return l.Error })
	if i < 0 {
		t.Fatalf("no output for error rows: %+v", links)
	}
	must(t, f.Connect(a, b, links[i]))
	if g := f.Scene(nil); len(g.Hops) != 1 || g.Hops[0].Kind != scene.HopError {
		t.Errorf("hops: %+v", g.Hops)
	}
}

func TestSplitDetachAndRewire(t *testing.T) {
	f := openSample(t)
	must(t, f.InsertInto(place(t, f, presenter.Placed{Type: "Dummy"}), hopOf(f, "Is it a sale?", "Order value"), nil))
	name := f.Nodes()[len(f.Nodes())-1].Name
	if hopOf(f, "Is it a sale?", name) == "" || hopOf(f, name, "Order value") == "" || hopOf(f, "Is it a sale?", "Order value") != "" {
		t.Errorf("the hop does not lead through the node: %v", f.Hops())
	}
	if got := setting(t, f, "Is it a sale?", "send_true_to"); got != name {
		t.Errorf("matching rows go to %q, want %q", got, name)
	}
	must(t, f.Detach(id(t, f, name), scene.Point{X: 10, Y: 10}))
	if hopOf(f, "Is it a sale?", "Order value") == "" || hopOf(f, name, "Order value") != "" {
		t.Errorf("the neighbours are not joined: %v", f.Hops())
	}
	if got := setting(t, f, "Is it a sale?", "send_true_to"); got != "Order value" {
		t.Errorf("matching rows go to %q again", got)
	}
	must(t, f.Rewire(hopOf(f, "Is it a sale?", "Order value"), id(t, f, "Is it a sale?"), id(t, f, name)))
	if got := setting(t, f, "Is it a sale?", "send_true_to"); got != name {
		t.Errorf("after reconnecting, matching rows go to %q", got)
	}
}

func TestRenameFollowsReferences(t *testing.T) {
	f := openSample(t)
	must(t, f.Rename(presenter.ElementID(id(t, f, "Cancelled orders")), "Cancelled"))
	if got := setting(t, f, "Is it a sale?", "send_false_to"); got != "Cancelled" {
		t.Errorf("other rows go to %q", got)
	}
	if hopOf(f, "Is it a sale?", "Cancelled") == "" || f.CanUndo() != "rename Cancelled orders" {
		t.Errorf("hops %v, undo %q", f.Hops(), f.CanUndo())
	}
	must(t, f.Rename(presenter.ElementID(id(t, f, "Customers")), "Clients"))
	if got := setting(t, f, "Customer of the order", "from"); got != "Clients" {
		t.Errorf("the lookup reads from %q", got)
	}
}

func TestToggleHopsAndNotes(t *testing.T) {
	f := openSample(t)
	hop := hopOf(f, "Is it a sale?", "Order value")
	must(t, f.ToggleHops([]scene.ID{hop}))
	if g := f.Scene(nil); !slices.ContainsFunc(g.Hops, func(h scene.Hop) bool { return h.ID == hop && h.Disabled }) {
		t.Error("the hop is not off")
	}
	must(t, f.ToggleHops([]scene.ID{hop}))
	if f.CanUndo() != "enable hop" {
		t.Errorf("undo %q", f.CanUndo())
	}
	note := presenter.SceneID(f.Notes()[0].ID)
	must(t, f.ResizeNote(note, scene.Rect{Min: scene.Point{X: 5, Y: 6}, Max: scene.Point{X: 105, Y: 66}}))
	must(t, f.SetNoteText(note, "hello"))
	if n := f.Notes()[0]; n.Text != "hello" || n.X != 5 || n.Width != 100 || n.Height != 60 {
		t.Errorf("note: %+v", n)
	}
}

func TestCopyAndPaste(t *testing.T) {
	f := openSample(t)
	text := f.Copy([]scene.Ref{scene.NodeRef(id(t, f, "Is it a sale?")), scene.NodeRef(id(t, f, "Cancelled orders")), scene.NoteRef(presenter.SceneID(f.Notes()[0].ID))})
	for _, want := range []string{"<pipeline-transforms>", "<transforms>", "<order>", "<notepads>", "<transform_error_handling>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the clipboard has no %s", want)
		}
	}
	refs, err := f.Paste(text, scene.Point{X: 1000, Y: 1000})
	must(t, err)
	if len(refs) != 3 || hopOf(f, "Is it a sale? 2", "Cancelled orders 2") == "" {
		t.Errorf("pasted %v, hops %v", refs, f.Hops())
	}
	if got := setting(t, f, "Is it a sale? 2", "send_false_to"); got != "Cancelled orders 2" {
		t.Errorf("the copy sends other rows to %q", got)
	}
	if got := setting(t, f, "Is it a sale?", "send_false_to"); got != "Cancelled orders" {
		t.Errorf("the original sends other rows to %q", got)
	}
	g := newPipeline(t)
	if refs, err = g.Paste(text, scene.Point{}); err != nil || len(refs) != 3 {
		t.Fatalf("into another file: %v, %v", refs, err)
	}
	if _, ok := g.NodeNamed("Is it a sale?"); !ok {
		t.Error("a free name was changed")
	}
	w, err := presenter.NewWorkflow("w", noon, presenter.NewCatalog(workspace.Registry(), workspace.Actions()))
	must(t, err)
	for name, text := range map[string]string{"other text": "hello", "nothing": "", "transforms into a workflow": text} {
		if _, err := w.Paste(text, scene.Point{}); !errors.Is(err, presenter.ErrNothingToPaste) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	start := w.Copy([]scene.Ref{scene.NodeRef(presenter.SceneID(w.Nodes()[0].ID))})
	if refs, err = w.Paste(start, scene.Point{X: 300, Y: 300}); err != nil || len(refs) != 1 || w.Nodes()[1].Name != "Start 2" {
		t.Errorf("actions: %v, %v, %+v", refs, err, w.Nodes())
	}
}

func TestFind(t *testing.T) {
	f := openSample(t)
	refs := f.Find("COUNTRY")
	if len(refs) < 4 || refs[0].Kind != scene.KindNode {
		t.Fatalf("found %v", refs)
	}
	n, _ := f.Node(presenter.ElementID(refs[0].ID))
	if !strings.Contains(strings.ToLower(n.Name), "country") {
		t.Errorf("first comes %s, whose name does not hold it", n.Name)
	}
	if len(f.Find("")) != 0 || len(f.Find("no such text")) != 0 {
		t.Error("found what is not there")
	}
}

func TestWorkflowHopsChangeTheirCondition(t *testing.T) {
	for _, path := range suite(t) {
		if !strings.HasSuffix(path, ".hwf") {
			continue
		}
		f := openFile(t, path)
		if len(f.Hops()) == 0 {
			continue
		}
		hop := presenter.SceneID(f.Hops()[0].ID)
		before := f.Scene(nil).Hops[0].Kind
		for range 3 {
			must(t, f.NextCondition(hop))
		}
		if got := f.Scene(nil).Hops[0].Kind; got != before {
			t.Errorf("%s: after three changes the hop is %v, was %v", path, got, before)
		}
		return
	}
	t.Fatal("the suite has no workflow with a hop")
}
