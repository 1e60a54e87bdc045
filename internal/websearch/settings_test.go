package websearch_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

func TestSettingFields(t *testing.T) {
	t.Parallel()
	bad := &knowledge.WebSearchConfig{BonusDomains: []string{"not a domain"}, Provider: "google", Type: "scholar"}
	for name, test := range map[string]struct {
		before, changed *knowledge.WebSearchConfig
		provider        knowledge.WebProvider
		want            []string
	}{
		"none":                          {nil, nil, knowledge.Brave, nil},
		"the defaults":                  {nil, &knowledge.WebSearchConfig{}, knowledge.Brave, nil},
		"what the provider has":         {nil, &knowledge.WebSearchConfig{Provider: "brave", Type: "news", WhitelistedDomains: []string{"example.com"}}, knowledge.Brave, nil},
		"what it does not have":         {nil, bad, knowledge.Brave, []string{"t.bonusDomains", "t.provider", "t.type"}},
		"an instance without a search":  {nil, bad, "", []string{"t.bonusDomains"}},
		"what was saved before remains": {bad, &knowledge.WebSearchConfig{BonusDomains: []string{"not a domain"}, Provider: "google", Type: "scholar"}, knowledge.Brave, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, field := range websearch.SettingFields("t", test.before, test.changed, test.provider) {
				got = append(got, field.Location)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSourceFields(t *testing.T) {
	t.Parallel()
	if wrong := websearch.SourceFields("t", false, true, ""); len(wrong) != 1 || wrong[0].Location != "t" {
		t.Errorf("an instance without a search engine: %v", wrong)
	}
	if wrong := slices.Concat(
		websearch.SourceFields("t", false, true, knowledge.Brave), websearch.SourceFields("t", true, true, ""), websearch.SourceFields("t", true, false, "")); len(wrong) > 0 {
		t.Errorf("refused: %v", wrong)
	}
}
