package parsed_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
)

var (
	version = knowledge.VersionRef{Workspace: "acme", Project: "p", Document: "d", Version: 2}
	layout  = knowledge.Layout{MediaType: "application/pdf", Title: "Pump P17", Blocks: []knowledge.Block{
		{Kind: knowledge.BlockHeader, Text: "Northern Pumps"},
		{Kind: knowledge.BlockTitle, Text: "Pump\nP17", Lines: []knowledge.Line{
			{Start: 0, End: 4, Page: 1, Box: knowledge.Box{X1: 10, Y1: 20, X2: 50, Y2: 30}},
			{Start: 5, End: 8, Page: 1, Box: knowledge.Box{X1: 10, Y1: 32, X2: 40, Y2: 42}},
		}},
		{Kind: knowledge.BlockHeading, Level: 2, Text: "Parts"},
		{Kind: knowledge.BlockList, Text: "seal\nspring"},
		{Kind: knowledge.BlockList, Text: "1. close the valve\n2. wait"},
		{Kind: knowledge.BlockTable, Header: "| Part | Price |\n| --- | --- |", Text: "| Part | Price |\n| --- | --- |\n| Seal | 4 EUR |"},
		{Kind: knowledge.BlockTable, Header: "| Part | Price |\n| --- | --- |", Text: "| Spring | 2 EUR |"},
		{Kind: knowledge.BlockCode, Text: "```\nreset"},
		{Kind: knowledge.BlockParagraph, Text: "Runs at 42 bar.", Lines: []knowledge.Line{{End: 15, Page: 2, Box: knowledge.Box{X1: 1, Y1: 2, X2: 3, Y2: 4}}}},
	}}
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	want := "<!-- page 1 -->\n\n# Pump P17\n\n## Parts\n\n- seal\n- spring\n\n1. close the valve\n2. wait\n\n" +
		"| Part | Price |\n| --- | --- |\n| Seal | 4 EUR |\n| Spring | 2 EUR |\n\n````\n```\nreset\n````\n\n<!-- page 2 -->\n\nRuns at 42 bar.\n"
	if diff := cmp.Diff(want, parsed.Markdown(layout)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := parsed.Markdown(knowledge.Layout{}); got != "" {
		t.Errorf("an empty layout is %q", got)
	}
}

func TestNewContent(t *testing.T) {
	t.Parallel()
	d := parsed.NewContent(version, layout)
	if d.DocumentID != "d" || d.Version != 2 || len(d.Blocks) != len(layout.Blocks) {
		t.Fatalf("%+v", d)
	}
	title, err := json.Marshal(d.Blocks[1])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"title","text":"Pump\nP17","page":1,"box":[10,20,50,42],"lines":[{"start":0,"end":4,"page_number":1,"bbox":[10,20,50,30]},{"start":5,"end":8,"page_number":1,"bbox":[10,32,40,42]}]}`
	if diff := cmp.Diff(want, string(title)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

type blobs map[string]knowledge.Layout

func (b blobs) GetJSON(_ context.Context, key string, v any) error {
	layout, ok := b[key]
	if !ok {
		return blob.ErrNotFound
	}
	*v.(*knowledge.Layout) = layout
	return nil
}

func TestStored(t *testing.T) {
	t.Parallel()
	if _, err := parsed.Stored(t.Context(), blobs{}, version, false); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("nothing is stored: %v", err)
	}
	stored := blobs{parsed.LayoutKey(version): {Title: "as read"}}
	if got, err := parsed.Stored(t.Context(), stored, version, false); err != nil || got.Title != "as read" {
		t.Errorf("%+v, %v", got, err)
	}
	stored[parsed.SeenKey(version)] = knowledge.Layout{Title: "as seen"}
	if got, err := parsed.Stored(t.Context(), stored, version, false); err != nil || got.Title != "as seen" {
		t.Errorf("%+v, %v", got, err)
	}
}
