package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func TestUpload(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)

	t.Run("of several files goes on although some are bad", func(t *testing.T) { ingestsGoodFilesBesideBadOnes(t, s) })

	t.Run("shows a name without its folders and control characters", func(t *testing.T) { showsPlainNames(t, s) })

	t.Run("with a name that is too long is refused", func(t *testing.T) {
		for _, name := range []string{strings.Repeat("x", 10_000), strings.Repeat("x", 513)} {
			p := s.refuses(t, "POST", webhooks+"/document?projectId=default", map[string]any{"name": name, "content": map[string]string{"text": "A text."}},
				http.StatusUnprocessableEntity, knowledge.CodeInvalid)
			if len(p.Errors) != 1 || p.Errors[0].Location != "body.name" {
				t.Errorf("the name %.20q is refused as %+v", name, p.Errors)
			}
			s.refusesFile(t, file{name, []byte("A text.")}, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
		}
	})

	t.Run("with a name of which nothing is left is untitled", func(t *testing.T) { namesTheNameless(t, s) })

	t.Run("with content in base64 is what its bytes are", func(t *testing.T) {
		send := func(name string, content []byte, mediaType string) map[string]any {
			return map[string]any{"name": name, "content": map[string]string{"base64": base64.StdEncoding.EncodeToString(content), "mediaType": mediaType}}
		}
		var d client.Document
		status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", send("a note", textPDF([][]string{{"Page one."}, {"Page two."}}), "text/plain"), &d)
		if status != http.StatusOK || d.Status != knowledge.StatusPublished || d.MediaType != "application/pdf" || d.PageCount != 2 {
			t.Errorf("status %d, %s, %s with %d pages, %+v", status, d.Status, d.MediaType, d.PageCount, d.Error)
		}
		s.refuses(t, "POST", webhooks+"/document?projectId=default", send("a.txt", []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00zip"), "text/plain"),
			http.StatusUnsupportedMediaType, knowledge.CodeUnsupportedFormat)
		s.refuses(t, "POST", webhooks+"/document?projectId=default", `{"name":"a","content":{"base64":"***"}}`, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
		for _, content := range []string{`{}`, `{"text":"a","base64":"YQ=="}`, `{"url":"file:///etc/passwd"}`, `{"url":"http://u:p@example.org/"}`, `{"url":"notanaddress"}`} {
			s.refuses(t, "POST", webhooks+"/document?projectId=default", `{"name":"a","content":`+content+`}`, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
		}
	})

	t.Run("of an address inside this network ends as an error that shows nothing", func(t *testing.T) {
		for _, address := range []string{s.ends.API + "/metrics", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://0x7f000001/", "http://localhost:1/"} {
			var a accepted
			if status := s.call(t, "POST", webhooks+"/document?projectId=default", map[string]any{"content": map[string]string{"url": address}}, &a); status != http.StatusAccepted {
				t.Errorf("%s returned %d", address, status)
				continue
			}
			end := s.ended(t, client.Document{ID: a.ID, RunID: a.RunID})
			if end.Status != knowledge.StatusError || end.Error == nil || end.Error.Stage != knowledge.StageFetch || end.Error.Code == knowledge.CodeInternal {
				t.Errorf("%s ended as %s, %+v", address, end.Status, end.Error)
			}
		}
	})

	t.Run("with the same Idempotency-Key is made once", func(t *testing.T) {
		body := `{"name":"once","content":{"text":"It is made once."}}`
		path := webhooks + "/document?projectId=default"
		var ids []string
		for range 3 {
			res, answer := s.raw(t, "POST", path, "application/json", []byte(body), "Idempotency-Key", "upload-once")
			var a accepted
			if decode(t, answer, &a); res.StatusCode != http.StatusAccepted {
				t.Fatalf("status %d, %s", res.StatusCode, answer)
			}
			ids = append(ids, a.ID+" "+a.RunID)
		}
		if ids[0] != ids[1] || ids[1] != ids[2] {
			t.Errorf("it was made as %v", ids)
		}
		s.refuses(t, "POST", path, `{"name":"twice","content":{"text":"It is another."}}`, http.StatusConflict, knowledge.CodeConflict, "Idempotency-Key", "upload-once")
	})

	t.Run("whose form is broken is refused and leaves nothing", func(t *testing.T) { refusesBrokenForms(t, s) })

	t.Run("above the project's own limits is refused", func(t *testing.T) {
		var project struct{ ID, APIKey string }
		created, err := json.Marshal(map[string]any{"name": "small", "limits": map[string]any{"documents": 1, "fileBytes": 1000}})
		if err != nil {
			t.Fatal(err)
		}
		res, answer := s.raw(t, "POST", webhooks+"/projects", "application/json", created)
		if decode(t, answer, &project); res.StatusCode >= 300 || project.ID == "" {
			t.Fatalf("status %d, %s", res.StatusCode, answer)
		}
		path := webhooks + "/document?projectId=" + project.ID
		s.refuses(t, "POST", path, map[string]any{"name": "big", "content": map[string]string{"text": strings.Repeat("big ", 300)}},
			http.StatusRequestEntityTooLarge, knowledge.CodeTooLarge)
		if status := s.call(t, "POST", path+"&wait=true", map[string]any{"name": "one", "content": map[string]string{"text": "The only one."}}, nil); status != http.StatusOK {
			t.Errorf("the first document returned %d", status)
		}
		s.refuses(t, "POST", path, map[string]any{"name": "two", "content": map[string]string{"text": "One too many."}},
			http.StatusConflict, knowledge.CodeLimitReached)
	})
}

func ingestsGoodFilesBesideBadOnes(t *testing.T, s *server) {
	documents := s.sendFiles(t, map[string]string{"tags": `["harbour", "notes"]`, "metadata": `{"year": 2026}`},
		file{"ropes.md", []byte("# Ropes\n\nRopes are dried before they are stored.")},
		file{"photo.txt", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")},
		file{"empty.txt", nil},
		file{"knots.pdf", textPDF([][]string{{"Knots are tied by hand."}})},
		file{"damaged.pdf", []byte("%PDF-1.4\nnothing follows")},
	)
	for i, want := range []struct {
		status knowledge.Status
		code   knowledge.Code
		stage  knowledge.Stage
	}{
		{status: knowledge.StatusPublished},
		{knowledge.StatusError, knowledge.CodeUnsupportedFormat, knowledge.StageCheck},
		{knowledge.StatusError, knowledge.CodeEmpty, knowledge.StageCheck},
		{status: knowledge.StatusPublished},
		{knowledge.StatusError, knowledge.CodeCorrupt, knowledge.StageExtract},
	} {
		end := s.ended(t, documents[i])
		switch {
		case end.Status != want.status:
			t.Errorf("%s is %s, %+v; want %s", end.Name, end.Status, end.Error, want.status)
		case want.code != "" && (end.Error == nil || end.Error.Code != want.code || end.Error.Stage != want.stage || end.Error.Retryable):
			t.Errorf("%s has the error %+v, want %s at %s", end.Name, end.Error, want.code, want.stage)
		case want.code == "" && (strings.Join(end.Tags, " ") != "harbour notes" || end.Metadata["year"] != 2026.0):
			t.Errorf("%s has the tags %v and the metadata %v", end.Name, end.Tags, end.Metadata)
		}
	}
}

func showsPlainNames(t *testing.T, s *server) {
	for _, name := range [][2]string{
		{"../../etc/passwd", "../../etc/passwd"}, // a title, which names no file
		{"TCP/IP guide", "TCP/IP guide"},
		{"On the use of A and/or B/", "On the use of A and/or B/"},
		{"two\r\nlines\x00.txt", "twolines.txt"},
		{"turned\u202etxt.exe.md", "turnedtxt.exe.md"},
		{"  spaces around.txt ", "spaces around.txt"},
		{strings.Repeat("n", 508) + ".txt", strings.Repeat("n", 508) + ".txt"},
		{"日本語の文書.txt", "日本語の文書.txt"},
		{`quote"and'less<than>.txt`, `quote"and'less<than>.txt`},
		{"%2e%2e%2fencoded.txt", "%2e%2e%2fencoded.txt"},
	} {
		sent, shown := name[0], name[1]
		var a accepted
		body := map[string]any{"name": sent, "content": map[string]string{"text": "A short text."}}
		if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, &a); status != http.StatusAccepted {
			t.Errorf("the name %.40q returned %d", sent, status)
			continue
		}
		if got := s.document(t, a.ID).Name; got != shown {
			t.Errorf("the name %.40q is shown as %.40q, want %.40q", sent, got, shown)
		}
	}
	if got := s.sendFiles(t, nil, file{`..\..\up/and/down.txt`, []byte("A text.")})[0].Name; got != "down.txt" {
		t.Errorf("the name of a file is shown as %q", got)
	}
}

func refusesBrokenForms(t *testing.T, s *server) {
	count := func() int {
		list, err := s.Documents(t.Context(), client.DocumentQuery{Project: "default", Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		return list.Total
	}
	before := count()
	mediaType, body := form(t, nil, file{"whole.txt", []byte(strings.Repeat("A whole file. ", 1000))})
	for name, broken := range map[string]struct {
		mediaType string
		body      []byte
		status    int
		code      knowledge.Code
	}{
		"cut off":       {mediaType, body[:len(body)/2], http.StatusBadRequest, knowledge.CodeMalformed},
		"no boundary":   {"multipart/form-data", body, http.StatusBadRequest, knowledge.CodeMalformed},
		"another type":  {"application/json", []byte(`{}`), http.StatusUnsupportedMediaType, knowledge.CodeUnsupportedFormat},
		"nothing in it": {"multipart/form-data; boundary=x", []byte("--x--\r\n"), http.StatusUnprocessableEntity, knowledge.CodeInvalid},
	} {
		res, answer := s.raw(t, "POST", filesRoute, broken.mediaType, broken.body)
		wantProblem(t, res, answer, broken.status, broken.code)
		if t.Failed() {
			t.Logf("that was %s", name)
		}
	}
	for field, value := range map[string]string{"metadata": "[1]", "tags": `[1]`, "colour": "red", "externalId": strings.Repeat("e", 5000)} {
		mediaType, body := form(t, map[string]string{field: value}, file{"whole.txt", []byte("A whole file.")})
		res, answer := s.raw(t, "POST", filesRoute, mediaType, body)
		wantProblem(t, res, answer, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
	}
	if after := count(); after != before {
		t.Errorf("there are %d documents, and before there were %d", after, before)
	}
}

func namesTheNameless(t *testing.T, s *server) {
	t.Helper()
	for title, want := range map[string]string{"\r\n": "untitled", "\u202e": "untitled", "..": "..", "/": "/"} { // a title is not the path of a file
		var a accepted
		body := map[string]any{"name": title, "content": map[string]string{"text": "A text."}}
		if status := s.call(t, "POST", webhooks+"/document?projectId=default", body, &a); status != http.StatusAccepted || a.Name != want {
			t.Errorf("the title %q is %q, status %d", title, a.Name, status)
		}
	}
	for _, name := range []string{"..", "\u202e"} {
		if d := s.sendFile(t, name, []byte("A text.")); d.Name != "untitled" {
			t.Errorf("the file %q is named %q", name, d.Name)
		}
	}
}
