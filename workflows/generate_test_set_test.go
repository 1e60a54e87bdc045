package workflows_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// generateTest is a model that writes questions.
type generateTest struct {
	mu         sync.Mutex
	plan       answering.GenerationPlan
	dropped    map[int]string
	broken     func(number int) bool
	duplicates int // of the questions that are kept, at the first choice
	written    []int
	stored     int
	finished   []answering.FinishGenerationInput
	onWrite    func(number int)
}

func (g *generateTest) environment() *testsuite.TestWorkflowEnvironment {
	env := newEnvironment()
	env.RegisterActivity(&answering.Activities{})
	var acts answering.Activities
	env.OnActivity(acts.PlanGeneration, mock.Anything, mock.Anything).Maybe().Return(func(context.Context, knowledge.RunRef) (answering.GenerationPlan, error) {
		return g.plan, nil
	})
	env.OnActivity(acts.WriteQuestion, mock.Anything, mock.Anything).Maybe().Return(g.write)
	env.OnActivity(acts.ChooseQuestions, mock.Anything, mock.Anything).Maybe().Return(g.choose)
	env.OnActivity(acts.NoteGeneration, mock.Anything, mock.Anything).Maybe().Return(nil)
	env.OnActivity(acts.FinishGeneration, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in answering.FinishGenerationInput) error {
		g.finished = append(g.finished, in)
		return nil
	})
	return env
}

func (g *generateTest) write(_ context.Context, in answering.WriteQuestionInput) (answering.WrittenQuestion, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.written = append(g.written, in.Number)
	if g.onWrite != nil {
		g.onWrite(in.Number)
	}
	if g.broken != nil && g.broken(in.Number) {
		return answering.WrittenQuestion{}, temporal.NewNonRetryableApplicationError("the model fails", string(knowledge.CodeProviderFailed), errors.New("so"))
	}
	return answering.WrittenQuestion{Dropped: g.dropped[in.Number], Usage: knowledge.Usage{PromptTokens: 10, ModelCalls: 1}}, nil
}

// choose counts what was kept, without the duplicates.
func (g *generateTest) choose(_ context.Context, in answering.ChooseInput) (chosen answering.ChosenQuestions, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.written {
		switch _, without := slices.BinarySearch(g.plan.Unanswerable, n); {
		case n >= in.Written || g.dropped[n] != "" || g.broken != nil && g.broken(n):
		case without:
			chosen.Without++
		default:
			chosen.Answerable++
		}
	}
	chosen.Answerable -= g.duplicates
	chosen.Duplicates = g.duplicates
	if in.Store {
		g.stored++
	}
	return chosen, nil
}

func generateInput() workflows.GenerateInput {
	return workflows.GenerateInput{GenerationState: answering.GenerationState{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "g"}}}
}

// want fails the test unless the generation ended once with this status.
func (g *generateTest) want(t *testing.T, status knowledge.RunStatus) knowledge.GenerationProgress {
	t.Helper()
	if len(g.finished) != 1 {
		t.Fatalf("%d ends", len(g.finished))
	}
	end := g.finished[0]
	if got := (record.Ending{Kind: knowledge.KindGenerate, Error: end.Error}).Status(); got != status {
		t.Errorf("it ended as %s, %+v", got, end.Error)
	}
	if stored := status == knowledge.RunCompleted; stored != (g.stored == 1) || g.stored > 1 {
		t.Errorf("the test set was stored %d times", g.stored)
	}
	return end.Progress
}

func TestGenerateTestSet(t *testing.T) {
	t.Parallel()
	t.Run("writes_until_there_are_enough_of_each_kind", func(t *testing.T) {
		t.Parallel()
		g := &generateTest{plan: answering.GenerationPlan{Questions: 100, Unanswerable: []int{9, 19, 29}, Answerable: 18, Without: 2}, dropped: map[int]string{3: "known", 9: "answerable"}}
		env := g.environment()
		env.ExecuteWorkflow(workflows.GenerateTestSet, generateInput())
		p := g.want(t, knowledge.RunCompleted)
		if p.Kept < 20 || p.Kept > 23 || !maps.Equal(p.Dropped, map[string]int{"known": 1, "answerable": 1}) || p.Usage.PromptTokens != 10*len(g.written) {
			t.Errorf("%+v", p)
		}
		if len(g.written) > 27 || !slices.Contains(g.written, 29) {
			t.Errorf("written were %v", g.written)
		}
	})
	t.Run("duplicates_make_room_for_others", func(t *testing.T) {
		t.Parallel()
		g := &generateTest{plan: answering.GenerationPlan{Questions: 50, Answerable: 10}, duplicates: 3}
		env := g.environment()
		env.ExecuteWorkflow(workflows.GenerateTestSet, generateInput())
		if p := g.want(t, knowledge.RunCompleted); p.Kept < 10 || p.Dropped["duplicate"] != 3 || len(g.written) < 13 {
			t.Errorf("%+v, %d were written", p, len(g.written))
		}
	})
	t.Run("a_question_whose_model_fails_is_dropped_and_three_in_a_row_end_it", func(t *testing.T) {
		t.Parallel()
		g := &generateTest{plan: answering.GenerationPlan{Questions: 20, Answerable: 10}, broken: func(n int) bool { return n == 4 }}
		env := g.environment()
		env.ExecuteWorkflow(workflows.GenerateTestSet, generateInput())
		if p := g.want(t, knowledge.RunCompleted); p.Dropped["failed"] != 1 || p.Kept < 10 {
			t.Errorf("one fails: %+v", p)
		}
		g = &generateTest{plan: answering.GenerationPlan{Questions: 20, Answerable: 10}, broken: func(int) bool { return true }}
		env = g.environment()
		env.ExecuteWorkflow(workflows.GenerateTestSet, generateInput())
		if p := g.want(t, knowledge.RunFailed); p.Dropped["failed"] < 3 || p.Dropped["failed"] > 7 {
			t.Errorf("all fail: %+v", p)
		}
	})
	t.Run("a_cancel_stores_nothing", func(t *testing.T) {
		t.Parallel()
		g := &generateTest{plan: answering.GenerationPlan{Questions: 2000, Answerable: 900}}
		env := g.environment()
		g.onWrite = func(number int) {
			if number == 20 {
				env.CancelWorkflow()
			}
		}
		env.ExecuteWorkflow(workflows.GenerateTestSet, generateInput())
		g.want(t, knowledge.RunCanceled)
	})
}

// TestLongGeneration suggests a continue-as-new at every turn.
func TestLongGeneration(t *testing.T) {
	t.Parallel()
	g := &generateTest{plan: answering.GenerationPlan{Questions: 400, Answerable: 100}}
	in, runs := generateInput(), 0
	for {
		env := g.environment()
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(workflows.GenerateTestSet, in)
		runs++
		if err := env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.GenerateInput](t, env.GetWorkflowError())
	}
	p := g.want(t, knowledge.RunCompleted)
	once := slices.Sorted(slices.Values(g.written))
	if runs < 15 || len(slices.Compact(slices.Clone(once))) != len(once) || p.Usage.PromptTokens != 10*len(g.written) {
		t.Errorf("%d runs, written were %v, %+v", runs, once, p)
	}
}
