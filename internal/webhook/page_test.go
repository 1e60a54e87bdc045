package webhook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// TestPage compares docs/webhooks.md with the code: the request that it shows, the
// types and the headers.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	p, d := project(), document()
	second := created.Truncate(time.Second)
	p.Config.AI.Prompt, p.CreatedAt, p.UpdatedAt = "", second, second
	d.ID, d.CreatedAt, d.UpdatedAt = "0e1c8a8e-5c1d-5a55-9a0f-6f2d3b1c4e5f", second, second
	event := webhook.Event{Type: knowledge.WebhookCreated, DocumentID: d.ID, Document: d, At: created}
	body, err := webhook.Envelope(event, p, func(string) string { return "http://127.0.0.1:8233/…" })
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(indented.String(), "\n"), strings.Split(strings.TrimSpace(example), "\n")); diff != "" {
		t.Errorf("the request of the page (-code +page):\n%s", diff)
	}
	for _, word := range []string{"`webhook-id`", "`webhook-timestamp`", "`webhook-signature`", "`knowledge-project-apiKey`", "no answer within 20 s"} {
		if !bytes.Contains(page, []byte(word)) {
			t.Errorf("the page does not say %s", word)
		}
	}
	for _, kind := range knowledge.WebhookTypes() {
		if !bytes.Contains(page, []byte("| `"+string(kind)+"` |")) {
			t.Errorf("the page has no row for %s", kind)
		}
	}
}
