package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestTextsThatLeaveByOtherDoorsHaveTheirRows reads a document as a visitor of an agent, by a link to
// a conversation, by A2A, as the trial of a step, and as the cells of a table. Each answer has the words
// of the document, and its entries name the document.
func TestTextsThatLeaveByOtherDoorsHaveTheirRows(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	beacon := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	s.putPublication(t, nil)
	v := s.visit(t)
	run, talk, text := v.asked(t, "What does the beacon burn?", "")
	chunk := firstChunk(t, text)
	var share struct{ URL string }
	if status := s.call(t, "POST", "/agents/guide/conversations/"+talk+"/shares", map[string]any{"days": 1}, &share, v.header...); status >= 300 {
		t.Fatalf("share: status %d", status)
	}
	const trial = "/workspaces/default/projects/default/pipeline/try"
	warm := map[string]any{"step": map[string]any{"at": "before_prompt", "code": map[string]any{"language": "python", "source": "print('{}')"}}, "question": "warm?"}
	if status := s.call(t, "POST", trial, warm, nil); status != http.StatusOK { // the first code after a start waits for the check of the sandbox
		t.Fatalf("try: status %d", status)
	}
	_, token, _ := strings.Cut(share.URL, "#share=")
	anonymous := []string{"Authorization", ""}
	const step = `{"at": "extracted", "code": {"language": "python", "source": "print('{}')"}}`
	left := []seen{
		s.pass(t, "GET", "/agents/guide/runs/"+run+"/events", "", v.header...),
		s.pass(t, "GET", "/agents/guide/conversations/"+talk, "", v.header...),
		s.pass(t, "GET", "/agents/guide/chunks/"+chunk, "", v.header...),
		s.pass(t, "GET", "/agents/guide/shared/"+token, "", anonymous...),
		s.pass(t, "POST", "/agents/guide/a2a", `{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "one", "role": "ROLE_USER", "parts": [{"text": "What does the beacon burn?"}]}}}`, anonymous...),
		s.pass(t, "POST", trial, fmt.Sprintf(`{"step": %s, "document_id": %q}`, step, beacon)),
		s.pass(t, "POST", trial, `{"step": {"at": "before_prompt", "code": {"language": "python", "source": "print('{}')"}}, "question": "What does the beacon burn?"}`),
	}
	entries, _ := s.audit(t, "default")
	for _, one := range left {
		wantRowOf(t, one, entries, "whale oil", beacon)
	}
	s.wantRowOfCells(t, m)
}

// wantRowOf checks that an answer has words of a document, and that an entry of its request names it.
func wantRowOf(t *testing.T, one seen, entries map[string][]auditEntry, words, document string) {
	t.Helper()
	if !strings.Contains(one.text, words) {
		t.Errorf("%s %s: status %d without the words: %.500s", one.method, one.path, one.status, one.text)
	}
	if !slices.ContainsFunc(entries[one.request], func(e auditEntry) bool { return slices.Contains(e.Details.Documents, document) }) {
		t.Errorf("%s %s: the audit has %+v", one.method, one.path, entries[one.request])
	}
}

// firstChunk returns the first passage that the events of an answer name.
func firstChunk(t *testing.T, events string) string {
	t.Helper()
	_, rest, there := strings.Cut(events, `"chunkId":"`)
	if !there {
		t.Fatalf("no event names a passage: %.3000s", events)
	}
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// wantRowOfCells has a model read the cells of a table: the entries of the question name the document.
func (s *server) wantRowOfCells(t *testing.T, m *modeltest.Server) {
	t.Helper()
	s.makesTables(t)
	d := s.sendFile(t, "sales.csv", []byte("Date,Region,Product,Amount\n2023-01-01,Tourmaline,Pump,12.50\n"))
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "sum", Name: "query_table", Arguments: `{"document":"sales.csv","sql":"SELECT region FROM sales"}`}), modeltest.Text("It is Tourmaline [1]."))
	asked := s.pass(t, "POST", webhooks+"/query", `{"text": "Which region is sold in?", "projectId": "default", "sse": true}`)
	entries, _ := s.audit(t, "default")
	wantRowOf(t, asked, entries, "Tourmaline", d.ID)
}

// TestCellsOfATableGoWithTheirDocument has two people ask for a cell, and takes the document from one of
// them: his answer shows the cell no longer on any route, and the other one's does.
func TestCellsOfATableGoWithTheirDocument(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.makesTables(t)
	d := s.sendFile(t, "sales.csv", []byte("Date,Region,Product,Amount\n2023-01-01,Tourmaline,Pump,12.50\n"))
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	header := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})}
	pages := map[string][]string{}
	for _, user := range []string{"ann", "bob"} {
		m.ScriptChat(modeltest.Call(model.ToolCall{ID: "sum", Name: "query_table", Arguments: `{"document":"sales.csv","sql":"SELECT region FROM sales"}`}), modeltest.Text("It is a stone [1]."))
		var a answered
		body := map[string]any{"text": "Which region is sold in?", "projectId": "default", "userId": user}
		if status := s.call(t, "POST", webhooks+"/query", body, &a, header...); status != http.StatusOK {
			t.Fatalf("%s: status %d", user, status)
		}
		pages[user] = []string{"/runs/" + a.RunID + "/events", "/runs/" + a.RunID, "/workspaces/default/conversations/" + a.ConversationID}
	}
	wants := func(user string, shown bool) {
		t.Helper()
		for _, page := range pages[user] {
			res, text := s.raw(t, "GET", page+"?userId="+user, "", nil, header...)
			if res.StatusCode != http.StatusOK || strings.Contains(string(text), "Tourmaline") != shown {
				t.Errorf("%s of %s: status %d, the cell is to be shown: %t", page, user, res.StatusCode, shown)
			}
		}
	}
	wants("ann", true)
	wants("bob", true)
	if status := s.call(t, "PATCH", "/workspaces/default/documents/"+d.ID, map[string]any{"access": map[string]any{"users": []string{"bob"}}}, nil); status != http.StatusOK {
		t.Fatalf("access: status %d", status)
	}
	wants("ann", false)
	wants("bob", true)
}
