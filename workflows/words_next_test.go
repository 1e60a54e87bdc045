package workflows_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

func TestWordsNext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind knowledge.RunKind
		in   record.AnswerInput
		want bool
	}{
		"a question":               {knowledge.KindQuery, record.AnswerInput{SearchFirst: true}, true},
		"rag_search":               {knowledge.KindTool, record.AnswerInput{SearchFirst: true}, true},
		"web_search":               {knowledge.KindTool, record.AnswerInput{Web: true}, false},
		"a webhook is asked first": {knowledge.KindQuery, record.AnswerInput{Webhooks: true}, false},
		"a search asks a model":    {knowledge.KindQuery, record.AnswerInput{SlowSearch: true}, false},
		"a deep research":          {knowledge.KindResearch, record.AnswerInput{}, false},
	} {
		if got := test.in.WordsNext(test.kind); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
