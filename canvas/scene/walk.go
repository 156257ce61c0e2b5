package scene

import (
	"cmp"
	"math"
	"slices"
)

// Direction is an arrow key.
type Direction uint8

// The directions.
const (
	Left Direction = iota
	Right
	Up
	Down
)

func (d Direction) vector() Point {
	return [...]Point{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}[d]
}

// Neighbour is the node that an arrow key leads to. Nodes joined by a hop are
// preferred; where no hop leads that way, the nearest node in that direction
// is taken. ok is false when there is none, or from is unknown.
func (s *Scene) Neighbour(from ID, d Direction) (ID, bool) {
	i, known := s.nodeAt[from]
	if !known {
		return "", false
	}
	joined := make([]int, 0, len(s.hopsOf[i]))
	for _, h := range s.hopsOf[i] {
		joined = append(joined, s.hops[h].from+s.hops[h].to-i)
	}
	if best := s.bestTowards(i, d, joined); best >= 0 {
		return s.nodes[best].ID, true
	}
	all := make([]int, len(s.nodes))
	for k := range all {
		all[k] = k
	}
	if best := s.bestTowards(i, d, all); best >= 0 {
		return s.nodes[best].ID, true
	}
	return "", false
}

// bestTowards picks the candidate within 60 degrees of the direction that is
// nearest, sideways distance counting double. -1 means none.
func (s *Scene) bestTowards(i int, d Direction, candidates []int) int {
	v := d.vector()
	best, cost := -1, math.Inf(1)
	for _, k := range candidates {
		if k == i {
			continue
		}
		w := s.nodes[k].Pos.Sub(s.nodes[i].Pos)
		ahead, aside := w.X*v.X+w.Y*v.Y, math.Abs(w.X*v.Y-w.Y*v.X)
		if ahead <= 0 || aside > ahead*1.75 {
			continue
		}
		if c := ahead + 2*aside; c < cost {
			best, cost = k, c
		}
	}
	return best
}

// TabOrder lists the nodes along the hops: every node after what feeds it,
// otherwise from top to bottom and left to right. Nodes of a loop follow in
// reading order.
func (s *Scene) TabOrder() []ID {
	waiting := make([]int, len(s.nodes))
	for i := range s.hops {
		if s.hops[i].from != s.hops[i].to {
			waiting[s.hops[i].to]++
		}
	}
	reading := make([]int, len(s.nodes))
	for i := range reading {
		reading[i] = i
	}
	slices.SortStableFunc(reading, func(a, b int) int {
		p, q := s.nodes[a].Pos, s.nodes[b].Pos
		return cmp.Or(cmp.Compare(p.Y, q.Y), cmp.Compare(p.X, q.X))
	})
	rank := make([]int, len(s.nodes))
	for r, i := range reading {
		rank[i] = r
	}
	done := make([]bool, len(s.nodes))
	ids := make([]ID, 0, len(s.nodes))
	visit := func(root int) {
		stack := []int{root}
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if done[i] {
				continue
			}
			done[i] = true
			ids = append(ids, s.nodes[i].ID)
			var next []int
			for _, h := range s.hopsOf[i] {
				if to := s.hops[h].to; s.hops[h].from == i && to != i {
					if waiting[to]--; waiting[to] == 0 && !done[to] {
						next = append(next, to)
					}
				}
			}
			slices.SortFunc(next, func(a, b int) int { return cmp.Compare(rank[b], rank[a]) })
			stack = append(stack, next...)
		}
	}
	for _, i := range reading {
		if waiting[i] == 0 {
			visit(i)
		}
	}
	for _, i := range reading {
		visit(i)
	}
	return ids
}

// Next is the node after (or, with backwards, before) from in tab order. From
// "" it is the first or last one. ok is false past the end: focus then leaves
// the canvas.
func (s *Scene) Next(from ID, backwards bool) (ID, bool) {
	order := s.TabOrder()
	if len(order) == 0 {
		return "", false
	}
	at := slices.Index(order, from)
	switch {
	case at < 0 && backwards:
		at = len(order) - 1
	case at < 0:
		at = 0
	case backwards:
		at--
	default:
		at++
	}
	if at < 0 || at >= len(order) {
		return "", false
	}
	return order[at], true
}
