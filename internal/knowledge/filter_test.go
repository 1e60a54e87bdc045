package knowledge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestFilterFields(t *testing.T) {
	t.Parallel()
	parse := func(t *testing.T, text string) knowledge.Filter {
		t.Helper()
		var f knowledge.Filter
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Run("what the documentation shows is right", func(t *testing.T) {
		t.Parallel()
		f := parse(t, `[
			{"field":"tags","type":"in","value":["a","b"]}, {"field":"tags","type":"contains","value":["a"]},
			{"field":"tags","type":"contains","value":"a"}, {"field":"documentId","type":"nin","value":["x"]},
			{"field":"name","type":"contains","value":"report"}, {"field":"language","type":"eq","value":"eng"},
			{"field":"createdAt","type":"gte","value":"2026-01-31"}, {"field":"createdAt","type":"lt","value":"2026-02-01T00:00:00.5+02:00"},
			{"field":"createdAt","type":"in","value":["2026-01-31"]}, {"field":"name","type":"gte","value":"b"},
			{"field":"classification","type":"exists"}, {"field":"metadata.year","type":"gt","value":2025},
			{"field":"metadata.draft","type":"ne","value":true}, {"field":"metadata.mixed","type":"in","value":["a",1,false]},
			{"field":"metadata.a.b","type":"exists","value":false}]`)
		if wrong := f.Fields("body.filters"); len(wrong) > 0 {
			t.Errorf("found wrong: %v", wrong)
		}
	})
	for text, want := range map[string]string{
		`{"field":"acl","type":"eq","value":"x"}`:                                  "body.filters[0].field",
		`{"field":"metadata.","type":"eq","value":"x"}`:                            "body.filters[0].field",
		`{"field":"metadata.a\u0000","type":"eq","value":"x"}`:                     "body.filters[0].field",
		`{"field":"tags","type":"like","value":"x"}`:                               "body.filters[0].type",
		`{"field":"tags","type":"gt","value":"x"}`:                                 "body.filters[0].type",
		`{"field":"createdAt","type":"contains","value":"2026"}`:                   "body.filters[0].type",
		`{"field":"createdAt","type":"in","value":["31.1.2026"]}`:                  "body.filters[0].value",
		`{"field":"name","type":"lt","value":["x"]}`:                               "body.filters[0].value",
		`{"field":"createdAt","type":"eq","value":"31.1.2026"}`:                    "body.filters[0].value",
		`{"field":"createdAt","type":"eq","value":1769860800}`:                     "body.filters[0].value",
		`{"field":"name","type":"eq"}`:                                             "body.filters[0].value",
		`{"field":"name","type":"eq","value":null}`:                                "body.filters[0].value",
		`{"field":"name","type":"eq","value":1}`:                                   "body.filters[0].value",
		`{"field":"name","type":"eq","value":["x"]}`:                               "body.filters[0].value",
		`{"field":"name","type":"in","value":"x"}`:                                 "body.filters[0].value",
		`{"field":"name","type":"in","value":[]}`:                                  "body.filters[0].value",
		`{"field":"tags","type":"in","value":["x",null]}`:                          "body.filters[0].value",
		`{"field":"metadata.a","type":"eq","value":{"b":1}}`:                       "body.filters[0].value",
		`{"field":"metadata.a","type":"gte","value":false}`:                        "body.filters[0].value",
		`{"field":"metadata.a","type":"exists","value":"true"}`:                    "body.filters[0].value",
		`{"field":"name","type":"eq","value":"` + strings.Repeat("x", 1025) + `"}`: "body.filters[0].value",
	} {
		t.Run(text[:min(70, len(text))], func(t *testing.T) {
			t.Parallel()
			wrong := parse(t, "["+text+"]").Fields("body.filters")
			if len(wrong) != 1 || wrong[0].Location != want || wrong[0].Message == "" {
				t.Errorf("found %v, want one field at %s", wrong, want)
			}
		})
	}
	t.Run("sizes are bounded", func(t *testing.T) {
		t.Parallel()
		one := knowledge.Condition{Field: "tags", Type: knowledge.OpEq, Value: "x"}
		f := make(knowledge.Filter, knowledge.MaxFilterConditions)
		for i := range f {
			f[i] = one
		}
		if wrong := f.Fields("f"); len(wrong) > 0 {
			t.Errorf("%d conditions: %v", len(f), wrong)
		}
		if wrong := append(f, one).Fields("f"); len(wrong) != 1 || wrong[0].Location != "f" {
			t.Errorf("one more: %v", wrong)
		}
		values := make([]string, knowledge.MaxFilterValues+1)
		if wrong := (knowledge.Filter{{Field: "tags", Type: knowledge.OpIn, Value: values}}).Fields("f"); len(wrong) != 1 {
			t.Errorf("%d values: %v", len(values), wrong)
		}
	})
	t.Run("each wrong condition is named", func(t *testing.T) {
		t.Parallel()
		f := parse(t, `[{"field":"x","type":"eq","value":"y"},{"field":"tags","type":"eq","value":"y"},{"field":"tags","type":"x","value":"y"}]`)
		if wrong := f.Fields("f"); len(wrong) != 2 || wrong[0].Location != "f[0].field" || wrong[1].Location != "f[2].type" {
			t.Errorf("found %v", wrong)
		}
	})
}
