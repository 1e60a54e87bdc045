package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/starter/terminal"
)

// shownText is what a command has written so far.
type shownText struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // receives when text was added
}

func newShownText() *shownText { return &shownText{changed: make(chan struct{}, 1)} }

// Write implements io.Writer.
func (s *shownText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// await reports whether the command writes a text while the server sends nothing more.
func (s *shownText) await(text string) bool {
	limit := time.After(time.Minute)
	for {
		s.mu.Lock()
		found := strings.Contains(s.text.String(), text)
		s.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-s.changed:
		case <-limit:
			return false
		}
	}
}

// TestEventsAreShownAsTheyCome sends an event only when the one before it is shown: phases,
// calls of tools, words and sources.
func TestEventsAreShownAsTheyCome(t *testing.T) {
	t.Parallel()
	type step struct{ event, data, shows string }
	query := []step{
		{"runStarted", `{"runId":"run-1"}`, ""},
		{"toolCall", `{"id":"t-1","name":"documents_rag","arguments":{},"status":"completed","summary":"2 passages"}`, "documents_rag: 2 passages\n"},
		{"apiMessageChunk", `{"chunk":{"data":"With a soft "}}`, "With a"},
		{"apiMessageChunk", `{"chunk":{"data":"cloth <citation id=\"k\">[1]</citation> and "}}`, "soft cloth [1]"},
		{"completedMessage", `{"answer":"With a soft cloth <citation id=\"k\">[1]</citation> and","sources":[{"rank":1,"chunkId":"k","documentName":"manual.pdf","usedInResponse":true}]}`, ""},
	}
	tool := []step{
		{"tool_update", `{"phase":"RETRIEVAL","status":"completed","data":{"count":3}}`, "retrieval completed\n"},
		{"tool_partial_update", `{"content":"Weekly and ","output_key":"response"}`, "Weekly"},
		{"tool_end", `{"response":"Weekly and","contexts":[{"rank":1,"chunk_id":"chunk-7","document_id":"d","text_preview":"Weekly.","used_in_response":true}],"sources_used":[1]}`, ""},
	}
	web := []step{
		{"runStarted", `{"runId":"run-1"}`, ""},
		{"toolCall", `{"id":"t-1","name":"web_search","arguments":{},"status":"started"}`, ""},
		{"toolEvent", `{"toolCallId":"t-1","event":"tool_update","data":{"phase":"SCRAPING_URLS","status":"started","data":{"url_count":3}}}`, "web_search: scraping urls started: 3 pages\n"},
		{"completedMessage", `{"answer":"","sources":[]}`, ""},
	}
	for name, test := range map[string]struct {
		args  []string
		steps []step
		end   string
	}{
		"ask":                    {[]string{"ask", "How?"}, query, "manual.pdf"},
		"runs_watch":             {[]string{"runs", "watch", "run-1"}, query, "manual.pdf"},
		"runs_watch_of_a_search": {[]string{"runs", "watch", "run-1"}, tool, "completed\n"},
		"runs_watch_its_sources": {[]string{"runs", "watch", "run-1"}, tool, "chunk chunk-7\n"},
		"ask_the_web":            {[]string{"ask", "How?", "--web"}, web, "No passages were found.\n"},
	} {
		for on, width := range map[string]int{"in_a_pipe": 0, "on_a_terminal": 60} {
			t.Run(name+"_"+on, func(t *testing.T) {
				t.Parallel()
				shown := newShownText()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Cairn-Run-Id", "run-1")
					for i, s := range test.steps {
						fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", i+1, s.event, s.data)
						w.(http.Flusher).Flush()
						if !shown.await(s.shows) {
							t.Errorf("%s is not shown as %q while the stream is open", s.event, s.shows)
						}
					}
				}))
				t.Cleanup(server.Close)
				var out io.Writer = shown
				if width > 0 {
					out = terminal.Screen{Writer: shown, Width: width}
				}
				a := &app{stdin: strings.NewReader(""), stdout: out, stderr: out}
				if code := run(t.Context(), a, append(test.args, "--url", server.URL, "--key", "k")); code != exitDone || !shown.await(test.end) {
					t.Errorf("exit code %d:\n%s", code, shown.text.String())
				}
			})
		}
	}
}
