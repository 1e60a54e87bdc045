package api_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// askForm sends a question as a form.
func (e *edge) askForm(key string, parts []part, headers ...string) answer {
	e.t.Helper()
	body, contentType := form(e.t, parts...)
	return e.do("POST", hooks+"/query", key, body, append([]string{"Content-Type", contentType}, headers...)...)
}

// TestQuestionAsAForm: the files of the form become documents of the conversation, behind
// the attachments of its fields, however large and wherever they stand.
func TestQuestionAsAForm(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.TempDir = folder })
	large := strings.Repeat("The keeper of the lighthouse is called Ondine.\n", 50_000)
	parts := []part{
		file("keepers.txt", large), {"text", "", "What does the file say?"}, {"projectId", "", "default"}, {"sse", "", "true"}, {"tags", "", "a"}, {"tags", "", "b"},
		file("clip.exe", "MZ\x90\x00"), {"attachments", "", `[{"name":"a.txt","content":{"text":"x"}}]`},
		{"projectConfigOverride", "", `{"ai":{"retrieval":{"numberOfChunks":7}}}`},
	}
	if got := e.askForm(e.editor, parts, "Idempotency-Key", "once"); got.status != http.StatusOK {
		t.Fatalf("status %d: %s\n%s", got.status, got.body, e.log)
	}
	request := e.lastAsked()
	if len(request.Attachments) != 3 || request.Question != "What does the file say?" || request.Config.AI.Retrieval.NumberOfChunks != 7 {
		t.Fatalf("request %+v\n%s", request, e.log)
	}
	for i, want := range []knowledge.Document{{Name: "a.txt", Bytes: 1, Status: knowledge.StatusPending}, {Name: "keepers.txt", Bytes: int64(len(large)), Status: knowledge.StatusPending}, {Name: "clip.exe", Status: knowledge.StatusError}} {
		d, err := e.store.Document(t.Context(), request.Principal.Reader(), request.Attachments[i])
		if err != nil || d.Name != want.Name || d.Bytes != want.Bytes || d.Status != want.Status || d.ConversationID != request.ConversationID {
			t.Errorf("document %d: %+v, %v", i, d, err)
		}
	}
	before := len(e.keys())
	if got := e.askForm(e.editor, parts, "Idempotency-Key", "once"); got.header.Get("Idempotent-Replayed") != "true" || len(e.keys()) != before {
		t.Errorf("repeated: %v, %d blobs after %d", got.header, len(e.keys()), before)
	}
	parts[0].value = "another file"
	e.askForm(e.editor, parts, "Idempotency-Key", "once").refused(409, knowledge.CodeConflict)
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 0 {
		t.Errorf("left on disk: %v, %v", left, err)
	}
}

// TestWrongFormsOfAQuestion are refused before anything is stored.
func TestWrongFormsOfAQuestion(t *testing.T) {
	t.Parallel()
	e := open(t, func(c *api.Config, _ *api.Deps) { c.FileBytes = 1000 })
	text, a := part{"text", "", "What does it say?"}, file("a.txt", "one")
	for name, c := range map[string]struct {
		parts []part
		key   string
		want  int
		code  knowledge.Code
		at    string
	}{
		"no text":                  {[]part{a}, e.editor, 422, knowledge.CodeInvalid, "body"},
		"an unknown field":         {[]part{text, {"question", "", "x"}}, e.editor, 422, knowledge.CodeInvalid, "body.question"},
		"a field twice":            {[]part{text, text}, e.editor, 422, knowledge.CodeInvalid, "body.text"},
		"a flag that is none":      {[]part{text, {"sse", "", `"yes"`}}, e.editor, 422, knowledge.CodeInvalid, "body.sse"},
		"filters that are no JSON": {[]part{text, {"filters", "", `[`}}, e.editor, 422, knowledge.CodeInvalid, "body.filters"},
		"a file without a name":    {[]part{text, {"files", "", "x"}}, e.editor, 422, knowledge.CodeInvalid, "body.files[0]"},
		"too many files":           {append([]part{text}, repeat(a, 11)...), e.editor, 422, knowledge.CodeInvalid, "body.files"},
		"a file that is too large": {[]part{text, file("b.txt", strings.Repeat("x", 1001))}, e.editor, 413, knowledge.CodeTooLarge, ""},
		"one unsupported file":     {[]part{text, {"projectId", "", "default"}, file("clip.exe", "MZ\x90\x00")}, e.editor, 415, knowledge.CodeUnsupportedFormat, ""},
		"a key that may not write": {[]part{text, a}, e.reader, 403, knowledge.CodeForbidden, ""},
	} {
		t.Run(name, func(t *testing.T) {
			locations := e.askForm(c.key, c.parts).refused(c.want, c.code)
			if c.at != "" && (len(locations) == 0 || locations[0] != c.at) {
				t.Errorf("names %v, want %s", locations, c.at)
			}
			if left := e.keys(); len(left) > 0 {
				t.Errorf("blobs %v", left)
			}
		})
	}
	e.do("POST", hooks+"/query?delta=maybe", e.editor, []byte("--x--\r\n"), "Content-Type", "multipart/form-data; boundary=x").refused(422, knowledge.CodeInvalid)
	if diff := cmp.Diff(0, len(e.work.answers)); diff != "" {
		t.Error(diff)
	}
}

// repeat returns a part n times.
func repeat(p part, n int) (parts []part) {
	for range n {
		parts = append(parts, p)
	}
	return parts
}
