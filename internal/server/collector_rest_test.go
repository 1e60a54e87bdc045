package server

import "testing"

func TestMemoryIsReturnedWhenTheServerRests(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for name, c := range map[string]struct {
		now, before memoryUse
		want        bool
	}{
		"garbage of the start":           {memoryUse{allocated: 101 * mb, live: 36 * mb, objects: 70 * mb}, memoryUse{allocated: 100 * mb}, true},
		"room of a larger heap":          {memoryUse{live: 36 * mb, objects: 36 * mb, free: 40 * mb}, memoryUse{}, true},
		"the server works":               {memoryUse{allocated: 110 * mb, live: 36 * mb, objects: 70 * mb}, memoryUse{allocated: 100 * mb}, false},
		"little is left behind":          {memoryUse{live: 36 * mb, objects: 40 * mb, free: 8 * mb}, memoryUse{}, false},
		"little for so large a heap":     {memoryUse{live: 400 * mb, objects: 440 * mb, free: 20 * mb}, memoryUse{}, false},
		"a run has shrunk the live heap": {memoryUse{live: 36 * mb, objects: 20 * mb, free: 4 * mb}, memoryUse{}, false},
		"much even for so large a heap":  {memoryUse{live: 400 * mb, objects: 480 * mb, free: 40 * mb}, memoryUse{}, true},
	} {
		if got := c.now.isIdleSince(c.before); got != c.want {
			t.Errorf("%s: returned %v, want %v", name, got, c.want)
		}
	}
}
