package worker_test

import (
	"slices"
	"testing"
	"testing/synctest"
)

// TestSweepOfGrants sweeps once, after a time in which every process was dead: the workflows begin that
// end the grants of the workspaces.
func TestSweepOfGrants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBacklog()
		b.ending = []string{"acme", "other"}
		b.sweep(t, 1)
		if !slices.Equal(b.endings, b.ending) {
			t.Errorf("grants were ended in %v", b.endings)
		}
	})
}
