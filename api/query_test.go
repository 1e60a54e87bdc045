package api_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestQueryForWhatIsNotThere sends what clients of the seed routes send.
func TestQueryForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	e := open(t)
	ask := func(more map[string]any) answer {
		body := map[string]any{"text": "How many days of leave are there?", "projectId": "default"}
		maps.Copy(body, more)
		return e.do("POST", hooks+"/query", e.reader, body)
	}
	for _, more := range []map[string]any{
		{"stream": true},
		{"callback": map[string]any{"url": "https://example.com/answers"}},
		{"attachments": []any{map[string]any{"name": "a.txt"}}},
		{"deepResearch": true, "sse": true},
	} {
		ask(more).refused(501, knowledge.CodeNeedsComponent)
	}
	// Set to nothing they do not matter.
	none := map[string]any{"text": "", "stream": true, "sse": true, "callback": map[string]any{}, "attachments": []any{}, "deepResearch": false}
	if diff := cmp.Diff([]string{"body.text"}, ask(none).refused(422, knowledge.CodeInvalid)); diff != "" {
		t.Error(diff)
	}
}
