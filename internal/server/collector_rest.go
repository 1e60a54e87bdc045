package server

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// workInterval is how often a server that works releases its program's pages.
	workInterval = time.Second
	// restInterval is how often it looks whether it rests, in workIntervals.
	restInterval = 5
	// restingBytes is what a resting server allocates in a restInterval, at most. An idle
	// one allocates 1 MB, one with ten thousand open streams 2 to 3 MB.
	restingBytes = 4 << 20
	// worthReturning is the memory for which a run of the collector is worth its 40 ms.
	worthReturning = 16 << 20
)

// memoryUse is the use of the heap at one time, in bytes.
type memoryUse struct {
	allocated uint64 // since the process began
	live      uint64 // what the last run of the collector found in use
	objects   uint64 // live ones, and garbage
	free      uint64 // neither used nor returned to the operating system
}

func readMemoryUse() memoryUse {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	return memoryUse{allocated: value(0), live: value(1), objects: value(2), free: value(3)}
}

// restsSince reports whether the server has done nothing since an earlier time.
func (u memoryUse) restsSince(before memoryUse) bool {
	return u.allocated-before.allocated <= restingBytes
}

// isIdleSince reports whether the server has rested since an earlier time and keeps memory
// that is worth returning.
func (u memoryUse) isIdleSince(before memoryUse) bool {
	unneeded := u.free
	if u.objects > u.live {
		unneeded += u.objects - u.live
	}
	return u.restsSince(before) && unneeded >= max(worthReturning, u.live/4)
}

// returnMemory returns what the start and each busy time leave behind to the operating
// system as soon as the server rests, until done is closed. The collector alone would
// keep it: it runs again only when the heap has grown threefold, or after two minutes,
// and then keeps the room for so large a heap.
//
// While the server works, the pages of the program that were used only once are released: the
// start uses a third of the file, and seldom used code and constants add to it.
func returnMemory(done <-chan struct{}) {
	pages := findProgramPages()
	ticker := time.NewTicker(workInterval)
	defer ticker.Stop()
	before := readMemoryUse()
	for tick := 1; ; tick++ {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
		now := readMemoryUse()
		if !now.restsSince(before) {
			pages.release()
		}
		if tick%restInterval > 0 {
			continue
		}
		if now.isIdleSince(before) {
			debug.FreeOSMemory()
		}
		before = now
	}
}
