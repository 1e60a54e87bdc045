package workflows_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// fillTest is a project that gets another embedding model, with three pages of documents.
type fillTest struct {
	reindexTest
	steps  []string
	plan   ingestion.GenerationPlan
	onFill func(page string) error
}

func (f *fillTest) run(t *testing.T, in *workflows.FillState) {
	t.Helper()
	env := f.environment()
	var acts ingestion.Activities
	env.OnActivity(acts.BeginGeneration, mock.Anything, mock.Anything).Maybe().Return(func(context.Context, ingestion.BeginGenerationInput) (ingestion.GenerationPlan, error) {
		f.steps = append(f.steps, "begin")
		return f.plan, nil
	})
	next := map[string]string{"": "a", "a": "b", "b": ""}
	env.OnActivity(acts.FillGenerations, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in ingestion.FillInput) (ingestion.FillResult, error) {
		f.steps = append(f.steps, "fill after "+in.After)
		if f.onFill != nil {
			if err := f.onFill(in.After); err != nil {
				return ingestion.FillResult{}, err
			}
		}
		return ingestion.FillResult{After: next[in.After], Documents: 2}, nil
	})
	env.OnActivity(acts.SwitchGeneration, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in ingestion.SwitchInput) error {
		f.steps = append(f.steps, "switch to "+in.Generation)
		return nil
	})
	env.OnActivity(acts.DropGeneration, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in ingestion.DropInput) (string, error) {
		f.steps = append(f.steps, "drop "+in.Generation+" after "+in.After)
		return map[string]string{"": "m"}[in.After], nil
	})
	input := reindexInput()
	input.Fill = in
	env.ExecuteWorkflow(workflows.ReindexProject, input)
	if err := env.GetWorkflowError(); err != nil || !env.IsWorkflowCompleted() {
		t.Fatalf("the workflow ended with %v", err)
	}
}

func (f *fillTest) want(t *testing.T, failed bool, steps ...string) {
	t.Helper()
	if diff := cmp.Diff(steps, f.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if len(f.finished) != 1 || (f.finished[0].Error != nil) != failed {
		t.Errorf("the run ended with %+v", f.finished)
	}
}

func TestReindexFill(t *testing.T) {
	t.Parallel()
	moves := ingestion.GenerationPlan{Write: []string{"new"}, Switch: "new", Drop: []string{"old"}}
	filled := []string{"begin", "fill after ", "fill after a", "fill after b"}
	t.Run("a project is filled, switched and cleaned before versions are made", func(t *testing.T) {
		t.Parallel()
		f := &fillTest{reindexTest: reindexTest{documents: 3, publishes: 3}, plan: moves}
		f.run(t, &workflows.FillState{})
		f.want(t, false, append(filled, "switch to new", "drop old after ", "drop old after m")...)
		if f.finished[0].Filled != 6 || f.published != 3 {
			t.Errorf("%d documents are filled and %d published", f.finished[0].Filled, f.published)
		}
	})
	t.Run("a project whose vectors are up to date is not filled", func(t *testing.T) {
		t.Parallel()
		f := &fillTest{reindexTest: reindexTest{documents: 3, publishes: 3}}
		f.run(t, &workflows.FillState{})
		f.want(t, false, "begin")
	})
	t.Run("a rebuild fills and makes no versions", func(t *testing.T) {
		t.Parallel()
		f := &fillTest{reindexTest: reindexTest{documents: 3}, plan: ingestion.GenerationPlan{Write: []string{"old"}}}
		f.run(t, &workflows.FillState{Rebuild: true})
		f.want(t, false, filled...)
		if f.pages != 0 {
			t.Errorf("%d pages of versions were started", f.pages)
		}
	})
	t.Run("a failure removes what was filled", func(t *testing.T) {
		t.Parallel()
		f := &fillTest{plan: moves, onFill: func(after string) error {
			if after == "" {
				return nil
			}
			return temporal.NewNonRetryableApplicationError("refused", string(knowledge.CodeProviderFailed), errors.New("refused"))
		}}
		f.run(t, &workflows.FillState{})
		f.want(t, true, "begin", "fill after ", "fill after a", "drop new after ", "drop new after m")
	})
}
