package knowledge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestConfigChange(t *testing.T) {
	t.Parallel()
	const before = `{"ai":{"prompt":"Be brief.","temperature":0.5,"retrieval":{"numberOfChunks":3,"weights":{"dense":0.3,"bm25":0.7},"minScore":0.2},
		"history":{"messages":2}},"tools":{"maxPerRequest":9},"limits":{"documents":7,"fileBytes":9007199254740993}}`
	for name, test := range map[string]struct{ change, want string }{
		"nothing_changes_nothing":    {``, before},
		"null_changes_nothing":       {`null`, before},
		"an_empty_object_neither":    {`{"ai":{"retrieval":{}},"limits":{}}`, before},
		"a_field_alone":              {`{"ai":{"retrieval":{"numberOfChunks":5}}}`, but(before, `"numberOfChunks":3`, `"numberOfChunks":5`)},
		"in_any_case":                {`{"AI":{"Retrieval":{"NumberOfChunks":null}}}`, but(before, `"numberOfChunks":3,`, ``)},
		"one_of_two_weights":         {`{"ai":{"retrieval":{"weights":{"dense":1}}}}`, but(before, `"dense":0.3`, `"dense":1`)},
		"one_weight_to_its_default":  {`{"ai":{"retrieval":{"weights":{"dense":null}}}}`, but(before, `"dense":0.3`, `"dense":0.4`)},
		"zero":                       {`{"limits":{"documents":0},"ai":{"temperature":0,"history":{"messages":0}}}`, but(before, `"documents":7,`, ``, `0.5`, `0`, `"messages":2`, `"messages":0`)},
		"the_empty_text":             {`{"ai":{"prompt":""}}`, but(before, `"prompt":"Be brief.",`, ``)},
		"null_for_a_field":           {`{"ai":{"temperature":null,"retrieval":{"minScore":null}}}`, but(before, `"temperature":0.5,`, ``, `,"minScore":0.2`, ``)},
		"null_for_all_of_an_object":  {`{"ai":null}`, `{"tools":{"maxPerRequest":9},"limits":{"documents":7,"fileBytes":9007199254740993}}`},
		"an_object_that_was_not_yet": {`{"ai":{"textSplitter":{"strategy":"fixed"}}}`, but(before, `"history"`, `"textSplitter":{"strategy":"fixed"},"history"`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := parsed(t, before)
			got, err := config.With(json.RawMessage(test.change))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parsed(t, test.want), got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(parsed(t, before), config); diff != "" {
				t.Errorf("the configuration that was changed is another: %s", diff)
			}
		})
	}
	if _, err := (knowledge.ProjectConfig{}).With(json.RawMessage(`{"ai":{"prompt":1}}`)); err == nil {
		t.Error("a prompt that is a number was taken")
	}
}

func parsed(t *testing.T, text string) knowledge.ProjectConfig {
	t.Helper()
	var c knowledge.ProjectConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// but returns a text with parts replaced: old, new, old, new.
func but(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
