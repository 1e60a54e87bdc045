package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// Config is what an operator may choose of the edge.
type Config struct {
	// Version is the program's, as openapi.json tells it. Defaults to "dev".
	Version string
	// PublicURL is where clients reach the API ("https://cairn.example.com"), put
	// before the links in answers. Defaults to none: links are paths.
	PublicURL string
	// FileBytes bounds one uploaded file. Defaults to 100 MB.
	FileBytes int64
	// TextBytes bounds the text of a document that is sent as JSON. Defaults to
	// 20 MB.
	TextBytes int64
	// RequestFiles bounds the files of one upload request; only tests set it.
	// Defaults to 200.
	RequestFiles int
	// RequestBytes bounds a request that brings documents, with all its files.
	// Defaults to 2 GB.
	RequestBytes int64
	// BodyMemory bounds the bytes of large bodies that are held in memory at a
	// time; further requests wait. Only tests set it. Defaults to 256 MB.
	BodyMemory int64
	// Streams bounds the event streams that are open at a time. Defaults to 2,000.
	Streams int
	// UserQueriesPerMinute bounds the questions of one user. Defaults to no bound.
	UserQueriesPerMinute int
	// TempDir holds uploads with an Idempotency-Key while they are compared.
	// Defaults to the system's.
	TempDir string
}

func (c Config) withDefaults() Config {
	setDefault(&c.Version, "dev")
	setDefault(&c.FileBytes, 100<<20)
	setDefault(&c.TextBytes, 20<<20)
	setDefault(&c.RequestFiles, 200)
	setDefault(&c.RequestBytes, 2e9)
	setDefault(&c.BodyMemory, 256<<20)
	setDefault(&c.Streams, 2000)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Deps is what the edge works with. All but Metrics, MetricsPage, Ready and
// Clock are required.
type Deps struct {
	Store       *store.Store
	Blobs       *blob.Store
	Access      *access.Authenticator
	Retriever   Retriever
	Attributes  Attributes
	Dispatch    Dispatcher
	Answers     Answers
	Relay       *stream.Relay
	Links       Links
	Log         *slog.Logger
	Metrics     Metrics          // nil: nothing is counted
	MetricsPage http.Handler     // serves /metrics; nil: there is none
	Ready       []Dependency     // what /readyz asks
	Clock       func() time.Time // nil: the system's
}

// Dispatcher reaches the workflows of documents.
type Dispatcher interface {
	// Ingest starts the ingest of a version, or signals it to the workflow that
	// already ingests the document. Doing it twice changes nothing.
	Ingest(ctx context.Context, v store.Version) error
	// Remove starts a removal. Doing it twice changes nothing.
	Remove(ctx context.Context, r store.Removal) error
	// CancelRun asks a run to stop. A run that has ended is fine; known is false
	// where it has no workflow that could be asked.
	CancelRun(ctx context.Context, r store.Run) (known bool, err error)
}

// Answers starts the workflows that answer.
type Answers interface {
	// Answer starts the workflow of a run that ends in an answer. A second call
	// for the same run changes nothing, also after the run has ended.
	Answer(ctx context.Context, kind knowledge.RunKind, in workflows.AnswerInput) error
}

// Retriever finds passages.
type Retriever interface {
	// Retrieve gives passages that the request's principal may read, best first.
	Retrieve(ctx context.Context, r retrieve.Request) (retrieve.Result, error)
}

// Attributes is what the edge changes in the index.
type Attributes interface {
	// Follow tells the index what SQL says of a document. Doing it twice changes
	// nothing.
	Follow(ctx context.Context, document string) error
}

// Links knows where an operator sees a workflow.
type Links interface {
	OperatorURL(workflowID string) string
}

// Metrics counts what the edge does. It is safe for concurrent use.
type Metrics interface {
	// Request counts one request; route is its pattern, never its path.
	Request(method, route string, status int, took time.Duration)
	// OpenStreams says how many event streams are open.
	OpenStreams(n int)
}

// Dependency is something without which the edge cannot work.
type Dependency struct {
	Name string
	Ping func(ctx context.Context) error
}

type noMetrics struct{}

func (noMetrics) Request(string, string, int, time.Duration) {}
func (noMetrics) OpenStreams(int)                            {}
