package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestApprovalOverAKill kills the server while two tool calls wait for a person. They wait
// still after the restart, and the model is told of the refusal and of the other's output.
func TestApprovalOverAKill(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	change := map[string]any{"tools": map[string]any{"approval": []string{"documents_rag"}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
	search := func(id, query string) model.ToolCall {
		return model.ToolCall{ID: id, Name: "documents_rag", Arguments: `{"query":"` + query + `"}`}
	}
	m.ScriptChat(modeltest.Call(search("north", "northern pier"), search("south", "southern pier")), modeltest.Text("Done."))
	a := s.query(t, "What is on the piers?")
	r := &reader{run: a.run, body: a}
	r.until(t, func(list []event) bool { return len(statuses(t, list)) == 2 })
	s.kill()
	s.restart()

	calls := "/runs/" + a.run + "/calls/"
	approve, refuse := map[string]any{"decision": "approve"}, map[string]any{"decision": "refuse", "reason": "nobody may know"}
	s.refuses(t, "POST", calls+"other", approve, http.StatusConflict, knowledge.CodeConflict)
	for call, decision := range map[string]any{"north": refuse, "south": approve} {
		if status := s.call(t, "POST", calls+call, decision, nil); status != http.StatusOK {
			t.Fatalf("%s: status %d", call, status)
		}
	}
	s.refuses(t, "POST", calls+"north", approve, http.StatusConflict, knowledge.CodeConflict)
	r.reconnect(t, s, never)
	got := map[string]string{}
	for _, status := range statuses(t, r.list) {
		got[status.ID] += status.Status + " "
		if status.Status == "refused" && status.Summary != "nobody may know" {
			t.Errorf("the reader is told %q of the refusal", status.Summary)
		}
	}
	if got["north"] != "waiting refused " || got["south"] != "waiting started completed " {
		t.Errorf("the calls went %v", got)
	}
	requests := m.Requests()
	told := map[string]string{}
	for _, message := range requests[len(requests)-1].Messages {
		told[message.ToolCallID] = string(message.Content)
	}
	if !strings.Contains(told["north"], "nobody may know") || !strings.Contains(told["south"], "foghorn") {
		t.Errorf("the model is told %q", told)
	}
}

// callStatus is the part of a toolCall event that says how a call stands.
type callStatus struct{ ID, Status, Summary string }

// statuses returns the statuses of the toolCall events, in their order.
func statuses(t *testing.T, list []event) []callStatus {
	t.Helper()
	var all []callStatus
	for _, e := range list {
		if e.Name == "toolCall" {
			var s callStatus
			e.decode(t, &s)
			all = append(all, s)
		}
	}
	return all
}
