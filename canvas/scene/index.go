package scene

import (
	"math"
	"slices"
)

// cellSize is the edge of one cell of the spatial index, in document units.
const cellSize = 256.0

// maxCells bounds the cells one entry may fill; longer ones are kept aside and
// looked at in every query.
const maxCells = 64

type cell struct{ x, y int32 }

// grid is a spatial index of rectangles, each known by a small number.
type grid struct {
	cells map[cell][]int32
	large []int32
	boxes []Rect
	seen  []uint32 // query number that met the entry last
	query uint32
}

func newGrid(n int) *grid {
	return &grid{cells: make(map[cell][]int32), boxes: make([]Rect, n), seen: make([]uint32, n)}
}

func cellsOf(r Rect) (from, to cell) {
	at := func(v float64) int32 {
		return int32(math.Max(math.MinInt32/2, math.Min(math.MaxInt32/2, math.Floor(v/cellSize))))
	}
	return cell{at(r.Min.X), at(r.Min.Y)}, cell{at(r.Max.X), at(r.Max.Y)}
}

func cellCount(from, to cell) int64 {
	return (int64(to.x) - int64(from.x) + 1) * (int64(to.y) - int64(from.y) + 1)
}

// put stores entry i with its box; a former box must have been taken out.
func (g *grid) put(i int, r Rect) {
	g.boxes[i] = r
	from, to := cellsOf(r)
	if cellCount(from, to) > maxCells {
		g.large = append(g.large, int32(i))
		return
	}
	for y := from.y; y <= to.y; y++ {
		for x := from.x; x <= to.x; x++ {
			c := cell{x, y}
			g.cells[c] = append(g.cells[c], int32(i))
		}
	}
}

// take removes entry i from the cells of its box.
func (g *grid) take(i int) {
	drop := func(list []int32) []int32 {
		if at := slices.Index(list, int32(i)); at >= 0 {
			return slices.Delete(list, at, at+1)
		}
		return list
	}
	from, to := cellsOf(g.boxes[i])
	if cellCount(from, to) > maxCells {
		g.large = drop(g.large)
		return
	}
	for y := from.y; y <= to.y; y++ {
		for x := from.x; x <= to.x; x++ {
			c := cell{x, y}
			if list := drop(g.cells[c]); len(list) > 0 {
				g.cells[c] = list
			} else {
				delete(g.cells, c)
			}
		}
	}
}

// find appends the entries whose boxes overlap r, in ascending order.
func (g *grid) find(dst []int, r Rect) []int {
	g.query++
	start := len(dst)
	visit := func(list []int32) {
		for _, i := range list {
			if g.seen[i] != g.query && g.boxes[i].Overlaps(r) {
				g.seen[i] = g.query
				dst = append(dst, int(i))
			}
		}
	}
	visit(g.large)
	from, to := cellsOf(r)
	if cellCount(from, to) > int64(len(g.cells)) {
		for _, list := range g.cells {
			visit(list)
		}
	} else {
		for y := from.y; y <= to.y; y++ {
			for x := from.x; x <= to.x; x++ {
				visit(g.cells[cell{x, y}])
			}
		}
	}
	slices.Sort(dst[start:])
	return dst
}
