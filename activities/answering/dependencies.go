package answering

import (
	"context"
	"net/url"

	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/stream"
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

// Hub passes durable items to the readers in this process. Its methods do not
// block. Readers query the workflow for items that they miss.
type Hub interface {
	// Followed returns how many runs have readers in this process.
	Followed() int
	// Append passes items to the readers of a run, in the order of their offsets.
	// Items that the readers have are skipped.
	Append(run string, items []stream.Item)
	// Pause marks a run as having no publisher in this process, so that its readers
	// query the workflow.
	Pause(run string)
	// Fence makes Append skip the items of the attempts of a turn before this one.
	Fence(run string, turn, attempt int)
	// Finish passes the last items of a run whose log is stored.
	Finish(run string, items []stream.Item)
}

// Workflows reaches the logs of workflows, by id.
type Workflows interface {
	// Publish signals a batch to the log of a workflow, which skips what it has.
	Publish(ctx context.Context, workflowID string, b stream.Batch) error
	// Complete reports the result of a running activity, which then returns
	// activity.ErrResultPending. After nil the result is durable. After an error it
	// may be; the activity returns the result, and Temporal ignores a second report.
	Complete(ctx context.Context, token []byte, result any) error
	// Events reads the log of a workflow, open or closed, from an offset on. A log
	// that nobody can read any more is stream.ErrLogLost.
	Events(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error)
}

// Metrics counts what activities do. Its methods do not block.
type Metrics interface {
	// ModelCall records a call of a model (kind "chat", "embedding" or "transcription")
	// and the tokens that its provider counted.
	ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int)
	// WorkflowDone counts a workflow that ended, by its type and status.
	WorkflowDone(workflow, status string)
}
