package enrich_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/enrich"
)

func TestReadPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"Markdown":              {"\n# Title\n\nText\n", "# Title\n\nText"},
		"in a fence":            {"```markdown\n# Title\n```", "# Title"},
		"with a fence":          {"```\na\n```\n\n```\nb\n```", "```\na\n```\n\n```\nb\n```"},
		"code alone":            {"```go\nx := 1\n```", "```go\nx := 1\n```"},
		"an empty page":         {"(Empty page)", ""},
		"a fence without a end": {"```markdown\n# Title", "```markdown\n# Title"},
	} {
		if got := enrich.ReadPage(c.answer); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestReadPicture(t *testing.T) {
	t.Parallel()
	if got := enrich.ReadPicture(strings.Repeat("é", 10_000)); utf8.RuneCountInString(got) != 2000 {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}
