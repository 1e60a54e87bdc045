package activitytest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/telemetry"
)

// Fixture runs the activities on the embedded store, index and blobs in folders of
// its own, with a stand-in model server. Its parsers and workflows are fakes.
type Fixture struct {
	*testing.T
	Ctx       context.Context
	Store     *store.Store
	Index     *embedded.Index
	Blobs     *blob.Keyed
	Server    *modeltest.Server
	Parser    *Parser
	Workflows *Workflows
	Hub       *stream.Hub
	Logged    *bytes.Buffer
	Dir       string // of everything that is stored
	Ingestion *ingestion.Activities
	Answering *answering.Activities

	IngestionUses ingestion.Dependencies // which IngestWith changes
	AnsweringUses answering.Dependencies // which AnswerWith changes
}

// loopback permits downloads from the servers of the test.
var loopback = netip.MustParsePrefix("127.0.0.1/32")

// New returns a fixture with a workspace and a project.
func New(t *testing.T) *Fixture {
	t.Helper()
	f := &Fixture{
		T: t, Ctx: t.Context(), Server: modeltest.New(modeltest.Options{}), Parser: &Parser{}, Workflows: &Workflows{},
		Hub: stream.NewHub(), Logged: &bytes.Buffer{},
	}
	t.Cleanup(f.Server.Close)
	dir := t.TempDir()
	f.Dir = dir
	var err error
	f.Store, err = store.Open(f.Ctx, store.Config{URL: "sqlite://" + filepath.Join(dir, "cairn.db")})
	f.Must(err)
	f.Index, err = embedded.Open(f.Ctx, embedded.Config{Path: filepath.Join(dir, "index.db")})
	f.Must(err)
	blobs, err := blob.Open(f.Ctx, "file://"+filepath.Join(dir, "blobs")+"?sync=off")
	f.Must(err)
	box, err := secret.NewBox(secret.NewKey())
	f.Must(err)
	f.Blobs = blobs.WithKeys(f.Store, box)
	t.Cleanup(func() {
		if err := errors.Join(f.Store.Close(), f.Index.Close(), f.Blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	f.Must(f.Store.CreateWorkspace(f.Ctx, store.Workspace{ID: "w", Name: "w"}))
	f.Must(f.Store.CreateProject(f.Ctx, knowledge.Project{ID: "p", Workspace: "w", Name: "p"}))
	f.wire()
	return f
}

func (f *Fixture) wire() {
	metrics, log := telemetry.NewMetrics("test"), slog.New(slog.NewTextHandler(f.Logged, nil))
	client := model.New(f.Server.Endpoint(), nil)
	f.IngestionUses = ingestion.Dependencies{
		Config: ingestion.Config{InstanceLimits: knowledge.InstanceLimits{FileBytes: 1 << 20, TextBytes: 1 << 19}, TempDir: f.TempDir()},
		Blobs:  f.Blobs, Originals: f.Blobs, Versions: f.Store, Removals: f.Store, Children: f.Store, Reindexes: f.Store, Runs: f.Store, Index: f.Index, Extractor: f.Parser, SmallTexts: f.Parser, Drawer: f.Parser,
		Attributes: &ingestion.Attributes{Store: f.Store, Index: f.Index},
		Embedder:   client, Chat: client, Transcriber: client, Workflows: f.Workflows, Dialer: safedial.New(safedial.Config{Allow: []netip.Prefix{loopback}}),
		Hub: f.Hub, Metrics: metrics, Log: log,
	}
	f.Ingestion = ingestion.New(f.IngestionUses)
	f.AnsweringUses = answering.Dependencies{
		Blobs: f.Blobs, Runs: f.Store, Retriever: retrieve.New(f.Index, f.Store, QuestionEmbedder{client}), Passages: f.Store, Conversations: f.Store, Chat: client,
		Workflows: f.Workflows, Hub: f.Hub, Metrics: metrics, Log: log,
	}
	f.Answering = answering.New(f.AnsweringUses)
}

// IngestWith changes what the activities of documents use.
func (f *Fixture) IngestWith(change func(d *ingestion.Dependencies)) {
	change(&f.IngestionUses)
	f.Ingestion = ingestion.New(f.IngestionUses)
}

// AnswerWith changes what the activities of questions use.
func (f *Fixture) AnswerWith(change func(d *answering.Dependencies)) {
	change(&f.AnsweringUses)
	f.Answering = answering.New(f.AnsweringUses)
}

// Must ends the test at an error.
func (f *Fixture) Must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// QuestionEmbedder adapts model.Client to the embedder of questions.
type QuestionEmbedder struct{ *model.Client }

// Embed embeds texts.
func (q QuestionEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := q.Client.Embed(ctx, texts)
	return vectors, err
}

// Do runs an activity as a worker does: input and result pass through the data
// converter, and the error is the one that a workflow has.
func Do[In, Out any](f *Fixture, run func(context.Context, In) (Out, error), in In) (Out, error) {
	f.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(Quiet())
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(run)
	var out Out
	value, err := env.ExecuteActivity(run, in)
	if err == nil && value.HasValue() {
		f.Must(value.Get(&out))
	}
	return out, err
}

// Discard returns a log that nobody reads.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// Quiet is a log of the SDK that nobody reads.
func Quiet() sdklog.Logger { return sdklog.NewStructuredLogger(Discard()) }

// Act runs an activity without a result.
func Act[In any](f *Fixture, run func(context.Context, In) error, in In) error {
	f.Helper()
	_, err := Do(f, func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, run(ctx, in) }, in)
	return err
}

// FailedWith checks what a failure of an activity means to a client.
func (f *Fixture) FailedWith(err error, code knowledge.Code, retryable bool) {
	f.Helper()
	if err == nil {
		f.Errorf("no error, want code %s", code)
		return
	}
	got := step.Describe(err, knowledge.Failure{Code: knowledge.CodeParseLimit})
	if got.Code != code || got.Retryable != retryable || got.Message == "" {
		f.Errorf("failed with %+v (%v), want code %s, retryable %t", got, err, code, retryable)
	}
	var application *temporal.ApplicationError
	if errors.As(err, &application) && application.NonRetryable() == retryable {
		f.Errorf("%v: Temporal retries %t, clients are told %t", err, !application.NonRetryable(), retryable)
	}
}

// Upload is a new version of document name, with its bytes stored.
func (f *Fixture) Upload(name, text string, change ...func(*store.NewVersion)) ingestion.StepInput {
	f.Helper()
	nv := store.NewVersion{
		Workspace: "w", Project: "p", ExternalID: name, DocumentID: knowledge.DocumentID("w", "p", name), Name: name,
		Access: &knowledge.Access{Workspace: true}, RunID: knowledge.NewID(), Now: time.Now(),
	}
	nv.SourceKey = blob.UploadKey("w", "p", nv.DocumentID, nv.RunID)
	for _, c := range change {
		c(&nv)
	}
	if nv.SourceURL == "" {
		_, err := f.Blobs.Put(f.Ctx, nv.SourceKey, []byte(text))
		f.Must(err)
	}
	if nv.ConversationID != nil {
		_, err := f.Store.EnsureConversation(f.Ctx, Member(), store.Conversation{ID: *nv.ConversationID, Project: "p"})
		f.Must(err)
	}
	_, v, err := f.Store.AddVersion(f.Ctx, nv)
	f.Must(err)
	return ingestion.StepInput{VersionRef: v.VersionRef, Run: nv.RunID}
}

// Prepare prepares, extracts and cuts a version, and returns the number of chunks.
func (f *Fixture) Prepare(in ingestion.StepInput) int {
	f.Helper()
	prepared, err := Do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
	f.Must(err)
	if prepared.Chunked {
		return prepared.Chunks
	}
	extracted, err := Do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
	f.Must(err)
	return extracted.Chunks
}

// Embed embeds the chunks of a version, in steps of three batches.
func (f *Fixture) Embed(in ingestion.StepInput, count int) ingestion.PublishInput {
	f.Helper()
	const size = 3 * ingestion.BatchSize
	for first := 0; first < count; first += size {
		last := min(first+size, count)
		f.Must(Act(f, f.Ingestion.EmbedChunks, ingestion.EmbedInput{StepInput: in, First: first, Last: last, Count: count}))
	}
	return ingestion.PublishInput{StepInput: in, Count: count}
}

// Vectors are the blobs with the vectors of a document.
func (f *Fixture) Vectors(in ingestion.StepInput) []string {
	f.Helper()
	keys := f.Keys(blob.DocumentPrefix(in.Workspace, in.Project, in.Document) + "vectors/")
	slices.Sort(keys)
	return keys
}

// Chunks are the chunks of a short version, as they are stored.
func (f *Fixture) Chunks(in ingestion.StepInput) []knowledge.Chunk {
	f.Helper()
	var cut struct {
		Chunks []knowledge.Chunk `json:"chunks"`
	}
	f.Must(f.Blobs.GetJSON(f.Ctx, blob.StepKey(in.VersionRef, "cut.json"), &cut))
	return cut.Chunks
}

// Publish takes a version from its upload to its publication.
func (f *Fixture) Publish(in ingestion.StepInput) ingestion.PublishInput {
	f.Helper()
	publish := f.Embed(in, f.Prepare(in))
	result, err := Do(f, f.Ingestion.PublishDocument, publish)
	f.Must(err)
	if !result.Published {
		f.Fatalf("version %d was not published", in.Version)
	}
	f.Must(Act(f, f.Ingestion.RetireVersions, in))
	return publish
}

// Member is somebody of the workspace. Packages outside access make principals
// as a run's snapshot does.
func Member() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
}

// Manager has the write scope.
func Manager() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "m", Covered: []string{knowledge.EveryLevel}, Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
}

// Finds returns the texts that a search for words finds, with the index and the
// check in SQL.
func (f *Fixture) Finds(words string) []string {
	f.Helper()
	hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: Member(), Limit: 100}, words)
	f.Must(err)
	views, err := f.Store.VisibleChunks(f.Ctx, Member(), nil, hits)
	f.Must(err)
	texts := []string{}
	for _, v := range views {
		texts = append(texts, v.Text)
	}
	return texts
}

// Keys are the keys of the blobs under a prefix.
func (f *Fixture) Keys(prefix string) []string {
	f.Helper()
	keys := []string{}
	for object, err := range f.Blobs.List(f.Ctx, prefix) {
		f.Must(err)
		keys = append(keys, object.Key)
	}
	return keys
}
