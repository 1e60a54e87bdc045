package retrieve_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestLanguages measures retrieval with the offline embeddings in languages
// other than English, which these do not stem: the words may not spoil what the
// vectors find, nor these what the words find. The vectors were not fitted on these
// texts. The result is in testdata/languages.golden, with the first passages of some
// questions.
func TestLanguages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "languages", "*.txt"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d languages, error %v", len(files), err)
	}
	var table, ranked strings.Builder
	fmt.Fprintf(&table, "nDCG@10    %8s %8s %8s %8s\n", "default", "dense", "bm25", "rrf")
	for _, file := range files {
		c := readParagraphs(t, file)
		r := retrieve.New(newLegs(c.index(t)), c, embedder{localmodel.New(localmodel.Config{})})
		var ndcg []float64
		for _, config := range []knowledge.RetrievalConfig{
			{}, {Strategy: knowledge.StrategyDense}, {Strategy: knowledge.StrategyBM25}, {Fusion: knowledge.FusionRRF},
		} {
			ndcg = append(ndcg, c.measure(t, r, config).ndcg10)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		fmt.Fprintf(&ranked, "\n%s\n", name)
		c.writeRanked(t, &ranked, r)
		fmt.Fprintf(&table, "%-10s %8.4f %8.4f %8.4f %8.4f\n", name, ndcg[0], ndcg[1], ndcg[2], ndcg[3])
		if best := math.Max(ndcg[1], ndcg[2]); ndcg[0] < best-0.005 {
			t.Errorf("%s: nDCG@10 of the default is %.4f, of its best leg %.4f", name, ndcg[0], best)
		}
	}
	fmt.Fprintf(&table, "\nThe first passages of every eighth question, by the default. The relevant one has a star.\n%s", ranked.String())
	t.Logf("\n%s", table.String())
	golden(t, filepath.Join("testdata", "languages.golden"), table.String())
}

// writeRanked writes every eighth question with the beginnings of its first three passages.
func (c *collection) writeRanked(t *testing.T, w *strings.Builder, r *retrieve.Retriever) {
	t.Helper()
	for i := 0; i < len(c.questions); i += 8 {
		found, err := r.Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: c.questions[i]})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(w, "  %s\n", c.questions[i])
		for _, context := range found.Contexts[:min(3, len(found.Contexts))] {
			star := " "
			if c.relevant[i+1][context.DocumentID] {
				star = "*"
			}
			fmt.Fprintf(w, "  %s %s %s\n", star, context.DocumentID, knowledge.Cut(c.chunks[context.DocumentID].Text, 70))
		}
	}
}

// readParagraphs reads a file of paragraphs ("p ") each of which is followed by
// questions that it answers ("q ").
func readParagraphs(t *testing.T, file string) *collection {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &collection{relevant: map[int]map[string]bool{}, chunks: chunks{}}
	for line := range strings.Lines(string(data)) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "p" {
			c.documents = append(c.documents, text)
			c.put(documentID(len(c.documents)), text)
			continue
		}
		c.questions = append(c.questions, text)
		c.relevant[len(c.questions)] = map[string]bool{documentID(len(c.documents)): true}
	}
	if len(c.documents) < 10 || slices.Contains(c.questions, "") {
		t.Fatalf("%s has %d paragraphs and %d questions", file, len(c.documents), len(c.questions))
	}
	return c
}
