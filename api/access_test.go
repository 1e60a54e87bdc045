package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// operation is a route, with an id of somebody else's thing where it has one.
type operation struct{ method, path, body string }

// operations are the routes that need credentials, by the scope they need.
func operations(workspace, document, chunk, run, conversation string) map[knowledge.Scope][]operation {
	own, hooks := "/workspaces/"+workspace, "/workspaces/"+workspace+"/webhooks"
	return map[knowledge.Scope][]operation{
		knowledge.ScopeRead: {
			{"GET", hooks + "/documents", ""}, {"GET", own + "/documents", ""}, {"GET", own + "/documents/" + document, ""},
			{"GET", own + "/documents/" + document + "/content", ""}, {"GET", own + "/documents/" + document + "/chunks", ""},
			{"GET", own + "/documents/" + document + "/pages/1.png", ""},
			{"GET", own + "/documents/" + document + "/versions", ""}, {"GET", own + "/projects", ""}, {"GET", own + "/projects/default", ""},
			{"GET", own + "/conversations", ""}, {"GET", own + "/conversations/" + conversation, ""}, {"DELETE", own + "/conversations/" + conversation, ""},
			{"GET", own + "/runs", ""}, {"GET", own + "/runs/" + run, ""}, {"POST", own + "/runs/" + run + "/cancel", ""},
			{"POST", hooks + "/retrieve-context", `{"text":"a"}`},
		},
		knowledge.ScopeWrite: {
			{"POST", hooks + "/document", `{"content":{"text":"a"}}`}, {"DELETE", hooks + "/document?id=" + document, ""},
			{"PATCH", own + "/documents/" + document, `{"tags":[]}`}, {"DELETE", own + "/documents/" + document, ""},
			{"POST", own + "/documents/" + document + "/retry", ""}, {"POST", own + "/documents/" + document + "/reingest", ""},
			{"POST", own + "/projects/default/files", ""},
		},
		knowledge.ScopeAdmin: {
			{"POST", own + "/keys", `{"name":"a","scopes":["read"]}`}, {"GET", own + "/keys", ""}, {"DELETE", own + "/keys/" + knowledge.NewID(), ""},
			{"POST", hooks + "/projects", `{"name":"a"}`}, {"PATCH", own + "/projects/default", `{"name":"a"}`},
		},
		"": {
			{"POST", hooks + "/query", `{"text":"a","conversationId":"` + conversation + `"}`}, {"GET", "/runs/" + run + "/events", ""}, {"GET", own + "/runs/" + run + "/events", ""},
			{"POST", "/tools/rag_search", `{"query":"a","document_ids":["` + document + `"]}`}, {"POST", "/tools/rag_search", `{"query":"a","session_id":"` + conversation + `"}`},
			{"GET", "/chunks/" + chunk, ""}, {"GET", "/chunks/" + chunk + "?quote=a", ""}, {"GET", "/runs/" + run, ""}, {"POST", "/runs/" + run + "/cancel", ""},
		},
	}
}

// things returns ids of what there is in workspace default.
func (e *edge) things() (document, chunk, run, conversation string) {
	e.t.Helper()
	document = e.add(e.editor, "a.txt", "one", map[string]any{"access": map[string]any{"workspace": true}})
	e.publish(document, knowledge.Chunk{Text: "one"})
	return document, knowledge.ChunkID(document, 1, 0), e.work.ingests[0].RunID, e.conversation(e.editor, "")
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, all := range operations("default", knowledge.NewID(), knowledge.NewID(), knowledge.NewID(), knowledge.NewID()) {
		for _, o := range all {
			e.do(o.method, o.path, "", o.body).refused(401, knowledge.CodeUnauthorized)
			got := e.do(o.method, o.path, "cairn_"+strings.Repeat("x", 43), o.body)
			got.refused(401, knowledge.CodeUnauthorized)
			if got.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s: no WWW-Authenticate", o.method, o.path)
			}
		}
	}
	t.Run("either_header", func(t *testing.T) {
		e.do("GET", "/workspaces/default/projects", "", nil, "knowledge-project-apikey", e.reader).want(200)
		e.do("GET", "/workspaces/default/projects", e.reader, nil).want(200)
	})
	t.Run("revoked_at_once", func(t *testing.T) {
		made := e.do("POST", "/workspaces/default/keys", e.admin, `{"name":"a","scopes":["read"]}`).want(201)
		key := made["key"].(string)
		e.do("GET", "/workspaces/default/projects", key, nil).want(200)
		e.do("DELETE", "/workspaces/default/keys/"+made["id"].(string), e.admin, nil).want(204)
		e.do("GET", "/workspaces/default/projects", key, nil).refused(401, knowledge.CodeUnauthorized)
	})
}

func TestScopes(t *testing.T) {
	t.Parallel()
	e := open(t)
	document, chunk, run, conversation := e.things()
	all := operations("default", document, chunk, run, conversation)
	for _, o := range all[knowledge.ScopeWrite] {
		e.do(o.method, o.path, e.reader, o.body).refused(403, knowledge.CodeForbidden)
	}
	for _, o := range all[knowledge.ScopeAdmin] {
		e.do(o.method, o.path, e.reader, o.body).refused(403, knowledge.CodeForbidden)
		e.do(o.method, o.path, e.editor, o.body).refused(403, knowledge.CodeForbidden)
	}
	e.do("POST", "/workspaces", e.stranger, `{"id":"third"}`).refused(403, knowledge.CodeForbidden)
}

func TestAnotherWorkspace(t *testing.T) {
	t.Parallel()
	e := open(t)
	document, chunk, run, conversation := e.things()
	t.Run("its_routes", func(t *testing.T) {
		for scope, all := range operations("default", document, chunk, run, conversation) {
			for _, o := range all {
				if got := e.do(o.method, o.path, e.stranger, o.body); got.status != 404 {
					t.Errorf("%s %s (%s) answers %d: %s", o.method, o.path, scope, got.status, got.body)
				}
			}
		}
	})
	t.Run("its_ids_under_routes_of_ones_own", func(t *testing.T) {
		for scope, all := range operations("other", document, chunk, run, conversation) {
			for _, o := range all {
				named := strings.Contains(o.path, document) || strings.Contains(o.path, chunk) || strings.Contains(o.path, run) || strings.Contains(o.path, conversation)
				if !named {
					continue
				}
				e.do(o.method, o.path, e.stranger, o.body).refused(404, knowledge.CodeNotFound)
				_ = scope
			}
		}
	})
	if got := e.do("GET", "/workspaces/default/documents/"+document, e.editor, nil).want(200); got["status"] != "published" {
		t.Errorf("the document was changed: %v", got)
	}
	if len(e.work.cancels) != 0 {
		t.Errorf("a run was cancelled: %v", e.work.cancels)
	}
	t.Run("the_instances_administrator_names_it", func(t *testing.T) {
		e.do("GET", "/workspaces/other/projects/default", e.admin, nil).want(200)
		e.do("GET", "/workspaces/none/projects", e.admin, nil).refused(404, knowledge.CodeNotFound)
		e.do("GET", "/chunks/"+chunk, e.admin, nil).want(200)
		e.do("GET", "/chunks/"+chunk, e.admin, nil, "Cairn-Workspace", "other").refused(404, knowledge.CodeNotFound)
	})
}

// TestRunsOfVersionsThatWereForOthers: what a run tells of its version is for
// those who may know of the version.
func TestRunsOfVersionsThatWereForOthers(t *testing.T) {
	t.Parallel()
	e := open(t)
	for _, upload := range []map[string]any{
		{"name": "Dismissal of Ann.txt", "access": map[string]any{"users": []string{"boss"}}},
		{"name": "summary.txt", "access": map[string]any{"workspace": true}},
		{"name": "Dismissal of Bob.txt", "access": map[string]any{"users": []string{"boss"}}},
	} {
		upload["externalId"], upload["content"] = "x", map[string]any{"text": "text"}
		id := e.do("POST", hooks+"/document", e.editor, upload).want(202)["id"].(string)
		if upload["name"] != "Dismissal of Bob.txt" {
			e.publish(id, knowledge.Chunk{Text: "text"})
		}
	}
	update, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(record.DocumentState{Stage: "embed"})})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range e.work.ingests {
		e.logs[v.RunID] = []stream.Item{{Topic: update.Topic, Data: update.Data}}
		for _, path := range []string{"/runs/" + v.RunID, "/runs/" + v.RunID + "/events"} {
			if i != 1 {
				e.do("GET", path, e.reader, nil).refused(404, knowledge.CodeNotFound)
			} else if got := e.do("GET", path, e.reader, nil); !strings.Contains(string(got.body), "summary.txt") {
				t.Errorf("of the version that it reads, GET %s: %d %s", path, got.status, got.body)
			}
		}
	}
	if list := e.do("GET", own+"/runs?kind=ingest", e.reader, nil).want(200); len(list["data"].([]any)) != 1 {
		t.Errorf("a reader lists %v", list)
	}
}

func TestAKeyToOneProject(t *testing.T) {
	t.Parallel()
	e := open(t)
	document, chunk, _, _ := e.things()
	made := e.do("POST", hooks+"/projects", e.admin, `{"name":"Second"}`).want(200)
	key := made["apiKey"].(string)
	e.do("GET", own+"/projects/default", key, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", own+"/documents/"+document, key, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", "/chunks/"+chunk, key, nil).refused(404, knowledge.CodeNotFound)
	e.do("POST", hooks+"/document?projectId=default", key, `{"content":{"text":"a"}}`).refused(404, knowledge.CodeNotFound)
	id := e.do("POST", hooks+"/document", key, `{"content":{"text":"a"}}`).want(202)["id"].(string)
	if d, err := e.store.PendingVersions(t.Context(), store.PendingQuery{Before: e.later(), Limit: 10}); err != nil || len(d) != 1 || d[0].Project != "second" || d[0].Document != id {
		t.Errorf("the document went to %+v, %v", d, err)
	}
	manager := e.key(store.Key{Workspace: "default", Project: "second", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	e.do("POST", hooks+"/projects", manager, `{"name":"Third"}`).refused(403, knowledge.CodeForbidden)
	e.do("POST", own+"/keys", manager, `{"name":"a","scopes":["read"],"project_id":"default"}`).refused(404, knowledge.CodeNotFound)
	if k := e.do("POST", own+"/keys", manager, `{"name":"a","scopes":["read"]}`).want(201); k["project_id"] != "second" {
		t.Errorf("a key of a key to one project is for %v", k["project_id"])
	}
}

func TestActingForAnExternalUser(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one", map[string]any{"externalUserId": "ann"})
	e.publish(id, knowledge.Chunk{Text: "one"})
	path := own + "/documents/" + id
	e.do("GET", path, e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", path+"?external_user_id=bob", e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", path+"?external_user_id=ann", e.reader, nil).want(200)
	e.do("GET", path+"?external_user_id="+strings.Repeat("a", 257), e.reader, nil).refused(422, knowledge.CodeInvalid)
	conversation := e.conversation(e.reader, "ann")
	e.do("GET", own+"/conversations/"+conversation, e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", own+"/conversations/"+conversation+"?external_user_id=ann", e.reader, nil).want(200)
	e.do("GET", path+"?session_id="+conversation, e.reader, nil).refused(404, knowledge.CodeNotFound)
}

// TestQuestionsAboutForeignDocuments names documents that the asker may not know of.
func TestQuestionsAboutForeignDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	document, _, _, _ := e.things()
	private := e.add(e.editor, "c.txt", "three", map[string]any{"access": map[string]any{"workspace": false, "users": []string{"ann"}}})
	e.publish(private, knowledge.Chunk{Text: "three"})
	for name, ask := range map[string]struct{ key, workspace, document string }{
		"of another workspace": {e.stranger, "other", document},
		"of another user":      {e.reader, "default", private},
		"of nobody":            {e.reader, "default", knowledge.NewID()},
	} {
		for path, body := range map[string]string{
			"/workspaces/" + ask.workspace + "/webhooks/query": `{"text":"a","document_ids":["` + ask.document + `"]}`,
			"/tools/rag_search": `{"query":"a","document_ids":["` + ask.document + `"]}`,
		} {
			got := e.do("POST", path, ask.key, body)
			if got.refused(404, knowledge.CodeNotFound); !strings.Contains(string(got.body), ask.document) {
				t.Errorf("a document %s: %s does not name it: %s", name, path, got.body)
			}
		}
	}
	if got := e.do("POST", "/workspaces/default/webhooks/query", e.reader, `{"text":"a","document_ids":["`+document+`"],"stream":true}`); got.status != 202 {
		t.Errorf("a document of the asker's own: %d: %s", got.status, got.body)
	}
}
