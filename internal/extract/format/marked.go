package format

import "github.com/cairn-rag/cairn/internal/knowledge"

// MarkedText is what a text with marks says, such as AsciiDoc and LaTeX.
type MarkedText struct {
	Title, Author string
	Blocks        []knowledge.Block
	Includes      int // files that the text includes, which are left out
}
