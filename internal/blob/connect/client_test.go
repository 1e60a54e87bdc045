package connect_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob/connect"
)

// TestSilence checks that a request ends when the service carries no byte for a time: before
// the answer, in the middle of it, and while it does not read the request.
func TestSilence(t *testing.T) {
	t.Parallel()
	const silence = 300 * time.Millisecond
	released := make(chan struct{})
	silent := func(*http.Request) { <-released }
	for name, handler := range map[string]http.HandlerFunc{
		"before_the_answer": func(_ http.ResponseWriter, r *http.Request) { silent(r) },
		"in_the_answer": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
			_ = http.NewResponseController(w).Flush()
			silent(r)
		},
	} {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		if err := send(t, connect.NewClient(silence), server.URL, 32<<20); err == nil {
			t.Errorf("%s: the request did not end with an error", name)
		}
	}
	t.Cleanup(func() { close(released) }) // before the servers are closed
}

// TestSlowBody checks that a long answer is read to its end as long as bytes come.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	const pieces, pause = 30, 100 * time.Millisecond
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range pieces {
			_, _ = w.Write([]byte("piece"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(pause)
		}
	}))
	t.Cleanup(server.Close)
	if err := send(t, connect.NewClient(20*pause), server.URL, 1); err != nil {
		t.Error(err)
	}
}

// send sends a body of a size and reads the answer.
func send(t *testing.T, client *http.Client, address string, size int) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, address, bytes.NewReader(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
