package embedded

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/words"
)

// fts5 returns the term as a quoted FTS5 expression.
func fts5(t words.Term) string {
	quoted := `"` + strings.ReplaceAll(t.Word, `"`, `""`) + `"`
	if t.Prefix {
		return quoted + "*"
	}
	return quoted
}

// anyOf returns an FTS5 expression that matches any of the terms.
func anyOf(terms ...words.Term) string {
	list := make([]string, len(terms))
	for i, t := range terms {
		list[i] = fts5(t)
	}
	return strings.Join(list, " OR ")
}
