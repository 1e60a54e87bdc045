package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestIngestTellsWhyItStandsStill breaks the events of a document that waits, and refuses to
// continue them with the words of a server that starts.
func TestIngestTellsWhyItStandsStill(t *testing.T) {
	t.Parallel()
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch requests++; requests {
		case 1:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cairn-Run-Id", "run-1")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"id":"d-1","name":"a.pdf","status":"pending","version":1}`)
		case 2:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\nevent: documentUpdate\ndata: {\"stage\":\"embed\",\"progress\":0.63,\"waiting\":{\"attempt\":2,\"of\":60,\"nextAt\":\"2020-01-01T00:00:00Z\",\"message\":\"the embedding endpoint cannot be reached\"}}\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case 3:
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":503,"code":"unavailable","detail":"the server is starting"}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 2\nevent: runEnded\ndata: {\"status\":\"completed\",\"result\":{\"id\":\"d-1\",\"status\":\"published\",\"chunkCount\":3}}\n\n")
		}
	}))
	t.Cleanup(server.Close)
	var stdout, stderr, bar bytes.Buffer
	code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr, bar: &bar}, []string{"ingest", "https://example.org/a.pdf", "--wait", "--url", server.URL, "--key", "k"})
	want := regexp.MustCompile(`^https://example.org/a.pdf waits: attempt 2 of 60, next now: the embedding endpoint cannot be reached\n` +
		`no connection, trying again for up to a minute: .+\nconnected again\n1 published, 0 skipped, 0 failed\n$`)
	if code != exitDone || !want.MatchString(stderr.String()) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
	if !strings.Contains(bar.String(), "embed 63 %, https") {
		t.Errorf("the bar does not say how far the document is: %q", bar.String())
	}
}

// TestPagesOfALongDocumentAreShown has a document whose pages are read while its run has no
// event.
func TestPagesOfALongDocumentAreShown(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"cairn ingest":     {"ingest", "https://example.org/a.pdf", "--wait"},
		"cairn runs watch": {"runs", "watch", "0c9d7a52-6a1f-4c1e-9d0a-7a55f4a1b001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looked := make(chan struct{}, 100)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Cairn-Run-Id", "run-1")
				switch {
				case strings.HasSuffix(r.URL.Path, "/events"):
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "id: 1\nevent: documentUpdate\ndata: {\"id\":\"d-1\",\"name\":\"a.pdf\",\"stage\":\"extract\",\"progress\":0.1}\n\n")
					w.(http.Flusher).Flush()
					for range 2 { // the first answer has been shown when the second is asked for
						select {
						case <-looked:
						case <-r.Context().Done():
							return
						}
					}
					fmt.Fprint(w, "id: 2\nevent: runEnded\ndata: {\"status\":\"completed\",\"result\":{\"id\":\"d-1\",\"status\":\"published\",\"chunkCount\":3}}\n\n")
				case strings.HasSuffix(r.URL.Path, "/documents/d-1"):
					fmt.Fprint(w, `{"id":"d-1","name":"a.pdf","status":"pending","stage":"extract","progress":0.23}`)
					looked <- struct{}{}
				case strings.Contains(r.URL.Path, "/runs/"):
					fmt.Fprint(w, `{"id":"run-1","kind":"ingest","status":"running","document_id":"d-1"}`)
				default:
					w.WriteHeader(http.StatusAccepted)
					fmt.Fprint(w, `{"id":"d-1","name":"a.pdf","status":"pending","version":1}`)
				}
			}))
			t.Cleanup(server.Close)
			var stdout, stderr, bar bytes.Buffer
			code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr, bar: &bar}, append(args, "--url", server.URL, "--key", "k"))
			if code != exitDone || !strings.Contains(bar.String(), "extract") || !strings.Contains(bar.String(), "23 %") {
				t.Errorf("exit code %d, stderr %q, bar %q", code, stderr.String(), bar.String())
			}
		})
	}
}
