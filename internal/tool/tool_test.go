package tool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

func TestOffered(t *testing.T) {
	t.Parallel()
	all := tool.Set{
		{Name: "always"},
		{Name: "french", Offered: func(r knowledge.Request) bool { return strings.HasPrefix(r.Question, "Où") }},
	}
	for question, want := range map[string][]string{"Where?": {"always"}, "Où ?": {"always", "french"}} {
		offered := all.Offered(knowledge.Request{Question: question})
		if diff := cmp.Diff(want, offered.Names()); diff != "" {
			t.Errorf("%s: %s", question, diff)
		}
		if _, ok := offered.Find("french"); ok != (len(want) == 2) {
			t.Errorf("%s: french is found: %t", question, ok)
		}
	}
	if len(all) != 2 {
		t.Errorf("the set has changed: %v", all.Names())
	}
}

func TestDocumentsRAG(t *testing.T) {
	t.Parallel()
	search := tool.NewDocumentsRAG(func(_ context.Context, _ tool.Call, query string) (tool.Output, error) {
		return tool.Output{Search: query, Found: 1}, nil
	})
	for arguments, want := range map[string]string{`{"query":"tea"}`: "tea", `{"query":"tea","more":1}`: "tea", `{}`: "", `{"query":7}`: "", `tea`: ""} {
		out, err := search.Run(t.Context(), tool.Call{Arguments: arguments})
		if out.Search != want || (want == "") != knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%s: %+v, %v", arguments, out, err)
		}
	}
}
