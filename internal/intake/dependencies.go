package intake

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// Deps is what an Intake works with. All fields are required, and safe for
// concurrent use.
type Deps struct {
	Store         Store
	Blobs         Blobs
	Conversations Conversations
	Workflows     Workflows
	Secrets       Secrets
	Recognisers   privacy.Recognisers // of personal data, nil = only those of the package privacy
	Log           *slog.Logger
	Now           func() time.Time
}

// Store is the part of the database that a document touches before its workflow
// starts. Things that a principal may not see are CodeNotFound.
type Store interface {
	// Project returns a project by its id or its name.
	Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error)
	// Document returns a document.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// CheckStored is CodeLimitReached if one of the accounts has no room for so many new
	// documents with so many bytes.
	CheckStored(ctx context.Context, workspace string, accounts []knowledge.Account, added int, bytes int64) error
	// CountDocuments counts the documents that q asks for.
	CountDocuments(ctx context.Context, p knowledge.Principal, q store.DocumentQuery) (int, error)
	// Room returns how many more bytes a project may hold, beside one document.
	Room(ctx context.Context, p knowledge.Principal, project, document string) (store.Room, error)
	// BeginUpload leases an original to this process, before its bytes are stored.
	BeginUpload(ctx context.Context, u store.Upload) error
	// RenewUpload renews the lease; one that has ended is CodeNotFound.
	RenewUpload(ctx context.Context, sourceKey string) error
	// EndUpload forgets an upload whose bytes are deleted.
	EndUpload(ctx context.Context, sourceKey string) error
	// Run returns a run.
	Run(ctx context.Context, p knowledge.Principal, id string) (store.Run, error)
	// AddVersion makes the next version of a document, the document if it is new,
	// and the version's run, in one transaction. A run id that is on record
	// already is CodeConflict. It ends the lease of the upload.
	AddVersion(ctx context.Context, v store.NewVersion) (knowledge.Document, store.Version, error)
	// ReingestVersion makes the next version of a document from the original, the
	// attributes and the override of its newest, in one transaction. A document that is being
	// removed, or whose original was not stored, is CodeConflict.
	ReingestVersion(ctx context.Context, p knowledge.Principal, id, run string, config knowledge.ProjectConfig, now time.Time) (knowledge.Document, store.Version, error)
	// RetryVersion makes the failed newest version of a document pending again,
	// under a new run. A version that waits for its next try it returns as it is.
	RetryVersion(ctx context.Context, p knowledge.Principal, id, run string, now time.Time) (store.Version, error)
}

// Blobs holds the originals.
type Blobs interface {
	// PutReader stores what r has left under key, durably when it returns. An
	// error of r is returned as it is, and then nothing is stored.
	PutReader(ctx context.Context, key string, r io.Reader) (blob.Ref, error)
	// Open reads what is under key, of which it returns the size in bytes too; a
	// missing one is blob.ErrNotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// Delete deletes what is under key; deleting nothing is fine.
	Delete(ctx context.Context, key string) error
}

// Conversations proves whose a conversation is.
type Conversations interface {
	// As returns the principal as it acts for a user, in a conversation. A
	// conversation that is not that user's is CodeNotFound.
	As(ctx context.Context, p knowledge.Principal, acting access.Acting) (knowledge.Principal, error)
}

// Secrets seals the passwords of files.
type Secrets interface {
	// Seal encrypts a value for a context, which Open needs again.
	Seal(plain, context string) (string, error)
}

// Workflows starts ingestions.
type Workflows interface {
	// Ingest starts the ingestion of a version, or signals it to the workflow that
	// already ingests the document. Doing it twice changes nothing.
	Ingest(ctx context.Context, v store.Version) error
	// IngestLater is Ingest with the priority of bulk work.
	IngestLater(ctx context.Context, v store.Version) error
	// RetryNow ends the wait of a document's step for its next try, if it waits.
	RetryNow(ctx context.Context, workspace, document string) error
}
