package pipeline

import (
	"sluice/engine/batch"
	"sluice/engine/transform"
)

// edge is where the rows of a route go: a unit fused into the same stage, or the
// queue of another stage.
type edge struct {
	from, to *unit
	wire     *wire
	queue    *queue // nil when fused
}

// route is one output port of a unit.
type route struct {
	port       transform.Port
	edges      []*edge
	distribute bool  // row i goes to edge i mod n; false: every row to every edge
	rows       int64 // rows distributed so far; owned by the ordered part of the stage
	tap        *tap  // not nil: the rows are spooled
}

// deal splits a batch by row number over n edges: part k has the rows whose
// number modulo n is k. It takes over b's hold; parts without rows are nil.
func (r *route) deal(b *batch.Batch) []*batch.Batch {
	n := len(r.edges)
	sels := make([][]int32, n)
	each := b.Rows()/n + 1
	for i := range b.All() {
		k := int(r.rows % int64(n))
		r.rows++
		if sels[k] == nil {
			sels[k] = make([]int32, 0, each)
		}
		sels[k] = append(sels[k], int32(i))
	}
	parts := make([]*batch.Batch, n)
	for k, sel := range sels {
		if sel != nil {
			parts[k] = b.Select(sel)
		}
	}
	b.Release()
	return parts
}
