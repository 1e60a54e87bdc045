package workflows_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// evaluateTest is an evaluation as SQL has it, with items from 1 on.
type evaluateTest struct {
	mu       sync.Mutex
	items    int
	begun    int
	asked    []int // in order
	ended    map[int]knowledge.ItemState
	open     int
	most     int // that were open at a time
	broken   map[int]bool
	notes    []answering.EvaluationState
	measured []answering.MeasureInput
	finished []answering.FinishEvaluationInput
	onJudge  func(number int)
}

func (e *evaluateTest) environment() *testsuite.TestWorkflowEnvironment {
	env := newEnvironment()
	env.RegisterActivity(&answering.Activities{})
	env.RegisterWorkflow(workflows.AnswerQuery)
	var acts answering.Activities
	env.OnActivity(acts.BeginEvaluation, mock.Anything, mock.Anything).Maybe().Return(func(context.Context, knowledge.RunRef) error {
		e.begun++
		return nil
	})
	env.OnActivity(acts.NextItems, mock.Anything, mock.Anything).Maybe().Return(e.next)
	env.OnActivity(acts.PrepareEvaluated, mock.Anything, mock.Anything).Maybe().Return(e.prepare)
	env.OnWorkflow(workflows.AnswerQuery, mock.Anything, mock.Anything).Maybe().Return(func(ctx workflow.Context, _ record.AnswerInput) error {
		return workflow.Sleep(ctx, time.Second)
	})
	env.OnActivity(acts.JudgeAnswer, mock.Anything, mock.Anything).Maybe().Return(e.judge)
	env.OnActivity(acts.FailEvaluated, mock.Anything, mock.Anything).Maybe().Return(e.fail)
	env.OnActivity(acts.NoteEvaluation, mock.Anything, mock.Anything).Maybe().Return(e.note)
	env.OnActivity(acts.StoreSegment, mock.Anything, mock.Anything).Maybe().Return(nil)
	env.OnActivity(acts.MeasureEvaluation, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in answering.MeasureInput) error {
		e.measured = append(e.measured, in)
		return nil
	})
	env.OnActivity(acts.FinishEvaluation, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in answering.FinishEvaluationInput) error {
		e.finished = append(e.finished, in)
		return nil
	})
	return env
}

func (e *evaluateTest) next(_ context.Context, in answering.NextItemsInput) ([]int, error) {
	var list []int
	for n := in.After + 1; n <= e.items && len(list) < in.Limit; n++ {
		if _, ended := e.ended[n]; !ended {
			list = append(list, n)
		}
	}
	return list, nil
}

func (e *evaluateTest) prepare(_ context.Context, in answering.EvaluatedInput) (record.AnswerInput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, in.Number)
	e.open++
	e.most = max(e.most, e.open)
	return record.AnswerInput{RunRef: in.EvaluatedRun(in.Number, in.Try), Caller: &record.Caller{Run: in.Run, Quiet: true}}, nil
}

func (e *evaluateTest) judge(_ context.Context, in answering.EvaluatedInput) (answering.Judged, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.onJudge != nil {
		e.onJudge(in.Number)
	}
	if e.broken[in.Number] {
		return answering.Judged{}, temporal.NewNonRetryableApplicationError("no", "provider_failed", nil)
	}
	return e.end(in.Number, knowledge.ItemJudged), nil
}

func (e *evaluateTest) fail(_ context.Context, in answering.FailEvaluatedInput) (answering.Judged, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.end(in.Number, knowledge.ItemFailed), nil
}

func (e *evaluateTest) end(number int, state knowledge.ItemState) answering.Judged {
	e.open--
	if e.ended == nil {
		e.ended = map[int]knowledge.ItemState{}
	}
	e.ended[number] = state
	return answering.Judged{State: state, Usage: knowledge.Usage{PromptTokens: 10, ModelCalls: 1}}
}

func (e *evaluateTest) note(_ context.Context, in answering.EvaluationState) (knowledge.EvaluationProgress, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = append(e.notes, in)
	return knowledge.EvaluationProgress{Total: e.items, Judged: len(e.ended), Paused: in.Paused}, nil
}

func evaluateInput() workflows.EvaluateInput {
	return workflows.EvaluateInput{EvaluationState: answering.EvaluationState{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "e"}}}
}

// want fails the test unless the first items were asked once each, and the run ended with this
// status.
func (e *evaluateTest) want(t *testing.T, asked int, status knowledge.RunStatus) answering.FinishEvaluationInput {
	t.Helper()
	var want []int
	for n := 1; n <= asked; n++ {
		want = append(want, n)
	}
	if got := slices.Sorted(slices.Values(e.asked)); !slices.Equal(got, want) {
		t.Errorf("asked were %v, want the first %d", got, asked)
	}
	if len(e.finished) != 1 {
		t.Fatalf("%d ends", len(e.finished))
	}
	end := e.finished[0]
	if got := (record.Ending{Kind: knowledge.KindEvaluate, Error: end.Error}).Status(); got != status {
		t.Errorf("it ended as %s, %+v", got, end.Error)
	}
	return end
}

func TestEvaluateProject(t *testing.T) {
	t.Parallel()
	t.Run("asks_each_item_once_and_some_at_a_time", func(t *testing.T) {
		t.Parallel()
		e := &evaluateTest{items: 450, broken: map[int]bool{3: true}}
		env := e.environment()
		env.ExecuteWorkflow(workflows.EvaluateProject, evaluateInput())
		end := e.want(t, 450, knowledge.RunCompleted)
		if e.most > 8 || e.most < 2 || len(e.ended) != 450 || e.ended[3] != knowledge.ItemFailed || end.Usage.PromptTokens != 4500 {
			t.Errorf("%d were open at a time, %d ended, the third %s, and used was %+v", e.most, len(e.ended), e.ended[3], end.Usage)
		}
		if len(e.measured) != 1 || !e.measured[0].Tell || len(end.Items) > 130 {
			t.Errorf("measured %+v; the log has %d events", e.measured, len(end.Items))
		}
	})
	t.Run("judges_without_a_model_in_local_activities", func(t *testing.T) {
		t.Parallel()
		e := &evaluateTest{items: 30, broken: map[int]bool{3: true}}
		env := e.environment()
		var judging []string
		env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
			judging = append(judging, info.ActivityType.Name)
		})
		in := evaluateInput()
		in.Offline = true
		env.ExecuteWorkflow(workflows.EvaluateProject, in)
		e.want(t, 30, knowledge.RunCompleted)
		if len(e.ended) != 30 || e.ended[3] != knowledge.ItemFailed || slices.Contains(judging, "JudgeAnswer") || !slices.Contains(judging, "MeasureEvaluation") {
			t.Errorf("%d ended, the third %s; the activities are %v", len(e.ended), e.ended[3], judging)
		}
	})
	t.Run("ends_when_the_budget_is_used_up", func(t *testing.T) {
		t.Parallel()
		e := &evaluateTest{items: 100}
		in := evaluateInput()
		in.Budget.Tokens = 50
		env := e.environment()
		env.ExecuteWorkflow(workflows.EvaluateProject, in)
		if len(e.asked) < 5 || len(e.asked) > 5+8 || len(e.finished) != 1 || e.finished[0].Error == nil || e.finished[0].Error.Code != knowledge.CodeLimitReached {
			t.Errorf("%d were asked, and the ends are %+v", len(e.asked), e.finished)
		}
		if len(e.measured) != 1 || e.measured[0].Stopped == "" {
			t.Errorf("measured %+v", e.measured)
		}
	})
	t.Run("a_pause_starts_nothing_until_it_is_resumed", func(t *testing.T) {
		t.Parallel()
		e := &evaluateTest{items: 60}
		env := e.environment()
		e.onJudge = func(number int) {
			if number == 10 {
				env.SignalWorkflow(workflows.SignalEvaluation, workflows.EvaluationControl{Paused: true})
			}
		}
		before := 0
		env.RegisterDelayedCallback(func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			before = len(e.asked)
			env.SignalWorkflow(workflows.SignalEvaluation, workflows.EvaluationControl{})
		}, time.Hour)
		env.ExecuteWorkflow(workflows.EvaluateProject, evaluateInput())
		e.want(t, 60, knowledge.RunCompleted)
		paused := slices.ContainsFunc(e.notes, func(s answering.EvaluationState) bool { return s.Paused })
		if before < 10 || before > 26 || !paused {
			t.Errorf("%d were asked before the resume; a pause was noted: %t", before, paused)
		}
	})
	t.Run("a_cancel_ends_it_also_while_it_is_paused", func(t *testing.T) {
		t.Parallel()
		for _, paused := range []bool{false, true} {
			e := &evaluateTest{items: 1000}
			env := e.environment()
			env.RegisterDelayedCallback(func() {
				if paused {
					env.SignalWorkflow(workflows.SignalEvaluation, workflows.EvaluationControl{Paused: true})
				}
			}, 2500*time.Millisecond)
			env.RegisterDelayedCallback(env.CancelWorkflow, 5*time.Second)
			env.ExecuteWorkflow(workflows.EvaluateProject, evaluateInput())
			e.want(t, len(e.asked), knowledge.RunCanceled)
			if len(e.asked) == 0 || len(e.asked) > 60 || len(e.measured) != 1 || e.measured[0].Tell {
				t.Errorf("%d were asked; measured %+v", len(e.asked), e.measured)
			}
		}
	})
}

// TestLongEvaluation suggests a continue-as-new at every turn.
func TestLongEvaluation(t *testing.T) {
	t.Parallel()
	e := &evaluateTest{items: 300}
	in, runs := evaluateInput(), 0
	for {
		env := e.environment()
		env.SetContinueAsNewSuggested(true)
		env.ExecuteWorkflow(workflows.EvaluateProject, in)
		runs++
		if err := env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.EvaluateInput](t, env.GetWorkflowError())
	}
	end := e.want(t, 300, knowledge.RunCompleted)
	if runs < 15 || e.begun != 1 || end.Usage.PromptTokens != 3000 {
		t.Errorf("%d runs, begun %d times, used %+v", runs, e.begun, end.Usage)
	}
}
