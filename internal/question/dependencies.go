package question

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Deps is what a Starter works with. All fields are required, and safe for
// concurrent use. The runs of agents need Store, Blobs, Log and Now alone.
type Deps struct {
	Store     Store
	Blobs     Blobs
	Keys      Keys
	Workflows Workflows
	Relay     Relay
	Log       *slog.Logger
	Now       func() time.Time

	Attachments Attachments
}

// Store is the part of the database that a question touches before its workflow
// starts. Things that a principal may not see are CodeNotFound.
type Store interface {
	// Project returns a project by its id or its name.
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	// Projects lists the projects that the principal covers, by page.
	Projects(ctx context.Context, p knowledge.Principal, page store.Page) (list []knowledge.Project, cursor string, err error)
	// Preferences returns the principal's preferences as JSON, "{}" if it has none.
	Preferences(ctx context.Context, p knowledge.Principal) (json.RawMessage, error)
	// UnreachedDocuments returns the ids of documents that the principal cannot read.
	UnreachedDocuments(ctx context.Context, p knowledge.Principal, ids []string) ([]string, error)
	// UnsearchableDocuments returns the ids of documents in which a search of projects finds
	// nothing: unpublished, inactive, or of another project. Empty projects means all. The
	// principal can read them.
	UnsearchableDocuments(ctx context.Context, p knowledge.Principal, ids, projects []string) ([]knowledge.Document, error)
	// History returns the summary of the principal's conversation, and its last n
	// messages behind it, oldest first.
	History(ctx context.Context, p knowledge.Principal, conversation string, n int) (store.History, error)
	// StartRun puts a run on record, and its new conversation unless c is nil, in
	// one transaction. A run that the principal put on record before stays as it is.
	// after is the running question of its conversation that it has to wait for, "" = none.
	StartRun(ctx context.Context, p knowledge.Principal, r store.Run, c *store.Conversation) (after string, err error)
	// Run returns a run of the principal.
	Run(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
	// TakeTokens takes tokens of a limit that processes share, or returns how long it
	// has none.
	TakeTokens(ctx context.Context, r store.TokenRequest) (store.Tokens, error)
	// EndRun ends a run; an end that was noted before stays.
	EndRun(ctx context.Context, workspace, id string, end store.RunEnd) error
}

// Blobs holds the snapshots of runs.
type Blobs interface {
	// PutJSON stores v under key, durably when it returns. It replaces what is there.
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	// GetJSON reads what is under key; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
}

// Keys claims the Idempotency-Keys of questions.
type Keys interface {
	// Claim returns the request's claim, also if it has no key. It blocks while
	// another request of this process holds the same key.
	Claim(ctx context.Context, p knowledge.Principal, r idempotency.Request) (*idempotency.Claim, error)
}

// Workflows starts the workflows that answer.
type Workflows interface {
	// Answer starts the workflow of a run that ends in an answer. Starting it twice changes nothing, also when the first has ended.
	// An error with context.DeadlineExceeded leaves open whether it was started.
	Answer(ctx context.Context, kind knowledge.RunKind, in record.AnswerInput) error
}

// Relay lets readers of this process see a run's first events at once.
type Relay interface {
	// Prime passes the first items of a run that is about to start. The relay follows
	// the run until its last reader has left and stop was called. words says that the
	// words of a model come next.
	Prime(run stream.RunRef, items []stream.Item, words bool) (stop func())
}
