package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"go.temporal.io/api/history/v1"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestSubjectHistories exports and erases a user of an application, and checks that the histories
// name neither the user nor what the user left.
func TestSubjectHistories(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	const user = "customer-quillobasalt"
	s.publishIn(t, "default", "pharology", "The lighthouse has a catadioptric lens.", map[string]any{"externalUserId": user})
	other := s.publishIn(t, "default", "kept", "The foghorn of another customer.", map[string]any{"externalUserId": "another"})
	m.ScriptChat(modeltest.Text("It is a lens."))
	var a answered
	if status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "What has the lighthouse?", "projectId": "default", "externalUserId": user}, &a); status != http.StatusOK {
		t.Fatalf("the question: status %d", status)
	}
	export, err := s.ExportSubject(t.Context(), user, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), export, nil); err != nil {
		t.Fatal(err)
	}
	s.wantPlainHistory(t, "export_subject", s.history(t, knowledge.KindExport.WorkflowID("default", export)))
	erase, err := s.EraseSubject(t.Context(), user, true, "asked")
	if err != nil {
		t.Fatal(err)
	}
	e := s.awaitErasure(t, erase)
	if e.Removed["documents"] != 1 || e.Removed["conversations"] != 1 || e.Removed["runs"] != 2 || len(e.KeptByHold) != 0 {
		t.Errorf("the result is %+v", e)
	}
	workflow := knowledge.KindErase.WorkflowID("default", erase)
	s.awaitClosed(t, workflow)
	s.wantPlainHistory(t, "erase_subject", s.history(t, workflow))
	if status := s.call(t, "GET", "/runs/"+export, nil, nil); status != http.StatusNotFound {
		t.Errorf("the export of the user is there: status %d", status)
	}
	if status := s.call(t, "GET", "/workspaces/default/documents/"+other, nil, nil); status != http.StatusOK {
		t.Errorf("the document of another user: status %d", status)
	}
	one := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "one project", "project_id": "default", "scopes": []string{"admin"}})}
	editor := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "editor", "scopes": []string{"write"}})}
	for name, header := range map[string][]string{"a key of one project": one, "an editor": editor} {
		if status := s.call(t, "POST", "/workspaces/default/subjects/ann/erase", map[string]string{"reason": "x"}, nil, header...); status != http.StatusForbidden {
			t.Errorf("%s erases a person: status %d", name, status)
		}
	}
	var run struct{ Result any }
	if s.call(t, "GET", "/runs/"+erase, nil, &run, editor...); run.Result != nil {
		t.Errorf("an editor reads what came of the erasure: %v", run.Result)
	}
}

// wantPlainHistory checks that a history has ids and counts alone, and records it with -update.
func (s *server) wantPlainHistory(t *testing.T, name string, h *history.History) {
	t.Helper()
	for _, word := range []string{"pharology", "lighthouse", "catadioptric", "quillobasalt"} {
		if strings.Contains(plain(t, h), word) {
			t.Errorf("the history %s says %q", name, word)
		}
	}
	if len(h.Events) < 10 {
		t.Errorf("the history %s has %d events", name, len(h.Events))
	}
	if *updateHistories {
		record(t, name, h)
	}
}
