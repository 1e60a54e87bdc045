package answering_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestSourceFilter: the stored answer and the conversation hold the sources that the
// answer cites, with the ranks of their citations.
func TestSourceFilter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		filter bool
		kind   knowledge.RunKind
		said   string
		want   []int
	}{
		"a filter":                         {true, knowledge.KindQuery, "Apples <source_2>.", []int{2}},
		"no filter":                        {false, knowledge.KindQuery, "Apples <source_2>.", []int{1, 2}},
		"an answer that cites nothing":     {true, knowledge.KindQuery, "I do not know.", []int{}},
		"a tool, whose contract lists all": {true, knowledge.KindTool, "Apples <source_2>.", []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("first.txt", "apples apples of the first"))
			f.Publish(f.Upload("second.txt", "apples of the second, which is longer"))
			run := f.talk("apples")
			request, err := record.ReadRequest(f.Ctx, f.Blobs, run)
			f.Must(err)
			request.Kind, request.Config.AI.PostQuery.SourceFilter = test.kind, test.filter
			_, err = f.Blobs.PutJSON(f.Ctx, run.RequestKey(), request)
			f.Must(err)
			search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
			f.Must(err)
			f.Server.ScriptChat(modeltest.Text(test.said))
			loop := record.Loop{Found: search.Found}
			answered, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, Loop: loop})
			f.Must(err)
			loop.Answer = answered.Key
			f.Must(act(f, f.Answering.FinishAnswer, answering.FinishAnswerInput{RunRef: run, Loop: loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
			var answer record.Answer
			f.Must(f.Blobs.GetJSON(f.Ctx, run.AnswerKey(), &answer))
			var told []record.Source
			f.Must(json.Unmarshal(f.messages(run)[1].Sources, &told))
			for where, sources := range map[string][]record.Source{"answer": answer.Sources, "conversation": told} {
				got := []int{}
				for _, s := range sources {
					got = append(got, s.Rank)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: %s", where, diff)
				}
			}
		})
	}
}

// TestReflection: a model is asked for the block where the project wants it, and no model
// is shown the block of an earlier answer.
func TestReflection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Publish(f.Upload("first.txt", "apples apples of the first"))
	const wish = "**Reflection:**"
	for _, reflect := range []bool{false, true} {
		f.Server.ScriptChat(modeltest.Text("Apples."))
		_, err := do(f, f.Answering.CallModel, f.Asked(func(r *knowledge.Request) { r.Config.AI.Reflection = reflect }))
		f.Must(err)
		if got := strings.Contains(f.Sent(), wish); got != reflect {
			t.Errorf("reflection %t: the model reads %q", reflect, f.Sent())
		}
	}
	f.Server.ScriptChat(modeltest.Text("Why?"))
	run := f.Ask("apples")
	_, err := f.Blobs.PutJSON(f.Ctx, run.TurnKey(1), record.ModelCall{Text: wish + "\n*Apples are asked for.*\n\nThey are red."})
	f.Must(err)
	_, err = do(f, f.Answering.SuggestQuestions, answering.SuggestInput{RunRef: run, Answer: run.TurnKey(1)})
	f.Must(err)
	if sent := f.Sent(); strings.Contains(sent, wish) || !strings.Contains(sent, "They are red.") {
		t.Errorf("the model reads %q", sent)
	}
}
