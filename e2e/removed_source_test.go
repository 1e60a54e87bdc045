package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
)

// TestRemovedSource shows that the sources of answers that were given before a document was
// removed hold nothing of it, wherever they are shown.
func TestRemovedSource(t *testing.T) {
	t.Parallel()
	s := start(t)
	const words = "The lamp of the lighthouse is cleaned every Tuesday."
	d := s.publish(t, "lighthouse-sheet", words)
	var asked struct {
		ConversationID string `json:"conversationId"`
		RunID          string `json:"runId"`
	}
	s.call(t, "POST", webhooks+"/query", map[string]any{"text": "When is the lamp of the lighthouse cleaned?", "projectId": "default"}, &asked)
	called, err := s.send(t.Context(), "POST", "/tools/rag_search", map[string]any{"query": "When is the lamp of the lighthouse cleaned?", "project_id": "default"})
	if err != nil {
		t.Fatal(err)
	}
	called.Body.Close()
	get := func(path string) string {
		t.Helper()
		_, body := s.raw(t, "GET", path, "", nil)
		return string(body)
	}
	places := map[string]string{
		"the conversation": "/workspaces/default/conversations/" + asked.ConversationID,
		"the run":          "/runs/" + asked.RunID,
		"the events":       "/runs/" + asked.RunID + "/events",
	}
	for name, path := range places {
		if shown := get(path); !strings.Contains(shown, `"documentName":"lighthouse-sheet"`) {
			t.Fatalf("%s does not show the source: %s", name, shown)
		}
	}
	run := called.Header.Get("Cairn-Run-Id")
	if shown := get("/runs/" + run); !strings.Contains(shown, words) || strings.Contains(shown, `"removed":true`) {
		t.Fatalf("the run of the tool does not show the passage: %s", shown)
	}
	if err := removeAndWait(t, s, d); err != nil {
		t.Fatal(err)
	}
	t.Run("the run of a tool", func(t *testing.T) {
		var shown struct {
			Result struct {
				Contexts []struct {
					TextPreview string `json:"text_preview"`
					Removed     bool   `json:"removed"`
				} `json:"contexts"`
			} `json:"result"`
		}
		s.call(t, "GET", "/runs/"+run, nil, &shown)
		if contexts := shown.Result.Contexts; len(contexts) != 1 || !contexts[0].Removed || contexts[0].TextPreview != "" {
			t.Errorf("the passages are %+v", contexts)
		}
	})
	for name, path := range places {
		t.Run(name, func(t *testing.T) {
			shown := get(path)
			sources := 0
			for _, part := range strings.Split(shown, `"sources":[`)[1:] {
				var source map[string]any
				if err := json.NewDecoder(strings.NewReader(part)).Decode(&source); err != nil {
					continue // a list without sources
				}
				sources++
				chunk, _ := source["chunkId"].(string)
				want := map[string]any{
					"rank": 1.0, "chunkId": chunk, "documentId": d.ID, "documentName": "", "externalId": "", "text": "", "score": source["score"], "heading": []any{},
					"pageNumber": nil, "bbox": []any{}, "startTime": nil, "endTime": nil, "usedInResponse": source["usedInResponse"], "removed": true,
				}
				if diff := cmp.Diff(want, source); diff != "" || chunk == "" {
					t.Error(diff)
				}
			}
			if sources == 0 || strings.Contains(shown, "lighthouse-sheet") {
				t.Errorf("%d sources; want some, and no name of the document: %s", sources, shown)
			}
		})
	}
}

func removeAndWait(t *testing.T, s *server, d client.Document) error {
	t.Helper()
	var removed struct {
		RunID string `json:"runId"`
	}
	s.call(t, "DELETE", "/workspaces/default/documents/"+d.ID, nil, &removed)
	_, err := s.Wait(t.Context(), removed.RunID, nil)
	return err
}
