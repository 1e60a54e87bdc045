package api_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

const (
	hooks = "/workspaces/default/webhooks"
	own   = "/workspaces/default"
)

// TestSameDocumentAgain makes a new version of each request, unless it asks for none of an
// unchanged document.
func TestSameDocumentAgain(t *testing.T) {
	t.Parallel()
	e := open(t)
	for i, tc := range []struct {
		force     any
		version   float64
		unchanged any
	}{{nil, 1, nil}, {nil, 2, nil}, {false, 2, true}, {true, 3, nil}} {
		document := map[string]any{"externalId": "pier", "content": map[string]any{"text": "A pier."}}
		if tc.force != nil {
			document["force"] = tc.force
		}
		got := e.do("POST", hooks+"/document?projectId=default", e.editor, document).want(202)
		if got["version"] != tc.version || got["unchanged"] != tc.unchanged {
			t.Errorf("request %d: %v", i, got)
		}
	}
}

func TestDocumentIsTakenIn(t *testing.T) {
	t.Parallel()
	e := open(t)
	got := e.do("POST", hooks+"/document?projectId=default", e.editor, map[string]any{
		"name": "handbook.md", "externalId": "hb-1", "content": map[string]any{"text": "# Leave\n\nAsk early."},
		"tags": []string{"hr"}, "metadata": map[string]any{"year": 2024},
	})
	body := got.want(202)
	wantKeys(t, body, "id", "name", "status", "version", "runId", "operatorUrl", "eventsUrl", "visibleTo")
	if body["status"] != "pending" || body["version"] != 1.0 || body["name"] != "handbook.md" {
		t.Errorf("answer: %v", body)
	}
	if got.header.Get("Cairn-Run-Id") != body["runId"] {
		t.Errorf("Cairn-Run-Id %q, runId %v", got.header.Get("Cairn-Run-Id"), body["runId"])
	}
	if want := knowledge.DocumentID("default", "default", "hb-1"); body["id"] != want {
		t.Errorf("id %v, want %s", body["id"], want)
	}
	if len(e.work.ingests) != 1 || e.work.ingests[0].RunID != body["runId"] || e.work.ingests[0].MediaType != "text/markdown" {
		t.Fatalf("dispatched: %+v", e.work.ingests)
	}
	original, err := e.blobs.Get(t.Context(), e.work.ingests[0].SourceKey)
	if err != nil || string(original) != "# Leave\n\nAsk early." {
		t.Errorf("original %q, %v", original, err)
	}
	events, err := url.Parse(body["eventsUrl"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if link, err := e.access.VerifyRun(t.Context(), events.Query().Get("token"), body["runId"].(string), time.Now()); err != nil || link.Workspace != "default" {
		t.Errorf("token of eventsUrl: %+v, %v", link, err)
	}

	document := e.do("GET", own+"/documents/"+body["id"].(string), e.editor, nil).want(200)
	wantKeys(t, document, documentKeys...)
	if diff := cmp.Diff(map[string]any{"workspace": true, "users": []any{}, "groups": []any{}}, document["access"]); diff != "" {
		t.Error(diff)
	}
	if document["error"] != nil || document["operatorUrl"] != "http://operator.test/ingest/default/"+body["id"].(string) {
		t.Errorf("document: %v", document)
	}
}

func TestDeclaredMediaTypeGoesAlong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content map[string]any
		want    string
	}{
		"text":       {map[string]any{"text": "# Leave", "mediaType": "text/markdown"}, "text/markdown"},
		"bytes":      {map[string]any{"base64": "Y2Fm6Q==", "mediaType": "text/plain; charset=ISO-8859-1"}, "text/plain; charset=windows-1252"},
		"an address": {map[string]any{"url": "https://example.com/leave", "mediaType": "text/markdown"}, "text/markdown"},
		"nothing":    {map[string]any{"url": "https://example.com/leave"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.do("POST", hooks+"/document?projectId=default", e.editor, map[string]any{"name": "Handbook", "content": tc.content}).want(202)
			if len(e.work.ingests) != 1 || e.work.ingests[0].MediaType != tc.want {
				t.Errorf("dispatched %+v, want media type %q", e.work.ingests, tc.want)
			}
		})
	}
}

func TestDocumentParser(t *testing.T) {
	t.Parallel()
	e := open(t)
	send := func(parser string) answer {
		return e.do("POST", hooks+"/document?projectId=default", e.editor, map[string]any{
			"name": "Doc", "content": map[string]any{"text": "a text"}, "parser": parser,
		})
	}
	send("crawler").want(202)
	send("model").refused(422, knowledge.CodeInvalid) // a text has no pages
	send("guess").refused(422, knowledge.CodeInvalid)
	e.do("POST", hooks+"/document?projectId=default", e.editor, map[string]any{
		"name": "Doc.pdf", "content": map[string]any{"base64": "JVBERi0xLjcK"}, "parser": "model",
	}).want(202)
	if v := e.work.ingests[len(e.work.ingests)-1]; v.Override.Parser != knowledge.ParserModel {
		t.Errorf("dispatched %+v", v.Override)
	}
}

func TestDocumentVersions(t *testing.T) {
	t.Parallel()
	e := open(t)
	restricted := map[string]any{"externalId": "x", "access": map[string]any{"users": []string{"ann"}}, "metadata": map[string]any{"k": "v"}}
	id := e.add(e.editor, "a.txt", "one", restricted)
	if again := e.add(e.editor, "a.txt", "two", map[string]any{"externalId": "x"}); again != id {
		t.Fatalf("the same externalId is document %s, then %s", id, again)
	}
	document := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
	if document["version"] != 2.0 {
		t.Errorf("version %v", document["version"])
	}
	t.Run("a_version_without_access_does_not_widen_it", func(t *testing.T) {
		if diff := cmp.Diff(map[string]any{"workspace": false, "users": []any{"ann"}, "groups": []any{}}, document["access"]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]any{"k": "v"}, document["metadata"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("versions_are_listed_newest_first", func(t *testing.T) {
		list := e.do("GET", own+"/documents/"+id+"/versions?limit=1", e.editor, nil).want(200)
		wantKeys(t, list, "data", "next_cursor")
		first := list["data"].([]any)[0].(map[string]any)
		if first["version"] != 2.0 || list["next_cursor"] == nil {
			t.Fatalf("first page: %v", list)
		}
		list = e.do("GET", own+"/documents/"+id+"/versions?limit=1&cursor="+list["next_cursor"].(string), e.editor, nil).want(200)
		if first := list["data"].([]any)[0].(map[string]any); first["version"] != 1.0 || list["next_cursor"] != nil {
			t.Errorf("second page: %v", list)
		}
	})
	t.Run("reingest_makes_a_version_of_the_stored_original", func(t *testing.T) {
		got := e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil)
		if body := got.want(202); body["version"] != 3.0 || body["runId"] != got.header.Get("Cairn-Run-Id") {
			t.Errorf("answer: %v", body)
		}
		last := e.work.ingests[len(e.work.ingests)-1]
		if before := e.work.ingests[len(e.work.ingests)-2]; last.SourceKey != before.SourceKey || last.Version != 3 {
			t.Errorf("dispatched %+v after %+v", last, before)
		}
	})
}

func TestAVersionHoldsFromItsPublicationOn(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "salaries.txt", "one", map[string]any{"externalId": "x", "access": map[string]any{"users": []string{"ann"}}})
	e.publish(id, knowledge.Chunk{Text: "one"})
	before := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
	sent := e.do("POST", hooks+"/document", e.editor, map[string]any{
		"name": "summary.txt", "externalId": "x", "content": map[string]any{"text": "two"}, "tags": []string{"new"}, "access": map[string]any{"workspace": true},
	}).want(202)
	if sent["name"] != "summary.txt" || sent["version"] != 2.0 {
		t.Errorf("the answer is about another document: %v", sent)
	}
	unchanged := func() {
		t.Helper()
		e.do("GET", own+"/documents/"+id, e.reader, nil).refused(404, knowledge.CodeNotFound)
		now := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
		for _, key := range []string{"name", "tags", "metadata", "access", "publishedVersion"} {
			if diff := cmp.Diff(before[key], now[key]); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
		}
		if len(e.work.attributes) != 0 {
			t.Errorf("the index was told of %+v", e.work.attributes)
		}
	}
	unchanged()
	failure := knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Retryable: true}
	if err := e.store.FailVersion(t.Context(), e.work.ingests[1].VersionRef, e.work.ingests[1].RunID, failure); err != nil {
		t.Fatal(err)
	}
	unchanged()
	e.do("POST", own+"/documents/"+id+"/retry", e.editor, nil).want(202)
	e.publish(id, knowledge.Chunk{Text: "two"})
	if now := e.do("GET", own+"/documents/"+id, e.reader, nil).want(200); now["name"] != "summary.txt" || !cmp.Equal(now["tags"], []any{"new"}) {
		t.Errorf("published: %v", now)
	}
}

func TestWhatIsNotPublishedIsForWhoManages(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.pdf", "one")
	published := e.add(e.editor, "b.txt", "two")
	e.publish(published, knowledge.Chunk{Text: "two"})
	if err := e.store.FailVersion(t.Context(), e.work.ingests[0].VersionRef, e.work.ingests[0].RunID, knowledge.DocumentError{Code: knowledge.CodeEncrypted}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", "/content", "/versions", "/chunks"} {
		e.do("GET", own+"/documents/"+id+part, e.reader, nil).refused(404, knowledge.CodeNotFound)
		if got := e.do("GET", own+"/documents/"+id+part, e.editor, nil); got.status != 200 {
			t.Errorf("%q: %d %s", part, got.status, got.body)
		}
	}
	question := map[string]any{"text": "What?", "document_ids": []string{id}, "sse": true}
	e.do("POST", hooks+"/query", e.reader, question).refused(404, knowledge.CodeNotFound)
	e.do("POST", hooks+"/query", e.editor, question).refused(409, knowledge.CodeConflict)
	if list := e.do("GET", own+"/documents", e.reader, nil).want(200); len(list["data"].([]any)) != 1 {
		t.Errorf("a reader lists %v", list)
	}
	e.do("GET", own+"/runs/"+e.work.ingests[0].RunID, e.reader, nil).refused(404, knowledge.CodeNotFound)

	theirs := e.add(e.editor, "c.txt", "three", map[string]any{"externalUserId": "42"})
	followed := e.do("GET", own+"/documents/"+theirs+"?external_user_id=42", e.reader, nil).want(200)
	if followed["status"] != "pending" {
		t.Errorf("its user follows %v", followed)
	}
	e.do("GET", own+"/documents/"+theirs+"/content?external_user_id=42", e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", own+"/documents/"+theirs, e.reader, nil).refused(404, knowledge.CodeNotFound)

	ask := func(document, project string) answer {
		return e.do("POST", hooks+"/query", e.admin, map[string]any{"text": "What?", "document_ids": []string{document}, "projectId": project, "stream": true})
	}
	other, _ := e.do("POST", hooks+"/projects", e.admin, `{"name":"Other"}`).want(200)["id"].(string)
	ask(e.add(e.editor, "d.txt", "four"), "").refused(409, knowledge.CodeConflict) // it is pending
	if got := ask(published, other); got.status != 404 || !strings.Contains(string(got.body), published) {
		t.Errorf("a document of another project: %d %s", got.status, got.body)
	}
	ask(published, "").want(202)
	e.do("PATCH", own+"/documents/"+published, e.admin, `{"status":"inactive"}`).want(200)
	if got := ask(published, ""); got.status != 409 || !strings.Contains(string(got.body), published) || !strings.Contains(string(got.body), "inactive") {
		t.Errorf("an inactive document: %d %s", got.status, got.body)
	}
	e.do("POST", hooks+"/query", e.reader, map[string]any{"text": "What?", "document_ids": []string{published}, "stream": true}).refused(404, knowledge.CodeNotFound)
}

func TestReingestKeepsWhatIsChangedMeanwhile(t *testing.T) {
	t.Parallel()
	meanwhile := func() {}
	e := open(t, func(_ *api.Config, deps *api.Deps) {
		deps.Clock = func() time.Time { meanwhile(); return time.Now() }
	})
	id := e.add(e.editor, "a.txt", "one")
	e.publish(id, knowledge.Chunk{Text: "one"})
	narrowed := 0
	meanwhile = func() {
		narrowed++
		e.do("PATCH", own+"/documents/"+id, e.editor, `{"access":{"users":["ann"]}}`).want(200)
	}
	e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil).want(202)
	meanwhile = func() {}
	e.publish(id, knowledge.Chunk{Text: "one"})
	document := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
	if diff := cmp.Diff(map[string]any{"workspace": false, "users": []any{"ann"}, "groups": []any{}}, document["access"]); diff != "" || narrowed == 0 {
		t.Errorf("narrowed %d times: %s", narrowed, diff)
	}
}

// TestRetryOfAConflict has a sound file whose vectors have another length than those in
// the index: a new version helps, and another file does not.
func TestRetryOfAConflict(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one")
	v := e.work.ingests[0]
	failure := knowledge.DocumentError{Code: knowledge.CodeConflict, Stage: knowledge.StagePublish, Message: "another length"}
	if err := e.store.FailVersion(t.Context(), v.VersionRef, v.RunID, failure); err != nil {
		t.Fatal(err)
	}
	got := e.do("POST", own+"/documents/"+id+"/retry", e.editor, nil)
	if got.refused(409, knowledge.CodeConflict); !strings.Contains(string(got.body), "reingest the document") {
		t.Errorf("a retry says %s", got.body)
	}
	e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil).want(202)
}

func TestRetry(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one")
	e.do("POST", own+"/documents/"+id+"/retry", e.editor, nil).refused(409, knowledge.CodeConflict)
	v := e.work.ingests[0]
	failure := knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Message: "later", Retryable: true}
	if err := e.store.FailVersion(t.Context(), v.VersionRef, v.RunID, failure); err != nil {
		t.Fatal(err)
	}
	document := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
	want := map[string]any{"code": "provider_failed", "stage": "embed", "message": "later", "retryable": true}
	if diff := cmp.Diff(want, document["error"]); diff != "" {
		t.Error(diff)
	}
	ended := store.RunEnd{Kind: knowledge.KindIngest, Status: knowledge.RunFailed, Error: &knowledge.Failure{Code: failure.Code, Message: failure.Message}, At: time.Now()}
	if err := e.store.EndRun(t.Context(), v.Workspace, v.RunID, ended); err != nil {
		t.Fatal(err)
	}
	if run := e.do("GET", own+"/runs/"+v.RunID, e.editor, nil).want(200); run["status"] != "failed" || run["stage"] != "embed" {
		t.Errorf("the run failed at %v: %v", run["stage"], run)
	}
	body := e.do("POST", own+"/documents/"+id+"/retry", e.editor, nil).want(202)
	if body["status"] != "pending" || body["version"] != 1.0 || body["runId"] == v.RunID || len(e.work.ingests) != 2 {
		t.Errorf("retried: %v", body)
	}
}

func TestDocumentThatWaits(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one")
	v := e.work.ingests[0]
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	wait := &knowledge.Waiting{Since: at, Attempt: 1, Of: 60, NextAt: at.Add(time.Hour), Code: knowledge.CodeProviderFailed, Message: "later"}
	if err := e.store.SetWaiting(t.Context(), v.VersionRef, wait); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"since": "2026-05-06T07:08:09Z", "attempt": 1.0, "of": 60.0, "nextAt": "2026-05-06T08:08:09Z", "code": "provider_failed", "message": "later",
	}
	document := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)
	listed := e.do("GET", own+"/documents", e.editor, nil).want(200)["data"].([]any)[0].(map[string]any)
	paged := e.do("GET", hooks+"/documents", e.editor, nil).want(200)["documents"].([]any)[0].(map[string]any)
	run := e.do("GET", own+"/runs/"+v.RunID, e.editor, nil).want(200)
	if run["stage"] == nil || cmp.Diff(want, run["waiting"]) != "" {
		t.Errorf("the run is at %v and waits %v", run["stage"], run["waiting"])
	}
	for _, got := range []map[string]any{document, listed, paged} {
		if diff := cmp.Diff(want, got["waiting"]); diff != "" || got["status"] != "pending" {
			t.Errorf("status %v: %s", got["status"], diff)
		}
	}
	retried := e.do("POST", own+"/documents/"+id+"/retry", e.editor, nil).want(202)
	if retried["runId"] != v.RunID || len(e.work.ingests) != 1 || !slices.Equal(e.work.retries, []string{id}) {
		t.Errorf("retried %v: run %v, %d ingests, asked for %v", retried["status"], retried["runId"], len(e.work.ingests), e.work.retries)
	}
	e.do("POST", own+"/documents/"+id+"/retry", e.reader, nil).refused(403, knowledge.CodeForbidden)
	if err := e.store.SetWaiting(t.Context(), v.VersionRef, nil); err != nil {
		t.Fatal(err)
	}
	if document := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200); document["waiting"] != nil {
		t.Errorf("still waiting: %v", document["waiting"])
	}
}

func TestDocumentsPaging(t *testing.T) {
	t.Parallel()
	e := open(t)
	for i := range 5 {
		e.add(e.editor, fmt.Sprintf("%d.txt", i), "text", map[string]any{"externalId": fmt.Sprint(i), "tags": []string{fmt.Sprint("t", i%2)}})
	}
	names := func(body map[string]any, key string) []string {
		var out []string
		for _, d := range body[key].([]any) {
			out = append(out, d.(map[string]any)["name"].(string))
		}
		return out
	}
	t.Run("by_page", func(t *testing.T) {
		body := e.do("GET", hooks+"/documents?projectId=default&page=1&limit=2", e.editor, nil).want(200)
		wantKeys(t, body, "documents", "page", "limit", "total")
		if diff := cmp.Diff([]string{"2.txt", "1.txt"}, names(body, "documents")); diff != "" {
			t.Error(diff)
		}
		if body["total"] != 5.0 || body["page"] != 1.0 || body["limit"] != 2.0 {
			t.Errorf("page: %v", body)
		}
		wantKeys(t, body["documents"].([]any)[0], documentKeys...)
		if last := e.do("GET", hooks+"/documents?projectId=default", e.editor, nil).want(200); last["limit"] != 500.0 || last["page"] != 0.0 {
			t.Errorf("defaults: %v %v", last["limit"], last["page"])
		}
	})
	t.Run("by_cursor", func(t *testing.T) {
		var all []string
		for cursor := ""; ; {
			body := e.do("GET", own+"/documents?limit=2&cursor="+cursor, e.editor, nil).want(200)
			all = append(all, names(body, "data")...)
			if body["next_cursor"] == nil {
				break
			}
			cursor = body["next_cursor"].(string)
		}
		if diff := cmp.Diff([]string{"4.txt", "3.txt", "2.txt", "1.txt", "0.txt"}, all); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("filtered", func(t *testing.T) {
		for query, want := range map[string][]string{
			"tags=t1": {"3.txt", "1.txt"}, "tags=t1&tags=t0": {"4.txt", "3.txt", "2.txt", "1.txt", "0.txt"},
			"externalId=3": {"3.txt"}, "status=error": nil,
		} {
			body := e.do("GET", hooks+"/documents?projectId=Default&"+query, e.editor, nil).want(200)
			if diff := cmp.Diff(want, names(body, "documents")); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
	})
	t.Run("out_of_range", func(t *testing.T) {
		for query, location := range map[string]string{
			"limit=501": "query.limit", "limit=0": "query.limit", "page=-1": "query.page", "status=lost": "query.status", "limit=many": "query.limit",
		} {
			locations := e.do("GET", hooks+"/documents?"+query, e.editor, nil).refused(422, knowledge.CodeInvalid)
			if diff := cmp.Diff([]string{location}, locations); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		e.do("GET", own+"/documents?cursor=nonsense", e.editor, nil).refused(422, knowledge.CodeInvalid)
		e.do("GET", hooks+"/documents?projectId=nope", e.editor, nil).refused(404, knowledge.CodeNotFound)
	})
}

func TestDocumentChange(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one", map[string]any{"tags": []string{"old"}})
	e.publish(id, knowledge.Chunk{Text: "one"})
	body := e.do("PATCH", own+"/documents/"+id, e.editor, map[string]any{
		"tags": []string{"new"}, "metadata": map[string]any{"a": 1}, "classification": "public", "access": map[string]any{"groups": []string{"g"}}, "legal_hold": true,
	}).want(200)
	if diff := cmp.Diff([]any{"new"}, body["tags"]); diff != "" || body["classification"] != "public" || body["legalHold"] != true {
		t.Errorf("changed: %v", body)
	}
	if a := e.work.attributes[len(e.work.attributes)-1]; !cmp.Equal(a.Tags, []string{"new"}) || !cmp.Equal(a.ACL, []string{"g:g"}) || a.Classification != "public" {
		t.Errorf("index was told %+v", a)
	}
	t.Run("readers_lose_it_at_once", func(t *testing.T) {
		e.do("GET", own+"/documents/"+id, e.reader, nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("legal_hold_keeps_it", func(t *testing.T) {
		e.do("DELETE", own+"/documents/"+id, e.editor, nil).refused(409, knowledge.CodeConflict)
		e.do("DELETE", hooks+"/document?projectId=default&id="+id, e.editor, nil).refused(409, knowledge.CodeConflict)
	})
	t.Run("what_is_wrong_is_named", func(t *testing.T) {
		locations := e.do("PATCH", own+"/documents/"+id, e.editor, `{"status":"error","colour":1,"legal_hold":"yes"}`).refused(422, knowledge.CodeInvalid)
		slices.Sort(locations)
		if diff := cmp.Diff([]string{"body.colour", "body.legal_hold", "body.status"}, locations); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one")
	e.do("DELETE", hooks+"/document?projectId=default", e.editor, nil).refused(422, knowledge.CodeInvalid)
	got := e.do("DELETE", hooks+"/document?projectId=default&id="+id, e.editor, nil)
	body := got.want(200)
	wantKeys(t, body, "id", "status", "runId")
	if body["status"] != "deleting" || got.header.Get("Cairn-Run-Id") != body["runId"] {
		t.Errorf("answer: %v", body)
	}
	if events := got.header.Get("Cairn-Events-Url"); !strings.Contains(events, "/runs/"+body["runId"].(string)+"/events?token=") {
		t.Errorf("its events are at %q", events)
	}
	if again := e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200); again["runId"] != body["runId"] {
		t.Errorf("a second request names run %v, the first %v", again["runId"], body["runId"])
	}
	if len(e.work.removals) != 2 || e.work.removals[0].Upto != 1 {
		t.Errorf("removals: %+v", e.work.removals)
	}
	if d := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200); d["status"] != "deleting" {
		t.Errorf("status %v", d["status"])
	}
	e.do("PATCH", own+"/documents/"+id, e.editor, `{"tags":[]}`).refused(409, knowledge.CodeConflict)
	e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil).refused(409, knowledge.CodeConflict)
}

// A version that is uploaded while the older ones are removed waits for that: it
// is not being removed itself.
func TestUploadDuringARemoval(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.txt", "one", map[string]any{"externalId": "a"})
	e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200)
	sent := e.do("POST", hooks+"/document", e.editor, `{"name":"a.txt","externalId":"a","content":{"text":"two"}}`).want(202)
	files := e.upload(e.editor, []part{{"externalId", "", "a"}, file("a.txt", "three")}).want(202)["documents"].([]any)
	again := e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil)
	for i, got := range []map[string]any{sent, files[0].(map[string]any)} {
		if got["status"] != "pending" || got["version"] != float64(i+2) || got["operatorUrl"] != "http://operator.test/ingest/default/"+id {
			t.Errorf("upload %d: %v", i, got)
		}
	}
	again.refused(409, knowledge.CodeConflict)
	if d := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200); d["status"] != "deleting" {
		t.Errorf("the document: %v", d)
	}
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
	answered := make(chan answer)
	go func() {
		answered <- e.do("POST", hooks+"/document?wait=true", e.editor, `{"name":"a.txt","externalId":"w","content":{"text":"one"}}`)
	}()
	<-e.work.entered
	close(e.work.hold)
	e.publish(knowledge.DocumentID("default", "default", "w"), knowledge.Chunk{Text: "one"})
	got := <-answered
	body := got.want(200)
	wantKeys(t, body, append(slices.Clone(documentKeys), "visibleTo")...)
	if body["status"] != "published" || body["publishedVersion"] != 1.0 || got.header.Get("Cairn-Run-Id") == "" {
		t.Errorf("answer: %v", body)
	}
}

// TestWaitingHoldsNoMemory: a large upload that waits for its ingestion leaves
// its room to the next.
func TestWaitingHoldsNoMemory(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.BodyMemory = 3 << 20 })
	e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
	body := `{"externalId":"w","content":{"text":"` + strings.Repeat("many words ", 200_000) + `"}}`
	for _, headers := range [][]string{nil, {keyName, "k"}} {
		answered := make(chan answer)
		go func() { answered <- e.do("POST", hooks+"/document?wait=true", e.editor, body, headers...) }()
		<-e.work.entered
		first := e.dispatched(knowledge.DocumentID("default", "default", "w"))
		e.work.hold <- struct{}{}
		go func() {
			<-e.work.entered
			e.work.hold <- struct{}{}
		}()
		e.do("POST", hooks+"/document", e.editor, strings.Replace(body, `"w"`, `"x"`, 1)).want(202)
		e.refuse(first, knowledge.CodeEncrypted)
		(<-answered).want(200)
	}
}

// A wait for a run reports its own version, also if newer ones were uploaded since.
func TestWaitingForOneOfSeveralVersions(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
	id := knowledge.DocumentID("default", "default", "w")
	upload := func(name string) (store.Version, chan answer) {
		answered := make(chan answer)
		go func() {
			answered <- e.do("POST", hooks+"/document?wait=true", e.editor, map[string]any{
				"name": name, "externalId": "w", "content": map[string]any{"text": strings.Repeat("a", len(name))},
				"tags": []string{name}, "metadata": map[string]any{"from": name},
			})
		}()
		<-e.work.entered
		return e.dispatched(id), answered
	}
	bad, first := upload("bad.txt")
	good, second := upload("good.txt")
	close(e.work.hold)
	e.refuse(bad, knowledge.CodeEncrypted)
	got := (<-first).want(200)
	want := map[string]any{"code": "encrypted", "stage": "extract", "message": "", "retryable": false}
	if diff := cmp.Diff(want, got["error"]); diff != "" || got["status"] != "error" || got["version"] != 1.0 || got["name"] != "bad.txt" || got["bytes"] != 7.0 {
		t.Errorf("the first upload: %v", got)
	}
	attributes := map[string]any{"tags": got["tags"], "metadata": got["metadata"]}
	if diff := cmp.Diff(map[string]any{"tags": []any{"bad.txt"}, "metadata": map[string]any{"from": "bad.txt"}}, attributes); diff != "" {
		t.Errorf("attributes of the first upload: %s", diff)
	}
	e.publish(id, knowledge.Chunk{Text: "one"})
	if got := (<-second).want(200); got["status"] != "published" || got["version"] != 2.0 || got["name"] != "good.txt" || got["error"] != nil {
		t.Errorf("the second upload: %v", got)
	}

	e.work.entered = nil
	e.do("POST", hooks+"/document", e.editor, `{"name":"worse.txt","externalId":"w","content":{"text":"three"}}`).want(202)
	e.refuse(e.dispatched(id), knowledge.CodeCorrupt)
	if d := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200); d["status"] != "error" || d["version"] != 3.0 {
		t.Errorf("the document: %v", d)
	}
	result := func(name string, got any) {
		t.Helper()
		d, ok := got.(map[string]any)
		if !ok || d["status"] != "published" || d["stage"] != "publish" || d["progress"] != 1.0 || d["error"] != nil ||
			d["version"] != 2.0 || d["publishedVersion"] != 2.0 || d["name"] != "good.txt" || d["bytes"] != 8.0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	result("result of the run", e.do("GET", "/runs/"+good.RunID, e.editor, nil).want(200)["result"])
	update, err := stream.NewEntry(stream.TopicDocument, stream.Event{Data: stream.Data(record.DocumentState{Version: 2, Stage: "embed", Progress: 0.4})})
	if err != nil {
		t.Fatal(err)
	}
	e.logs[good.RunID] = []stream.Item{{Topic: update.Topic, Data: update.Data}}
	events := e.events(good.RunID)
	if d := events[0]; d["version"] != 2.0 || d["name"] != "good.txt" || d["bytes"] != 8.0 || d["status"] != "pending" || d["stage"] != "embed" || d["error"] != nil {
		t.Errorf("an event of the run: %v", d)
	}
	result("end of the run's events", events[1]["result"])
}

// A document of one external user or conversation is nobody else's, whatever its
// access says.
func TestAccessOfPrivateDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	conversation := e.do("POST", own+"/conversations", e.editor, `{"title":"a"}`).want(201)["id"]
	for field, value := range map[string]any{"externalUserId": "ann", "conversationId": conversation} {
		id := e.add(e.editor, "a.txt", "one", map[string]any{field: value})
		got := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)["access"]
		if diff := cmp.Diff(map[string]any{"workspace": false, "users": []any{}, "groups": []any{}}, got); diff != "" {
			t.Errorf("%s: %s", field, diff)
		}
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	e := open(t)
	html := "<html><body><script>alert(1)</script><p>text</p></body></html>"
	id := e.add(e.editor, `a"b.html`, html)
	e.publish(id, knowledge.Chunk{Text: "text"})
	got := e.do("GET", own+"/documents/"+id+"/content", e.reader, nil)
	if got.status != 200 || string(got.body) != html {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html", "X-Content-Type-Options": "nosniff", "Content-Disposition": `attachment; filename="a\"b.html"`,
		"Content-Security-Policy": "sandbox; default-src 'none'", "Content-Length": fmt.Sprint(len(html)), "Accept-Ranges": "bytes",
	} {
		if got := got.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, test := range map[string]struct {
		send   []string
		want   map[string]string
		status int
		body   string
	}{
		"a part":               {[]string{"Range", "bytes=2-5"}, map[string]string{"Content-Range": fmt.Sprintf("bytes 2-5/%d", len(html)), "Content-Type": "text/html"}, 206, html[2:6]},
		"the end":              {[]string{"Range", "bytes=-7"}, map[string]string{"Content-Length": "7"}, 206, html[len(html)-7:]},
		"the rest of the same": {[]string{"Range", "bytes=2-", "If-Range", got.header.Get("ETag")}, nil, 206, html[2:]},
		"the whole of another": {[]string{"Range", "bytes=2-", "If-Range", `"another"`}, nil, 200, html},
		"what the client has":  {[]string{"If-None-Match", got.header.Get("ETag")}, nil, 304, ""},
		"behind the end":       {[]string{"Range", "bytes=1000-"}, map[string]string{"Content-Range": fmt.Sprintf("bytes */%d", len(html))}, 416, ""},
	} {
		part := e.do("GET", own+"/documents/"+id+"/content", e.reader, nil, test.send...)
		if part.status != test.status || test.status != 416 && string(part.body) != test.body {
			t.Errorf("%s: %d %s", name, part.status, part.body)
		}
		for header, want := range test.want {
			if got := part.header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", name, header, got, want)
			}
		}
	}
	byURL := e.do("POST", hooks+"/document", e.editor, `{"content":{"url":"https://example.com/a/report.pdf"}}`).want(202)
	if byURL["name"] != "report.pdf" {
		t.Errorf("name %v", byURL["name"])
	}
	e.do("GET", own+"/documents/"+byURL["id"].(string)+"/content", e.editor, nil).refused(404, knowledge.CodeNotFound)
}

// signing is a store whose originals can be downloaded from elsewhere.
type signing struct {
	*blob.Store
	none bool // it has no address for them after all
}

// Link implements api.Blobs.
func (s signing) Link(_ context.Context, key string, d blob.Download) (string, error) {
	if s.none {
		return "", nil
	}
	return "https://bucket.example/" + key + "?" + url.Values{"type": {d.MediaType}, "disposition": {d.Disposition}, "valid": {d.Valid.String()}}.Encode(), nil
}

func TestContentFromTheBucket(t *testing.T) {
	t.Parallel()
	for name, none := range map[string]bool{"redirects": false, "sends_the_bytes_where_nothing_can_be_signed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t, func(c *api.Config, d *api.Deps) { c.Presign, d.Blobs = true, signing{d.Blobs.(*blob.Store), none} })
			id := e.add(e.editor, "a b.txt", "one")
			e.publish(id, knowledge.Chunk{Text: "one"})
			path := own + "/documents/" + id + "/content"
			got := e.do("GET", path, e.reader, nil)
			if none {
				if got.status != 200 || string(got.body) != "one" {
					t.Errorf("%d %s", got.status, got.body)
				}
				return
			}
			address, err := url.Parse(got.header.Get("Location"))
			if err != nil || got.status != 307 || address.Host != "bucket.example" || !strings.Contains(address.Path, "/"+id+"/") {
				t.Errorf("%d to %v, %v", got.status, address, err)
			}
			want := url.Values{"type": {"text/plain"}, "disposition": {`inline; filename="a b.txt"`}, "valid": {"5m0s"}}
			if diff := cmp.Diff(want, address.Query()); diff != "" {
				t.Error(diff)
			}
			if got := got.header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control is %q", got)
			}
			if head := e.do("HEAD", path, e.reader, nil); head.status != 200 || head.header.Get("Content-Length") != "3" {
				t.Errorf("HEAD: %d %v", head.status, head.header)
			}
			e.do("GET", path, e.stranger, nil).refused(404, knowledge.CodeNotFound)
			e.do("GET", path+"?token=forged", "", nil).refused(401, knowledge.CodeUnauthorized)
			byURL := e.do("POST", hooks+"/document", e.editor, `{"content":{"url":"https://example.com/a/report.pdf"}}`).want(202)
			e.do("GET", own+"/documents/"+byURL["id"].(string)+"/content", e.editor, nil).refused(404, knowledge.CodeNotFound)
		})
	}
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	e := open(t)
	text := func(more string) string { return `{"name":"a.txt","content":{"text":"one"}` + more + `}` }
	for name, c := range map[string]struct {
		body     any
		status   int
		code     knowledge.Code
		location string
	}{
		"malformed JSON":       {`{"name":`, 400, knowledge.CodeMalformed, ""},
		"no body":              {``, 400, knowledge.CodeMalformed, ""},
		"data behind":          {text("") + "{}", 400, knowledge.CodeMalformed, ""},
		"not UTF-8":            {"{\"name\":\"\xff\",\"content\":{\"text\":\"a\"}}", 400, knowledge.CodeMalformed, ""},
		"deep nesting":         {text(`,"metadata":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`), 400, knowledge.CodeMalformed, ""},
		"huge number":          {text(`,"metadata":{"a":1e999}`), 400, knowledge.CodeMalformed, ""},
		"huge size":            {text(`,"override":{"textSplitter":{"chunkSize":1e30}}`), 422, knowledge.CodeInvalid, "body.override.textSplitter.chunkSize"},
		"unknown field":        {text(`,"colour":"red"`), 422, knowledge.CodeInvalid, "body.colour"},
		"unknown inner field":  {`{"name":"a","content":{"text":"a","colour":1}}`, 422, knowledge.CodeInvalid, "body.content.colour"},
		"wrong type":           {text(`,"tags":"hr"`), 422, knowledge.CodeInvalid, "body.tags"},
		"wrong element":        {text(`,"tags":[1]`), 422, knowledge.CodeInvalid, "body.tags[0]"},
		"a list":               {`[]`, 422, knowledge.CodeInvalid, "body"},
		"no content":           {`{"name":"a"}`, 422, knowledge.CodeInvalid, "body"},
		"empty content":        {`{"name":"a","content":{}}`, 422, knowledge.CodeInvalid, "body.content"},
		"two contents":         {`{"name":"a","content":{"text":"a","url":"http://a.test"}}`, 422, knowledge.CodeInvalid, "body.content"},
		"empty text":           {`{"name":"a","content":{"text":""}}`, 422, knowledge.CodeEmpty, ""},
		"bad base64":           {`{"name":"a","content":{"base64":"***"}}`, 422, knowledge.CodeInvalid, "body.content.base64"},
		"cut base64":           {`{"name":"a","content":{"base64":"aGVsbG8gd29ybGQ"}}`, 422, knowledge.CodeInvalid, "body.content.base64"},
		"zip":                  {map[string]any{"name": "a", "content": map[string]any{"base64": base64.StdEncoding.EncodeToString([]byte("PK\x03\x04 and so on \x00\x00\x00\x00"))}}, 415, knowledge.CodeUnsupportedFormat, ""},
		"other scheme":         {`{"content":{"url":"file:///etc/passwd"}}`, 422, knowledge.CodeInvalid, "body.content.url"},
		"no host":              {`{"content":{"url":"http://"}}`, 422, knowledge.CodeInvalid, "body.content.url"},
		"password in address":  {`{"content":{"url":"http://a:b@c.test/"}}`, 422, knowledge.CodeInvalid, "body.content.url"},
		"long name":            {map[string]any{"name": strings.Repeat("ü", 10_000), "content": map[string]any{"text": "a"}}, 422, knowledge.CodeInvalid, "body.name"},
		"small chunks":         {text(`,"override":{"textSplitter":{"chunkSize":10}}`), 422, knowledge.CodeInvalid, "body.override.textSplitter.chunkSize"},
		"chunks of nothing":    {text(`,"override":{"textSplitter":{"chunkSize":0}}`), 422, knowledge.CodeInvalid, "body.override.textSplitter.chunkSize"},
		"overlap below zero":   {text(`,"override":{"textSplitter":{"chunkOverlap":-1}}`), 422, knowledge.CodeInvalid, "body.override.textSplitter.chunkOverlap"},
		"much overlap":         {text(`,"override":{"textSplitter":{"chunkSize":200,"chunkOverlap":100}}`), 422, knowledge.CodeInvalid, "body.override.textSplitter.chunkOverlap"},
		"long tag":             {text(`,"tags":["` + strings.Repeat("a", 129) + `"]`), 422, knowledge.CodeInvalid, "body.tags[0]"},
		"empty tag":            {text(`,"tags":["a"," "]`), 422, knowledge.CodeInvalid, "body.tags[1]"},
		"many tags":            {text(`,"tags":[` + strings.Repeat(`"a",`, 64) + `"b"]`), 422, knowledge.CodeInvalid, "body.tags"},
		"much metadata":        {text(`,"metadata":{"a":"` + strings.Repeat("b", 17<<10) + `"}`), 422, knowledge.CodeInvalid, "body.metadata"},
		"conversation unknown": {text(`,"conversationId":"` + knowledge.NewID() + `"`), 404, knowledge.CodeNotFound, ""},
		"metadata above it":    {text(`,"metadata":{"a":"` + strings.Repeat("<", 16<<10-7) + `"}`), 422, knowledge.CodeInvalid, "body.metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			locations := e.do("POST", hooks+"/document", e.editor, c.body).refused(c.status, c.code)
			if c.location != "" && (len(locations) == 0 || locations[0] != c.location) {
				t.Errorf("locations %v, want %s first", locations, c.location)
			}
		})
	}
	if body := e.do("GET", hooks+"/documents", e.editor, nil).want(200); body["total"] != 0.0 || len(e.work.ingests) != 0 {
		t.Errorf("something was stored: %v", body)
	}
	for object, err := range e.blobs.List(t.Context(), "") {
		t.Errorf("something was kept: %v %v", object.Key, err)
	}
}

func TestMetadataIsMeasuredAsItIsSent(t *testing.T) {
	t.Parallel()
	e := open(t)
	metadata := map[string]any{"a": strings.Repeat("<", 16<<10-len(`{"a":""}`))} // which HTML would have longer
	id := e.add(e.editor, "a.txt", "one", map[string]any{"metadata": metadata})
	e.do("PATCH", own+"/documents/"+id, e.editor, map[string]any{"metadata": metadata}).want(200)
}

func TestNames(t *testing.T) {
	t.Parallel()
	e := open(t)
	for given, want := range map[string]string{
		"../../etc/passwd": "../../etc/passwd", "TCP/IP guide": "TCP/IP guide", "On the use of A and/or B/": "On the use of A and/or B/", "a\r\nX-Header: b.txt": "aX-Header: b.txt",
		" spaced.txt ": "spaced.txt", "a\u202etxt.exe": "atxt.exe", strings.Repeat("é", 512): strings.Repeat("é", 512), "\u202e ": "untitled",
	} {
		id := e.add(e.editor, given, "text")
		if got := e.do("GET", own+"/documents/"+id, e.editor, nil).want(200)["name"]; got != want {
			t.Errorf("%q is shown as %q, want %q", given, got, want)
		}
	}
}

func TestLimitsOfAProject(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"documents":1,"fileBytes":10}}`).want(200)
	e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"more than ten bytes"}}`).refused(413, knowledge.CodeTooLarge)
	e.add(e.editor, "a", "one", map[string]any{"externalId": "a"})
	e.add(e.editor, "a", "two", map[string]any{"externalId": "a"})
	e.do("POST", hooks+"/document", e.editor, `{"content":{"text":"three"}}`).refused(409, knowledge.CodeLimitReached)
}

func TestAFailedStartIsNoLoss(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.fail = knowledge.Errorf(knowledge.CodeUnavailable, "the workflow service is down")
	id := e.add(e.editor, "a.txt", "one")
	pending, err := e.store.PendingVersions(t.Context(), store.PendingQuery{Before: time.Now().Add(time.Minute), Limit: 10})
	if err != nil || len(pending) != 1 || pending[0].Document != id {
		t.Errorf("versions for the sweep: %+v, %v", pending, err)
	}
	e.do("DELETE", own+"/documents/"+id, e.editor, nil).want(200)
	removals, _, err := e.store.PendingRemovals(t.Context(), store.Position{}, 10)
	if err != nil || len(removals) != 1 {
		t.Errorf("removals for the sweep: %+v, %v", removals, err)
	}
}

func TestConversationDocument(t *testing.T) {
	t.Parallel()
	e := open(t)
	conversation := e.conversation(e.editor, "")
	id := e.add(e.editor, "a.txt", "one", map[string]any{"conversationId": conversation})
	e.publish(id, knowledge.Chunk{Text: "one"})
	e.do("GET", own+"/documents/"+id, e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("POST", hooks+"/document", e.stranger, map[string]any{"content": map[string]any{"text": "a"}, "conversationId": conversation}).refused(404, knowledge.CodeNotFound)
}

// conversation makes one that belongs to the key, acting for an external user.
func (e *edge) conversation(key, externalUser string) string {
	e.t.Helper()
	p, err := e.access.Authenticate(e.t.Context(), accessCredentials(key))
	if err != nil {
		e.t.Fatal(err)
	}
	p = e.actAs(p, externalUser)
	c, err := e.store.EnsureConversation(e.t.Context(), p, store.Conversation{
		ID: knowledge.NewID(), Workspace: p.Workspace(), Owner: p.Owner(), Title: "A question",
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return c.ID
}

func TestDocumentOverridesTheSplitter(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"textSplitter":{"strategy":"fixed","chunkSize":2000}}}`).want(200)
	splitter := func(override any) map[string]any {
		id := e.add(e.editor, "a", "Some text.", map[string]any{"override": override})
		versions := e.do("GET", own+"/documents/"+id+"/versions", e.editor, nil).want(200)["data"].([]any)
		return versions[0].(map[string]any)["text_splitter"].(map[string]any)
	}
	type fields = map[string]any
	for name, test := range map[string]struct {
		override      any
		strategy      string
		size, overlap float64
	}{
		"nothing":          {nil, "fixed", 2000, 100},
		"an_empty_object":  {fields{}, "fixed", 2000, 100},
		"the_size":         {fields{"textSplitter": fields{"chunkSize": 500}}, "fixed", 500, 100},
		"a_small_size":     {fields{"textSplitter": fields{"chunkSize": 101}}, "fixed", 101, 50},
		"no_overlap":       {fields{"textSplitter": fields{"chunkOverlap": 0}}, "fixed", 2000, 0},
		"most_overlap":     {fields{"textSplitter": fields{"chunkOverlap": 999}}, "fixed", 2000, 999},
		"null_for_a_field": {fields{"textSplitter": fields{"strategy": nil}}, "structure", 2000, 100},
		"null_for_all":     {fields{"textSplitter": nil}, "structure", 1000, 100},
	} {
		want := fields{"strategy": test.strategy, "chunkSize": test.size, "chunkOverlap": test.overlap}
		if diff := cmp.Diff(want, splitter(test.override)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// An upload that comes between the reads and the writes of a reingest is what is
// ingested again, with its own access.
func TestReingestTakesTheNewestVersion(t *testing.T) {
	t.Parallel()
	meanwhile := func() {}
	e := open(t, func(_ *api.Config, deps *api.Deps) {
		deps.Clock = func() time.Time { meanwhile(); return time.Now() }
	})
	id := e.add(e.editor, "a.txt", "everybody's", map[string]any{"externalId": "x"})
	uploads := 0
	meanwhile = func() { // whenever the time is asked for
		uploads++
		_, _, err := e.store.AddVersion(t.Context(), store.NewVersion{
			Workspace: "default", Project: "default", DocumentID: id, ExternalID: "x", Name: "a.txt", MediaType: "text/plain",
			SourceKey: fmt.Sprint("upload-", uploads), Access: &knowledge.Access{Users: []string{fmt.Sprint("user-", uploads)}}, RunID: knowledge.NewID(),
		})
		if err != nil {
			t.Error(err)
		}
	}
	e.do("POST", own+"/documents/"+id+"/reingest", e.editor, nil).want(202)
	again := e.work.ingests[len(e.work.ingests)-1]
	before, err := e.store.Version(t.Context(), knowledge.VersionRef{Workspace: "default", Project: "default", Document: id, Version: again.Version - 1})
	if err != nil {
		t.Fatal(err)
	}
	if uploads == 0 || again.SourceKey != before.SourceKey || !slices.Equal(again.ACL, before.ACL) {
		t.Errorf("after %d uploads version %d is %q for %q, and the one before %q for %q",
			uploads, again.Version, again.SourceKey, again.ACL, before.SourceKey, before.ACL)
	}
}
