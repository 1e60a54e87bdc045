package activities_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// searchChat adapts model.Client to the chat model of a search.
type searchChat struct{ *model.Client }

func (c searchChat) CallTool(ctx context.Context, call retrieve.Call) (string, retrieve.Usage, error) {
	arguments, usage, err := c.Client.CallTool(ctx, model.ToolRequest{
		Model: call.Model, System: call.System, User: call.User, Tool: model.Tool{Name: call.Tool, Parameters: call.Schema},
	})
	return arguments, retrieve.Usage{PromptTokens: usage.PromptTokens, CompletionTokens: usage.CompletionTokens}, err
}

// searching gives the searches of a fixture the stand-in models.
func (f *fixture) searching() {
	client := model.New(f.server.Endpoint(), nil)
	f.answering.Retriever = retrieve.New(f.index, f.store, questions{client}).Using(retrieve.Models{
		Chat: searchChat{client}, Reranker: model.NewReranker(f.server.Endpoint(), model.RerankTEI, nil), RerankerName: "bge",
	})
}

func TestARepeatedSearchPaysForNoModelTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.searching()
	f.publish(f.upload("apples.txt", "Apples are picked in autumn."))
	f.publish(f.upload("pears.txt", "Pears and apples are stored in the cellar."))
	f.server.ScriptChat(modeltest.Call(model.ToolCall{ID: "1", Name: "grade_passages", Arguments: `{"grades":[2,8]}`}))
	run := f.ask("when are apples picked?", func(r *knowledge.Request) { r.Config.AI.Retrieval.Reranker = knowledge.RerankerJudge })
	in := activities.SearchInput{RunRef: run}
	first, err := do(f, f.answering.SearchKnowledge, in)
	f.must(err)
	if first.Reranking == nil || first.Reranking.Ranked != 2 || first.Usage.ModelCalls != 1 {
		t.Errorf("searched %+v", first)
	}
	names := f.found(first)
	again, err := do(f, f.answering.SearchKnowledge, in)
	f.must(err)
	if diff := cmp.Diff(names, f.found(again)); diff != "" {
		t.Error(diff)
	}
	if n := f.server.Totals().Chats.Asked; n != 1 {
		t.Errorf("the judge was asked %d times", n)
	}
}
