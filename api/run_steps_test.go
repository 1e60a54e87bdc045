package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestRunSteps lists the steps of a question for those who may read its answer.
func TestRunSteps(t *testing.T) {
	t.Parallel()
	e := open(t)
	run := e.do("POST", hooks+"/query", e.editor, `{"text":"a question","stream":true}`).want(202)["runId"].(string)
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e.work.steps = []record.Step{{
		Name: "model call 1", Activity: "CallModel", Began: began, Started: began.Add(3 * time.Second), Ended: began.Add(5 * time.Second),
		Status: knowledge.RunCompleted, Attempts: 2, Cause: knowledge.CodeRateLimited, Usage: knowledge.Usage{PromptTokens: 7, CompletionTokens: 2, ModelCalls: 1},
	}}
	want := []any{map[string]any{
		"name": "model call 1", "activity": "CallModel", "status": "completed", "created_at": "2026-03-01T12:00:00Z", "started_at": "2026-03-01T12:00:03Z",
		"ended_at": "2026-03-01T12:00:05Z", "seconds": 5.0, "last_seconds": 2.0, "attempts": 2.0, "code": "rate_limited",
		"usage": map[string]any{"prompt_tokens": 7.0, "completion_tokens": 2.0, "model_calls": 1.0},
	}}
	path := own + "/runs/" + run + "/steps"
	for _, key := range []string{e.editor, e.admin} {
		if diff := cmp.Diff(want, e.do("GET", path, key, nil).want(200)["data"].([]any)); diff != "" {
			t.Errorf("steps (-want +got):\n%s", diff)
		}
	}
	e.do("GET", path, e.reader, nil).want(404)
	e.do("GET", path, e.stranger, nil).want(404)
	ingest := e.do("POST", hooks+"/document", e.editor, `{"name":"a.txt","content":{"text":"one"}}`).want(202)["runId"].(string)
	if got := e.do("GET", own+"/runs/"+ingest+"/steps", e.editor, nil).want(200)["data"].([]any); len(got) != 0 {
		t.Errorf("an ingest has the steps %v", got)
	}
}
