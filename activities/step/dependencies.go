package step

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// All that is declared here is safe for concurrent use, and every method may be
// called again after an error or a crash. Errors that a retry can help are not
// marked: errors.go decides which are final.

// Blobs is the blob store as activities use it. A write replaces what is under
// its key, and is durable when it returns; a reader sees the old bytes or the new
// ones. A missing blob is blob.ErrNotFound, and a full disk blob.ErrNoSpace.
type Blobs interface {
	// Put stores data under key.
	Put(ctx context.Context, key string, data []byte) (blob.Ref, error)
	// PutReader stores what r has left under key. An error of r is returned, and
	// then the bytes that were under key stay.
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// PutJSON stores v as JSON under key.
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	// PutAll stores blobs, several at the same time, and one with After when those
	// before it are stored. After an error some may be stored.
	PutAll(ctx context.Context, items ...blob.Item) error
	// Get returns the bytes under key.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetJSON decodes the JSON under key into v.
	GetJSON(ctx context.Context, key string, v any) error
	// Open returns a reader of what is under key, which the caller closes, and the
	// number of bytes. The reader is not affected by later writes.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Exists reports whether there is a blob under key.
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the blobs under prefix, which ends in "/", in no particular order.
	List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
	// Delete deletes a blob. It is idempotent: a missing one is no error.
	Delete(ctx context.Context, key string) error
	// DeletePrefix deletes the blobs under prefix, which ends in "/", except those
	// for which keep returns true, and returns their number. A nil keep keeps none.
	// Deleting nothing is no error.
	DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error)
}

// Chat calls a chat model. The provider charges for each call, and a second call may
// have another answer.
type Chat interface {
	// Chat yields the deltas of the next message; the last one has Done. An error
	// ends the sequence: a *model.Error, or the cause of ctx.
	Chat(ctx context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error]
	// Endpoint returns the endpoint with its model.
	Endpoint() model.Endpoint
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

// Workflows reaches other workflows, by id.
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
	// Ingest starts the ingest of a version, or signals it to the workflow that
	// ingests the document. Doing it twice changes nothing.
	Ingest(ctx context.Context, v store.Version) error
	// IngestLater is Ingest with the priority of bulk work, so that uploads pass.
	IngestLater(ctx context.Context, v store.Version) error
	// Remove starts a removal. Doing it twice changes nothing.
	Remove(ctx context.Context, r store.Removal) error
	// CancelRun asks a run to stop; its workflow writes the end. known is false if it has
	// no workflow that could.
	CancelRun(ctx context.Context, r store.Run) (known bool, err error)
	// StopIngest asks a document's ingest to give up the versions up to upto;
	// running is false if no such workflow runs. Each call is a signal, and a
	// workflow takes 10,000 of them.
	StopIngest(ctx context.Context, workspace, document string, upto int) (running bool, err error)
	// ForgetIngests deletes the histories of the ended ingests of a document, where
	// nobody else decides how long they are kept. Doing it twice changes nothing.
	ForgetIngests(ctx context.Context, workspace, document string) error
	// ForgetProject deletes the histories of the ended workflows of a project, and
	// returns how many are still open besides its removal. Doing it twice changes nothing.
	ForgetProject(ctx context.Context, workspace, project string) (open int, err error)
	// ForgetRun deletes the histories of an ended run's workflow and of its log. Doing it
	// twice changes nothing.
	ForgetRun(ctx context.Context, r store.Run) error
	// Ingesting returns the version of a document whose steps run now, 0 if none
	// do. A document whose ingest has no open workflow is ErrNotRunning.
	Ingesting(ctx context.Context, workspace, document string) (version int, err error)
}

// Metrics counts what activities do. Its methods do not block.
type Metrics interface {
	// IngestStage records how long one stage of an ingest took.
	IngestStage(stage string, seconds float64)
	// DocumentDone counts a version whose ingest ended, by its outcome.
	DocumentDone(outcome string)
	// ModelCall records a call of a model (kind "chat", "embedding" or "transcription")
	// and the tokens that its provider counted.
	ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int)
	// WorkflowDone counts a workflow that ended, by its type and status.
	WorkflowDone(workflow, status string)
}
