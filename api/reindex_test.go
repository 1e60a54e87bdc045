package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const reindexPath = own + "/projects/default/reindex"

// outdate publishes two documents and changes how the project's documents are cut.
func (e *edge) outdate() {
	e.t.Helper()
	for _, name := range []string{"one", "two"} {
		e.publish(e.add(e.editor, name, "some text"))
	}
	e.do("POST", reindexPath+"?dry_run=true", e.editor, nil).want(200)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"textSplitter":{"chunkSize":300}}}`).want(200)
}

func TestReindexOverTheAPI(t *testing.T) {
	t.Parallel()
	t.Run("a_dry_run_counts_and_starts_nothing", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if got := e.do("POST", reindexPath+"?dry_run=true", e.editor, nil).want(200); got["matched"] != 0.0 {
			t.Errorf("before a change: %v", got)
		}
		e.outdate()
		got := e.do("POST", reindexPath+"?dry_run=true", e.editor, nil).want(200)
		if got["matched"] != 2.0 || got["run_id"] != nil || len(e.work.reindexes) != 0 {
			t.Errorf("answer %v, started %v", got, e.work.reindexes)
		}
		got = e.do("POST", reindexPath, e.editor, `{"dry_run":true}`).want(200)
		if got["matched"] != 2.0 || len(e.work.reindexes) != 0 {
			t.Errorf("in the body: answer %v, started %v", got, e.work.reindexes)
		}
		e.do("POST", reindexPath, e.editor, `{"dry-run":true}`).want(422)
	})
	t.Run("a_second_call_names_the_run_that_is_running", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.outdate()
		got := e.do("POST", reindexPath, e.editor, nil)
		first := got.want(202)
		run := first["run_id"].(string)
		if got.header.Get("Cairn-Run-Id") != run || !strings.HasPrefix(first["events_url"].(string), "/runs/"+run+"/events?token=") {
			t.Errorf("run %s: header %q, events at %v", run, got.header.Get("Cairn-Run-Id"), first["events_url"])
		}
		if first["matched"] != 2.0 || first["operator_url"] != "http://operator.test/reindex/default/default" {
			t.Errorf("answer %v", first)
		}
		if again := e.do("POST", reindexPath, e.editor, nil).want(202); again["run_id"] != run {
			t.Errorf("the second call answers %v", again)
		}
		e.endReindex(run, knowledge.RunCompleted)
		if next := e.do("POST", reindexPath, e.editor, nil).want(202); next["run_id"] == run {
			t.Errorf("after its end: %v", next)
		}
	})
	t.Run("its_run_shows_the_counts", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.outdate()
		run := e.do("POST", reindexPath, e.editor, nil).want(202)["run_id"].(string)
		shown := e.do("GET", "/runs/"+run, e.editor, nil).want(200)
		if shown["kind"] != "reindex" || shown["document_id"] != nil || shown["progress"].(map[string]any)["matched"] != 2.0 || shown["result"] != nil {
			t.Errorf("running: %v", shown)
		}
		if list := e.do("GET", own+"/runs?kind=reindex", e.editor, nil).want(200)["data"].([]any); len(list) != 1 {
			t.Errorf("listed %v", list)
		}
		part := knowledge.ReindexProgress{Refused: 1, Refusals: []knowledge.Refusal{{ID: "d", Code: knowledge.CodeEncrypted}}}
		if _, err := e.store.ReindexProgress(t.Context(), "default", run, part, 10); err != nil {
			t.Fatal(err)
		}
		e.endReindex(run, knowledge.RunCompleted)
		result := e.do("GET", "/runs/"+run, e.editor, nil).want(200)["result"].(map[string]any)
		if result["refused"] != 1.0 || result["refusals"].([]any)[0].(map[string]any)["id"] != "d" {
			t.Errorf("result %v", result)
		}
		events := e.events(run)
		last, err := json.Marshal(events[len(events)-1])
		if err != nil || !json.Valid(last) {
			t.Fatal(err)
		}
		if ended := events[len(events)-1]; ended["status"] != "completed" || ended["result"].(map[string]any)["matched"] != 2.0 {
			t.Errorf("the last event is %s", last)
		}
	})
	t.Run("of_another_workspace_or_without_the_scope_it_is_refused", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.do("POST", reindexPath, e.reader, nil).refused(403, knowledge.CodeForbidden)
		e.do("POST", own+"/projects/nope/reindex", e.editor, nil).refused(404, knowledge.CodeNotFound)
		document := e.dispatched(e.add(e.editor, "one", "some text"))
		e.do("POST", "/runs/"+document.RunID+"/pause", e.editor, nil).refused(409, knowledge.CodeConflict)
	})
}

func TestControlOfAReindex(t *testing.T) {
	t.Parallel()
	t.Run("it_is_paused_resumed_and_canceled", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.outdate()
		run := e.do("POST", reindexPath, e.editor, nil).want(202)["run_id"].(string)
		for _, action := range []string{"pause", "resume"} {
			e.do("POST", "/runs/"+run+"/"+action, e.editor, nil).want(202)
			e.do("POST", "/runs/"+run+"/"+action, e.reader, nil).refused(403, knowledge.CodeForbidden)
			if e.work.paused[run] != (action == "pause") {
				t.Errorf("%s was not asked for", action)
			}
		}
		e.do("POST", "/runs/"+run+"/cancel", e.editor, nil).want(202)
		if !slices.Contains(e.work.cancels, run) {
			t.Errorf("canceled %v", e.work.cancels)
		}
		e.endReindex(run, knowledge.RunCanceled)
		e.do("POST", "/runs/"+run+"/pause", e.editor, nil).refused(409, knowledge.CodeConflict)
	})
	t.Run("without_a_workflow_it_is_started_to_be_paused_and_ended_to_be_canceled", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		run := e.do("POST", reindexPath, e.editor, nil).want(202)["run_id"].(string)
		e.work.unknown = true
		e.do("POST", "/runs/"+run+"/pause", e.editor, nil).want(202)
		if len(e.work.reindexes) != 2 {
			t.Errorf("started %v", e.work.reindexes)
		}
		if got := e.do("POST", "/runs/"+run+"/cancel", e.editor, nil).want(202); got["status"] != "canceled" {
			t.Errorf("canceled: %v", got)
		}
	})
}

// endReindex ends the run of a reindex, as its workflow does.
func (e *edge) endReindex(run string, status knowledge.RunStatus) {
	e.t.Helper()
	if err := e.store.EndRun(e.t.Context(), "default", run, store.RunEnd{Kind: knowledge.KindReindex, Status: status, At: time.Now()}); err != nil {
		e.t.Fatal(err)
	}
}
