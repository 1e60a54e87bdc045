package answering_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// calls stores a turn with tool calls and returns the input of the first one.
func (f *fixture) calls(run knowledge.RunRef, calls ...model.ToolCall) answering.ToolCallInput {
	f.Helper()
	key := run.TurnKey(1)
	_, err := f.Blobs.PutJSON(f.Ctx, key, record.ModelCall{ToolCalls: calls})
	f.Must(err)
	return answering.ToolCallInput{RunRef: run, Turn: 1, Key: key}
}

func TestCallTool(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ tool, arguments, message string }{
		"a tool that was not offered": {"weather", `{"query":"apples"}`, tool.DocumentsRAG},
		"a name in another case":      {"Documents_RAG", `{"query":"apples"}`, tool.DocumentsRAG},
		"no name":                     {"", `{"query":"apples"}`, tool.DocumentsRAG},
		"no arguments":                {tool.DocumentsRAG, ``, "query"},
		"no JSON":                     {tool.DocumentsRAG, `apples`, "query"},
		"a further argument":          {tool.DocumentsRAG, `{"query":"apples","limit":3}`, "no other"},
		"half of it":                  {tool.DocumentsRAG, `{"query":"app`, "query"},
		"two objects":                 {tool.DocumentsRAG, `{"query":"apples"}{"query":"pears"}`, "query"},
		"null":                        {tool.DocumentsRAG, `null`, "query"},
		"a list":                      {tool.DocumentsRAG, `["apples"]`, "query"},
		"another field":               {tool.DocumentsRAG, `{"q":"apples"}`, "query"},
		"a number":                    {tool.DocumentsRAG, `{"query":7}`, "query"},
		"an empty query":              {tool.DocumentsRAG, `{"query":""}`, "query"},
		"a query of spaces":           {tool.DocumentsRAG, `{"query":" \n\t"}`, "text"},
		"a query that is too long":    {tool.DocumentsRAG, `{"query":"` + strings.Repeat("x", 8<<10+1) + `"}`, "8192"},
	} {
		t.Run(name+" is refused, and the model reads why", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.calls(f.Ask("what?"), model.ToolCall{ID: "a", Name: tc.tool, Arguments: tc.arguments})
			_, err := do(f, f.Answering.CallTool, in)
			f.FailedWith(err, knowledge.CodeInvalid, false)
			message := step.Describe(err, knowledge.Failure{}).Message
			if !strings.Contains(message, tc.message) || strings.Contains(message, "apples") {
				t.Errorf("the message for the model is %q", message)
			}
			if n := f.Server.Totals().Embeddings.Asked; n != 0 {
				t.Errorf("%d requests for embeddings", n)
			}
			if there, err := f.Blobs.Exists(f.Ctx, in.SearchKey(1, 0)); err != nil || there {
				t.Errorf("a search is stored: %t, %v", there, err)
			}
		})
	}

	t.Run("a query at the limit is accepted", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		query := "apples " + strings.Repeat("x", 8<<10-len("apples "))
		in := f.calls(f.Ask("what?"), model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"` + query + `"}`})
		output, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		if output.Kept != 1 || output.Failure != "" {
			t.Errorf("output %+v", output)
		}
	})

	t.Run("a stored search is not repeated", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		in := f.calls(f.Ask("what?"),
			model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"apples"}`},
			model.ToolCall{ID: "b", Name: tool.DocumentsRAG, Arguments: `{"query":"autumn"}`})
		first := make([]record.ToolOutput, 2)
		for in.Call = range 2 {
			var err error
			first[in.Call], err = do(f, f.Answering.CallTool, in)
			f.Must(err)
		}
		f.Publish(f.Upload("more.txt", "Apples are eaten in winter.")) // it must not change what the model was given
		asked := f.Server.Totals().Embeddings.Asked
		for in.Call = range 2 {
			again, err := do(f, f.Answering.CallTool, in)
			f.Must(err)
			if diff := cmp.Diff(first[in.Call], again); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"apples.txt"}, f.found(record.SearchResult{Key: again.Search})); diff != "" {
				t.Error(diff)
			}
		}
		if n := f.Server.Totals().Embeddings.Asked; n != asked || first[0].Search == first[1].Search {
			t.Errorf("%d more requests for embeddings, searches %s and %s", n-asked, first[0].Search, first[1].Search)
		}
	})

	t.Run("a call that the turn does not have is a defect", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.calls(f.Ask("what?"), model.ToolCall{Name: tool.DocumentsRAG, Arguments: `{"query":"x"}`})
		in.Call = 1
		_, err := do(f, f.Answering.CallTool, in)
		f.FailedWith(err, knowledge.CodeInternal, true)
		in.Key = in.TurnKey(9)
		_, err = do(f, f.Answering.CallTool, in)
		f.FailedWith(err, knowledge.CodeInternal, true)
	})
}
