package answering

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// resolveGiven finds the documents that the passages of a webhook name, as far as the asker may read
// them. A passage whose words stand in a chunk of its document is that chunk.
func (a *AskingWebhooks) resolveGiven(ctx context.Context, request knowledge.Request, given []webhook.GivenChunk) (map[int]record.KnownDocument, error) {
	known := map[int]record.KnownDocument{}
	chunks := map[string][]knowledge.Chunk{} // by document
	for i, g := range given {
		if g.Value.KnowledgeID == "" || a.Library == nil {
			continue
		}
		d, err := a.Library.Document(ctx, request.Principal.Reader(), g.Value.KnowledgeID)
		if knowledge.IsCode(err, knowledge.CodeNotFound) { // a name of the webhook's own
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read document %s of a webhook: %w", g.Value.KnowledgeID, err)
		}
		one := record.KnownDocument{ID: d.ID, Name: d.Name}
		if _, read := chunks[d.ID]; !read {
			if chunks[d.ID], err = (fileTools{a.library}).chunks(ctx, request, d.ID); err != nil {
				return nil, err
			}
		}
		content := plainSpaces(g.Value.Content)
		for _, c := range chunks[d.ID] {
			if content != "" && strings.Contains(plainSpaces(c.Text), content) {
				one.ChunkID, one.Version = c.ID, c.Version
				break
			}
		}
		known[i] = one
	}
	return known, nil
}

func plainSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }
