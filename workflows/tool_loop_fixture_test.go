package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/telemetry"
	"github.com/cairn-rag/cairn/workflows"
)

// loopTest runs AnswerQuery with its real activities over the embedded store,
// index and blobs in folders of their own, and a stand-in model server.
type loopTest struct {
	*testing.T
	env    *testsuite.TestWorkflowEnvironment
	run    knowledge.RunRef
	store  *store.Store
	index  *embedded.Index
	blobs  *blob.Store
	server *modeltest.Server
	client *model.Client
	hub    *stream.Hub
	names  []string // ids and the names that stand for them, in turn
}

func newLoopTest(t *testing.T) *loopTest {
	t.Helper()
	test := &loopTest{
		T: t, env: newEnvironment(), server: modeltest.New(modeltest.Options{}), hub: stream.NewHub(),
		run: knowledge.RunRef{Workspace: "acme", Project: "handbook", Run: "run"},
	}
	t.Cleanup(test.server.Close)
	test.env.SetTestTimeout(2 * time.Minute)
	test.client = model.New(test.server.Endpoint(), nil)
	dir := t.TempDir()
	var err error
	test.store, err = store.Open(t.Context(), store.Config{URL: "sqlite://" + filepath.Join(dir, "cairn.db")})
	test.must(err)
	test.index, err = embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(dir, "index.db")})
	test.must(err)
	test.blobs, err = blob.Open(t.Context(), "file://"+filepath.Join(dir, "blobs")+"?sync=off")
	test.must(err)
	t.Cleanup(func() {
		if err := errors.Join(test.store.Close(), test.index.Close(), test.blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	test.must(test.store.CreateWorkspace(t.Context(), store.Workspace{ID: "acme", Name: "Acme"}))
	test.must(test.store.CreateProject(t.Context(), knowledge.Project{ID: "handbook", Workspace: "acme", Name: "Handbook"}))
	test.env.RegisterActivity(test.activities())
	return test
}

func (test *loopTest) must(err error) {
	test.Helper()
	if err != nil {
		test.Fatal(err)
	}
}

// activities returns the activities, which use what change sets.
func (test *loopTest) activities(change ...func(d *answering.Dependencies)) *lastFirst {
	d := answering.Dependencies{
		Blobs: test.blobs, Runs: test.store, Retriever: retrieve.New(test.index, test.store, questions{test.client}), Passages: test.store, Chat: test.client,
		Workflows: ownLog{env: test.env}, Hub: test.hub, Metrics: telemetry.NewMetrics("test"), Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&d)
	}
	acts := &lastFirst{Activities: answering.New(d), blobs: d.Blobs, began: map[place]string{}, completed: map[string]bool{}, changed: make(chan struct{})}
	test.env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, _ error) { acts.complete(info.ActivityID) })
	return acts
}

// publish ingests and publishes a document with these passages.
func (test *loopTest) publish(name string, passages []string) {
	test.Helper()
	ctx := test.Context()
	id := knowledge.DocumentID(test.run.Workspace, test.run.Project, name)
	_, v, err := test.store.AddVersion(ctx, store.NewVersion{
		Workspace: test.run.Workspace, Project: test.run.Project, DocumentID: id, ExternalID: name, Name: name, MediaType: "text/plain",
		Bytes: 1, Access: &knowledge.Access{Workspace: true}, RunID: knowledge.NewID(), SourceKey: id + "/upload", Now: time.Now(),
	})
	test.must(err)
	_, err = test.store.BeginVersion(ctx, v.VersionRef, v.RunID, 0)
	test.must(err)
	vectors, _, err := test.client.Embed(ctx, passages)
	test.must(err)
	var chunks []knowledge.Chunk
	var entries []index.Entry
	for i, text := range passages {
		c := knowledge.Chunk{ID: knowledge.ChunkID(id, v.Version, i), DocumentID: id, Version: v.Version, Ordinal: i, Text: text, Language: "eng"}
		chunks = append(chunks, c)
		entries = append(entries, index.Entry{
			ChunkID: c.ID, Workspace: v.Workspace, Project: v.Project, DocumentID: id, Version: v.Version, Ordinal: i, Text: text,
			Vector: vectors[i], ACL: knowledge.ACL(v.Workspace, knowledge.Access{Workspace: true}, "", ""), Language: "eng", Name: name, CreatedAt: time.Now(),
		})
		test.names = append(test.names, c.ID, name+"#"+string(rune('1'+i)))
	}
	test.names = append(test.names, id, name)
	test.must(test.store.SetStage(ctx, v.VersionRef, knowledge.StageChunk, 0.35, store.Facts{ChunkCount: len(chunks)}))
	test.must(test.store.PutChunks(ctx, v.VersionRef, chunks))
	test.must(test.index.Upsert(ctx, entries))
	_, err = test.store.Publish(ctx, v.VersionRef)
	test.must(err)
}

// answer runs the workflow with the input that the API would start it with.
func (test *loopTest) answer(request knowledge.Request, searchFirst bool) {
	test.Helper()
	claims, err := json.Marshal(knowledge.Claims{
		Workspace: test.run.Workspace, Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "reader",
	})
	test.must(err)
	test.must(json.Unmarshal(claims, &request.Principal))
	_, err = test.blobs.PutJSON(test.Context(), test.run.RequestKey(), request)
	test.must(err)
	test.must(test.store.AddRun(test.Context(), store.Run{
		ID: test.run.Run, Workspace: test.run.Workspace, Project: test.run.Project, Kind: "query", Status: knowledge.RunRunning,
		WorkflowID: "query/acme/run", CreatedAt: time.Now(),
	}))
	test.Cleanup(test.hub.Follow(test.run.Run))
	test.env.ExecuteWorkflow(workflows.AnswerQuery, record.AnswerInput{
		RunRef: test.run, MessageID: request.MessageID, SearchFirst: searchFirst, MaxToolTurns: request.Config.Tools.MaxPerRequest, ShowChosen: true,
	})
	test.must(test.env.GetWorkflowError())
}

// questions adapts model.Client to the embedder of questions.
type questions struct{ *model.Client }

func (q questions) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, _, err := q.Client.Embed(ctx, texts)
	return vectors, err
}

// ownLog reaches the log of the only workflow in the environment. Questions do not
// call the other methods.
type ownLog struct {
	answering.Workflows
	env *testsuite.TestWorkflowEnvironment
}

// Complete fails, so the test's worker reports the result of the activity.
func (ownLog) Complete(context.Context, []byte, any) error { return errors.New("no server") }

func (w ownLog) Publish(_ context.Context, _ string, b stream.Batch) error {
	w.env.SignalWorkflow(stream.SignalPublish, b)
	return nil
}

// Events asks in the loop of the environment: a query from another goroutine would run beside
// the workflow.
func (w ownLog) Events(ctx context.Context, _ string, from int64) (stream.EventsPage, error) {
	type answer struct {
		page stream.EventsPage
		err  error
	}
	answered := make(chan answer, 1)
	w.env.RegisterDelayedCallback(func() {
		page, err := eventsOf(w.env, from)
		answered <- answer{page, err}
	}, 0)
	select {
	case a := <-answered:
		return a.page, a.err
	case <-ctx.Done():
		return stream.EventsPage{}, ctx.Err()
	}
}

// eventsOf returns the log of the workflow, which does not run at the moment.
func eventsOf(env *testsuite.TestWorkflowEnvironment, from int64) (page stream.EventsPage, err error) {
	value, err := env.QueryWorkflow(stream.QueryEvents, stream.PollInput{FromOffset: from})
	if err != nil {
		return page, err
	}
	return page, value.Get(&page)
}

// lastFirst wraps the activities and fixes the order of the tool calls of a turn:
// all run concurrently and end in reverse order. A call never ends if its
// predecessor in that order does not run at the same time.
type lastFirst struct {
	*answering.Activities
	blobs     step.Blobs
	mu        sync.Mutex
	began     map[place]string // activity ids
	completed map[string]bool  // by activity id
	changed   chan struct{}    // closed at each completion
}

// place is the position of a tool call: turn and index.
type place struct{ turn, call int }

func (a *lastFirst) CallTool(ctx context.Context, in answering.ToolCallInput) (record.ToolOutput, error) {
	a.mu.Lock()
	a.began[place{in.Turn, in.Call}] = activity.GetInfo(ctx).ActivityID
	a.mu.Unlock()
	var call record.ModelCall
	if err := a.blobs.GetJSON(ctx, in.Key, &call); err != nil {
		return record.ToolOutput{}, err
	}
	output, err := a.Activities.CallTool(ctx, in)
	if in.Call+1 == len(call.ToolCalls) {
		return output, err
	}
	for {
		a.mu.Lock()
		done, changed := a.completed[a.began[place{in.Turn, in.Call + 1}]], a.changed
		a.mu.Unlock()
		if done {
			return output, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return output, ctx.Err()
		}
	}
}

func (a *lastFirst) complete(activityID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.completed[activityID] = true
	close(a.changed)
	a.changed = make(chan struct{})
}
