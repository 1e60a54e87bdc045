package ingestion_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

func toolCall(name, arguments string) modeltest.Reply {
	return modeltest.Call(model.ToolCall{ID: "1", Name: name, Arguments: arguments})
}

// TestEnrichDocument has a model describe a document of three chunks.
func TestEnrichDocument(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.Upload("a.txt", strings.Repeat("A sentence about tea. ", 100), func(nv *store.NewVersion) {
		nv.Enrichment = knowledge.VersionEnrichment{Enrichment: knowledge.Enrichment{Topics: true, Tags: true, Context: true}, Model: "of-the-project"}
	})
	count := f.Prepare(in)
	enrich := ingestion.EnrichInput{StepInput: in, Last: count, Count: count}
	var sentences []string
	for i := range count {
		sentences = append(sentences, fmt.Sprintf("%q", fmt.Sprintf("Part %d of a text about tea.", i)))
	}
	placed := `{"sentences":[` + strings.Join(sentences, ",") + `]}`

	f.Server.ScriptChat(toolCall("describe_document", `{"summary":"About tea.","topics":["tea"],"tags":["drinks"]}`), modeltest.Fail(http.StatusTooManyRequests))
	_, err := do(f, f.Ingestion.EnrichDocument, enrich)
	f.FailedWith(err, knowledge.CodeProviderFailed, true)
	f.Server.ScriptChat(toolCall("place_passages", "no JSON"))
	_, err = do(f, f.Ingestion.EnrichDocument, enrich)
	f.FailedWith(err, knowledge.CodeProviderFailed, true)
	f.Server.ScriptChat(toolCall("place_passages", placed))
	for range 2 { // the second time nothing is requested
		if _, err = do(f, f.Ingestion.EnrichDocument, enrich); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.Server.Requests()); n != 4 {
		t.Errorf("%d requests: each answer that could be read is asked for once", n)
	}
	for _, r := range f.Server.Requests() {
		if r.Model != "of-the-project" {
			t.Errorf("the request is for model %q", r.Model)
		}
	}
	chunks := f.Chunks(in)
	if got := chunks[len(chunks)-1].Context; got != fmt.Sprintf("Part %d of a text about tea.", len(chunks)-1) {
		t.Errorf("context %q", got)
	}
	d, err := f.Store.Document(t.Context(), activitytest.Manager(), in.Document)
	if err != nil {
		t.Fatal(err)
	}
	if d.Metadata["summary"] != nil || fmt.Sprint(d.Metadata["topics"]) != "[tea]" || len(d.Tags) != 1 || d.Tags[0] != "drinks" {
		t.Errorf("metadata %v, tags %v", d.Metadata, d.Tags)
	}
}
