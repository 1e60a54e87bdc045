package server

import (
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/collector"
)

// Settings of the garbage collector that save processor time: it runs seldom
// until the heap approaches the limit, which is soft. The variables GOGC and
// GOMEMLIMIT of the environment override them.
const (
	gcPercent   = 200
	memoryLimit = 240 << 20
)

// tuneCollector sets up the garbage collector of a server process, until stop is called.
func tuneCollector(environ []string) (stop func()) {
	if !isSet(environ, "GOGC") {
		// The server and the stores allocate much and keep little.
		debug.SetGCPercent(gcPercent)
	}
	done := make(chan struct{})
	go returnMemory(done)
	if !isSet(environ, "GOMEMLIMIT") {
		collector.Limit(memoryLimit, math.MaxInt64, done)
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
