package retrieve_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// byWords is an embedder that also compares words. Texts with "near" are the nearest.
type byWords struct {
	counting
	literal float64
	knows   bool
}

func (w *byWords) CompareWords(_ string, texts []string, enough float64) (near []float64, literal float64) {
	if !w.knows || w.literal >= enough {
		return nil, 0
	}
	for _, text := range texts {
		near = append(near, float64(strings.Count(text, "near")))
	}
	return near, w.literal
}

func TestWordNearness(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		literal  float64
		ignorant bool
		config   knowledge.RetrievalConfig
		want     string
	}{
		"the nearest words":                    {want: "2 0 1"},
		"with a tenth of the question's words": {literal: 0.1, want: "2 0 1"},
		"with a quarter of them":               {literal: 0.25, want: "0 1 2"},
		"with half of them":                    {literal: 0.5, want: "0 1 2"},
		"a model that knows no words":          {ignorant: true, want: "0 1 2"},
		"vectors alone":                        {config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}, want: "0 1 2"},
		"ranks alone":                          {config: knowledge.RetrievalConfig{Fusion: knowledge.FusionRRF}, want: "0 1 2"},
		"weights of the project":               {config: knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: 1}}, want: "0 1 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := chunks{}
			hits := book(c, "b", []string{"the first passage", "another one", "one with near words"}, 0, 1, 2)
			hits[0].Score, hits[1].Score, hits[2].Score = 1, 0.9, 0.6
			embedder := &byWords{literal: test.literal, knows: !test.ignorant}
			result, err := retrieve.New(&scripted{dense: hits}, c, embedder).Retrieve(t.Context(), retrieve.Request{
				Principal: asker, Query: "a question", Config: test.config, Explain: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(places(result), "b:", ""); got != test.want {
				t.Errorf("found %s, want %s", got, test.want)
			}
			for _, c := range result.Contexts {
				if *result.Trace.Rankings[c.ID].Fused != c.Score {
					t.Errorf("passage %d has the score %f, and its explanation %f", c.Ordinal, c.Score, *result.Trace.Rankings[c.ID].Fused)
				}
			}
		})
	}
}
