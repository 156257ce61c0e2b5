package scene

import "math"

// Options change how a scene is laid out.
type Options struct {
	Orthogonal bool // hops in right angles instead of curves
}

// Scene is a graph with its routes and index. It is a working copy: moving a
// node in it while a drag lasts changes no document. Owned by one goroutine.
type Scene struct {
	nodes    []Node
	hops     []hop
	notes    []Note
	nodeAt   map[ID]int
	hopAt    map[ID]int
	noteAt   map[ID]int
	hopsOf   [][]int // per node, the hops that touch it
	lines    []int8  // per node, the lines under the tile at 100 %
	measure  Measurer
	opts     Options
	nodeGrid *grid
	hopGrid  *grid
	noteGrid *grid
}

type hop struct {
	Hop
	from, to int
	lane     float64
}

// New builds a scene. Of entries with the same ID the first one stays; a hop
// whose end is no node is left out, as there is nothing to draw it to. The
// graph's slices are copied.
func New(g Graph, m Measurer, opts Options) *Scene {
	s := &Scene{
		nodeAt: make(map[ID]int, len(g.Nodes)), hopAt: make(map[ID]int, len(g.Hops)),
		noteAt: make(map[ID]int, len(g.Notes)), measure: m, opts: opts,
	}
	for _, n := range g.Nodes {
		if _, twice := s.nodeAt[n.ID]; twice {
			continue
		}
		s.nodeAt[n.ID] = len(s.nodes)
		n.Pos = finite(n.Pos)
		s.nodes = append(s.nodes, n)
	}
	s.hopsOf = make([][]int, len(s.nodes))
	s.lines = make([]int8, len(s.nodes))
	for i := range s.nodes {
		s.lines[i] = s.labelLines(i)
	}
	for _, h := range g.Hops {
		s.addHop(h)
	}
	for _, n := range g.Notes {
		if _, twice := s.noteAt[n.ID]; twice {
			continue
		}
		s.noteAt[n.ID] = len(s.notes)
		s.notes = append(s.notes, n)
	}
	s.setLanes()
	s.buildIndex()
	return s
}

// Measure measures the labels again, after the fonts have changed.
func (s *Scene) Measure() {
	for i := range s.nodes {
		s.lines[i] = s.labelLines(i)
	}
	s.buildIndex()
}

// finite keeps a broken coordinate from poisoning everything around it.
func finite(p Point) Point {
	ok := func(v float64) float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		return v
	}
	return Point{ok(p.X), ok(p.Y)}
}

func (s *Scene) addHop(h Hop) {
	from, okFrom := s.nodeAt[h.From]
	to, okTo := s.nodeAt[h.To]
	if _, twice := s.hopAt[h.ID]; twice || !okFrom || !okTo {
		return
	}
	i := len(s.hops)
	s.hopAt[h.ID] = i
	s.hops = append(s.hops, hop{Hop: h, from: from, to: to})
	s.hopsOf[from] = append(s.hopsOf[from], i)
	if to != from {
		s.hopsOf[to] = append(s.hopsOf[to], i)
	}
}

// setLanes spreads hops between the same two nodes, so that both can be seen
// and hit.
func (s *Scene) setLanes() {
	pairs := make(map[[2]int][]int)
	for i, h := range s.hops {
		key := [2]int{min(h.from, h.to), max(h.from, h.to)}
		pairs[key] = append(pairs[key], i)
	}
	for _, list := range pairs {
		for k, i := range list {
			s.hops[i].lane = (float64(k) - float64(len(list)-1)/2) * laneGap
		}
	}
}

func (s *Scene) buildIndex() {
	s.nodeGrid, s.hopGrid, s.noteGrid = newGrid(len(s.nodes)), newGrid(len(s.hops)), newGrid(len(s.notes))
	for i := range s.nodes {
		s.nodeGrid.put(i, s.nodeReach(i))
	}
	for i := range s.hops {
		s.hopGrid.put(i, s.hopReach(i))
	}
	for i := range s.notes {
		s.noteGrid.put(i, s.notes[i].Rect)
	}
}

// nodeReach is all that a node may paint at any zoom that shows labels, in
// document units: tile, ring, badges, flag and the widest label.
func (s *Scene) nodeReach(i int) Rect {
	const ring = 12.0
	// At 50 % labels are 10 px, that is 20 document units.
	half := math.Max(LabelWidth*1.1, minLabelWidth*2.2)/2 + 4
	p := s.nodes[i].Pos
	low := float64(s.lines[i])*LabelPitch*2 + 24
	return Rect{Point{p.X - half, p.Y - TileSize/2 - ring - 24}, Point{p.X + half, p.Y + TileSize/2 + low}}
}

// hopReach covers the hop with its plate, arrow and bars at any zoom.
func (s *Scene) hopReach(i int) Rect {
	r := s.Route(i, 1).Bounds().Union(s.Route(i, 0.5).Bounds()).Union(s.Route(i, 0.7).Bounds()).Union(s.Route(i, MinZoom).Bounds()).Inset(-12)
	if word := s.hops[i].Word(); word != "" {
		mid := r.Centre()
		w := s.measure.Width(word, CaptionSize, false)*2 + 24
		r = r.Union(RectAround(mid, w, 48))
	}
	return r
}

func (s *Scene) labelLines(i int) int8 {
	l := layoutLabel(&s.nodes[i], 1, s.measure)
	n := int8(l.Lines)
	if l.Metric.Text != "" {
		n++
	}
	return n
}

// NodeCount is the number of nodes; nodes are numbered from 0 in drawing order.
func (s *Scene) NodeCount() int { return len(s.nodes) }

// HopCount is the number of hops that have both ends.
func (s *Scene) HopCount() int { return len(s.hops) }

// NoteCount is the number of notes.
func (s *Scene) NoteCount() int { return len(s.notes) }

// NodeNumber i in drawing order. The pointer is valid until the next change
// and must not be written through.
func (s *Scene) NodeNumber(i int) *Node { return &s.nodes[i] }

// HopNumber i in drawing order; see NodeNumber.
func (s *Scene) HopNumber(i int) *Hop { return &s.hops[i].Hop }

// NoteNumber i in drawing order; see NodeNumber.
func (s *Scene) NoteNumber(i int) *Note { return &s.notes[i] }

// Node finds a node by its ID.
func (s *Scene) Node(id ID) (Node, bool) {
	i, ok := s.nodeAt[id]
	if !ok {
		return Node{}, false
	}
	return s.nodes[i], true
}

// Hop finds a hop by its ID.
func (s *Scene) Hop(id ID) (Hop, bool) {
	i, ok := s.hopAt[id]
	if !ok {
		return Hop{}, false
	}
	return s.hops[i].Hop, true
}

// Note finds a note by its ID.
func (s *Scene) Note(id ID) (Note, bool) {
	i, ok := s.noteAt[id]
	if !ok {
		return Note{}, false
	}
	return s.notes[i], true
}

// HopBetween finds the first hop from one node to another.
func (s *Scene) HopBetween(from, to ID) (Hop, bool) {
	i, ok := s.nodeAt[from]
	if !ok {
		return Hop{}, false
	}
	for _, h := range s.hopsOf[i] {
		if s.hops[h].From == from && s.hops[h].To == to {
			return s.hops[h].Hop, true
		}
	}
	return Hop{}, false
}

// Tile is the square of a node in document units.
func (s *Scene) Tile(i int) Rect { return RectAround(s.nodes[i].Pos, TileSize, TileSize) }

// LabelOf lays out the text under node i for a zoom.
func (s *Scene) LabelOf(i int, zoom float64) Label { return layoutLabel(&s.nodes[i], zoom, s.measure) }

// Route returns the way of hop i. It depends a little on the zoom: labels keep
// their size on the screen, and vertical hops start below them.
func (s *Scene) Route(i int, zoom float64) Route {
	h := &s.hops[i]
	return route(ends{
		from: s.nodes[h.from].Pos, to: s.nodes[h.to].Pos,
		fromLow: s.below(h.from, zoom), toLow: s.below(h.to, zoom),
		lane: h.lane, orthogonal: s.opts.Orthogonal,
	})
}

// RouteOf returns the way of the hop with an ID.
func (s *Scene) RouteOf(id ID, zoom float64) (Route, bool) {
	i, ok := s.hopAt[id]
	if !ok {
		return Route{}, false
	}
	return s.Route(i, zoom), true
}

// below is the distance from a node's centre to the free space under its label.
func (s *Scene) below(i int, zoom float64) float64 {
	detail, lines := DetailAt(zoom), float64(s.lines[i])
	if !detail.Full {
		lines = math.Min(lines, 1)
	}
	if !detail.Labels || lines == 0 {
		return TileSize / 2
	}
	pitch := math.Max(LabelPitch, LabelPitch*minLabelSize/NameSize/zoom)
	return TileSize/2 + lines*pitch + 6
}

// NodesIn appends the numbers of the nodes that may paint into r (document
// units), in drawing order.
func (s *Scene) NodesIn(dst []int, r Rect) []int { return s.nodeGrid.find(dst, r) }

// HopsIn appends the numbers of the hops that may paint into r.
func (s *Scene) HopsIn(dst []int, r Rect) []int { return s.hopGrid.find(dst, r) }

// NotesIn appends the numbers of the notes that paint into r.
func (s *Scene) NotesIn(dst []int, r Rect) []int { return s.noteGrid.find(dst, r) }

// Bounds is the rectangle around tiles, labels, hops and notes at 100 %; empty
// for an empty scene.
func (s *Scene) Bounds() Rect {
	var b Rect
	for i := range s.nodes {
		b = b.Union(s.NodeBounds(i))
	}
	for i := range s.hops {
		b = b.Union(s.Route(i, 1).Bounds())
	}
	for i := range s.notes {
		b = b.Union(s.notes[i].Rect)
	}
	return b
}

// Extent is the rectangle around tiles and notes with room for labels. It is
// cheaper than Bounds and meant for the mini-map and for bounding a pan.
func (s *Scene) Extent() Rect {
	var b Rect
	for i := range s.nodes {
		b = b.Union(s.Tile(i))
	}
	for i := range s.notes {
		b = b.Union(s.notes[i].Rect)
	}
	if b.Empty() {
		return b
	}
	return Rect{b.Min.Sub(Point{40, 16}), b.Max.Add(Point{40, 48})}
}

// NodeReach is all that a node may paint at a zoom, whatever its texts are, in
// document units: the part of the picture to repaint when it changed.
func (s *Scene) NodeReach(id ID, zoom float64) (Rect, bool) {
	i, ok := s.nodeAt[id]
	if !ok {
		return Rect{}, false
	}
	const ring, flag, halo = 10.0, 20.0, 4.0
	reach := s.Tile(i).Inset(-ring)
	if n := &s.nodes[i]; n.Flag != "" {
		w := s.measure.Width(n.Flag, textSize(CaptionSize, zoom), true)/zoom + 2*flag/math.Min(zoom, 1)
		reach = reach.Union(RectAround(reach.Centre(), w, 0).Inset(-1))
		reach.Min.Y -= flag / math.Min(zoom, 1)
	}
	if DetailAt(zoom).Labels {
		half := math.Max(LabelWidth, minLabelWidth/zoom)*1.1/2 + halo/zoom
		p := s.nodes[i].Pos
		pitch := math.Max(LabelPitch, LabelPitch*minLabelSize/NameSize/zoom)
		low := p.Y + TileSize/2 + (maxNameLines+1)*pitch + (minLabelSize+halo)/zoom
		reach = reach.Union(Rect{Point{p.X - half, p.Y}, Point{p.X + half, low}})
	}
	return reach, true
}

// HopReach is all that a hop may paint, in document units.
func (s *Scene) HopReach(id ID) (Rect, bool) {
	i, ok := s.hopAt[id]
	if !ok {
		return Rect{}, false
	}
	return s.hopGrid.boxes[i], true
}

// NodeBounds is the rectangle around tile, badges and label of node i at 100 %.
func (s *Scene) NodeBounds(i int) Rect {
	b := s.Tile(i).Inset(-10)
	if l := s.LabelOf(i, 1); !l.Bounds.Empty() {
		p := s.nodes[i].Pos
		b = b.Union(l.Bounds.Move(Point{p.X, p.Y + TileSize/2}))
	}
	return b
}

// AreaOf is the rectangle of a node with its label, of a hop's middle, or of a
// note, in document units.
func (s *Scene) AreaOf(ref Ref) (Rect, bool) {
	switch ref.Kind {
	case KindNode:
		if i, ok := s.nodeAt[ref.ID]; ok {
			return s.NodeBounds(i), true
		}
	case KindHop:
		if i, ok := s.hopAt[ref.ID]; ok {
			return RectAround(s.Route(i, 1).Middle(), TileSize/2, TileSize/2), true
		}
	case KindNote:
		if i, ok := s.noteAt[ref.ID]; ok {
			return s.notes[i].Rect, true
		}
	}
	return Rect{}, false
}

// Place is where a thing is: the centre of a node, the top left of a note.
func (s *Scene) Place(ref Ref) (Point, bool) {
	switch ref.Kind {
	case KindNode:
		if i, ok := s.nodeAt[ref.ID]; ok {
			return s.nodes[i].Pos, true
		}
	case KindNote:
		if i, ok := s.noteAt[ref.ID]; ok {
			return s.notes[i].Rect.Min, true
		}
	}
	return Point{}, false
}
