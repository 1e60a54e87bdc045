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
	return chunks, a.storeChunks(ctx, v.VersionRef, chunks)
}

// partChunks is how many chunks one part of a long document's chunks holds. It is
// a multiple of BatchSize.
const partChunks = 8 * BatchSize

func partKey(ref knowledge.VersionRef, first int) string {
	return blob.StepKey(ref, fmt.Sprintf("chunks/%07d.json", first-first%partChunks))
}

// storeChunks stores the chunks of a version in one piece and, before, those of
// a long document in parts: a batch is then read without all the others.
func (a *Ingestion) storeChunks(ctx context.Context, ref knowledge.VersionRef, chunks []knowledge.Chunk) error {
	for first := 0; len(chunks) > partChunks && first < len(chunks); first += partChunks {
		part := chunks[first:min(first+partChunks, len(chunks))]
		if _, err := a.Blobs.PutJSON(ctx, partKey(ref, first), part); err != nil {
			return fmt.Errorf("store chunks from %d: %w", first, err)
		}
	}
	if _, err := a.Blobs.PutJSON(ctx, blob.StepKey(ref, chunksBlob), chunks); err != nil {
		return fmt.Errorf("store chunks: %w", err)
	}
	return nil
}

// batch gives the chunks [First, Last) of a version.
func (a *Ingestion) batch(ctx context.Context, in EmbedInput) ([]knowledge.Chunk, error) {
	key, start := blob.StepKey(in.VersionRef, chunksBlob), 0
	if in.Count > partChunks {
		key, start = partKey(in.VersionRef, in.First), in.First-in.First%partChunks
	}
	var chunks []knowledge.Chunk
	err := a.Blobs.GetJSON(ctx, key, &chunks)
	if errors.Is(err, blob.ErrNotFound) && in.Count > partChunks { // cut before there were parts
		start = 0
		chunks, err = a.chunks(ctx, in.VersionRef)
	}
	if err != nil {
		return nil, fmt.Errorf("read chunks from %d: %w", in.First, err)
	}
	if in.Last-start > len(chunks) {
		return nil, fmt.Errorf("batch %d-%d beyond the %d chunks from %d", in.First, in.Last, len(chunks), start)
	}
	return chunks[in.First-start : in.Last-start], nil
}

func (a *Ingestion) chunks(ctx context.Context, ref knowledge.VersionRef) ([]knowledge.Chunk, error) {
	var chunks []knowledge.Chunk
	if err := a.Blobs.GetJSON(ctx, blob.StepKey(ref, chunksBlob), &chunks); err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}
