package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestAnotherWorkspace lets the administrator of one workspace try to reach what
// belongs to another.
func TestAnotherWorkspace(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	a := s.upload(t, "lighthouse", "The lamp of the lighthouse is cleaned every Tuesday.")
	if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
		t.Fatal(err)
	}
	before := s.witness(t, a.ID)
	if len(before.passages) != 1 {
		t.Fatalf("the passage is found as %v", before.passages)
	}
	var answer client.Answer
	if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": witnessQuestion, "projectId": "default"}, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	document, chunk, run, conversation := a.ID, before.passages[0].ID, answer.RunID, answer.ConversationID
	asStranger := []string{"Authorization", "Bearer " + s.otherKey(t)}

	t.Run("is not found by its ids", func(t *testing.T) {
		for _, workspace := range []string{"default", "other"} {
			own := "/workspaces/" + workspace
			for _, r := range []struct {
				method, path string
				body         any
			}{
				{"GET", own + "/documents/" + document, nil},
				{"GET", own + "/documents/" + document + "/content", nil},
				{"GET", own + "/documents/" + document + "/chunks", nil},
				{"GET", own + "/documents/" + document + "/versions", nil},
				{"PATCH", own + "/documents/" + document, map[string]any{"tags": []string{"taken"}}},
				{"DELETE", own + "/documents/" + document, nil},
				{"DELETE", own + "/webhooks/document?projectId=default&id=" + document, nil},
				{"POST", own + "/documents/" + document + "/reingest", nil},
				{"GET", own + "/runs/" + run, nil},
				{"POST", own + "/runs/" + run + "/cancel", nil},
				{"GET", own + "/runs/" + run + "/events", nil},
				{"GET", "/runs/" + a.RunID + "/events", nil},
				{"GET", "/runs/" + run, nil},
				{"GET", "/chunks/" + chunk, nil},
				{"GET", "/chunks/" + chunk + "?quote=lamp", nil},
				{"GET", own + "/conversations/" + conversation, nil},
				{"DELETE", own + "/conversations/" + conversation, nil},
				{"POST", own + "/webhooks/query", map[string]any{"text": "lamp", "projectId": "default", "conversationId": conversation}},
				{"POST", "/tools/rag_search", map[string]any{"query": "lamp", "document_ids": []string{document}}},
				{"POST", "/tools/rag_search", map[string]any{"query": "lamp", "session_id": conversation}},
			} {
				if s.refuses(t, r.method, r.path, r.body, http.StatusNotFound, knowledge.CodeNotFound, asStranger...); t.Failed() {
					t.Fatalf("that was %s %s", r.method, r.path)
				}
			}
		}
	})

	t.Run("is not found by a search", func(t *testing.T) {
		for _, filters := range [][]map[string]any{
			nil,
			{{"field": "documentId", "type": "eq", "value": document}},
			{{"field": "documentId", "type": "nin", "value": []string{"none"}}},
			{{"field": "name", "type": "contains", "value": "light"}},
		} {
			var found struct{ Chunks []passage }
			body := map[string]any{"text": witnessQuestion, "filters": filters, "numberOfChunks": 100}
			status := s.call(t, "POST", "/workspaces/other/webhooks/retrieve-context", body, &found, asStranger...)
			if status != http.StatusOK || len(found.Chunks) != 0 {
				t.Errorf("filters %v: status %d, %v", filters, status, found.Chunks)
			}
		}
	})

	t.Run("is not listed", func(t *testing.T) {
		for _, list := range []string{"documents", "runs", "conversations"} {
			var page struct{ Data []any }
			if status := s.call(t, "GET", "/workspaces/other/"+list, nil, &page, asStranger...); status != http.StatusOK || len(page.Data) != 0 {
				t.Errorf("%s: status %d, %v", list, status, page.Data)
			}
			s.refuses(t, "GET", "/workspaces/default/"+list, nil, http.StatusNotFound, knowledge.CodeNotFound, asStranger...)
		}
	})

	t.Run("is as it was", func(t *testing.T) {
		after := s.witness(t, document)
		if diff := cmp.Diff(before.document, after.document); diff != "" {
			t.Errorf("the document changed (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(before.passages, after.passages); diff != "" {
			t.Errorf("its passages changed (-before +after):\n%s", diff)
		}
		for _, path := range []string{"/runs/" + run, "/chunks/" + chunk, "/workspaces/default/conversations/" + conversation} {
			if status := s.call(t, "GET", path, nil, nil); status != http.StatusOK {
				t.Errorf("GET %s returns %d to its owner", path, status)
			}
		}
	})
}

// otherKey creates workspace other and returns a key with every scope in it.
func (s *server) otherKey(t *testing.T) string {
	t.Helper()
	if status := s.call(t, "POST", "/workspaces", map[string]any{"id": "other", "name": "Other"}, nil); status != http.StatusCreated {
		t.Fatalf("workspace other: status %d", status)
	}
	var made struct{ Key string }
	body := map[string]any{"name": "stranger", "scopes": []string{"read", "write", "admin"}}
	if status := s.call(t, "POST", "/workspaces/other/keys", body, &made); status != http.StatusCreated || made.Key == "" {
		t.Fatalf("key of workspace other: status %d", status)
	}
	return made.Key
}
