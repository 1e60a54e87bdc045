package following_test

import (
	"errors"
	"testing"
	"time"
)

// TestSecretEndsOnceADay opens the place of a connection in many runs: the service is asked once a
// day when the secret expires, and no run fails with it.
func TestSecretEndsOnceADay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.add("y")
	f.service.ends = time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC)
	run := func(wantAsked int) {
		t.Helper()
		i := f.complete("y")
		_, err := f.runner.Open(t.Context(), i, nil, nil)
		f.must(err)
		c, err := f.store.Connection(t.Context(), manager(), "c")
		if err != nil || !c.SecretEnds.Equal(time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC)) || f.service.asked != wantAsked {
			t.Errorf("asked %d times, want %d; it expires at %v, %v", f.service.asked, wantAsked, c.SecretEnds, err)
		}
	}
	run(1)
	run(1)
	f.now = f.now.Add(24*time.Hour - time.Second)
	run(1)
	f.now = f.now.Add(2 * time.Second)
	f.service.fails = errors.New("no answer") // what was known stays, and the day begins
	run(2)
	run(2)
}
