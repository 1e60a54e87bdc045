package retrieve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// TestNumbersOfAQuestion: every passage is of a report whose name has the year, and one has
// it in its own words.
func TestNumbersOfAQuestion(t *testing.T) {
	t.Parallel()
	c := chunks{}
	found := book(c, "report 2023", []string{
		"Taxes may rise. ", "Our rate was 18.6% in 2023. ", "| Tax | 12 |", "Costs of 20234 items. ", "We paid 1,204.5 in all. ", "The end. ",
	}, 0, 1, 2, 3, 4, 5)
	for i := range found {
		found[i].Score = 1 - float64(i)/100
	}
	found[5].Score = 0 // so that the others are near each other
	headed := c[found[2].ChunkID]
	headed.Header = "| Tax | FY2023 |"
	c[headed.ID] = headed
	for name, test := range map[string]struct {
		question string
		config   knowledge.RetrievalConfig
		want     string
	}{
		"a year that passages have":            {"the rate in 2023", knowledge.RetrievalConfig{}, "1 2 0 3 4 5"},
		"a year behind letters":                {"the rate in FY2023", knowledge.RetrievalConfig{}, "1 2 0 3 4 5"},
		"the passage with more of the numbers": {"18.6 in 2023", knowledge.RetrievalConfig{}, "1 2 0 3 4 5"},
		"an amount as a whole":                 {"what cost 1,204.5", knowledge.RetrievalConfig{}, "4 0 1 2 3 5"},
		"a digit alone":                        {"the 2 rates", knowledge.RetrievalConfig{}, "0 1 2 3 4 5"},
		"no number":                            {"the rate", knowledge.RetrievalConfig{}, "0 1 2 3 4 5"},
		"a number that no passage has":         {"the rate in 1999", knowledge.RetrievalConfig{}, "0 1 2 3 4 5"},
		"vectors alone":                        {"the rate in 2023", knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}, "0 1 2 3 4 5"},
		"ranks alone":                          {"the rate in 2023", knowledge.RetrievalConfig{Fusion: knowledge.FusionRRF}, "0 1 2 3 4 5"},
		"a few passages of many":               {"the rate in 2023", knowledge.RetrievalConfig{NumberOfChunks: 2}, "1 2"},
	} {
		for _, explain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, explained %t", name, explain), func(t *testing.T) {
				t.Parallel()
				result := find(t, &scripted{dense: found}, c, retrieve.Request{Query: test.question, Config: test.config, Explain: explain})
				if got := strings.ReplaceAll(places(result), "report 2023:", ""); got != test.want {
					t.Errorf("found %s, want %s", got, test.want)
				}
				for _, c := range result.Contexts {
					if c.Score > 1 || explain && *result.Trace.Rankings[c.ID].Fused != c.Score {
						t.Errorf("passage %d has the score %f", c.Ordinal, c.Score)
					}
				}
			})
		}
	}
}
