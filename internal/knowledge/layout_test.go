package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestHeaderWithinEndsAtACell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		header string
		most   int
		want   string
	}{
		{"name | price", 12, "name | price"},
		{"name | price", 11, "name"},
		{"name | price", 4, "name"},
		{"name | price", 3, ""},
		{"größe | preis", 5, "größe"},
		{"größe | preis | ort", 13, "größe | preis"},
		{"one cell", 3, ""},
		{"", 0, ""},
	} {
		if got := knowledge.HeaderWithin(tc.header, tc.most); got != tc.want {
			t.Errorf("%q within %d is %q, want %q", tc.header, tc.most, got, tc.want)
		}
	}
}
