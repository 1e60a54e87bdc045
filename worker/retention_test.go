package worker_test

import (
	"testing"
	"testing/synctest"
)

// TestSweepOfRetention sweeps for some hours: in each workspace with a retention a run is started
// at once and then every hour, but none beside one that is under way.
func TestSweepOfRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog()
		b.retained, b.busy = []string{"acme", "busy", "other"}, "busy"
		b.sweep(t, 3*60)
		started := map[string]int{}
		for _, r := range b.retentions {
			started[r.Workspace]++
		}
		if started["acme"] != 3 || started["other"] != 3 || started["busy"] != 0 {
			t.Errorf("in three hours these runs were started: %v", started)
		}
	})
}
