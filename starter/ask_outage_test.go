package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
)

// TestAnOutageIsTold breaks an answer after its first words, and refuses to continue it
// with the words of a server that starts.
func TestAnOutageIsTold(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			return // asked while a slow machine keeps a stream silent
		}
		switch requests.Add(1) {
		case 1:
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cairn-Run-Id", "run-1")
			fmt.Fprint(w, begunAnswer)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":503,"code":"unavailable","detail":"the server is starting"}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 3\nevent: completedMessage\ndata: {\"answer\":\"Because\",\"sources\":[]}\n\n")
		}
	}))
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr}, []string{"ask", "why?", "--url", server.URL, "--key", "k"})
	want := regexp.MustCompile(`^no connection, trying again for up to a minute: .+\nconnected again\n$`)
	if code != exitDone || !want.MatchString(stderr.String()) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}
