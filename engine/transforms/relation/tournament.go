package relation

// tournament finds the least of several sorted runs' next rows; of equal rows that
// of an earlier run. It is a tree of losers.
type tournament struct {
	heads []head
	tree  []int32 // node n has the children 2n and 2n+1, run i is leaf len(heads)+i; tree[0] is the winner
	// rest compares what the prefixes of two runs' next rows do not show; nil when
	// they show everything.
	rest func(x, y int32) int
}

// head is the prefix of the key of a run's next row.
type head struct {
	hi, lo uint64
	done   bool // there is no row
}

func (t *tournament) before(x, y int32) bool {
	a, b := &t.heads[x], &t.heads[y]
	switch {
	case a.done || b.done:
		return !a.done
	case a.hi != b.hi:
		return a.hi < b.hi
	case a.lo != b.lo:
		return a.lo < b.lo
	}
	if t.rest != nil {
		if c := t.rest(x, y); c != 0 {
			return c < 0
		}
	}
	return x < y
}

// start plays all games; the heads have been set.
func (t *tournament) start() {
	n := len(t.heads)
	t.tree = make([]int32, max(n, 1))
	if n == 0 {
		return
	}
	winners := make([]int32, 2*n)
	for i := range n {
		winners[n+i] = int32(i)
	}
	for i := n - 1; i > 0; i-- {
		w, l := winners[2*i], winners[2*i+1]
		if !t.before(w, l) {
			w, l = l, w
		}
		winners[i], t.tree[i] = w, l
	}
	t.tree[0] = winners[1]
}

// replay finds the next winner after the head of run i has changed.
func (t *tournament) replay(i int32) {
	w := i
	for n := (len(t.heads) + int(i)) / 2; n > 0; n /= 2 {
		if t.before(t.tree[n], w) {
			w, t.tree[n] = t.tree[n], w
		}
	}
	t.tree[0] = w
}
