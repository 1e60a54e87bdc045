package api_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestAModelsRateLimitReachesTheAsker ends questions because their model takes no more
// requests for an hour.
func TestAModelsRateLimitReachesTheAsker(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour).UTC().Round(time.Second)
	a := &answering{failed: &knowledge.Failure{Code: knowledge.CodeRateLimited, Message: "the model's endpoint is limiting requests", RetryAt: at}}
	e := a.open(t)
	hour := func(t *testing.T, got answer) {
		t.Helper()
		if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != 429 || err != nil || seconds < 3500 || seconds > 3601 {
			t.Errorf("%d, Retry-After %q: %s", got.status, got.header.Get("Retry-After"), got.body)
		}
	}
	description := describedBy(e)
	for name, ask := range map[string]struct{ path, body string }{
		"a question":       {hooks + "/query", `{"text":"Who?"}`},
		"rag_search":       {"/tools/rag_search", `{"query":"Who?"}`},
		"a completion":     {"/v1/chat/completions", `{"model":"project:default","messages":[{"role":"user","content":"Who?"}]}`},
		"one that streams": {"/v1/chat/completions", `{"model":"project:default","stream":true,"messages":[{"role":"user","content":"Who?"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do("POST", ask.path, e.reader, ask.body)
			hour(t, got)
			description.check(t, "POST", ask.path, got)
		})
	}
	for name, stream := range map[string]string{"a forwarded completion": "false", "a forwarded stream": "true"} {
		t.Run(name, func(t *testing.T) {
			e.models.ScriptChat(modeltest.Fail(429, "Retry-After", "7"))
			got := e.do("POST", "/v1/chat/completions", e.reader, `{"model":"`+e.models.Endpoint().Model+`","stream":`+stream+`,"messages":[{"role":"user","content":"Who?"}]}`)
			got.openaiError(429, "rate_limit_error", knowledge.CodeRateLimited)
			if after := got.header.Get("Retry-After"); after != "7" {
				t.Errorf("Retry-After %q", after)
			}
		})
	}
	t.Run("the run says it too", func(t *testing.T) {
		run := e.do("GET", "/runs/"+a.last().Run, e.reader, nil).want(200)["error"].(map[string]any)
		if run["code"] != "rate_limited" || run["retry_at"] != at.Format(time.RFC3339) {
			t.Errorf("%v", run)
		}
	})
}
