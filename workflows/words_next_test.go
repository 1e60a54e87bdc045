package workflows_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

func TestWordsNext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind knowledge.RunKind
		in   workflows.AnswerInput
		want bool
	}{
		"a question":               {knowledge.KindQuery, workflows.AnswerInput{SearchFirst: true}, true},
		"rag_search":               {knowledge.KindTool, workflows.AnswerInput{SearchFirst: true}, true},
		"web_search":               {knowledge.KindTool, workflows.AnswerInput{Web: true}, false},
		"a webhook is asked first": {knowledge.KindQuery, workflows.AnswerInput{Webhooks: true}, false},
		"a search asks a model":    {knowledge.KindQuery, workflows.AnswerInput{SlowSearch: true}, false},
		"a deep research":          {knowledge.KindResearch, workflows.AnswerInput{}, false},
	} {
		if got := test.in.WordsNext(test.kind); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
