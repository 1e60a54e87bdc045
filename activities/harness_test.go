package activities_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/subtitle"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/telemetry"
)

// fixture runs the activities on the embedded store, index and blobs in folders of
// its own, with a stand-in model server. Its parsers and workflows are fakes.
type fixture struct {
	*testing.T
	ctx       context.Context
	store     *store.Store
	index     *embedded.Index
	blobs     *blob.Store
	server    *modeltest.Server
	parser    *parser
	workflows *workflowsBehind
	hub       *stream.Hub
	log       *bytes.Buffer
	dir       string // of everything that is stored
	ingestion *activities.Ingestion
	answering *activities.Answering
}

// loopback permits downloads from the servers of the test.
var loopback = netip.MustParsePrefix("127.0.0.1/32")

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		T: t, ctx: t.Context(), server: modeltest.New(modeltest.Options{}), parser: &parser{}, workflows: &workflowsBehind{},
		hub: stream.NewHub(), log: &bytes.Buffer{},
	}
	t.Cleanup(f.server.Close)
	dir := t.TempDir()
	f.dir = dir
	var err error
	f.store, err = store.Open(f.ctx, store.Config{URL: "sqlite://" + filepath.Join(dir, "cairn.db")})
	f.must(err)
	f.index, err = embedded.Open(f.ctx, embedded.Config{Path: filepath.Join(dir, "index.db")})
	f.must(err)
	f.blobs, err = blob.Open(f.ctx, "file://"+filepath.Join(dir, "blobs")+"?sync=off")
	f.must(err)
	t.Cleanup(func() {
		if err := errors.Join(f.store.Close(), f.index.Close(), f.blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	f.must(f.store.CreateWorkspace(f.ctx, store.Workspace{ID: "w", Name: "w"}))
	f.must(f.store.CreateProject(f.ctx, knowledge.Project{ID: "p", Workspace: "w", Name: "p"}))
	f.wire()
	return f
}

func (f *fixture) wire() {
	metrics, log := telemetry.NewMetrics("test"), slog.New(slog.NewTextHandler(f.log, nil))
	client := model.New(f.server.Endpoint(), nil)
	f.ingestion = &activities.Ingestion{
		Config: activities.IngestionConfig{FileBytes: 1 << 20, TextBytes: 1 << 19, TempDir: f.TempDir()},
		Blobs:  f.blobs, Versions: f.store, Removals: f.store, Children: f.store, Reindexes: f.store, Runs: f.store, Index: f.index, Extractor: f.parser, SmallTexts: f.parser, Drawer: f.parser,
		Attributes: &activities.Attributes{Store: f.store, Index: f.index},
		Embedder:   client, Chat: client, Transcriber: client, Workflows: f.workflows, Dialer: safedial.New(safedial.Config{Allow: []netip.Prefix{loopback}}),
		Hub: f.hub, Metrics: metrics, Log: log,
	}
	f.answering = &activities.Answering{
		Blobs: f.blobs, Runs: f.store, Retriever: retrieve.New(f.index, f.store, questions{client}), Passages: f.store, Conversations: f.store, Chat: client,
		Workflows: f.workflows, Hub: f.hub, Metrics: metrics, Log: log,
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// questions adapts model.Client to the embedder of questions.
type questions struct{ *model.Client }

func (q questions) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := q.Client.Embed(ctx, texts)
	return vectors, err
}

// parser reads a file as paragraphs, and counts its calls.
type parser struct {
	mu       sync.Mutex
	calls    int
	files    []string
	last     extract.Input
	err      error
	children []string // names of the attachments of every file
	parts    []string // contents of the parts into which every recording is cut; nil = it cannot be cut

	// read replaces the reading of files that are not Markdown, if not nil.
	read func(in extract.Input) (format.Result, error)
}

// Draw writes the bytes of the file, and the number of the page, as a picture.
func (p *parser) Draw(_ context.Context, in extract.Input, d extract.Drawing) (string, error) {
	data, err := os.ReadFile(in.Path)
	if err != nil {
		return "", err
	}
	picture := fmt.Sprintf("\x89PNG\r\n\x1a\n%s page %d", data, d.Page)
	return "page", os.WriteFile(filepath.Join(in.Folder, "page"), []byte(picture), 0o600)
}

func (p *parser) Extract(_ context.Context, in extract.Input) (format.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	p.files, p.last = append(p.files, in.Path), in
	if p.err != nil {
		return format.Result{}, p.err
	}
	if extract.IsSpeech(in.MediaType) {
		return p.cut(in)
	}
	if p.read != nil && in.MediaType != extract.TypeMarkdown {
		return p.read(in)
	}
	data := in.Data
	if in.Path != "" {
		var err error
		if data, err = os.ReadFile(in.Path); err != nil {
			return format.Result{}, err
		}
	}
	layout := knowledge.Layout{MediaType: in.MediaType}
	if strings.HasPrefix(string(data), "WEBVTT") {
		layout, err := subtitle.Read(string(data))
		return format.Result{Layout: layout}, err
	}
	for text := range strings.SplitSeq(string(data), "\n\n") {
		layout.Blocks = append(layout.Blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: text})
	}
	result := format.Result{Layout: layout}
	for i, name := range p.children {
		file := fmt.Sprintf("child-%d", i)
		if err := os.WriteFile(filepath.Join(in.Folder, file), []byte("Attachment "+name), 0o600); err != nil {
			return format.Result{}, err
		}
		result.Children = append(result.Children, format.File{Name: name, File: file})
	}
	return result, nil
}

func (p *parser) ExtractAll(ctx context.Context, files []extract.Input, done func(int, format.Result, error)) error {
	for i, in := range files {
		result, err := p.Extract(ctx, in)
		done(i, result, err)
	}
	return nil
}

// cut returns the parts of a recording.
func (p *parser) cut(in extract.Input) (result format.Result, err error) {
	if p.parts == nil {
		return result, format.Tools{}.Missing("a recording", "ffmpeg", "ffmpeg")
	}
	for i, content := range p.parts {
		name := fmt.Sprintf("part-%04d.mp3", i)
		if err := os.WriteFile(filepath.Join(in.Folder, name), []byte(content), 0o600); err != nil {
			return result, err
		}
		result.Assets = append(result.Assets, format.File{Name: name, File: name})
	}
	return result, nil
}

// workflowsBehind fakes the workflows that activities reach: the log of a run, and
// a record of the calls for other workflows.
type workflowsBehind struct {
	canceled []string // runs, none of which has a workflow
	mu       sync.Mutex
	log      stream.Log
	batches  []stream.Batch
	before   func(stream.Batch) error // called before a batch is added, if not nil
	stopped  int
	running  int // how often an ingest says that it still runs
	onStop   func()

	completed *[]any // results that activities reported themselves; nil = such a report fails

	ingests  []store.Version // that were started
	removals []store.Removal // that were started

	forgotten []string // documents whose histories were deleted
	forgets   int      // how often the histories of a project were deleted
	open      int      // how often a workflow of the project is still open then
	ended     []string // workflows whose histories were deleted by their ids

	ingesting int   // the version whose steps run; -1 = the workflow has ended
	unread    error // of reading the log
}

func (w *workflowsBehind) Publish(_ context.Context, _ string, b stream.Batch) error {
	if w.before != nil {
		if err := w.before(b); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batches = append(w.batches, b)
	w.log.Publish(b)
	return nil
}

func (w *workflowsBehind) Events(_ context.Context, _ string, from int64) (stream.EventsPage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unread != nil {
		return stream.EventsPage{}, w.unread
	}
	return stream.EventsPage{Page: w.log.Page(from, nil), Base: w.log.Base}, nil
}

// Complete keeps the result of the activity, if the fixture has a place for it.
func (w *workflowsBehind) Complete(_ context.Context, _ []byte, result any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.completed == nil {
		return errors.New("no server")
	}
	*w.completed = append(*w.completed, result)
	return nil
}

func (w *workflowsBehind) IngestLater(ctx context.Context, v store.Version) error {
	return w.Ingest(ctx, v)
}

func (w *workflowsBehind) Ingest(_ context.Context, v store.Version) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ingests = append(w.ingests, v)
	return nil
}

func (w *workflowsBehind) CancelRun(_ context.Context, r store.Run) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.canceled = append(w.canceled, r.ID)
	return false, nil
}

func (w *workflowsBehind) Remove(_ context.Context, r store.Removal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removals = append(w.removals, r)
	return nil
}

func (w *workflowsBehind) StopIngest(context.Context, string, string, int) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped++
	if w.stopped <= w.running {
		return true, nil
	}
	if w.onStop != nil {
		w.onStop()
	}
	return w.running > 0, nil
}

func (w *workflowsBehind) ForgetIngests(_ context.Context, _, document string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgotten = append(w.forgotten, document)
	return nil
}

func (w *workflowsBehind) ForgetProject(context.Context, string, string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forgets++; w.forgets <= w.open {
		return 1, nil
	}
	return 0, nil
}

func (w *workflowsBehind) ForgetRun(_ context.Context, r store.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, r.WorkflowID)
	return nil
}

func (w *workflowsBehind) Ingesting(context.Context, string, string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ingesting < 0 {
		return 0, activities.ErrNotRunning
	}
	return w.ingesting, nil
}

// items returns the items of the log.
func (w *workflowsBehind) items() []stream.Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Items(0)
}

// do runs an activity as a worker does: input and result pass through the data
// converter, and the error is the one that a workflow has.
func do[In, Out any](f *fixture, run func(context.Context, In) (Out, error), in In) (Out, error) {
	f.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(run)
	var out Out
	value, err := env.ExecuteActivity(run, in)
	if err == nil && value.HasValue() {
		f.must(value.Get(&out))
	}
	return out, err
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// quiet is a log of the SDK that nobody reads.
func quiet() sdklog.Logger { return sdklog.NewStructuredLogger(discard()) }

// step runs an activity without a result.
func step[In any](f *fixture, run func(context.Context, In) error, in In) error {
	f.Helper()
	_, err := do(f, func(ctx context.Context, in In) (struct{}, error) { return struct{}{}, run(ctx, in) }, in)
	return err
}

// failed checks what a failure of an activity means to a client.
func (f *fixture) failed(err error, code knowledge.Code, retryable bool) {
	f.Helper()
	if err == nil {
		f.Errorf("no error, want code %s", code)
		return
	}
	got := activities.Describe(err, knowledge.Failure{Code: knowledge.CodeParseLimit})
	if got.Code != code || got.Retryable != retryable || got.Message == "" {
		f.Errorf("failed with %+v (%v), want code %s, retryable %t", got, err, code, retryable)
	}
	var application *temporal.ApplicationError
	if errors.As(err, &application) && application.NonRetryable() == retryable {
		f.Errorf("%v: Temporal retries %t, clients are told %t", err, !application.NonRetryable(), retryable)
	}
}

// upload is a new version of document name, with its bytes stored.
func (f *fixture) upload(name, text string, change ...func(*store.NewVersion)) activities.StepInput {
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
		_, err := f.blobs.Put(f.ctx, nv.SourceKey, []byte(text))
		f.must(err)
	}
	if nv.ConversationID != nil {
		_, err := f.store.EnsureConversation(f.ctx, member(), store.Conversation{ID: *nv.ConversationID, Project: "p"})
		f.must(err)
	}
	_, v, err := f.store.AddVersion(f.ctx, nv)
	f.must(err)
	return activities.StepInput{VersionRef: v.VersionRef, Run: nv.RunID}
}

// prepare prepares, extracts and cuts a version, and returns the number of chunks.
func (f *fixture) prepare(in activities.StepInput) int {
	f.Helper()
	prepared, err := do(f, f.ingestion.PrepareDocument, activities.PrepareInput{StepInput: in})
	f.must(err)
	if prepared.Chunked {
		return prepared.Chunks
	}
	extracted, err := do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: in})
	f.must(err)
	return extracted.Chunks
}

// embed embeds the chunks of a version, in steps of three batches.
func (f *fixture) embed(in activities.StepInput, count int) activities.PublishInput {
	f.Helper()
	const size = 3 * activities.BatchSize
	for first := 0; first < count; first += size {
		last := min(first+size, count)
		f.must(step(f, f.ingestion.EmbedChunks, activities.EmbedInput{StepInput: in, First: first, Last: last, Count: count}))
	}
	return activities.PublishInput{StepInput: in, Count: count}
}

// vectors are the blobs with the vectors of a document.
func (f *fixture) vectors(in activities.StepInput) []string {
	f.Helper()
	keys := f.keys(blob.DocumentPrefix(in.Workspace, in.Project, in.Document) + "vectors/")
	slices.Sort(keys)
	return keys
}

// chunks are those of a short version, as they are stored.
func (f *fixture) chunks(in activities.StepInput) []knowledge.Chunk {
	f.Helper()
	var cut struct {
		Chunks []knowledge.Chunk `json:"chunks"`
	}
	f.must(f.blobs.GetJSON(f.ctx, blob.StepKey(in.VersionRef, "cut.json"), &cut))
	return cut.Chunks
}

// publish takes a version from its upload to its publication.
func (f *fixture) publish(in activities.StepInput) activities.PublishInput {
	f.Helper()
	publish := f.embed(in, f.prepare(in))
	result, err := do(f, f.ingestion.PublishDocument, publish)
	f.must(err)
	if !result.Published {
		f.Fatalf("version %d was not published", in.Version)
	}
	f.must(step(f, f.ingestion.RetireVersions, in))
	return publish
}

// member is somebody of the workspace. Packages outside access make principals
// as a run's snapshot does.
func member() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
}

// manager has the write scope.
func manager() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "m", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
}

// finds returns the texts that a search for words finds, with the index and the
// check in SQL.
func (f *fixture) finds(words string) []string {
	f.Helper()
	hits, err := f.index.BM25(f.ctx, index.Query{Principal: member(), Limit: 100}, words)
	f.must(err)
	views, err := f.store.VisibleChunks(f.ctx, member(), nil, hits)
	f.must(err)
	texts := []string{}
	for _, v := range views {
		texts = append(texts, v.Text)
	}
	return texts
}

// keys are the keys of the blobs under a prefix.
func (f *fixture) keys(prefix string) []string {
	f.Helper()
	keys := []string{}
	for object, err := range f.blobs.List(f.ctx, prefix) {
		f.must(err)
		keys = append(keys, object.Key)
	}
	return keys
}
