package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

const importsPath = "/workspaces/default/imports"

const bucketBody = `{"source":{"type":"s3","uri":"s3://bucket/docs","options":{"region":"eu-west-1"},"secret":"bucket"},
	"include":["**/*.md"],"exclude":["old/**"],"tags":["t"],"metadata":{"a":1},"rules":[{"match":"legal/**","tags":["legal"]}],
	"access":{"groups":["g"]},"remove_vanished":true,"dry_run":true}`

func TestStartImport(t *testing.T) {
	t.Parallel()
	e := open(t)
	started := e.do("POST", importsPath, e.editor, bucketBody)
	body := started.want(202)
	id := body["id"].(string)
	if body["run_id"] != id || body["status"] != "running" || body["operator_url"] != "http://operator.test/import/default/"+id || body["project_id"] != "default" {
		t.Errorf("answer %v", body)
	}
	if run := started.header.Get("Cairn-Run-Id"); run != id {
		t.Errorf("the header names run %q", run)
	}
	if len(e.work.imports) != 1 {
		t.Fatalf("started %v", e.work.imports)
	}
	got := e.work.imports[0].Request
	if got.Source.URI != "s3://bucket/docs" || got.Source.Options.Region != "eu-west-1" || got.Source.Secret != "bucket" || !got.RemoveVanished || !got.DryRun ||
		got.Rules[0].Match != "legal/**" || got.Access.Groups[0] != "g" || got.Include[0] != "**/*.md" || got.Exclude[0] != "old/**" {
		t.Errorf("request %+v", got)
	}
	read := e.do("GET", importsPath+"/"+id, e.editor, nil).want(200)
	for _, name := range []string{"status", "discovered", "published", "skipped", "failed", "deleted", "bytes", "documents_per_second", "eta_seconds", "failures", "failures_url", "operator_url"} {
		if _, there := read[name]; !there {
			t.Errorf("an import has no %s", name)
		}
	}
	e.do("POST", importsPath, e.editor, bucketBody).refused(409, knowledge.CodeConflict)
	list := e.do("GET", importsPath+"?project_id=default", e.editor, nil).want(200)["data"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != id {
		t.Errorf("list %v", list)
	}
	if run := e.do("GET", own+"/runs/"+id, e.editor, nil).want(200); run["kind"] != "import" || run["import_id"] != id || run["document_id"] != nil {
		t.Errorf("run %v", run)
	}
}

func TestRefusedImports(t *testing.T) {
	t.Parallel()
	e := open(t)
	for body, want := range map[string]struct {
		status   int
		code     knowledge.Code
		location string
	}{
		`{}`: {422, knowledge.CodeInvalid, "body"},
		`{"source":{"type":"ftp","uri":"ftp://x"}}`:                                                                     {422, knowledge.CodeInvalid, "body.source.type"},
		`{"source":{"type":"s3","uri":"s3://wrong","options":{"anonymous":true}}}`:                                      {422, knowledge.CodeInvalid, "body.source.uri"},
		`{"source":{"type":"zip","uri":"file:///etc/passwd"}}`:                                                          {422, knowledge.CodeInvalid, "body.source.uri"},
		`{"source":{"type":"s3","uri":"s3://b","secret":"AKIA"}}`:                                                       {422, knowledge.CodeInvalid, "body.source.secret"},
		`{"source":{"type":"s3","uri":"s3://b","options":{"key":"AKIA","anonymous":true}}}`:                             {422, knowledge.CodeInvalid, "body.source.options.key"},
		`{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}},"include":["["]}`:                          {422, knowledge.CodeInvalid, "body.include[0]"},
		`{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}},"rules":[{"match":"{"}]}`:                  {422, knowledge.CodeInvalid, "body.rules[0].match"},
		`{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}},"tags":[""]}`:                              {422, knowledge.CodeInvalid, "body.tags[0]"},
		`{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}},"project_id":"none"}`:                      {404, knowledge.CodeNotFound, ""},
		`{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}},"access":{"users":["` + "\\u0001" + `"]}}`: {422, knowledge.CodeInvalid, "body.access.users[0]"},
	} {
		answer := e.do("POST", importsPath, e.editor, body)
		answer.refused(want.status, want.code)
		if want.location != "" && !strings.Contains(string(answer.body), `"location":"`+want.location) {
			t.Errorf("%s: %s does not name %s", body, answer.body, want.location)
		}
	}
	if len(e.work.imports) != 0 {
		t.Errorf("started %v", e.work.imports)
	}
	i := e.do("POST", importsPath, e.editor, `{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}}}`).want(202)["id"].(string)
	for _, path := range []string{importsPath, importsPath + "/" + i, importsPath + "/" + i + "/failures"} {
		e.do("GET", path, e.reader, nil).refused(403, knowledge.CodeForbidden)
		e.do("GET", path, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	}
	for _, action := range []string{"pause", "resume", "cancel", "retry_failed"} {
		e.do("POST", importsPath+"/"+i+"/"+action, e.reader, nil).refused(403, knowledge.CodeForbidden)
		e.do("POST", importsPath+"/none/"+action, e.editor, nil).refused(404, knowledge.CodeNotFound)
	}
}

func TestActionsOfAnImport(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.do("POST", importsPath, e.editor, `{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}}}`).want(202)["id"].(string)
	path := importsPath + "/" + id
	e.do("POST", path+"/pause", e.editor, nil).want(202)
	e.do("POST", path+"/resume", e.editor, nil).want(202)
	e.do("POST", path+"/retry_failed", e.editor, nil).refused(409, knowledge.CodeConflict) // it runs
	e.do("POST", path+"/cancel", e.editor, nil).want(202)
	if diff := cmp.Diff([]bool{true, false}, e.work.pauses); diff != "" || len(e.work.cancels) != 1 || e.work.cancels[0] != id {
		t.Errorf("pauses %v, cancels %v", e.work.pauses, e.work.cancels)
	}
	e.work.unknown = true // a process died before the workflow had started
	if canceled := e.do("POST", path+"/cancel", e.editor, nil).want(202); canceled["status"] != "canceled" {
		t.Errorf("canceled as %v", canceled)
	}
	for _, action := range []string{"pause", "resume", "cancel", "retry_failed"} {
		e.do("POST", path+"/"+action, e.editor, nil).refused(409, knowledge.CodeConflict)
	}
}

// failImport gives an import an object that failed, and ends it.
func (e *edge) failImport(id string, keys ...string) {
	e.t.Helper()
	ctx := e.t.Context()
	i, err := e.store.ImportForSystem(ctx, knowledge.ImportRef{Workspace: "default", Project: "default", Import: id})
	if err != nil {
		e.t.Fatal(err)
	}
	record := store.ImportRecord{}
	var list []store.ListedObject
	for _, key := range keys {
		document := knowledge.DocumentID("default", "default", key)
		list = append(list, store.ListedObject{Key: key, DocumentID: document})
		record.Failed = append(record.Failed, store.FailedObject{
			Key: key, Object: []byte("{}"), Error: knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "broken"},
			Version: store.NewVersion{Workspace: "default", Project: "default", DocumentID: document, ExternalID: key, Name: key, RunID: i.RunID},
		})
	}
	if _, err = e.store.AddImportPage(ctx, i, store.ImportPage{}, list, nil); err == nil {
		_, err = e.store.RecordImported(ctx, i, record)
	}
	if err == nil {
		err = e.store.EndRun(ctx, "default", i.RunID, store.RunEnd{Kind: knowledge.KindImport, Status: knowledge.RunCompleted})
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

func TestFailuresOfAnImport(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.do("POST", importsPath, e.editor, `{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}}}`).want(202)["id"].(string)
	var keys []string
	for n := range 30 {
		keys = append(keys, fmt.Sprintf("%02d.pdf", n))
	}
	e.failImport(id, keys...)
	read := e.do("GET", importsPath+"/"+id, e.editor, nil).want(200)
	if failures := read["failures"].([]any); len(failures) != 20 || read["failed"] != 30.0 || read["status"] != "completed" {
		t.Errorf("import %v", read)
	}
	var listed []string
	for cursor := ""; ; {
		page := e.do("GET", read["failures_url"].(string)+"?limit=7&cursor="+cursor, e.editor, nil).want(200)
		for _, f := range page["data"].([]any) {
			f := f.(map[string]any)
			listed = append(listed, f["key"].(string))
			if f["error"].(map[string]any)["code"] != "corrupt" || f["document_id"] == "" {
				t.Errorf("failure %v", f)
			}
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = page["next_cursor"].(string)
	}
	if diff := cmp.Diff(keys, listed); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	answer := e.do("POST", importsPath+"/"+id+"/retry_failed", e.editor, nil)
	retried := answer.want(202)
	if run := answer.header.Get("Cairn-Run-Id"); run != retried["run_id"] {
		t.Errorf("the header names run %q, the import %v", run, retried["run_id"])
	}
	run := retried["run_id"].(string)
	if retried["status"] != "running" || run == id || retried["operator_url"] != "http://operator.test/import/default/"+id+"/retry-"+run {
		t.Errorf("retried %v", retried)
	}
	if started := e.work.imports[len(e.work.imports)-1]; started.RunID != run || started.Import != id {
		t.Errorf("started %+v", started)
	}
}

func TestEventsOfAnImport(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.do("POST", importsPath, e.editor, `{"source":{"type":"s3","uri":"s3://b","options":{"anonymous":true}}}`).want(202)["id"].(string)
	update, err := stream.NewEntry(stream.TopicImport, stream.Event{Data: stream.Data(record.ImportProgress{
		Status: knowledge.ImportRunning, ImportCounts: knowledge.ImportCounts{Discovered: 5, Published: 2},
	})})
	if err != nil {
		t.Fatal(err)
	}
	e.logs[id] = []stream.Item{{Topic: update.Topic, Data: update.Data}}
	e.failImport(id, "a.pdf")
	events := string(e.do("GET", "/runs/"+id+"/events", e.editor, nil).body)
	for _, part := range []string{"event: importUpdate", `"discovered":5,"published":2`, `"remaining":3`, "event: runEnded", `"status":"completed"`, `"failed":1`, `"a.pdf"`} {
		if !strings.Contains(events, part) {
			t.Errorf("the events have no %s:\n%s", part, events)
		}
	}
	if run := e.do("GET", "/runs/"+id, e.editor, nil).want(200); run["result"].(map[string]any)["id"] != id {
		t.Errorf("result %v", run["result"])
	}
}

func archive(t *testing.T) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	out, err := w.Create("manual/one.txt")
	if err == nil {
		_, err = out.Write([]byte("One."))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestArchiveOfAnUpload(t *testing.T) {
	t.Parallel()
	t.Run("becomes an import", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		body := e.upload(e.editor, []part{file("Manual.zip", archive(t)), {"tags", "", "manual"}, {"import", "", `{"include":["*.md"],"dry_run":true}`}}).want(202)
		shown, ok := body["import"].(map[string]any)
		if !ok || len(body["documents"].([]any)) != 0 || len(e.work.imports) != 1 || len(e.work.ingests) != 0 {
			t.Fatalf("answer %v", body)
		}
		r := e.work.imports[0].Request
		if r.Source.Type != "zip" || r.Source.URI != "Manual.zip" || r.Tags[0] != "manual" || !r.DryRun || len(r.Include) != 1 || shown["source"].(map[string]any)["uri"] != "Manual.zip" {
			t.Errorf("request %+v, shown %v", r, shown)
		}
		if data, err := e.blobs.Get(t.Context(), r.Archive); err != nil || string(data) != archive(t) {
			t.Errorf("stored %d bytes, %v", len(data), err)
		}
	})
	t.Run("beside other files", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for range 2 { // the second is a repetition
			body := e.upload(e.editor, []part{file("a.txt", "text"), file("Manual.zip", archive(t)), file("b.txt", "text")}, keyName, "k").want(202)
			if body["import"] == nil || len(body["documents"].([]any)) != 2 {
				t.Errorf("answer %v", body)
			}
		}
		if len(e.work.ingests) != 2 {
			t.Errorf("%d documents were taken in", len(e.work.ingests))
		}
	})
	t.Run("refused, it leaves nothing", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		zipped := file("Manual.zip", archive(t))
		e.upload(e.editor, []part{zipped, file("Other.zip", archive(t))}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"externalId", "", "x\x00"}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"conversationId", "", "x"}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"tags", "", `[""]`}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"parser", "", "human"}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"override", "", `{"textSplitter":{"strategy":"fixed"}}`}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"import", "", `{"include":["["]}`}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{zipped, {"import", "", `{"secret":"x"}`}}).refused(422, knowledge.CodeInvalid)
		e.upload(e.editor, []part{file("a.txt", "text"), {"import", "", `{}`}}).refused(422, knowledge.CodeInvalid)
		if keys := e.keys(); len(keys) != 0 || len(e.work.imports) != 0 {
			t.Errorf("kept %v", keys)
		}
		e.upload(e.editor, []part{zipped}).want(202)
		e.upload(e.editor, []part{zipped, {"externalId", "", "other/Manual.zip"}}).want(202) // another source
		e.upload(e.editor, []part{zipped, {"externalId", "", "scans.zip"}, {"parser", "", "model"}}).want(202)
		e.upload(e.editor, []part{zipped, {"externalId", "", "prints.zip"}, {"import", "", `{"parser":"model"}`}}).want(202)
		for i, want := range []knowledge.Parser{"", "", knowledge.ParserModel, knowledge.ParserModel} {
			if r := e.work.imports[i].Request; r.Parser != want {
				t.Errorf("%s is read by %q", r.Source.URI, r.Parser)
			}
		}
		if r := e.work.imports[1].Request; r.Source.URI != "other/Manual.zip" {
			t.Errorf("source %+v", r.Source)
		}
		if e.upload(e.editor, []part{zipped}).refused(http.StatusConflict, knowledge.CodeConflict); len(e.keys()) != 4 {
			t.Errorf("kept %v", e.keys())
		}
	})
}
