package retrieve_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestAcrossLanguages measures English questions about German texts with the vectors of
// MiniLM: the words may not spoil what the vectors find. The result is in
// testdata/across.golden.
func TestAcrossLanguages(t *testing.T) {
	t.Parallel()
	c := readParagraphs(t, filepath.Join("testdata", "across", "german.txt"))
	for id, v := range c.chunks {
		v.Language = enrich.Language(v.Text)
		c.chunks[id] = v
	}
	model := readMiniLM(t)
	x := openEmbedded(t)
	c.write(t, x, model)
	r := retrieve.New(newLegs(x), c, model)
	var table strings.Builder
	ndcg := map[string]float64{}
	for _, way := range []struct {
		name   string
		config knowledge.RetrievalConfig
	}{
		{"default", knowledge.RetrievalConfig{}},
		{"dense", knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}},
		{"bm25", knowledge.RetrievalConfig{Strategy: knowledge.StrategyBM25}},
		{"as in one language", knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .7, BM25: .3}}}, // the most that it gives to vectors
	} {
		ndcg[way.name] = c.measure(t, r, way.config).ndcg10
		fmt.Fprintf(&table, "%-20s %.4f\n", way.name, ndcg[way.name])
	}
	if best := math.Max(ndcg["dense"], ndcg["bm25"]); ndcg["default"] < best-0.005 {
		t.Errorf("nDCG@10 of the default is %.4f, of its best leg %.4f", ndcg["default"], best)
	}
	t.Logf("\n%s", table.String())
	golden(t, filepath.Join("testdata", "across.golden"), table.String())
}
