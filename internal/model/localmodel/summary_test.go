package localmodel_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// TestSummary has the offline model sum up a conversation with Cairn's own prompt.
func TestSummary(t *testing.T) {
	t.Parallel()
	system, user := prompt.Summary("He asks about leave.", []knowledge.Message{{Role: "user", Content: "How many days?"}, {Role: "assistant", Content: "Thirty " + strings.Repeat("long ", 100)}})
	text := prompt.SummaryIn(answer(t, []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}}))
	for _, want := range []string{"He asks about leave.", "user: How many days?", "assistant: Thirty long"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary %q lacks %q", text, want)
		}
	}
	if len(text) > 500 {
		t.Errorf("the summary has %d bytes", len(text))
	}
}
