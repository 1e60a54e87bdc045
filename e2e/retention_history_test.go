package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// startRetention sets the rules of the default project, and starts a run that applies them.
func (s *server) startRetention(t *testing.T, rules map[string]any) client.RetentionDue {
	t.Helper()
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"retention": rules}, nil); status != http.StatusOK {
		t.Fatalf("the rules: status %d", status)
	}
	due, err := s.RunRetention(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

// TestRetentionHistories applies a retention, and checks that its history has ids and counts
// alone.
func TestRetentionHistories(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	s.publishIn(t, "default", "pharology", "The lighthouse has a catadioptric lens.", nil)
	due := s.startRetention(t, map[string]any{"documents": []map[string]any{{"days": 0, "action": "remove"}}})
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

// TestRetentionAfterAKill kills the server as soon as it has accepted a retention. The server that
// starts again on the same folder completes it.
func TestRetentionAfterAKill(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	for i := range 12 {
		s.publishIn(t, "default", fmt.Sprint("old-", i), fmt.Sprintf("Text %d is old.", i), map[string]any{"tags": []string{"draft"}})
	}
	s.publishIn(t, "default", "kept", "This one is kept.", nil)
	due := s.startRetention(t, map[string]any{"documents": []map[string]any{{"tag": "draft", "days": 0, "action": "remove"}}})
	if due.Documents != 12 {
		t.Fatalf("%+v", due)
	}
	s.kill()
	s.restart()
	await(t, time.Minute, "the retention is completed", func(context.Context) error {
		var run struct{ Status string }
		var list struct{ Data []struct{ ExternalID string } }
		s.call(t, "GET", "/runs/"+due.RunID, nil, &run)
		s.call(t, "GET", "/workspaces/default/documents", nil, &list)
		if run.Status != "completed" || len(list.Data) != 1 || list.Data[0].ExternalID != "kept" {
			return fmt.Errorf("the run is %s, and %d documents are left", run.Status, len(list.Data))
		}
		return nil
	})
}
