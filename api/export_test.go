package api

import (
	"io"
	"log/slog"
	"net/http"
	"os"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// BodyError lets a test ask it for errors that take long to happen.
var BodyError = bodyError

// Steady lets a test look at the deadlines that are set while a body comes.
func Steady(w http.ResponseWriter, r *http.Request, limit int64) io.Reader {
	return newSteady(w, r, limit)
}

// Observe puts around a handler what every request gets.
func Observe(next http.Handler) http.Handler {
	return (&Server{deps: Deps{Log: slog.New(slog.DiscardHandler), Metrics: noMetrics{}}}).observe(next)
}

// Spool keeps a form in a file, and gives the code of what a client is told.
func Spool(file *os.File, body io.Reader, boundary string) knowledge.Code {
	if _, err := (&spooled{file: file}).take(body, boundary); err != nil {
		return classify(err).Code
	}
	return ""
}
