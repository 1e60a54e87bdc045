package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestRetentionHistories applies a retention, and checks that its history has ids and counts
// alone.
func TestRetentionHistories(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	s.publishIn(t, "default", "pharology", "The lighthouse has a catadioptric lens.", nil)
	rules := map[string]any{"documents": []map[string]any{{"days": 0, "action": "remove"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"retention": rules}, nil); status != http.StatusOK {
		t.Fatalf("the rules: status %d", status)
	}
	due, err := s.RunRetention(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), due.RunID, nil); err != nil {
		t.Fatal(err)
	}
	workflow := knowledge.KindRetention.WorkflowID("default", "default")
	s.awaitClosed(t, workflow)
	h := s.history(t, workflow)
	for _, word := range []string{"pharology", "lighthouse", "catadioptric"} {
		if strings.Contains(plain(t, h), word) {
			t.Errorf("the history says %q", word)
		}
	}
	if len(h.Events) < 10 {
		t.Errorf("the history has %d events", len(h.Events))
	}
	if *updateHistories {
		record(t, "apply_retention", h)
	}
}
