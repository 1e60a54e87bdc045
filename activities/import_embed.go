package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// embed embeds the chunks of all items that are ready: requests are shared between
// documents. If the model refuses a request for good, each document is tried by itself,
// and those that it refuses fail.
func (b *importBatch) embed(ctx context.Context, items []*importItem) error {
	b.giveWay(ctx)
	err := b.embedTogether(ctx, items)
	refused, ok := errors.AsType[*model.Error](err)
	if !ok || refused.Retryable || ctx.Err() != nil {
		return err
	}
	for _, it := range items {
		if it.state != itemReady {
			continue
		}
		err := b.embedTogether(ctx, []*importItem{it})
		if refused, ok := errors.AsType[*model.Error](err); ok && !refused.Retryable {
			public := refused.Public()
			it.state, it.stage, it.err = itemFailed, knowledge.StageEmbed, knowledge.Errorf(knowledge.CodeProviderFailed, "%s", public.Message)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// importPatience is how long a step of an import waits in its slot for its turn at the
// model. Only imports wait for these slots.
const importPatience = 5 * time.Minute

// embedTogether embeds the chunks of items by as few requests as possible.
func (b *importBatch) embedTogether(ctx context.Context, items []*importItem) error {
	a := b.a.Ingestion
	all := make([][]*piece, len(items)) // of each item
	for n, it := range items {
		var err error
		if all[n], err = b.pieces(ctx, it, a.Embedder.MaxTexts(BatchSize)); err != nil {
			return err
		}
	}
	if err := a.embedPieces(ctx, slices.Concat(all...), model.Turn{Patience: importPatience}); err != nil {
		return err
	}
	for n, it := range items {
		if err := b.collect(ctx, it, all[n]); err != nil {
			return err
		}
	}
	return nil
}

// pieces returns the windows of an item that is ready, with the vectors that are known.
func (b *importBatch) pieces(ctx context.Context, it *importItem, limit int) ([]*piece, error) {
	if it.state != itemReady {
		return nil, nil
	}
	a, endpoint := b.a.Ingestion, b.a.Ingestion.Embedder.Endpoint()
	texts := embeddingTexts(it.chunks)
	hashes := make([]string, len(texts))
	for n, text := range texts {
		hashes[n] = vectorHash(endpoint, text)
	}
	// Only the version is not known yet: 1 = no other one has vectors.
	ref := knowledge.VersionRef{Workspace: b.Workspace, Project: b.Project, Document: documentOf(b.Import, it.object), Version: 1}
	if it.existed {
		ref.Version = 2
	}
	known, err := a.knownVectors(ctx, ref, manifest{})
	if err != nil {
		return nil, err
	}
	it.part = &part{ref: ref, total: len(it.chunks), manifest: manifest{Model: endpoint.Model, Dimensions: endpoint.Dimensions}}
	pieces := it.part.cut(texts, hashes, limit)
	for _, p := range pieces {
		if err := known.fill(ctx, p); err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

// collect sets the vectors of an item whose pieces are embedded.
func (b *importBatch) collect(ctx context.Context, it *importItem, pieces []*piece) error {
	if it.state != itemReady {
		return nil
	}
	it.vectors = make([][]float32, 0, len(it.chunks))
	for _, p := range pieces {
		vectors := p.vectors
		if p.stored {
			var err error
			if vectors, err = b.a.Ingestion.readWindow(ctx, p.part.ref, p.window); err != nil {
				return err
			}
		}
		it.vectors = append(it.vectors, vectors...)
	}
	return nil
}
