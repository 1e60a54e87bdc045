package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// problem is the body of an error.
type problem struct {
	Type   string          `json:"type"`
	Title  string          `json:"title"`
	Status int             `json:"status"`
	Detail string          `json:"detail"`
	Code   knowledge.Code  `json:"code"`
	Errors []problemDetail `json:"errors"`
}

type problemDetail struct{ Location, Message string }

// raw sends a body as it is and returns the response and its whole body.
func (s *server) raw(t *testing.T, method, path, mediaType string, body []byte, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.ends.API+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	return res, answer
}

// wantProblem checks that a response is an error in its documented form and shows
// no internals.
func wantProblem(t *testing.T, res *http.Response, body []byte, status int, code knowledge.Code) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(body, &p); err != nil {
		t.Errorf("status %d with %.200q, want %d %s", res.StatusCode, body, status, code)
		return p
	}
	if res.StatusCode != status || p.Status != status || p.Code != code {
		t.Errorf("status %d, %d %s (%s), want %d %s", res.StatusCode, p.Status, p.Code, p.Detail, status, code)
	}
	if p.Title == "" || p.Detail == "" || p.Type == "" || p.Errors == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
		t.Errorf("the error %s (%s) is not whole", body, res.Header.Get("Content-Type"))
	}
	for _, inside := range []string{"goroutine", ".go:", "SELECT", "sqlite", "no such table", "no such column", "syntax error", "fts5:", "/tmp/", "panic"} {
		if strings.Contains(string(body), inside) {
			t.Errorf("the error shows internals: %s", body)
		}
	}
	return p
}

// refuses sends JSON and checks the error of the response.
func (s *server) refuses(t *testing.T, method, path string, body any, status int, code knowledge.Code, header ...string) problem {
	t.Helper()
	var encoded []byte
	switch b := body.(type) {
	case nil:
	case string:
		encoded = []byte(b)
	default:
		var err error
		if encoded, err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
	}
	mediaType := "application/json"
	if encoded == nil {
		mediaType = ""
	}
	res, answer := s.raw(t, method, path, mediaType, encoded, header...)
	return wantProblem(t, res, answer, status, code)
}

// file is one part of an upload. form sends its name unchanged.
type file struct {
	name    string
	content []byte
}

// form encodes files and fields as multipart/form-data.
func form(t *testing.T, fields map[string]string, files ...file) (mediaType string, body []byte) {
	t.Helper()
	var buffer bytes.Buffer
	w := multipart.NewWriter(&buffer)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "%0D", "\n", "%0A")
	for _, f := range files {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="files"; filename="%s"`, escaped.Replace(f.name))}})
		if err == nil {
			_, err = part.Write(f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), buffer.Bytes()
}

const filesRoute = "/workspaces/default/projects/default/files"

// sendFiles uploads files in one request, which the server must accept.
func (s *server) sendFiles(t *testing.T, fields map[string]string, files ...file) []client.Document {
	t.Helper()
	mediaType, body := form(t, fields, files...)
	res, answer := s.raw(t, "POST", filesRoute, mediaType, body)
	var taken struct{ Documents []client.Document }
	if err := json.Unmarshal(answer, &taken); err != nil || res.StatusCode != http.StatusAccepted || len(taken.Documents) != len(files) {
		t.Fatalf("upload of %d files: status %d, %.300s", len(files), res.StatusCode, answer)
	}
	return taken.Documents
}

// refusesFile uploads one file and checks the error of the response.
func (s *server) refusesFile(t *testing.T, f file, status int, code knowledge.Code) problem {
	t.Helper()
	mediaType, body := form(t, nil, f)
	res, answer := s.raw(t, "POST", filesRoute, mediaType, body)
	return wantProblem(t, res, answer, status, code)
}

// ended waits until the ingestion of an uploaded document has ended, and returns
// the document.
func (s *server) ended(t *testing.T, d client.Document) client.Document {
	t.Helper()
	if d.RunID != "" {
		if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s.document(t, d.ID)
}

// wantFailed waits until the ingestion of a document has ended, and checks its
// error.
func (s *server) wantFailed(t *testing.T, d client.Document, stage knowledge.Stage, codes ...knowledge.Code) client.Document {
	t.Helper()
	end := s.ended(t, d)
	if end.Status != knowledge.StatusError || end.Error == nil {
		t.Errorf("%s is %s, want an error", d.Name, end.Status)
		return end
	}
	if end.Error.Stage != stage || end.Error.Message == "" || !slices.Contains(codes, end.Error.Code) {
		t.Errorf("%s failed with %+v, want %v at %s", d.Name, *end.Error, codes, stage)
	}
	return end
}

// sharedFiles returns the folder of real files. Only the project's own machines
// have one.
func sharedFiles(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "shared", "data", "files")
	if _, err := os.Stat(folder); err != nil {
		const what = "this test reads real files of many formats; put them at ../shared/data/files beside the repository"
		if os.Getenv("CI") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	return folder
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%.300s: %v", data, err)
	}
}
