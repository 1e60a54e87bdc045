package api_test

import (
	"bytes"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// sendFile uploads a file as a client of OpenAI does.
func (e *edge) sendFile(key, name, text string) answer {
	e.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := part.Write([]byte(text)); err != nil {
		e.t.Fatal(err)
	}
	if err := form.WriteField("purpose", "assistants"); err != nil {
		e.t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		e.t.Fatal(err)
	}
	return e.do("POST", "/v1/files", key, body.Bytes(), "Content-Type", form.FormDataContentType())
}

func TestOpenAIFiles(t *testing.T) {
	t.Parallel()
	e := open(t)
	description := describedBy(e)
	made := e.sendFile(e.editor, `C:\docs\leave.md`, "Leave is 30 days.")
	description.check(t, "POST", "/v1/files", made)
	file := made.want(200)
	id := file["id"].(string)
	if file["filename"] != "leave.md" || file["bytes"] != 17.0 || file["purpose"] != "assistants" {
		t.Errorf("%v", file)
	}
	held := e.do("POST", hooks+"/projects", e.admin, `{"name":"House","slug":"house"}`).want(200)["apiKey"].(string)
	for name, c := range map[string]struct {
		method, path, key string
		status            int
	}{
		"is_read":                         {"GET", "/v1/files/" + id, e.editor, 200},
		"is_listed":                       {"GET", "/v1/files?purpose=assistants&limit=1&order=asc", e.editor, 200},
		"is_not_for_readers":              {"GET", "/v1/files/" + id, e.reader, 404},
		"is_not_for_another_workspace":    {"GET", "/v1/files/" + id, e.stranger, 404},
		"is_not_for_the_key_of_a_project": {"GET", "/v1/files/" + id + "/content", held, 404},
		"is_not_deleted_by_others":        {"DELETE", "/v1/files/" + id, held, 404},
		"is_no_path":                      {"GET", "/v1/files/file-..%2F..%2Fx", e.editor, 404},
		"lists_know_their_ids":            {"GET", "/v1/files?after=nope", e.editor, 422},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do(c.method, c.path, c.key, nil)
			if got.status != c.status {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			description.check(t, c.method, c.path, got)
		})
	}
	if got := e.do("GET", "/v1/files/"+id+"/content", e.editor, nil); string(got.body) != "Leave is 30 days." {
		t.Errorf("%d %s", got.status, got.body)
	}
	if list := e.do("GET", "/v1/files", held, nil).want(200)["data"].([]any); len(list) != 0 {
		t.Errorf("the key of a project lists %v", list)
	}
	e.sendFile(e.editor, "empty.txt", "").openaiError(422, "invalid_request_error", knowledge.CodeEmpty)
	if got := e.do("POST", "/v1/files", e.editor, `{}`); got.status != 415 {
		t.Errorf("%d %s", got.status, got.body)
	}
	gone := e.do("DELETE", "/v1/files/"+id, e.editor, nil)
	description.check(t, "DELETE", "/v1/files/"+id, gone)
	gone.want(200)
	e.do("GET", "/v1/files/"+id, e.editor, nil).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
}

func TestOpenAIVectorStores(t *testing.T) {
	t.Parallel()
	e := open(t)
	description := describedBy(e)
	do := func(method, path, body string) answer {
		t.Helper()
		got := e.do(method, path, e.admin, body)
		description.check(t, method, path, got)
		return got
	}
	first := e.sendFile(e.admin, "leave.md", "Leave is 30 days.").want(200)["id"].(string)
	made := do("POST", "/v1/vector_stores", `{"name":"Handbook","file_ids":["`+first+`"],"expires_after":null,"metadata":{},"chunking_strategy":{"type":"auto"}}`).want(200)
	root := "/v1/vector_stores/" + made["id"].(string)
	if made["status"] != "in_progress" || made["file_counts"].(map[string]any)["total"] != 1.0 || made["name"] != "Handbook" {
		t.Errorf("%v", made)
	}
	list := do("GET", root+"/files", "").want(200)["data"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != first || list[0].(map[string]any)["status"] != "in_progress" {
		t.Fatalf("%v", list)
	}
	e.work.mu.Lock()
	document := e.work.ingests[0].Document
	e.work.mu.Unlock()
	e.publish(document, knowledge.Chunk{Text: "Leave is 30 days."})
	if got := do("GET", root+"/files/"+first, "").want(200); got["status"] != "completed" || got["usage_bytes"] != 17.0 {
		t.Errorf("%v", got)
	}
	if got := do("GET", root, "").want(200); got["status"] != "completed" {
		t.Errorf("%v", got)
	}

	second := e.sendFile(e.admin, "b.md", "two").want(200)["id"].(string)
	batch := do("POST", root+"/file_batches", `{"file_ids":["`+second+`","`+first+`"],"attributes":{"team":"hr"}}`).want(200)
	counts := do("GET", root+"/file_batches/"+batch["id"].(string), "").want(200)["file_counts"].(map[string]any)
	if counts["total"] != 2.0 || counts["in_progress"] != 2.0 { // also the one that gets other attributes
		t.Errorf("%v", counts)
	}
	if got := do("POST", root+"/files", `{"file_id":"`+second+`","attributes":{"a":1}}`).want(200); got["id"] != second {
		t.Errorf("%v", got)
	}
	page := do("GET", root+"/files?limit=1", "").want(200)
	if page["has_more"] != true || len(do("GET", root+"/files?limit=5&after="+page["last_id"].(string), "").want(200)["data"].([]any)) != 1 {
		t.Errorf("%v", page)
	}

	e.work.contexts = []retrieve.Context{{ChunkView: store.ChunkView{
		Chunk: knowledge.Chunk{ID: "c", DocumentID: document, Text: "Leave is 30 days."}, Document: knowledge.Document{ID: document, ExternalID: first, Name: "leave.md"},
	}, Score: 0.5}}
	found := do("POST", root+"/search", `{"query":["How long","is leave?"],"max_num_results":3,"filters":{"type":"eq","key":"team","value":"hr"},"rewrite_query":true}`).want(200)["data"].([]any)
	if hit := found[0].(map[string]any); hit["file_id"] != first || !strings.Contains(hit["filename"].(string), "leave") {
		t.Errorf("%v", found)
	}
	if asked := e.work.retrieved[0]; asked.Config.NumberOfChunks != 3 || asked.Filter[0].Field != "metadata.team" || asked.Projects[0] != made["id"] {
		t.Errorf("searched %+v", asked)
	}
	if none := do("POST", root+"/search", `{"query":"a","ranking_options":{"score_threshold":0.9}}`).want(200)["data"].([]any); len(none) != 0 {
		t.Errorf("%v", none)
	}

	if got := do("POST", root, `{"name":"Manual"}`).want(200); got["name"] != "Manual" {
		t.Errorf("%v", got)
	}
	if stores := do("GET", "/v1/vector_stores?order=asc", "").want(200)["data"].([]any); len(stores) != 2 {
		t.Errorf("%v", stores)
	}
	do("DELETE", root+"/files/"+first, "").want(200)
	do("GET", root+"/files/"+first, "").openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	do("POST", root+"/files", `{"file_id":"file-nope"}`).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	do("GET", "/v1/vector_stores/nope", "").openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	e.do("POST", "/v1/vector_stores", e.editor, `{"name":"a"}`).openaiError(403, "permission_error", knowledge.CodeForbidden)
	e.do("POST", root+"/files", e.reader, `{"file_id":"`+second+`"}`).openaiError(403, "permission_error", knowledge.CodeForbidden)
}

func TestOpenAIDeleteVectorStore(t *testing.T) {
	t.Parallel()
	e := open(t)
	description := describedBy(e)
	remove := func(key, store string) answer {
		t.Helper()
		path := "/v1/vector_stores/" + store
		got := e.do("DELETE", path, key, nil)
		description.check(t, "DELETE", path, got)
		return got
	}
	file := e.sendFile(e.admin, "leave.md", "Leave is 30 days.").want(200)["id"].(string)
	store := e.do("POST", "/v1/vector_stores", e.admin, `{"name":"Handbook","file_ids":["`+file+`"]}`).want(200)["id"].(string)
	e.work.mu.Lock()
	document := e.work.ingests[0].Document
	e.work.mu.Unlock()

	remove(e.editor, store).openaiError(403, "permission_error", knowledge.CodeForbidden)
	remove(e.stranger, store).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	remove(e.admin, "nope").openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	e.do("PATCH", own+"/documents/"+document, e.admin, `{"legal_hold":true}`).want(200)
	remove(e.admin, store).openaiError(409, "invalid_request_error", knowledge.CodeConflict)
	e.do("GET", "/v1/vector_stores/"+store, e.admin, nil).want(200)
	e.do("PATCH", own+"/documents/"+document, e.admin, `{"legal_hold":false}`).want(200)

	gone := remove(e.admin, "Handbook") // by its name
	if diff := cmp.Diff(map[string]any{"id": store, "object": "vector_store.deleted", "deleted": true}, gone.want(200)); diff != "" {
		t.Error(diff)
	}
	run := gone.header.Get("Cairn-Run-Id")
	if started := e.work.reindexes; len(started) != 1 || started[0] != run || run == "" {
		t.Errorf("started %v, want the run %q", started, run)
	}
	e.do("GET", "/v1/vector_stores/"+store, e.admin, nil).openaiError(404, "invalid_request_error", knowledge.CodeNotFound)
	again := remove(e.admin, store) // the removal continues
	again.want(200)
	if got := again.header.Get("Cairn-Run-Id"); got != run {
		t.Errorf("a second request has the run %s, the first %s", got, run)
	}
}
