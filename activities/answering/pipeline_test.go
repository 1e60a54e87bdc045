package answering_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/record"
)

// stepAnswers answers steps by their places.
type stepAnswers map[string]string

// Run implements step.StepRunner.
func (s stepAnswers) Run(_ context.Context, c pipeline.Call) ([]byte, error) {
	return []byte(s[c.Step.At]), nil
}

// stepped is a change of a request to a project with a step at each place of questions.
func stepped(p knowledge.PrivacyConfig) func(*knowledge.Request) {
	return func(r *knowledge.Request) {
		r.Config.Privacy = p
		for _, at := range []string{knowledge.PipelineBeforePrompt, knowledge.PipelineAfterAnswer} {
			r.Config.Pipeline = append(r.Config.Pipeline, knowledge.PipelineStep{At: at, Code: &knowledge.PipelineCode{Language: knowledge.PipelinePython, Source: "pass"}})
		}
	}
}

// TestStepsAfterAnswerWithoutPersonalData checks the answer and the refusal of a step where answers
// are redacted, and where they are not.
func TestStepsAfterAnswerWithoutPersonalData(t *testing.T) {
	t.Parallel()
	for mode, want := range map[knowledge.PrivacyMode]string{knowledge.PrivacyRedact: "Ask <EMAIL_ADDRESS_1>.", knowledge.PrivacyOff: "Ask bob@example.org."} {
		for name, said := range map[string]string{"answer": `{"answer":"Ask bob@example.org."}`, "refusal": `{"reject":{"reason":"Ask bob@example.org."}}`} {
			f := newFixture(t)
			f.AnswerWith(func(d *answering.Dependencies) { d.Steps = stepAnswers{knowledge.PipelineAfterAnswer: said} })
			run := f.Ask("Who?", stepped(knowledge.PrivacyConfig{Answers: mode}))
			_, err := f.Blobs.PutJSON(f.Ctx, run.TurnKey(1), record.ModelCall{Text: "Nobody."})
			f.Must(err)
			result, err := do(f, f.Answering.RunAfterAnswer, answering.StepsInput{RunRef: run, Loop: record.Loop{Answer: run.TurnKey(1)}})
			f.Must(err)
			shown := result.Text + result.Message
			for _, s := range result.Steps {
				shown += s.Message
			}
			if !strings.Contains(shown, want) || strings.Contains(shown, "bob@") != (mode == knowledge.PrivacyOff) {
				t.Errorf("%s, answers %s: readers are shown %q", name, mode, shown)
			}
			if name == "refusal" && result.Code != knowledge.CodeStepRejected {
				t.Errorf("a refusal is %+v", result)
			}
		}
	}
}

// TestStepsBeforePromptWithoutPersonalData checks that the words of a step go to the model with
// placeholders where it gets no personal data, and as they are elsewhere.
func TestStepsBeforePromptWithoutPersonalData(t *testing.T) {
	t.Parallel()
	for _, mode := range []knowledge.PrivacyMode{knowledge.PrivacyRedact, knowledge.PrivacyOff} {
		f := newFixture(t)
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Steps = stepAnswers{knowledge.PipelineBeforePrompt: `{"question":"What does cat@example.org pay?","instructions":"Answer as dan@example.org."}`}
		})
		in := f.Asked(stepped(knowledge.PrivacyConfig{Providers: mode}))
		result, err := do(f, f.Answering.RunBeforePrompt, answering.StepsInput{RunRef: in.RunRef, Loop: in.Loop})
		f.Must(err)
		in.Loop.Prompted, in.Loop.Stepped = true, result.Words
		f.Server.ScriptChat(modeltest.Text("Nothing."))
		_, err = do(f, f.Answering.CallModel, in)
		f.Must(err)
		sent := f.Sent()
		if strings.Contains(sent, "@example.org") == (mode == knowledge.PrivacyRedact) || !strings.Contains(sent, "Answer as ") || !strings.Contains(sent, "What does ") {
			t.Errorf("providers %s: the model gets %s", mode, sent)
		}
	}
}
