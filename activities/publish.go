package activities

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// PublishInput names the vectors of a version, in the order of its chunks.
type PublishInput struct {
	StepInput
	Embeddings []string `json:"embeddings"`
}

// PublishResult says whether readers see the version now; if not, it was
// removed meanwhile or a newer one is published.
type PublishResult struct {
	Published bool `json:"published"`
}

// PublishDocument writes a version beside the one that readers see, and switches
// to it in one update.
func (a *Ingestion) PublishDocument(ctx context.Context, in PublishInput) (PublishResult, error) {
	defer heartbeat(ctx)()
	var result PublishResult
	err := a.step(ctx, in.StepInput, knowledge.StagePublish, func(v store.Version) error {
		if v.Removing {
			return nil
		}
		if err := a.onItsWay(ctx, in.VersionRef, knowledge.StagePublish, 0); err != nil {
			return err
		}
		if err := a.write(ctx, in, v); err != nil {
			return err
		}
		published, err := a.Versions.Publish(ctx, in.VersionRef)
		if err != nil {
			return fmt.Errorf("switch to version %d: %w", in.Version, err)
		}
		if result.Published = published.Done; !published.Done {
			return nil
		}
		// Readers see it: a cancel comes too late.
		// Somebody may have changed its tags or permissions while it was written.
		if err := a.Attributes.Follow(context.WithoutCancel(ctx), in.Document); err != nil {
			return fmt.Errorf("update index attributes: %w", err)
		}
		return nil
	})
	return result, err
}

// IsPublished reports whether readers see a version whose publishing failed or
// was canceled: the switch may have come before that.
func (a *Ingestion) IsPublished(ctx context.Context, in StepInput) (bool, error) {
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, a.fail(ctx, in, fmt.Errorf("read version: %w", err))
	}
	return v.Status == knowledge.StatusPublished && !v.Removing, nil
}

// RetireVersions takes away what older versions than a published one left.
func (a *Ingestion) RetireVersions(ctx context.Context, in StepInput) error {
	defer heartbeat(ctx)()
	if err := a.retire(ctx, in.VersionRef); err != nil {
		return a.fail(ctx, in, err)
	}
	return nil
}

// write puts the chunks and index entries of a version in place, unseen. The
// entries go batch by batch, so that the vectors of a long document are never
// all in memory.
func (a *Ingestion) write(ctx context.Context, in PublishInput, v store.Version) error {
	chunks, err := a.chunks(ctx, in.VersionRef)
	if err != nil {
		return err
	}
	if err := a.Versions.PutChunks(ctx, in.VersionRef, chunks); err != nil {
		return fmt.Errorf("write chunks: %w", err)
	}
	written := 0
	for _, key := range in.Embeddings {
		data, err := a.Blobs.Get(ctx, key)
		if err != nil {
			return fmt.Errorf("read vectors: %w", err)
		}
		vectors, err := decodeVectors(data)
		if err != nil {
			return err
		}
		last := written + len(vectors)
		if last > len(chunks) {
			return fmt.Errorf("%d vectors and more for %d chunks", last, len(chunks))
		}
		if err := a.Index.Upsert(ctx, entries(v, chunks[written:last], vectors)); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		written = last
	}
	if written != len(chunks) {
		return fmt.Errorf("%d vectors for %d chunks", written, len(chunks))
	}
	return nil
}

func entries(v store.Version, chunks []knowledge.Chunk, vectors [][]float32) []index.Entry {
	list := make([]index.Entry, 0, len(chunks))
	for i, c := range chunks {
		list = append(list, index.Entry{
			ChunkID: c.ID, Workspace: v.Workspace, Project: v.Project, DocumentID: v.Document,
			Version: v.Version, Ordinal: c.Ordinal, Text: chunk.EmbeddingText(c, v.Name), Vector: vectors[i],
			Tags: v.Tags, ACL: v.ACL, Language: v.Language, Classification: v.Classification,
			Name: v.Name, Metadata: v.Metadata, CreatedAt: v.DocumentCreatedAt,
		})
	}
	return list
}

// retire takes the entries, chunks and bytes of older versions away, their
// originals among them.
func (a *Ingestion) retire(ctx context.Context, ref knowledge.VersionRef) error {
	if err := a.Index.RemoveVersions(ctx, ref.Workspace, ref.Document, ref.Version); err != nil {
		return fmt.Errorf("remove old index entries: %w", err)
	}
	if err := a.Versions.RetireChunks(ctx, ref); err != nil {
		return fmt.Errorf("retire old chunks: %w", err)
	}
	originals, err := a.Versions.RetiredSources(ctx, ref)
	if err != nil {
		return fmt.Errorf("list old originals: %w", err)
	}
	prefix := blob.DocumentPrefix(ref.Workspace, ref.Project, ref.Document)
	_, err = a.Blobs.DeletePrefix(ctx, prefix, func(key string, _ time.Time) bool {
		step, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		if version, err := strconv.Atoi(step); err == nil {
			return version >= ref.Version
		}
		return !slices.Contains(originals, key)
	})
	if err != nil {
		return fmt.Errorf("remove old blobs: %w", err)
	}
	return nil
}
