//go:build integration

package scenario_test

import "testing"

// TestAKilledReplayOnS3: no locks tell there who is dead, so the second machine
// watches before it takes over, and then knows what it does not know.
func TestAKilledReplayOnS3(t *testing.T) {
	s := newShop(t)
	t.Setenv("SLUICE_HEARTBEAT", "200ms")
	s.killedReplayIsKnown(s.objectStore())
}
