package webhook_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// created is when the events of these tests happened.
var created = time.Date(2024, 1, 15, 10, 30, 0, 123456789, time.UTC)

func project() knowledge.Project {
	p := knowledge.Project{ID: "handbook", Workspace: "acme", Name: "Handbook", CreatedAt: created, UpdatedAt: created}
	p.Config.AI.Prompt = "Answer from ${context}."
	p.Webhooks = []knowledge.Webhook{{ID: "w1", URL: "https://receiver.test/?token=t", Secret: "v1:sealed", APIKey: "v1:sealed too"}}
	return p
}

func document() *knowledge.Document {
	return &knowledge.Document{
		ID: "d1", Workspace: "acme", Project: "handbook", ExternalID: "notes/1", Name: "One", MediaType: "text/plain", Bytes: 12,
		Status: knowledge.StatusPending, Stage: knowledge.StageExtract, Progress: 0.1, Version: 1, Language: "und", Tags: []string{"blue"},
		Access: knowledge.Access{Workspace: true}, ConversationID: "", CreatedAt: created, UpdatedAt: created,
	}
}

func operator(id string) string { return "http://operator.test/" + id }

// envelope returns the envelope of an event as a map.
func envelope(t *testing.T, e webhook.Event) map[string]any {
	t.Helper()
	data, err := webhook.Envelope(e, project(), operator)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sealed", "receiver.test"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("the envelope says %q", secret)
		}
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEnvelope(t *testing.T) {
	t.Parallel()

	t.Run("it has the fields of the seed, and no others", func(t *testing.T) {
		t.Parallel()
		m := envelope(t, webhook.Event{Type: knowledge.WebhookCreated, DocumentID: "d1", Document: document(), At: created})
		payload, shown := m["payload"].(map[string]any), m["project"].(map[string]any)
		delete(m, "payload")
		delete(m, "project")
		want := map[string]any{"type": "documents_created", "projectId": "handbook", "createdAt": "2024-01-15T10:30:00.123Z", "sessionId": ""}
		if diff := cmp.Diff(want, m); diff != "" {
			t.Error(diff)
		}
		for field, want := range map[string]any{
			"id": "d1", "externalId": "notes/1", "name": "One", "mediaType": "text/plain", "bytes": 12.0, "status": "pending", "version": 1.0,
			"tags": []any{"blue"}, "metadata": map[string]any{}, "createdAt": "2024-01-15T10:30:00.123456789Z", "operatorUrl": "http://operator.test/ingest/acme/d1",
		} {
			if diff := cmp.Diff(want, payload[field]); diff != "" {
				t.Errorf("payload.%s: %s", field, diff)
			}
		}
		if ai := shown["ai"].(map[string]any); shown["id"] != "handbook" || ai["prompt"] != "Answer from ${context}." || ai["textSplitter"] == nil {
			t.Errorf("project %v", shown)
		}
	})
	t.Run("the document of a conversation names its session", func(t *testing.T) {
		t.Parallel()
		d := document()
		d.ConversationID = "talk"
		if m := envelope(t, webhook.Event{Type: knowledge.WebhookUpdated, DocumentID: "d1", Document: d, At: created}); m["sessionId"] != "talk" || m["type"] != "documents_updated" {
			t.Errorf("envelope %v", m)
		}
	})
	t.Run("a deletion has the document's id", func(t *testing.T) {
		t.Parallel()
		m := envelope(t, webhook.Event{Type: knowledge.WebhookDeleted, DocumentID: "d1", At: created})
		if diff := cmp.Diff(map[string]any{"id": "d1"}, m["payload"]); diff != "" || m["type"] != "documents_deleted" {
			t.Errorf("%v, payload %s", m["type"], diff)
		}
	})
	t.Run("of a document that was removed since nothing but its id is told", func(t *testing.T) {
		t.Parallel()
		m := envelope(t, webhook.Event{Type: knowledge.WebhookCreated, DocumentID: "d1", At: created})
		if diff := cmp.Diff(map[string]any{"id": "d1", "status": "deleting"}, m["payload"]); diff != "" {
			t.Error(diff)
		}
	})
}
