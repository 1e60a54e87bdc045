package answering_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// listening is a model that keeps the requests it gets.
type listening struct {
	scripted
	heard *[]model.ChatRequest
}

func (l listening) Chat(ctx context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error] {
	*l.heard = append(*l.heard, r)
	return l.scripted.Chat(ctx, r)
}

// TestFormOfAnAnswer asks for answers in a form, about a passage.
func TestFormOfAnAnswer(t *testing.T) {
	t.Parallel()
	half := 0.5
	object := knowledge.AnswerForm{Format: json.RawMessage(`{"type":"json_object"}`)}
	cited := `<citation id="` + knowledge.ChunkID(knowledge.DocumentID("w", "p", "apples.txt"), 1, 0) + `">[1]</citation>`
	for name, test := range map[string]struct {
		form       knowledge.AnswerForm
		said, want string
		asksJSON   bool
	}{
		"words":                      {knowledge.AnswerForm{}, "In autumn [1].", "In autumn " + cited + ".", false},
		"a_sample":                   {knowledge.AnswerForm{TopP: &half}, "In autumn.", "In autumn.", false},
		"stops":                      {knowledge.AnswerForm{Stop: []string{"END"}}, "In autumn.", "In autumn.", false},
		"a_stop_at_once":             {knowledge.AnswerForm{Stop: []string{"In"}}, "", "", false},
		"json":                       {object, `{"when":["autumn"],"ranks":[1]}`, `{"when":["autumn"],"ranks":[1]}`, true},
		"json_with_a_list_of_ranks":  {object, `{"ranks":[1, 1]}`, `{"ranks":[1, 1]}`, true},
		"json_that_cites_in_a_text":  {object, `{"when":"autumn <source_1>"}`, `{"when":"autumn ` + cited + `"}`, true},
		"json_that_cites_no_passage": {object, `{"when":"autumn <source_9>"}`, `{"when":"autumn"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
			var heard []model.ChatRequest
			f.AnswerWith(func(d *answering.Dependencies) {
				d.Chat = listening{replies(strings.SplitAfter(test.said, " ")...), &heard}
			})
			result, err := do(f, f.Answering.CallModel, f.Asked(func(r *knowledge.Request) { r.Form, r.Config.AI.Reflection = test.form, true }))
			f.Must(err)
			f.WantAnswer(result, test.want, 0)
			if got := (knowledge.AnswerForm{TopP: heard[0].TopP, Stop: heard[0].Stop, Format: heard[0].Format}); !cmp.Equal(test.form, got) {
				t.Error(cmp.Diff(test.form, got))
			}
			system := heard[0].Messages[0].Content
			if asksJSON, reflects := strings.Contains(system, "one JSON object"), strings.Contains(system, "Reflection"); asksJSON != test.asksJSON || reflects == asksJSON {
				t.Errorf("the prompt is %s", system)
			}
		})
	}
}

// TestChosenTool names the tool that the model is to call first.
func TestChosenTool(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choice string
		turn   int
		none   bool
		want   string
		failed bool
	}{
		"a_tool":                  {tool.DocumentsRAG, 1, false, tool.DocumentsRAG, false},
		"only_in_the_first_turn":  {tool.DocumentsRAG, 2, false, "", false},
		"not_after_the_last_turn": {tool.DocumentsRAG, 1, true, "none", false},
		"any":                     {"required", 1, false, "required", false},
		"one_that_is_gone":        {"tides_hours", 1, false, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
			var heard []model.ChatRequest
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = listening{replies("In autumn."), &heard} })
			in := answering.ModelCallInput{RunRef: f.Ask("when?", func(r *knowledge.Request) { r.ToolChoice = test.choice }), Turn: test.turn, NoTools: test.none}
			if test.turn > 1 {
				first := record.ModelCall{ToolCalls: []model.ToolCall{{ID: "a", Name: tool.DocumentsRAG, Arguments: `{}`}}}
				_, err := f.Blobs.PutJSON(f.Ctx, in.TurnKey(1), first)
				f.Must(err)
				in.Loop.Turns = []record.Turn{{Key: in.TurnKey(1), Outputs: []record.ToolOutput{{Failure: "nothing"}}}}
			}
			_, err := do(f, f.Answering.CallModel, in)
			if test.failed {
				f.FailedWith(err, knowledge.CodeInvalid, false)
				if len(heard) > 0 || !strings.Contains(err.Error(), "tides_hours") {
					t.Errorf("%d calls, %v", len(heard), err)
				}
				return
			}
			f.Must(err)
			if heard[0].ToolChoice != test.want {
				t.Errorf("the model is told %q", heard[0].ToolChoice)
			}
		})
	}
}
