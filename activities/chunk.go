package activities

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// ChunkResult says how many chunks a document has.
type ChunkResult struct {
	Count int `json:"count"`
}

// ChunkDocument cuts the layout into chunks.
func (a *Ingestion) ChunkDocument(ctx context.Context, in StepInput) (ChunkResult, error) {
	var result ChunkResult
	err := a.step(ctx, in, knowledge.StageChunk, func(v store.Version) error {
		var layout knowledge.Layout
		if err := a.Blobs.GetJSON(ctx, blob.StepKey(in.VersionRef, layoutBlob), &layout); err != nil {
			return fmt.Errorf("read layout: %w", err)
		}
		chunks, err := chunk.Split(layout, v.Splitter, in.VersionRef)
		if err != nil {
			return err
		}
		if len(chunks) == 0 {
			return knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the document")
		}
		for i := range chunks {
			chunks[i].Language = v.Language
		}
		if _, err := a.Blobs.PutJSON(ctx, blob.StepKey(in.VersionRef, chunksBlob), chunks); err != nil {
			return fmt.Errorf("store chunks: %w", err)
		}
		result.Count = len(chunks)
		return a.stage(ctx, in.VersionRef, knowledge.StageEmbed, store.Facts{ChunkCount: len(chunks)})
	})
	return result, err
}

func (a *Ingestion) chunks(ctx context.Context, ref knowledge.VersionRef) ([]knowledge.Chunk, error) {
	var chunks []knowledge.Chunk
	if err := a.Blobs.GetJSON(ctx, blob.StepKey(ref, chunksBlob), &chunks); err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}
