package step_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
)

// memory keeps blobs in memory, as far as a Pipeline uses them.
type memory struct {
	step.Blobs

	kept map[string][]byte
}

// GetJSON implements step.Blobs.
func (m memory) GetJSON(_ context.Context, key string, v any) error {
	data, ok := m.kept[key]
	if !ok {
		return blob.ErrNotFound
	}
	return json.Unmarshal(data, v)
}

// PutJSON implements step.Blobs.
func (m memory) PutJSON(_ context.Context, key string, v any) (blob.Ref, error) {
	data, err := json.Marshal(v)
	m.kept[key] = data
	return blob.Ref{}, err
}

// told answers steps by their addresses, and counts what it is asked.
type told struct {
	answers map[string]string // "" = it fails
	asked   []pipeline.Call
}

// Run implements step.StepRunner.
func (r *told) Run(_ context.Context, c pipeline.Call) ([]byte, error) {
	r.asked = append(r.asked, c)
	if answer := r.answers[c.Step.Webhook.URL]; answer != "" {
		return []byte(answer), nil
	}
	return nil, &knowledge.Error{Code: knowledge.CodeStepFailed, Message: "it did not answer", Retryable: true}
}

// TestPipeline runs steps one after the other, and asks none again whose answer is kept.
func TestPipeline(t *testing.T) {
	t.Parallel()
	at := func(url string, required bool) knowledge.PipelineStep {
		return knowledge.PipelineStep{Name: url, At: knowledge.PipelineAfterAnswer, Webhook: &knowledge.PipelineWebhook{URL: url}, Required: required}
	}
	runner := &told{answers: map[string]string{"a": `{"answer":"A"}`, "b": `{"answer":"B"}`, "wrong": `{"answers":1}`, "refuses": `{"reject":{"reason":"no"}}`}}
	p := step.Pipeline{Blobs: memory{kept: map[string][]byte{}}, Runner: runner, Log: slog.New(slog.DiscardHandler)}
	run := func(said string, steps ...knowledge.PipelineStep) (string, []knowledge.StepRun, error) {
		in := step.PipelineInput{Steps: steps, At: knowledge.PipelineAfterAnswer, Key: func(name string) string { return "run/" + name }}
		runs, err := p.Run(t.Context(), in, func() ([]byte, error) { return []byte(said), nil }, func(output []byte) (bool, error) {
			answer, err := pipeline.Decode[pipeline.AfterAnswerAnswer](output)
			if err == nil {
				err = answer.Check()
			}
			if err != nil {
				return false, err
			}
			said = *answer.Answer
			return true, nil
		})
		return said, runs, err
	}
	said, runs, err := run("", at("a", true), knowledge.PipelineStep{At: knowledge.PipelineExtracted}, at("silent", false), at("wrong", false), at("b", true))
	want := []knowledge.StepRun{
		{Name: "a", At: "after_answer", Status: "completed", Changed: true, Required: true}, {Name: "silent", At: "after_answer", Status: "failed", Message: "it did not answer"},
		{Name: "wrong", At: "after_answer", Status: "failed"}, {Name: "b", At: "after_answer", Status: "completed", Changed: true, Required: true},
	}
	if diff := cmp.Diff(want, runs, cmpopts.IgnoreFields(knowledge.StepRun{}, "Version", "Seconds"), cmp.FilterPath(func(path cmp.Path) bool { return path.String() == "Message" }, cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }))); diff != "" || err != nil || said != "B" {
		t.Errorf("%q, %v\n%s", said, err, diff)
	}
	if string(runner.asked[3].Input) != "A" {
		t.Errorf("the last step was sent %q, want what the first one said", runner.asked[3].Input)
	}
	before := len(runner.asked)
	if _, _, err := run("", at("a", true), at("b", true)); err != nil || len(runner.asked) != before {
		t.Errorf("%d more requests, %v", len(runner.asked)-before, err)
	}
	if _, _, err := run("another input", at("a", true)); err != nil || len(runner.asked) != before+1 || runner.asked[before].ID == runner.asked[0].ID {
		t.Errorf("another input made %d requests, %v", len(runner.asked)-before, err)
	}
	if _, runs, err := run("", at("silent", true), at("b", false)); !knowledge.IsCode(err, knowledge.CodeStepFailed) || !knowledge.AsError(err).Retryable || len(runs) != 1 {
		t.Errorf("a required step that fails: %+v, %v", runs, err)
	}
	if _, runs, err := run("", at("refuses", false)); !knowledge.IsCode(err, knowledge.CodeStepRejected) || runs[0].Status != knowledge.StepRejected {
		t.Errorf("a step that refuses: %+v, %v", runs, err)
	}
}
