package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDocumentSummary(t *testing.T) {
	t.Parallel()
	e := open(t)
	const path = own + "/documents/summary"
	e.publish(e.add(e.editor, "published", "some text", map[string]any{"access": map[string]any{"workspace": true}}))
	e.failed("outage", knowledge.CodeProviderFailed)
	e.failed("outage too", knowledge.CodeProviderFailed)
	corrupt := e.failed("corrupt", knowledge.CodeCorrupt)
	v := e.dispatched(e.add(e.editor, "waits", "some text"))
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := e.store.SetWaiting(t.Context(), v.VersionRef, &knowledge.Waiting{Since: since, Code: knowledge.CodeRateLimited, Message: "it has a limit"}); err != nil {
		t.Fatal(err)
	}
	got := e.do("GET", path, e.editor, nil)
	describedBy(e).check(t, "GET", path, got)
	found := got.want(200)
	if diff := cmp.Diff(map[string]any{"published": 1.0, "error": 3.0, "pending": 1.0}, found["by_status"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{map[string]any{"code": "rate_limited", "message": "it has a limit", "count": 1.0, "since": "2026-03-01T12:00:00Z"}}, found["waiting"]); diff != "" {
		t.Error(diff)
	}
	codes := found["by_code"].([]any)
	first, second := codes[0].(map[string]any), codes[1].(map[string]any)
	if first["code"] != "provider_failed" || first["count"] != 2.0 || first["action"] != "retry" || first["repair"] != "see that the endpoint of the model answers (cairn doctor asks it)" {
		t.Errorf("%v", first)
	}
	if second["code"] != "corrupt" || second["example_id"] != corrupt || second["action"] != "acknowledge" || second["repair"] != "upload an intact file" {
		t.Errorf("%v", second)
	}
	e.do("POST", own+"/documents/acknowledge", e.editor, `{"filter":{"code":"corrupt"}}`).want(200)
	last := e.do("GET", path, e.editor, nil).want(200)["by_code"].([]any)[1]
	if diff := cmp.Diff(map[string]any{"code": "corrupt", "count": 0.0, "acknowledged": 1.0}, last); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"by_status": map[string]any{"published": 1.0}, "by_code": []any{}, "waiting": []any{}}, e.do("GET", path, e.reader, nil).want(200)); diff != "" {
		t.Errorf("of a reader:\n%s", diff)
	}
	e.do("GET", path, e.stranger, nil).want(404)
	e.do("GET", path, "", nil).refused(401, knowledge.CodeUnauthorized)
}
