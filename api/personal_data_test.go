package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// redact sets the privacy of a project, and adds a PDF of two pages to it of which the first
// shows an address.
func (e *edge) redact(settings string) (id string) {
	e.do("POST", hooks+"/projects", e.admin, `{"id":"default","privacy":`+settings+`}`).want(200)
	id = e.addPDF(e.editor)
	report := privacy.Report{Pages: []int{1}, Findings: []privacy.Located{
		{Entity: "EMAIL_ADDRESS", Page: 1, Start: 3, End: 20, Score: .95, Recogniser: "pattern"}, {Entity: "IBAN_CODE", Start: 30, End: 43, Score: 1, Recogniser: "checksum"},
	}}
	layout := knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "To <EMAIL_ADDRESS_1>"}}}
	for key, stored := range map[string]any{parsed.PrivacyKey(e.dispatched(id).VersionRef): report, parsed.SeenKey(e.dispatched(id).VersionRef): layout} {
		if _, err := e.blobs.PutJSON(e.t.Context(), key, stored); err != nil {
			e.t.Fatal(err)
		}
	}
	e.publish(id, knowledge.Chunk{Text: "To <EMAIL_ADDRESS_1>"})
	return id
}

func TestPersonalDataIsListedWithoutValues(t *testing.T) {
	t.Parallel()
	e := open(t)
	route := own + "/documents/" + e.redact(`{"pii":"detect"}`) + "/pii"
	first := e.do("GET", route+"?limit=1", e.reader, nil).want(200)
	want := []any{map[string]any{"entity": "EMAIL_ADDRESS", "page_number": 1.0, "start": 3.0, "end": 20.0, "score": .95, "recogniser": "pattern"}}
	if diff := cmp.Diff(want, first["data"]); diff != "" {
		t.Errorf("first page:\n%s", diff)
	}
	second := e.do("GET", route+"?limit=1&cursor="+first["next_cursor"].(string), e.reader, nil).want(200)
	if list := second["data"].([]any); len(list) != 1 || list[0].(map[string]any)["page_number"] != nil || second["next_cursor"] != nil {
		t.Errorf("second page: %v", second)
	}
	e.do("GET", route+"?cursor=x", e.reader, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", route, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	plain := e.add(e.editor, "plain.md", "text")
	e.publish(plain, knowledge.Chunk{Text: "text"})
	if got := e.do("GET", own+"/documents/"+plain+"/pii", e.reader, nil).want(200); len(got["data"].([]any)) != 0 {
		t.Errorf("a document without a report: %v", got)
	}
}

func TestOriginalsOfRedactedDocuments(t *testing.T) {
	t.Parallel()
	t.Run("are for those who may write", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		document := own + "/documents/" + e.redact(`{"pii":"redact"}`)
		e.do("GET", document+"/content", e.reader, nil).refused(403, knowledge.CodeForbidden)
		if got := e.do("GET", document+"/content", e.editor, nil); got.status != 200 {
			t.Errorf("the editor gets %d %s", got.status, got.body)
		}
		e.do("GET", document+"/pages/1.png", e.editor, nil).refused(403, knowledge.CodeForbidden)
		if got := e.do("GET", document+"/pages/2.png", e.reader, nil); got.status != 200 {
			t.Errorf("a page without personal data: %d %s", got.status, got.body)
		}
		if got := e.do("GET", document+"/parsed?format=markdown", e.reader, nil); string(got.body) != "To <EMAIL_ADDRESS_1>\n" {
			t.Errorf("parsed: %s", got.body)
		}
	})
	t.Run("are gone where the project does not keep them", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		document := own + "/documents/" + e.redact(`{"pii":"redact","keepOriginal":false}`)
		e.do("GET", document+"/content", e.editor, nil).refused(404, knowledge.CodeNotFound)
		e.do("POST", document+"/reingest", e.editor, nil).refused(409, knowledge.CodeConflict)
	})
}

func TestPrivacyOfAProjectIsChecked(t *testing.T) {
	t.Parallel()
	e := open(t)
	for body, location := range map[string]string{
		`{"id":"default","privacy":{"pii":"sometimes"}}`:             "body.privacy.pii",
		`{"id":"default","privacy":{"entities":["IBAN_CODE","X"]}}`:  "body.privacy.entities[1]",
		`{"id":"default","privacy":{"pii":"redact","keepIt":false}}`: "body.privacy.keepIt",
	} {
		if got := e.do("POST", hooks+"/projects", e.admin, body).refused(422, knowledge.CodeInvalid); !strings.Contains(strings.Join(got, " "), location) {
			t.Errorf("%s is refused at %v", body, got)
		}
	}
	set := e.do("POST", hooks+"/projects", e.admin, `{"id":"default","privacy":{"pii":"reject","entities":["IBAN_CODE"]}}`).want(200)
	if diff := cmp.Diff(map[string]any{"pii": "reject", "entities": []any{"IBAN_CODE"}}, set["privacy"]); diff != "" {
		t.Errorf("privacy:\n%s", diff)
	}
}

func TestAttributesAreRedactedAtTheUpload(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("POST", hooks+"/projects", e.admin, `{"id":"default","privacy":{"pii":"redact"}}`).want(200)
	id := e.add(e.editor, "letter of ann@example.org", "text", map[string]any{"tags": []string{"bob@example.org"}, "metadata": map[string]any{"author": "ann@example.org"}})
	v := e.dispatched(id)
	if v.Name != "letter of <EMAIL_ADDRESS_1>" || !cmp.Equal(v.Tags, []string{"<EMAIL_ADDRESS_2>"}) || v.Metadata["author"] != "<EMAIL_ADDRESS_1>" {
		t.Errorf("%q %q %v", v.Name, v.Tags, v.Metadata)
	}
}
