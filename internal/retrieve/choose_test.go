package retrieve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// book returns chunks of one document, with the texts, and their hits with falling scores
// in the order of the ordinals given.
func book(c chunks, document string, texts []string, best ...int) []knowledge.Hit {
	start := 0
	for i, text := range texts {
		id := knowledge.ChunkID(document, 1, i)
		end := start + len([]rune(text))
		c[id] = store.ChunkView{
			Chunk:    knowledge.Chunk{ID: id, DocumentID: document, Version: 1, Ordinal: i, Text: text, Span: knowledge.Span{Start: start, End: end}},
			Document: knowledge.Document{ID: document, Name: document},
		}
		start = end
	}
	var list []knowledge.Hit
	for i, ordinal := range best {
		list = append(list, knowledge.Hit{ChunkID: knowledge.ChunkID(document, 1, ordinal), DocumentID: document, Version: 1, Score: 1 - float64(i)/10})
	}
	return list
}

// places returns the passages as "document:ordinal".
func places(r retrieve.Result) string {
	var list []string
	for _, c := range r.Contexts {
		list = append(list, fmt.Sprintf("%s:%d", c.DocumentID, c.Ordinal))
	}
	return strings.Join(list, " ")
}

func TestChoose(t *testing.T) {
	t.Parallel()
	c := chunks{}
	found := book(c, "a", []string{"Zero of a. ", "One is here. ", "Two was there. ", "Three came late. ", "Four said little. "}, 1, 2, 4)
	found = append(found, book(c, "b", []string{"A first word. ", "And a second of many more words than any other has. "}, 0, 1)...)
	for i := range found {
		found[i].Score = 1 - float64(i)/10
	}
	for name, test := range map[string]struct {
		config knowledge.RetrievalConfig
		want   string
		drops  string
	}{
		"nothing is limited":              {knowledge.RetrievalConfig{}, "a:1 a:2 a:4 b:0 b:1", ""},
		"one passage of a document":       {knowledge.RetrievalConfig{PerDocument: 1}, "a:1 b:0", "a:2 perDocument, a:4 perDocument, b:1 perDocument"},
		"a neighbour is read already":     {knowledge.RetrievalConfig{Neighbours: 1}, "a:1 a:4 b:0", "a:2 neighbour, b:1 neighbour"},
		"the number counts what is kept":  {knowledge.RetrievalConfig{Neighbours: 1, NumberOfChunks: 2}, "a:1 a:4", "a:2 neighbour, b:0 numberOfChunks, b:1 numberOfChunks"},
		"what does not fit is left out":   {knowledge.RetrievalConfig{ContextTokens: 18}, "a:1 a:2 a:4 b:0", "b:1 contextTokens"},
		"the first passage always fits":   {knowledge.RetrievalConfig{ContextTokens: 1}, "a:1", "a:2 contextTokens, a:4 contextTokens, b:0 contextTokens, b:1 contextTokens"},
		"neighbours count to the context": {knowledge.RetrievalConfig{ContextTokens: 16, Neighbours: 1}, "a:1", "a:2 neighbour, a:4 contextTokens, b:0 contextTokens, b:1 contextTokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.config.Strategy = knowledge.StrategyDense
			r := find(t, &scripted{dense: found}, c, retrieve.Request{Config: test.config, Explain: true})
			var drops []string
			for _, d := range r.Trace.Dropped {
				drops = append(drops, fmt.Sprintf("%s:%d %s", d.Chunk.DocumentID, d.Chunk.Ordinal, d.Reason))
			}
			if diff := cmp.Diff([]string{test.want, test.drops}, []string{places(r), strings.Join(drops, ", ")}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestALongDocumentLeavesRoomForOthers: the first candidates are all of one document, of
// which the model reads one passage.
func TestALongDocumentLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	c := chunks{}
	var texts []string
	var ordinals []int
	for i := range 120 {
		texts, ordinals = append(texts, fmt.Sprintf("Passage %d of the long document. ", i)), append(ordinals, i)
	}
	found := book(c, "long", texts, ordinals...)
	for _, other := range []string{"b", "c", "d"} {
		found = append(found, book(c, other, []string{"The other document " + other}, 0)...)
	}
	for i := range found {
		found[i].Score = 1 - float64(i)/1000
	}
	for name, test := range map[string]struct {
		config knowledge.RetrievalConfig
		want   string
	}{
		"one passage of each":          {knowledge.RetrievalConfig{PerDocument: 1}, "long:0 b:0 c:0 d:0"},
		"as many as are asked for":     {knowledge.RetrievalConfig{PerDocument: 1, NumberOfChunks: 2}, "long:0 b:0"},
		"two passages of each":         {knowledge.RetrievalConfig{PerDocument: 2, NumberOfChunks: 4}, "long:0 long:1 b:0 c:0"},
		"the best one by the reranker": {knowledge.RetrievalConfig{PerDocument: 1, Reranker: "bge"}, "d:0 c:0 b:0 long:4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strategy := range []string{knowledge.StrategyDense, knowledge.StrategyBM25, knowledge.StrategyMultiStage} {
				test.config.Strategy = strategy
				if test.config.Reranker == "" {
					test.config.Reranker = knowledge.RerankerNone
				}
				r := ask(t, &scripted{dense: found, words: found}, c, rerankedBy(scriptedReranker(lastFirst)), retrieve.Request{Config: test.config})
				if got := places(r); got != test.want {
					t.Errorf("%s found %s, want %s", strategy, got, test.want)
				}
			}
		})
	}
}

// pages is a PassageReader of chunks without parents.
type pages struct {
	retrieve.PassageReader
	chunks
}

func (p pages) VisibleChunks(ctx context.Context, who knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error) {
	return p.chunks.VisibleChunks(ctx, who, projects, hits)
}

func TestPassagesWithNeighbours(t *testing.T) {
	t.Parallel()
	c := chunks{}
	book(c, "a", []string{"Zérö. ", "One. ", "Two. ", "Three. "})
	overlapping := c[knowledge.ChunkID("a", 1, 2)]
	overlapping.Text, overlapping.Span.Start = "One. Two. ", overlapping.Span.Start-5
	c[overlapping.ID] = overlapping
	read := func(ordinal, around int) string {
		view := c[knowledge.ChunkID("a", 1, ordinal)]
		got, err := retrieve.Passages(t.Context(), pages{chunks: c}, asker, []retrieve.Context{{ChunkView: view, Around: around, Rank: 1}})
		if err != nil || got[0].ChunkID != view.ID {
			t.Fatalf("%+v, %v", got, err)
		}
		return got[0].Text
	}
	for _, test := range []struct {
		ordinal, around int
		want            string
	}{
		{1, 0, "One. "}, {1, 1, "Zérö. One. Two. "}, {0, 2, "Zérö. One. Two. "}, {3, 5, "Zérö. One. Two. Three. "}, {2, 1, "One. Two. Three. "},
	} {
		if got := read(test.ordinal, test.around); got != test.want {
			t.Errorf("chunk %d with %d around: %q, want %q", test.ordinal, test.around, got, test.want)
		}
	}
	delete(c, knowledge.ChunkID("a", 1, 1))
	if got := read(2, 2); got != "One. Two. Three. " {
		t.Errorf("a neighbour that is gone ends the passage: %q", got)
	}
}

func TestPromptOrder(t *testing.T) {
	t.Parallel()
	var passages []citation.Context
	var contexts []retrieve.Context
	for i, p := range []struct {
		id, document string
		ordinal      int
	}{{"1", "a", 7}, {"2", "b", 1}, {"3", "a", 2}, {"4", "c", 0}, {"5", "b", 0}} {
		passages = append(passages, citation.Context{Rank: i + 1, ChunkID: p.id, DocumentID: p.document})
		contexts = append(contexts, retrieve.Context{ChunkView: store.ChunkView{Chunk: knowledge.Chunk{ID: p.id, Ordinal: p.ordinal}}})
	}
	for order, want := range map[string]string{"": "12345", "relevance": "12345", "document": "31524", "edges": "13542"} {
		got := ""
		for _, p := range retrieve.PromptOrder(passages, contexts, order) {
			got += p.ChunkID
		}
		if got != want {
			t.Errorf("%s: %s, want %s", order, got, want)
		}
	}
}
