package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
)

func TestParsed(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.addPDF(e.editor)
	route := own + "/documents/" + id + "/parsed"
	e.do("GET", route, e.editor, nil).refused(404, knowledge.CodeNotFound) // it has not been read
	layout := knowledge.Layout{MediaType: "application/pdf", Blocks: []knowledge.Block{
		{Kind: knowledge.BlockFooter, Text: "page 1"},
		{Kind: knowledge.BlockHeading, Level: 1, Text: "Pump", Lines: []knowledge.Line{{End: 4, Page: 1, Box: knowledge.Box{X1: 1, Y1: 2, X2: 3, Y2: 4}}}},
	}}
	if _, err := e.blobs.PutJSON(t.Context(), parsed.LayoutKey(e.dispatched(id).VersionRef), layout); err != nil {
		t.Fatal(err)
	}
	e.publish(id, knowledge.Chunk{Text: "Pump"})

	var got parsed.Content
	answer := e.do("GET", route, e.reader, nil)
	if err := json.Unmarshal(answer.body, &got); err != nil || answer.status != 200 {
		t.Fatalf("%d %s: %v", answer.status, answer.body, err)
	}
	box := knowledge.Box{X1: 1, Y1: 2, X2: 3, Y2: 4}
	want := []parsed.Block{{Kind: "footer", Text: "page 1"}, {Kind: "heading", Level: 1, Text: "Pump", Page: 1, Box: &box, Lines: layout.Blocks[1].Lines}}
	if diff := cmp.Diff(want, got.Blocks); diff != "" || got.DocumentID != id || got.Version != 1 {
		t.Errorf("%+v (-want +got)\n%s", got, diff)
	}
	markdown := e.do("GET", route+"?format=markdown", e.reader, nil)
	if string(markdown.body) != "<!-- page 1 -->\n\n# Pump\n" || !strings.HasPrefix(markdown.header.Get("Content-Type"), "text/markdown") {
		t.Errorf("%q as %s", markdown.body, markdown.header.Get("Content-Type"))
	}
	e.do("GET", route+"?format=xml", e.reader, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", route, e.stranger, nil).refused(404, knowledge.CodeNotFound)
}

// TestParsedSmallText reads a text anew, because its layout is not stored.
func TestParsedSmallText(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "a.md", "", map[string]any{"content": map[string]any{"text": "The pump runs at 42 bar."}})
	route := own + "/documents/" + id + "/parsed?format=markdown"
	e.do("GET", route, e.editor, nil).refused(404, knowledge.CodeNotFound)
	e.publish(id, knowledge.Chunk{Text: "The pump runs at 42 bar."})
	if got := e.do("GET", route, e.reader, nil); string(got.body) != "The pump runs at 42 bar.\n" {
		t.Errorf("%q", got.body)
	}
}

// TestParsedVersions reads the texts of earlier versions, and one that is not kept.
func TestParsedVersions(t *testing.T) {
	t.Parallel()
	e := open(t)
	same := map[string]any{"externalId": "a.md"}
	add := func(text string) string {
		id := e.add(e.editor, "a.md", text, same)
		e.publish(id, knowledge.Chunk{Text: text})
		return id
	}
	id := add("The pump runs at 42 bar.")
	first := e.dispatched(id)
	add("The pump runs at 43 bar.")
	e.add(e.editor, "a.md", "The pump leaks.", same) // not published
	route := own + "/documents/" + id + "/parsed?format=markdown&version="
	for version, want := range map[string]string{"1": "The pump runs at 42 bar.\n", "2": "The pump runs at 43 bar.\n", "0": "The pump runs at 43 bar.\n"} {
		if got := e.do("GET", route+version, e.reader, nil); string(got.body) != want {
			t.Errorf("version %s is %q", version, got.body)
		}
	}
	e.do("GET", route+"3", e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", route+"4", e.editor, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", route+"-1", e.editor, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", route+"1", e.stranger, nil).refused(404, knowledge.CodeNotFound)
	if err := e.blobs.Delete(t.Context(), first.SourceKey); err != nil {
		t.Fatal(err)
	}
	got := e.do("GET", route+"1", e.reader, nil)
	got.refused(404, knowledge.CodeNotFound)
	if !strings.Contains(string(got.body), "is not kept") {
		t.Errorf("%s", got.body)
	}
}
