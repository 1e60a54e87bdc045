package ingestion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Publishing holds the activities that switch readers to a version.
type Publishing struct {
	steps

	Blobs       step.Blobs
	Originals   Originals
	Index       Index
	Attributes  *Attributes
	Embedder    Embedder
	cuts        *cuts
	vectors     *vectors
	generations *generations
	batches     *batches
	answers     *answers
	ending      *Ending
}

// Retiring holds the activity that deletes what a newer version replaced.
type Retiring struct {
	stepLog

	Versions  Versions
	Children  Children
	Workflows Workflows
	Index     Index
	vectors   *vectors
}

// PublishInput publishes a version of Count chunks. If End is not nil, it is the
// whole log of the run, the last item included, and the step that publishes the
// version also ends the run.
type PublishInput struct {
	StepInput
	Count int           `json:"count"`
	End   []stream.Item `json:"end,omitempty"`
}

// PublishResult is the result of PublishDocument. Published is false if the version
// is being removed or a newer one is published.
type PublishResult struct {
	Published bool `json:"published"`
	Ended     bool `json:"ended,omitempty"` // the run has ended too
}

// PublishDocument writes a version beside the one that readers see, and then
// publishes it in one transaction.
func (a *Publishing) PublishDocument(ctx context.Context, in PublishInput) (PublishResult, error) {
	defer step.Heartbeat(ctx)()
	var result PublishResult
	err := a.step(ctx, in.StepInput, knowledge.StagePublish, func(v store.Version) error {
		if v.Removing {
			return nil
		}
		if !activity.GetInfo(ctx).IsLocalActivity {
			if err := noteStage(ctx, a.Versions, in.VersionRef, knowledge.StagePublish, 0, store.Facts{}); err != nil {
				return err
			}
		}
		publication, published, err := a.publish(ctx, in, v)
		if err != nil {
			return err
		}
		if result.Published = published.Done; !published.Done {
			return nil
		}
		if err := a.hideOriginal(context.WithoutCancel(ctx), v); err != nil {
			return err
		}
		if in.End != nil {
			result.Ended = true
			a.ending.ended(ctx, in.StepInput, publication.End.Status, nil, in.End)
		}
		// Its tags or access may have changed while it was written. Readers see it, so
		// a cancel comes too late.
		if err := a.Attributes.UpdateIndex(context.WithoutCancel(ctx), in.Document); err != nil {
			return fmt.Errorf("update index attributes: %w", err)
		}
		return nil
	})
	return result, err
}

// publish writes a version in the generations of its project, and publishes it. If these
// change meanwhile, it writes the version again, in those that it lacks.
func (a *Publishing) publish(ctx context.Context, in PublishInput, v store.Version) (p store.Publication, done store.Published, err error) {
	var end *store.RunEnd
	for {
		before := p.Of
		if p, err = a.write(ctx, in, v); err != nil {
			return p, done, err
		}
		if in.End != nil && end == nil {
			if end, err = a.endOfRun(ctx, in); err != nil {
				return p, done, err
			}
		}
		p.End = end
		if done, err = a.Versions.PublishVersion(ctx, p); err != nil {
			return p, done, fmt.Errorf("switch to version %d: %w", in.Version, err)
		}
		if before != (knowledge.Generations{}) {
			if err := a.forgetGenerations(ctx, in.VersionRef, before); err != nil {
				return p, done, fmt.Errorf("remove earlier vectors: %w", err)
			}
		}
		if !done.Moved {
			return p, done, nil
		}
	}
}

// endOfRun stores the log of a run that completes with the publication, and returns
// the end that the publication writes to SQL.
func (a *Publishing) endOfRun(ctx context.Context, in PublishInput) (*store.RunEnd, error) {
	key := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}.LogKey()
	if _, err := a.Blobs.PutJSON(ctx, key, stream.StoredLog{Items: in.End}); err != nil {
		return nil, fmt.Errorf("store the log of run %s: %w", in.Run, err)
	}
	end := record.Ending{Kind: knowledge.KindIngest, Published: true}.RunEnd(key, time.Now().UTC())
	return &end, nil
}

// IsPublished reports whether readers see a version. The workflow asks after a
// PublishDocument that failed or was canceled, perhaps after it had published.
func (a *Publishing) IsPublished(ctx context.Context, in StepInput) (bool, error) {
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, a.fail(ctx, in, fmt.Errorf("read version: %w", err))
	}
	return v.Status == knowledge.StatusPublished && !v.Removing, nil
}

// RetireVersions deletes the data of versions older than a published one.
func (a *Retiring) RetireVersions(ctx context.Context, in StepInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.retire(ctx, in.VersionRef); err != nil {
		return a.fail(ctx, in, err)
	}
	return nil
}

// write writes the chunks and index entries of a version, which readers do not see
// yet. It returns what the publication still has to write. It writes a long document
// part by part, so that neither all chunks nor all vectors are in memory, and no
// other writer waits for all rows.
func (a *Publishing) write(ctx context.Context, in PublishInput, v store.Version) (store.Publication, error) {
	p := store.Publication{Ref: in.VersionRef, RunID: in.Run}
	if in.Count <= 0 {
		return p, errors.New("a version without chunks cannot be published")
	}
	vectors, err := a.readers(ctx, &p, v, in.Count)
	if err != nil {
		return p, err
	}
	for first := 0; first < in.Count; first += partChunks {
		last := min(first+partChunks, in.Count)
		chunks, err := a.cuts.chunks(ctx, in.VersionRef, first, last, in.Count)
		if err != nil {
			return p, err
		}
		if in.Count <= partChunks {
			p.Chunks = chunks
		} else if err := a.Versions.PutChunksPart(ctx, in.VersionRef, first, chunks); err != nil {
			return p, fmt.Errorf("write chunks from %d: %w", first, err)
		}
		if err := writeIndex(ctx, a.Index, v, chunks, vectors); err != nil {
			return p, err
		}
	}
	return p, nil
}

// readers returns the readers of the vectors of a version, one for each generation of its
// project. It notes in p the generations, and what the run has used of models.
func (a *Publishing) readers(ctx context.Context, p *store.Publication, v store.Version, count int) ([]*vectorReader, error) {
	of, generations, err := a.generations.of(ctx, v.Workspace, v.Project)
	if err != nil {
		return nil, err
	}
	p.Of, p.Used.Model = of, a.Embedder.Endpoint().Model
	var list []*vectorReader
	for _, g := range generations {
		windows, used, err := a.batches.versionWindows(ctx, g, v, count, func(first, last int) ([]knowledge.Chunk, error) {
			return a.cuts.chunks(ctx, v.VersionRef, first, last, count)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, &vectorReader{a: a.vectors, ref: v.VersionRef, generation: g.name, windows: windows})
		p.Used.Add(used)
	}
	others, err := a.answers.otherUsage(ctx, v)
	p.Used.Add(others)
	return list, err
}

// ChunksPerUpsert is how many chunks are written to the index in one transaction. Larger
// transactions cost less in all, and smaller ones keep other writers waiting for less
// time.
const ChunksPerUpsert = 4 * BatchSize

// index writes the index entries of chunks, batch by batch, in each generation that has a
// reader.
func writeIndex(ctx context.Context, to Index, v store.Version, chunks []knowledge.Chunk, vectors []*vectorReader) error {
	for len(chunks) > 0 {
		batch := chunks[:min(ChunksPerUpsert, len(chunks))]
		var list []index.Entry
		for _, reader := range vectors {
			next, err := reader.next(ctx, len(batch))
			if err != nil {
				return err
			}
			list = append(list, entries(v, batch, reader.generation, next)...)
		}
		if err := to.Upsert(ctx, list); err != nil {
			return fmt.Errorf("write index: %w", err)
		}
		chunks = chunks[len(batch):]
	}
	return nil
}

func entries(v store.Version, chunks []knowledge.Chunk, generation string, vectors [][]float32) []index.Entry {
	list := make([]index.Entry, 0, len(chunks))
	for i, c := range chunks {
		list = append(list, index.Entry{
			ChunkID: c.ID, Workspace: v.Workspace, Project: v.Project, DocumentID: v.Document,
			Version: v.Version, Ordinal: c.Ordinal, Text: chunk.EmbeddingText(c), Generation: generation, Vector: vectors[i],
			Tags: v.Tags, ACL: v.ACL, Language: v.Language, ChunkLanguage: c.Language, Classification: v.Classification,
			Name: v.Name, Metadata: v.Metadata, CreatedAt: v.DocumentCreatedAt,
		})
	}
	return list
}

// keptTexts is of how many replaced versions the text is kept, to be compared with newer
// ones.
const keptTexts = 10

// retire deletes the index entries, chunks and blobs of older versions, with the
// vectors and the originals that no other version names. The texts of the newest of them
// stay.
func (a *Retiring) retire(ctx context.Context, ref knowledge.VersionRef) error {
	if err := a.Index.RemoveVersions(ctx, ref.Workspace, ref.Document, ref.Version); err != nil {
		return fmt.Errorf("remove old index entries: %w", err)
	}
	if err := a.Versions.RetireChunks(ctx, ref); err != nil {
		return fmt.Errorf("retire old chunks: %w", err)
	}
	if err := a.Children.RetireChildren(ctx, ref); err != nil {
		return fmt.Errorf("retire attachments: %w", err)
	}
	if err := startChildRemovals(ctx, a.Children, a.Workflows, ref.Document); err != nil {
		return err
	}
	originals, err := a.Versions.RetiredSources(ctx, ref)
	if err != nil {
		return fmt.Errorf("list old originals: %w", err)
	}
	kept, err := a.textsOf(ctx, ref)
	if err != nil {
		return err
	}
	originals = slices.DeleteFunc(originals, func(key string) bool { return kept[key] })
	return a.vectors.deleteVersions(ctx, ref, func(version int) bool { return version >= ref.Version }, kept, originals)
}

// textsOf returns the keys of the blobs that have the texts of the versions that ref has
// replaced: layouts, and the originals of small texts. A version that removes personal data
// leaves no text that has them.
func (a *Retiring) textsOf(ctx context.Context, ref knowledge.VersionRef) (map[string]bool, error) {
	now, err := a.Versions.Version(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("read version: %w", err)
	}
	replaced, err := a.Versions.ReplacedVersions(ctx, ref, keptTexts)
	if err != nil {
		return nil, fmt.Errorf("list replaced versions: %w", err)
	}
	kept := map[string]bool{}
	for _, v := range replaced {
		switch privacy := v.Enrichment.Privacy; {
		case !now.Enrichment.Privacy.KeepsTextOf(privacy):
		case privacy.Redacts():
			kept[parsed.SeenKey(v.VersionRef)] = true
		case isLarge(v):
			kept[parsed.SeenKey(v.VersionRef)] = true
			kept[parsed.LayoutKey(v.VersionRef)] = true
		default:
			kept[v.SourceKey] = true
		}
	}
	return kept, nil
}
