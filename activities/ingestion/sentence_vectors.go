package ingestion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// sentenceBatches is how many batches of sentences of a document are embedded at the
// same time.
const sentenceBatches = 4

// sentenceFolder is the folder of the vectors of sentences in a version's prefix. They
// are deleted when the chunks are stored.
const sentenceFolder = "sentence-vectors/"

// sentenceVectors returns the vectors by which the semantic strategy cuts a document,
// one for each text. Each batch is stored before the step continues, so that a retry
// requests none again.
func (a *cutting) sentenceVectors(ctx context.Context, v store.Version, texts []string) ([][]float32, error) {
	g, err := a.generations.serving(ctx, v.VersionRef)
	if err != nil {
		return nil, err
	}
	if texts, err = textsFor(ctx, a.Recognisers, g, v.Enrichment.Privacy, texts); err != nil {
		return nil, err
	}
	size := g.MaxTexts(BatchSize)
	batches := slices.Collect(slices.Chunk(texts, size))
	vectors := make([][][]float32, len(batches))
	group, failed := errgroup.WithContext(ctx)
	group.SetLimit(sentenceBatches)
	for i, batch := range batches {
		group.Go(func() (err error) {
			if failed.Err() != nil {
				return failed.Err()
			}
			vectors[i], err = a.sentenceBatch(ctx, g, v, batch) // after a failure too: the request is charged for
			return err
		})
	}
	err = group.Wait()
	return slices.Concat(vectors...), err
}

// sentenceBatch returns the vectors of a batch. If they are not stored, it requests and
// stores them. It halves a batch that is too large for the endpoint.
func (a *cutting) sentenceBatch(ctx context.Context, g Embedder, v store.Version, texts []string) ([][]float32, error) {
	hashes := make([]string, len(texts))
	for i, text := range texts {
		hashes[i] = vectorHash(g.Endpoint(), text)
	}
	key := blob.StepKey(v.VersionRef, sentenceFolder+newWindow(hashes).Name)
	data, err := a.Blobs.Get(ctx, key)
	if err == nil {
		return decodeVectors(data)
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("read the vectors of sentences: %w", err)
	}
	// The step is not told whether it was held before, so it counts as if it was.
	vectors, used, err := a.batches.request(ctx, g, texts, model.Turn{Patience: turnPatience, Waited: true})
	if refused, ok := errors.AsType[*model.Error](err); ok && refused.Code == model.CodeTooLarge && len(texts) > 1 {
		half := (len(texts) + 1) / 2
		first, err := a.sentenceBatch(ctx, g, v, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := a.sentenceBatch(ctx, g, v, texts[half:])
		g.LimitTexts(half)
		return append(first, second...), err
	}
	if err != nil {
		return nil, err
	}
	return vectors, a.storeSentences(ctx, v, key, vectors, used)
}

// dropSentences deletes the vectors of the sentences of a version.
func (a *cutting) dropSentences(ctx context.Context, ref knowledge.VersionRef) error {
	_, err := a.Blobs.DeletePrefix(ctx, blob.StepKey(ref, sentenceFolder), func(string, time.Time) bool { return false })
	if err != nil {
		return fmt.Errorf("delete the vectors of sentences: %w", err)
	}
	return nil
}

func (a *cutting) storeSentences(ctx context.Context, v store.Version, key string, vectors [][]float32, used knowledge.Usage) error {
	data, err := encodeVectors(vectors)
	if err != nil {
		return err
	}
	if err := a.answers.putAnswer(ctx, v, key, data, used); err != nil {
		return fmt.Errorf("store the vectors of sentences: %w", err)
	}
	return nil
}
