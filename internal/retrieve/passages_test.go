package retrieve_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// families is a PassageReader that has the siblings of chunks.
type families struct {
	retrieve.PassageReader
	of    map[string][]knowledge.Chunk
	err   error
	asked []string
}

func (f *families) Siblings(_ context.Context, _ knowledge.Principal, ids []string) (map[string][]knowledge.Chunk, error) {
	f.asked = ids
	return f.of, f.err
}

// child returns a chunk of a parent at [0, 20).
func child(id string, ordinal, start, end int, text string) knowledge.Chunk {
	return knowledge.Chunk{ID: id, DocumentID: "d", Version: 1, Ordinal: ordinal, Text: text, Span: knowledge.Span{Start: start, End: end}, Parent: knowledge.Span{End: 20}}
}

func TestPassages(t *testing.T) {
	t.Parallel()
	first, second, third := child("a", 0, 0, 8, "a | 1\nb "), child("b", 1, 8, 13, "| 2\nc"), child("c", 2, 14, 20, "| 3\nd.")
	first.Header = "Name | Days"
	for name, test := range map[string]struct {
		family []knowledge.Chunk
		want   string
	}{
		"a child stands there with its parent":               {[]knowledge.Chunk{first, second, third}, "Name | Days\na | 1\nb | 2\nc\n| 3\nd."},
		"without the beginning of the parent it is alone":    {[]knowledge.Chunk{second, third}, "| 2\nc"},
		"without the end of the parent it is alone":          {[]knowledge.Chunk{first, second}, "| 2\nc"},
		"without one in the middle of the parent it's alone": {[]knowledge.Chunk{first, third}, "| 2\nc"},
		"without siblings that may be read it is alone":      {nil, "| 2\nc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document := knowledge.Document{Name: "plan"}
			alone := knowledge.Chunk{ID: "x", DocumentID: "d", Text: "row", Header: "Head"}
			reader := &families{of: map[string][]knowledge.Chunk{"b": test.family}}
			got, err := retrieve.Passages(t.Context(), reader, asker, []retrieve.Context{
				{ChunkView: store.ChunkView{Chunk: second, Document: document}, Score: .5, Rank: 3}, {ChunkView: store.ChunkView{Chunk: alone}, Rank: 4},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Text != test.want || got[0].ChunkID != "b" || got[0].Rank != 3 || got[0].Score != .5 || got[0].DocumentName != "plan" {
				t.Errorf("got %+v", got[0])
			}
			if got[1].Text != "Head\nrow" {
				t.Errorf("a chunk without a parent is %q", got[1].Text)
			}
			if diff := cmp.Diff([]string{"b"}, reader.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
	reader := &families{err: errors.New("no database")}
	if _, err := retrieve.Passages(t.Context(), reader, asker, []retrieve.Context{{ChunkView: store.ChunkView{Chunk: second}}}); err == nil {
		t.Error("an error of the store is dropped")
	}
}

func TestOneChunkOfAParentIsChosen(t *testing.T) {
	t.Parallel()
	c := showing("a", "b", "c", "d")
	for _, id := range []string{"a", "b", "c"} {
		v := c[id]
		v.DocumentID, v.Parent = "doc", knowledge.Span{End: 20}
		c[id] = v
	}
	other := c["c"]
	other.Version = 2
	c["c"] = other
	x := &scripted{words: []knowledge.Hit{{ChunkID: "b", Score: 4}, {ChunkID: "a", Score: 3}, {ChunkID: "c", Score: 2}, {ChunkID: "d", Score: 1}}}
	var got []string
	for _, found := range find(t, x, c, retrieve.Request{Config: knowledge.RetrievalConfig{Strategy: "bm25"}}).Contexts {
		got = append(got, found.ID)
	}
	if diff := cmp.Diff([]string{"b", "c", "d"}, got); diff != "" {
		t.Error(diff)
	}
}
