package knowledge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestSplitterDefaults(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{}`:                   `{"strategy":"structure","chunkSize":1000,"chunkOverlap":100}`,
		`{"chunkSize":500}`:    `{"strategy":"structure","chunkSize":500,"chunkOverlap":100}`,
		`{"chunkSize":201}`:    `{"strategy":"structure","chunkSize":201,"chunkOverlap":100}`,
		`{"chunkSize":200}`:    `{"strategy":"structure","chunkSize":200,"chunkOverlap":99}`,
		`{"chunkSize":100}`:    `{"strategy":"structure","chunkSize":100,"chunkOverlap":49}`,
		`{"chunkOverlap":0}`:   `{"strategy":"structure","chunkSize":1000,"chunkOverlap":0}`,
		`{"chunkOverlap":300}`: `{"strategy":"structure","chunkSize":1000,"chunkOverlap":300}`,
		`{"strategy":"fixed"}`: `{"strategy":"fixed","chunkSize":1000,"chunkOverlap":100}`,

		`{"strategy":"hierarchical","separators":["\n\n"," "]}`: `{"strategy":"hierarchical","chunkSize":1000,"chunkOverlap":100,"separators":["\n\n"," "]}`,
	} {
		var s knowledge.Splitter
		if err := json.Unmarshal([]byte(given), &s); err != nil {
			t.Fatal(err)
		}
		s = s.WithDefaults()
		if wrong := s.Fields(given); len(wrong) > 0 {
			t.Errorf("the defaults are wrong: %v", wrong)
		}
		got, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}

func TestSplitterOutOfRange(t *testing.T) {
	t.Parallel()
	for given, location := range map[string]string{
		`{"strategy":"magic"}`: "strategy",
		`{"chunkSize":99}`:     "chunkSize",
		`{"chunkSize":8001}`:   "chunkSize",
		`{"chunkOverlap":500}`: "chunkOverlap",
		`{"separators":[""]}`:  "separators",
		`{"separators":["` + strings.Repeat("é", 101) + `"]}`:    "separators",
		`{"separators":[` + strings.Repeat(`"a",`, 20) + `"a"]}`: "separators",
	} {
		var s knowledge.Splitter
		if err := json.Unmarshal([]byte(given), &s); err != nil {
			t.Fatal(err)
		}
		if wrong := s.Fields("s"); len(wrong) != 1 || wrong[0].Location != "s."+location {
			t.Errorf("%s: %v", given, wrong)
		}
	}
}

func TestEnrichmentNamesTheModelOfTheProject(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change, want string
	}{
		"a model reads the text":     {`{"ai":{"model":"m","enrichment":{"topics":true}}}`, "m"},
		"a model reads the pictures": {`{"ai":{"model":"m","multimodal":true}}`, "m"},
		"no model reads anything":    {`{"ai":{"model":"m"}}`, ""},
	} {
		config, err := knowledge.ProjectConfig{}.With([]byte(tc.change))
		if err != nil {
			t.Fatal(err)
		}
		if got := (knowledge.Override{}).EnrichmentIn(config).Model; got != tc.want {
			t.Errorf("%s: model %q, want %q", name, got, tc.want)
		}
	}
}
