package paint_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sluice/assets/icons"
	"sluice/canvas/paint"
	"sluice/canvas/scene"
)

func goldenSlack() int {
	if runtime.GOARCH == "amd64" {
		return 0
	}
	return 2
}

func pt(x, y float64) scene.Point { return scene.Point{X: x, Y: y} }

// longGraph has names and metrics of every length, one without spaces and one
// in other scripts.
func longGraph() scene.Graph {
	label := func(id scene.ID, x float64, name, metric string) scene.Node {
		return scene.Node{ID: id, Label: name, Metric: metric, Icon: "t-table", Pos: pt(x, 44)}
	}
	return scene.Graph{
		Nodes: []scene.Node{
			label("a", 76, "Read the orders of yesterday and the day before that", "123,456,789,012 rows · 1,234.5 k/s"),
			label("b", 232, "stage_sales_orders_without_any_blank", ""),
			label("c", 388, "", "only a metric"),
			label("d", 544, "Žluťoučký kůň · Ωμέγα · Привет", "Größe: 12 €"),
			label("e", 700, "no icon known", "×"),
		},
		Hops: []scene.Hop{
			{ID: "1", From: "a", To: "b", Label: "a long target name"},
			{ID: "2", From: "b", To: "c"},
			{ID: "3", From: "b", To: "c", Kind: scene.HopError},
			{ID: "4", From: "d", To: "c"},
		},
	}
}

// marked is the start of the orders pipeline with traces of gestures.
func marked() paint.Marks {
	lasso := scene.Rect{Min: pt(20, 110), Max: pt(180, 240)}
	landing := pt(330, 90)
	return paint.Marks{
		Selected: scene.Select(scene.NodeRef("Clean orders"), scene.HopRef("Clean orders>Lookup customers"), scene.NoteRef("note")),
		Focus:    "Clean orders", DropHop: "Read orders>Clean orders", HoverHop: "Clean orders>Write rejects",
		Lasso: &lasso, Landing: &landing,
		Guides: []scene.Guide{{Vertical: true, At: 424, From: 150, To: 330}, {At: 176, From: 0, To: 420}},
	}
}

func connecting() paint.Marks {
	return paint.Marks{
		Connecting: true, Source: "Read orders", Targets: map[scene.ID]bool{"Write rejects": true},
		Wire: &paint.Wire{From: pt(112, 176), To: pt(232, 296)},
	}
}

func TestGoldenPictures(t *testing.T) {
	p := newPainter(t)
	empty := paint.Notice{Icon: "pipeline", Title: "This pipeline is empty", Text: "Click anywhere to add a transform, or drag one from the palette."}
	unknown := longGraph()
	unknown.Nodes[4].Icon = "no-such-icon"
	pictures := map[string]struct {
		graph  scene.Graph
		opts   scene.Options
		w, h   int // logical pixels
		view   scene.View
		marks  paint.Marks
		scales []float64
		mini   bool
		only   string // theme; both when empty
	}{
		"orders":       {graph: ordersGraph(), w: 1010, h: 548, view: scene.Home(), scales: []float64{1}, mini: true, only: "light"},
		"orders-part":  {graph: ordersGraph(), w: 300, h: 310, view: scene.View{Zoom: 1, Offset: pt(-180, -130)}, scales: []float64{1, 2}, only: "dark"},
		"orders-fit":   {graph: ordersGraph(), w: 420, h: 230, view: scene.View{Zoom: 0.4, Offset: pt(8, 8)}, scales: []float64{1}},
		"orders-60":    {graph: ordersGraph(), w: 360, h: 250, view: scene.View{Zoom: 0.6, Offset: pt(-20, 0)}, scales: []float64{1}, only: "light"},
		"orders-150":   {graph: ordersGraph(), w: 420, h: 260, view: scene.View{Zoom: 1.5, Offset: pt(-330, -200)}, scales: []float64{1.25}, only: "dark"},
		"plan":         {graph: planGraph(), w: 500, h: 292, view: scene.Home(), scales: []float64{1}},
		"states":       {graph: statesGraph(), w: 780, h: 290, view: scene.Home(), scales: []float64{1}},
		"states-sharp": {graph: statesGraph(), w: 330, h: 190, view: scene.View{Zoom: 1, Offset: pt(-330, -110)}, scales: []float64{2}},
		"marks":        {graph: ordersGraph(), w: 480, h: 350, view: scene.Home(), marks: marked(), scales: []float64{1}},
		"connecting":   {graph: ordersGraph(), w: 340, h: 350, view: scene.Home(), marks: connecting(), scales: []float64{1}, only: "light"},
		"right-angles": {graph: planGraph(), opts: scene.Options{Orthogonal: true}, w: 500, h: 292, view: scene.Home(), scales: []float64{1}, only: "light"},
		"long-names":   {graph: unknown, w: 776, h: 120, view: scene.Home(), scales: []float64{1}},
		"empty":        {w: 400, h: 200, view: scene.Home(), scales: []float64{1}},
	}
	for name, c := range pictures {
		for themeName, theme := range themes() {
			if c.only != "" && c.only != themeName {
				continue
			}
			for _, scale := range c.scales {
				full := fmt.Sprintf("%s-%s-%gx", name, themeName, scale)
				t.Run(full, func(t *testing.T) {
					img := image.NewRGBA(image.Rect(0, 0, int(float64(c.w)*scale), int(float64(c.h)*scale)))
					p.Paint(img, paint.Frame{
						Scene: scene.New(c.graph, p.Fonts(), c.opts), View: c.view, Scale: scale, Theme: theme,
						Marks: c.marks, MiniMap: c.mini, Empty: empty,
					})
					checkGolden(t, full, img)
				})
			}
		}
	}
}

func TestGoldenToolTips(t *testing.T) {
	p := newPainter(t)
	tips := map[string]paint.ToolTip{
		"tip-stale": {
			Title: "Stale: settings changed after the seal", Tone: scene.ToneWarn, Caption: "Sealed today 02:10 · 48,210 rows · 3.1 MB",
			Rows: []paint.TipRow{
				{Key: "Read customers › SQL, line 4"}, {"sealed with", "where active = 1"}, {"now", "where active = 1 or vip = 1"},
			},
			Footer: "A replay from here needs a reason.",
		},
		"tip-long":  {Title: strings.Repeat("very long title ", 12), Rows: []paint.TipRow{{"location", strings.Repeat("/folder", 30)}}},
		"tip-short": {Title: "Run", Caption: "F8"},
	}
	for name, tip := range tips {
		for themeName, theme := range themes() {
			t.Run(name+"-"+themeName, func(t *testing.T) {
				checkGolden(t, name+"-"+themeName, p.ToolTip(tip, theme, 1))
			})
		}
	}
}

// TestRepaintEqualsPaint changes nodes and hops and compares the partly
// repainted picture with a new one.
func TestRepaintEqualsPaint(t *testing.T) {
	p := newPainter(t)
	for _, zoom := range []float64{0.15, 0.4, 0.55, 1, 1.7} {
		for _, scale := range []float64{1, 2} {
			t.Run(fmt.Sprintf("zoom %v scale %v", zoom, scale), func(t *testing.T) {
				s := scene.New(ordersGraph(), p.Fonts(), scene.Options{})
				f := paint.Frame{Scene: s, View: scene.View{Zoom: zoom, Offset: pt(-7.3, 4.6)}, Scale: scale, Theme: paint.Dark(), MiniMap: true, Marks: marked()}
				img := image.NewRGBA(image.Rect(0, 0, 1300, 800))
				p.Paint(img, f)
				var changed []scene.ID
				for _, id := range []scene.ID{"Read orders", "Split by status", "Write rejects"} {
					n, _ := s.Node(id)
					n.Metric, n.State, n.Gate = "9,999,999,999 rows · 512.9 k/s", scene.StateFailed, scene.GateCorrupt
					changed = append(changed, s.Update(n)...)
				}
				h, _ := s.Hop("Clean orders>Lookup customers")
				h.Gate = scene.GateSealed
				hops := s.UpdateHops(h)
				if len(changed) != 3 || len(hops) != 1 {
					t.Fatalf("changed %v %v", changed, hops)
				}
				p.Repaint(img, f, p.Dirty(f, img.Bounds(), changed, hops)...)
				want := image.NewRGBA(img.Bounds())
				p.Paint(want, f)
				if n, first := differences(img, want); n > 0 {
					t.Errorf("%d pixels differ, first at %v", n, first)
				}
			})
		}
	}
}

// TestTickRepaintsOnlyTheNode paints the picture over with a signal colour and
// looks how much of it a tick replaces.
func TestTickRepaintsOnlyTheNode(t *testing.T) {
	p := newPainter(t)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	f.MiniMap = false
	p.Paint(img, f)
	for i := range img.Pix {
		img.Pix[i] = 255
		if i%4 == 1 {
			img.Pix[i] = 0
		}
	}
	n, _ := f.Scene.Node("n23")
	n.Metric = "1 row"
	rects := p.Dirty(f, img.Bounds(), f.Scene.Update(n), nil)
	p.Repaint(img, f, rects...)
	touched := 0
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i] != 255 || img.Pix[i+1] != 0 || img.Pix[i+2] != 255 {
			touched++
		}
	}
	if touched == 0 || touched > 160*160 {
		t.Errorf("%d pixels were repainted for one node", touched)
	}
	if got := p.Dirty(f, img.Bounds(), nil, nil); got != nil {
		t.Errorf("nothing changed, but %v is dirty", got)
	}
	if got := p.Dirty(f, img.Bounds(), []scene.ID{"gone", "n299"}, nil); got != nil {
		t.Errorf("unknown or invisible nodes make %v dirty", got)
	}
}

func TestZoomingDoesNotGrowMemory(t *testing.T) {
	p := newPainter(t)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	for i := range 400 {
		f.View.Zoom = 0.5 + 3.4*float64(i)/400
		f.View.Offset = pt(-float64(i)*3, 0)
		p.Paint(img, f)
		if b := p.CacheBytes(); b > paint.MaxCacheBytes {
			t.Fatalf("caches hold %d bytes at zoom %v", b, f.View.Zoom)
		}
	}
}

// TestPictureIsOpaque guards the promise that every pixel is painted.
func TestPictureIsOpaque(t *testing.T) {
	p := newPainter(t)
	img := image.NewRGBA(image.Rect(0, 0, 300, 200))
	p.Paint(img, paint.Frame{Scene: scene.New(ordersGraph(), p.Fonts(), scene.Options{}), View: scene.Home(), Theme: paint.Light(), Marks: marked()})
	for i := 3; i < len(img.Pix); i += 4 {
		if img.Pix[i] != 255 {
			t.Fatalf("pixel %d has opacity %d", i/4, img.Pix[i])
		}
	}
}

func TestExtremeViewsDoNotPanic(t *testing.T) {
	p := newPainter(t)
	s := scene.New(ordersGraph(), p.Fonts(), scene.Options{})
	for _, size := range []image.Point{{0, 0}, {1, 1}, {3, 900}, {640, 2}} {
		for _, zoom := range []float64{scene.MinZoom, 1, scene.MaxZoom} {
			for _, scale := range []float64{0, 0.5, 1, 3} {
				img := image.NewRGBA(image.Rectangle{Max: size})
				p.Paint(img, paint.Frame{Scene: s, View: scene.View{Zoom: zoom, Offset: pt(-123456.7, 99)}, Scale: scale, Theme: paint.Light(), MiniMap: true, Marks: marked()})
				p.Paint(img, paint.Frame{Scene: s, View: scene.View{Zoom: zoom}, Scale: scale, Theme: paint.Light(), MiniMap: true, Marks: connecting()})
			}
		}
	}
}

func TestExport(t *testing.T) {
	p := newPainter(t)
	s := scene.New(ordersGraph(), p.Fonts(), scene.Options{})
	var buf bytes.Buffer
	if err := p.WritePNG(&buf, s, paint.Light(), 2, paint.Notice{}); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds()
	if w := float64(img.Bounds().Dx()); math.Abs(w-2*(b.W()+48)) > 2 {
		t.Errorf("picture is %v wide for a graph of %v", w, b.W())
	}
	rim := img.Bounds()
	canvas := color.RGBAModel.Convert(paint.Light().Canvas)
	for x := rim.Min.X; x < rim.Max.X; x++ {
		if img.At(x, 0) != canvas || img.At(x, rim.Max.Y-1) != canvas {
			t.Fatalf("the graph is cut at column %d", x)
		}
	}
	for y := rim.Min.Y; y < rim.Max.Y; y++ {
		if img.At(0, y) != canvas || img.At(rim.Max.X-1, y) != canvas {
			t.Fatalf("the graph is cut at row %d", y)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	p := newPainter(t)
	far := scene.New(scene.Graph{Nodes: []scene.Node{{ID: "a"}, {ID: "b", Pos: pt(90_000, 90_000)}}}, p.Fonts(), scene.Options{})
	if _, err := p.Export(far, paint.Light(), 1, paint.Notice{}); !errors.Is(err, paint.ErrTooLarge) {
		t.Errorf("huge picture: %v", err)
	}
	for _, scale := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := p.Export(far, paint.Light(), scale, paint.Notice{}); err == nil {
			t.Errorf("scale %v was taken", scale)
		}
	}
	none := scene.New(scene.Graph{}, p.Fonts(), scene.Options{})
	if img, err := p.Export(none, paint.Light(), 1, paint.Notice{Title: "Empty"}); err != nil || img.Rect.Dx() < 100 {
		t.Errorf("empty scene: %v", err)
	}
}

// TestEveryIconDraws paints every icon of the set and looks for ink.
func TestEveryIconDraws(t *testing.T) {
	p := newPainter(t)
	for _, name := range icons.Names() {
		t.Run(name, func(t *testing.T) {
			s := scene.New(scene.Graph{Nodes: []scene.Node{{ID: "n", Icon: name, Pos: pt(32, 32)}}}, p.Fonts(), scene.Options{})
			img := image.NewRGBA(image.Rect(0, 0, 64, 64))
			p.Paint(img, paint.Frame{Scene: s, View: scene.Home(), Theme: paint.Light()})
			ink := 0
			for y := 20; y < 44; y++ {
				for x := 20; x < 44; x++ {
					if img.RGBAAt(x, y).R < 128 {
						ink++
					}
				}
			}
			// The two dots and dashes of the smallest icons are about 20 pixels.
			if ink < 12 || ink > 24*24-20 {
				t.Errorf("%d of 576 pixels have ink", ink)
			}
		})
	}
}

// contrast is the WCAG 2 contrast ratio of two opaque colours.
func contrast(a, b color.RGBA) float64 {
	lum := func(c color.RGBA) float64 {
		lin := func(v uint8) float64 {
			f := float64(v) / 255
			if f <= 0.04045 {
				return f / 12.92
			}
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
	}
	x, y := lum(a), lum(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	for name, th := range themes() {
		t.Run(name, func(t *testing.T) {
			text := map[string][2]color.RGBA{
				"text on canvas": {th.Text, th.Canvas}, "text on note": {th.Text, th.Note}, "soft on canvas": {th.TextSoft, th.Canvas},
				"soft on surface": {th.TextSoft, th.Surface}, "on primary": {th.OnPrimary, th.Primary}, "text on selection": {th.Text, th.Selection},
				"soft on head": {th.TextSoft, th.Head},
			}
			graphics := map[string][2]color.RGBA{
				"hop": {th.Hop, th.Canvas}, "tile border": {th.TileLine, th.Canvas}, "outside border": {th.OutsideLine, th.Outside},
				"ring": {th.Primary, th.Canvas}, "stale badge": {th.WarnFill, th.Canvas}, "entry border": {th.LineStrong, th.Input},
			}
			for tone := scene.ToneNeutral; tone <= scene.ToneReuse; tone++ {
				text[fmt.Sprint("tone ", tone, " on canvas")] = [2]color.RGBA{th.Tone(tone).Ink, th.Canvas}
				text[fmt.Sprint("tone ", tone, " on soft")] = [2]color.RGBA{th.Tone(tone).Ink, th.Tone(tone).Soft}
			}
			for pair, c := range text {
				if r := contrast(c[0], c[1]); r < 4.5 {
					t.Errorf("%s: %.2f", pair, r)
				}
			}
			for pair, c := range graphics {
				if r := contrast(c[0], c[1]); r < 3 {
					t.Errorf("%s: %.2f", pair, r)
				}
			}
		})
	}
}

// TestStatesAreToldApartInGrey compares the badges without their colour.
func TestStatesAreToldApartInGrey(t *testing.T) {
	p := newPainter(t)
	grey := func(n scene.Node) []uint8 {
		n.ID, n.Pos = "n", pt(40, 40)
		img := image.NewRGBA(image.Rect(0, 0, 80, 80))
		p.Paint(img, paint.Frame{Scene: scene.New(scene.Graph{Nodes: []scene.Node{n}}, p.Fonts(), scene.Options{}), View: scene.Home(), Theme: paint.Light()})
		out := make([]uint8, 0, 80*80)
		for i := 0; i < len(img.Pix); i += 4 {
			// Only shape counts: ink or no ink.
			v := uint8(0)
			if img.Pix[i+1] < 190 {
				v = 1
			}
			out = append(out, v)
		}
		return out
	}
	var nodes []scene.Node
	for _, s := range scene.States() {
		nodes = append(nodes, scene.Node{State: s})
	}
	for _, g := range scene.Gates() {
		nodes = append(nodes, scene.Node{Gate: g})
	}
	for i := range nodes {
		for k := range i {
			a, b := grey(nodes[i]), grey(nodes[k])
			n := 0
			for o := range a {
				if a[o] != b[o] {
					n++
				}
			}
			if n < 8 {
				t.Errorf("badges %d and %d differ in %d pixels only", i, k, n)
			}
		}
	}
}

func TestFonts(t *testing.T) {
	fonts, err := paint.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fonts.Width("Table", 12, false), fonts.Width("Table", 24, false); math.Abs(2*a-b) > 1e-3 || a < 25 || a > 40 {
		t.Errorf("widths %v and %v", a, b)
	}
	if fonts.Width("Table", 12, true) <= fonts.Width("Table", 12, false) {
		t.Error("bold is not wider")
	}
	if fonts.Width("To", 100, false) >= fonts.Width("T", 100, false)+fonts.Width("o", 100, false) {
		t.Error("there is no kerning")
	}
	if w := fonts.Width("a\u200bb", 12, false) - fonts.Width("ab", 12, false); math.Abs(w) > 0.01 {
		t.Errorf("a zero width space is %v wide", w)
	}
	if w := fonts.Width("漢字", 12, false); w <= 0 {
		t.Errorf("unknown characters are %v wide", w)
	}
}

// Other fonts take the place of the embedded ones, which still have what they lack;
// what no font has is asked for, and painted once it is there.
func TestOtherFonts(t *testing.T) {
	fonts, err := paint.NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) paint.FontFile {
		data, err := os.ReadFile(filepath.Join("fonts", name))
		if err != nil {
			t.Fatal(err)
		}
		return paint.FontFile{Data: data}
	}
	var missing []rune
	fonts.Missing = func(r rune) { missing = append(missing, r) }
	const arrow = "⇧" // in the font of code only
	usual := fonts.Width("Table", 12, false)
	if err := fonts.Use(read("DejaVuSansMono.ttf"), read("NotoSans-Bold.ttf"), paint.FontFile{}); err != nil {
		t.Fatal(err)
	}
	if w := fonts.Width("iiiii", 12, false); math.Abs(w-fonts.Width("WWWWW", 12, false)) > 1e-3 {
		t.Errorf("letters of a font of code are %v wide", w)
	}
	if err := fonts.Use(paint.FontFile{Data: []byte("no font")}, paint.FontFile{}, paint.FontFile{}); err == nil || fonts.Width("Table", 12, false) == usual {
		t.Errorf("a broken font: %v, %v wide as before", err, usual)
	}
	if err := fonts.Use(paint.FontFile{}, paint.FontFile{}, paint.FontFile{}); err != nil || fonts.Width("Table", 12, false) != usual {
		t.Errorf("the embedded fonts again: %v, %v wide instead of %v", err, fonts.Width("Table", 12, false), usual)
	}
	fonts.Width(arrow, 12, false)
	if len(missing) != 0 || !fonts.Has([]rune(arrow)[0]) {
		t.Errorf("%q was asked for, and the font of code has the arrow", missing)
	}
	fonts.Width("漢漢", 12, false)
	if string(missing) != "漢" || fonts.Has('漢') {
		t.Errorf("asked for %q", string(missing))
	}
	if err := fonts.Add(read("DejaVuSansMono.ttf")); err != nil {
		t.Fatal(err)
	}
	fonts.Width("漢", 12, false)
	if string(missing) != "漢漢" {
		t.Errorf("after one more font that lacks it too: asked for %q", string(missing))
	}
	if fonts.Add(paint.FontFile{Data: []byte("no font")}) == nil || fonts.Add(paint.FontFile{Data: read("NotoSans-Bold.ttf").Data, Number: 1}) == nil {
		t.Error("a broken font, and the second one of a file of one, were taken")
	}
}
