package knowledge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestFound(t *testing.T) {
	t.Parallel()
	layout := knowledge.Layout{Metadata: map[string]string{
		"author": "Ann", "duration": "6.5", "ocr_pages": "3", "ocr_languages": "eng+deu", "keywords": "tea, pots; ; kettles ",
		"pages_not_read": "some", "title": strings.Repeat("ä", 600),
	}}
	want := map[string]any{
		"author": "Ann", "duration": 6.5, "ocr_pages": 3.0, "ocr_languages": []any{"eng", "deu"}, "keywords": []any{"tea", "pots", "kettles"},
		"pages_not_read": "some", "title": strings.Repeat("ä", 500),
	}
	if diff := cmp.Diff(want, layout.Found()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := (knowledge.Layout{}).Found(); got != nil {
		t.Errorf("%v", got)
	}
}
