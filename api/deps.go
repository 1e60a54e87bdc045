package api

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/forget"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Config is the part of the configuration that concerns the API.
type Config struct {
	// InstanceLimits bound what requests bring. Its sizes default to 100 MB of a file, 20 MB
	// of a text and 2 GB of a request.
	knowledge.InstanceLimits
	// InstanceFeatures are what projects may set and ask for.
	knowledge.InstanceFeatures
	// Levels are the levels of classification. Defaults to those of knowledge.Levels.
	Levels knowledge.Levels
	// Version is the program's version in openapi.json. Defaults to "dev".
	Version string
	// Process names this process among those that serve the API over the same stores; no
	// two starts may have the same name. Defaults to "": no other process serves it, and
	// what only one process has to know stays in its memory.
	Process string
	// PublicURL is the address at which clients reach the API
	// ("https://cairn.example.com"). Links in answers begin with it. Defaults to
	// none: links are paths.
	PublicURL string
	// Currency is the one in which usage shows costs. Defaults to none: no cost is shown.
	Currency string
	// Presign answers requests for originals with the address of the bytes in their
	// bucket. Defaults to false: the server sends the bytes.
	Presign bool
	// RequestFiles bounds the files of one upload request; only tests set it.
	// Defaults to 200.
	RequestFiles int
	// BodyMemory bounds the bytes of large bodies that are held in memory at a
	// time; further requests wait. Only tests set it. Defaults to 256 MB.
	BodyMemory int64
	// Streams bounds the event streams that are open at a time. Defaults to 2,000.
	Streams int
	// StreamPatience bounds how long the reader of a WebSocket may leave unread what was
	// sent. Only tests set it. Defaults to 60 s.
	StreamPatience time.Duration
	// TempDir holds uploads with an Idempotency-Key while their hash is computed.
	// Defaults to the system's folder for temporary files.
	TempDir string
	// AuditQuestions keeps the words of questions in the audit. Defaults to false: their
	// hashes are kept.
	AuditQuestions bool
}

func (c Config) withDefaults() Config {
	c.Version = cmp.Or(c.Version, "dev")
	c.FileBytes = cmp.Or(c.FileBytes, 100<<20)
	c.TextBytes = cmp.Or(c.TextBytes, 20<<20)
	c.RequestFiles = cmp.Or(c.RequestFiles, 200)
	c.RequestBytes = cmp.Or(c.RequestBytes, 2e9)
	c.BodyMemory = cmp.Or(c.BodyMemory, 256<<20)
	c.Streams = cmp.Or(c.Streams, 2000)
	c.StreamPatience = cmp.Or(c.StreamPatience, time.Minute)
	return c
}

func (d Deps) now() time.Time { return d.Clock().UTC() }

// Deps is what a Server works with. All but ModelNames, Quota, Metrics, MetricsPage, Ready and
// Clock are required.
type Deps struct {
	Store      Store
	Followed   FollowedRuns
	Blobs      Blobs
	Access     Access
	Retriever  Retriever
	Pages      PageDrawer
	Texts      TextReader
	Attributes Attributes
	Dispatch   Dispatcher
	Imports    importing.Sources
	Syncs      *following.Runner
	Places     following.Places
	Secrets    Secrets // seals what requests must not leave readable

	NamedSecrets NamedSecrets
	Quotations   Quotations
	Steps        StepRunner          // of pipelines, that are tried; nil: none can be
	Recognisers  privacy.Recognisers // of personal data, nil = only those of the package privacy

	Answers     question.Workflows
	Relay       Relay
	Models      openai.Models
	ModelNames  ModelNames // of the chat models that projects name; nil: they are not checked
	Links       Links
	Addresses   Addresses
	Log         *slog.Logger
	Audit       *audit.Recorder
	AuditChain  AuditChain
	Quota       *quota.Meter // nil: no request is counted
	Encryption  Encryption
	Metrics     Metrics          // nil: nothing is counted
	MetricsPage http.Handler     // serves /metrics; nil: there is none
	Ready       []Dependency     // what /readyz asks
	Details     HealthDetails    // what /readyz shows beside them
	Clock       func() time.Time // nil: the system's
}

// Blobs holds originals, and the snapshots and answers of runs.
type Blobs interface {
	question.Blobs
	intake.Blobs
	// Exists reports whether there are bytes under key.
	Exists(ctx context.Context, key string) (bool, error)
	// List yields the blobs below a prefix.
	List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
	// OpenContent returns the bytes under key, which the caller closes. A missing blob is
	// blob.ErrNotFound.
	OpenContent(ctx context.Context, key string) (*blob.Content, error)
	// Link returns an address from which anybody can download a blob for a time, "" if
	// the store has none.
	Link(ctx context.Context, key string, d blob.Download) (string, error)
}

// Access makes the principals of requests, and signs the links to runs and originals.
type Access interface {
	edge.Access
	VisitorAccess
	SessionAccess
	ProviderAccess
	Rights
	// Lapsed returns which of these keys are no longer valid, and which of the sessions, by the
	// hashes of their cookies, have ended.
	Lapsed(ctx context.Context, keys, sessions []string) (endedKeys, endedSessions []string, err error)
	// Explainer explains who sees a document.
	Explainer(s access.ExplainStore, now func() time.Time) *access.Explainer
	// LeftMembers returns which of these users are not, or no longer, people of a workspace.
	LeftMembers(ctx context.Context, workspace string, users []string) ([]string, error)
	// SignRun returns a token with which its holder may follow one run, as long as the
	// principal's key is valid.
	SignRun(p knowledge.Principal, run string, expires time.Time) string
	// VerifyRun returns what a token is good for. A forged or expired token, one for
	// another run, or one whose key is no longer valid, is CodeUnauthorized.
	VerifyRun(ctx context.Context, token, run string, now time.Time) (access.Link, error)
	// SignOriginal and VerifyOriginal do the same for the original of a document.
	SignOriginal(p knowledge.Principal, document, conversation string, expires time.Time) string
	VerifyOriginal(ctx context.Context, token, document string, now time.Time) (access.Link, knowledge.Principal, error)
	// SignRunFile and VerifyRunFile do the same for a file of a run.
	SignRunFile(p knowledge.Principal, run, name string, expires time.Time) string
	VerifyRunFile(ctx context.Context, token, run, name string, now time.Time) (access.Link, error)
}

// Quotations cuts the words of a document out of the answers of a workspace.
type Quotations interface {
	// Document returns what it changed, or with dry what it would change. A document that
	// the principal may not change is not found.
	Document(ctx context.Context, p knowledge.Principal, document string, dry bool) (forget.Counts, error)
}

// Relay follows the events of runs.
type Relay interface {
	question.Relay
	// Items yields the items of a run from an offset on and follows the run to its
	// last one. It ends early with an error when ctx ends or the log cannot be read.
	Items(ctx context.Context, run stream.RunRef, from int64) iter.Seq2[stream.Item, error]
	// Open returns a reader of the items of a run from an offset on. The caller closes it.
	Open(run stream.RunRef, from int64) *stream.Reader
}

// Dispatcher reaches the workflows of documents.
type Dispatcher interface {
	intake.Workflows
	importing.Workflows
	// Remove starts a removal. Doing it twice changes nothing.
	Remove(ctx context.Context, r store.Removal) error
	// RemoveProject starts the removal of a project. Doing it twice changes nothing.
	RemoveProject(ctx context.Context, r store.Run) error
	// ExportSubject and EraseSubject start runs that export or erase what a person left. Doing
	// it twice changes nothing.
	ExportSubject(ctx context.Context, r store.Run) error
	EraseSubject(ctx context.Context, r store.Run) error
	// Retain starts a run of retention. It does nothing if the workspace has one that is open.
	Retain(ctx context.Context, r store.Run) error
	// Reindex starts a reindex. It does nothing if the project has one that is open.
	Reindex(ctx context.Context, r store.Run) error
	// PauseReindex asks a reindex to pause or to resume; known is false if it has no
	// workflow that is open.
	PauseReindex(ctx context.Context, r store.Run, paused bool) (known bool, err error)
	// Evaluate starts an evaluation. Doing it twice changes nothing, also after it has ended.
	Evaluate(ctx context.Context, r store.Run, settings record.EvaluationSettings) error
	// Generate starts the run in which a model makes a test set. Doing it twice changes nothing.
	Generate(ctx context.Context, r store.Run) error
	// PauseEvaluation asks an evaluation to pause or to resume; known is false if it has no
	// workflow that is open.
	PauseEvaluation(ctx context.Context, r store.Run, paused bool) (known bool, err error)
	// Decide tells a question's run what a person decided about a tool call; waiting is
	// false if no such call waits for a decision.
	Decide(ctx context.Context, r store.Run, d record.Decision) (waiting bool, err error)
	// Steer tells a question's run about a message of its person, which is the blob under key.
	// It returns CodeConflict if the answer accepts none any more, and CodeLimitReached if it
	// has accepted as many as it may.
	Steer(ctx context.Context, r store.Run, key string) error
	// ControlResearch pauses, resumes or steers a research; known is false if it has no
	// workflow that is open.
	ControlResearch(ctx context.Context, r store.Run, c record.ResearchControl) (known bool, err error)
	// Steps returns the activities of a workflow, oldest first; none if its history is gone.
	Steps(ctx context.Context, workflowID string) ([]record.Step, error)
	// Execution returns Temporal's id of the newest run of a workflow that had begun at a time,
	// "" if its history is gone.
	Execution(ctx context.Context, workflowID string, at time.Time) (string, error)
}

// NamedSecrets decides who may use the secrets that requests name.
type NamedSecrets interface {
	importing.Secrets
	// Configured lists the secrets of the configuration that a principal may name.
	Configured(p knowledge.Principal) []knowledge.Secret
	// Seal encrypts the value of a secret that is stored.
	Seal(s knowledge.Secret, value string) (string, error)
}

// Retriever finds passages.
type Retriever interface {
	// Retrieve returns passages that the request's principal may read, best first.
	Retrieve(ctx context.Context, r retrieve.Request) (retrieve.Result, error)
}

// Attributes brings the index up to date with a change of a document.
type Attributes interface {
	// UpdateIndex writes the document's attributes in SQL to the index. It is
	// idempotent.
	UpdateIndex(ctx context.Context, document string) error
}

// Addresses knows which addresses that users give may be dialled.
type Addresses interface {
	// CheckURL returns CodeInvalid for an address that is refused whatever its name
	// resolves to.
	CheckURL(address string) error
	// CheckResolved is CheckURL for an address that another program dials. It resolves the
	// name too.
	CheckResolved(ctx context.Context, address string) error
}

// Links builds the addresses at which operators see workflows.
type Links interface {
	// OperatorURL returns the address of a workflow's page.
	OperatorURL(workflowID string) string
	// ExecutionURL returns the address of the page of one of its runs in Temporal.
	ExecutionURL(workflowID, execution string) string
	// OperatorPage returns the address of the operator's pages, "" if it is not known.
	OperatorPage() string
}

// Metrics counts requests and streams. It is safe for concurrent use.
type Metrics interface {
	edge.Metrics
	// OpenStreams notes how many event streams are open.
	OpenStreams(n int)
}

// Dependency is something without which the edge cannot work.
type Dependency struct {
	Name     string
	Ping     func(ctx context.Context) error
	Optional bool // the server stays ready without it
}

type noMetrics struct{}

func (noMetrics) Request(string, string, int, time.Duration) {}

func (noMetrics) OpenStreams(int) {}
