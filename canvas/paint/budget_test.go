//go:build !race

package paint_test

import (
	"testing"
	"time"
)

// TestFramesKeepTheirBudget times whole pictures: the best of some tries, since the
// machine may be busy with other things.
func TestFramesKeepTheirBudget(t *testing.T) {
	for name, c := range budgets {
		p := newPainter(t)
		img, f := c.frame(p)
		p.Paint(img, f)
		took := best(20, func() { p.Paint(img, f) })
		t.Logf("%s: %v, %.0f copies of its pixels in memory", name, took.Round(10*time.Microsecond), float64(took.Nanoseconds())/copyTime(img))
		if took > c.limit {
			t.Errorf("%s takes %v, want at most %v", name, took, c.limit)
		}
	}
}

// TestATickIsFarCheaperThanAPicture compares one node that changed with all of them.
func TestATickIsFarCheaperThanAPicture(t *testing.T) {
	p := newPainter(t)
	img, f := budgets["300-of-400-at-1400x900"].frame(p)
	f.MiniMap = false
	whole := best(10, func() { p.Paint(img, f) })
	n, _ := f.Scene.Node("n23")
	i := 0
	tick := best(40, func() {
		i++
		n.Metric = []string{"1 row", "2 rows"}[i%2]
		p.Repaint(img, f, p.Dirty(f, img.Bounds(), f.Scene.Update(n), nil)...)
	})
	t.Logf("a tick takes %v, a picture %v", tick, whole)
	if tick*4 > whole {
		t.Errorf("one node takes %v, the whole picture %v", tick, whole)
	}
}

func best(tries int, do func()) time.Duration {
	least := time.Duration(1 << 62)
	for range tries {
		start := time.Now()
		do()
		least = min(least, time.Since(start))
	}
	return least
}
