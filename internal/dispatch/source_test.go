package dispatch_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// runs is a table of runs.
type runs struct {
	rows     map[string]store.Run
	versions map[knowledge.VersionRef]store.Version
	imports  map[string]store.Import
	released []string
}

func (r *runs) Version(_ context.Context, ref knowledge.VersionRef) (store.Version, error) {
	v, ok := r.versions[ref]
	if !ok {
		return v, knowledge.NotFound("version", ref.Document)
	}
	return v, nil
}

func (r *runs) RunForSystem(_ context.Context, _, id string) (store.Run, error) {
	run, ok := r.rows[id]
	if !ok {
		return run, knowledge.NotFound("run", id)
	}
	return run, nil
}

func (r *runs) ImportForSystem(_ context.Context, ref knowledge.ImportRef) (store.Import, error) {
	i, ok := r.imports[ref.Import]
	if !ok {
		return i, knowledge.NotFound("import", ref.Import)
	}
	return i, nil
}

func (r *runs) EndAnswer(_ context.Context, _, id string, end store.RunEnd, _ ...store.Message) error {
	run := r.rows[id]
	run.Status, run.Error, run.LogKey = end.Status, end.Error, end.LogKey
	r.rows[id] = run
	return nil
}

func (r *runs) ReleaseRun(_ context.Context, _, id string) error {
	r.released = append(r.released, id)
	return nil
}

// settleTest settles runs of a Temporal server whose only workflow is AnswerQuery.
type settleTest struct {
	temporal client.Client
	began    chan record.AnswerInput // the inputs of the workflows
	blobs    *blob.Store
	runs     *runs
	dispatch *dispatch.Dispatcher
	source   *dispatch.Source
}

func newSettleTest(t *testing.T) *settleTest {
	t.Helper()
	attributes := map[string]enumspb.IndexedValueType{
		workflows.AttributeWorkspace: enumspb.INDEXED_VALUE_TYPE_KEYWORD, workflows.AttributeProject: enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: log, SearchAttributes: attributes,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := server.Dial(t.Context(), log, func(*client.Options) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	began := make(chan record.AnswerInput, 2)
	w := worker.New(c, workflows.QueueQuery, worker.Options{})
	w.RegisterWorkflowWithOptions(func(_ workflow.Context, in record.AnswerInput) error {
		began <- in
		return nil
	}, workflow.RegisterOptions{Name: "AnswerQuery"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	table, d := &runs{rows: map[string]store.Run{}}, dispatch.New(c, "cairn", "test")
	return &settleTest{c, began, blobs, table, d, dispatch.NewSource(d, table, blobs, stream.NewHub())}
}

// add stores a running run that began so long ago.
func (s *settleTest) add(id string, age time.Duration) (knowledge.RunRef, stream.RunRef) {
	s.runs.rows[id] = store.Run{ID: id, Workspace: "w", Kind: "query", Status: "running", CreatedAt: time.Now().Add(-age), WorkflowID: knowledge.KindQuery.WorkflowID("w", id)}
	return knowledge.RunRef{Workspace: "w", Run: id}, stream.RunRef{Workspace: "w", Run: id, WorkflowID: knowledge.KindQuery.WorkflowID("w", id)}
}

// TestSettleNow settles runs that a kill left without a workflow.
func TestSettleNow(t *testing.T) {
	t.Parallel()
	s := newSettleTest(t)

	t.Run("with_a_request_it_is_started_once", func(t *testing.T) {
		of, ref := s.add("asked", 0)
		request := knowledge.Request{Kind: "query", MessageID: "m", ConversationID: "c", ExecutionID: "e"}
		if _, err := s.blobs.PutJSON(t.Context(), of.RequestKey(), request); err != nil {
			t.Fatal(err)
		}
		if err := s.source.SettleNow(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		in := <-s.began
		if in.Run != "asked" || in.MessageID != "m" || in.ConversationID != "c" || in.ExecutionID != "e" {
			t.Errorf("started with %+v", in)
		}
		if err := s.temporal.GetWorkflow(t.Context(), ref.WorkflowID, "").Get(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.dispatch.Answer(t.Context(), "query", in); err != nil {
			t.Errorf("started once more behind its end: %v", err)
		}
		if description, err := s.temporal.DescribeWorkflowExecution(t.Context(), ref.WorkflowID, ""); err != nil || description.GetWorkflowExecutionInfo().GetCloseTime() == nil {
			t.Errorf("a second execution: %v", err)
		}
	})
	t.Run("without_a_request_it_ends_and_frees_its_key", func(t *testing.T) {
		_, young := s.add("young", time.Second)
		_, old := s.add("old", time.Hour)
		_, later := s.add("later", -time.Hour) // by a clock that was ahead
		for _, ref := range []stream.RunRef{young, old, later} {
			if err := s.source.SettleNow(t.Context(), ref); ref.Run != "young" && err != nil {
				t.Fatal(err)
			}
		}
		if run := s.runs.rows["old"]; run.Status != "failed" || run.Error.Code != knowledge.CodeUnavailable {
			t.Errorf("%+v", run)
		}
		if !slices.Equal(s.runs.released, []string{"old", "later"}) || s.runs.rows["young"].Status != "running" {
			t.Errorf("released %v, young is %s", s.runs.released, s.runs.rows["young"].Status)
		}
	})
	t.Run("a_cancel_says_that_there_is_nobody_to_ask", func(t *testing.T) {
		s.add("lost", 0)
		if known, err := s.dispatch.CancelRun(t.Context(), s.runs.rows["lost"]); known || err != nil {
			t.Errorf("known %t, %v", known, err)
		}
		if known, err := s.dispatch.CancelRun(t.Context(), s.runs.rows["asked"]); !known || err != nil {
			t.Errorf("of one that has ended: known %t, %v", known, err)
		}
	})
	t.Run("a_reindex_is_started_again_although_an_earlier_one_has_closed", func(t *testing.T) {
		run := store.Run{ID: "reindex", Workspace: "w", Project: "p", Subject: "p", Kind: knowledge.KindReindex, Status: knowledge.RunRunning, WorkflowID: "reindex/w/p"}
		s.runs.rows[run.ID] = run
		for range 2 {
			if err := s.source.SettleNow(t.Context(), stream.RunRef{Workspace: "w", Run: run.ID}); err != nil {
				t.Fatal(err)
			}
			if running, _, err := s.dispatch.Running(t.Context(), run.WorkflowID); !running || err != nil {
				t.Fatalf("running %t, %v", running, err)
			}
			if err := s.temporal.TerminateWorkflow(t.Context(), run.WorkflowID, "", "by an operator"); err != nil {
				t.Fatal(err)
			}
		}
		if known, err := s.dispatch.CancelRun(t.Context(), run); known || err != nil {
			t.Errorf("a cancel has somebody to ask: %t, %v", known, err)
		}
		if known, err := s.dispatch.PauseReindex(t.Context(), run, true); known || err != nil {
			t.Errorf("a pause has somebody to ask: %t, %v", known, err)
		}
	})
	t.Run("a document's run that its workflow left behind ends by what became of it", s.settlesDocuments)
}

func (s *settleTest) settlesDocuments(t *testing.T) {
	failed := &knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "it cannot be read"}
	for name, c := range map[string]struct {
		kind    knowledge.RunKind
		version *store.Version
		want    knowledge.RunStatus // the run's status then
		last    string              // the topic of the last event
		code    knowledge.Code
	}{
		"published":   {"ingest", &store.Version{RunID: "published", Status: knowledge.StatusPublished}, knowledge.RunCompleted, stream.TopicEnded, ""},
		"superseded":  {"ingest", &store.Version{RunID: "superseded", Status: knowledge.StatusInactive}, knowledge.RunCompleted, stream.TopicEnded, ""},
		"failed":      {"ingest", &store.Version{RunID: "failed", Status: knowledge.StatusError, Error: failed}, knowledge.RunFailed, stream.TopicEnded, knowledge.CodeCorrupt},
		"retried":     {"ingest", &store.Version{RunID: "another", Status: knowledge.StatusPending}, knowledge.RunFailed, stream.TopicEnded, knowledge.CodeInternal},
		"pending":     {"ingest", &store.Version{RunID: "pending", Status: knowledge.StatusPending}, knowledge.RunRunning, "", ""},
		"removed":     {"ingest", nil, knowledge.RunCanceled, stream.TopicError, knowledge.CodeCanceled},
		"removal":     {"remove", nil, knowledge.RunCompleted, stream.TopicEnded, ""},
		"not removed": {"remove", &store.Version{}, knowledge.RunRunning, "", ""},
	} {
		run := store.Run{ID: name, Workspace: "w", Project: "p", Kind: c.kind, Status: knowledge.RunRunning, Subject: name, Version: 3, FirstOffset: 7, WorkflowID: "of/" + name}
		s.runs.rows[name] = run
		if c.version != nil {
			ref := knowledge.VersionRef{Workspace: "w", Project: "p", Document: name, Version: 3}
			s.runs.versions = map[knowledge.VersionRef]store.Version{ref: *c.version}
		}
		if err := s.source.SettleNow(t.Context(), stream.RunRef{Workspace: "w", Run: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := s.runs.rows[name]
		if got.Status != c.want {
			t.Errorf("%s: the run is %s, want %s", name, got.Status, c.want)
		}
		if (got.Error == nil) != (c.code == "") || got.Error != nil && got.Error.Code != c.code {
			t.Errorf("%s: error %+v, want %s", name, got.Error, c.code)
		}
		if c.last == "" {
			continue
		}
		items, ok, err := s.source.Stored(t.Context(), stream.RunRef{Workspace: "w", Run: name, FirstOffset: 7})
		if err != nil || !ok || len(items) != 1 || items[0].Topic != c.last || items[0].Offset != 7 {
			t.Errorf("%s: log %+v, %t, %v", name, items, ok, err)
		}
	}
}
