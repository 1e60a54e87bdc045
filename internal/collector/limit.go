// Package collector keeps the soft memory limit of Go's garbage collector above what is in
// use.
package collector

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// interval is how often the limit is compared with what is in use.
const interval = time.Second

// Limit bounds Go's memory softly by least, in bytes, and raises the bound, to most at the
// highest, while the live heap and the stacks come near it: the collector would otherwise run
// without a pause. It returns at once and works until done is closed; nil = to the end of the
// process.
func Limit(least, most int64, done <-chan struct{}) {
	debug.SetMemoryLimit(least)
	go raise(least, most, done)
}

func raise(least, most int64, done <-chan struct{}) {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for limit := least; ; {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
		metrics.Read(inUse)
		used := int64(inUse[0].Value.Uint64() + inUse[1].Value.Uint64())
		if next := min(max(limitFor(used), least), most); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
	}
}

// limitFor returns the limit for so many bytes of live heap and stacks: a third more, in
// steps, with what the runtime itself needs.
func limitFor(inUse int64) int64 {
	const runtimeOwn, step = 24 << 20, 32 << 20
	return (inUse*4/3 + runtimeOwn + step - 1) / step * step
}
