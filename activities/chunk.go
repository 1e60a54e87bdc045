package activities

import (
	"context"
	"errors"
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
	defer heartbeat(ctx)()
	var result ChunkResult
	err := a.step(ctx, in, knowledge.StageChunk, func(v store.Version) error {
		chunks, err := a.cut(ctx, v)
		if err != nil {
			return err
		}
		result.Count = len(chunks)
		return a.stage(ctx, in.VersionRef, knowledge.StageEmbed, store.Facts{ChunkCount: len(chunks)})
	})
	return result, err
}

// cut gives the stored chunks of a version, or cuts its layout and stores them.
func (a *Ingestion) cut(ctx context.Context, v store.Version) ([]knowledge.Chunk, error) {
	key := blob.StepKey(v.VersionRef, chunksBlob)
	var chunks []knowledge.Chunk
	err := a.Blobs.GetJSON(ctx, key, &chunks)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return chunks, err
	}
	var layout knowledge.Layout
	if err := a.Blobs.GetJSON(ctx, blob.StepKey(v.VersionRef, layoutBlob), &layout); err != nil {
		return nil, fmt.Errorf("read layout: %w", err)
	}
	if ctx.Err() != nil { // reading took its time, and so does cutting
		return nil, ctx.Err()
	}
	if chunks, err = chunk.Split(layout, v.Splitter, v.VersionRef); err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the document")
	}
	for i := range chunks {
		chunks[i].Language = v.Language
	}
	if _, err := a.Blobs.PutJSON(ctx, key, chunks); err != nil {
		return nil, fmt.Errorf("store chunks: %w", err)
	}
	return chunks, nil
}

func (a *Ingestion) chunks(ctx context.Context, ref knowledge.VersionRef) ([]knowledge.Chunk, error) {
	var chunks []knowledge.Chunk
	if err := a.Blobs.GetJSON(ctx, blob.StepKey(ref, chunksBlob), &chunks); err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}
