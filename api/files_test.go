package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const filesPath = "/workspaces/default/projects/default/files"

// part is a part of a form: a field, or a file if it has a disposition.
type part struct{ name, filename, value string }

func file(filename, content string) part { return part{"files", filename, content} }

func form(t *testing.T, parts ...part) (body []byte, contentType string) {
	t.Helper()
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	for _, p := range parts {
		disposition := fmt.Sprintf("form-data; name=%q", p.name)
		if p.filename != "" {
			disposition += `; filename="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.filename) + `"`
		}
		out, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {disposition}})
		if err == nil {
			_, err = io.WriteString(out, p.value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes(), w.FormDataContentType()
}

// upload sends a form.
func (e *edge) upload(key string, parts []part, headers ...string) answer {
	e.t.Helper()
	body, contentType := form(e.t, parts...)
	return e.do("POST", filesPath, key, body, append([]string{"Content-Type", contentType}, headers...)...)
}

func TestFileNamesWithControlCharacters(t *testing.T) {
	t.Parallel()
	e := open(t)
	const boundary, line = "cut-here", "\x01 a line\x02\r\n"
	content := line + "--" + boundary + "-not\r\n" + line + "\r\n" // nearly a delimiter
	body := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\x07\x01/b\x1b\x7f\x00.txt\"\r\n\r\n" + content +
		"\r\n--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"c.txt\"\r\n\r\n\r\n--" + boundary +
		"\r\nContent-Disposition: form-data; name=\"tags\"\r\n\r\nx\r\n--" + boundary + "--\r\n"
	for _, headers := range [][]string{nil, {"Idempotency-Key", "k"}} {
		read := iotest.OneByteReader(strings.NewReader(body))
		got := e.do("POST", filesPath, e.editor, read, append(headers, "Content-Type", "multipart/form-data; boundary="+boundary)...).want(202)
		documents := got["documents"].([]any)
		first := documents[0].(map[string]any)
		if len(documents) != 2 || first["name"] != "b.txt" || first["tags"].([]any)[0] != "x" {
			t.Fatalf("taken in: %v", documents)
		}
		stored := e.do("GET", own+"/documents/"+first["id"].(string)+"/content", e.editor, nil)
		if string(stored.body) != content {
			t.Errorf("stored %q, want %q", stored.body, content)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	e := open(t)
	got := e.upload(e.editor, []part{
		{"tags", "", `["a","b"]`}, {"tags", "", "c"}, file("one.txt", "one"), file("../two.md", "# Two"), {"metadata", "", `{"year":2024}`},
	})
	body := got.want(202)
	wantKeys(t, body, "documents", "import")
	documents := body["documents"].([]any)
	if body["import"] != nil || len(documents) != 2 {
		t.Fatalf("answer: %v", body)
	}
	first, second := documents[0].(map[string]any), documents[1].(map[string]any)
	wantKeys(t, first, append(slices.Clone(documentKeys), "runId", "eventsUrl", "visibleTo")...)
	if got.header.Get("Cairn-Run-Id") != first["runId"] || first["runId"] == second["runId"] || first["id"] == second["id"] {
		t.Errorf("runs %v and %v, header %q", first["runId"], second["runId"], got.header.Get("Cairn-Run-Id"))
	}
	if second["name"] != "two.md" || second["mediaType"] != "text/markdown" || second["bytes"] != 5.0 {
		t.Errorf("second: %v", second)
	}
	if diff := cmp.Diff([]any{"a", "b", "c"}, second["tags"]); diff != "" || !cmp.Equal(second["metadata"], map[string]any{"year": 2024.0}) {
		t.Errorf("tags and metadata that came behind a file: %v", second)
	}
	if len(e.work.ingests) != 2 {
		t.Fatalf("dispatched %d", len(e.work.ingests))
	}
	original, err := e.blobs.Get(t.Context(), e.work.ingests[1].SourceKey)
	if err != nil || string(original) != "# Two" {
		t.Errorf("original %q, %v", original, err)
	}
}

func TestFileWithExternalID(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]part{
		"before the file": {{"externalId", "", "x"}, file("a.txt", "one")},
		"behind the file": {file("a.txt", "one"), {"externalId", "", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			body := e.upload(e.editor, parts).want(202)
			want := knowledge.DocumentID("default", "default", "x")
			if got := body["documents"].([]any)[0].(map[string]any); got["id"] != want || got["externalId"] != "x" {
				t.Errorf("document: %v", got)
			}
			key := e.work.ingests[0].SourceKey
			if !strings.HasPrefix(key, "default/default/"+want+"/") {
				t.Errorf("the original lies at %s", key)
			}
			if keys := e.keys(); !cmp.Equal(keys, []string{key}) {
				t.Errorf("stored: %v, want %s alone", keys, key)
			}
		})
	}
}

// keys are the keys of all blobs.
func (e *edge) keys() []string {
	e.t.Helper()
	var keys []string
	for object, err := range e.blobs.List(e.t.Context(), "") {
		if err != nil {
			e.t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

func TestFilesOfUnsupportedKinds(t *testing.T) {
	t.Parallel()
	zip := "PK\x03\x04\x14\x00\x00\x00\x08\x00 and so on \x00\x00\x00\x00"
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.upload(e.editor, []part{file("a.txt", zip)}).refused(415, knowledge.CodeUnsupportedFormat)
		e.upload(e.editor, []part{file("a.txt", "")}).refused(422, knowledge.CodeEmpty)
		if keys := e.keys(); len(keys) != 0 || len(e.work.ingests) != 0 {
			t.Errorf("kept %v, dispatched %v", keys, e.work.ingests)
		}
	})
	t.Run("among_others", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		body := e.upload(e.editor, []part{file("a.jar", zip), file("b.txt", "text"), file("c.txt", "")}).want(202)
		var states []string
		for _, d := range body["documents"].([]any) {
			d := d.(map[string]any)
			state := fmt.Sprint(d["name"], " ", d["status"])
			if failure, ok := d["error"].(map[string]any); ok {
				state += fmt.Sprint(" ", failure["code"], " ", failure["stage"])
			}
			states = append(states, state)
		}
		want := []string{"a.jar error unsupported_format check", "b.txt pending", "c.txt error empty check"}
		if diff := cmp.Diff(want, states); diff != "" {
			t.Error(diff)
		}
		if len(e.work.ingests) != 1 || len(e.keys()) != 1 {
			t.Errorf("dispatched %d, kept %v", len(e.work.ingests), e.keys())
		}
		failed := body["documents"].([]any)[0].(map[string]any)["runId"].(string)
		if run := e.do("GET", "/runs/"+failed, e.editor, nil).want(200); run["status"] != "failed" {
			t.Errorf("run of a refused file: %v", run)
		}
		refused := own + "/documents/" + body["documents"].([]any)[0].(map[string]any)["id"].(string)
		e.do("GET", refused+"/content", e.editor, nil).refused(404, knowledge.CodeNotFound)
		e.do("POST", refused+"/reingest", e.editor, nil).refused(409, knowledge.CodeConflict)
		e.do("POST", refused+"/retry", e.editor, nil).refused(409, knowledge.CodeConflict)
		if d := e.do("GET", refused, e.editor, nil).want(200); d["version"] != 1.0 || d["error"].(map[string]any)["code"] != "unsupported_format" {
			t.Errorf("the refused document is now %v", d)
		}
	})
}

func TestFilesForWhichThereIsNoRoom(t *testing.T) {
	t.Parallel()
	three := []part{file("a.txt", "one"), file("b.txt", "two"), file("c.txt", "three")}
	documents := func(e *edge) int {
		return len(e.do("GET", own+"/documents", e.editor, nil).want(200)["data"].([]any))
	}
	t.Run("none_is_taken_in", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"documents":2}}`).want(200)
		e.upload(e.editor, three, keyName, "k").refused(409, knowledge.CodeLimitReached)
		if n := documents(e); n != 0 || len(e.keys()) != 0 {
			t.Errorf("%d documents, kept %v", n, e.keys())
		}
		e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"documents":3}}`).want(200)
		e.upload(e.editor, three, keyName, "k").want(202)
		if n := documents(e); n != 3 {
			t.Errorf("%d documents", n)
		}
	})
	t.Run("a_repetition_takes_in_the_rest", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
		answered := make(chan answer)
		go func() { answered <- e.upload(e.editor, three, keyName, "k") }()
		<-e.work.entered // the first is on record, and the second is to be refused
		second := knowledge.DerivedID("run", e.work.ingests[0].RunID, "1")
		if err := e.store.AddRun(t.Context(), store.Run{ID: second, Workspace: "default", Kind: "query"}); err != nil {
			t.Error(err)
		}
		close(e.work.hold)
		(<-answered).refused(409, knowledge.CodeConflict)
		e.forget(second)
		e.work.entered = nil
		e.upload(e.editor, three, keyName, "k").want(202)
		if n := documents(e); n != 3 {
			t.Errorf("%d documents of three files", n)
		}
	})
}

func TestBadForms(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.FileBytes, c.RequestFiles, c.RequestBytes = 100, 3, 10_000 })
	good := file("a.txt", "text")
	for name, c := range map[string]struct {
		parts    []part
		status   int
		code     knowledge.Code
		location string
	}{
		"no file":           {[]part{{"tags", "", "a"}}, 422, knowledge.CodeInvalid, "body.files"},
		"a file as a field": {[]part{{"files", "", "text"}}, 422, knowledge.CodeInvalid, "body.files[0]"},
		"unknown field":     {[]part{good, {"colour", "", "red"}}, 422, knowledge.CodeInvalid, "body.colour"},
		"tags of numbers":   {[]part{good, {"tags", "", "[1]"}}, 422, knowledge.CodeInvalid, "body.tags"},
		"metadata no JSON":  {[]part{good, {"metadata", "", "{"}}, 422, knowledge.CodeInvalid, "body.metadata"},
		"metadata null":     {[]part{good, {"metadata", "", "null"}}, 422, knowledge.CodeInvalid, "body.metadata"},
		"metadata deep":     {[]part{good, {"metadata", "", strings.Repeat(`{"a":`, 90) + "1" + strings.Repeat("}", 90)}}, 422, knowledge.CodeInvalid, "body.metadata"},
		"one id for two":    {[]part{good, good, {"externalId", "", "x"}}, 422, knowledge.CodeInvalid, "body.externalId"},
		"too many":          {[]part{good, good, good, good}, 422, knowledge.CodeInvalid, "body.files"},
		"long name":         {[]part{good, file(strings.Repeat("n", 513), "text")}, 422, knowledge.CodeInvalid, "body.files[1].name"},
		"name not UTF-8":    {[]part{file("\xff.txt", "text")}, 400, knowledge.CodeMalformed, ""},
		"large file":        {[]part{good, file("b.txt", strings.Repeat("a", 101))}, 413, knowledge.CodeTooLarge, ""},
		"large request":     {[]part{good, {"tags", "", strings.Repeat("a", 11_000)}}, 413, knowledge.CodeTooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			locations := e.upload(e.editor, c.parts).refused(c.status, c.code)
			if c.location != "" && (len(locations) == 0 || locations[0] != c.location) {
				t.Errorf("locations %v, want %s", locations, c.location)
			}
		})
	}
	body, contentType := form(t, good, file("b.txt", "more"))
	t.Run("cut off", func(t *testing.T) {
		e.do("POST", filesPath, e.editor, body[:len(body)-20], "Content-Type", contentType).refused(400, knowledge.CodeMalformed)
	})
	t.Run("broken", func(t *testing.T) {
		for _, cut := range []int{len(body) / 2, len(body) - 20, 10} { // in a file, behind one, before them
			for _, err := range []error{errors.New("malformed chunked encoding"), os.ErrDeadlineExceeded} {
				broken := io.MultiReader(bytes.NewReader(body[:cut]), iotest.ErrReader(err))
				e.do("POST", filesPath, e.editor, broken, "Content-Type", contentType).refused(400, knowledge.CodeMalformed)
			}
		}
	})
	t.Run("JSON", func(t *testing.T) {
		e.do("POST", filesPath, e.editor, `{}`).refused(415, knowledge.CodeUnsupportedFormat)
	})
	t.Run("no boundary", func(t *testing.T) {
		e.do("POST", filesPath, e.editor, body, "Content-Type", "multipart/form-data").refused(400, knowledge.CodeMalformed)
	})
	t.Run("unknown project", func(t *testing.T) {
		e.do("POST", "/workspaces/default/projects/nope/files", e.editor, body, "Content-Type", contentType).refused(404, knowledge.CodeNotFound)
	})
	t.Run("length unknown", func(t *testing.T) {
		large, contentType := form(t, file("a.txt", strings.Repeat("a", 20_000)))
		e.do("POST", filesPath, e.editor, io.MultiReader(bytes.NewReader(large)), "Content-Type", contentType).refused(413, knowledge.CodeTooLarge)
	})
	if keys := e.keys(); len(keys) != 0 || len(e.work.ingests) != 0 {
		t.Errorf("kept %v, dispatched %d", keys, len(e.work.ingests))
	}
}

func TestAClientThatLeavesInMidUpload(t *testing.T) {
	t.Parallel()
	e := open(t)
	server := httptest.NewServer(e.handler)
	defer server.Close()
	reader, writer := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+filesPath, reader)
	if err != nil {
		t.Fatal(err)
	}
	body, contentType := form(t, file("a.txt", strings.Repeat("text ", 100_000)))
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+e.editor)
	go func() {
		_, _ = writer.Write(body[:len(body)/2])
		_ = writer.CloseWithError(io.ErrClosedPipe)
	}()
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
		t.Errorf("answered %d", response.StatusCode)
	}
	server.Close() // waits for the handler
	if keys := e.keys(); len(keys) != 0 || len(e.work.ingests) != 0 {
		t.Errorf("kept %v, dispatched %d", keys, len(e.work.ingests))
	}
}

func TestAFullDiskIsNotTheClients(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("this system has no /dev/full, which is a disk without room: %v", err)
	}
	defer full.Close()
	body, contentType := form(t, file("a.txt", "one"))
	_, boundary, _ := strings.Cut(contentType, "boundary=")
	if code := api.Spool(full, bytes.NewReader(body), boundary); code != knowledge.CodeUnavailable {
		t.Errorf("code %s", code)
	}
}

// TestFilesAreStreamed is not parallel: it looks at what the process allocates.
func TestFilesAreStreamed(t *testing.T) {
	const size, head = 32 << 20, "%PDF-1.7\n"
	for _, headers := range [][]string{nil, {"Idempotency-Key", "k"}} {
		e := open(t)
		frame, contentType := form(t, file("large.pdf", head+"HERE"))
		before, after, _ := bytes.Cut(frame, []byte("HERE"))
		body := io.MultiReader(bytes.NewReader(before), io.LimitReader(words{}, int64(size-len(head))), bytes.NewReader(after))
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		got := e.do("POST", filesPath, e.editor, body, append([]string{"Content-Type", contentType}, headers...)...)
		runtime.ReadMemStats(&end)
		if d := got.want(202)["documents"].([]any)[0].(map[string]any); d["bytes"] != float64(size) {
			t.Errorf("bytes %v", d["bytes"])
		}
		if used := end.TotalAlloc - start.TotalAlloc; used > size/4 {
			t.Errorf("%v: %d bytes were allocated for a file of %d", headers, used, size)
		}
	}
}

// words is text without an end.
type words struct{}

func (words) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "words and "[i%10]
	}
	return len(p), nil
}
