package retrieve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestParaphrases measures the offline embeddings on questions in other words than the
// passages that answer them, and in another language. Neither the vectors nor the weights
// were chosen on these texts. The result is in testdata/paraphrases.golden.
func TestParaphrases(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "hit@3                %8s %8s %8s %8s\n", "default", "dense", "bm25", "rrf")
	for _, set := range []struct {
		name, file string
	}{
		{"english", filepath.Join("paraphrases", "english.txt")},
		{"german", filepath.Join("paraphrases", "german.txt")},
		{"english about german", filepath.Join("across", "german.txt")},
	} {
		c := readParagraphs(t, filepath.Join("testdata", set.file))
		for id, v := range c.chunks {
			v.Language = enrich.Language(v.Text)
			c.chunks[id] = v
		}
		r := retrieve.New(newLegs(c.index(t)), c, embedder{localmodel.New(localmodel.Config{})})
		fmt.Fprintf(&table, "%-20s", set.name)
		for _, config := range []knowledge.RetrievalConfig{
			{}, {Strategy: knowledge.StrategyDense}, {Strategy: knowledge.StrategyBM25}, {Fusion: knowledge.FusionRRF},
		} {
			fmt.Fprintf(&table, " %8.4f", c.foundWithin(t, r, config, 3))
		}
		table.WriteByte('\n')
	}
	t.Logf("\n%s", table.String())
	golden(t, filepath.Join("testdata", "paraphrases.golden"), table.String())
}

// foundWithin returns the share of the questions that have a relevant passage among the first n.
func (c *collection) foundWithin(t *testing.T, r *retrieve.Retriever, config knowledge.RetrievalConfig, n int) float64 {
	t.Helper()
	config.NumberOfChunks = 10
	hits := 0
	for i, question := range c.questions {
		found, err := r.Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: question, Config: config})
		if err != nil {
			t.Fatal(err)
		}
		for _, context := range found.Contexts[:min(n, len(found.Contexts))] {
			if c.relevant[i+1][context.DocumentID] {
				hits++
				break
			}
		}
	}
	return float64(hits) / float64(len(c.questions))
}
