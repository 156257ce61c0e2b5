package scene

import (
	"cmp"
	"math"
	"slices"
)

// Steps of the automatic layout between columns and rows, in document units.
const (
	layoutStepX = 160.0
	layoutStepY = 112.0
)

// layout is the work table of one automatic layout.
type layout struct {
	s     *Scene
	nodes []int         // scene numbers
	at    map[int]int   // scene number -> position in nodes
	out   [][]int       // edges within nodes, cycles cut
	in    [][]int       //
	layer []int         //
	order [][]int       // nodes per layer, top to bottom
	row   []float64     // place within the layer
	group []int         // connected part
	parts map[int][]int // nodes by part
}

// AutoLayout arranges nodes in columns from left to right along their hops,
// every node right of what feeds it, few crossings, connected parts below each
// other. Only nodes in sel are moved; an empty sel means all. The arrangement
// starts where its top left was. Only what moves is returned, on the grid.
func (s *Scene) AutoLayout(sel Selection) map[Ref]Point {
	l := newLayout(s, sel)
	if len(l.nodes) < 2 {
		return nil
	}
	l.cutCycles()
	l.findParts()
	l.setLayers()
	places := make(map[Ref]Point)
	origin := l.origin()
	top := origin.Y
	for _, part := range l.partOrder() {
		top = l.arrange(part, Point{origin.X, top}, places)
	}
	for ref, p := range places {
		if old, _ := s.Place(ref); old == p {
			delete(places, ref)
		}
	}
	return places
}

func newLayout(s *Scene, sel Selection) *layout {
	l := &layout{s: s, at: make(map[int]int), parts: make(map[int][]int)}
	for i := range s.nodes {
		if len(sel) == 0 || sel.Has(NodeRef(s.nodes[i].ID)) {
			l.at[i] = len(l.nodes)
			l.nodes = append(l.nodes, i)
		}
	}
	n := len(l.nodes)
	l.out, l.in, l.layer, l.row, l.group = make([][]int, n), make([][]int, n), make([]int, n), make([]float64, n), make([]int, n)
	for i := range s.hops {
		a, okA := l.at[s.hops[i].from]
		b, okB := l.at[s.hops[i].to]
		if okA && okB && a != b && !slices.Contains(l.out[a], b) {
			l.out[a] = append(l.out[a], b)
		}
	}
	return l
}

func (l *layout) pos(k int) Point { return l.s.nodes[l.nodes[k]].Pos }

func (l *layout) origin() Point {
	o := l.pos(0)
	for k := range l.nodes {
		o = Point{math.Min(o.X, l.pos(k).X), math.Min(o.Y, l.pos(k).Y)}
	}
	return Point{math.Round(o.X/GridSize) * GridSize, math.Round(o.Y/GridSize) * GridSize}
}

// cutCycles drops the edges that close a cycle in a depth first walk, so that
// loops of workflows have layers too. The walk keeps its own stack: chains may
// be thousands of nodes long.
func (l *layout) cutCycles() {
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(l.nodes))
	type frame struct{ node, next int }
	hasInput := make([]bool, len(l.nodes))
	for _, targets := range l.out {
		for _, b := range targets {
			hasInput[b] = true
		}
	}
	walk := func(root int) {
		stack := []frame{{root, 0}}
		state[root] = open
		for len(stack) > 0 {
			f := &stack[len(stack)-1]
			if f.next == len(l.out[f.node]) {
				state[f.node] = done
				stack = stack[:len(stack)-1]
				continue
			}
			b := l.out[f.node][f.next]
			if state[b] == open {
				l.out[f.node] = slices.Delete(l.out[f.node], f.next, f.next+1)
				continue
			}
			f.next++
			l.in[b] = append(l.in[b], f.node)
			if state[b] == fresh {
				state[b] = open
				stack = append(stack, frame{b, 0})
			}
		}
	}
	for k := range l.nodes {
		if !hasInput[k] && state[k] == fresh {
			walk(k)
		}
	}
	for k := range l.nodes {
		if state[k] == fresh {
			walk(k)
		}
	}
}

func (l *layout) findParts() {
	for k := range l.group {
		l.group[k] = -1
	}
	for k := range l.nodes {
		if l.group[k] >= 0 {
			continue
		}
		todo := []int{k}
		l.group[k] = k
		for len(todo) > 0 {
			n := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			l.parts[k] = append(l.parts[k], n)
			for _, list := range [2][]int{l.out[n], l.in[n]} {
				for _, m := range list {
					if l.group[m] < 0 {
						l.group[m] = k
						todo = append(todo, m)
					}
				}
			}
		}
	}
}

// setLayers gives each node the length of the longest way that leads to it,
// and pulls sources right, next to the first node they feed.
func (l *layout) setLayers() {
	waiting := make([]int, len(l.nodes))
	var ready, sorted []int
	for k := range l.nodes {
		waiting[k] = len(l.in[k])
		if waiting[k] == 0 {
			ready = append(ready, k)
		}
	}
	for len(ready) > 0 {
		k := ready[0]
		ready = ready[1:]
		sorted = append(sorted, k)
		for _, b := range l.out[k] {
			l.layer[b] = max(l.layer[b], l.layer[k]+1)
			if waiting[b]--; waiting[b] == 0 {
				ready = append(ready, b)
			}
		}
	}
	for _, k := range slices.Backward(sorted) {
		if len(l.in[k]) > 0 || len(l.out[k]) == 0 {
			continue
		}
		near := math.MaxInt
		for _, b := range l.out[k] {
			near = min(near, l.layer[b])
		}
		l.layer[k] = near - 1
	}
}

// partOrder lists the connected parts from the top of the old picture down.
func (l *layout) partOrder() [][]int {
	var list [][]int
	for _, nodes := range l.parts {
		list = append(list, nodes)
	}
	top := func(nodes []int) (y, x float64) {
		y, x = math.Inf(1), math.Inf(1)
		for _, k := range nodes {
			p := l.pos(k)
			if p.Y < y || p.Y == y && p.X < x {
				y, x = p.Y, p.X
			}
		}
		return y, x
	}
	slices.SortFunc(list, func(a, b []int) int {
		ay, ax := top(a)
		by, bx := top(b)
		return cmp.Or(cmp.Compare(ay, by), cmp.Compare(ax, bx), cmp.Compare(a[0], b[0]))
	})
	return list
}

// arrange places one connected part with its top left at origin and returns
// the top of the next part.
func (l *layout) arrange(part []int, origin Point, places map[Ref]Point) float64 {
	depth := 0
	for _, k := range part {
		depth = max(depth, l.layer[k])
	}
	l.order = make([][]int, depth+1)
	for _, k := range part {
		l.order[l.layer[k]] = append(l.order[l.layer[k]], k)
	}
	for _, list := range l.order {
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(cmp.Compare(l.pos(a).Y, l.pos(b).Y), cmp.Compare(l.pos(a).X, l.pos(b).X), cmp.Compare(a, b))
		})
		l.number(list)
	}
	const sweeps = 6
	for range sweeps {
		for i := 1; i < len(l.order); i++ {
			l.sortBy(l.order[i], l.in)
		}
		for i := len(l.order) - 2; i >= 0; i-- {
			l.sortBy(l.order[i], l.out)
		}
	}
	l.setRows()
	low, high := math.Inf(1), math.Inf(-1)
	first := math.MaxInt
	for _, k := range part {
		low, high = math.Min(low, l.row[k]), math.Max(high, l.row[k])
		first = min(first, l.layer[k])
	}
	for _, k := range part {
		x := origin.X + float64(l.layer[k]-first)*layoutStepX
		y := origin.Y + math.Round((l.row[k]-low)*layoutStepY/GridSize)*GridSize
		places[NodeRef(l.s.nodes[l.nodes[k]].ID)] = Point{x, y}
	}
	return origin.Y + math.Round((high-low+1)*layoutStepY/GridSize)*GridSize
}

func (l *layout) number(list []int) {
	for i, k := range list {
		l.row[k] = float64(i)
	}
}

// sortBy orders one layer by the mean row of the neighbours given.
func (l *layout) sortBy(list []int, neighbours [][]int) {
	mean := make(map[int]float64, len(list))
	for _, k := range list {
		mean[k] = l.mean(k, neighbours)
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	l.number(list)
}

func (l *layout) mean(k int, neighbours [][]int) float64 {
	if len(neighbours[k]) == 0 {
		return l.row[k]
	}
	sum := 0.0
	for _, m := range neighbours[k] {
		sum += l.row[m]
	}
	return sum / float64(len(neighbours[k]))
}

// setRows moves every node towards the middle of its neighbours while keeping
// the order and at least one row between the nodes of a layer.
func (l *layout) setRows() {
	const sweeps = 8
	for i := range sweeps {
		neighbours := l.in
		if i%2 == 1 {
			neighbours = l.out
		}
		for _, list := range l.order {
			l.spread(list, neighbours)
		}
	}
	for _, list := range l.order {
		l.spread(list, l.in)
	}
}

// spread places the nodes of one layer as near to their wishes as the
// distance of one row allows, by merging neighbours that collide.
func (l *layout) spread(list []int, neighbours [][]int) {
	type block struct {
		sum   float64 // of wish minus rank within the block
		count int
	}
	var blocks []block
	for _, k := range list {
		b := block{sum: l.mean(k, neighbours), count: 1}
		blocks = append(blocks, b)
		for len(blocks) > 1 {
			last, prev := blocks[len(blocks)-1], blocks[len(blocks)-2]
			if prev.sum/float64(prev.count)+float64(prev.count) <= last.sum/float64(last.count) {
				break
			}
			shift := float64(prev.count)
			prev.sum += last.sum - shift*float64(last.count)
			prev.count += last.count
			blocks = append(blocks[:len(blocks)-2], prev)
		}
	}
	i := 0
	for _, b := range blocks {
		start := b.sum / float64(b.count)
		for rank := range b.count {
			l.row[list[i]] = start + float64(rank)
			i++
		}
	}
}
