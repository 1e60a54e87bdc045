package server

import (
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"
)

// Settings of the garbage collector that save processor time: it runs seldom
// until the heap approaches the limit, which is soft. The variables GOGC and
// GOMEMLIMIT of the environment override them.
const (
	gcPercent   = 200
	memoryLimit = 240 << 20
)

// limitInterval is how often the limit is compared with what is in use.
const limitInterval = time.Second

// tuneCollector sets up the garbage collector of a server process, until stop is called.
func tuneCollector(environ []string) (stop func()) {
	if !isSet(environ, "GOGC") {
		// The server and the stores allocate much and keep little.
		debug.SetGCPercent(gcPercent)
	}
	done := make(chan struct{})
	go returnMemory(done)
	if !isSet(environ, "GOMEMLIMIT") {
		debug.SetMemoryLimit(memoryLimit)
		go raiseLimit(done)
	}
	return func() { close(done) }
}

// isSet reports whether a variable of the environment has a value.
func isSet(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(set string) bool {
		value, ok := strings.CutPrefix(set, name+"=")
		return ok && value != ""
	})
}

// raiseLimit keeps the limit above what is in use, until done is closed. The collector
// would otherwise run without a pause once that alone reaches the limit, as with ten
// thousand open streams.
func raiseLimit(done <-chan struct{}) {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	ticker := time.NewTicker(limitInterval)
	defer ticker.Stop()
	for limit := int64(memoryLimit); ; {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
		metrics.Read(inUse)
		if next := limitFor(int64(inUse[0].Value.Uint64() + inUse[1].Value.Uint64())); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}

// limitFor returns the limit for so many bytes of live heap and stacks: a third more, in
// steps, with what the runtime itself needs.
func limitFor(inUse int64) int64 {
	const runtimeOwn, step = 24 << 20, 32 << 20
	need := (inUse*4/3 + runtimeOwn + step - 1) / step * step
	return max(memoryLimit, need)
}
