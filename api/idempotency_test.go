package api_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

const keyName = "Idempotency-Key"

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	e := open(t)
	path, body := hooks+"/document", `{"content":{"text":"one"}}`
	first := e.do("POST", path, e.editor, body, keyName, "k1")
	run := first.want(202)["runId"]
	t.Run("the_same_request_gets_the_same_answer", func(t *testing.T) {
		again := e.do("POST", path, e.editor, body, keyName, "k1")
		if diff := cmp.Diff(string(first.body), string(again.body)); diff != "" {
			t.Error(diff)
		}
		if again.status != 202 || again.header.Get("Cairn-Run-Id") != run || again.header.Get("Content-Type") != "application/json" {
			t.Errorf("%d %v", again.status, again.header)
		}
		if len(e.work.ingests) != 1 {
			t.Errorf("%d ingestions were started", len(e.work.ingests))
		}
	})
	t.Run("another_request_is_a_conflict", func(t *testing.T) {
		e.do("POST", path, e.editor, `{"content":{"text":"two"}}`, keyName, "k1").refused(409, knowledge.CodeConflict)
		e.do("POST", path+"?projectId=default", e.editor, body, keyName, "k1").refused(409, knowledge.CodeConflict)
	})
	t.Run("callers_have_keys_of_their_own", func(t *testing.T) {
		other := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
		if got := e.do("POST", path, other, body, keyName, "k1").want(202); got["runId"] == run {
			t.Error("another caller gets the answer")
		}
	})
	t.Run("keys_of_several_projects_that_act_for_one_user_are_several_callers", func(t *testing.T) {
		if err := e.store.CreateProject(t.Context(), knowledge.Project{ID: "p2", Workspace: "default", Name: "P2"}); err != nil {
			t.Fatal(err)
		}
		as, runs := path+"?userId=ann", map[any]bool{}
		for _, project := range []string{"default", "p2"} {
			key := e.key(store.Key{Workspace: "default", Project: project, Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
			runs[e.do("POST", as, key, body, keyName, "k1").want(202)["runId"]] = true
		}
		if len(runs) != 2 {
			t.Error("one project's key is given the answer of another's")
		}
	})
	t.Run("a_refusal_frees_the_key", func(t *testing.T) {
		e.do("POST", path, e.editor, `{"content":{}}`, keyName, "k2").refused(422, knowledge.CodeInvalid)
		e.do("POST", path, e.editor, body, keyName, "k2").want(202)
	})
	t.Run("a_bad_key", func(t *testing.T) {
		for route, body := range map[string]string{path: body, hooks + "/query": `{"text":"a"}`, "/tools/rag_search": `{"query":"a"}`} {
			for _, key := range []string{strings.Repeat("k", 256), "a\tb", "ä"} {
				locations := e.do("POST", route, e.editor, body, keyName, key).refused(422, knowledge.CodeInvalid)
				if diff := cmp.Diff([]string{"header.Idempotency-Key"}, locations); diff != "" {
					t.Errorf("%s: %s", route, diff)
				}
			}
		}
	})
}

// TestIdempotencyKeyOfRuns repeats what starts a run, and something that does not.
func TestIdempotencyKeyOfRuns(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	for name, request := range map[string]struct{ path, body string }{
		"query": {hooks + "/query", `{"text":"a"}`}, "events": {hooks + "/query", `{"text":"b","sse":true}`},
		"rag_search": {"/tools/rag_search", `{"query":"a"}`}, "tool_events": {"/tools/rag_search", `{"query":"b","stream":true}`},
		"document": {hooks + "/document", `{"content":{"text":"one"}}`}, "conversation": {own + "/conversations", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			first := e.do("POST", request.path, e.editor, request.body, keyName, name)
			again := e.do("POST", request.path, e.editor, request.body, keyName, name)
			if first.status >= 300 || again.status != first.status || !bytes.Equal(first.body, again.body) {
				t.Fatalf("%d %s, then %d %s", first.status, first.body, again.status, again.body)
			}
			for _, header := range []string{"Cairn-Run-Id", "Content-Type"} {
				if first.header.Get(header) != again.header.Get(header) {
					t.Errorf("%s is %q, then %q", header, first.header.Get(header), again.header.Get(header))
				}
			}
			if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("Idempotent-Replayed is %q, then %q", first.header.Get("Idempotent-Replayed"), again.header.Get("Idempotent-Replayed"))
			}
		})
	}
	t.Run("a_document_that_is_waited_for", func(t *testing.T) {
		e := open(t)
		path, body := hooks+"/document?wait=true", `{"content":{"text":"two"}}`
		e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
		go func() {
			<-e.work.entered
			e.work.mu.Lock()
			v := e.work.ingests[len(e.work.ingests)-1]
			e.work.mu.Unlock()
			err := e.store.EndRun(context.WithoutCancel(t.Context()), v.Workspace, v.RunID, store.RunEnd{Status: knowledge.RunFailed, At: time.Now()})
			if err != nil {
				t.Error(err)
			}
			close(e.work.hold)
		}()
		first := e.do("POST", path, e.editor, body, keyName, "wait")
		again := e.do("POST", path, e.editor, body, keyName, "wait")
		first.want(200)
		if run := first.header.Get("Cairn-Run-Id"); run == "" || again.header.Get("Cairn-Run-Id") != run {
			t.Errorf("Cairn-Run-Id is %q, then %q", run, again.header.Get("Cairn-Run-Id"))
		}
	})
}

func TestIdempotencyKeyOfARemovedDocument(t *testing.T) {
	t.Parallel()
	e := open(t)
	body := `{"name":"Dismissal of Ann","content":{"text":"one"}}`
	send := func() map[string]any {
		return e.do("POST", hooks+"/document", e.editor, body, keyName, "k").want(202)
	}
	first := send()
	id := first["id"].(string)
	e.publish(id, knowledge.Chunk{Text: "one"})
	e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200)
	if again := send(); again["status"] != "deleting" {
		t.Errorf("while it is removed: %v", again)
	}
	if err := e.store.RemoveRows(t.Context(), e.work.removals[0]); err != nil {
		t.Fatal(err)
	}
	again := send()
	if again["name"] != "" || again["status"] != "deleting" {
		t.Errorf("after its removal: %v", again)
	}
	for _, field := range []string{"id", "runId", "version"} {
		if again[field] != first[field] {
			t.Errorf("%s is %v, then %v", field, first[field], again[field])
		}
	}
	if len(e.work.ingests) != 1 {
		t.Error("the document was made once more")
	}
}

func TestIdempotencyKeyOfAQuestionForPassages(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.contexts = []retrieve.Context{{ChunkView: store.ChunkView{Chunk: knowledge.Chunk{ID: "c", Text: "a secret"}}, Rank: 1}}
	body := `{"text":"What?"}`
	first := e.do("POST", hooks+"/retrieve-context", e.reader, body, keyName, "k")
	if first.want(200); !bytes.Contains(first.body, []byte("a secret")) {
		t.Fatalf("found: %s", first.body)
	}
	e.work.contexts = nil // its access has changed
	if again := e.do("POST", hooks+"/retrieve-context", e.reader, body, keyName, "k"); bytes.Contains(again.body, []byte("a secret")) {
		t.Errorf("a passage that is no longer to be seen: %s", again.body)
	}
	e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"Who?"}`, keyName, "k").refused(409, knowledge.CodeConflict)
}

func TestIdempotencyKeyAtTheSameTime(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
	answers := make(chan answer)
	for range 3 {
		go func() {
			answers <- e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"one"}}`, keyName, "k")
		}()
	}
	<-e.work.entered
	close(e.work.hold)
	first := <-answers
	first.want(202)
	for range 2 {
		if next := <-answers; !bytes.Equal(next.body, first.body) {
			t.Errorf("%s, then %s", first.body, next.body)
		}
	}
	if len(e.work.ingests) != 1 {
		t.Errorf("%d ingestions were started", len(e.work.ingests))
	}
}

func TestIdempotencyKeyAfterACrash(t *testing.T) {
	t.Parallel()
	e := open(t)
	body := `{"content":{"text":"one"}}`
	got := e.do("POST", hooks+"/document", e.editor, body, keyName, "k").want(202)
	e.unanswered(e.editor, "k")
	again := e.do("POST", hooks+"/document", e.editor, body, keyName, "k").want(202)
	for _, field := range []string{"id", "runId", "version"} {
		if got[field] != again[field] {
			t.Errorf("%s is %v, then %v", field, got[field], again[field])
		}
	}
	if len(e.work.ingests) != 1 {
		t.Errorf("%d versions were made", len(e.work.ingests))
	}
}

// unanswered takes the answer to a request away, as a kill between its work and
// its answer would have.
func (e *edge) unanswered(caller, key string) {
	e.t.Helper()
	p, err := e.access.Authenticate(e.t.Context(), accessCredentials(caller))
	if err != nil {
		e.t.Fatal(err)
	}
	if err := e.store.StoreResponse(e.t.Context(), "default", idempotency.Caller(p), key, 0, "", nil); err != nil {
		e.t.Fatal(err)
	}
}

// TestIdempotencyKeyOfWhatIsMade repeats, after a crash, requests that make
// something.
func TestIdempotencyKeyOfWhatIsMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body, list, secret string }{
		"a_key":                    {own + "/keys", `{"name":"ci","scopes":["admin"]}`, own + "/keys", "key"},
		"a_project":                {hooks + "/projects", `{"name":"House"}`, own + "/projects", "apiKey"},
		"a_project_with_a_slug":    {hooks + "/projects", `{"name":"House","slug":"h"}`, own + "/projects", "apiKey"},
		"a_project_of_a_name_more": {hooks + "/projects", `{"name":"Default"}`, own + "/projects", "apiKey"},
		"a_conversation":           {own + "/conversations", `{"title":"a"}`, own + "/conversations", ""},
		"a_workspace":              {"/workspaces", `{"id":"third"}`, "/workspaces", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			count := func(path string) int {
				return len(e.do("GET", path, e.admin, nil).want(200)["data"].([]any))
			}
			first := e.do("POST", c.path, e.admin, c.body, keyName, "k")
			made, keys := count(c.list), count(own+"/keys")
			e.unanswered(e.admin, "k")
			again := e.do("POST", c.path, e.admin, c.body, keyName, "k")
			a, b := first.want(first.status), again.want(first.status)
			if a["id"] != b["id"] || first.status >= 300 || count(c.list) != made || count(own+"/keys") != keys {
				t.Errorf("%s, then %d %s", first.body, again.status, again.body)
			}
			if c.secret == "" {
				return
			}
			e.do("GET", own+"/projects", a[c.secret].(string), nil).refused(401, knowledge.CodeUnauthorized)
			e.do("GET", own+"/projects", b[c.secret].(string), nil).want(200)
		})
	}
}

func TestIdempotencyKeyOfFiles(t *testing.T) {
	t.Parallel()
	e := open(t)
	parts := []part{file("a.txt", "one"), file("b.txt", "two"), {"tags", "", "x"}}
	first := e.upload(e.editor, parts, keyName, "k")
	first.want(202)
	again := e.upload(e.editor, parts, keyName, "k") // with another boundary
	if !bytes.Equal(first.body, again.body) || again.header.Get("Cairn-Run-Id") == "" {
		t.Errorf("%s, then %d %s", first.body, again.status, again.body)
	}
	if len(e.work.ingests) != 2 {
		t.Errorf("%d ingestions were started", len(e.work.ingests))
	}
	e.upload(e.editor, []part{file("a.txt", "one"), file("b.txt", "TWO"), {"tags", "", "x"}}, keyName, "k").refused(409, knowledge.CodeConflict)
}

func TestIdempotencyKeyOfSecrets(t *testing.T) {
	t.Parallel()
	e := open(t)
	body := `{"name":"ci","scopes":["read"]}`
	first := e.do("POST", own+"/keys", e.admin, body, keyName, "k")
	secret := first.want(201)["key"].(string)
	if again := e.do("POST", own+"/keys", e.admin, body, keyName, "k"); !bytes.Equal(first.body, again.body) {
		t.Errorf("%s, then %s", first.body, again.body)
	}
	p, err := e.access.Authenticate(t.Context(), accessCredentials(e.admin))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := e.store.ClaimKey(t.Context(), store.IdempotencyKey{Workspace: "default", Caller: idempotency.Caller(p), Key: "k", Now: e.later()})
	if err != nil || stored == nil {
		t.Fatal(stored, err)
	}
	if bytes.Contains(stored.Response, []byte(secret)) || stored.Status != http.StatusCreated {
		t.Errorf("stored: %d %q", stored.Status, stored.Response)
	}
	e.do("POST", own+"/keys", e.admin, body, keyName, "k", "knowledge-project-apikey", e.admin).want(201)
}
