package prompt

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Document fences a part of a document for a model that reads it alone.
func Document(text string) string {
	return "<source_1>\n" + fence(text) + "\n</source_1>"
}

// Listed returns the line of a document in a list.
func Listed(d knowledge.Document) string {
	line := fmt.Sprintf("<document id=\"%s\" name=\"%s\" type=\"%s\" created=\"%s\"", attribute(d.ID), attribute(d.Name), attribute(d.MediaType), d.CreatedAt.Format("2006-01-02"))
	if d.PageCount > 0 {
		line += fmt.Sprintf(" pages=\"%d\"", d.PageCount)
	}
	if len(d.Tags) > 0 {
		line += fmt.Sprintf(" tags=\"%s\"", attribute(strings.Join(d.Tags, ", ")))
	}
	return line + "/>\n"
}
