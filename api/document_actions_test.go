package api_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// failed takes a document in and ends its ingestion with an error.
func (e *edge) failed(name string, code knowledge.Code, more ...map[string]any) string {
	e.t.Helper()
	id := e.add(e.editor, name, "some text", more...)
	e.refuse(e.dispatched(id), code)
	return id
}

// wantSelection fails the test unless an answer has these counts and refusals.
func wantSelection(t *testing.T, got map[string]any, matched, started int, refused ...string) {
	t.Helper()
	keys := []string{"matched", "started", "refused"}
	if got["runs"] != nil {
		keys = append(keys, "runs")
	}
	wantKeys(t, got, keys...)
	var names []string
	for _, r := range got["refused"].([]any) {
		wantKeys(t, r, "id", "code")
		names = append(names, fmt.Sprint(r.(map[string]any)["id"], " ", r.(map[string]any)["code"]))
	}
	slices.Sort(names)
	slices.Sort(refused)
	if got["matched"] != float64(matched) || got["started"] != float64(started) || !slices.Equal(names, refused) {
		t.Errorf("answer %v, want %d matched, %d started, refused %v", got, matched, started, refused)
	}
}

func TestRetryOfManyDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/documents/retry"
	e.publish(e.add(e.editor, "published", "some text"))
	e.add(e.editor, "pending", "some text")
	outage, other := e.failed("outage", knowledge.CodeProviderFailed), e.failed("other outage", knowledge.CodeProviderFailed, map[string]any{"tags": []string{"a"}})
	corrupt := e.failed("corrupt", knowledge.CodeCorrupt)
	waits := e.add(e.editor, "waits", "some text")
	v := e.dispatched(waits)
	if err := e.store.SetWaiting(t.Context(), v.VersionRef, &knowledge.Waiting{NextAt: time.Now().Add(time.Hour), Code: knowledge.CodeRateLimited}); err != nil {
		t.Fatal(err)
	}
	before := len(e.work.ingests)

	dry := e.do("POST", path, e.editor, `{"filter":{},"dry_run":true}`).want(200)
	wantSelection(t, dry, 4, 0, corrupt+" conflict")
	dry = e.do("POST", path, e.editor, `{"filter":{"code":"rate_limited"},"dry_run":true}`).want(200)
	wantSelection(t, dry, 1, 0)
	if len(e.work.ingests) != before || len(e.work.retries) != 0 {
		t.Fatal("a dry run has started something")
	}
	got := e.do("POST", path, e.editor, `{"filter":{"projectId":"default","status":"error","code":"provider_failed","tags":["a","b"]}}`).want(202)
	wantSelection(t, got, 1, 1)
	if e.dispatched(other).RunID == "" || !slices.Equal(e.work.later, []string{other}) {
		t.Errorf("started with the priority of bulk work: %v", e.work.later)
	}
	got = e.do("POST", path, e.editor, map[string]any{"ids": []string{outage, outage, corrupt, "none"}}).want(202)
	wantSelection(t, got, 2, 1, corrupt+" conflict", "none not_found")
	got = e.do("POST", path, e.editor, `{"filter":{}}`).want(202)
	wantSelection(t, got, 2, 1, corrupt+" conflict")
	if !slices.Equal(e.work.retries, []string{waits}) {
		t.Errorf("asked to try at once: %v", e.work.retries)
	}
}

func TestReingestOfManyDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/documents/reingest"
	old := e.add(e.editor, "old", "some text")
	e.publish(old)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"textSplitter":{"chunkSize":300}}}`).want(200)
	e.publish(e.add(e.editor, "new", "some text"))
	e.add(e.editor, "pending", "some text")
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"projectId":"default"},"dry_run":true}`).want(200), 2, 0)
	for _, project := range []string{"", "&project_id=default"} {
		listed := e.do("GET", own+"/documents?stale=true"+project, e.editor, nil).want(200)["data"].([]any)
		if len(listed) != 1 || listed[0].(map[string]any)["id"] != old {
			t.Errorf("listed as stale%s are %v", project, listed)
		}
	}
	stale := e.do("POST", path, e.editor, `{"filter":{"stale":true}}`, "Idempotency-Key", "k").want(202)
	wantSelection(t, stale, 1, 1)
	v := e.dispatched(old)
	if v.Version != 2 {
		t.Errorf("version %d was started", v.Version)
	}
	wantRuns(t, stale, map[string]any{"run_id": v.RunID, "project_id": "default", "document_id": old, "documents": 1.0})
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"stale":true}}`, "Idempotency-Key", "k").want(202), 1, 1)
	if len(e.work.later) != 1 {
		t.Errorf("started %v", e.work.later)
	}
}

// TestReingestAfterAnotherEmbeddingModel reindexes the project: a new version of a document
// would be embedded with the old model.
func TestReingestAfterAnotherEmbeddingModel(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/documents/reingest"
	document := e.add(e.editor, "old", "some text", map[string]any{"tags": []string{"x"}})
	e.publish(document)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"embeddings":{"model":"other","dimensions":3}}}`).want(200)
	if got, ok := e.do("GET", "/workspaces/default/webhooks/documents?projectId=default", e.editor, nil).want(200)["staleEmbeddings"].(map[string]any); !ok || got["documents"] != 1.0 || got["configured"] != "other/3" {
		t.Errorf("the list shows %v", got)
	}
	started := len(e.work.later)
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"stale":true,"tags":["x"]}}`).want(202), 1, 0, document+" conflict")
	if len(e.work.reindexes) != 0 {
		t.Error("a filter for some of the documents has started a reindex")
	}
	reindexed := e.do("POST", path, e.editor, `{"filter":{"stale":true}}`).want(202)
	wantSelection(t, reindexed, 1, 1)
	if len(e.work.reindexes) != 1 || len(e.work.later) != started {
		t.Errorf("started the reindexes %v and %d versions", e.work.reindexes, len(e.work.later)-started)
	}
	run := map[string]any{"run_id": e.work.reindexes[0], "project_id": "default", "documents": 1.0}
	wantRuns(t, reindexed, run)
	under := e.do("POST", path, e.editor, `{"filter":{"stale":true},"dry_run":true}`).want(200)
	wantSelection(t, under, 1, 0)
	wantRuns(t, under, run)
}

// wantRuns fails the test unless an answer has exactly this run.
func wantRuns(t *testing.T, got map[string]any, want map[string]any) {
	t.Helper()
	if diff := cmp.Diff([]any{want}, got["runs"]); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestAcknowledgementOfFailures(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/documents/acknowledge"
	fine := e.add(e.editor, "fine", "some text")
	e.publish(fine)
	corrupt, outage := e.failed("corrupt", knowledge.CodeCorrupt), e.failed("outage", knowledge.CodeProviderFailed)
	shown := func(id string, want any) {
		t.Helper()
		if got := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)["acknowledged"]; got != want {
			t.Errorf("document %s has acknowledged: %v, want %v", id, got, want)
		}
	}
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{},"dry_run":true}`).want(200), 2, 0)
	shown(corrupt, nil)
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"code":"corrupt"}}`).want(200), 1, 1)
	shown(corrupt, true)
	shown(outage, nil)
	wantSelection(t, e.do("POST", path, e.editor, map[string]any{"ids": []string{outage, fine}}).want(200), 2, 1, fine+" conflict")
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{}}`).want(200), 0, 0)
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"code":"corrupt"},"undo":true}`).want(200), 1, 1)
	shown(corrupt, nil)
	shown(outage, true)
	e.do("POST", own+"/documents/"+outage+"/retry", e.editor, nil).want(202)
	e.refuse(e.dispatched(outage), knowledge.CodeProviderFailed)
	shown(outage, nil)
}

func TestRemovalOfManyDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	path := own + "/documents/remove"
	held, kept := e.add(e.editor, "held", "some text", map[string]any{"tags": []string{"x"}}), e.add(e.editor, "kept", "some text")
	e.publish(held)
	e.do("PATCH", own+"/documents/"+held, e.editor, `{"legal_hold":true}`).want(200)
	gone := e.add(e.editor, "gone", "some text", map[string]any{"tags": []string{"x"}})
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"tags":["x"]},"dry_run":true}`).want(200), 2, 0, held+" conflict")
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"tags":["x"]}}`).want(202), 2, 1, held+" conflict")
	e.do("GET", own+"/documents/"+gone, e.reader, nil).refused(404, knowledge.CodeNotFound)
	wantSelection(t, e.do("POST", path, e.editor, `{"filter":{"tags":["x"]}}`).want(202), 1, 0, held+" conflict")
	if list := e.removals(); len(list) != 0 {
		t.Errorf("the request has started %v", list)
	}
	ctx, stop := context.WithCancel(t.Context())
	var late sync.WaitGroup
	late.Go(func() { e.server.StartLate(ctx) })
	for len(e.removals()) == 0 && t.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	late.Wait()
	if list := e.removals(); len(list) != 1 || list[0].Document != gone {
		t.Errorf("removals %v", list)
	}
	e.do("GET", own+"/documents/"+kept, e.editor, nil).want(200)
}

// removals are the removals that have a workflow.
func (e *edge) removals() []store.Removal {
	e.work.mu.Lock()
	defer e.work.mu.Unlock()
	return slices.Clone(e.work.removals)
}

func TestActionsOnManyDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, action := range []string{"retry", "reingest", "remove", "acknowledge"} {
		path := own + "/documents/" + action
		for _, body := range []string{`{}`, `{"ids":[]}`, `{"ids":["a"],"filter":{}}`, `{"filter":{"code":"none"}}`, `{"filter":{"status":"x"}}`, `{"filter":{"name":"x"}}`, `{"ids":"a"}`} {
			e.do("POST", path, e.editor, body).refused(422, knowledge.CodeInvalid)
		}
		e.do("POST", path, e.editor, `{"filter":{"projectId":"none"}}`).refused(404, knowledge.CodeNotFound)
		e.do("POST", path, e.reader, `{"ids":["a"]}`).refused(403, knowledge.CodeForbidden)
		e.do("POST", path, e.stranger, `{"ids":["a"]}`).refused(404, knowledge.CodeNotFound)
	}
	e.do("POST", own+"/documents/remove", e.editor, `{"filter":{}}`).refused(422, knowledge.CodeInvalid)
}
