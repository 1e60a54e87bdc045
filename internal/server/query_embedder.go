package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// questionPatience bounds the wait for the vector of a question, which somebody waits for. Behind it
// the question is searched by its words alone.
const questionPatience = 4 * time.Second

// outage remembers that a model has failed, so that the next questions do not wait for it too. It is
// safe for concurrent use.
type outage struct {
	mu    sync.Mutex
	until time.Time // no question is sent before
	pause time.Duration
	cause error
}

// The pause after a failure doubles with each that follows.
const firstPause, longestPause = 2 * time.Second, 30 * time.Second

// now returns the last failure if the model is not to be asked.
func (o *outage) now() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cause == nil || !time.Now().Before(o.until) {
		return nil
	}
	return o.cause
}

// note takes in how a call ended.
func (o *outage) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cause = err; err == nil {
		o.pause = 0
		return
	}
	o.pause = min(max(2*o.pause, firstPause), longestPause)
	o.until = time.Now().Add(o.pause)
}

// queryEmbedder embeds questions. Each of its failures but the end of the caller's wait is one that
// retrieve.ErrCannotBeAsked marks, so that the question is searched by its words.
type queryEmbedder struct {
	ingestion.Embedder

	down *outage
}

// Embed implements retrieve.Embedder.
func (e queryEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := e.EmbedCounted(ctx, texts)
	return vectors, err
}

// EmbedCounted implements retrieve.CountingEmbedder.
func (e queryEmbedder) EmbedCounted(ctx context.Context, texts []string) ([][]float32, retrieve.Usage, error) {
	if err := e.down.now(); err != nil {
		return nil, retrieve.Usage{EmbeddingCalls: 1}, fmt.Errorf("%w: it failed a moment ago: %w", retrieve.ErrCannotBeAsked, err)
	}
	waiting, cancel := context.WithTimeoutCause(ctx, questionPatience, errSlowEmbedding)
	defer cancel()
	vectors, counted, err := e.Embedder.Embed(waiting, texts)
	usage := retrieve.Usage{EmbeddingCalls: 1, EmbeddingTokens: counted.PromptTokens, Cost: counted.Cost, Currency: counted.Currency}
	if ctx.Err() != nil {
		return vectors, usage, err
	}
	if _, failed := errors.AsType[*model.Error](err); failed || errors.Is(err, errSlowEmbedding) || knowledge.IsCode(err, knowledge.CodeConflict) {
		e.down.note(err)
		return nil, usage, fmt.Errorf("%w: %w", retrieve.ErrCannotBeAsked, err)
	}
	e.down.note(nil)
	return vectors, usage, err
}

var errSlowEmbedding = errors.New("the embedding model took too long for a question")

// InProcess implements retrieve.InProcessEmbedder.
func (e queryEmbedder) InProcess() bool { return e.Endpoint().InProcess }

// Lexical implements retrieve.LexicalEmbedder.
func (e queryEmbedder) Lexical() float64 {
	switch e.Endpoint().Model {
	case localmodel.HashedModel:
		return 1
	case localmodel.EmbeddingModel:
		return localmodel.Lexical
	}
	return 0
}

// CompareWords implements retrieve.WordComparer.
func (e queryEmbedder) CompareWords(question string, texts []string, enough float64) (near []float64, literal float64) {
	if e.Endpoint().Model != localmodel.EmbeddingModel {
		return nil, 0
	}
	return localmodel.CompareWords(question, texts, enough)
}
