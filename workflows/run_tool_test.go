package workflows_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

func TestRunToolSaysWhatTheRerankerDid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reranking *retrieve.Reranking
		want      string
	}{
		"without a reranker": {nil, `{"initial_count":15,"kept_count":5,"reranked_count":15}`},
		"with a reranker": {
			&retrieve.Reranking{Reranker: "bge", Ranked: 14},
			`{"initial_count":15,"kept_count":5,"reranked_count":14,"reranker":"bge"}`,
		},
		"with one that took too long": {
			&retrieve.Reranking{Reranker: "bge", Failure: retrieve.FailureTimeout},
			`{"failure":"timeout","initial_count":15,"kept_count":5,"reranked_count":0,"reranker":"bge"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var acts answering.Activities
			env := newEnvironment()
			env.RegisterActivity(&answering.Activities{})
			env.OnActivity(acts.SearchKnowledge, mock.Anything, mock.Anything).Return(record.SearchResult{Key: "s", Retrieved: 15, Kept: 5, Reranking: test.reranking}, nil)
			env.OnActivity(acts.CallModel, mock.Anything, mock.Anything).Return(answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "a"}, nil)
			var finished ends[answering.FinishAnswerInput]
			env.OnActivity(acts.FinishAnswer, mock.Anything, mock.Anything).Return(finished.finish)
			env.ExecuteWorkflow(workflows.RunTool, record.AnswerInput{RunRef: knowledge.RunRef{Workspace: "w", Run: "r"}, SlowSearch: test.reranking != nil})
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			for _, item := range finished.finished[0].Items {
				event, err := stream.DecodeEvent(item.Data)
				if err != nil {
					t.Fatal(err)
				}
				var phase struct {
					Phase string          `json:"phase"`
					Data  json.RawMessage `json:"data"`
				}
				if item.Topic != stream.TopicToolUpdate || json.Unmarshal(event.Data, &phase) != nil || phase.Phase != "RERANKING" {
					continue
				}
				if diff := cmp.Diff(test.want, string(phase.Data)); diff != "" {
					t.Error(diff)
				}
				return
			}
			t.Error("no RERANKING")
		})
	}
}
