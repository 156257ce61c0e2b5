package paint_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// newPainter builds a painter or ends the test.
func newPainter(t testing.TB) *paint.Painter {
	t.Helper()
	fonts, err := paint.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	return paint.New(fonts)
}

// themes are the two looks that every picture is checked in.
func themes() map[string]*paint.Theme {
	return map[string]*paint.Theme{"light": paint.Light(), "dark": paint.Dark()}
}

// ordersGraph is the designer's example: a running pipeline with every kind of
// hop, four gates, disabled nodes and a note.
func ordersGraph() scene.Graph {
	run := func(id scene.ID, x, y float64, icon, metric string, outside bool) scene.Node {
		return scene.Node{
			ID: id, Label: string(id), Pos: scene.Point{X: x, Y: y}, Icon: icon, Outside: outside,
			State: scene.StateRunning, Metric: metric, MetricTone: scene.ToneRun,
		}
	}
	nodes := []scene.Node{
		run("Read orders", 88, 176, "cat-database", "1,842,310 rows · 96.4 MB", true),
		run("Clean orders", 256, 176, "t-clean", "1,204,480 · 48.2 k/s", false),
		run("Lookup customers", 424, 176, "cat-lookup", "1,203,776 · 48.1 k/s", false),
		run("Split by status", 592, 176, "cat-flow", "1,203,648 · 48.1 k/s", false),
		run("Add points", 760, 72, "t-calculator", "901,120 · 36.0 k/s", false),
		run("Write paid orders", 928, 72, "cat-output", "900,096 · 35.9 k/s", true),
		run("Write open orders", 760, 176, "t-file", "214,528 · 8.6 k/s", true),
		run("Group by day", 760, 280, "cat-aggregate", "88,000 read", false),
		run("Write daily totals", 928, 280, "cat-output", "waits for the seal", true),
		run("Write rejects", 256, 296, "error-record", "568 rejected", true),
		run("Read customers", 424, 296, "t-table", "48,210 rows", true),
		run("Read price list", 256, 396, "t-file", "disabled", true),
		run("Read refunds", 88, 482, "cat-web", "disabled", true),
		run("Match prices", 424, 482, "cat-lookup", "disabled", false),
	}
	edit := func(i int, f func(*scene.Node)) { f(&nodes[i]) }
	edit(0, func(n *scene.Node) {
		n.State, n.Gate, n.MetricTone = scene.StateSucceeded, scene.GateSealed, scene.ToneNeutral
	})
	edit(2, func(n *scene.Node) { n.Copies = "×2" })
	edit(7, func(n *scene.Node) { n.Gate = scene.GateArmed })
	edit(8, func(n *scene.Node) { n.State, n.MetricTone = scene.StateQueued, scene.ToneNeutral })
	edit(9, func(n *scene.Node) { n.MetricTone = scene.ToneError })
	edit(10, func(n *scene.Node) {
		n.State, n.Gate, n.MetricTone = scene.StateSucceeded, scene.GateStale, scene.ToneNeutral
	})
	for i := 11; i <= 13; i++ {
		edit(i, func(n *scene.Node) { n.State, n.Disabled, n.MetricTone = scene.StateNone, true, scene.ToneNeutral })
	}
	edit(11, func(n *scene.Node) { n.Gate = scene.GateCorrupt })
	edit(12, func(n *scene.Node) { n.Gate = scene.GateInterrupted })
	hop := func(from, to scene.ID) scene.Hop { return scene.Hop{ID: from + ">" + to, From: from, To: to} }
	hops := []scene.Hop{
		hop("Read orders", "Clean orders"), hop("Clean orders", "Lookup customers"), hop("Lookup customers", "Split by status"),
		hop("Split by status", "Add points"), hop("Add points", "Write paid orders"), hop("Split by status", "Write open orders"),
		hop("Split by status", "Group by day"), hop("Group by day", "Write daily totals"), hop("Clean orders", "Write rejects"),
		hop("Read customers", "Lookup customers"), hop("Read price list", "Match prices"), hop("Read refunds", "Match prices"),
		hop("Match prices", "Group by day"),
	}
	hops[0].Gate, hops[7].Gate, hops[9].Gate, hops[10].Gate, hops[11].Gate = scene.GateSealed, scene.GateArmed, scene.GateStale, scene.GateCorrupt, scene.GateInterrupted
	hops[3].Label, hops[5].Label, hops[6].Label = "paid", "open", "other"
	hops[8].Kind, hops[9].Kind = scene.HopError, scene.HopInfo
	for i := 10; i <= 12; i++ {
		hops[i].Disabled = true
	}
	return scene.Graph{Nodes: nodes, Hops: hops, Notes: []scene.Note{{
		ID: "note", Rect: scene.Rect{Min: scene.Point{X: 32, Y: 24}, Max: scene.Point{X: 328, Y: 68}},
		Text: "Orders are sealed before anything is written.\nReplays never read the source again.",
	}}}
}

// planGraph is a replay plan with all four classes.
func planGraph() scene.Graph {
	node := func(id scene.ID, x, y float64, icon string, plan scene.Plan, state scene.State) scene.Node {
		return scene.Node{ID: id, Label: string(id), Pos: scene.Point{X: x, Y: y}, Icon: icon, Plan: plan, State: state}
	}
	nodes := []scene.Node{
		node("Start", 56, 120, "t-start", scene.PlanReuse, scene.StateReused),
		node("Extract orders", 168, 56, "pipeline", scene.PlanBlocked, scene.StateBlocked),
		node("Customers delta", 168, 188, "pipeline", scene.PlanReuse, scene.StateReused),
		node("Load warehouse", 304, 120, "pipeline", scene.PlanRun, scene.StateRunning),
		node("Refresh views", 424, 120, "cat-database", scene.PlanRun, scene.StateRunning),
		node("Mail failure", 424, 244, "t-mail", scene.PlanNotReached, scene.StateNotReached),
	}
	nodes[1].Gate, nodes[1].Metric, nodes[1].MetricTone = scene.GateInterrupted, "stopped at 552,700 rows", scene.ToneInterrupted
	nodes[2].Gate, nodes[2].Metric = scene.GateSealed, "48,210 rows"
	nodes[3].Flag, nodes[3].Metric = "Start here", "from gate rows"
	hop := func(from, to scene.ID, plan scene.Plan, kind scene.HopKind) scene.Hop {
		return scene.Hop{ID: from + ">" + to, From: from, To: to, Plan: plan, Kind: kind}
	}
	hops := []scene.Hop{
		hop("Start", "Extract orders", scene.PlanReuse, scene.HopAlways),
		hop("Start", "Customers delta", scene.PlanReuse, scene.HopSuccess),
		hop("Extract orders", "Load warehouse", scene.PlanBlocked, scene.HopSuccess),
		hop("Customers delta", "Load warehouse", scene.PlanReuse, scene.HopSuccess),
		hop("Load warehouse", "Refresh views", scene.PlanRun, scene.HopSuccess),
		hop("Load warehouse", "Mail failure", scene.PlanNotReached, scene.HopFailure),
	}
	hops[2].Gate, hops[3].Gate = scene.GateInterrupted, scene.GateSealed
	return scene.Graph{Nodes: nodes, Hops: hops}
}

// statesGraph shows every state above every gate badge.
func statesGraph() scene.Graph {
	var g scene.Graph
	for i, s := range scene.States() {
		g.Nodes = append(g.Nodes, scene.Node{
			ID: scene.ID(fmt.Sprint("s", i)), Label: s.String(), Icon: "cat-transform", State: s,
			Pos: scene.Point{X: 60 + 110*float64(i%7), Y: 48 + 96*float64(i/7)},
		})
	}
	for i, gate := range scene.Gates() {
		g.Nodes = append(g.Nodes, scene.Node{
			ID: scene.ID(fmt.Sprint("g", i)), Label: gate.String(), Icon: "cat-database", Gate: gate, Outside: i%2 == 0,
			Disabled: i == 4, Pos: scene.Point{X: 60 + 110*float64(i), Y: 240},
		})
	}
	return g
}

// bigGraph is a field of nodes for benchmarks, always the same.
func bigGraph(nodes, hops int) scene.Graph {
	rnd := rand.New(rand.NewPCG(7, 11))
	icons := []string{"cat-database", "t-filter", "cat-join", "cat-lookup", "t-sort", "t-group", "t-file", "cat-web"}
	names := []string{"Read orders", "Filter rows", "Join customers", "Lookup SKU", "Sort by key", "Group by day", "Write parquet", "Call service"}
	columns := 20
	var g scene.Graph
	id := func(i int) scene.ID { return scene.ID(fmt.Sprintf("n%d", i)) }
	for i := range nodes {
		k := rnd.IntN(len(icons))
		n := scene.Node{
			ID: id(i), Label: fmt.Sprintf("%s %d", names[k], i), Icon: icons[k], Outside: k%3 == 0,
			Pos:    scene.Point{X: float64(i%columns)*168 + 60, Y: float64(i/columns)*120 + 60 + float64(i%3)*8},
			Metric: fmt.Sprintf("%d,%03d rows", rnd.IntN(900)+1, rnd.IntN(1000)), MetricTone: scene.ToneRun,
			State: scene.State(rnd.IntN(6)), Gate: scene.Gate(rnd.IntN(12) % 6 * (rnd.IntN(5) / 4)),
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i := range hops {
		from := i % (nodes - 1)
		to := from + 1
		if i >= nodes-1 || to%columns == 0 {
			to = min(nodes-1, from+columns+rnd.IntN(3))
		}
		if from == to {
			continue
		}
		h := scene.Hop{ID: scene.ID(fmt.Sprintf("h%d", i)), From: id(from), To: id(to)}
		if i%9 == 0 {
			h.Label = "rows"
		}
		g.Hops = append(g.Hops, h)
	}
	return g
}

// checkGolden compares a picture with testdata/name.png, pixel by pixel.
func checkGolden(t *testing.T, name string, got *image.RGBA) {
	t.Helper()
	path := filepath.Join("testdata", name+".png")
	if *update {
		var buf bytes.Buffer
		enc := png.Encoder{CompressionLevel: png.BestCompression}
		if err := enc.Encode(&buf, got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden picture (run with -update and look at it): %v", err)
	}
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if n, first := differences(got, toRGBA(want)); n > 0 {
		failed := filepath.Join(t.ArtifactDir(), name+".png")
		f, err := os.Create(failed)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, got), f.Close()); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%d pixels differ from %s, first at %v; the new picture is %s (kept with -artifacts)", n, path, first, failed)
	}
}

func toRGBA(img image.Image) *image.RGBA {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Src)
	return out
}

// differences counts pixels that are not the same. On processors that fuse
// multiplication and addition a channel may be off by two.
func differences(a, b *image.RGBA) (n int, first image.Point) {
	if a.Bounds() != b.Bounds() {
		return a.Rect.Dx() * a.Rect.Dy(), image.Point{}
	}
	slack := goldenSlack()
	for y := range a.Rect.Dy() {
		for x := range a.Rect.Dx() {
			o := a.PixOffset(x, y)
			for c := range 4 {
				if d := int(a.Pix[o+c]) - int(b.Pix[o+c]); d > slack || d < -slack {
					if n == 0 {
						first = image.Pt(x, y)
					}
					n++
					break
				}
			}
		}
	}
	return n, first
}
