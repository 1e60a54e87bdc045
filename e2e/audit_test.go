package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"
)

// auditEntry is an entry of the audit.
type auditEntry struct {
	Seq       int64
	At        time.Time
	Actor     string
	Action    string
	Object    string
	Outcome   string
	RequestID string `json:"request_id"`
	Address   string
	Details   struct {
		Status         int
		For, Question  string
		Session, Link  bool
		Documents      []string
		Objects        []string // of a change that a workflow made by itself
		QuestionSHA256 string   `json:"question_sha256"`
		Workspace      string
	}
}

// audit reads the whole audit of a workspace.
func (s *server) audit(t *testing.T, workspace string) (byRequest map[string][]auditEntry, text string) {
	t.Helper()
	res, answer := s.raw(t, "GET", "/workspaces/"+workspace+"/audit?format=jsonl", "", nil)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("audit: status %d, %.300s", res.StatusCode, answer)
	}
	byRequest = map[string][]auditEntry{}
	for line := range bytes.Lines(answer) {
		var e auditEntry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		byRequest[e.RequestID] = append(byRequest[e.RequestID], e)
	}
	return byRequest, string(answer)
}

// seen is an answer as the proxy of a test saw it leave.
type seen struct {
	method, path string
	status       int
	request      string // its id
	text         string
	session      string // of MCP
}

// pass sends a request, and notes what leaves within some seconds: some answers are streams
// that do not end.
func (s *server) pass(t *testing.T, method, path, body string, header ...string) seen {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	mediaType, content := "application/json", []byte(body)
	switch body {
	case "":
		mediaType = ""
	case "form":
		mediaType, content = form(t, nil, file{"taken.txt", []byte("taken")})
	}
	r, err := http.NewRequestWithContext(ctx, method, s.ends.API+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
		return seen{method: method, path: path}
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body) // a stream is cut off
	return seen{method, path, res.StatusCode, res.Header.Get("Cairn-Request-Id"), string(text), res.Header.Get("Mcp-Session-Id")}
}

// TestAuditEntries checks what the entries of some requests say.
func TestAuditEntries(t *testing.T) {
	t.Parallel()
	s := start(t, "CAIRN_AUDIT__QUESTIONS=text")
	document := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	key := s.newKey(t, map[string]any{"name": "application", "scopes": []string{"read"}})
	asked := s.pass(t, "POST", webhooks+"/retrieve-context?userId=ann", `{"text": "What does the beacon burn?"}`, "Authorization", "Bearer "+key)
	made := s.pass(t, "POST", "/workspaces/default/keys", `{"name": "b", "scopes": ["read"]}`)
	signed := s.pass(t, "POST", "/auth/session", fmt.Sprintf(`{"key": %q}`, key), "Authorization", "")
	wrong := s.pass(t, "POST", "/auth/session", `{"key": "wrong"}`, "Authorization", "")
	var keys struct{ Data []struct{ ID, Name string } }
	s.call(t, "GET", "/workspaces/default/keys", nil, &keys)
	of := map[string]string{}
	for _, k := range keys.Data {
		of[k.Name] = "key:" + k.ID
	}
	entries, _ := s.audit(t, "default")
	one := func(from seen) auditEntry {
		if len(entries[from.request]) != 1 {
			t.Fatalf("%s %s has the entries %+v", from.method, from.path, entries[from.request])
		}
		return entries[from.request][0]
	}
	e := one(asked)
	if e.Actor != of["application"] || e.Details.For != "user:ann" || e.Action != "retrieve-context" || e.Outcome != "ok" || e.Address != "127.0.0.1" || e.Details.Status != http.StatusOK {
		t.Errorf("a search: %+v", e)
	}
	if !slices.Equal(e.Details.Documents, []string{document}) || e.Details.Question != "What does the beacon burn?" || len(e.Details.QuestionSHA256) != 64 {
		t.Errorf("a search: %+v", e.Details)
	}
	if e = one(made); "key:"+e.Object != of["b"] || e.Action != "create-key" || e.Details.Status != http.StatusCreated {
		t.Errorf("a new key: %+v", e)
	}
	if e = one(signed); e.Actor != of["application"] || e.Action != "sign-in" || e.Outcome != "ok" {
		t.Errorf("a sign-in: %+v", e)
	}
	if e = one(wrong); e.Actor != "anonymous" || e.Outcome != "unauthorized" {
		t.Errorf("a refused sign-in: %+v", e)
	}
}

// TestAuditOutlivesAKill kills the server behind answers: their rows are there.
func TestAuditOutlivesAKill(t *testing.T) {
	t.Parallel()
	s := start(t)
	document := s.publishIn(t, "default", "beacon", "The beacon of the harbour burns whale oil.", nil)
	var left []seen
	for range 5 {
		left = append(left, s.pass(t, "GET", "/workspaces/default/documents/"+document+"/content", ""), s.pass(t, "POST", webhooks+"/retrieve-context", `{"text": "What does the beacon burn?"}`))
	}
	changed := s.pass(t, "PATCH", "/workspaces/default/documents/"+document, `{"tags": ["harbour"]}`)
	s.kill()
	s.boot()
	entries, _ := s.audit(t, "default")
	for _, one := range left {
		rows := entries[one.request]
		if len(rows) != 1 || !slices.Contains(rows[0].Details.Documents, document) {
			t.Errorf("%s %s: the audit has %+v", one.method, one.path, rows)
		}
	}
	if rows := entries[changed.request]; len(rows) != 1 || rows[0].Object != document {
		t.Errorf("the change: the audit has %+v", rows)
	}
}
