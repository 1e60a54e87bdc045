package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// batchTokens is how many tokens one embedding request holds at most, as tokens
// counts them. It is below the limits of the providers: 300,000 at OpenAI, 120,000 at
// Voyage.
const batchTokens = 100_000

// tokens returns an estimate of the tokens of texts, which is too high for most: a
// token has about four bytes of English, and three of Chinese.
func tokens(texts []string) int {
	n := len(texts)
	for _, text := range texts {
		n += len(text) / 3
	}
	return n
}

// part is a run of chunks of a version that have a manifest of their own.
type part struct {
	ref   knowledge.VersionRef
	key   string // of the manifest, "" = the caller stores it when the version is claimed
	total int    // chunks
	manifest
}

// piece is a window that is not in the manifest of its part yet.
type piece struct {
	window
	part    *part
	texts   []string
	vectors [][]float32 // nil for those that are to be requested
	stored  bool        // the window's blob is there
}

// missing returns the texts to request, by hash.
func missing(batch []*piece) (hashes, texts []string) {
	seen := map[string]bool{}
	for _, p := range batch {
		for i, hash := range p.Hashes {
			if !p.stored && p.vectors[i] == nil && !seen[hash] {
				seen[hash] = true
				hashes, texts = append(hashes, hash), append(texts, p.texts[i])
			}
		}
	}
	return hashes, texts
}

// batches has models make vectors, in batches, and stores them.
type batches struct {
	Blobs    step.Blobs
	Versions Versions
	Metrics  Metrics
	Log      *slog.Logger
	vectors  *vectors

	Recognisers privacy.Recognisers
}

// embedPart stores the vectors of a generation of the chunks of a version from first on,
// and returns their manifest. It requests only those that no version of the document has.
func (a *batches) embedPart(ctx context.Context, g generation, v store.Version, first int, chunks []knowledge.Chunk, turn model.Turn) (manifest, error) {
	p, pieces, err := a.plan(ctx, g, v, first, chunks)
	if err == nil {
		err = a.embedPieces(ctx, g, pieces, turn)
	}
	if err != nil {
		return manifest{}, err
	}
	return p.manifest, nil
}

// plan returns the chunks of a version from first on as a part, and the pieces of it
// that are not stored yet.
func (a *batches) plan(ctx context.Context, g generation, v store.Version, first int, chunks []knowledge.Chunk) (*part, []*piece, error) {
	endpoint := g.Endpoint()
	texts, err := textsFor(ctx, a.Recognisers, g, v.Enrichment.Privacy, embeddingTexts(chunks))
	if err != nil {
		return nil, nil, err
	}
	hashes := make([]string, len(texts))
	for i, text := range texts {
		hashes[i] = vectorHash(endpoint, text)
	}
	key, own, err := a.vectors.manifestOf(ctx, v.VersionRef, g, first)
	if err != nil {
		return nil, nil, err
	}
	p := &part{ref: v.VersionRef, key: key, total: len(texts)}
	p.Model, p.Dimensions, p.spent = endpoint.Model, endpoint.Dimensions, spent{v.RunID, own.of(v.RunID)}
	done, err := a.keep(ctx, p, own, hashes)
	if err != nil || done == p.total {
		return p, nil, err
	}
	known, err := a.vectors.knownVectors(ctx, v.VersionRef, own)
	if err != nil {
		return nil, nil, err
	}
	pieces := p.cut(texts[done:], hashes[done:], g.MaxTexts(BatchSize))
	for _, w := range pieces {
		if err := known.fill(ctx, w); err != nil {
			return nil, nil, err
		}
	}
	return p, pieces, nil
}

// embedPieces embeds pieces of one or several documents, batch by batch, and stores
// each answer before the next request. The pieces of a part are in their order.
func (a *batches) embedPieces(ctx context.Context, g generation, pieces []*piece, turn model.Turn) error {
	limit := g.MaxTexts(BatchSize)
	for len(pieces) > 0 {
		n := 1
		for n < len(pieces) && fits(pieces[:n+1], limit) {
			n++
		}
		if err := a.embedBatch(ctx, g, pieces[:n], turn); err != nil {
			return err
		}
		pieces, turn.Now = pieces[n:], false
	}
	return nil
}

// keep adds to a part the windows of its earlier manifest that hold the beginning of
// hashes, and returns the number of these hashes.
func (a *batches) keep(ctx context.Context, p *part, earlier manifest, hashes []string) (done int, err error) {
	there, err := a.vectors.present(ctx, p.ref, earlier.Windows)
	if err != nil {
		return 0, fmt.Errorf("look for vectors: %w", err)
	}
	for _, w := range earlier.Windows[:there] {
		end := done + len(w.Hashes)
		if end > len(hashes) || !slices.Equal(w.Hashes, hashes[done:end]) {
			break
		}
		p.Windows, done = append(p.Windows, w), end
	}
	p.Others = earlier.all()[len(p.Windows):]
	return done, nil
}

// cut cuts texts into windows of up to limit texts, each of which fits into one request.
func (p *part) cut(texts, hashes []string, limit int) []*piece {
	var pieces []*piece
	for len(texts) > 0 {
		n, sum := 0, 0
		for n < min(len(texts), limit) && (n == 0 || sum+tokens(texts[n:n+1]) <= batchTokens) {
			sum += tokens(texts[n : n+1])
			n++
		}
		pieces = append(pieces, &piece{window: newWindow(hashes[:n]), part: p, texts: texts[:n], vectors: make([][]float32, n)})
		texts, hashes = texts[n:], hashes[n:]
	}
	return pieces
}

// fits reports whether one request of up to limit texts can hold what a batch misses.
func fits(batch []*piece, limit int) bool {
	_, texts := missing(batch)
	return len(texts) <= limit && tokens(texts) <= batchTokens
}

// halve returns the two halves of a batch, or nil if it is one chunk.
func halve(batch []*piece) [][]*piece {
	if n := len(batch) / 2; n > 0 {
		return [][]*piece{batch[:n], batch[n:]}
	}
	p := batch[0]
	n := len(p.texts) / 2
	if n == 0 {
		return nil
	}
	half := func(from, to int) []*piece {
		return []*piece{{window: newWindow(p.Hashes[from:to]), part: p.part, texts: p.texts[from:to], vectors: p.vectors[from:to]}}
	}
	return [][]*piece{half(0, n), half(n, len(p.texts))}
}

// embedBatch requests the missing vectors of a batch, whose windows may be of several
// documents, and stores its windows and their manifests. It halves a batch that is too
// large for the endpoint.
func (a *batches) embedBatch(ctx context.Context, g generation, batch []*piece, turn model.Turn) error {
	hashes, texts := missing(batch)
	if len(texts) == 0 {
		return a.storeBatch(ctx, batch)
	}
	vectors, used, err := a.request(ctx, g, texts, turn)
	if refused, ok := errors.AsType[*model.Error](err); ok && refused.Code == model.CodeTooLarge && len(texts) > 1 {
		for _, half := range halve(batch) {
			if err := a.embedBatch(ctx, g, half, turn); err != nil {
				return err
			}
		}
		g.LimitTexts((len(texts) + 1) / 2)
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range batch {
		for i, hash := range p.Hashes {
			if n := slices.Index(hashes, hash); n >= 0 && p.vectors[i] == nil {
				p.vectors[i] = vectors[n]
			}
		}
	}
	batch[0].part.Usage.Add(used) // of all parts: they belong to one run
	return a.storeBatch(ctx, batch)
}

// answerGrace is how long the answer to a request may still take after its step was
// canceled. The provider charges for the request whether its answer is read or not.
const answerGrace = 2 * time.Second

// request requests the vectors of texts from the model when it is their turn. A request
// under way outlives a cancel by answerGrace.
func (a *batches) request(ctx context.Context, g Embedder, texts []string, turn model.Turn) ([][]float32, knowledge.Usage, error) {
	if err := g.TakeTurn(ctx, tokens(texts), turn); err != nil {
		return nil, knowledge.Usage{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, knowledge.Usage{}, err
	}
	asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(answerGrace, cancel) })()
	start := time.Now()
	vectors, usage, err := g.Embed(asking, texts)
	a.Metrics.ModelCall(g.Endpoint().Provider, "embedding", step.Outcome(err), time.Since(start).Seconds(), usage.PromptTokens, 0)
	return vectors, step.EmbeddingUsage(usage), err
}

// storeBatch stores the windows of a batch, and then the manifests that name them,
// unless the caller does that.
func (a *batches) storeBatch(ctx context.Context, batch []*piece) error {
	var items []blob.Item
	var parts []*part
	for _, p := range batch {
		if !p.stored {
			data, err := encodeVectors(p.vectors)
			if err != nil {
				return err
			}
			items = append(items, blob.Item{Key: windowKey(p.part.ref, p.Name), Data: data})
		}
		p.part.Windows = append(p.part.Windows, p.window)
		if p.part.key != "" && !slices.Contains(parts, p.part) {
			parts = append(parts, p.part)
		}
	}
	for n, p := range parts {
		if chunksIn(p.Windows) == p.total {
			p.Others = nil
		}
		data, err := json.Marshal(p.manifest)
		if err != nil {
			return fmt.Errorf("encode manifest: %w", err)
		}
		items = append(items, blob.Item{Key: p.key, Data: data, After: n == 0}) // a manifest names windows that are stored
	}
	// The provider has charged for the vectors, so a cancel does not discard them.
	kept := context.WithoutCancel(ctx)
	if err := a.Blobs.PutAll(kept, items...); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	if ctx.Err() == nil {
		return nil
	}
	errs := []error{ctx.Err()}
	for _, p := range parts {
		if removing(kept, a.Versions, p.ref) { // the removal may have deleted the others by now
			errs = append(errs, a.deletePart(kept, p))
		}
	}
	return errors.Join(errs...)
}

func (a *batches) deletePart(ctx context.Context, p *part) error {
	errs := []error{a.Blobs.Delete(ctx, p.key)}
	for _, w := range p.Windows {
		errs = append(errs, a.Blobs.Delete(ctx, windowKey(p.ref, w.Name)))
	}
	return errors.Join(errs...)
}
