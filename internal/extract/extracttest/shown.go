package extracttest

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

// Shown writes a text with marks, and its blocks with their kind, so that a difference can
// be read.
func Shown(d format.MarkedText) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s, author: %s, includes: %d\n", d.Title, d.Author, d.Includes)
	for _, block := range d.Blocks {
		fmt.Fprintf(&b, "%s", block.Kind)
		if block.Level > 0 {
			fmt.Fprintf(&b, " %d", block.Level)
		}
		fmt.Fprintf(&b, ": %s\n", strings.ReplaceAll(block.Text, "\n", "\n    "))
	}
	return b.String()
}
