package activities

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// EnrichDocument finds out the language of a document.
func (a *Ingestion) EnrichDocument(ctx context.Context, in StepInput) error {
	defer heartbeat(ctx)()
	return a.step(ctx, in, knowledge.StageEnrich, func(store.Version) error {
		var layout knowledge.Layout
		if err := a.Blobs.GetJSON(ctx, blob.StepKey(in.VersionRef, layoutBlob), &layout); err != nil {
			return fmt.Errorf("read layout: %w", err)
		}
		facts := store.Facts{Language: enrich.Undetermined, PageCount: len(layout.Pages)}
		if !strings.HasPrefix(layout.MediaType, "text/x-") { // source code has words of no language
			facts.Language = enrich.Language(chunk.Text(layout))
		}
		return a.stage(ctx, in.VersionRef, knowledge.StageChunk, facts)
	})
}
