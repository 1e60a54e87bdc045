package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestForgetDocument removes a document, cuts its quotations out of the answers, and looks
// for its words in all files of the server.
func TestForgetDocument(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	const word, quoted = "quillobasalt", "The quillobasalt of the pier was laid by hand in May."
	const kept = "Harbour ropes are changed every winter."
	d, harbour := s.publish(t, "pier", quoted), s.publish(t, "harbour", kept)
	ask := func(question, conversation, answer string) (a answered) {
		t.Helper()
		m.ScriptChat(modeltest.Text(answer))
		s.call(t, "POST", webhooks+"/query", map[string]any{"text": question, "projectId": "default", "conversationId": conversation}, &a)
		return a
	}
	// A message of both documents, one that repeats the words without a citation, and one of
	// the other document alone.
	both := ask("What is said of pier and ropes?", "", kept+s.citation(t, harbour)+" "+quoted+s.citation(t, d))
	repeated := ask("Say it again.", both.ConversationID, "As I said: the quillobasalt of the pier was laid by hand in May.")
	other := ask("What of the ropes?", "", kept+s.citation(t, harbour))
	if err := removeAndWait(t, s, d); err != nil {
		t.Fatal(err)
	}
	if files := s.scan(t, word); len(files) == 0 {
		t.Fatal("the scan does not find the words of answers, so it proves nothing")
	}

	const path = "/workspaces/default/conversations/forget"
	want := forgotten{Conversations: 1, Messages: 2, Runs: 2}
	var got forgotten
	if status := s.call(t, "POST", path, map[string]any{"document_id": d.ID, "dry_run": true}, &got); status != http.StatusOK || got != want {
		t.Fatalf("status %d: a dry run counts %+v, want %+v", status, got, want)
	}
	if shown := s.bodyOf(t, "/runs/"+both.RunID); !strings.Contains(shown, word) {
		t.Error("a dry run changed an answer")
	}
	if s.call(t, "POST", path, map[string]any{"document_id": d.ID}, &got); got != want {
		t.Errorf("it changed %+v, want %+v", got, want)
	}
	for _, run := range []string{both.RunID, repeated.RunID} {
		for _, path := range []string{"/runs/" + run, "/runs/" + run + "/events", "/workspaces/default/conversations/" + both.ConversationID} {
			if shown := s.bodyOf(t, path); strings.Contains(shown, word) || !strings.Contains(shown, "[…]") {
				t.Errorf("%s: %.300s", path, shown)
			}
		}
	}
	for _, conversation := range []string{both.ConversationID, other.ConversationID} {
		if shown := s.bodyOf(t, "/workspaces/default/conversations/"+conversation); !strings.Contains(shown, kept) {
			t.Errorf("the words of another document are cut: %s", shown)
		}
	}
	for _, run := range []string{both.RunID, repeated.RunID} {
		s.awaitNoHistory(t, run)
	}
	if s.call(t, "POST", path, map[string]any{"document_id": d.ID}, &got); got != (forgotten{}) {
		t.Errorf("the second time it changed %+v", got)
	}
	s.refuses(t, "POST", path, map[string]any{"document_id": "unknown"}, http.StatusNotFound, knowledge.CodeNotFound)
	s.stop() // which empties the write-ahead logs of Temporal
	if files := s.scan(t, word); len(files) > 0 {
		t.Errorf("%q still stands in %v", word, files)
	}
}

type answered struct {
	ConversationID string `json:"conversationId"`
	RunID          string `json:"runId"`
}

// citation is how a model cites the first chunk of a document.
func (s *server) citation(t *testing.T, d client.Document) string {
	t.Helper()
	var page struct {
		Data []struct{ ID string }
	}
	s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", nil, &page)
	if len(page.Data) == 0 {
		t.Fatalf("document %s has no chunks", d.ID)
	}
	return ` <citation id="` + page.Data[0].ID + `">[1]</citation>`
}

// bodyOf is what a GET returns.
func (s *server) bodyOf(t *testing.T, path string) string {
	t.Helper()
	_, body := s.raw(t, "GET", path, "", nil)
	return string(body)
}

// forgotten is the answer of conversations/forget.
type forgotten struct{ Conversations, Messages, Runs int }
