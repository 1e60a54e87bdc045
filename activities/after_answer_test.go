package activities_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
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
			f.publish(f.upload("first.txt", "apples apples of the first"))
			f.publish(f.upload("second.txt", "apples of the second, which is longer"))
			run := f.talk("apples")
			request, err := activities.ReadRequest(f.ctx, f.blobs, run)
			f.must(err)
			request.Kind, request.Config.AI.PostQuery.SourceFilter = test.kind, test.filter
			_, err = f.blobs.PutJSON(f.ctx, run.RequestKey(), request)
			f.must(err)
			search, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: run})
			f.must(err)
			f.server.ScriptChat(modeltest.Text(test.said))
			loop := activities.Loop{Found: search.Found}
			answered, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: run, Turn: 1, Loop: loop})
			f.must(err)
			loop.Answer = answered.Key
			f.must(step(f, f.answering.FinishAnswer, activities.FinishAnswerInput{RunRef: run, Loop: loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
			var record activities.AnswerRecord
			f.must(f.blobs.GetJSON(f.ctx, run.AnswerKey(), &record))
			var told []activities.Source
			f.must(json.Unmarshal(f.messages(run)[1].Sources, &told))
			for where, sources := range map[string][]activities.Source{"answer": record.Sources, "conversation": told} {
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
// is shown that of an earlier answer.
func TestReflection(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(f.upload("first.txt", "apples apples of the first"))
	const wish = "**Reflection:**"
	for _, reflect := range []bool{false, true} {
		f.server.ScriptChat(modeltest.Text("Apples."))
		_, err := do(f, f.answering.CallModel, f.asked(func(r *knowledge.Request) { r.Config.AI.Reflection = reflect }))
		f.must(err)
		if got := strings.Contains(f.sent(), wish); got != reflect {
			t.Errorf("reflection %t: the model reads %q", reflect, f.sent())
		}
	}
	f.server.ScriptChat(modeltest.Text("Why?"))
	run := f.ask("apples")
	_, err := f.blobs.PutJSON(f.ctx, run.TurnKey(1), activities.TurnRecord{Text: wish + "\n*Apples are asked for.*\n\nThey are red."})
	f.must(err)
	_, err = do(f, f.answering.SuggestQuestions, activities.SuggestInput{RunRef: run, Answer: run.TurnKey(1)})
	f.must(err)
	if sent := f.sent(); strings.Contains(sent, wish) || !strings.Contains(sent, "They are red.") {
		t.Errorf("the model reads %q", sent)
	}
}
