package e2e_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// lights are documents with words that stand in no request.
var lights = map[string]string{
	"cleaned every Tuesday": "document", "sounds twice a minute": "imported", "Leave is 30 days": "leave", "burns whale oil": "beacon",
}

// TestEveryTextThatLeavesHasItsRow requests every route of openapi.json through a proxy that
// notes what leaves. Each answer with words of a document has an entry that names the document,
// each change and each refusal has one, and the audit holds none of the words.
func TestEveryTextThatLeavesHasItsRow(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	things := s.things(t, m)
	things["beacon"] = s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	var listed struct{ Data []struct{ ID, Name string } }
	s.call(t, "GET", "/workspaces/default/documents", nil, &listed)
	for _, d := range listed.Data {
		for name, thing := range map[string]string{"note.txt": "imported", "leave.md": "leave"} {
			if strings.HasSuffix(d.Name, name) {
				things[thing] = d.ID
			}
		}
	}
	var answered struct{ RunID, ConversationID string }
	question := map[string]any{"text": "What does the beacon burn?", "projectId": "default"}
	if status := s.call(t, "POST", webhooks+"/query", question, &answered); status != http.StatusOK {
		t.Fatalf("question: status %d", status)
	}
	things["run_id"], things["conversation"] = answered.RunID, answered.ConversationID
	left := append(s.passAll(t, things), s.callTool(t))
	left = append(left, s.refusals(t, things)...)
	entries, text := s.audit(t, "default")
	wantRows(t, left, entries, things)
	for words := range lights {
		if strings.Contains(text, words) {
			t.Errorf("the audit has words of a document: %s", words)
		}
	}
	if strings.Contains(text, "What does the beacon burn") {
		t.Error("the audit has the words of a question")
	}
	if !strings.Contains(text, "question_sha256") {
		t.Error("the audit has no hash of a question")
	}
	var report struct {
		Entries int64
		Broken  json.RawMessage
	}
	if s.call(t, "GET", "/workspaces/default/audit/verify", nil, &report); report.Entries < 150 || string(report.Broken) != "null" {
		t.Errorf("verified: %d entries, broken %s", report.Entries, report.Broken)
	}
}

// passAll requests every route: first those that read, then those that change, those that
// remove last.
func (s *server) passAll(t *testing.T, things things) (left []seen) {
	t.Helper()
	var description struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.call(t, "GET", "/openapi.json", nil, &description)
	routes := append(s.namingRoutes(t), asking()...)
	for path, methods := range description.Paths {
		for method := range methods {
			if !strings.Contains(strings.ReplaceAll(path, "{workspaceId}", ""), "{") {
				routes = append(routes, namingRoute{method: strings.ToUpper(method), path: path})
			}
		}
	}
	rank := func(r namingRoute) int {
		isAsking := strings.Contains(r.body, "beacon") || strings.Contains(r.body, "lamp")
		return slices.Index([]bool{r.method == "GET", isAsking, r.method != "DELETE" && !strings.Contains(r.path, "remove"), true}, true)
	}
	slices.SortStableFunc(routes, func(a, b namingRoute) int { // the routes of openapi.json come in no order
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.path, b.path), strings.Compare(a.method, b.method))
	})
	for _, r := range routes {
		body := r.body
		if body == "" && r.method != "GET" && r.method != "DELETE" {
			body = "{}"
		}
		path := parameter.ReplaceAllString(things.in(strings.ReplaceAll(r.path, "{workspaceId}", "default")), "absent")
		if path == "/auth/session" && r.method == "DELETE" || strings.HasPrefix(path, "/workspaces/default/keys") && r.method == "DELETE" {
			continue // the test needs its key
		}
		left = append(left, s.pass(t, r.method, path, things.in(body), r.header...))
	}
	if len(left) < 190 {
		t.Errorf("%d routes were requested", len(left))
	}
	return left
}

// asking are requests whose answers have texts of documents.
func asking() []namingRoute {
	const hooks = "/workspaces/{workspaceId}/webhooks"
	return []namingRoute{
		{"POST", hooks + "/query", "", `{"text": "What does the beacon burn?", "projectId": "default"}`, 0, nil},
		{"POST", hooks + "/query", "", `{"text": "What does the beacon burn?", "projectId": "default", "sse": true}`, 0, nil},
		{"POST", hooks + "/retrieve-context", "", `{"text": "What does the beacon burn?"}`, 0, nil},
		{"POST", hooks + "/retrieve-context?explain=true", "", `{"text": "What does the beacon burn?"}`, 0, nil},
		{"POST", "/tools/rag_search", "", `{"query": "What does the beacon burn?", "project_id": "default"}`, 0, nil},
		{"POST", "/tools/rag_search", "", `{"query": "What does the beacon burn?", "project_id": "default", "sse": true}`, 0, nil},
		{"POST", hooks + "/v1/chat/completions", "", `{"model": "project:default", "messages": [{"role": "user", "content": "What does the beacon burn?"}]}`, 0, nil},
		{"POST", hooks + "/v1/chat/completions", "", `{"model": "project:default", "stream": true, "messages": [{"role": "user", "content": "What does the beacon burn?"}]}`, 0, nil},
		{"POST", "/v1/responses", "", `{"model": "project:default", "input": "What does the beacon burn?", "include": ["file_search_call.results"]}`, 0, nil},
		{"POST", "/v1/vector_stores/default/search", "", `{"query": "What does the beacon burn?"}`, 0, nil},
		{"GET", "/workspaces/{workspaceId}/documents/{beacon}/content", "", "", 0, nil},
		{"GET", "/workspaces/{workspaceId}/documents/{imported}/parsed", "", "", 0, nil},
	}
}

// callTool calls a tool over MCP, whose answer has texts of documents.
func (s *server) callTool(t *testing.T) (left seen) {
	t.Helper()
	header := []string{"Accept", "application/json, text/event-stream"}
	for _, message := range []string{
		`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`,
		`{"jsonrpc": "2.0", "method": "notifications/initialized"}`,
		`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "rag_search", "arguments": {"query": "What does the beacon burn?"}}}`,
	} {
		if left = s.pass(t, "POST", "/mcp", message, header...); left.session != "" {
			header = append(header, "Mcp-Session-Id", left.session)
		}
	}
	if !strings.Contains(left.text, "burns whale oil") {
		t.Errorf("the tool answered %.300s", left.text)
	}
	return left
}

// refusals are requests without the right to do what they ask for.
func (s *server) refusals(t *testing.T, things things) []seen {
	t.Helper()
	reader := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})}
	stranger := []string{"Authorization", "Bearer " + s.otherKey(t)}
	return []seen{
		s.pass(t, "POST", "/workspaces/default/keys", `{"name": "a", "scopes": ["admin"]}`, reader...),
		s.pass(t, "GET", "/workspaces/default/audit", "", reader...),
		s.pass(t, "GET", "/workspaces/default/members", "", reader...), // a list that is not in the audit otherwise
		s.pass(t, "GET", things.in("/chunks/{chunk_id}"), "", "Authorization", "Bearer wrong"),
		s.pass(t, "POST", "/auth/session", `{"key": "wrong"}`, "Authorization", ""),
		s.pass(t, "GET", "/workspaces/default/audit", "", stranger...),
	}
}

// wantRows compares what left with the entries.
func wantRows(t *testing.T, left []seen, entries map[string][]auditEntry, things things) {
	t.Helper()
	var all []auditEntry
	for _, list := range entries {
		all = append(all, list...)
	}
	texts := map[string]bool{}
	for _, one := range left {
		if one.request == "" {
			continue
		}
		rows, name := entries[one.request], one.method+" "+one.path
		if strings.HasPrefix(one.path, "/mcp") {
			rows = all // of the requests of its tools
		}
		for words, document := range lights {
			if !strings.Contains(one.text, words) {
				continue
			}
			texts[name] = true
			if !slices.ContainsFunc(rows, func(e auditEntry) bool {
				isFile := document == "leave" && e.Object == things["file"] // which the document was made of
				return isFile || slices.Contains(e.Details.Documents, things[document])
			}) {
				t.Errorf("%s: the text of %s left, and the audit has %+v", name, document, rows)
			}
		}
		isRefusal := one.status == http.StatusUnauthorized || one.status == http.StatusForbidden
		storesNothing := strings.HasPrefix(one.path, "/mcp") || strings.HasSuffix(one.path, "/visits")
		isChange := one.method != "GET" && one.status < 300 && !storesNothing
		if (isRefusal || isChange) && len(rows) == 0 && !strings.Contains(one.text, "another workspace") {
			t.Errorf("%s: status %d, and the audit has no row", name, one.status)
		}
	}
	t.Logf("texts left by %d routes", len(texts))
	if len(texts) < 15 {
		t.Errorf("texts left by %d routes alone: %v", len(texts), texts)
	}
}
