package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
)

// script is a server that answers each request with its next step and records
// the requests.
type script struct {
	mu    sync.Mutex
	steps []http.HandlerFunc
	asked []*http.Request
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	n := len(s.asked) - 1
	s.mu.Unlock()
	if n >= len(s.steps) {
		http.Error(w, "the script is over", http.StatusTeapot)
		return
	}
	s.steps[n](w, r)
}

func (s *script) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// play starts a server with these steps and returns it with a client.
func play(t *testing.T, steps ...http.HandlerFunc) (*script, *client.Client) {
	t.Helper()
	s := &script{steps: steps}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL, Key: "cairn_test"})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// stream answers with events in wire form. If cut, it then breaks the
// connection instead of ending the answer.
func stream(cut bool, events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cairn-Run-Id", "run-1")
		w.WriteHeader(http.StatusOK)
		fmt.Fprint(w, strings.Join(events, ""))
		w.(http.Flusher).Flush()
		if cut {
			panic(http.ErrAbortHandler)
		}
	}
}

func event(id int, name, data string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, name, data)
}

func chunk(id int, text string) string {
	return event(id, client.EventChunk, fmt.Sprintf(`{"chunk":{"data":%q}}`, text))
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func answerJSON(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func problem(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}
