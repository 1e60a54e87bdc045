package edge

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Statuses returns the HTTP status of each code.
func Statuses() map[knowledge.Code]int {
	statuses := map[knowledge.Code]int{}
	for code, kind := range kinds {
		statuses[code] = kind.status
	}
	return statuses
}

// Observe wraps a handler as every request's is.
func Observe(next http.Handler) http.Handler {
	return (&Edge{deps: Deps{Log: slog.New(slog.DiscardHandler), Metrics: noMetrics{}}}).observe(next)
}

// Failures counts wrong credentials by the remote address of their request.
type Failures struct{ failures }

// NewFailures returns a Failures that has counted nothing.
func NewFailures() *Failures { return &Failures{} }

// Add counts wrong credentials, and returns how long their sender has to wait.
func (f *Failures) Add(remoteAddress string, now time.Time) time.Duration {
	network, _ := clientOf(remoteAddress)
	return f.add(network, now)
}

// Len returns how many addresses are counted.
func (f *Failures) Len() int { return len(f.addresses) }

type noMetrics struct{}

func (noMetrics) Request(string, string, int, time.Duration) {}
