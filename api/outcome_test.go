package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

func TestPlacesOfSources(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes.", Used: []int{1}})
	text := e.add(e.editor, "handbook.md", "# One", map[string]any{"externalId": "hr/handbook"})
	e.publish(text, knowledge.Chunk{Text: "Ask early.", HeadingPath: []string{"Leave", "Parental leave"}, Origin: knowledge.Origin{First: 41, Last: 48}})
	pages := e.add(e.editor, "a.md", "# Two")
	chunk := twoPages()
	chunk.Time, chunk.Place = knowledge.Seconds{Start: 1.5, End: 3}, "Sales!A2:D41"
	e.publish(pages, chunk)
	a.record.Sources = []record.Source{
		{Rank: 1, ChunkID: knowledge.ChunkID(text, 1, 0), DocumentID: text}, {Rank: 2, ChunkID: knowledge.ChunkID(pages, 1, 0), DocumentID: pages}, {Rank: 3, ChunkID: "gone", DocumentID: "gone"},
	}
	answer := e.do("POST", hooks+"/query", e.reader, `{"text":"a"}`).want(200)
	for i, want := range []map[string]any{
		{"heading": []any{"Leave", "Parental leave"}, "lines": []any{41.0, 48.0}, "pageNumber": nil, "externalId": "hr/handbook", "startTime": nil, "place": nil},
		{"heading": []any{}, "lines": nil, "pageNumber": 3.0, "externalId": "", "startTime": 1.5, "endTime": 3.0, "place": "Sales!A2:D41"},
		{"heading": []any{}, "lines": nil, "pageNumber": nil, "externalId": ""},
	} {
		got := map[string]any{}
		source := answer["sources"].([]any)[i].(map[string]any)
		for name := range want {
			got[name] = source[name]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("source %d: %s", i+1, diff)
		}
		if _, there := source["lines"]; there != (i == 0) {
			t.Errorf("source %d: lines are there: %t", i+1, there)
		}
	}
}
