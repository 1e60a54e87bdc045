package answering_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
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

// searching lets searches call the stand-in models.
func (f *fixture) searching() {
	client := model.New(f.Server.Endpoint(), nil)
	f.AnswerWith(func(d *answering.Dependencies) {
		d.Retriever = retrieve.New(f.Index, f.Store, activitytest.QuestionEmbedder{Client: client}).Using(retrieve.Models{
			Chat: searchChat{client}, Passages: f.Store, Reranker: model.NewReranker(f.Server.Endpoint(), model.RerankTEI, nil), RerankerName: "bge",
		})
	})
}

func TestCompressedPassagesAreCitedByTheirChunks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.searching()
	f.Publish(f.Upload("apples.txt", "Apples are red. Apples are picked in autumn."))
	run := f.Ask("when are apples picked?", func(r *knowledge.Request) {
		r.Config.AI.Retrieval.Compress, r.Config.AI.Retrieval.HyDE = true, true
	})
	f.Server.ScriptChat(
		modeltest.Call(model.ToolCall{ID: "1", Name: "write_passage", Arguments: `{"passage":"In October."}`}),
		modeltest.Call(model.ToolCall{ID: "2", Name: "keep_sentences", Arguments: `{"passages":[[2]]}`}),
		modeltest.Text("In autumn <source_1>."),
	)
	found, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
	f.Must(err)
	if !found.Chosen || found.Usage.ModelCalls != 2 {
		t.Errorf("searched %+v", found)
	}
	turn, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, Loop: record.Loop{Searches: []string{found.Key}}})
	f.Must(err)
	requests := f.Server.Requests()
	system := string(requests[len(requests)-1].Messages[0].Content)
	if !strings.Contains(system, "Apples are picked in autumn.") || strings.Contains(system, "red") {
		t.Errorf("the model reads %s", system)
	}
	var answer record.ModelCall
	f.Must(f.Blobs.GetJSON(f.Ctx, turn.Key, &answer))
	var passages record.Search
	f.Must(f.Blobs.GetJSON(f.Ctx, found.Key, &passages))
	if !strings.Contains(answer.Text, passages.Passages[0].ChunkID) || passages.Choices.Passage != "In October." {
		t.Errorf("answered %s, chose %+v", answer.Text, passages.Choices)
	}
}

func TestARepeatedSearchPaysForNoModelTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.searching()
	f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
	f.Publish(f.Upload("pears.txt", "Pears and apples are stored in the cellar."))
	f.Server.ScriptChat(modeltest.Call(model.ToolCall{ID: "1", Name: "grade_passages", Arguments: `{"grades":[2,8]}`}))
	run := f.Ask("when are apples picked?", func(r *knowledge.Request) { r.Config.AI.Retrieval.Reranker = knowledge.RerankerJudge })
	in := answering.SearchInput{RunRef: run}
	first, err := do(f, f.Answering.SearchKnowledge, in)
	f.Must(err)
	if first.Reranking == nil || first.Reranking.Ranked != 2 || first.Usage.ModelCalls != 1 {
		t.Errorf("searched %+v", first)
	}
	names := f.found(first)
	f.Must(f.Blobs.Delete(f.Ctx, first.Key)) // as a crash before its write would have left it
	again, err := do(f, f.Answering.SearchKnowledge, in)
	f.Must(err)
	if diff := cmp.Diff(names, f.found(again)); diff != "" {
		t.Error(diff)
	}
	if n := f.Server.Totals().Chats.Asked; n != 1 {
		t.Errorf("the judge was asked %d times", n)
	}
}
