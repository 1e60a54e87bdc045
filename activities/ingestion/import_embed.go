package ingestion

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

// embedTogether embeds the chunks of items by as few requests as possible, in each
// generation of the project.
func (b *importBatch) embedTogether(ctx context.Context, items []*importItem) error {
	of, generations, err := b.a.documents.generations.of(ctx, b.Workspace, b.Project)
	if err != nil {
		return err
	}
	for _, it := range items {
		it.of, it.embedded = of, nil
	}
	for _, g := range generations {
		if err := b.embedIn(ctx, g, items); err != nil {
			return err
		}
	}
	return nil
}

func (b *importBatch) embedIn(ctx context.Context, g generation, items []*importItem) error {
	a := b.a.documents
	parts, all := make([]*part, len(items)), make([][]*piece, len(items)) // of each item
	for n, it := range items {
		var err error
		if parts[n], all[n], err = b.pieces(ctx, g, it); err != nil {
			return err
		}
	}
	err := a.batches.embedPieces(ctx, g, slices.Concat(all...), b.turn.turn())
	for _, p := range parts {
		if p != nil {
			b.spent.Add(p.Usage)
		}
	}
	if err != nil {
		return err
	}
	for n, it := range items {
		if it.state != itemReady {
			continue
		}
		vectors, err := b.collect(ctx, it, all[n])
		if err != nil {
			return err
		}
		it.embedded = append(it.embedded, itemVectors{g.name, parts[n], vectors})
	}
	return nil
}

// pieces returns the windows of an item that is ready, with the vectors that are known.
func (b *importBatch) pieces(ctx context.Context, g generation, it *importItem) (*part, []*piece, error) {
	if it.state != itemReady {
		return nil, nil, nil
	}
	a, endpoint := b.a.documents, g.Endpoint()
	texts, err := textsFor(ctx, a.batches.Recognisers, g, b.Request.Enrichment.Privacy, embeddingTexts(it.chunks))
	if err != nil {
		return nil, nil, err
	}
	hashes := make([]string, len(texts))
	for n, text := range texts {
		hashes[n] = vectorHash(endpoint, text)
	}
	// Only the version is not known yet: 1 = no other one has vectors.
	ref := knowledge.VersionRef{Workspace: b.Workspace, Project: b.Project, Document: documentOf(b.Import, it.object), Version: 1}
	if it.existed {
		ref.Version = 2
	}
	known, err := a.vectors.knownVectors(ctx, ref, manifest{})
	if err != nil {
		return nil, nil, err
	}
	made := &part{ref: ref, total: len(it.chunks), manifest: manifest{Model: endpoint.Model, Dimensions: endpoint.Dimensions}}
	pieces := made.cut(texts, hashes, g.MaxTexts(BatchSize))
	for _, p := range pieces {
		if err := known.fill(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	return made, pieces, nil
}

// collect returns the vectors of an item whose pieces are embedded.
func (b *importBatch) collect(ctx context.Context, it *importItem, pieces []*piece) ([][]float32, error) {
	all := make([][]float32, 0, len(it.chunks))
	for _, p := range pieces {
		vectors := p.vectors
		if p.stored {
			var err error
			if vectors, err = b.a.documents.vectors.readWindow(ctx, p.part.ref, p.window); err != nil {
				return nil, err
			}
		}
		all = append(all, vectors...)
	}
	return all, nil
}
