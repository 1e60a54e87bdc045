package e2e_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// personalMarkers are values that stand in the documents of the tests of privacy, each with
// its label.
func personalMarkers() map[string]string {
	markers := map[string]string{
		"DE89370400440532013000": "IBAN", "GB29NWBK60161331926819": "IBAN", "AT611904300234573201": "IBAN", "4012888888881881": "credit card", "5105105105105100": "credit card",
		"+4930901821": "phone", "+442079460958": "phone", "203.0.113.195": "IP", "198.51.100.23": "IP", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": "wallet",
		"9434765919": "NHS number", "AB123456C": "National Insurance", "86095742719": "Steuer-ID", "253072B07300470": "NIR", "12345678Z": "DNI", "X2482300W": "NIE",
		"RSSMRA85T10A562S": "codice fiscale", "111222333": "BSN", "44051401359": "PESEL", "536-90-4399": "SSN",
	}
	for n := range 10 {
		markers[fmt.Sprintf("person%d@marker%d.example", n, n)] = "mail"
	}
	return markers
}

// statement returns a text in which all markers stand, in sentences and in a table.
func statement() string {
	var b strings.Builder
	b.WriteString("# Statement of the quillobasalt fund\n\n")
	for i, value := range slices.Sorted(func(yield func(string) bool) {
		for value := range personalMarkers() {
			if !yield(value) {
				return
			}
		}
	}) {
		label := personalMarkers()[value]
		if i%2 == 0 {
			fmt.Fprintf(&b, "The %s of the holder is %s.\n\n", label, value)
		} else {
			fmt.Fprintf(&b, "| No. | %s |\n| --- | --- |\n| %d | %s |\n\n", label, i, value)
		}
	}
	return b.String()
}

// TestRedactedProject adds a document with 30 values of personal data to a project that
// redacts them and keeps no originals, and looks for the values in what the server shows and
// in all of its files. A control in another project shows that the search finds them.
func TestRedactedProject(t *testing.T) {
	t.Parallel()
	s := start(t)
	project := map[string]any{"slug": "redacted", "privacy": map[string]any{"pii": "redact", "keepOriginal": false}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	const name = "statement of person3@marker3.example"
	d := s.ended(t, s.addPrivate(t, "redacted", name, statement()))
	if d.Status != knowledge.StatusPublished || d.Name != "statement of <EMAIL_ADDRESS_1>" {
		t.Fatalf("%s %q: %+v", d.Status, d.Name, d.Error)
	}
	wantNoMarkers(t, s.shownOf(t, d.ID, "redacted"))
	if list := s.bodyOf(t, "/workspaces/default/documents/"+d.ID+"/pii?limit=500"); strings.Count(list, `"entity"`) < len(personalMarkers()) {
		t.Errorf("findings: %s", list)
	}
	if res, body := s.raw(t, "GET", "/workspaces/default/documents/"+d.ID+"/content", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("original: status %d: %.300s", res.StatusCode, body)
	}
	s.refuses(t, "POST", "/workspaces/default/documents/"+d.ID+"/reingest", nil, http.StatusConflict, knowledge.CodeConflict)
	s.stop() // which empties the write-ahead logs
	wantNoMarkers(t, s.inFiles(t))
	s.boot()

	control := s.ended(t, s.addPrivate(t, "default", name, statement()))
	if shown := s.shownOf(t, control.ID, "default"); strings.Count(strings.Join(shown, "\n"), "person3@marker3.example") < 3 {
		t.Errorf("the control does not show its values: %.500s", shown)
	}
	if len(s.inFiles(t)) < len(personalMarkers()) {
		t.Error("the scan does not find the values of the control, so it proves nothing")
	}
}

// TestRejectedDocument adds a document with personal data to a project that refuses it.
func TestRejectedDocument(t *testing.T) {
	t.Parallel()
	s := start(t)
	project := map[string]any{"slug": "clean", "privacy": map[string]any{"pii": "reject", "entities": []string{"IBAN_CODE"}}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	d := s.ended(t, s.addPrivate(t, "clean", "account", "Pay to IBAN DE89 3704 0044 0532 0130 00 please."))
	if d.Status != knowledge.StatusError || d.Error == nil || d.Error.Code != knowledge.CodePIIFound || d.Error.Stage != knowledge.StageRedact || strings.Contains(d.Error.Message, "3704") {
		t.Errorf("%s: %+v", d.Status, d.Error)
	}
	other := s.ended(t, s.addPrivate(t, "clean", "mail", "Write to ann@example.org please."))
	if other.Status != knowledge.StatusPublished {
		t.Errorf("a document without an account number: %s, %+v", other.Status, other.Error)
	}
}

// addPrivate adds a document to a project, with a value in a tag and in the metadata.
func (s *server) addPrivate(t *testing.T, project, name, text string) client.Document {
	t.Helper()
	var d client.Document
	body := map[string]any{
		"name": name, "content": map[string]any{"text": text}, "tags": []string{"of person4@marker4.example"}, "metadata": map[string]any{"author": "person5@marker5.example"},
	}
	if project == "clean" {
		delete(body, "tags")
		delete(body, "metadata")
	}
	if status := s.call(t, "POST", webhooks+"/document?projectId="+project, body, &d); status != http.StatusAccepted {
		t.Fatalf("add %s: status %d", name, status)
	}
	return d
}

// shownOf returns what the routes of a document and an answer from it show.
func (s *server) shownOf(t *testing.T, document, project string) []string {
	t.Helper()
	own := "/workspaces/default/documents/" + document
	shown := []string{}
	for _, path := range []string{own, own + "/chunks?limit=500", own + "/parsed", own + "/parsed?format=markdown", own + "/versions", webhooks + "/documents?projectId=" + project, "/workspaces/default/runs"} {
		shown = append(shown, s.bodyOf(t, path))
	}
	for _, path := range []string{"/retrieve-context", "/query"} {
		var answer map[string]any
		question := map[string]any{"text": "What is the IBAN and the mail of the holder of the quillobasalt fund?", "projectId": project}
		if status := s.call(t, "POST", webhooks+path, question, &answer); status != http.StatusOK {
			t.Fatalf("%s: status %d", path, status)
		}
		shown = append(shown, fmt.Sprint(answer))
	}
	return shown
}

// inFiles returns the markers that stand in the files of the server, each with its file.
func (s *server) inFiles(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(s.folder, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && e.IsDir() {
			return nil // it was removed meanwhile, or has no bytes
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		data = bytes.ToLower(data)
		for value := range personalMarkers() {
			if bytes.Contains(data, []byte(strings.ToLower(value))) {
				found = append(found, value+" in "+path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wantNoMarkers(t *testing.T, shown []string) {
	t.Helper()
	for value := range personalMarkers() {
		for _, text := range shown {
			if strings.Contains(text, value) {
				t.Errorf("%q is shown in %.300s", value, text)
			}
		}
	}
}
