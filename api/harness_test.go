package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/api/openai"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/credential"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/forget"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/secret"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/connect"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// edge is the API over a real store and a real blob store. It records the calls of
// what is behind (workflows, index, retrieval).
type edge struct {
	t        *testing.T
	remote   string // the address that requests come from; "" = none, and wrong keys are not counted
	server   *api.Server
	handler  http.Handler
	store    *store.Store
	blobs    *blob.Store
	access   *access.Authenticator
	work     *work
	logs     map[string][]stream.Item // of runs, without their ends
	log      *bytes.Buffer
	models   *modeltest.Server
	close    func() // the stores
	database string // file of the store
	admin    string // the instance's key
	editor   string // a key with the write scope, for workspace default
	reader   string // a key with the read scope
	stranger string // an admin key of workspace other
}

// work records what the edge starts.
type work struct {
	mu         sync.Mutex
	ingests    []store.Version
	later      []string // documents of the ingests with the priority of bulk work
	removals   []store.Removal
	answers    []record.AnswerInput
	cancels    []string
	decisions  []record.Decision
	reindexes  []string // runs that were started
	controls   []record.ResearchControl
	steers     []string        // blobs of messages to answers
	paused     map[string]bool // reindexes and evaluations that were asked to pause or to resume
	evaluated  map[string]knowledge.Budget
	retries    []string // documents whose step was asked to try at once
	imports    []store.Import
	scheduled  []store.Sync
	dropped    []string // syncs whose schedules were deleted
	pauses     []bool
	releases   []string
	unknown    bool // no run has a workflow
	attributes []index.Attributes
	retrieved  []retrieve.Request
	contexts   []retrieve.Context
	trace      *retrieve.Trace
	choices    retrieve.Choices
	steps      []record.Step                  // of every workflow
	fail       error                          // of every start and search
	end        func(record.AnswerInput) error // ends a run that was started, at once
	panics     bool                           // in Retrieve
	leave      func()                         // what the client does in Retrieve
	entered    chan struct{}                  // told by Ingest and Answer once they have noted what is to start
	hold       chan struct{}                  // keeps them until it is closed
	drawings   []extract.Drawing
	drawn      func()           // what happens while a page is drawn
	pages      knowledge.Layout // of the PDF that is made of each office document; empty = LibreOffice is missing
	made       int              // how many PDFs were made
}

func (w *work) Ingest(_ context.Context, v store.Version) error {
	w.mu.Lock()
	w.ingests = append(w.ingests, v)
	err := w.fail
	w.mu.Unlock()
	w.enter()
	return err
}

func (w *work) IngestLater(ctx context.Context, v store.Version) error {
	w.mu.Lock()
	w.later = append(w.later, v.Document)
	w.mu.Unlock()
	return w.Ingest(ctx, v)
}

func (w *work) RetryNow(_ context.Context, _, document string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.retries = append(w.retries, document)
	return w.fail
}

func (w *work) Draw(_ context.Context, in extract.Input, d extract.Drawing) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drawings = append(w.drawings, d)
	if w.drawn != nil {
		w.drawn()
	}
	original, err := os.ReadFile(in.Path)
	if err == nil && w.fail == nil {
		err = os.WriteFile(filepath.Join(in.Folder, "drawn"), fmt.Appendf(nil, "page %d at %d of %s", d.Page, d.Resolution, original), 0o600)
	}
	return "drawn", errors.Join(err, w.fail)
}

// MakePages makes a PDF of an office document.
func (w *work) MakePages(_ context.Context, in extract.Input) (knowledge.Layout, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pages.Pages) == 0 {
		return w.pages, errors.Join(w.fail, knowledge.Errorf(knowledge.CodeNeedsComponent, "install LibreOffice"))
	}
	w.made++
	return w.pages, errors.Join(w.fail, os.WriteFile(filepath.Join(in.Folder, extract.PagesAsset), []byte("%PDF-1.7 made"), 0o600))
}

// Extract reads each text as one paragraph.
func (w *work) Extract(_ context.Context, in extract.Input) (format.Result, error) {
	text, err := os.ReadFile(in.Path)
	return format.Result{Layout: knowledge.Layout{MediaType: in.MediaType, Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: string(text)}}}}, err
}

func (w *work) RemoveProject(_ context.Context, r store.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reindexes = append(w.reindexes, r.ID)
	return w.fail
}

// Retain implements api.Dispatcher.
func (*work) Retain(context.Context, store.Run) error { return nil }

func (*work) ExportSubject(context.Context, store.Run) error { return nil }

func (*work) EraseSubject(context.Context, store.Run) error { return nil }

func (w *work) Reindex(_ context.Context, r store.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reindexes = append(w.reindexes, r.ID)
	return w.fail
}

// Decide takes a decision about the call "waits".
func (w *work) Decide(_ context.Context, _ store.Run, d record.Decision) (waiting bool, err error) {
	if d.Call != "waits" {
		return false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decisions = append(w.decisions, d)
	return true, nil
}

func (w *work) PauseReindex(_ context.Context, r store.Run, paused bool) (known bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused[r.ID] = paused
	return !w.unknown, w.fail
}

// Evaluate takes an evaluation, which nothing works on.
func (w *work) Evaluate(_ context.Context, r store.Run, settings record.EvaluationSettings) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evaluated[r.ID] = settings.Budget
	return w.fail
}

// Generate takes a generation, which nothing works on.
func (w *work) Generate(_ context.Context, r store.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evaluated[r.ID] = knowledge.Budget{}
	return w.fail
}

func (w *work) PauseEvaluation(ctx context.Context, r store.Run, paused bool) (known bool, err error) {
	return w.PauseReindex(ctx, r, paused)
}

func (w *work) Steer(_ context.Context, _ store.Run, key string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steers = append(w.steers, key)
	return w.fail
}

func (w *work) ControlResearch(_ context.Context, _ store.Run, c record.ResearchControl) (known bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.controls = append(w.controls, c)
	return !w.unknown, w.fail
}

func (w *work) enter() {
	if w.entered != nil {
		w.entered <- struct{}{}
		<-w.hold
	}
}

func (w *work) Remove(_ context.Context, r store.Removal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removals = append(w.removals, r)
	return w.fail
}

func (w *work) CancelRun(_ context.Context, r store.Run) (known bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancels = append(w.cancels, r.ID)
	return !w.unknown, w.fail
}

func (w *work) Answer(ctx context.Context, _ knowledge.RunKind, in record.AnswerInput) error {
	w.mu.Lock()
	w.answers = append(w.answers, in)
	err := errors.Join(w.fail, w.end(in))
	w.mu.Unlock()
	w.enter()
	return errors.Join(err, ctx.Err())
}

func (w *work) Import(_ context.Context, i store.Import) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.imports = append(w.imports, i)
	return w.fail
}

func (w *work) ScheduleSync(_ context.Context, y store.Sync) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scheduled = append(w.scheduled, y)
	return w.fail
}

func (w *work) UnscheduleSync(_ context.Context, y store.Sync) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dropped = append(w.dropped, y.ID)
	return w.fail
}

func (w *work) PauseImport(_ context.Context, _ store.Import, paused bool) (known bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pauses = append(w.pauses, paused)
	return !w.unknown, w.fail
}

func (w *work) ReleaseImport(_ context.Context, held store.HeldImport, now bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.releases = append(w.releases, fmt.Sprintf("%s %v %t", held.Import, held.Pages, now))
	return w.fail
}

// Check refuses the sources whose addresses are wrong.
func (w *work) Check(s objects.Spec) error {
	if strings.Contains(s.URI, "wrong") {
		return knowledge.Invalid("body.source.uri", "is wrong")
	}
	return nil
}

func (w *work) Steps(context.Context, string) ([]record.Step, error) { return w.steps, w.fail }

func (w *work) OperatorURL(id string) string { return "http://operator.test/" + id }

func (w *work) ExecutionURL(id, execution string) string { return w.OperatorURL(id) + "/" + execution }

func (w *work) Execution(context.Context, string, time.Time) (string, error) { return "", nil }

func (w *work) OperatorPage() string { return "http://operator.test" }

func (w *work) SetAttributes(_ context.Context, _, _ string, _ int, a index.Attributes) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.attributes = append(w.attributes, a)
	return nil
}

func (w *work) Retrieve(_ context.Context, r retrieve.Request) (retrieve.Result, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.panics {
		panic("a defect in " + r.Query)
	}
	w.retrieved = append(w.retrieved, r)
	if w.leave != nil {
		w.leave()
	}
	return retrieve.Result{Contexts: w.contexts, Trace: w.trace, Choices: w.choices}, w.fail
}

// ended is a source of the logs of runs that have ended, as SQL says it: what a
// test has put there, and an end.
type ended struct {
	store api.FollowedRuns
	logs  map[string][]stream.Item
}

func (s ended) Stored(ctx context.Context, ref stream.RunRef) ([]stream.Item, bool, error) {
	run, err := s.store.RunForSystem(ctx, ref.Workspace, ref.Run)
	if err != nil || run.Status == knowledge.RunRunning {
		return nil, false, err
	}
	end := map[string]any{"status": run.Status, "published": run.Error == nil}
	if run.Error != nil {
		end["error"] = knowledge.DocumentError{Code: run.Error.Code, Stage: knowledge.StageExtract, Message: run.Error.Message}
	}
	items := s.logs[ref.Run]
	last, err := stream.NewEntry(stream.TopicEnded, stream.Event{Data: stream.Data(end)})
	return append(items, stream.Item{Topic: last.Topic, Data: last.Data, Offset: ref.FirstOffset + int64(len(items))}), true, err
}

func (ended) Query(context.Context, stream.RunRef, int64) (stream.EventsPage, error) {
	return stream.EventsPage{}, nil
}

func (ended) Settle(context.Context, stream.RunRef) error { return nil }

func open(t *testing.T, change ...func(*api.Config, *api.Deps)) *edge {
	t.Helper()
	ctx := t.Context()
	e := &edge{t: t, work: &work{paused: map[string]bool{}, evaluated: map[string]knowledge.Budget{}}, logs: map[string][]stream.Item{}, log: &bytes.Buffer{}}
	var err error
	e.database = t.TempDir() + "/cairn.db"
	if e.store, err = store.Open(ctx, store.Config{URL: "sqlite://" + e.database}); err != nil {
		t.Fatal(err)
	}
	if e.blobs, err = blob.Open(ctx, "file://"+t.TempDir()); err != nil {
		t.Fatal(err)
	}
	e.close = sync.OnceFunc(func() {
		if err := errors.Join(e.store.Close(), e.blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(e.close)
	e.work.end = func(in record.AnswerInput) error {
		return e.store.EndRun(ctx, in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()})
	}
	e.access = access.New(access.Config{}, e.store, []byte("a secret to sign with"))
	e.populate(ctx)
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	e.models = modeltest.New(modeltest.Options{})
	t.Cleanup(e.models.Close)
	cfg := api.Config{TempDir: t.TempDir()}
	deps := api.Deps{
		Store: e.store, Followed: e.store, Blobs: e.blobs, Access: e.access, Retriever: e.work, Pages: e.work, Texts: e.work, Dispatch: e.work, Answers: e.work, Imports: e.work,
		Relay: stream.NewRelay(ended{e.store, e.logs}, stream.NewHub()), Links: e.work, Log: slog.New(slog.NewJSONHandler(e.log, nil)), Secrets: box,
		Addresses: safedial.New(safedial.Config{}), Models: modelsOf(e.models),
	}
	deps.Places = connect.New(&http.Client{Transport: http.DefaultTransport}).WithDial((&net.Dialer{}).DialContext)
	deps.Syncs = following.NewRunner(following.RunnerDeps{Store: e.store, Blobs: e.blobs, Secrets: box, Places: deps.Places, Workflows: e.work, Log: deps.Log, Now: time.Now})
	e.keepAudit(&deps)
	deps.NamedSecrets = credential.New(credential.Config{Secrets: configuredSecrets}, e.store, box)
	deps.Quotations = &forget.Forgetter{Store: e.store, Blobs: e.blobs, Histories: noHistories{}, Log: deps.Log}
	deps.Attributes = &ingestion.Attributes{Store: e.store, Index: e.work}
	for _, c := range change {
		c(&cfg, &deps)
	}
	if e.server, err = api.New(cfg, deps); err != nil {
		t.Fatal(err)
	}
	e.handler = e.server.Handler()
	return e
}

// keepAudit keeps the audit as a server that is alone does.
func (e *edge) keepAudit(deps *api.Deps) {
	e.t.Helper()
	journal, err := audit.OpenJournal(filepath.Join(e.t.TempDir(), "audit.journal"), audit.Position{})
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = journal.Close() }) // its rows are of no more use
	deps.Audit = audit.NewRecorder(journal)
	deps.Encryption = noEncryption{}
	deps.AuditChain = &audit.Keeper{Store: e.store, Recorder: deps.Audit, Journal: journal, Signer: audit.NewSigner([]byte("key")), Log: deps.Log}
}

// noHistories stands for a Temporal server that has no histories.
type noHistories struct{}

func (noHistories) ForgetRun(context.Context, store.Run) error { return nil }

// modelsOf are the models of a stand-in server.
func modelsOf(s *modeltest.Server) openai.Models {
	endpoint := s.Endpoint()
	return openai.Models{
		Chat: model.New(endpoint, nil), Embedding: model.New(endpoint, nil),
		EmbeddingOf: func(dimensions int) openai.Embedder {
			return model.New(endpoint, nil).As(endpoint.Model, dimensions)
		},
	}
}

func (e *edge) populate(ctx context.Context) {
	e.t.Helper()
	for _, id := range []string{"default", "other"} {
		if err := e.store.CreateWorkspace(ctx, store.Workspace{ID: id, Name: id}); err != nil {
			e.t.Fatal(err)
		}
		if err := e.store.CreateProject(ctx, knowledge.Project{ID: "default", Workspace: id, Name: "Default"}); err != nil {
			e.t.Fatal(err)
		}
	}
	e.admin = e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Instance: true})
	e.editor = e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
	e.reader = e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
	e.stranger = e.key(store.Key{Workspace: "other", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
}

// key stores a key and gives it.
func (e *edge) key(k store.Key) string {
	e.t.Helper()
	plain, hash, prefix := access.NewKey()
	k.ID, k.Hash, k.Prefix, k.Name = knowledge.NewID(), hash, prefix, "test"
	create := e.store.CreateKey
	if k.Instance {
		create = e.store.ReplaceInstanceKey
	}
	if err := create(e.t.Context(), k); err != nil {
		e.t.Fatal(err)
	}
	return plain
}

// principal returns the principal of a key.
func (e *edge) principal(key string) knowledge.Principal {
	e.t.Helper()
	p, err := e.access.Authenticate(e.t.Context(), accessCredentials(key))
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

// forget takes a run's row away, as a kill before it was written would have.
func (e *edge) forget(run string) { e.exec("DELETE FROM runs WHERE id = ?", run) }

// reopen makes a run running again, as a kill before its workflow would have left it.
func (e *edge) reopen(run string) { e.exec("UPDATE runs SET status = 'running' WHERE id = ?", run) }

func (e *edge) exec(statement string, args ...any) {
	e.t.Helper()
	db, err := sql.Open("sqlite", e.database)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(e.t.Context(), statement, args...); err != nil {
		e.t.Fatal(err)
	}
}

// answer is what came back.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// do sends a request; body is JSON text, bytes, a reader, or a value to encode.
func (e *edge) do(method, path, key string, body any, headers ...string) answer {
	e.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	case io.Reader:
		reader = b
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			e.t.Fatal(err)
		}
		reader = bytes.NewReader(encoded)
	}
	r := httptest.NewRequestWithContext(e.t.Context(), method, path, reader)
	r.RemoteAddr = e.remote
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return answer{e.t, w.Code, w.Header(), w.Body.Bytes()}
}

// want fails the test unless the answer has this status, and gives the body.
func (a answer) want(status int) map[string]any {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if len(a.body) == 0 {
		return nil
	}
	var body map[string]any
	if err := json.Unmarshal(a.body, &body); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return body
}

// refused fails the test unless the answer is a problem with this status and
// code, and gives the locations that it names.
func (a answer) refused(status int, code knowledge.Code) []string {
	a.t.Helper()
	body := a.want(status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("Content-Type %q", got)
	}
	if diff := cmp.Diff([]string{"code", "detail", "errors", "status", "title", "type"}, keysOf(body)); diff != "" {
		a.t.Errorf("keys of a problem: %s", diff)
	}
	if body["code"] != string(code) || body["status"] != float64(status) {
		a.t.Errorf("code %v, status %v: want %s, %d: %s", body["code"], body["status"], code, status, a.body)
	}
	var locations []string
	for _, field := range body["errors"].([]any) {
		locations = append(locations, field.(map[string]any)["location"].(string))
	}
	return locations
}

// publish takes a document through what its workflow would do.
func (e *edge) publish(id string, chunks ...knowledge.Chunk) {
	e.t.Helper()
	ctx := e.t.Context()
	v := e.dispatched(id)
	for i := range chunks {
		chunks[i].ID = knowledge.ChunkID(id, v.Version, i)
		chunks[i].DocumentID, chunks[i].Version, chunks[i].Ordinal = id, v.Version, i
	}
	_, begun := e.store.BeginVersion(ctx, v.VersionRef, v.RunID, 0)
	put := e.store.PutChunks(ctx, v.VersionRef, chunks)
	_, published := e.store.Publish(ctx, v.VersionRef)
	end := e.store.EndRun(ctx, v.Workspace, v.RunID, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()})
	if err := errors.Join(begun, put, published, end); err != nil {
		e.t.Fatal(err)
	}
}

// refuse takes a version to its end with an error, as its workflow would.
func (e *edge) refuse(v store.Version, code knowledge.Code) {
	e.t.Helper()
	ctx := e.t.Context()
	_, begun := e.store.BeginVersion(ctx, v.VersionRef, v.RunID, 0)
	failed := e.store.FailVersion(ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: code, Stage: knowledge.StageExtract})
	end := e.store.EndRun(ctx, v.Workspace, v.RunID, store.RunEnd{Status: knowledge.RunFailed, At: time.Now(), Error: &knowledge.Failure{Code: code}})
	if err := errors.Join(begun, failed, end); err != nil {
		e.t.Fatal(err)
	}
}

// dispatched returns the version of a document whose ingestion was started last.
func (e *edge) dispatched(id string) store.Version {
	e.t.Helper()
	e.work.mu.Lock()
	defer e.work.mu.Unlock()
	for _, v := range slices.Backward(e.work.ingests) {
		if v.Document == id {
			return v
		}
	}
	e.t.Fatalf("document %s was not dispatched", id)
	return store.Version{}
}

// add takes a text in and gives its document's id.
func (e *edge) add(key, name, text string, more ...map[string]any) string {
	e.t.Helper()
	body := map[string]any{"name": name, "content": map[string]any{"text": text}}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	return e.do("POST", "/workspaces/default/webhooks/document", key, body).want(202)["id"].(string)
}

// events returns the data of an ended run's events.
func (e *edge) events(run string) []map[string]any {
	e.t.Helper()
	got := e.do("GET", "/runs/"+run+"/events?delta=off", e.admin, nil)
	if got.status != http.StatusOK {
		e.t.Fatalf("status %d: %s", got.status, got.body)
	}
	var list []map[string]any
	for line := range strings.Lines(string(got.body)) {
		encoded, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal([]byte(encoded), &data); err != nil {
			e.t.Fatalf("%v: %s", err, line)
		}
		list = append(list, data)
	}
	return list
}

func accessCredentials(key string) access.Credentials { return access.Credentials{Bearer: key} }

func (e *edge) actAs(p knowledge.Principal, externalUser string) knowledge.Principal {
	e.t.Helper()
	p, err := e.access.As(e.t.Context(), p, access.Acting{ExternalUser: externalUser})
	if err != nil {
		e.t.Fatal(err)
	}
	return p
}

// later is a moment after everything that the test did.
func (e *edge) later() time.Time { return time.Now().Add(time.Minute) }

// noEncryption is an instance that encrypts nothing.
type noEncryption struct{}

func (noEncryption) State(context.Context) (api.EncryptionState, error) {
	return api.EncryptionState{}, nil
}
func (noEncryption) Rotate(context.Context) error {
	return knowledge.Errorf(knowledge.CodeConflict, "there is no master key")
}
func (noEncryption) Decode(payloads []api.Payload) ([]api.Payload, error) { return payloads, nil }
