package answering

import (
	"context"
	"net/url"

	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// Retriever finds passages.
type Retriever interface {
	// Retrieve returns the passages that the request's principal may read, best
	// first. A wrong question or filter is knowledge.CodeInvalid; a principal
	// without tokens is knowledge.CodeForbidden.
	Retrieve(ctx context.Context, r retrieve.Request) (retrieve.Result, error)
	// RerankTexts returns the texts that the request's reranker keeps, best first, nil
	// without one or after its failure.
	RerankTexts(ctx context.Context, r retrieve.Request, texts []retrieve.Text) (ids []string, scores map[string]float64, done *retrieve.Reranking, usage retrieve.Usage, err error)
}

// Web finds pages of the web. The provider may charge for each search.
type Web interface {
	// Search returns pages, best first. A failure of the search engine is
	// CodeProviderFailed.
	Search(ctx context.Context, q websearch.Query) ([]websearch.Result, error)
}

// PageReader reads pages of the web.
type PageReader interface {
	// Read returns what was read of each page, in the order of the addresses, within its
	// time limit. It requests only addresses that allow accepts, in redirects too.
	Read(ctx context.Context, addresses []string, allow func(*url.URL) bool) []scrape.Page
}
