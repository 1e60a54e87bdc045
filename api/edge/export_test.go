package edge

import (
	"log/slog"
	"net/http"
	"time"
)

// DescribedSettings lets a test compare the described settings with the settings.
var DescribedSettings = describedSettings

// Observe wraps a handler as every request's is.
func Observe(next http.Handler) http.Handler {
	return (&Edge{deps: Deps{Log: slog.New(slog.DiscardHandler), Metrics: noMetrics{}}}).observe(next)
}

type noMetrics struct{}

func (noMetrics) Request(string, string, int, time.Duration) {}
