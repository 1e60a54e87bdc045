package ingestion

import (
	"context"
	"io"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Originals encrypts originals under keys of their own.
type Originals interface {
	// SealOriginal encrypts an original with what is beside it and all blobs under prefixes,
	// which end in "/". It is idempotent. Blobs reads what it has encrypted.
	SealOriginal(ctx context.Context, original string, prefixes ...string) error
}

// Versions is the part of the store that ingestion changes. A version that was
// removed is knowledge.CodeNotFound. Every method is idempotent. Concurrent calls
// for one version take effect one after the other.
type Versions interface {
	// Version returns a version.
	Version(ctx context.Context, ref knowledge.VersionRef) (store.Version, error)
	// BeginVersion marks a version as begun by a run, whose events begin at
	// firstOffset in the workflow's log. It changes nothing, and returns the version
	// as it is, if the version belongs to another run, has ended, or is being removed.
	BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (store.Version, error)
	// PrepareVersion is BeginVersion and SetStage in one transaction.
	PrepareVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64, stage knowledge.Stage, progress float64, facts store.Facts) (store.Version, error)
	// SetStage stores the stage of a version, its progress (0 to 1) and the facts
	// that are known by now. It does nothing for a version that has ended or is
	// being removed.
	SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, facts store.Facts) error
	// SetWaiting stores that a step of a version waits for its next try, or with nil
	// that none does. It does nothing for a document whose newest version has ended.
	SetWaiting(ctx context.Context, ref knowledge.VersionRef, w *knowledge.Waiting) error
	// CheckConsents returns CodeConsentMissing for a version whose project requires consents,
	// if a subject of it has none. CheckSubjects is the same for a version that is yet to be
	// added. PublishVersion and RecordImported check it again.
	CheckConsents(ctx context.Context, ref knowledge.VersionRef) error
	CheckSubjects(ctx context.Context, workspace, project string, subjects []string) error
	// FailVersion ends a version of the run with an error. It does nothing if the
	// version belongs to another run.
	FailVersion(ctx context.Context, ref knowledge.VersionRef, runID string, e knowledge.DocumentError) error
	// RoomForSystem returns how many more pages and bytes a project may hold, beside one
	// document.
	RoomForSystem(ctx context.Context, workspace, project, document string) (store.Room, error)
	// TakeRoom stores how many pages and bytes a pending version has, 0 = not known yet.
	// Without room for them in the project it is knowledge.CodeLimitReached.
	TakeRoom(ctx context.Context, ref knowledge.VersionRef, pages int, bytes int64) error
	// ProjectGenerations returns the generations of a project's vectors.
	ProjectGenerations(ctx context.Context, workspace, project string) (knowledge.Generations, error)
	// PutChunksPart replaces the chunks [first, first+len(chunks)) of a version.
	// Readers do not see them before PublishVersion.
	PutChunksPart(ctx context.Context, ref knowledge.VersionRef, first int, chunks []knowledge.Chunk) error
	// PublishVersion switches readers to a version and ends its run, in one
	// transaction. It writes nothing if the document is being removed, a newer
	// version is published, or the version was given up, or if the project's generations
	// are not the publication's.
	PublishVersion(ctx context.Context, p store.Publication) (store.Published, error)
	// DiscardVersion deletes, in batches, the chunks of a version that ended without
	// being published. Chunks that a message cites stay.
	DiscardVersion(ctx context.Context, ref knowledge.VersionRef) error
	// RetireChunks deletes, in batches, the chunks of the versions before ref.
	// Chunks that a message cites stay, and so do all while a question of the
	// workspace is running.
	RetireChunks(ctx context.Context, ref knowledge.VersionRef) error
	// RetiredSources returns the blob keys of the originals that only versions
	// before ref have; none under a legal hold.
	RetiredSources(ctx context.Context, ref knowledge.VersionRef) ([]string, error)
	// ReplacedVersions returns the newest versions before ref that were published and
	// whose originals no newer version has.
	ReplacedVersions(ctx context.Context, ref knowledge.VersionRef, limit int) ([]store.Version, error)
}

// Children is the part of the store that adds and removes attachments.
type Children interface {
	// AddVersion adds a version of a document and its run. A run id that is stored
	// already is knowledge.CodeConflict, a parent that is being removed
	// knowledge.CodeNotFound, and a nesting too deep knowledge.CodeParseLimit.
	AddVersion(ctx context.Context, v store.NewVersion) (knowledge.Document, store.Version, error)
	// RetireChildren marks the attachments that a newer version no longer contains
	// for removal. It is idempotent.
	RetireChildren(ctx context.Context, ref knowledge.VersionRef) error
	// ChildRemovals returns the removals of a document's attachments that have not
	// ended.
	ChildRemovals(ctx context.Context, parent string) ([]store.Removal, error)
}

// Removals is the part of the store that removes documents. Every method is
// idempotent.
type Removals interface {
	// RunningVersions returns the versions of a document, up to upto, whose run has
	// not ended.
	RunningVersions(ctx context.Context, workspace, document string, upto int) ([]store.Version, error)
	// HasClaim reports whether an import that is working has claimed a version of a
	// document, up to upto, and not published it.
	HasClaim(ctx context.Context, workspace, document string, upto int) (bool, error)
	// SourceKeys returns the blob keys of the originals of the versions above after.
	SourceKeys(ctx context.Context, workspace, document string, after int) ([]string, error)
	// ArchiveImports lists the imports of a project that have ended and may have kept
	// their archive. ImportContains reports whether a document is an object of one.
	ArchiveImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error)
	ImportContains(ctx context.Context, ref knowledge.ImportRef, document string) (bool, error)
	// RemoveRows deletes the chunks of removals, in batches, and then their versions.
	RemoveRows(ctx context.Context, removals ...store.Removal) error
	// ProjectRuns lists the runs of a project but the one that removes it, oldest first:
	// those that have not ended, or all. DropRuns deletes runs that have ended.
	ProjectRuns(ctx context.Context, removal knowledge.RunRef, running bool, limit int) ([]store.Run, error)
	DropRuns(ctx context.Context, workspace string, ids []string) error
	// ProjectRemovals lists the documents of a project that are being removed, by id.
	ProjectRemovals(ctx context.Context, workspace, project, after string, limit int) ([]store.Removal, error)
	// ProjectImports lists the imports of a project.
	ProjectImports(ctx context.Context, workspace, project string) ([]knowledge.ImportRef, error)
	// DropProject deletes a project with the rest of its rows, but not while it has
	// documents, or runs besides its removal.
	DropProject(ctx context.Context, removal knowledge.RunRef) (dropped bool, err error)
	// EraseDeleted returns once the bytes of deleted rows stand in no file.
	EraseDeleted(ctx context.Context) error
}

// Index is the vector and full text index as ingestion writes it. Every method is
// idempotent, and removing nothing is no error.
type Index interface {
	// Upsert writes entries. It replaces entries with the same version, chunk and
	// generation.
	Upsert(ctx context.Context, entries []index.Entry) error
	// RemoveVersion removes the entries of one version.
	RemoveVersion(ctx context.Context, workspace, document string, version int) error
	// RemoveVersions removes the entries of the versions below keep.
	RemoveVersions(ctx context.Context, workspace, document string, keep int) error
	// RemoveDocument removes the entries up to version upto, from the index's files
	// too.
	RemoveDocument(ctx context.Context, workspace, document string, upto int) error
	// RemoveGeneration removes the vectors of a generation from the entries of a project.
	RemoveGeneration(ctx context.Context, workspace, project, generation string) error
}

// Extractor parses files in child processes with limits.
type Extractor interface {
	// Extract returns the result for a file, the same one each time. It blocks until
	// a child is free. An error that is the document's fault is a *knowledge.Error.
	// When ctx ends, the child is killed and the cause of ctx returned.
	Extract(ctx context.Context, in extract.Input) (format.Result, error)
}

// TextExtractor parses small texts too, many at a time.
type TextExtractor interface {
	Extractor
	// ExtractAll parses files one after the other, and calls done for each, in their
	// order, with what Extract returns. When ctx ends, it calls done no more and
	// returns the cause of ctx.
	ExtractAll(ctx context.Context, files []extract.Input, done func(i int, result format.Result, err error)) error
}

// Drawer draws pages of files in child processes with limits.
type Drawer interface {
	// Draw draws a page of a file in the folder of the input, and returns the name of
	// the picture there. It blocks until a child is free. An error that is the file's
	// fault is a *knowledge.Error.
	Draw(ctx context.Context, in extract.Input, d extract.Drawing) (name string, err error)
}

// Secrets opens the sealed passwords of files.
type Secrets interface {
	// Open returns the value that was sealed for a context. A value that does not
	// open with the instance's key is secret.ErrOpen.
	Open(sealed, context string) (string, error)
}

// Embedder calls an embedding model. The provider charges for each call.
type Embedder interface {
	// TakeTurn blocks until a request of about so many tokens may be sent. All callers
	// of the process that use the endpoint share its turns. If that takes longer than
	// the patience of the turn, the error is a *model.Error that is Held.
	TakeTurn(ctx context.Context, tokens int, turn model.Turn) error
	// MaxTexts returns how many of n texts one call of Embed may have.
	MaxTexts(n int) int
	// LimitTexts notes that the endpoint takes n texts in one call and refuses more.
	LimitTexts(n int)
	// Embed returns one vector for each text, in their order, all of one length.
	// Its errors are *model.Error, or the cause of ctx.
	Embed(ctx context.Context, texts []string) ([][]float32, model.Usage, error)
	// Endpoint returns the endpoint with its model.
	Endpoint() model.Endpoint
}

// Transcriber calls a model that transcribes speech. The provider charges for each call.
type Transcriber interface {
	// TakeTurn is as in Embedder. A recording counts as no tokens.
	TakeTurn(ctx context.Context, tokens int, turn model.Turn) error
	// Transcribe returns what is said in a recording, whose kind the extension of name
	// tells. open may be called several times. Its errors are *model.Error, the errors of open, or
	// the cause of ctx.
	Transcribe(ctx context.Context, name string, open func() (io.ReadCloser, error)) (model.Transcript, error)
	// Endpoint returns the endpoint with its model.
	Endpoint() model.Endpoint
}

// PacedChat is a chat model that many documents use at the same time.
type PacedChat interface {
	step.Chat
	// TakeTurn is Embedder.TakeTurn.
	TakeTurn(ctx context.Context, tokens int, turn model.Turn) error
}

// Hub passes the ends of runs to the readers in this process. Its method does not block.
type Hub interface {
	// Finish passes the last items of a run whose log is stored.
	Finish(run string, items []stream.Item)
}

// Workflows reaches other workflows, by id.
type Workflows interface {
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
	// ImportWrite records a write of a group of an import: how long it waited for its
	// turn, and how long it took.
	ImportWrite(step string, wait, work time.Duration)
	// DocumentDone counts a version whose ingest ended, by its outcome.
	DocumentDone(outcome string)
	// ModelCall records a call of a model (kind "chat", "embedding" or "transcription")
	// and the tokens that its provider counted.
	ModelCall(provider, kind, outcome string, seconds float64, promptTokens, completionTokens int)
	// WorkflowDone counts a workflow that ended, by its type and status.
	WorkflowDone(workflow, status string)
}
