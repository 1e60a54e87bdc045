package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// PublishInput publishes a version that has Count chunks. End, if there is one, is
// the whole log of its run, the last item among them: the step that publishes
// then ends the run too.
type PublishInput struct {
	StepInput
	Count int           `json:"count"`
	End   []stream.Item `json:"end,omitempty"`
}

// PublishResult says whether readers see the version now; if not, it was
// removed meanwhile or a newer one is published.
type PublishResult struct {
	Published bool `json:"published"`
	Ended     bool `json:"ended,omitempty"` // the run too
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
		if !activity.GetInfo(ctx).IsLocalActivity {
			if err := a.noteStage(ctx, in.VersionRef, knowledge.StagePublish, 0, store.Facts{}); err != nil {
				return err
			}
		}
		publication, err := a.write(ctx, in, v)
		if err != nil {
			return err
		}
		if in.End != nil {
			if publication.End, err = a.endOfRun(ctx, in); err != nil {
				return err
			}
		}
		published, err := a.Versions.PublishVersion(ctx, publication)
		if err != nil {
			return fmt.Errorf("switch to version %d: %w", in.Version, err)
		}
		if result.Published = published.Done; !published.Done {
			return nil
		}
		if in.End != nil {
			result.Ended = true
			a.ended(ctx, in.StepInput, publication.End.Status, in.End)
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

// endOfRun stores the log of a run that ends well, if its version is published,
// and returns what SQL notes of that.
func (a *Ingestion) endOfRun(ctx context.Context, in PublishInput) (*store.RunEnd, error) {
	key := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}.LogKey()
	if _, err := a.Blobs.PutJSON(ctx, key, stream.StoredLog{Items: in.End}); err != nil {
		return nil, fmt.Errorf("store the log of run %s: %w", in.Run, err)
	}
	end := Ending{Kind: knowledge.KindIngest, Published: true}.RunEnd(key, time.Now().UTC())
	return &end, nil
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

// write puts the chunks and index entries of a version in place, unseen. It
// returns what is left to write when readers are switched. A long document is
// written part by part, so that neither its chunks nor its vectors are ever all in
// memory, and no other writer waits for all of its rows.
func (a *Ingestion) write(ctx context.Context, in PublishInput, v store.Version) (store.Publication, error) {
	p := store.Publication{Ref: in.VersionRef, RunID: in.Run}
	if in.Count <= 0 {
		return p, errors.New("a version without chunks cannot be published")
	}
	for first := 0; first < in.Count; first += partChunks {
		last := min(first+partChunks, in.Count)
		chunks, err := a.chunks(ctx, in.VersionRef, first, last, in.Count)
		if err != nil {
			return p, err
		}
		if in.Count <= partChunks {
			p.Chunks = chunks
		} else if err := a.Versions.PutChunksPart(ctx, in.VersionRef, first, chunks); err != nil {
			return p, fmt.Errorf("write chunks from %d: %w", first, err)
		}
		if err := a.index(ctx, v, chunks); err != nil {
			return p, err
		}
	}
	return p, nil
}

// index writes the index entries of chunks, batch by batch.
func (a *Ingestion) index(ctx context.Context, v store.Version, chunks []knowledge.Chunk) error {
	for len(chunks) > 0 {
		batch := chunks[:min(BatchSize, len(chunks))]
		vectors, err := a.vectors(ctx, v.VersionRef, embeddingTexts(v, batch))
		if err != nil {
			return err
		}
		if err := a.Index.Upsert(ctx, entries(v, batch, vectors)); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		chunks = chunks[len(batch):]
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
