package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// twoPages is a chunk that goes over a page break.
func twoPages() knowledge.Chunk {
	return knowledge.Chunk{
		Text: "Ask early.\nAnd often.", Language: "eng", Span: knowledge.Span{End: 21},
		Lines: []knowledge.Line{
			{Start: 0, End: 10, Page: 3, Box: knowledge.Box{X1: 100.5, Y1: 200, X2: 300.5, Y2: 250}},
			{Start: 11, End: 21, Page: 4, Box: knowledge.Box{X1: 50, Y1: 100, X2: 200, Y2: 150}},
		},
		Pages: []knowledge.PageSize{{Page: 3, Width: 612, Height: 792}, {Page: 4, Width: 842, Height: 595}},
	}
}

func TestChunk(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "handbook.md", "text", map[string]any{"externalId": "hb"})
	e.publish(id, twoPages(), knowledge.Chunk{Text: "No pages here."})
	first, second := knowledge.ChunkID(id, 1, 0), knowledge.ChunkID(id, 1, 1)
	keys := []string{
		"id", "document_id", "text", "page_number", "bbox", "page_size", "start_time", "end_time", "lines", "superseded", "metadata",
	}
	t.Run("with_boxes", func(t *testing.T) { wantBoxesOfAChunk(t, e, first, keys, id) })
	t.Run("without_pages", func(t *testing.T) {
		got := e.do("GET", "/chunks/"+second, e.reader, nil).want(200)
		wantKeys(t, got, keys...)
		if got["page_number"] != nil || got["page_size"] != nil || !cmp.Equal(got["bbox"], []any{}) || !cmp.Equal(got["lines"], []any{}) {
			t.Errorf("chunk: %v", got)
		}
	})
	t.Run("that_continues_a_table", func(t *testing.T) {
		id := e.add(e.editor, "fleet.md", "text", nil)
		e.publish(id, knowledge.Chunk{Text: "| Heron | 9 |", Header: "| Ship | Tons |\n| --- | --- |", HeadingPath: []string{"Fleet", "Ships"}})
		got := e.do("GET", "/chunks/"+knowledge.ChunkID(id, 1, 0), e.reader, nil).want(200)
		if !cmp.Equal(got["heading"], []any{"Fleet", "Ships"}) || got["header"] != "| Ship | Tons |\n| --- | --- |" {
			t.Errorf("heading %v, header %v", got["heading"], got["header"])
		}
	})
	t.Run("that_begins_a_table", func(t *testing.T) {
		const header = "| Ship | Tons |\n| --- | --- |"
		id := e.add(e.editor, "harbour.md", "text", nil)
		e.publish(id, knowledge.Chunk{Text: "The fleet\n\n" + header + "\n| Heron | 9 |"},
			knowledge.Chunk{Text: header + "\n| Gull | 7 |", Header: "The fleet"}, knowledge.Chunk{Text: "No table."})
		var got []any
		for _, c := range e.do("GET", "/workspaces/default/documents/"+id+"/chunks", e.reader, nil).want(200)["data"].([]any) {
			got = append(got, c.(map[string]any)["header"])
		}
		if diff := cmp.Diff([]any{header, "The fleet\n" + header, nil}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("of_speech_and_of_a_spreadsheet", func(t *testing.T) { wantSpeechAndSpreadsheet(t, e) })
	t.Run("a_quotation", func(t *testing.T) {
		got := e.do("GET", "/chunks/"+first+"?quote=ask%20%20EARLY.", e.reader, nil).want(200)
		want := map[string]any{
			"id": first, "found": true, "start": 0.0, "end": 10.0,
			"boxes": []any{map[string]any{"bbox": []any{100.5, 200.0, 300.5, 250.0}, "page_number": 3.0, "page_size": []any{612.0, 792.0}}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		got = e.do("GET", "/chunks/"+first+"?quote=never+said", e.reader, nil).want(200)
		want = map[string]any{"id": first, "found": false, "start": nil, "end": nil, "boxes": []any{}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		e.do("GET", "/chunks/"+first+"?quote="+strings.Repeat("a", 8001), e.reader, nil).refused(422, knowledge.CodeInvalid)
	})
	t.Run("of_a_document_in_order", func(t *testing.T) {
		list := e.do("GET", own+"/documents/"+id+"/chunks?limit=1", e.reader, nil).want(200)
		wantKeys(t, list, "data", "next_cursor")
		wantKeys(t, list["data"].([]any)[0], keys...)
		if list["data"].([]any)[0].(map[string]any)["id"] != first {
			t.Fatalf("first page: %v", list)
		}
		list = e.do("GET", own+"/documents/"+id+"/chunks?limit=1&cursor="+list["next_cursor"].(string), e.reader, nil).want(200)
		if list["data"].([]any)[0].(map[string]any)["id"] != second || list["next_cursor"] != nil {
			t.Errorf("second page: %v", list)
		}
	})
	e.do("GET", "/chunks/"+knowledge.NewID(), e.reader, nil).refused(404, knowledge.CodeNotFound)
}

func wantBoxesOfAChunk(t *testing.T, e *edge, first string, keys []string, id string) {
	got := e.do("GET", "/chunks/"+first, e.reader, nil).want(200)
	wantKeys(t, got, keys...)
	want := map[string]any{
		"id": first, "document_id": id, "text": "Ask early.\nAnd often.", "page_number": 3.0,
		"bbox": []any{
			map[string]any{"bbox": []any{100.5, 200.0, 300.5, 250.0}, "page_number": 3.0, "page_size": []any{612.0, 792.0}},
			map[string]any{"bbox": []any{50.0, 100.0, 200.0, 150.0}, "page_number": 4.0, "page_size": []any{842.0, 595.0}},
		},
		"page_size": []any{612.0, 792.0}, "start_time": nil, "end_time": nil, "superseded": false,
		"lines": []any{
			map[string]any{"start": 0.0, "end": 10.0, "page_number": 3.0, "page_size": []any{612.0, 792.0}, "bbox": []any{100.5, 200.0, 300.5, 250.0}},
			map[string]any{"start": 11.0, "end": 21.0, "page_number": 4.0, "page_size": []any{842.0, 595.0}, "bbox": []any{50.0, 100.0, 200.0, 150.0}},
		},
		"metadata": map[string]any{"filename": "handbook.md", "languages": []any{"eng"}, "modality": "text"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func wantSpeechAndSpreadsheet(t *testing.T, e *edge) {
	id := e.add(e.editor, "talk.mp3", "text", nil)
	speech := knowledge.Speech{{Start: 0, End: 3, Time: knowledge.Seconds{End: 1}}, {Start: 4, End: 8, Time: knowledge.Seconds{Start: 1.5, End: 2.5}}}
	e.publish(id, knowledge.Chunk{Text: "Oh. Yes.", Modality: knowledge.ModalityAudio, Time: knowledge.Seconds{End: 2.5}, Speech: speech}, knowledge.Chunk{Text: "1 | 2", Place: "Sales!A2:D41"})
	got := e.do("GET", "/chunks/"+knowledge.ChunkID(id, 1, 0), e.reader, nil).want(200)
	if got["start_time"] != 0.0 || got["end_time"] != 2.5 || got["metadata"].(map[string]any)["modality"] != "audio" {
		t.Errorf("speech: %v", got)
	}
	second := map[string]any{"start": 4.0, "end": 8.0, "start_time": 1.5, "end_time": 2.5}
	if segments := got["segments"].([]any); len(segments) != 2 || !cmp.Equal(segments[1], any(second)) {
		t.Errorf("segments: %v", segments)
	}
	got = e.do("GET", "/chunks/"+knowledge.ChunkID(id, 1, 0)+"?quote=yes", e.reader, nil).want(200)
	if got["start_time"] != 1.5 || got["end_time"] != 2.5 {
		t.Errorf("a quotation of speech: %v", got)
	}
	got = e.do("GET", "/chunks/"+knowledge.ChunkID(id, 1, 1), e.reader, nil).want(200)
	if got["start_time"] != nil || got["place"] != "Sales!A2:D41" {
		t.Errorf("spreadsheet: %v", got)
	}
}

func TestCitedChunks(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "text", map[string]any{"externalId": "a"})
	e.publish(id, knowledge.Chunk{Text: "old words"})
	chunk := knowledge.ChunkID(id, 1, 0)
	conversation := e.conversation(e.reader, "")
	err := e.store.SaveMessages(t.Context(), "default", store.Message{
		ID: knowledge.NewID(), ConversationID: conversation, Role: "assistant", Text: "It says so.", ChunkIDs: []string{chunk}, Status: "completed",
		Sources: json.RawMessage(`[{"rank":1,"chunk_id":"` + chunk + `"}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	e.add(e.editor, "a.txt", "new text", map[string]any{"externalId": "a"})
	e.publish(id, knowledge.Chunk{Text: "new words"})
	if err := e.store.RetireChunks(t.Context(), knowledge.VersionRef{Workspace: "default", Project: "default", Document: id, Version: 2}); err != nil {
		t.Fatal(err)
	}
	if got := e.do("GET", "/chunks/"+chunk, e.reader, nil).want(200); got["superseded"] != true || got["text"] != "old words" {
		t.Errorf("a cited chunk of an older version: %v", got)
	}
	e.exec("UPDATE chunks SET heading_path = '{' || heading_path WHERE id = ?", chunk)
	e.do("GET", own+"/conversations/"+conversation, e.reader, nil).refused(500, knowledge.CodeInternal) // not removed
	e.exec("UPDATE chunks SET heading_path = substr(heading_path, 2) WHERE id = ?", chunk)
	e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200)
	if err := e.store.RemoveRows(t.Context(), e.work.removals[0]); err != nil {
		t.Fatal(err)
	}
	e.do("GET", "/chunks/"+chunk, e.reader, nil).refused(410, knowledge.CodeGone)
	e.do("GET", "/chunks/"+chunk, e.editor, nil).refused(404, knowledge.CodeNotFound)
}

func TestConversations(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.conversation(e.reader, "")
	document := e.add(e.editor, "a.txt", "some text", map[string]any{"externalId": "a"})
	e.publish(document, knowledge.Chunk{Text: "some words"})
	chunk := knowledge.ChunkID(document, 1, 0)
	sources := fmt.Sprintf(`[{"rank":1,"chunk_id":%q,"document_id":%q},{"rank":2,"chunk_id":"gone","document_id":%q}]`, chunk, document, document)
	for i, text := range []string{"Why?", "Because [1]."} {
		err := e.store.SaveMessages(t.Context(), "default", store.Message{
			ID: knowledge.NewID(), ConversationID: id, RunID: "r", Role: []string{"user", "assistant"}[i], Text: text, Status: "completed",
			Sources: map[int]json.RawMessage{1: json.RawMessage(sources)}[i], ChunkIDs: map[int][]string{1: {chunk}}[i],
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	list := e.do("GET", own+"/conversations", e.reader, nil).want(200)
	wantKeys(t, list, "data", "next_cursor")
	wantKeys(t, list["data"].([]any)[0], "id", "title", "project_id", "created_at", "updated_at")
	got := e.do("GET", own+"/conversations/"+id+"?limit=1", e.reader, nil).want(200)
	wantKeys(t, got, "id", "title", "project_id", "created_at", "updated_at", "messages", "next_cursor")
	message := got["messages"].([]any)[0].(map[string]any)
	wantKeys(t, message, "id", "role", "text", "sources", "run_id", "status", "rating", "created_at")
	if message["text"] != "Why?" || !cmp.Equal(message["sources"], []any{}) {
		t.Errorf("first message: %v", message)
	}
	got = e.do("GET", own+"/conversations/"+id+"?limit=1&cursor="+got["next_cursor"].(string), e.reader, nil).want(200)
	message = got["messages"].([]any)[0].(map[string]any)
	if message["role"] != "assistant" || got["next_cursor"] != nil {
		t.Errorf("second message: %v", got)
	}
	shown := message["sources"].([]any)
	first, second := shown[0].(map[string]any), shown[1].(map[string]any)
	if first["text"] != "some words" || first["documentName"] != "a.txt" || first["usedInResponse"] != true {
		t.Errorf("a source that is there: %v", first)
	}
	if second["removed"] != true || second["text"] != "" || second["usedInResponse"] != false {
		t.Errorf("a source that is gone: %v", second)
	}
	t.Run("can_be_made_before_their_first_question", func(t *testing.T) {
		made := e.do("POST", own+"/conversations", e.editor, map[string]any{"title": "Later", "project_id": "default"}).want(201)
		wantKeys(t, made, "id", "title", "project_id", "created_at", "updated_at")
		e.do("GET", own+"/conversations/"+made["id"].(string), e.editor, nil).want(200)
		e.do("DELETE", own+"/conversations/"+made["id"].(string), e.editor, nil).want(204)
	})
	t.Run("are_their_owners_alone", func(t *testing.T) {
		e.do("GET", own+"/conversations/"+id, e.editor, nil).refused(404, knowledge.CodeNotFound)
		e.do("DELETE", own+"/conversations/"+id, e.editor, nil).refused(404, knowledge.CodeNotFound)
		if list := e.do("GET", own+"/conversations", e.editor, nil).want(200); len(list["data"].([]any)) != 0 {
			t.Errorf("somebody else sees %v", list)
		}
	})
	e.do("DELETE", own+"/conversations/"+id, e.reader, nil).want(204)
	e.do("GET", own+"/conversations/"+id, e.reader, nil).refused(404, knowledge.CodeNotFound)
}

func TestRuns(t *testing.T) {
	t.Parallel()
	e := open(t)
	keys := []string{
		"id", "kind", "status", "workflow_id", "project_id", "document_id", "created_at", "ended_at", "usage", "error", "result", "operator_url",
	}
	id := e.add(e.editor, "a.txt", "one")
	run := e.work.ingests[0].RunID
	got := e.do("GET", own+"/runs/"+run, e.editor, nil).want(200)
	wantKeys(t, got, append([]string{"stage"}, keys...)...) // of an ingest that runs
	if got["kind"] != "ingest" || got["status"] != "running" || got["workflow_id"] != "ingest/default/"+id || got["project_id"] != "default" || got["result"] != nil || got["ended_at"] != nil {
		t.Errorf("run: %v", got)
	}
	t.Run("cancelled", func(t *testing.T) {
		e.do("POST", "/runs/"+run+"/cancel", e.editor, nil).want(202)
		if diff := cmp.Diff([]string{run}, e.work.cancels); diff != "" {
			t.Error(diff)
		}
	})
	e.publish(id, knowledge.Chunk{Text: "one"})
	t.Run("ended", func(t *testing.T) {
		got := e.do("GET", "/runs/"+run, e.reader, nil).want(200)
		if got["status"] != "completed" || got["ended_at"] == nil {
			t.Errorf("run: %v", got)
		}
		wantKeys(t, got["result"], documentKeys...)
		e.do("POST", own+"/runs/"+run+"/cancel", e.editor, nil).refused(409, knowledge.CodeConflict)
	})
	t.Run("a_reader_may_not_cancel_what_it_only_sees", func(t *testing.T) {
		e.do("POST", own+"/runs/"+run+"/cancel", e.reader, nil).refused(403, knowledge.CodeForbidden)
	})
	t.Run("listed", func(t *testing.T) {
		e.add(e.editor, "b.txt", "two")
		list := e.do("GET", own+"/runs?limit=1&kind=ingest", e.editor, nil).want(200)
		wantKeys(t, list["data"].([]any)[0], keys...)
		if list["next_cursor"] == nil {
			t.Error("there is no second page")
		}
		if list := e.do("GET", own+"/runs?status=completed", e.editor, nil).want(200); len(list["data"].([]any)) != 1 {
			t.Errorf("completed: %v", list)
		}
		e.do("GET", own+"/runs?kind=dance", e.editor, nil).refused(422, knowledge.CodeInvalid)
	})
}

func TestRetrieveContext(t *testing.T) {
	t.Parallel()
	e := open(t)
	chunk := twoPages()
	chunk.ID, chunk.DocumentID, chunk.Header = "c1", "d1", "Month | Days"
	e.work.contexts = []retrieve.Context{{
		ChunkView: store.ChunkView{Chunk: chunk, Document: knowledge.Document{ID: "d1", Name: "handbook.pdf", Tags: []string{"hr"}, Metadata: map[string]any{"year": 2024}}},
		Score:     0.75, Rank: 1,
	}}
	path := hooks + "/retrieve-context"
	got := e.do("POST", path, e.reader, map[string]any{
		"text": "When?", "projectId": "default", "numberOfChunks": 60, "external_user_id": "ann",
		"filters": []any{map[string]any{"field": "tags", "type": "eq", "value": "hr"}},
	}).want(200)
	wantKeys(t, got, "context", "chunks")
	want := map[string]any{
		"id": "c1", "documentId": "d1", "documentName": "handbook.pdf", "content": chunk.Text, "score": 0.75, "pageNumber": 3.0,
		"bbox": []any{
			map[string]any{"bbox": []any{100.5, 200.0, 300.5, 250.0}, "page_number": 3.0, "page_size": []any{612.0, 792.0}},
			map[string]any{"bbox": []any{50.0, 100.0, 200.0, 150.0}, "page_number": 4.0, "page_size": []any{842.0, 595.0}},
		},
		"metadata": map[string]any{"year": 2024.0}, "tags": []any{"hr"},
	}
	if diff := cmp.Diff([]any{want}, got["chunks"]); diff != "" {
		t.Error(diff)
	}
	fenced := "<source_1 document=\"handbook.pdf\">\nMonth | Days\n" + chunk.Text + "\n</source_1>\n"
	if diff := cmp.Diff(fenced, got["context"]); diff != "" {
		t.Errorf("context: %s", diff)
	}
	asked := e.work.retrieved[0]
	if asked.Query != "When?" || !cmp.Equal(asked.Projects, []string{"default"}) || asked.Config.NumberOfChunks != 60 || asked.Config.Candidates < 60 ||
		asked.Principal.ExternalUser() != "ann" || len(asked.Filter) != 1 {
		t.Errorf("asked: %+v", asked)
	}
	t.Run("nothing_found", func(t *testing.T) {
		e := open(t)
		got := e.do("POST", path, e.reader, `{"text":"When?"}`)
		if strings.TrimSpace(string(got.body)) != `{"context":"","chunks":[]}` {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
	t.Run("the_embedding_model_fails", func(t *testing.T) {
		e := open(t)
		e.work.fail = &model.Error{Code: model.CodeRateLimited, Retryable: true, RetryAfter: 7 * time.Second, Cause: errors.New("secret")}
		got := e.do("POST", path, e.reader, `{"text":"When?"}`)
		got.refused(429, knowledge.CodeRateLimited)
		if got.header.Get("Retry-After") != "7" || strings.Contains(string(got.body), "secret") {
			t.Errorf("%v %s", got.header, got.body)
		}
	})
	t.Run("bad_questions", func(t *testing.T) {
		for body, location := range map[string]string{
			`{}`:                                "body",
			`{"text":" "}`:                      "body.text",
			`{"text":7}`:                        "body.text",
			`{"text":"a","numberOfChunks":101}`: "body.numberOfChunks",
			`{"text":"a","numberOfChunks":1.5}`: "body.numberOfChunks",
			`{"text":"a","filters":{}}`:         "body.filters",
			`{"text":"a","filters":[{"field":"x' OR 1=1 --","type":"eq","value":"a"}]}`:        "body.filters[0].field",
			`{"text":"a","filters":[{"field":"tags","type":"union","value":"a"}]}`:             "body.filters[0].type",
			`{"text":"a","filters":[{"field":"tags","type":"eq","value":{"$ne":1}}]}`:          "body.filters[0].value",
			`{"text":"a","filters":[{"field":"tags","type":"eq","value":"a","colour":"red"}]}`: "body.filters[0].colour",
			`{"text":"` + strings.Repeat("ä", 32_001) + `"}`:                                   "body.text",
		} {
			if locations := e.do("POST", path, e.reader, body).refused(422, knowledge.CodeInvalid); len(locations) == 0 || locations[0] != location {
				t.Errorf("%.80s: locations %v, want %s", body, locations, location)
			}
		}
		e.do("POST", path, e.reader, `{"text":"`+strings.Repeat("a", 1<<20)+`"}`).refused(413, knowledge.CodeTooLarge)
		e.do("POST", path, e.reader, `{"text":"a","projectId":"none"}`).refused(404, knowledge.CodeNotFound)
	})
}

// allowance returns the headers that say what a limit still allows.
func allowance(h http.Header) string {
	return h.Get("RateLimit-Limit") + " " + h.Get("RateLimit-Remaining") + " " + h.Get("RateLimit-Reset")
}

func TestQueriesPerMinute(t *testing.T) {
	t.Parallel()
	path := hooks + "/query"
	answers := func(t *testing.T, perUser int) *edge {
		return (&answering{record: record.Answer{Answer: "Yes."}}).open(t, func(c *api.Config, _ *api.Deps) { c.UserQueriesPerMinute = perUser })
	}
	t.Run("by_project", func(t *testing.T) {
		t.Parallel()
		e := answers(t, 0)
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"queriesPerMinute":2}}`).want(200)
		for range 2 {
			e.do("POST", path, e.reader, `{"text":"a","projectId":"default"}`).want(200)
		}
		got := e.do("POST", path, e.reader, `{"text":"a","projectId":"default"}`)
		got.refused(429, knowledge.CodeRateLimited)
		if wait := got.header.Get("Retry-After"); wait != "30" {
			t.Errorf("Retry-After %q, want 30", wait)
		}
		e.do("POST", path, e.reader, `{"text":"a"}`).want(200)
	})
	t.Run("by_user", func(t *testing.T) {
		t.Parallel()
		e := answers(t, 1)
		e.do("POST", path, e.reader, `{"text":"a","userId":"ann"}`).want(200)
		e.do("POST", path, e.reader, `{"text":"a","userId":"ann"}`).refused(429, knowledge.CodeRateLimited)
		e.do("POST", path, e.reader, `{"text":"a","userId":"bob"}`).want(200)
	})
	t.Run("by_key", func(t *testing.T) {
		t.Parallel()
		e := (&answering{record: record.Answer{Answer: "Yes."}}).open(t, func(c *api.Config, _ *api.Deps) { c.KeyQueriesPerMinute = 60 })
		key := e.do("POST", own+"/keys", e.admin, `{"name":"slow","scopes":["read"],"queries_per_minute":3}`).want(201)["key"].(string)
		for i, want := range []string{"3 2 20", "3 1 40", "3 0 20"} {
			got := e.do("POST", path, key, `{"text":"a","userId":"user`+strconv.Itoa(i)+`"}`)
			if got.want(200); allowance(got.header) != want {
				t.Errorf("after question %d: %s, want %s", i+1, allowance(got.header), want)
			}
		}
		refused := e.do("POST", path, key, `{"text":"a"}`)
		refused.refused(429, knowledge.CodeRateLimited)
		if got := allowance(refused.header); got != "3 0 20" || refused.header.Get("Retry-After") != "20" {
			t.Errorf("refused with %s, Retry-After %s", got, refused.header.Get("Retry-After"))
		}
		if got := e.do("POST", path, e.reader, `{"text":"a"}`); allowance(got.header) != "60 59 1" {
			t.Errorf("a key without a limit of its own: %s", allowance(got.header))
		}
	})
	t.Run("one_user_does_not_use_up_the_projects", func(t *testing.T) {
		t.Parallel()
		e := answers(t, 1)
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"queriesPerMinute":2}}`).want(200)
		e.do("POST", path, e.reader, `{"text":"a","projectId":"default","userId":"ann"}`).want(200)
		for range 3 {
			e.do("POST", path, e.reader, `{"text":"a","projectId":"default","userId":"ann"}`).refused(429, knowledge.CodeRateLimited)
		}
		e.do("POST", path, e.reader, `{"text":"a","projectId":"default","userId":"bob"}`).want(200)
	})
	t.Run("retrieve_context_that_asks_the_web", func(t *testing.T) {
		t.Parallel()
		e := (&answering{}).open(t, func(c *api.Config, _ *api.Deps) { c.WebProvider = knowledge.SearXNG })
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"queriesPerMinute":1},"ai":{"retrieval":{"web":true}}}`).want(200)
		find := func(more string) answer {
			return e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"a","projectId":"default"`+more+`}`)
		}
		ofDocuments := `,"filters":[{"field":"metadata.year","type":"eq","value":2024}]` // a page of the web has none
		find(ofDocuments).want(200)
		find("").want(200)
		got := find("")
		got.refused(429, knowledge.CodeRateLimited)
		if got.header.Get("Retry-After") != "60" {
			t.Errorf("Retry-After %q, want 60", got.header.Get("Retry-After"))
		}
		find(ofDocuments).want(200)
		if n := len(e.work.retrieved); n != 3 {
			t.Errorf("%d searches, want 3", n)
		}
	})
	t.Run("retrieve_context_uses_up_none", func(t *testing.T) {
		t.Parallel()
		e := answers(t, 2)
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"queriesPerMinute":2}}`).want(200)
		for range 2 {
			e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"a","projectId":"default"}`).want(200)
			e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"a","projectId":"default"}`).want(200)
			e.do("POST", path, e.reader, `{"text":"a","projectId":"default"}`).want(200)
		}
		e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"a","projectId":"default"}`).want(200)
	})
}

// TestSearchConversations finds conversations by the words of their titles and messages.
func TestSearchConversations(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.conversation(e.reader, "")
	e.conversation(e.reader, "")
	err := e.store.SaveMessages(t.Context(), "default", store.Message{ID: "m", ConversationID: id, RunID: "r", Role: "user", Text: "Where is the lighthouse?", Status: "completed"})
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]int{"": 2, "+": 2, "LIGHT+where": 1, "foghorn": 0, "%21": 0} {
		if list := e.do("GET", own+"/conversations?q="+q, e.reader, nil).want(200); len(list["data"].([]any)) != want {
			t.Errorf("%q finds %v", q, list)
		}
	}
	if list := e.do("GET", own+"/conversations?q=light", e.editor, nil).want(200); len(list["data"].([]any)) != 0 {
		t.Errorf("somebody else finds %v", list)
	}
	e.do("GET", own+"/conversations?q="+strings.Repeat("a", 201), e.reader, nil).refused(422, knowledge.CodeInvalid)
}
