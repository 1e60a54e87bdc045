package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// ModelCall is a request to a model.
type ModelCall struct {
	Provider string
	Kind     string
	Outcome  string // ok or error
	Seconds  float64
	At       time.Time // when it ended
}

// lastCalls are the last requests to models. Safe for concurrent use.
type lastCalls struct {
	mu   sync.Mutex
	last map[[2]string]ModelCall // by provider and kind
}

func (l *lastCalls) add(c ModelCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[[2]string]ModelCall{}
	}
	l.last[[2]string{c.Provider, c.Kind}] = c
}

// LastModelCalls returns the last request of each kind to each provider, in the order of
// kind and provider.
func (m *Metrics) LastModelCalls() []ModelCall {
	m.last.mu.Lock()
	defer m.last.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.last.last), func(a, b ModelCall) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Provider, b.Provider))
	})
}
