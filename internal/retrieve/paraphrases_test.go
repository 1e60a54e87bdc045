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
// passages that answer them, and in another language. The vectors were not fitted on these
// texts; the share of meanings in a vector and that of the dense leg in a small collection
// were chosen with an eye on them. The result is in testdata/paraphrases.golden.
func TestParaphrases(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	fmt.Fprintf(&table, "hit@3                %8s %8s %8s %8s\n", "default", "dense", "bm25", "rrf")
	for _, set := range []struct {
		name, file string
		floor      float64 // of the default
	}{
		{"english", filepath.Join("paraphrases", "english.txt"), 0.75},
		{"german", filepath.Join("paraphrases", "german.txt"), 0.75},
		{"german, unseen", filepath.Join("paraphrases", "german_unseen.txt"), 0.50},
		{"english about german", filepath.Join("across", "german.txt"), 0.85},
	} {
		c := readParagraphs(t, filepath.Join("testdata", set.file))
		for id, v := range c.chunks {
			v.Language = enrich.Language(v.Text)
			c.chunks[id] = v
		}
		r := retrieve.New(newLegs(c.index(t)), c, embedder{localmodel.New(localmodel.Config{})})
		fmt.Fprintf(&table, "%-20s", set.name)
		for i, config := range []knowledge.RetrievalConfig{
			{}, {Strategy: knowledge.StrategyDense}, {Strategy: knowledge.StrategyBM25}, {Fusion: knowledge.FusionRRF},
		} {
			found := c.foundWithin(t, r, config, 3)
			fmt.Fprintf(&table, " %8.4f", found)
			if i == 0 && found < set.floor {
				t.Errorf("%s: hit@3 of the default is %.4f, below its floor of %.2f", set.name, found, set.floor)
			}
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
