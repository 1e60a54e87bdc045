package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestCallback asks for an answer by callback.
func TestCallback(t *testing.T) {
	t.Parallel()
	const path = hooks + "/query"
	ask := func(callback any) map[string]any {
		return map[string]any{"text": "How many?", "projectId": "default", "callback": callback}
	}
	t.Run("is_sent_what_a_waiting_request_gets", func(t *testing.T) {
		t.Parallel()
		e, _ := openAnswering(t, record.Answer{Answer: "Yes <b>.", Model: "m"})
		accepted := e.do("POST", path, e.reader, ask(map[string]any{"url": "https://example.com/a", "headers": map[string]string{"X-Trace": "7"}})).want(202)
		wantKeys(t, accepted, "runId", "messageId")
		run := accepted["runId"].(string)

		queue := store.WebhookQueue{Workspace: "default", Project: "default", Webhook: run}
		due, err := e.store.DueDeliveries(t.Context(), queue, time.Now().Add(time.Minute), 8)
		if err != nil || len(due) != 1 || due[0].Type != knowledge.WebhookCallback {
			t.Fatalf("due %+v, %v", due, err)
		}
		hook, _, err := e.store.WebhookOf(t.Context(), queue)
		if err != nil || hook.URL != "https://example.com/a" || hook.Headers == "" {
			t.Fatalf("callback %+v, %v", hook, err)
		}
		deps := api.Deps{Store: e.store, Blobs: e.blobs, Access: e.access, Links: e.work, Clock: time.Now}
		body, err := api.NewAnswers(api.Config{}, deps).Callback(t.Context(), "default", run)
		if err != nil {
			t.Fatal(err)
		}
		var sent, waited map[string]any
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		waited = e.do("POST", path, e.reader, `{"text":"How many?","projectId":"default"}`).want(200)
		for _, own := range []string{"runId", "messageId", "conversationId", "operatorUrl"} {
			if sent[own] == "" {
				t.Errorf("no %s", own)
			}
			delete(sent, own)
			delete(waited, own)
		}
		if diff := cmp.Diff(waited, sent); diff != "" {
			t.Error(diff)
		}
		list := e.do("GET", own+"/webhook_deliveries", e.admin, nil).want(200)["data"].([]any)
		if d := list[0].(map[string]any); len(list) != 1 || d["run_id"] != run || d["type"] != "callback" {
			t.Errorf("deliveries %v", list)
		}
	})
	t.Run("is_refused_where_it_cannot_be_sent", func(t *testing.T) {
		t.Parallel()
		e, _ := openAnswering(t, record.Answer{})
		for want, callback := range map[string]any{
			"body.callback.url":          map[string]any{"url": "ftp://example.com"},
			"body.callback.headers.Host": map[string]any{"url": "https://example.com", "headers": map[string]string{"Host": "a"}},
			"body.callback.headers.X-A":  map[string]any{"url": "https://example.com", "headers": map[string]string{"X-A": "a\nb"}},
			"body.callback.headers":      map[string]any{"url": "https://example.com", "headers": map[string]string{"X A": "a"}},
		} {
			if diff := cmp.Diff([]string{want}, e.do("POST", path, e.reader, ask(callback)).refused(422, knowledge.CodeInvalid)); diff != "" {
				t.Errorf("%v: %s", callback, diff)
			}
		}
	})
	t.Run("is_signed_with_the_projects_secret", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		made := e.do("POST", hooks+"/projects", e.admin, `{"name":"Signed"}`).want(200)
		if secret, _ := made["callbackSecret"].(string); len(secret) < 30 {
			t.Errorf("a new project shows the secret %q", secret)
		}
		if shown := e.do("GET", own+"/projects/signed", e.admin, nil).want(200); shown["callbackSecret"] != nil {
			t.Error("the secret is shown again")
		}
		if set := e.do("PATCH", own+"/projects/signed", e.admin, `{"callbackSecret":"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}`).want(200); set["callbackSecret"] != nil {
			t.Error("a secret that was given is shown")
		}
		if again := e.do("PATCH", own+"/projects/signed", e.admin, `{"callbackSecret":null}`).want(200); again["callbackSecret"] == nil {
			t.Error("a secret that was made is not shown")
		}
		e.do("PATCH", own+"/projects/signed", e.admin, `{"callbackSecret":"short"}`).refused(422, knowledge.CodeInvalid)
	})
}
