package retrieve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Index finds candidates; see index.Index, which it is a part of.
type Index interface {
	Dense(ctx context.Context, q index.Query, vector []float32) ([]knowledge.Hit, error)
	BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error)
}

// ChunkReader is the recheck: it gives the chunks of hits in their order and
// leaves out what the principal may not see, or not any more.
type ChunkReader interface {
	VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error)
	// Superseded reports whether the principal sees a newer version of a hit's
	// document than the hit's.
	Superseded(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) (bool, error)
}

// Embedder turns texts into vectors, one for each, in their order.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Request is a question and who asks it.
type Request struct {
	Principal knowledge.Principal
	Query     string
	Projects  []string // empty = all that the principal covers
	Documents []string // empty = all
	Filter    knowledge.Filter
	Config    knowledge.RetrievalConfig // zero fields mean the defaults
}

// Context is a passage that was found.
type Context struct {
	store.ChunkView
	// Score is between 0 and 1, the higher the better: of strategy dense the
	// cosine, else relative to the other candidates of the same question.
	Score float64
	Rank  int // 1 = best
}

// Result is what was found, best first.
type Result struct {
	Contexts  []Context
	Retrieved int // different candidates that the legs found
	// Timings of the stages that ran: embed, dense, bm25, recheck, total. The
	// legs run side by side, so total is less than their sum.
	Timings map[string]time.Duration
}

// Passages gives the contexts as a model is given them: a part of a table under
// the header that it continues.
func (r Result) Passages() []citation.Context {
	list := make([]citation.Context, 0, len(r.Contexts))
	for _, c := range r.Contexts {
		text := c.Text
		if c.Header != "" {
			text = c.Header + "\n" + text
		}
		list = append(list, citation.Context{
			Rank: c.Rank, ChunkID: c.ID, DocumentID: c.DocumentID, DocumentName: c.Document.Name, Text: text, Score: c.Score,
		})
	}
	return list
}

// Retriever retrieves. It is safe for concurrent use.
type Retriever struct {
	index  Index
	chunks ChunkReader
	embed  Embedder
}

// New makes a Retriever.
func New(index Index, chunks ChunkReader, embed Embedder) *Retriever {
	return &Retriever{index: index, chunks: chunks, embed: embed}
}

// Retrieve finds passages for a question. It fails with CodeInvalid for a
// question without text or a wrong filter, with CodeForbidden for a principal
// that may see nothing, and else as the index, the store or the embedder do.
func (r *Retriever) Retrieve(ctx context.Context, req Request) (Result, error) {
	req.Query = knowledge.Visible(req.Query)
	if strings.TrimSpace(req.Query) == "" {
		return Result{}, knowledge.Errorf(knowledge.CodeInvalid, "a search needs some text to search for")
	}
	req.Config = withDefaults(req.Config)
	s := &search{Retriever: r, request: req, clock: newClock()}
	stop := s.clock.start("total")
	result, err := s.run(ctx)
	stop()
	if err != nil {
		return Result{}, fmt.Errorf("retrieve passages: %w", err)
	}
	result.Timings = s.clock.times()
	return result, nil
}

func withDefaults(c knowledge.RetrievalConfig) knowledge.RetrievalConfig {
	all := knowledge.ProjectConfig{AI: knowledge.AIConfig{Retrieval: c}}
	return all.WithDefaults().AI.Retrieval
}
