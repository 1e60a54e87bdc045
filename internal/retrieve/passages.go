package retrieve

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Passages returns chunks that the principal may read in the form for a model. A
// chunk with a parent stands there with the text of its parent, under its own id: it
// is found and cited, and the parent is read. If a sibling is gone, it stands alone.
// A part of a table follows the table's header. A chunk with Around stands
// there with its neighbours.
func Passages(ctx context.Context, reader PassageReader, p knowledge.Principal, contexts []Context) ([]citation.Context, error) {
	var children []string
	for _, c := range contexts {
		if c.Parent != (knowledge.Span{}) {
			children = append(children, c.ID)
		}
	}
	var families map[string][]knowledge.Chunk
	if len(children) > 0 {
		var err error
		if families, err = reader.Siblings(ctx, p, children); err != nil {
			return nil, fmt.Errorf("read the parents of %d passages: %w", len(children), err)
		}
	}
	around, err := neighbours(ctx, reader, p, contexts)
	if err != nil {
		return nil, err
	}
	passages := make([]citation.Context, 0, len(contexts))
	for _, c := range contexts {
		if c.Page != nil {
			passages = append(passages, citation.Context{Rank: c.Rank, URL: c.Page.URL, Title: c.Page.Title, Text: c.Page.Words(), Score: c.Score})
			continue
		}
		text, whole := parentText(c.Parent, families[c.ID])
		if !whole {
			text = joinedText(c, around)
		}
		text = keptText(c, text)
		passages = append(passages, citation.Context{
			Rank: c.Rank, ChunkID: c.ID, DocumentID: c.DocumentID, DocumentName: c.Document.Name, Text: text, Score: c.Score,
		})
	}
	return passages, nil
}

// parentText joins the texts of a parent's children. whole is false if they are not
// all there.
func parentText(parent knowledge.Span, children []knowledge.Chunk) (text string, whole bool) {
	if len(children) == 0 || children[0].Span.Start != parent.Start || children[len(children)-1].Span.End != parent.End {
		return "", false
	}
	var b strings.Builder
	b.WriteString(withHeader(children[0]))
	for i, c := range children[1:] {
		switch before := children[i]; {
		case c.Ordinal != before.Ordinal+1:
			return "", false
		case c.Span.Start > before.Span.End: // white space that is in neither
			b.WriteByte('\n')
		}
		b.WriteString(c.Text)
	}
	return b.String(), true
}

func withHeader(c knowledge.Chunk) string {
	if c.Header == "" {
		return c.Text
	}
	return c.Header + "\n" + c.Text
}
