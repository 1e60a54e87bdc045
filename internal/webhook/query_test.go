package webhook_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// TestQueryPayload checks that a question has all fields of the seed, whatever is known of it.
func TestQueryPayload(t *testing.T) {
	t.Parallel()
	message := "m1"
	for name, test := range map[string]struct {
		payload webhook.QueryPayload
		want    string
	}{
		"a_question_alone": {
			webhook.QueryPayload{Input: "Why?"},
			`{"input":"Why?","messageId":null,"history":[],"interface":null,"filters":[],"metadata":null,"webhookPayload":null,"allConversationAttachments":[],"newAttachments":[]}`,
		},
		"all_of_it": {
			webhook.QueryPayload{
				Input: "Why?", MessageID: &message, History: []knowledge.Message{{Role: "user", Content: "Who?"}}, Filters: knowledge.Filter{{Field: "tags", Type: "eq", Value: "a"}},
				Interface: json.RawMessage(`"web"`), Metadata: json.RawMessage(`{"a":1}`), WebhookPayload: json.RawMessage(`[2]`),
				AllConversationAttachments: []webhook.Attachment{{ID: "d1", Name: "One"}}, NewAttachments: []webhook.Attachment{{ID: "d1", Name: "One"}},
			},
			`{"input":"Why?","messageId":"m1","history":[{"role":"user","content":"Who?"}],"interface":"web","filters":[{"field":"tags","type":"eq","value":"a"}],"metadata":{"a":1},"webhookPayload":[2],` +
				`"allConversationAttachments":[{"id":"d1","name":"One"}],"newAttachments":[{"id":"d1","name":"One"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := webhook.QueryEnvelope(test.payload, project(), "c1", created)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Payload json.RawMessage `json:"payload"`
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got.Payload)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
