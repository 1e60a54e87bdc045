package workflows_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// heldFor is the error of a step whose provider is held.
func heldFor(wait time.Duration, probed bool) error {
	return temporal.NewApplicationErrorWithOptions("the model's endpoint is limiting requests", string(knowledge.CodeProviderFailed), temporal.ApplicationErrorOptions{
		NonRetryable: true, NextRetryDelay: wait,
		Details: []any{step.ErrorDetails{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Retryable: true, Held: true, Probed: probed}},
	})
}

// heldPage runs a page of one batch that is held until it returns no error, and returns the
// turns that it had and how long the page took.
func heldPage(t *testing.T, prepare func(test *pageTest), batch func(try int) error) (turns []ingestion.StepTurn, took time.Duration, test *pageTest) {
	t.Helper()
	var mu sync.Mutex
	test = newPageTest(func(in ingestion.BatchInput) (ingestion.BatchResult, error) {
		mu.Lock()
		defer mu.Unlock()
		turns = append(turns, in.StepTurn)
		return ingestion.BatchResult{}, batch(len(turns))
	}, func(ingestion.LargeInput) error { return nil })
	began := test.env.Now()
	if prepare != nil {
		prepare(test)
	}
	if !test.run(t, 10).Complete {
		t.Error("the page is not complete")
	}
	return turns, test.env.Now().Sub(began), test
}

func TestHeldPage(t *testing.T) {
	t.Parallel()
	first, waited := ingestion.StepTurn{Waits: true}, ingestion.StepTurn{Waits: true, Waited: true}
	asked := ingestion.StepTurn{Waits: true, Waited: true, Now: true}
	release := func(after time.Duration, now bool) func(*pageTest) {
		return func(test *pageTest) {
			test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalPage, workflows.PageRelease{Now: now}) }, after)
		}
	}
	for name, tc := range map[string]struct {
		prepare  func(*pageTest)
		wait     time.Duration
		held     int // tries
		want     []ingestion.StepTurn
		from, to time.Duration // that the page takes
	}{
		"waits as it is told, however often":         {nil, 4 * time.Minute, 3, []ingestion.StepTurn{first, waited, waited, waited}, 12 * time.Minute, 13 * time.Minute},
		"somebody ends the wait":                     {release(10*time.Second, true), time.Hour, 1, []ingestion.StepTurn{first, asked}, 10 * time.Second, 20 * time.Second},
		"the provider takes requests again":          {release(10*time.Second, false), time.Hour, 1, []ingestion.StepTurn{first, waited}, 10 * time.Second, 20 * time.Second},
		"a signal before the wait does not end it":   {release(0, true), 5 * time.Minute, 0, []ingestion.StepTurn{first}, 0, time.Second},
		"each signal ends the wait of its time only": {release(10*time.Second, true), time.Minute, 2, []ingestion.StepTurn{first, asked, waited}, 70 * time.Second, 80 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, took, test := heldPage(t, tc.prepare, func(try int) error {
				if try <= tc.held {
					return heldFor(tc.wait, false)
				}
				return nil
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if took < tc.from || took > tc.to || len(test.failed) != 0 {
				t.Errorf("it took %v, want %v to %v; failed %+v", took, tc.from, tc.to, test.failed)
			}
		})
	}
}

func TestPageThatIsHeldForDays(t *testing.T) {
	t.Parallel()
	t.Run("fails its objects if probes are refused for three days", func(t *testing.T) {
		t.Parallel()
		_, took, test := heldPage(t, nil, func(int) error { return heldFor(6*time.Hour, true) })
		if took < 72*time.Hour || took > 80*time.Hour || len(test.failed) != 1 || test.failed[0].Error.Code != knowledge.CodeProviderFailed {
			t.Errorf("after %v: %+v", took, test.failed)
		}
	})
	t.Run("is started again when its history has become long", func(t *testing.T) {
		t.Parallel()
		tries := 0
		test := newPageTest(func(ingestion.BatchInput) (ingestion.BatchResult, error) {
			tries++
			return ingestion.BatchResult{}, heldFor(time.Minute, false)
		}, func(ingestion.LargeInput) error { return nil })
		test.env.SetContinueAsNewSuggested(true)
		if got := test.run(t, 1000); got.Complete || !got.Again || tries > 4 || len(test.failed) != 0 {
			t.Errorf("%+v after %d tries, failed %+v", got, tries, test.failed)
		}
	})
	t.Run("an error that Temporal has retried is final", func(t *testing.T) {
		t.Parallel()
		turns, _, test := heldPage(t, nil, func(int) error {
			return temporal.NewNonRetryableApplicationError("refused", string(knowledge.CodeProviderFailed), nil)
		})
		if len(turns) != 1 || len(test.failed) != 1 {
			t.Errorf("%d tries, failed %+v", len(turns), test.failed)
		}
	})
}
