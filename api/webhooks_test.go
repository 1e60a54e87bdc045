package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const defaultProject = own + "/projects/default"

// webhooksOf are the webhooks in the view of a project.
func webhooksOf(project map[string]any) (list []map[string]any) {
	webhooks, _ := project["webhooks"].([]any)
	for _, w := range webhooks {
		list = append(list, w.(map[string]any))
	}
	return list
}

// hook gives the default project one webhook, with these fields.
func (e *edge) hook(fields string) map[string]any {
	e.t.Helper()
	body := `{"webhooks":[{"url":"https://receiver.test/x","types":["documents_created","documents_deleted"]` + fields + `}]}`
	return webhooksOf(e.do("PATCH", defaultProject, e.admin, body).want(200))[0]
}

func TestSecretsOfWebhooks(t *testing.T) {
	t.Parallel()

	t.Run("a secret is made and shown once", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		made := e.hook("")
		wantKeys(t, made, "id", "url", "types", "enabled", "hasApiKey", "secret")
		secret, _ := made["secret"].(string)
		if !strings.HasPrefix(secret, "whsec_") || len(secret) < 40 || made["enabled"] != true || made["hasApiKey"] != false {
			t.Errorf("webhook %v", made)
		}
		for _, shown := range []answer{
			e.do("GET", defaultProject, e.admin, nil), e.do("GET", own+"/projects", e.admin, nil), e.do("PATCH", defaultProject, e.admin, `{"name":"x"}`),
		} {
			if strings.Contains(string(shown.body), "secret") || !strings.Contains(string(shown.body), "receiver.test") {
				t.Errorf("later: %s", shown.body)
			}
		}
	})

	t.Run("secrets are nowhere readable", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		const secret, key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "key-of-theirs"
		made := e.hook(`,"secret":"` + secret + `","apiKey":"` + key + `"`)
		if made["secret"] != nil || made["hasApiKey"] != true {
			t.Errorf("webhook %v", made)
		}
		e.do("POST", hooks+"/projects", e.admin, `{"id":"default","webhooks":[{"url":"https://receiver.test/y","types":["documents_created"],"secret":"`+secret+`"}]}`, "Idempotency-Key", "once").want(200)
		e.close()
		files, err := filepath.Glob(e.database + "*")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		var all []byte
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
		for name, text := range map[string]string{"the database": string(all), "the log": e.log.String()} {
			for _, word := range []string{"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", key} {
				if strings.Contains(text, word) {
					t.Errorf("%s holds %s", name, word)
				}
			}
		}
	})

	t.Run("a repeated request gets the secret once more", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		body := `{"name":"Hooked","webhooks":[{"url":"https://receiver.test/","types":["documents_created"]}]}`
		first := e.do("POST", hooks+"/projects", e.admin, body, "Idempotency-Key", "k").want(200)
		second := e.do("POST", hooks+"/projects", e.admin, body, "Idempotency-Key", "k").want(200)
		if s := webhooksOf(first)[0]["secret"]; s == nil || s != webhooksOf(second)[0]["secret"] || first["id"] != second["id"] {
			t.Errorf("first %v, then %v", first, second)
		}
		e.unanswered(e.admin, "k")
		third := e.do("POST", hooks+"/projects", e.admin, body, "Idempotency-Key", "k").want(200)
		w := webhooksOf(third)
		if len(w) != 1 || w[0]["id"] != webhooksOf(first)[0]["id"] || w[0]["secret"] == nil || third["id"] != first["id"] {
			t.Errorf("after the answer was lost: %v", third)
		}
	})
}

func TestWebhooks(t *testing.T) {
	t.Parallel()

	t.Run("a change keeps what it does not name", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		made := e.hook(`,"apiKey":"k","enabled":false`)
		if made["enabled"] != false {
			t.Errorf("webhook %v", made)
		}
		byURL := e.hook("")
		byID := webhooksOf(e.do("PATCH", defaultProject, e.admin,
			fmt.Sprintf(`{"webhooks":[{"id":%q,"url":"https://elsewhere.test/","types":["documents_updated","documents_updated"]}]}`, made["id"])).want(200))[0]
		for _, w := range []map[string]any{byURL, byID} {
			if w["id"] != made["id"] || w["secret"] != nil || w["hasApiKey"] != true || w["enabled"] != false {
				t.Errorf("changed: %v", w)
			}
		}
		if byID["url"] != "https://elsewhere.test/" || len(byID["types"].([]any)) != 1 {
			t.Errorf("changed: %v", byID)
		}
		if w := webhooksOf(e.do("PATCH", defaultProject, e.admin, fmt.Sprintf(`{"webhooks":[{"id":%q,"url":"https://elsewhere.test/","types":["documents_updated"],"apiKey":"","enabled":true}]}`, made["id"])).want(200))[0]; w["hasApiKey"] != false || w["enabled"] != true {
			t.Errorf("changed: %v", w)
		}
		if two := webhooksOf(e.do("PATCH", defaultProject, e.admin, `{"webhooks":[{"url":"https://elsewhere.test/","types":["documents_updated"]},{"url":"https://elsewhere.test/","types":["documents_updated"]}]}`).want(200)); len(two) != 2 || two[0]["id"] != made["id"] || two[1]["secret"] == nil {
			t.Errorf("two of one address: %v", two)
		}
		if gone := e.do("PATCH", defaultProject, e.admin, `{"webhooks":null}`).want(200); gone["webhooks"] != nil {
			t.Errorf("removed: %v", gone)
		}
	})

	t.Run("readers do not see them", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.hook("")
		if p := e.do("GET", defaultProject, e.reader, nil).want(200); p["webhooks"] != nil {
			t.Errorf("a reader sees %v", p["webhooks"])
		}
		e.do("GET", own+"/webhook_deliveries", e.reader, nil).refused(403, knowledge.CodeForbidden)
		e.do("POST", own+"/webhook_deliveries/x/redeliver", e.reader, nil).refused(403, knowledge.CodeForbidden)
	})

	t.Run("what cannot work is refused", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		const at = `{"webhooks":[{"url":"https://receiver.test/","types":["documents_created"]`
		for body, want := range map[string][2]string{
			`{"webhooks":[{"url":"https://receiver.test/","types":["documents_moved"]}]}`:       {"body.webhooks[0].types", "documents_deleted"},
			`{"webhooks":[{"url":"https://receiver.test/","types":["others"]}]}`:                {"body.webhooks[0].types", "documents_created"},
			`{"webhooks":[{"url":"https://receiver.test/","types":[]}]}`:                        {"body.webhooks[0].types", ""},
			`{"webhooks":[{"types":["documents_created"]}]}`:                                    {"body.webhooks[0]", ""},
			`{"webhooks":[{"url":"ftp://receiver.test/","types":["documents_created"]}]}`:       {"body.webhooks[0].url", ""},
			`{"webhooks":[{"url":"http://127.0.0.1:80/","types":["documents_created"]}]}`:       {"body.webhooks[0].url", ""},
			`{"webhooks":[{"url":"https://u:p@receiver.test/","types":["documents_created"]}]}`: {"body.webhooks[0].url", ""},
			at + `,"secret":"short"}]}`: {"body.webhooks[0].secret", "whsec_"},
			at + `,"apiKey":"a\nb"}]}`:  {"body.webhooks[0].apiKey", ""},
			at + `,"required":true}]}`:  {"body.webhooks[0].required", "queries"},
			at + `,"id":"unknown"}]}`:   {"body.webhooks[0].id", ""},
			at + `,"unknown":1}]}`:      {"body.webhooks[0].unknown", ""},
			`{"webhooks":[` + strings.Repeat(`{"url":"https://receiver.test/","types":["documents_created"]},`, 20) + `{"url":"https://receiver.test/","types":["documents_created"]}]}`: {"body.webhooks", "20"},
		} {
			r := e.do("PATCH", defaultProject, e.admin, body)
			if locations := r.refused(422, knowledge.CodeInvalid); !slices.Contains(locations, want[0]) || !strings.Contains(string(r.body), want[1]) {
				t.Errorf("%s: %v, want %v", body, locations, want)
			}
		}
		if p := e.do("GET", defaultProject, e.admin, nil).want(200); p["webhooks"] != nil {
			t.Errorf("something was stored: %v", p["webhooks"])
		}
		e.do("POST", hooks+"/query", e.admin, `{"text":"x","projectConfigOverride":{"webhooks":[]}}`).refused(422, knowledge.CodeInvalid)
	})
}

// tell lets the default project have events of two documents, and returns the ids of
// the documents.
func (e *edge) tell() (a, b string) {
	e.t.Helper()
	for name, id := range map[string]*string{"a": &a, "b": &b} {
		*id = e.add(e.editor, name, "text of "+name)
		v := e.dispatched(*id)
		if _, err := e.store.PrepareVersion(e.t.Context(), v.VersionRef, v.RunID, 0, knowledge.StageExtract, 0, store.Facts{}); err != nil {
			e.t.Fatal(err)
		}
	}
	return a, b
}

func TestWebhookDeliveries(t *testing.T) {
	t.Parallel()
	e := open(t)
	subscription := e.hook("")
	a, b := e.tell()
	deliveries := own + "/webhook_deliveries"
	list := func(query string) []any {
		return e.do("GET", deliveries+query, e.editor, nil).want(200)["data"].([]any)
	}

	t.Run("they are listed by pages, project, document and status", func(t *testing.T) {
		first := list("")[0].(map[string]any)
		wantKeys(t, first, "id", "event_id", "type", "project_id", "document_id", "subscription_id", "status", "attempts", "http_status", "error",
			"next_attempt_at", "created_at", "ended_at")
		if first["type"] != "documents_created" || first["status"] != "pending" || first["subscription_id"] != subscription["id"] || first["next_attempt_at"] == nil || first["ended_at"] != nil {
			t.Errorf("delivery %v", first)
		}
		for query, want := range map[string]int{
			"": 2, "?project_id=default": 2, "?document_id=" + a: 1, "?status=pending": 2, "?status=failed": 0, "?limit=1": 1,
		} {
			if got := list(query); len(got) != want {
				t.Errorf("%s lists %d, want %d", query, len(got), want)
			}
		}
		page := e.do("GET", deliveries+"?limit=1", e.editor, nil).want(200)
		rest := e.do("GET", deliveries+"?limit=1&cursor="+page["next_cursor"].(string), e.editor, nil).want(200)
		if rest["next_cursor"] != nil || rest["data"].([]any)[0].(map[string]any)["id"] == first["id"] {
			t.Errorf("the second page: %v", rest)
		}
		e.do("GET", deliveries+"?status=lost", e.editor, nil).refused(422, knowledge.CodeInvalid)
		e.do("GET", deliveries+"?project_id=none", e.editor, nil).refused(404, knowledge.CodeNotFound)
	})

	t.Run("an answer that is an error is shown with its document", func(t *testing.T) {
		q := store.WebhookQueue{Workspace: "default", Project: "default", Webhook: subscription["id"].(string)}
		due, err := e.store.DueDeliveries(t.Context(), q, time.Now(), 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			attempt := store.DeliveryAttempt{Delivery: d, Status: store.DeliveryFailed, HTTPStatus: 422, Error: "the address answered 422", At: time.Now()}
			attempt.Answer = &knowledge.WebhookAnswer{Status: "error", Message: "no room for " + d.DocumentID}
			if err := e.store.EndAttempt(t.Context(), attempt); err != nil {
				t.Fatal(err)
			}
		}
		errs := e.do("GET", own+"/documents/"+b, e.reader, nil)
		if strings.Contains(string(errs.body), "no room") {
			t.Error("a reader sees a document that is not published")
		}
		shown := e.do("GET", own+"/documents/"+b, e.editor, nil).want(200)["webhookErrors"].([]any)[0].(map[string]any)
		wantKeys(t, shown, "webhook", "type", "message", "at")
		if shown["message"] != "no room for "+b {
			t.Errorf("error %v", shown)
		}
		d := list("?document_id=" + b)[0].(map[string]any)
		answered := d["answer"].(map[string]any)
		if d["status"] != "failed" || d["error"] != "the address answered 422" || d["http_status"] != 422.0 || answered["status"] != "error" ||
			answered["error"].(map[string]any)["message"] != "no room for "+b || d["next_attempt_at"] != nil || d["ended_at"] == nil {
			t.Errorf("delivery %v", d)
		}
	})

	t.Run("one can be made again", func(t *testing.T) {
		before := list("?document_id=" + a)[0].(map[string]any)
		path := deliveries + "/" + before["id"].(string) + "/redeliver"
		e.do("POST", path, e.stranger, nil).refused(404, knowledge.CodeNotFound)
		e.do("POST", deliveries+"/none/redeliver", e.editor, nil).refused(404, knowledge.CodeNotFound)
		again := e.do("POST", path, e.editor, nil).want(202)
		if again["status"] != "pending" || again["event_id"] != before["event_id"] || again["attempts"] != 0.0 || again["error"] != nil {
			t.Errorf("redelivered %v", again)
		}
		e.hook(`,"enabled":false`)
		if d := list("?document_id=" + a)[0].(map[string]any); d["status"] != "canceled" {
			t.Errorf("with its webhook disabled: %v", d)
		}
		e.do("POST", path, e.editor, nil).refused(409, knowledge.CodeConflict)
	})
}
