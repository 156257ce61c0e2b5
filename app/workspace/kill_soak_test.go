//go:build soak

package workspace_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/storage"
)

// killsPerSize is how many kills hit each phase at each place in a soak of size 1.
const killsPerSize = 3

// TestSoakKill kills running pipelines without warning, in each phase of their
// gate as often as the soak's size says: never a SEALED manifest that does not
// verify, never a lost sealed snapshot, and everything else is refused.
func TestSoakKill(t *testing.T) {
	eachPlace(t, func(t *testing.T, s *soak) {
		histogram, states := map[string]int{}, map[storage.SnapshotState]int{}
		kills, wanted := 0, killsPerSize*s.size
		// A kill comes a moment after its phase has begun, so it may hit the next
		// one; the phase that was hit least is aimed at.
		for ; kills < 20*wanted && histogram[leastHit(histogram)] < wanted; kills++ {
			phase := leastHit(histogram)
			t.Run(fmt.Sprintf("%d %s", kills, phase), func(t *testing.T) {
				location := fmt.Sprintf("%s/kill-%d", s.root, kills)
				hit, reported := s.kill(t, location, phase)
				histogram[hit]++
				s.judge(t, location, reported, states)
			})
		}
		t.Logf("%d kills by phase: %v; snapshots left: %v", kills, histogram, states)
		if least := leastHit(histogram); histogram[least] < wanted {
			t.Errorf("only %d kills in the phase %q, want %d", histogram[least], least, wanted)
		}
	})
}

func leastHit(histogram map[string]int) string {
	least := phases[0]
	for _, phase := range phases {
		if histogram[phase] < histogram[least] {
			least = phase
		}
	}
	return least
}

// kill starts a process and kills it a moment after it has entered a phase for the
// nth time. It gives the phase that was hit, and what was reported as sealed.
func (s *soak) kill(t *testing.T, location, phase string) (hit string, reported []string) {
	t.Helper()
	const mostLater = 4 * time.Millisecond
	nth, later := 1, time.Duration(s.rng.Int64N(int64(mostLater)))
	if phase == "segment" || phase == "before manifest" {
		nth += s.rng.IntN(3)
	} else {
		nth += s.rng.IntN(2)
	}
	if s.rng.IntN(2) == 0 {
		later = 0
	}
	s.child(t, location, 100, 20*time.Second, func(p *os.Process, line string) {
		if id, ok := strings.CutPrefix(line, "sealed "); ok {
			reported = append(reported, id)
			return
		}
		now, ok := strings.CutPrefix(line, "phase ")
		if !ok {
			return
		}
		hit = now // what is heard after the kill was said before it
		if now != phase {
			return
		}
		if nth--; nth == 0 {
			// The moment of a kill cannot be told from inside.
			time.AfterFunc(later, func() { _ = p.Kill() })
		}
	})
	return hit, reported
}
