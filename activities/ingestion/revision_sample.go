package ingestion

import (
	"context"
	"errors"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	sampledChunks   = 4  // of a document, that are compared
	sampledVersions = 20 // that are looked at for stored vectors
)

// Samples returns Revisions.Samples, with the chunks and the stored vectors of an ingestion.
func Samples(d Dependencies) func(ctx context.Context, generation string, of []store.PublishedVersion) ([]string, [][]float32, error) {
	a := &samples{
		Versions: d.Versions, Reindexes: d.Reindexes, cuts: &cuts{d.Blobs}, vectors: &vectors{d.Blobs},
		generations: &generations{d.Versions, d.Embedder, d.EmbedderOf}, Recognisers: d.Recognisers,
	}
	return a.sampleVectors
}

// samples reads stored vectors and the texts that they are of.
type samples struct {
	Versions    Versions
	Reindexes   Reindexes
	cuts        *cuts
	vectors     *vectors
	generations *generations

	Recognisers privacy.Recognisers
}

// sampleVectors returns the first chunks of one of some published versions, as they were
// embedded in a generation, and their vectors. Both are empty if no vectors are stored.
func (a *samples) sampleVectors(ctx context.Context, generation string, of []store.PublishedVersion) ([]string, [][]float32, error) {
	g, err := a.generations.named(generation)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range of {
		texts, vectors, err := a.sampleOf(ctx, g, p)
		if err != nil || len(texts) > 0 {
			return texts, vectors, err
		}
	}
	return nil, nil, nil
}

func (a *samples) sampleOf(ctx context.Context, g generation, p store.PublishedVersion) ([]string, [][]float32, error) {
	_, m, err := a.vectors.manifestOf(ctx, p.VersionRef, g, 0)
	if err != nil || len(m.Windows) == 0 || !m.made(g) {
		return nil, nil, err
	}
	there, err := a.vectors.present(ctx, p.VersionRef, m.Windows[:1])
	if err != nil || there == 0 {
		return nil, nil, err
	}
	vectors, err := a.vectors.readWindow(ctx, p.VersionRef, m.Windows[0])
	if err != nil {
		return nil, nil, err
	}
	n := min(sampledChunks, len(vectors))
	texts, err := a.embeddedTexts(ctx, g, p, m.Windows[0].Hashes[:n])
	if err != nil || texts == nil {
		return nil, nil, err
	}
	return texts, vectors[:n], nil
}

// embeddedTexts returns the texts of the first chunks of a version as they were embedded,
// which hashes tell, nil if they are not stored. Chunks in SQL lack what names the document.
func (a *samples) embeddedTexts(ctx context.Context, g generation, p store.PublishedVersion, hashes []string) ([]string, error) {
	v, err := a.Versions.Version(ctx, p.VersionRef)
	if err != nil {
		return nil, err
	}
	embedded := func(chunks []knowledge.Chunk) []string {
		texts, err := textsFor(ctx, a.Recognisers, g, v.Enrichment.Privacy, embeddingTexts(chunks))
		if err != nil {
			return nil // a sample can be taken later
		}
		for i, text := range texts {
			if vectorHash(g.Endpoint(), text) != hashes[i] {
				return nil
			}
		}
		return texts
	}
	cut, err := a.cuts.chunks(ctx, p.VersionRef, 0, len(hashes), p.Chunks)
	if err == nil {
		return embedded(cut), nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return nil, err
	}
	chunks, err := a.Reindexes.ChunksForSystem(ctx, p.VersionRef, 0, len(hashes))
	if err != nil || len(chunks) < len(hashes) {
		return nil, err
	}
	if texts := embedded(chunks); texts != nil {
		return texts, nil
	}
	for i := range chunks {
		chunks[i].Title = v.Name
	}
	return embedded(chunks), nil
}
