package activities

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Blobs is the blob store as activities use it.
type Blobs interface {
	Put(ctx context.Context, key string, data []byte) (blob.Ref, error)
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	Get(ctx context.Context, key string) ([]byte, error)
	GetJSON(ctx context.Context, key string, v any) error
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	Exists(ctx context.Context, key string) (bool, error)
	DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error)
}

// Versions is the part of the store that ingestion moves forward.
type Versions interface {
	Version(ctx context.Context, ref knowledge.VersionRef) (store.Version, error)
	BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (store.Version, error)
	PrepareVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64, stage knowledge.Stage, progress float64, facts store.Facts) (store.Version, error)
	SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, facts store.Facts) error
	FailVersion(ctx context.Context, ref knowledge.VersionRef, runID string, e knowledge.DocumentError) error
	PutChunksPart(ctx context.Context, ref knowledge.VersionRef, first int, chunks []knowledge.Chunk) error
	PublishVersion(ctx context.Context, p store.Publication) (store.Published, error)
	DiscardVersion(ctx context.Context, ref knowledge.VersionRef) error
	RetireChunks(ctx context.Context, ref knowledge.VersionRef) error
	RetiredSources(ctx context.Context, ref knowledge.VersionRef) ([]string, error)
}

// Removals is the part of the store that takes documents away.
type Removals interface {
	RunningVersions(ctx context.Context, workspace, document string, upto int) ([]store.Version, error)
	SourceKeys(ctx context.Context, workspace, document string, after int) ([]string, error)
	RemoveRows(ctx context.Context, r store.Removal) error
	CheckpointWAL(ctx context.Context) error
}

// Runs is the part of the store that knows how runs ended.
type Runs interface {
	RunEnds
}

// Index is the vector and full text index as ingestion writes it.
type Index interface {
	Upsert(ctx context.Context, entries []index.Entry) error
	RemoveVersion(ctx context.Context, workspace, document string, version int) error
	RemoveVersions(ctx context.Context, workspace, document string, keep int) error
	RemoveDocument(ctx context.Context, workspace, document string, upto int) error
}

// Extractor turns a file into a layout, in a limited child process.
type Extractor interface {
	Extract(ctx context.Context, in extract.Input) (knowledge.Layout, error)
}

// Embedder makes vectors of texts; Endpoint says which model does.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error)
	Endpoint() model.Endpoint
}

// Chat asks a model.
type Chat interface {
	Chat(ctx context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error]
	Endpoint() model.Endpoint
}

// Retriever finds passages.
type Retriever interface {
	Retrieve(ctx context.Context, r retrieve.Request) (retrieve.Result, error)
}

// Hub hands items that are durable to readers in the same process.
type Hub interface {
	Append(run string, items []stream.Item)
	Pause(run string)
	Fence(run string, turn, attempt int)
	Finish(run string, items []stream.Item)
}

// Workflows reaches other workflows, by id.
type Workflows interface {
	// Publish signals a batch to the log in the workflow.
	Publish(ctx context.Context, workflowID string, b stream.Batch) error
	// Events reads the log in the workflow from an offset on.
	Events(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error)
	// StopIngest tells a document's ingest to give up versions up to upto;
	// running is false where no such workflow runs. Each call is a signal.
	StopIngest(ctx context.Context, workspace, document string, upto int) (running bool, err error)
	// Ingesting returns the version of a document whose steps run now, 0 if
	// none do.
	Ingesting(ctx context.Context, workspace, document string) (version int, err error)
}

// Metrics counts what activities do.
type Metrics interface {
	IngestStage(stage string, seconds float64)
	DocumentDone(outcome string)
	ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int)
	WorkflowDone(workflow, status string)
}
