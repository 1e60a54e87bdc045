package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// TestDroppedQuestions removes a document and hides another one after the questions about them were
// planned, and has the model refuse to write about a third one. Their questions are counted by these
// reasons, and the model is shown none of the two.
func TestDroppedQuestions(t *testing.T) {
	t.Parallel()
	const atATime = 4
	q := &questionWriter{names: pierNames(16)}
	refused, planned := q.names[7], make(chan struct{})
	m := standIn(t, modeltest.Options{Reply: func(r protocol.ChatRequest) modeltest.Reply {
		reply := q.reply(r)
		if strings.Contains(string(r.Messages[0].Content), "You write questions") && strings.Contains(string(r.Messages[len(r.Messages)-1].Content), "The pier of "+refused) {
			reply = modeltest.Fail(http.StatusBadRequest)
		}
		reply.Until = planned
		return reply
	}})
	s := start(t, at(m.URL())...)
	ids := publishPiers(t, s, q.names)
	editor := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "editor", "scopes": []string{"read", "write"}})}
	var begun struct {
		RunID string `json:"run_id"`
	}
	if status := s.call(t, "POST", "/workspaces/default/test_sets/generate", map[string]any{"model": modeltest.ModelName, "count": 60}, &begun, editor...); status != http.StatusAccepted {
		t.Fatalf("generate: status %d", status)
	}
	if err := m.Wait(t.Context(), func(seen modeltest.Totals) bool { return seen.Chats.Asked == atATime }); err != nil {
		t.Fatal(err)
	}
	gone := slices.DeleteFunc(slices.Clone(q.names), func(name string) bool { return name == refused || q.wasShown(name) })[:2]
	if status := s.call(t, "DELETE", "/workspaces/default/documents/"+ids[gone[0]], nil, nil); status != http.StatusOK {
		t.Fatalf("remove: status %d", status)
	}
	if status := s.call(t, "PATCH", "/workspaces/default/documents/"+ids[gone[1]], map[string]any{"access": map[string]any{"users": []string{"nobody"}}}, nil); status != http.StatusOK {
		t.Fatalf("hide: status %d", status)
	}
	close(planned)
	ended := s.generationEnds(t, begun.RunID)
	t.Logf("%+v", ended.Progress)
	if dropped := ended.Progress.Dropped; ended.Status != "completed" || dropped["gone"] < 2 || dropped["refused"] == 0 || dropped["failed"] > 0 {
		t.Errorf("it is %s, %+v, %+v", ended.Status, ended.Progress, ended.Error)
	}
	for _, name := range gone {
		if q.wasShown(name) {
			t.Errorf("the model was shown the passage about %s, which is gone", name)
		}
	}
}

// wasShown reports whether the model was shown the passage about a pier.
func (q *questionWriter) wasShown(name string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(q.said, func(said string) bool { return strings.Contains(said, "The pier of "+name+" has") })
}
