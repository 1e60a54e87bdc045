package retrieve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// Index finds candidates. It is a part of index.Index.
type Index interface {
	Dense(ctx context.Context, q index.Query, vector []float32) ([]knowledge.Hit, error)
	BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error)
}

// ChunkReader is the recheck. VisibleChunks returns the chunks of hits in the
// order of the hits, without those that the principal may not see (any more).
type ChunkReader interface {
	VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error)
	// Granted returns what grants open to the principal and hide from it now.
	Granted(ctx context.Context, p knowledge.Principal) (knowledge.Granted, error)
	// Superseded reports whether the principal sees a newer version of a hit's
	// document than the hit's.
	Superseded(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) (bool, error)
}

// Embedder embeds texts. It returns one vector for each, in their order.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// CountingEmbedder is an Embedder that returns its call, how many tokens the endpoint has
// counted (0 = it does not say), and what they cost. It is optional.
type CountingEmbedder interface {
	EmbedCounted(ctx context.Context, texts []string) (vectors [][]float32, used Usage, err error)
}

// Request is a question with its principal.
type Request struct {
	Principal knowledge.Principal
	Query     string
	Projects  []string // empty = all that the principal may see
	Documents []string // empty = all
	Filter    knowledge.Filter
	Scope     knowledge.Filter          // one more, which is not for what is attached to the conversation
	Config    knowledge.RetrievalConfig // zero fields mean the defaults
	Model     string                    // chat model of the stages that ask one, "" = the endpoint's
	Failover  []string                  // of Call
	Enhance   bool                      // rewrite the question so that it stands alone
	SelfQuery bool                      // let the chat model choose tags and fields of the documents
	History   []knowledge.Message       // before the question, oldest first, for Enhance
	Memory    Memory                    // nil = the answers of models are not kept
	Explain   bool                      // return a Trace; every candidate is then checked in SQL
	Privacy   knowledge.PrivacyConfig   // of the project that asks; it decides what models get
	// Web are the settings with which the web is searched beside the documents, nil = it
	// is not.
	Web *knowledge.WebSearchConfig
}

// Context is a passage that was found.
type Context struct {
	store.ChunkView
	// Page is the page of the web that the passage is, nil = it is of a document. The id
	// of the chunk is then the address, its text the text of the page.
	Page *Page
	// Score is between 0 and 1, higher is better. With strategy dense it is the
	// cosine, otherwise it is relative to the other candidates of the same
	// question.
	Score float64
	Rank  int // 1 = best
	// Around is the number of chunks before and after this one that the model reads too.
	Around int
	// Kept are the parts of the passage that the model reads, in code points of its text
	// with parent or neighbours, which has Length of them. nil = the whole passage.
	Kept   []knowledge.Span
	Length int
}

// Result contains the passages that were found, best first.
type Result struct {
	Contexts  []Context
	Retrieved int // distinct candidates of the legs
	// Timings of the stages that ran: embed, dense, bm25, recheck, web, rerank, total, and
	// the settings of those that ask a chat model. The
	// legs run concurrently, so total is less than the sum.
	Timings   map[string]time.Duration
	Trace     *Trace     // nil unless Request.Explain is set
	Reranking *Reranking // nil without a reranker
	Choices   Choices
	Causes    []error // of the failures in Choices, for logs
	Usage     Usage   // of models
}

// Retriever retrieves passages. It is safe for concurrent use.
type Retriever struct {
	index  Index
	chunks ChunkReader
	embed  Embedder
	models Models

	generations Generations // nil = there is one, ""
	embedderOf  func(generation string) (Embedder, error)
}

// New returns a Retriever.
func New(index Index, chunks ChunkReader, embed Embedder) *Retriever {
	return &Retriever{index: index, chunks: chunks, embed: embed}
}

// Retrieve finds passages for a question. It returns CodeInvalid for a question
// without text or a wrong filter, CodeForbidden for a principal without tokens,
// and otherwise the errors of the index, the store or the embedder.
func (r *Retriever) Retrieve(ctx context.Context, req Request) (Result, error) {
	req.Query = knowledge.Visible(req.Query)
	if strings.TrimSpace(req.Query) == "" {
		return Result{}, knowledge.Errorf(knowledge.CodeInvalid, "a search needs some text to search for")
	}
	req.Config = req.Config.WithDefaults()
	req.Config.Reranker = req.Config.RerankedBy(r.models.RerankerName)
	s := &search{Retriever: r, request: req, clock: newClock()}
	if req.Explain {
		s.trace = &Trace{}
	}
	stop := s.clock.start("total")
	result, err := s.run(ctx)
	stop()
	if err != nil {
		return Result{}, fmt.Errorf("retrieve passages: %w", err)
	}
	result.Timings = s.clock.times()
	return result, nil
}
