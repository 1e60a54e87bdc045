package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// askOverMCP calls the tool ask_project, and returns its answer as it came.
func (s *server) askOverMCP(t *testing.T, project, question string) string {
	t.Helper()
	call, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{
		"name": "ask_project", "arguments": map[string]any{"question": question, "project_id": project},
	}})
	if err != nil {
		t.Fatal(err)
	}
	header := []string{"Accept", "application/json, text/event-stream"}
	var answer []byte
	for _, message := range []string{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`,
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		string(call),
	} {
		var res *http.Response
		if res, answer = s.raw(t, "POST", "/mcp", "application/json", []byte(message), header...); res.StatusCode >= 300 {
			t.Fatalf("MCP: status %d: %.300s", res.StatusCode, answer)
		}
		if session := res.Header.Get("Mcp-Session-Id"); session != "" {
			header = append(header, "Mcp-Session-Id", session)
		}
	}
	if !strings.Contains(string(answer), `"structuredContent"`) {
		t.Fatalf("the tool answers %.300s", answer)
	}
	return string(answer)
}

// inPieces returns the events of a run as they come to a reader that joins large ones itself, with
// the joined data of these behind them.
func (s *server) inPieces(t *testing.T, run string) string {
	t.Helper()
	res, err := s.send(t.Context(), "GET", "/runs/"+run+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	joined, last := string(raw), ""
	pieces := 0
	for line := range strings.Lines(string(raw)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || last != "event: _delta_sse" {
			last = strings.TrimSpace(line)
			continue
		}
		var piece struct{ Content string }
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			t.Fatal(err)
		}
		joined += piece.Content
		last = ""
		pieces++
	}
	if pieces < 2 {
		t.Errorf("%d pieces came: the answer is not long enough to be cut", pieces)
	}
	return joined
}

// long returns a reply with so many words behind it that its events are cut into pieces.
func long(r modeltest.Reply) modeltest.Reply {
	for i := range 400 {
		r.Pieces = append(r.Pieces, fmt.Sprintf("\n\nThe lamp %d of the northern pier is lit at dusk.", i))
	}
	return r
}

// TestRedactedAnswersThroughOtherDoors asks over MCP and reads events in pieces, in a project whose
// answers are redacted and in one as a control.
func TestRedactedAnswersThroughOtherDoors(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Reply: func(protocol.ChatRequest) modeltest.Reply {
		var pieces []string
		for value, label := range personalMarkers() {
			sentence := fmt.Sprintf("The %s of the holder is %s.\n\n", label, value)
			pieces = append(pieces, smallPieces(sentence)...)
		}
		return long(modeltest.Reply{Pieces: pieces})
	}})
	s := start(t, at(m.URL())...)
	for _, answers := range []string{"redact", "off"} {
		slug := "answers-" + answers
		project := map[string]any{"slug": slug, "privacy": map[string]any{"answers": answers}}
		if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
			t.Fatalf("project: status %d", status)
		}
		a := s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": "Who is the holder?", "projectId": slug, "sse": true})
		s.follow(t, a.run, 0)
		shown := map[string]string{"MCP": s.askOverMCP(t, slug, "Who is the holder?"), "the events in pieces": s.inPieces(t, a.run)}
		if answers == "redact" {
			wantNoMarkers(t, []string{shown["MCP"], shown["the events in pieces"]})
			continue
		}
		for door, text := range shown {
			for value := range personalMarkers() {
				if !strings.Contains(text, value) {
					t.Errorf("the control shows no %s through %s, so nothing is shown", value, door)
				}
			}
		}
	}
}

// TestModelsGetNoPersonalDataThroughOtherDoors asks over MCP and reads events in pieces, in a project
// that keeps personal data from models: the values are in the answer, and the model has none.
func TestModelsGetNoPersonalDataThroughOtherDoors(t *testing.T) {
	t.Parallel()
	reply := repeats(0)
	m := standIn(t, modeltest.Options{Reply: func(r protocol.ChatRequest) modeltest.Reply {
		said := reply(r)
		if len(said.ToolCalls) > 0 {
			return said
		}
		return long(said)
	}})
	w := tap(t, m)
	s := start(t, at(w.URL+"/v1")...)
	s.keeping(t, "kept", map[string]any{"providers": "redact"})
	wantKept(t, w.sent())
	wantValues(t, "the answer over MCP", s.askOverMCP(t, "kept", holders))
	wantKept(t, w.sent())
	a := s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": holders, "projectId": "kept", "sse": true})
	s.follow(t, a.run, 0)
	wantValues(t, "the answer in pieces", s.inPieces(t, a.run))
	wantKept(t, w.sent())
}
