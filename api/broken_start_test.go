package api_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// stopped is a source of logs that have an error behind their first item: the
// end of the run in SQL.
type stopped struct{ store api.FollowedRuns }

func (s stopped) Stored(ctx context.Context, ref stream.RunRef) ([]stream.Item, bool, error) {
	run, err := s.store.RunForSystem(ctx, ref.Workspace, ref.Run)
	if err != nil || run.Status == knowledge.RunRunning {
		return nil, false, err
	}
	entry, err := stream.NewEntry(stream.TopicError, stream.Event{Data: stream.Data(run.Error)})
	first := record.QueryStarted(record.AnswerInput{})
	return []stream.Item{{Topic: first.Topic, Data: first.Data}, {Topic: entry.Topic, Data: entry.Data, Offset: 1}}, true, err
}

func (stopped) Query(context.Context, stream.RunRef, int64) (stream.EventsPage, error) {
	return stream.EventsPage{}, nil
}

func (stopped) Settle(context.Context, stream.RunRef) error { return nil }

// TestIdempotencyKeyOfABrokenStart repeats a question whose first request's
// process died at several moments.
func TestIdempotencyKeyOfABrokenStart(t *testing.T) {
	t.Parallel()
	const path, body = hooks + "/query", `{"text":"Why?"}`
	setup := func(t *testing.T) *edge {
		e := open(t, func(_ *api.Config, d *api.Deps) { d.Relay = stream.NewRelay(stopped{d.Followed}, stream.NewHub()) })
		e.work.end = func(in record.AnswerInput) error {
			return e.store.EndRun(t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunFailed, Error: &knowledge.Failure{Code: knowledge.CodeCanceled, Message: "over"}})
		}
		return e
	}
	// claim leaves what a request leaves that dies right behind its claim.
	claim := func(e *edge) string {
		first := e.do("POST", path, e.reader, body, keyName, "k")
		first.refused(409, knowledge.CodeCanceled)
		return first.header.Get("Cairn-Run-Id")
	}
	// repeated wants the answer of that run, from one more start, in one
	// conversation.
	repeated := func(e *edge, run string, starts int) {
		again := e.do("POST", path, e.reader, body, keyName, "k")
		again.refused(409, knowledge.CodeCanceled)
		if got := again.header.Get("Cairn-Run-Id"); got != run || len(e.work.answers) != starts {
			e.t.Errorf("run %s, then %s, after %d starts", run, got, len(e.work.answers))
		}
		list := e.do("GET", own+"/conversations", e.reader, nil).want(200)
		if n := len(list["data"].([]any)); n != 1 {
			e.t.Errorf("%d conversations", n)
		}
	}
	t.Run("before_the_run_has_a_row", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		run := claim(e)
		e.forget(run)
		repeated(e, run, 2)
	})
	t.Run("before_the_run_has_a_request", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		run := claim(e)
		e.reopen(run)
		if err := e.blobs.Delete(t.Context(), knowledge.RunRef{Workspace: "default", Run: run}.RequestKey()); err != nil {
			t.Fatal(err)
		}
		repeated(e, run, 2)
	})
	t.Run("before_the_run_has_a_workflow", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		run := claim(e)
		e.reopen(run)
		repeated(e, run, 2)
		if diff := cmp.Diff(e.work.answers[0], e.work.answers[1]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("while_the_client_leaves", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
		ctx, leave := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+e.reader)
		r.Header.Set(keyName, "k")
		over := make(chan struct{})
		go func() {
			defer close(over)
			e.handler.ServeHTTP(httptest.NewRecorder(), r)
		}()
		<-e.work.entered
		leave()
		close(e.work.hold)
		<-over
		e.work.entered = nil
		repeated(e, e.work.answers[0].Run, 1)
	})
	t.Run("without_an_answer_in_time", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		end := e.work.end
		e.work.fail, e.work.end = context.DeadlineExceeded, func(record.AnswerInput) error { return nil }
		got := e.do("POST", path, e.reader, body, keyName, "k")
		got.refused(503, knowledge.CodeUnavailable)
		run := e.work.answers[0].Run
		if row := e.do("GET", "/runs/"+run, e.reader, nil).want(200); row["status"] != string(knowledge.RunRunning) || got.header.Get("Cairn-Run-Id") != run {
			t.Errorf("the run: %v, named %q", row, got.header.Get("Cairn-Run-Id"))
		}
		e.work.fail, e.work.end = nil, end
		repeated(e, run, 2)
	})
	t.Run("behind_the_end_of_the_run", func(t *testing.T) {
		t.Parallel()
		e := setup(t)
		repeated(e, claim(e), 1)
	})
}

func TestCancelOfARunWithoutAWorkflow(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.unknown = true
	run := knowledge.NewID()
	p, err := e.access.Authenticate(t.Context(), accessCredentials(e.reader))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.store.AddRun(t.Context(), store.Run{ID: run, Workspace: "default", Kind: "query", Owner: p.Owner(), WorkflowID: "query/default/" + run}); err != nil {
		t.Fatal(err)
	}
	if got := e.do("POST", "/runs/"+run+"/cancel", e.reader, nil).want(202); got["status"] != "canceled" {
		t.Errorf("a question: %v", got)
	}
	e.add(e.editor, "a.txt", "one")
	ingest := e.work.ingests[0].RunID
	e.do("POST", "/runs/"+ingest+"/cancel", e.editor, nil).want(202)
	if diff := cmp.Diff([]string{run, ingest, ingest}, e.work.cancels); diff != "" || len(e.work.ingests) != 2 {
		t.Errorf("an ingest is started, and then stopped: %s", diff)
	}
}

func TestARemovalIsNotCanceled(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one")
	run := e.do("DELETE", "/workspaces/default/documents/"+id, e.editor, nil).want(200)["runId"].(string)
	e.do("POST", "/runs/"+run+"/cancel", e.editor, nil).refused(409, knowledge.CodeConflict)
	if len(e.work.cancels) != 0 {
		t.Error("its workflow was asked to stop")
	}
}
