package server

import "testing"

func TestTheMemoryLimitStaysAboveWhatIsInUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ inUse, want int64 }{
		{0, memoryLimit}, {100 << 20, memoryLimit}, {150 << 20, memoryLimit}, {300 << 20, 448 << 20}, {3 << 30, 4128 << 20},
	} {
		if got := limitFor(c.inUse); got != c.want {
			t.Errorf("%d MiB in use: %d MiB, want %d", c.inUse>>20, got>>20, c.want>>20)
		}
	}
}
