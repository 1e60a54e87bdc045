package answering_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// keeping is a change of a request to a project that keeps personal data from models.
func keeping(r *knowledge.Request) {
	r.Question = "What does ann@example.org pay from DE89370400440532013000?"
	r.Config.Privacy.Providers = knowledge.PrivacyRedact
	r.History = []knowledge.Message{{Role: "user", Content: "I am ann@example.org."}, {Role: "assistant", Content: "Hello bob@example.org."}}
}

// TestToolLoopWithoutPersonalData makes two turns. The first calls a tool with placeholders and
// cites nothing; the second has the call, its output and the words before it with the same
// placeholders.
func TestToolLoopWithoutPersonalData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	run := f.Ask("", keeping)
	f.Server.ScriptChat(
		modeltest.Reply{Text: "I look for <EMAIL_ADDRESS_1>. ", ToolCalls: []model.ToolCall{{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"rent of <EMAIL_ADDRESS_1> \u003cIBAN_CODE_1\u003e"}`}}},
		modeltest.Text("<EMAIL_ADDRESS_1> pays eva@example.org, says <EMAIL_ADDRESS_3>."),
	)
	first, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1})
	f.Must(err)
	var turn record.ModelCall
	f.Must(f.Blobs.GetJSON(f.Ctx, first.Key, &turn))
	if got := turn.ToolCalls[0].Arguments; got != `{"query":"rent of ann@example.org DE89370400440532013000"}` || turn.Raw != "I look for ann@example.org. " {
		t.Errorf("the tool is called with %s after %q", got, turn.Raw)
	}
	loop := record.Loop{Turns: []record.Turn{{Key: first.Key, Outputs: []record.ToolOutput{{Failure: "tom@example.org forbids it"}}}}}
	second, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
	f.Must(err)
	f.Must(f.Blobs.GetJSON(f.Ctx, second.Key, &turn))
	if want := "ann@example.org pays eva@example.org, says tom@example.org."; turn.Text != want || turn.Raw != want {
		t.Errorf("the answer is %q, want %q", turn.Text, want)
	}
	last := f.Server.Requests()[1]
	all := f.Sent()
	for _, m := range last.Messages {
		for _, c := range m.ToolCalls {
			all += c.Function.Arguments
		}
	}
	if strings.Contains(all, "@example.org") || strings.Contains(all, "DE89") || !strings.Contains(all, "rent of <EMAIL_ADDRESS_1> <IBAN_CODE_1>") || !strings.Contains(all, "<EMAIL_ADDRESS_3> forbids it") {
		t.Errorf("the model gets %s", all)
	}
}

// mute is a recogniser that does not answer.
type mute struct{}

func (mute) Recognise(context.Context, []string, []string) ([][]privacy.Finding, error) {
	return nil, privacy.NoAnswer(knowledge.RecogniserAnalyzer, errors.New("connection refused"))
}

// TestQuestionWithoutItsRecogniser checks that nothing goes to the model, nor to a reader, while a
// recogniser does not answer, and that the question is tried again.
func TestQuestionWithoutItsRecogniser(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*knowledge.PrivacyConfig){
		"providers": func(p *knowledge.PrivacyConfig) { p.Providers = knowledge.PrivacyRedact },
		"answers":   func(p *knowledge.PrivacyConfig) { p.Answers = knowledge.PrivacyRedact },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.AnswerWith(func(d *answering.Dependencies) {
				d.Recognisers = privacy.Recognisers{knowledge.RecogniserAnalyzer: mute{}}
			})
			f.Server.ScriptChat(modeltest.Text("Ann lives in Rome. She has lived there for many years."))
			_, err := do(f, f.Answering.CallModel, answering.ModelCallInput{Turn: 1, RunRef: f.Ask("Where does Ann live?", func(r *knowledge.Request) {
				r.Config.Privacy.Recognisers = map[string]knowledge.PIIRecogniser{"PERSON": knowledge.RecogniserAnalyzer}
				change(&r.Config.Privacy)
			})})
			f.FailedWith(err, knowledge.CodeUnavailable, true)
			if message := step.Describe(err, knowledge.Failure{}).Message; !strings.Contains(message, "analyzer") {
				t.Errorf("the message is %q", message)
			}
			if asked := f.Server.Totals().Chats.Asked; name == "providers" && asked != 0 || len(f.Workflows.Items()) != 0 {
				t.Errorf("the model was asked %d times, readers have %v", asked, f.Workflows.Items())
			}
		})
	}
}

// TestSuggestionsWithoutPersonalData checks what is suggested where answers are redacted.
func TestSuggestionsWithoutPersonalData(t *testing.T) {
	t.Parallel()
	for mode, want := range map[knowledge.PrivacyMode]string{knowledge.PrivacyRedact: "Who is <EMAIL_ADDRESS_1>?", knowledge.PrivacyOff: "Who is ann@example.org?"} {
		f := newFixture(t)
		run := f.Ask("What?", func(r *knowledge.Request) { r.Config.Privacy.Answers = mode })
		_, err := f.Blobs.PutJSON(f.Ctx, run.TurnKey(1), record.ModelCall{Text: "Nothing."})
		f.Must(err)
		f.Server.ScriptChat(modeltest.Text("Who is ann@example.org?"))
		suggested, err := do(f, f.Answering.SuggestQuestions, answering.SuggestInput{RunRef: run, Answer: run.TurnKey(1)})
		f.Must(err)
		var stored answering.Suggestions
		f.Must(f.Blobs.GetJSON(f.Ctx, suggested.Key, &stored))
		if len(stored.Questions) != 1 || stored.Questions[0] != want {
			t.Errorf("%s: %q", mode, stored.Questions)
		}
	}
}

// TestAnswerInJSONWithoutPersonalData checks that an answer in JSON stays JSON: a number that is
// personal data becomes a text.
func TestAnswerInJSONWithoutPersonalData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Server.ScriptChat(modeltest.Text(`{"mail": "ann@example.org", "nhs number": 9434765919, "n": 3}`))
	result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{Turn: 1, RunRef: f.Ask("Who?", func(r *knowledge.Request) {
		r.Config.Privacy.Answers = knowledge.PrivacyRedact
		r.Form.Format = []byte(`{"type":"json_object"}`)
	})})
	f.Must(err)
	f.WantAnswer(result, `{"mail": "<EMAIL_ADDRESS_1>", "nhs number": "<UK_NHS_1>", "n": 3}`, 0)
}
