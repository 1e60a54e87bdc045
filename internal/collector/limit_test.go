package collector

import (
	"math"
	"runtime/debug"
	"testing"
	"time"
)

func TestTheLimitIsAboveWhatIsInUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ inUse, want int64 }{{0, 32 << 20}, {100 << 20, 160 << 20}, {150 << 20, 224 << 20}, {300 << 20, 448 << 20}, {3 << 30, 4128 << 20}} {
		if got := limitFor(c.inUse); got != c.want {
			t.Errorf("%d MiB in use: %d MiB, want %d", c.inUse>>20, got>>20, c.want>>20)
		}
	}
}

// TestLimit is of the whole process, so it has no other test beside it.
func TestLimit(t *testing.T) { //nolint:paralleltest // the limit is of the process
	before := debug.SetMemoryLimit(-1)
	done := make(chan struct{})
	defer func() { close(done); debug.SetMemoryLimit(before) }()
	Limit(1<<20, math.MaxInt64, done) // less than a test takes
	if limit := debug.SetMemoryLimit(-1); limit != 1<<20 {
		t.Errorf("the limit is %d", limit)
	}
	for deadline := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) == 1<<20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the limit was not raised")
		}
	}
}
