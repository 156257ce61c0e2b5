package scene_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/canvas/scene"
)

// ruler measures text without fonts: every character is half its size wide.
type ruler struct{}

func (ruler) Width(text string, size float64, _ bool) float64 {
	return float64(len([]rune(text))) * size / 2
}

func tile(id scene.ID, x, y float64) scene.Node {
	return scene.Node{ID: id, Label: string(id), Pos: pt(x, y)}
}

func hop(from, to scene.ID) scene.Hop { return scene.Hop{ID: from + to, From: from, To: to} }

func build(g scene.Graph) *scene.Scene { return scene.New(g, ruler{}, scene.Options{}) }

func TestNewLeavesOutWhatCannotBeDrawn(t *testing.T) {
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("A", 0, 0), tile("A", 9, 9), tile("B", math.NaN(), math.Inf(1))},
		Hops:  []scene.Hop{hop("A", "B"), hop("A", "B"), hop("A", "gone"), hop("gone", "B")},
		Notes: []scene.Note{{ID: "N"}, {ID: "N"}},
	})
	if s.NodeCount() != 2 || s.HopCount() != 1 || s.NoteCount() != 1 {
		t.Fatalf("%d nodes, %d hops, %d notes", s.NodeCount(), s.HopCount(), s.NoteCount())
	}
	if n, _ := s.Node("A"); n.Pos != pt(0, 0) {
		t.Errorf("the second A won: %v", n.Pos)
	}
	if n, _ := s.Node("B"); n.Pos != pt(0, 0) {
		t.Errorf("B is at %v", n.Pos)
	}
}

func TestRoutes(t *testing.T) {
	tests := map[string]struct {
		to         scene.Point
		orthogonal bool
		start, end scene.Point
		curve      bool
		points     int
	}{
		"right, aligned": {pt(200, 0), false, pt(24, 0), pt(176, 0), false, 2},
		"right, lower":   {pt(200, 80), false, pt(24, 0), pt(176, 80), true, 4},
		"left, mirrored": {pt(-200, 80), false, pt(-24, 0), pt(-176, 80), true, 4},
		"below":          {pt(0, 120), false, pt(0, 45), pt(0, 96), false, 2},
		"below, aside":   {pt(30, 120), false, pt(0, 45), pt(30, 96), true, 4},
		"above":          {pt(0, -120), false, pt(0, -24), pt(0, -75), false, 2},
		"right angles":   {pt(200, 80), true, pt(24, 0), pt(176, 80), false, 4},
		"angles, below":  {pt(30, 120), true, pt(0, 45), pt(30, 96), false, 4},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			s := scene.New(scene.Graph{
				Nodes: []scene.Node{tile("A", 0, 0), tile("B", c.to.X, c.to.Y)}, Hops: []scene.Hop{hop("A", "B")},
			}, ruler{}, scene.Options{Orthogonal: c.orthogonal})
			r := s.Route(0, 1)
			if !near(r.Start(), c.start) || !near(r.End(), c.end) || r.Curve != c.curve || r.N != c.points {
				t.Errorf("from %v to %v, curve %v, %d points", r.Start(), r.End(), r.Curve, r.N)
			}
		})
	}
}

func TestRouteEndsFlat(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 0, 0), tile("B", 200, 90)}, Hops: []scene.Hop{hop("A", "B")}})
	if _, dir := s.Route(0, 1).Arrow(); !near(dir, pt(1, 0)) {
		t.Errorf("the arrow points to %v", dir)
	}
	if p, dir := s.Route(0, 1).Gate(); !near(dir, pt(1, 0)) || !near(p, pt(38, 0)) {
		t.Errorf("the bars are at %v, across %v", p, dir)
	}
}

func TestHopsOfOnePairAreApart(t *testing.T) {
	back := hop("B", "A")
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("A", 0, 0), tile("B", 200, 0)},
		Hops:  []scene.Hop{hop("A", "B"), {ID: "error", From: "A", To: "B", Kind: scene.HopError}, back},
	})
	var ys []float64
	for i := range s.HopCount() {
		ys = append(ys, s.Route(i, 1).Start().Y)
	}
	slices.Sort(ys)
	if ys[1]-ys[0] < 8 || ys[2]-ys[1] < 8 {
		t.Errorf("hops start at %v", ys)
	}
}

func TestSelfHopHasALoop(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 0, 0)}, Hops: []scene.Hop{hop("A", "A")}})
	if l := s.Route(0, 1).Length(); l < scene.TileSize {
		t.Errorf("loop of length %v", l)
	}
}

func TestRouteMeasures(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 0, 0), tile("B", 248, 0)}, Hops: []scene.Hop{hop("A", "B")}})
	r := s.Route(0, 1)
	if l := r.Length(); l != 200 {
		t.Errorf("length %v", l)
	}
	if p, _ := r.At(50); !near(p, pt(74, 0)) {
		t.Errorf("at 50: %v", p)
	}
	if p, _ := r.At(-5); !near(p, r.Start()) {
		t.Errorf("before the start: %v", p)
	}
	if p, _ := r.At(1e9); !near(p, r.End()) {
		t.Errorf("beyond the end: %v", p)
	}
	if !near(r.Middle(), pt(124, 0)) {
		t.Errorf("middle %v", r.Middle())
	}
	if d := r.Distance(pt(124, 7)); d != 7 {
		t.Errorf("distance %v", d)
	}
}

func TestLabels(t *testing.T) {
	tests := map[string]struct {
		label, metric string
		zoom          float64
		lines         []string
		cut           bool
		wantMetric    string
	}{
		"short":            {"Read orders", "", 1, []string{"Read orders"}, false, ""},
		"two lines":        {"Read all the orders of yesterday", "", 1, []string{"Read all the orders", "of yesterday"}, false, ""},
		"breaks at joints": {"stage_orders_of_the_last_day", "", 1, []string{"stage_orders_of_the_", "last_day"}, false, ""},
		"third line cut":   {strings.Repeat("word ", 20), "", 1, []string{"word word word word", "word word word word…"}, true, ""},
		"one long word":    {strings.Repeat("x", 60), "", 1, []string{strings.Repeat("x", 21), strings.Repeat("x", 20) + "…"}, true, ""},
		"blanks collapse":  {"  a \n b  ", "", 1, []string{"a b"}, false, ""},
		"empty":            {"", "", 1, nil, false, ""},
		"metric":           {"A", "12 rows", 1, []string{"A"}, false, "12 rows"},
		"long metric":      {"A", strings.Repeat("9", 40), 1, []string{"A"}, false, strings.Repeat("9", 24) + "…"},
		"small":            {strings.Repeat("word ", 20), "12 rows", 0.6, []string{"word word word…"}, true, ""},
		"too small":        {"A", "12 rows", 0.4, nil, false, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			s := build(scene.Graph{Nodes: []scene.Node{{ID: "n", Label: c.label, Metric: c.metric}}})
			l := s.LabelOf(0, c.zoom)
			var got []string
			for _, line := range l.Name[:l.Lines] {
				got = append(got, line.Text)
			}
			if !slices.Equal(got, c.lines) || l.Cut != c.cut || l.Metric.Text != c.wantMetric {
				t.Errorf("lines %q, cut %v, metric %q", got, l.Cut, l.Metric.Text)
			}
		})
	}
}

func TestLabelsStayReadable(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{{ID: "n", Label: "name", Metric: "12"}}})
	for zoom := 0.5; zoom <= 4; zoom += 0.05 {
		if l := s.LabelOf(0, zoom); l.NameSize < 10 || l.MetricSize < 10 || (l.Metric.Text != "" && l.MetricBase <= l.NameBase) {
			t.Errorf("at %v: %+v", zoom, l)
		}
	}
}

func TestWrapText(t *testing.T) {
	width := func(s string) float64 { return float64(len([]rune(s))) }
	tests := map[string]struct {
		text string
		max  int
		want []string
	}{
		"one line":     {"hello", 5, []string{"hello"}},
		"wrapped":      {"hello wide world", 5, []string{"hello wide", "world"}},
		"paragraphs":   {"a\n\nb\r\nc", 5, []string{"a", "", "b", "c"}},
		"cut":          {"a\nb\nc", 2, []string{"a", "b …"}},
		"cut and long": {"hello wide world here", 2, []string{"hello wide", "world here"}},
		"only one":     {"hello wide world", 1, []string{"hello wid…"}},
		"empty":        {"", 3, []string{""}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := scene.WrapText(c.text, 10, c.max, width); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHitTest(t *testing.T) {
	a := tile("A", 100, 100)
	a.State, a.Gate = scene.StateFailed, scene.GateSealed
	gated := hop("A", "B")
	gated.Gate, gated.Label = scene.GateSealed, "orders"
	s := build(scene.Graph{
		Nodes: []scene.Node{a, tile("B", 400, 100), tile("C", 405, 105)},
		Hops:  []scene.Hop{gated},
		Notes: []scene.Note{{ID: "N", Rect: rect(600, 0, 700, 80)}, {ID: "under", Rect: rect(60, 60, 140, 140)}},
	})
	look := scene.Look{View: scene.Home()}
	withHop := scene.Look{View: scene.Home(), Selected: scene.Select(scene.HopRef("AB"), scene.NoteRef("N"))}
	hover := scene.Look{View: scene.Home(), Hover: "A"}
	far := scene.Look{View: scene.View{Zoom: 0.25}}
	node, hopRef, note := scene.NodeRef, scene.HopRef("AB"), scene.NoteRef
	tests := map[string]struct {
		at   scene.Point
		look scene.Look
		want scene.Hit
	}{
		"tile":                    {pt(100, 100), look, scene.Hit{Ref: node("A"), Part: scene.PartBody}},
		"tile edge":               {pt(75, 110), look, scene.Hit{Ref: node("A"), Part: scene.PartBody}},
		"beside":                  {pt(70, 170), look, scene.Hit{}},
		"name":                    {pt(100, 135), look, scene.Hit{Ref: node("A"), Part: scene.PartLabel}},
		"state badge":             {pt(72, 72), look, scene.Hit{Ref: node("A"), Part: scene.PartState}},
		"gate badge":              {pt(128, 72), look, scene.Hit{Ref: node("A"), Part: scene.PartGate}},
		"handle":                  {pt(126, 100), hover, scene.Hit{Ref: node("A"), Part: scene.PartHandle}},
		"no handle, no hover":     {pt(123, 100), look, scene.Hit{Ref: node("A"), Part: scene.PartBody}},
		"topmost of two":          {pt(403, 103), look, scene.Hit{Ref: node("C"), Part: scene.PartBody}},
		"hop":                     {pt(200, 104), look, scene.Hit{Ref: hopRef, Part: scene.PartBody}},
		"hop missed":              {pt(200, 110), look, scene.Hit{}},
		"bars":                    {pt(138, 104), look, scene.Hit{Ref: hopRef, Part: scene.PartBars}},
		"plate":                   {pt(250, 106), look, scene.Hit{Ref: hopRef, Part: scene.PartPlate}},
		"end of a chosen hop":     {pt(376, 100), withHop, scene.Hit{Ref: hopRef, Part: scene.PartEnd}},
		"start of a chosen hop":   {pt(124, 100), withHop, scene.Hit{Ref: hopRef, Part: scene.PartStart}},
		"note":                    {pt(650, 40), look, scene.Hit{Ref: note("N"), Part: scene.PartBody}},
		"corner of a chosen note": {pt(703, 83), withHop, scene.Hit{Ref: note("N"), Part: scene.PartCorner}},
		"node over note":          {pt(90, 90), look, scene.Hit{Ref: node("A"), Part: scene.PartBody}},
		"note under node":         {pt(64, 130), look, scene.Hit{Ref: note("under"), Part: scene.PartBody}},
		"zoomed out":              {pt(25, 25), far, scene.Hit{Ref: node("A"), Part: scene.PartBody}},
		"zoomed out, no name":     {pt(25, 38), far, scene.Hit{}},
		"hop keeps its pixels":    {pt(60, 29), far, scene.Hit{Ref: hopRef, Part: scene.PartBody}},
		"nothing":                 {pt(900, 500), look, scene.Hit{}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.HitTest(c.at, c.look); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDropHop(t *testing.T) {
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("A", 0, 0), tile("B", 300, 0), tile("C", 150, 200)}, Hops: []scene.Hop{hop("A", "B")},
	})
	tests := map[string]struct {
		node   scene.ID
		centre scene.Point
		want   scene.ID
	}{
		"on it":          {"C", pt(150, 5), "AB"},
		"palette item":   {"", pt(150, -10), "AB"},
		"too low":        {"C", pt(150, 20), ""},
		"its own hop":    {"A", pt(150, 0), ""},
		"beside the end": {"C", pt(280, 0), ""},
		"nowhere":        {"C", pt(1000, 1000), ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got, _ := s.DropHop(c.node, c.centre, 1); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLasso(t *testing.T) {
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("A", 0, 0), tile("B", 200, 0), tile("C", 900, 0)},
		Hops:  []scene.Hop{hop("A", "B"), hop("B", "C")},
		Notes: []scene.Note{{ID: "in", Rect: rect(10, 100, 60, 140)}, {ID: "out", Rect: rect(10, 100, 600, 140)}},
	})
	want := scene.Select(scene.NodeRef("A"), scene.NodeRef("B"), scene.HopRef("AB"), scene.NoteRef("in"))
	if got := s.Lasso(rect(-10, -10, 300, 300)); !got.Equal(want) {
		t.Errorf("caught %v", got.Refs())
	}
	if got := s.Lasso(rect(50, 50, 60, 60)); len(got) != 0 {
		t.Errorf("caught %v", got.Refs())
	}
}

// TestIndexFindsWhatASearchFinds compares the index with a plain search, also
// after many moves.
func TestIndexFindsWhatASearchFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var g scene.Graph
	for i := range 300 {
		g.Nodes = append(g.Nodes, tile(scene.ID(fmt.Sprint(i)), rnd.Float64()*6000-3000, rnd.Float64()*6000-3000))
	}
	for i := range 299 {
		g.Hops = append(g.Hops, hop(g.Nodes[i].ID, g.Nodes[rnd.IntN(300)].ID))
	}
	s := build(g)
	check := func() {
		t.Helper()
		for range 50 {
			p := pt(rnd.Float64()*6000-3000, rnd.Float64()*6000-3000)
			r := scene.RectAround(p, rnd.Float64()*900, rnd.Float64()*900)
			found := s.NodesIn(nil, r)
			for i := range s.NodeCount() {
				if s.Tile(i).Overlaps(r) && !slices.Contains(found, i) {
					t.Fatalf("node %d in %v is not found", i, r)
				}
			}
			hops := s.HopsIn(nil, r)
			for i := range s.HopCount() {
				if s.Route(i, 1).Bounds().Overlaps(r) && !slices.Contains(hops, i) {
					t.Fatalf("hop %d in %v is not found", i, r)
				}
			}
			if !slices.IsSorted(found) || !slices.IsSorted(hops) {
				t.Fatal("not in drawing order")
			}
		}
	}
	check()
	for range 200 {
		id := g.Nodes[rnd.IntN(300)].ID
		s.Move(map[scene.Ref]scene.Point{scene.NodeRef(id): pt(rnd.Float64()*6000-3000, rnd.Float64()*6000-3000)})
	}
	check()
}

func TestUpdate(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 0, 0), tile("B", 200, 0)}, Hops: []scene.Hop{hop("A", "B")}})
	a, _ := s.Node("A")
	if got := s.Update(a); got != nil {
		t.Errorf("nothing changed, but %v is reported", got)
	}
	a.Metric = "12 rows"
	other := tile("gone", 0, 0)
	if got := s.Update(a, other); !reflect.DeepEqual(got, []scene.ID{"A"}) {
		t.Errorf("changed: %v", got)
	}
	h, _ := s.Hop("AB")
	h.Gate = scene.GateSealed
	if got := s.UpdateHops(h); !reflect.DeepEqual(got, []scene.ID{"AB"}) {
		t.Errorf("changed hops: %v", got)
	}
	h.To = "A"
	if got := s.UpdateHops(h); got != nil {
		t.Errorf("a hop with another end was taken: %v", got)
	}
}

func TestAlignAndDistribute(t *testing.T) {
	things := []scene.Placed{
		{Ref: scene.NodeRef("A"), Pos: pt(10, 40)}, {Ref: scene.NodeRef("B"), Pos: pt(50, 10)}, {Ref: scene.NodeRef("C"), Pos: pt(31, 90)},
	}
	at := func(m map[scene.Ref]scene.Point) map[scene.ID]scene.Point {
		out := map[scene.ID]scene.Point{}
		for r, p := range m {
			out[r.ID] = p
		}
		return out
	}
	type places = map[scene.ID]scene.Point
	tests := map[string]struct {
		got  map[scene.Ref]scene.Point
		want places
	}{
		"left":      {scene.Align(things, scene.AlignLeft), places{"B": pt(10, 10), "C": pt(10, 90)}},
		"right":     {scene.Align(things, scene.AlignRight), places{"A": pt(50, 40), "C": pt(50, 90)}},
		"top":       {scene.Align(things, scene.AlignTop), places{"A": pt(10, 10), "C": pt(31, 10)}},
		"bottom":    {scene.Align(things, scene.AlignBottom), places{"A": pt(10, 90), "B": pt(50, 90)}},
		"centre x":  {scene.Align(things, scene.AlignCentreX), places{"A": pt(30, 40), "B": pt(30, 10), "C": pt(30, 90)}},
		"centre y":  {scene.Align(things, scene.AlignCentreY), places{"A": pt(10, 50), "B": pt(50, 50), "C": pt(31, 50)}},
		"one alone": {scene.Align(things[:1], scene.AlignLeft), places{}},
		"across":    {scene.Distribute(things, false), places{"C": pt(30, 90)}},
		"down":      {scene.Distribute(things, true), places{"A": pt(10, 50)}},
		"only two":  {scene.Distribute(things[:2], true), places{}},
		"grid":      {scene.SnapToGrid(things), places{"A": pt(16, 48), "B": pt(48, 16), "C": pt(32, 96)}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := at(c.got); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSnap(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 100, 100), tile("B", 300, 300)}})
	size := scene.Size{W: 800, H: 600}
	moving := scene.Select(scene.NodeRef("B"))
	p, guides := s.Snap(pt(104, 295), moving, scene.Home(), size)
	if p != pt(100, 295) || len(guides) != 1 || !guides[0].Vertical {
		t.Errorf("%v %v", p, guides)
	}
	p, guides = s.Snap(pt(104, 97), moving, scene.Home(), size)
	if p != pt(100, 100) || len(guides) != 2 {
		t.Errorf("%v %v", p, guides)
	}
	if p, guides = s.Snap(pt(300, 300), moving, scene.Home(), size); p != pt(300, 300) || guides != nil {
		t.Errorf("snaps to itself: %v %v", p, guides)
	}
	if p, _ = s.Snap(pt(104, 295), moving, scene.View{Zoom: 4}, size); p != pt(104, 295) {
		t.Errorf("four document units are too far at 400 percent: %v", p)
	}
}

// checkLayout fails when a hop does not lead right or two tiles overlap.
func checkLayout(t *testing.T, s *scene.Scene, skip map[scene.ID]bool) {
	t.Helper()
	for i := range s.HopCount() {
		h := s.HopNumber(i)
		from, _ := s.Node(h.From)
		to, _ := s.Node(h.To)
		if !skip[h.ID] && from.Pos.X >= to.Pos.X {
			t.Errorf("hop %s leads from %v to %v", h.ID, from.Pos, to.Pos)
		}
	}
	for i := range s.NodeCount() {
		for k := range i {
			if s.NodeBounds(i).Overlaps(s.NodeBounds(k)) {
				t.Errorf("%s and %s overlap", s.NodeNumber(i).ID, s.NodeNumber(k).ID)
			}
		}
	}
}

func TestAutoLayout(t *testing.T) {
	ids := func(n int) (nodes []scene.Node) {
		for i := range n {
			nodes = append(nodes, tile(scene.ID(rune('A'+i)), 32, 48))
		}
		return nodes
	}
	tests := map[string]struct {
		graph scene.Graph
		skip  map[scene.ID]bool
	}{
		"chain":    {scene.Graph{Nodes: ids(4), Hops: []scene.Hop{hop("A", "B"), hop("B", "C"), hop("C", "D")}}, nil},
		"diamond":  {scene.Graph{Nodes: ids(4), Hops: []scene.Hop{hop("A", "B"), hop("A", "C"), hop("B", "D"), hop("C", "D")}}, nil},
		"two":      {scene.Graph{Nodes: ids(4), Hops: []scene.Hop{hop("A", "B"), hop("C", "D")}}, nil},
		"no hops":  {scene.Graph{Nodes: ids(5)}, nil},
		"loop":     {scene.Graph{Nodes: ids(3), Hops: []scene.Hop{hop("A", "B"), hop("B", "C"), hop("C", "A")}}, map[scene.ID]bool{"CA": true}},
		"self hop": {scene.Graph{Nodes: ids(2), Hops: []scene.Hop{hop("A", "A"), hop("A", "B")}}, map[scene.ID]bool{"AA": true}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			s := build(c.graph)
			s.Move(s.AutoLayout(nil))
			checkLayout(t, s, c.skip)
			if b := s.Tile(0).Min; b.X < 0 || b.Y < 0 {
				t.Errorf("the picture left its place: %v", b)
			}
			if again := s.AutoLayout(nil); len(again) > 0 {
				t.Errorf("a second layout moves %v", again)
			}
		})
	}
}

func TestAutoLayoutOfASelection(t *testing.T) {
	s := build(scene.Graph{Nodes: []scene.Node{tile("A", 0, 0), tile("B", 0, 0), tile("C", 7, 7)}, Hops: []scene.Hop{hop("A", "B"), hop("B", "C")}})
	moves := s.AutoLayout(scene.Select(scene.NodeRef("A"), scene.NodeRef("B")))
	if _, moved := moves[scene.NodeRef("C")]; moved || len(moves) == 0 {
		t.Errorf("moves %v", moves)
	}
}

func TestAutoLayoutOfALongChain(t *testing.T) {
	const n = 20_000
	var g scene.Graph
	for i := range n {
		g.Nodes = append(g.Nodes, tile(scene.ID(fmt.Sprint(i)), 0, 0))
		if i > 0 {
			g.Hops = append(g.Hops, hop(g.Nodes[i-1].ID, g.Nodes[i].ID))
		}
	}
	if moves := build(g).AutoLayout(nil); len(moves) != n-1 {
		t.Errorf("%d nodes move", len(moves))
	}
}

func TestNeighbour(t *testing.T) {
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("A", 0, 0), tile("B", 200, 0), tile("C", 400, -100), tile("D", 400, 100), tile("near", 300, 10)},
		Hops:  []scene.Hop{hop("A", "B"), hop("B", "C"), hop("B", "D")},
	})
	tests := map[string]struct {
		from scene.ID
		dir  scene.Direction
		want scene.ID
	}{
		"along the hop":             {"A", scene.Right, "B"},
		"back":                      {"B", scene.Left, "A"},
		"a hop before what is near": {"B", scene.Right, "C"},
		"without a hop":             {"C", scene.Down, "D"},
		"nothing there":             {"A", scene.Left, ""},
		"unknown":                   {"gone", scene.Left, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got, _ := s.Neighbour(c.from, c.dir); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTabOrder(t *testing.T) {
	s := build(scene.Graph{
		Nodes: []scene.Node{tile("last", 0, 0), tile("low", 100, 300), tile("first", 100, 100), tile("mid", 200, 100), tile("loop1", 0, 500), tile("loop2", 9, 600)},
		Hops:  []scene.Hop{hop("first", "mid"), hop("mid", "last"), hop("loop1", "loop2"), hop("loop2", "loop1")},
	})
	want := []scene.ID{"first", "mid", "last", "low", "loop1", "loop2"}
	if got := s.TabOrder(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSelection(t *testing.T) {
	var none scene.Selection
	a, b := scene.NodeRef("A"), scene.HopRef("B")
	if none.Has(a) || !none.Equal(scene.Selection{}) {
		t.Error("the nil selection is not empty")
	}
	one := none.Toggled(a)
	two := one.With(scene.Select(b))
	if !one.Equal(scene.Select(a)) || !two.Equal(scene.Select(a, b)) || !two.Toggled(b).Equal(one) {
		t.Errorf("%v %v", one, two)
	}
	if got := two.IDs(scene.KindHop); !slices.Equal(got, []scene.ID{"B"}) {
		t.Errorf("hops: %v", got)
	}
}

func TestEveryBadgeIsToldApartByShapeAndWord(t *testing.T) {
	icons, words := map[string]bool{}, map[string]bool{}
	for _, s := range scene.States() {
		if s.Icon() == "" || s.String() == "" || icons[s.Icon()] || words[s.String()] {
			t.Errorf("state %d has icon %q and word %q", s, s.Icon(), s)
		}
		icons[s.Icon()], words[s.String()] = true, true
	}
	icons = map[string]bool{}
	for _, g := range scene.Gates() {
		if g.Icon() == "" || g.String() == "" || icons[g.Icon()] {
			t.Errorf("gate %d has icon %q and word %q", g, g.Icon(), g)
		}
		icons[g.Icon()] = true
	}
}

func BenchmarkHitTest3000(b *testing.B) {
	var g scene.Graph
	for i := range 3000 {
		g.Nodes = append(g.Nodes, tile(scene.ID(fmt.Sprint(i)), float64(i%60)*160, float64(i/60)*112))
		if i > 0 {
			g.Hops = append(g.Hops, hop(g.Nodes[i-1].ID, g.Nodes[i].ID))
		}
	}
	s := build(g)
	look := scene.Look{View: scene.View{Zoom: 0.8}}
	for b.Loop() {
		s.HitTest(pt(611, 402), look)
	}
}
