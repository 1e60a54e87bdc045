package e2e_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// tenant is somebody who must not learn of the things of another tenant.
type tenant struct {
	name       string
	header     []string
	query      string
	workspaces []string
	only       []string // parameters of the routes that are closed to it; nil = all
}

// TestRoutesAreClosedToOtherTenants requests every route of openapi.json that names a thing,
// once by the id of one and once by an id that nothing has. Other tenants get the same
// response: they cannot tell whether the thing is there.
func TestRoutesAreClosedToOtherTenants(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	things := s.things(t, m)
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "second"}, nil); status >= 300 {
		t.Fatalf("project second: status %d", status)
	}
	neighbour := s.newKey(t, map[string]any{"name": "neighbour", "project_id": "second", "scopes": []string{"read", "write", "admin"}})
	reader := s.newKey(t, map[string]any{"name": "application", "scopes": []string{"read"}})
	stranger := []string{"Authorization", "Bearer " + s.otherKey(t)}
	routes := s.namingRoutes(t)
	for _, somebody := range []tenant{
		{name: "another workspace", header: stranger, workspaces: []string{"default", "other"}},
		{name: "another workspace that names this one", header: append(stranger, "Cairn-Workspace", "default"), workspaces: []string{"other"}},
		{name: "another project", header: []string{"Authorization", "Bearer " + neighbour}, workspaces: []string{"default"}},
		{name: "another end user", header: []string{"Authorization", "Bearer " + reader}, query: "userId=bob", workspaces: []string{"default"}, only: []string{"run_id", "conversation"}},
		{name: "a customer with the name of the end user", header: []string{"Authorization", "Bearer " + reader}, query: "external_user_id=ann", workspaces: []string{"default"}, only: []string{"run_id", "conversation"}},
	} {
		t.Run(somebody.name, func(t *testing.T) {
			for _, r := range routes {
				if somebody.only == nil || slices.Contains(somebody.only, r.subject) {
					s.wantClosed(t, somebody, r, things)
				}
			}
		})
	}
	t.Run("and all things are as they were", func(t *testing.T) {
		for name, path := range map[string]string{
			"document": "/workspaces/default/documents/{document}", "run_id": "/runs/{run_id}", "conversation": "/workspaces/default/conversations/{conversation}?userId=ann",
			"import": "/workspaces/default/imports/{import}", "file": "/v1/files/{file}", "store": "/v1/vector_stores/{store}", "response": "/v1/responses/{response}",
			"project": "/workspaces/default/projects/{project}", "chunk_id": "/chunks/{chunk_id}", "batch": "/v1/vector_stores/{store}/file_batches/{batch}",
			"test_set": "/workspaces/default/test_sets/{test_set}", "evaluation": "/workspaces/default/evaluations/{evaluation}",
			"scim_user": "/scim/v2/Users/{scim_user}", "scim_group": "/scim/v2/Groups/{scim_group}",
			"user": "/workspaces/default/members/{user}", "role": "/workspaces/default/roles/{role}",
			"grant": "/workspaces/default/grants/{grant}", "hold": "/workspaces/default/holds/{hold}", "consent": "/workspaces/default/consents/{consent}",
		} {
			if res, answer := s.raw(t, "GET", things.in(path), "", nil); res.StatusCode != http.StatusOK || strings.Contains(string(answer), "taken") {
				t.Errorf("the %s: status %d, %.300s", name, res.StatusCode, answer)
			}
		}
		var run struct{ Status string }
		if s.call(t, "GET", things.in("/runs/{run_id}"), nil, &run); run.Status != string(knowledge.RunRunning) {
			t.Errorf("the run that waits for a person is %s", run.Status)
		}
	})
}

// newKey makes a key in workspace default.
func (s *server) newKey(t *testing.T, body map[string]any) string {
	t.Helper()
	var made struct{ Key string }
	if status := s.call(t, "POST", "/workspaces/default/keys", body, &made); status != http.StatusCreated {
		t.Fatalf("key %v: status %d", body["name"], status)
	}
	return made.Key
}

// things are the ids of what a tenant has, by the parameter that names them.
type things map[string]string

// in returns a text with the ids in place of the parameters.
func (things things) in(text string) string {
	for name, id := range things {
		text = strings.ReplaceAll(text, "{"+name+"}", id)
	}
	return text
}

// absent returns ids of the same form that nothing has.
func (things things) absent() things {
	none := maps.Clone(things)
	for name, id := range things {
		if !isUnique(id) {
			continue
		}
		last := "0"
		if strings.HasSuffix(id, last) {
			last = "1"
		}
		none[name] = id[:len(id)-1] + last
	}
	return none
}

// isUnique reports whether an id belongs to one thing only, and is no number or name that others
// have too.
func isUnique(id string) bool { return len(id) > 12 }

// things makes one of each kind of thing.
func (s *server) things(t *testing.T, m *modeltest.Server) things {
	t.Helper()
	made := things{"call": "one", "name": "figure.png", "page": "1.png"}
	create := func(name, path string, body any) {
		t.Helper()
		var answer struct{ ID string }
		if status := s.call(t, "POST", path, body, &answer); status >= 300 || answer.ID == "" {
			t.Fatalf("%s: status %d", name, status)
		}
		made[name] = answer.ID
	}
	create("project", webhooks+"/projects", map[string]any{"slug": "private-lights", "tools": map[string]any{"approval": []string{"documents_rag"}},
		"webhooks": []map[string]any{{"url": "http://127.0.0.1:1/hook", "types": []string{"documents_created"}}}})
	made["slug"], made["share"] = "lights-of-the-harbour", "token"
	if status := s.call(t, "PUT", made.in("/workspaces/default/projects/{project}/publication"), map[string]any{"slug": made["slug"], "visibility": "workspace", "title": "Lamps"}, nil); status != http.StatusOK {
		t.Fatalf("publication: status %d", status)
	}
	made["document"] = s.publishIn(t, made["project"], "lamp", "The lamp of the lighthouse is cleaned every Tuesday.", nil)
	var chunks struct {
		Data []struct{ ID string }
	}
	if s.call(t, "GET", made.in("/workspaces/default/documents/{document}/chunks"), nil, &chunks); len(chunks.Data) != 1 {
		t.Fatalf("the document has the chunks %v", chunks.Data)
	}
	made["chunk_id"] = chunks.Data[0].ID
	s.membersOf(t, made)
	s.evaluationOf(t, made)
	create("grant", "/workspaces/default/grants", map[string]any{"subject": map[string]string{"user": "nobody-in-particular"}, "object": map[string]string{"document_id": made["document"]}, "effect": "allow", "permission": "read"})
	create("hold", "/workspaces/default/holds", map[string]any{"name": "lamp", "reason": "kept", "document_ids": []string{made["document"]}})
	create("consent", "/workspaces/default/consents", map[string]any{"subject": "keeper", "purpose": "the log of the lamp"})
	s.syncOf(t, made)
	create("scim_user", "/scim/v2/Users", json.RawMessage(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"mate-of-the-keeper"}`))
	create("scim_group", "/scim/v2/Groups", json.RawMessage(made.in(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"keepers-of-the-lamp","members":[{"value":"{scim_user}"}]}`)))
	create("key", "/workspaces/default/keys", map[string]any{"name": "a", "scopes": []string{"read"}})
	create("response", "/v1/responses", map[string]any{"model": made.in("project:{project}"), "input": "Who cleans the lamp?", "store": true})
	made["import"] = s.importZip(t)
	made["file"] = s.fileOfOpenAI(t)
	create("store", "/v1/vector_stores", map[string]any{"name": "store of the keeper"})
	create("batch", made.in("/v1/vector_stores/{store}/file_batches"), map[string]any{"file_ids": []string{made["file"]}})
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "one", Name: "documents_rag", Arguments: `{"query":"lamp"}`}), modeltest.Text("Done."))
	a := s.ask(t, webhooks+"/query?compact=true", map[string]any{"text": "Who cleans the lamp?", "projectId": made["project"], "sse": true, "userId": "ann"})
	r := &reader{run: a.run, body: a}
	r.until(t, func(list []event) bool { return len(statuses(t, list)) == 1 })
	made["run_id"] = a.run
	var begun struct{ ConversationID string }
	r.list[0].decode(t, &begun)
	made["conversation"] = begun.ConversationID
	await(t, time.Minute, "a delivery is listed", func(context.Context) error {
		list := s.deliveries(t, "")
		if len(list) == 0 {
			return errors.New("there is none")
		}
		made["delivery"] = list[0].ID
		return nil
	})
	return made
}

// membersOf makes a member, a role and a session.
func (s *server) membersOf(t *testing.T, made things) {
	t.Helper()
	made["user"], made["role"] = "keeper-of-the-lamp", "keeper-of-the-light"
	for path, body := range map[string]any{
		"/members/{user}": map[string]any{"kind": "service", "roles": []string{"reader"}}, "/roles/{role}": map[string]any{"permissions": []string{"documents.read"}},
	} {
		if status := s.call(t, "PUT", made.in("/workspaces/default"+path), body, nil); status != http.StatusOK {
			t.Fatalf("%s: status %d", path, status)
		}
	}
	if status := s.call(t, "POST", "/auth/session", map[string]string{"key": s.key}, nil, "Authorization", ""); status != http.StatusOK {
		t.Fatalf("sign in: status %d", status)
	}
	var sessions struct{ Data []struct{ ID string } }
	if s.call(t, "GET", "/workspaces/default/sessions", nil, &sessions); len(sessions.Data) != 1 {
		t.Fatalf("the sessions are %v", sessions.Data)
	}
	made["session"] = sessions.Data[0].ID
}

// evaluationOf makes a test set of the project, and two evaluations by it.
func (s *server) evaluationOf(t *testing.T, made things) {
	t.Helper()
	var set struct{ ID string }
	body := map[string]any{"project_id": made["project"], "name": "the lamp", "items": []map[string]any{{"id": "the-only-question", "question": "Who cleans the lamp?", "reference": "The keeper."}}}
	if status := s.call(t, "POST", "/workspaces/default/test_sets", body, &set); status != http.StatusCreated {
		t.Fatalf("test set: status %d", status)
	}
	made["test_set"], made["item"] = set.ID, "the-only-question"
	for _, name := range []string{"evaluation", "candidate"} {
		made[name] = s.evaluate(t, map[string]any{"test_set_id": set.ID}).ID
		s.evaluated(t, made[name], "it has ended", hasEnded)
	}
}

// syncOf makes a connection and a sync.
func (s *server) syncOf(t *testing.T, made things) {
	t.Helper()
	c, err := s.AddConnection(t.Context(), client.NewConnection{Type: "webdav", Options: map[string]string{"url": "http://127.0.0.1:1/"}})
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.AddSync(t.Context(), client.NewSync{ConnectionID: c.ID, ProjectID: made["project"], Every: "24h"})
	if err != nil {
		t.Fatal(err)
	}
	made["connection"], made["sync"] = c.ID, y.ID
}

// importZip imports an archive with one file.
func (s *server) importZip(t *testing.T) string {
	t.Helper()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("note.txt")
	if err == nil {
		_, err = w.Write([]byte("The foghorn sounds twice a minute."))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	mediaType, body := form(t, nil, file{"notes.zip", archive.Bytes()})
	res, answer := s.raw(t, "POST", "/workspaces/default/projects/private-lights/files", mediaType, body)
	var taken struct{ Import *client.Import }
	if decode(t, answer, &taken); taken.Import == nil {
		t.Fatalf("status %d, %.300s", res.StatusCode, answer)
	}
	if _, err := s.Wait(t.Context(), taken.Import.RunID, nil); err != nil {
		t.Fatal(err)
	}
	return taken.Import.ID
}

// fileOfOpenAI uploads a file as a client of OpenAI does.
func (s *server) fileOfOpenAI(t *testing.T) string {
	t.Helper()
	mediaType, body := form(t, map[string]string{"purpose": "assistants"}, file{"leave.md", []byte("Leave is 30 days.")})
	body = bytes.Replace(body, []byte(`name="files"`), []byte(`name="file"`), 1)
	res, answer := s.raw(t, "POST", "/v1/files", mediaType, body)
	var made struct{ ID string }
	if decode(t, answer, &made); made.ID == "" {
		t.Fatalf("status %d, %.300s", res.StatusCode, answer)
	}
	return made.ID
}

// namingRoute is a route that names a thing in its path, its query or its body.
type namingRoute struct {
	method, path string
	subject      string // the parameter with which the thing is looked up
	body         string // JSON; "form" = a file
	status       int    // for a thing that is not there; 0 = 404
	header       []string
}

// namingRoutes returns the routes of openapi.json that name a thing in their path, and
// those that do so elsewhere.
func (s *server) namingRoutes(t *testing.T) []namingRoute {
	t.Helper()
	var description struct {
		Paths map[string]map[string]json.RawMessage
	}
	if status := s.call(t, "GET", "/openapi.json", nil, &description); status != http.StatusOK {
		t.Fatalf("openapi.json: status %d", status)
	}
	routes := namingElsewhere()
	for path, methods := range description.Paths {
		at := strings.TrimPrefix(path, "/workspaces/{workspaceId}")
		if i := strings.LastIndex(at, "/v1/"); i > 0 {
			at = at[i:]
		}
		_, subject, found := strings.Cut(at, "{")
		if !found {
			continue
		}
		subject, _, _ = strings.Cut(subject, "}")
		if subject == "id" { // of the kind that the path names
			kind := strings.Split(at, "/")[1]
			subject = strings.TrimSuffix(strings.TrimPrefix(kind, "webhook_"), "s")
			if kind == "webhook_deliveries" {
				subject = "delivery"
			}
		}
		if strings.HasPrefix(at, "/roles/") {
			subject, path = "role", strings.ReplaceAll(path, "{name}", "{role}")
		}
		path = strings.ReplaceAll(strings.ReplaceAll(path, "{id}", "{"+subject+"}"), "{document_id}", "{document}")
		for method := range methods {
			method = strings.ToUpper(method)
			makesOwn := method == "PUT" && slices.Contains([]string{"name", "role", "user"}, subject) || // of the caller's own
				strings.HasPrefix(at, "/subjects/") // people whom the caller names, in the caller's workspace
			if subject != "model" && !makesOwn {
				routes = append(routes, namingRoute{method: method, path: path, subject: subject, body: bodies[method+" "+at]})
			}
		}
	}
	if len(routes) < 90 {
		t.Fatalf("there are %d routes that name a thing", len(routes))
	}
	return routes
}

// bodies are the requests of routes that read one before they look for the thing.
var bodies = map[string]string{
	"POST /runs/{run_id}/calls/{call}": `{"decision": "approve"}`,
	"POST /runs/{run_id}/messages":     `{"text": "taken"}`,
	"POST /runs/{run_id}/feedback":     `{"rating": "up", "comment": "taken"}`,
	"PATCH /conversations/{id}":        `{"title": "taken"}`,
	"PATCH /documents/{id}":            `{"tags": ["taken"]}`,
	"PATCH /projects/{id}":             `{"name": "taken"}`,
	"POST /projects/{id}/pipeline/try": `{"step": {"at": "before_prompt", "code": {"language": "python", "source": "print('{}')"}}, "question": "What is secret?"}`,
	"PUT /projects/{id}/publication":   `{"visibility": "public", "title": "taken"}`,
	"POST /agents/{slug}/questions":    `{"text": "taken?"}`,
	"POST /agents/{slug}/a2a":          `{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "{run_id}"}}`,

	"POST /agents/{slug}/runs/{run_id}/feedback":              `{"rating": "up", "comment": "taken"}`,
	"POST /agents/{slug}/conversations/{conversation}/shares": `{"days": 1}`,
	"PATCH /test_sets/{test_set}":                             `{"name": "taken"}`,

	"POST /evaluations/{evaluation}/items/{item}/review": `{"score": 0, "comment": "taken"}`,

	"PATCH /connections/{id}":                     `{"secret": "taken"}`,
	"PATCH /syncs/{id}":                           `{"tags": ["taken"]}`,
	"POST /projects/{id}/files":                   "form",
	"DELETE /holds/{id}":                          `{"reason": "taken"}`,
	"PUT /scim/v2/Users/{scim_user}":              `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"taken"}`,
	"PATCH /scim/v2/Users/{scim_user}":            `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"nickName","value":"taken"}]}`,
	"PUT /scim/v2/Groups/{scim_group}":            `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"displayName":"taken"}`,
	"PATCH /scim/v2/Groups/{scim_group}":          `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[{"op":"replace","path":"displayName","value":"taken"}]}`,
	"POST /conversations/{id}/attachments":        "form",
	"POST /v1/vector_stores/{store}":              `{"name": "taken"}`,
	"POST /v1/vector_stores/{store}/search":       `{"query": "lamp"}`,
	"POST /v1/vector_stores/{store}/files":        `{"file_id": "{file}"}`,
	"POST /v1/vector_stores/{store}/file_batches": `{"file_ids": ["{file}"]}`,
	"POST /v1/vector_stores/{store}/files/{file}": `{"attributes": {"taken": true}}`,
}

// namingElsewhere returns the routes that name a thing in their query or their body.
func namingElsewhere() []namingRoute {
	const own, hooks = "/workspaces/{workspaceId}", "/workspaces/{workspaceId}/webhooks"
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	routes := []namingRoute{
		{"DELETE", hooks + "/document?projectId={project}&id={document}", "document", "", 0, nil},
		{"GET", own + "/websocket?runId={run_id}", "run_id", "", 0, upgrade},
		{"GET", "/chunks/{chunk_id}?quote=lamp", "chunk_id", "", 0, nil},
		{"GET", hooks + "/documents?projectId={project}", "project", "", 0, nil},
		{"GET", own + "/documents?project_id={project}", "project", "", 0, nil},
		{"GET", own + "/runs?project_id={project}", "project", "", 0, nil},
		{"GET", own + "/imports?project_id={project}", "project", "", 0, nil},
		{"GET", own + "/imports?sync_id={sync}", "sync", "", 0, nil},
		{"GET", own + "/test_sets?project_id={project}", "project", "", 0, nil},
		{"GET", own + "/evaluations?project_id={project}", "project", "", 0, nil},
		{"GET", own + "/insights?project_id={project}", "project", "", 0, nil},
		{"POST", own + "/conversations/import", "project", `{"external_id": "taken", "project_id": "{project}", "messages": [{"role": "user", "text": "taken"}]}`, 0, nil},
		{"POST", own + "/test_sets", "project", `{"project_id": "{project}", "items": [{"question": "taken?"}]}`, 0, nil},
		{"POST", own + "/test_sets/generate", "project", `{"project_id": "{project}"}`, 0, nil},
		{"POST", own + "/test_sets/from_feedback", "project", `{"project_id": "{project}"}`, 0, nil},
		{"POST", own + "/test_sets/generate", "project", `{"project_id": "{project}", "model": "stand-in"}`, 0, nil},
		{"POST", own + "/evaluations", "evaluation", `{"of": "{evaluation}"}`, 0, nil},
		{"POST", own + "/evaluations", "test_set", `{"test_set_id": "{test_set}"}`, 0, nil},
		{"GET", own + "/syncs?project_id={project}", "project", "", 0, nil},
		{"POST", own + "/syncs", "connection", `{"connection_id": "{connection}"}`, 0, nil},
		{"GET", own + "/webhook_deliveries?document_id={document}", "document", "", http.StatusOK, nil},
		{"GET", own + "/webhook_deliveries?project_id={project}", "project", "", 0, nil},
		{"POST", hooks + "/query", "project", `{"text": "lamp", "projectId": "{project}"}`, 0, nil},
		{"POST", hooks + "/query", "conversation", `{"text": "lamp", "conversationId": "{conversation}"}`, 0, nil},
		{"POST", hooks + "/retrieve-context", "project", `{"text": "lamp", "projectId": "{project}"}`, 0, nil},
		{"POST", hooks + "/document?projectId={project}", "project", `{"name": "taken", "content": {"text": "taken"}}`, 0, nil},
		{"POST", own + "/keys", "project", `{"name": "taken", "scopes": ["read"], "project_id": "{project}"}`, 0, nil},
		{"POST", own + "/imports", "project", `{"project_id": "{project}", "source": {"type": "url_list", "uri": "http://127.0.0.1:1/list"}}`, 0, nil},
		{"POST", hooks + "/v1/chat/completions", "project", `{"model": "project:{project}", "messages": [{"role": "user", "content": "lamp"}]}`, 0, nil},
		{"POST", "/v1/responses", "project", `{"model": "project:{project}", "input": "lamp"}`, 0, nil},
		{"POST", "/v1/responses", "response", `{"model": "project:default", "input": "lamp", "previous_response_id": "{response}"}`, http.StatusUnprocessableEntity, nil},
		{"POST", "/v1/vector_stores", "file", `{"name": "own", "file_ids": ["{file}"]}`, 0, nil},
		{"POST", "/tools/rag_search", "document", `{"query": "lamp", "document_ids": ["{document}"]}`, 0, nil},
		{"POST", "/tools/rag_search", "conversation", `{"query": "lamp", "session_id": "{conversation}"}`, 0, nil},
		{"POST", "/tools/rag_search", "project", `{"query": "lamp", "project_id": "{project}"}`, 0, nil},
	}
	const grant = `{"subject": {"user": "taken"}, "object": {"document_id": "{document}"}, "effect": "allow", "permission": "read"}`
	routes = append(routes, namingRoute{"POST", own + "/grants", "document", grant, 0, nil}, namingRoute{"POST", own + "/holds", "document", `{"name": "taken", "reason": "taken", "document_ids": ["{document}"]}`, 0, nil})
	for _, action := range []string{"retry", "reingest", "remove"} {
		routes = append(routes,
			namingRoute{"POST", own + "/documents/" + action, "document", `{"ids": ["{document}"]}`, http.StatusAccepted, nil},
			namingRoute{"POST", own + "/documents/" + action, "project", `{"filter": {"projectId": "{project}"}}`, 0, nil})
	}
	return routes
}

// wantClosed checks that a tenant gets the same response for a thing of somebody else as
// for one that is not there.
func (s *server) wantClosed(t *testing.T, who tenant, r namingRoute, there things) {
	t.Helper()
	for _, workspace := range who.workspaces {
		ask := func(ids things) (int, string) {
			path := ids.in(strings.ReplaceAll(r.path, "{workspaceId}", workspace))
			if who.query != "" && !strings.Contains(r.body, `"lamp"`) {
				separator := "?"
				if strings.Contains(path, "?") {
					separator = "&"
				}
				path += separator + who.query
			}
			mediaType, body := "application/json", []byte(ids.in(r.body))
			switch r.body {
			case "":
				mediaType = ""
			case "form":
				mediaType, body = form(t, nil, file{"taken.txt", []byte("taken")})
			}
			header := append(slices.Clone(who.header), r.header...)
			res, answer := s.raw(t, r.method, path, mediaType, body, header...)
			for name, id := range ids {
				if isUnique(id) {
					answer = bytes.ReplaceAll(answer, []byte(id), []byte("{"+name+"}"))
				}
			}
			return res.StatusCode, string(answer)
		}
		status, answer := ask(there)
		if none, other := ask(there.absent()); status != none || answer != other {
			t.Errorf("%s %s in %s %s: status %d, %.300s\nbut for what is not there %d, %.300s", r.method, r.path, workspace, r.body, status, answer, none, other)
		}
		if isClosed := status == http.StatusNotFound || status == http.StatusForbidden || status == r.status; !isClosed {
			t.Errorf("%s %s in %s %s: status %d, %.300s", r.method, r.path, workspace, r.body, status, answer)
		}
	}
}
