package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// limited is the failure of a provider that asks for a pause.
func limited(pause time.Duration, held bool) error {
	return temporal.NewApplicationErrorWithOptions("the provider limits requests", "provider_failed", temporal.ApplicationErrorOptions{
		NextRetryDelay: pause, Details: []any{step.ErrorDetails{Code: knowledge.CodeProviderFailed, Retryable: true, Held: held}},
	})
}

// waits records what readers are told of the waits of a document.
type waits struct {
	mu   sync.Mutex
	told []*knowledge.Waiting
}

func (w *waits) record(test *ingestTest) {
	var acts ingestion.Activities
	test.env.OnActivity(acts.NoteWaiting, mock.Anything, mock.Anything).Maybe().Return(
		func(_ context.Context, in ingestion.WaitingInput) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, in.Waiting)
			return nil
		})
}

// inLog returns the waits in the events of a log; nil stands for events without one
// that follow one with it.
func inLog(t *testing.T, items []stream.Item) (found []*knowledge.Waiting) {
	t.Helper()
	var last *knowledge.Waiting
	for _, item := range items {
		e, err := stream.DecodeEvent(item.Data)
		if err != nil {
			t.Fatal(err)
		}
		var state record.DocumentState
		if item.Topic != stream.TopicDocument || json.Unmarshal(e.Data, &state) != nil || cmp.Equal(state.Waiting, last) {
			continue
		}
		last = state.Waiting
		found = append(found, last)
	}
	return found
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	for name, small := range map[string]bool{"small": true, "large": false} {
		t.Run("readers of a "+name+" document see why it waits and until when", func(t *testing.T) {
			t.Parallel()
			test, waits := newIngestTest(t), &waits{}
			waits.record(test)
			test.steps(small, 1)
			start, tries := test.env.Now(), 0
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(func(context.Context, ingestion.EmbedInput) error {
				if tries++; tries <= 2 {
					return limited(time.Duration(tries)*time.Hour, false)
				}
				return nil
			})
			test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
			wait := func(attempt int, nextAt time.Duration) *knowledge.Waiting {
				return &knowledge.Waiting{
					Since: start, Attempt: attempt, Of: 60, NextAt: start.Add(nextAt), Code: knowledge.CodeProviderFailed, Message: "the provider limits requests",
				}
			}
			want := []*knowledge.Waiting{wait(1, time.Hour), nil, wait(2, 3*time.Hour), nil}
			if diff := cmp.Diff(want, waits.told, cmpopts.EquateApproxTime(time.Minute)); diff != "" {
				t.Errorf("told: %s", diff)
			}
			if diff := cmp.Diff(want, inLog(t, test.finished[0].Items), cmpopts.EquateApproxTime(time.Minute)); diff != "" {
				t.Errorf("in the log: %s", diff)
			}
			if got := test.outcomes()[1]; got != "completed" || tries != 3 {
				t.Errorf("it ended as %q after %d tries", got, tries)
			}
		})
	}

	t.Run("a download that fails waits too", func(t *testing.T) {
		t.Parallel()
		test, waits := newIngestTest(t), &waits{}
		waits.record(test)
		tries := 0
		test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.PrepareInput) (ingestion.PrepareResult, error) {
				return ingestion.PrepareResult{Fetch: tries == 0}, nil
			})
		test.env.OnActivity(acts.FetchDocument, mock.Anything, mock.Anything).Return(func(context.Context, ingestion.FetchInput) error {
			if tries++; tries == 1 {
				return temporal.NewApplicationError("the address answered 503", "unavailable")
			}
			return nil
		})
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.steps(false, 1)
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if len(waits.told) != 2 || waits.told[0] == nil || waits.told[0].Of != 5 || waits.told[0].Code != knowledge.CodeUnavailable || waits.told[1] != nil {
			t.Errorf("told %+v", waits.told)
		}
	})

	t.Run("a try that is held back does not count, and the next goes before others", func(t *testing.T) {
		t.Parallel()
		test, waits := newIngestTest(t), &waits{}
		waits.record(test)
		test.steps(true, 1)
		tries, waited := 0, 0
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(func(_ context.Context, in ingestion.EmbedInput) error {
			if in.Waited {
				waited++
			}
			if tries++; tries <= 100 {
				return limited(2*time.Hour, true)
			}
			return nil
		})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if got := test.outcomes()[1]; got != "completed" || waited != 100 || waits.told[0].Attempt != 0 {
			t.Errorf("it ended as %q, %d tries had waited, told first %+v", got, waited, waits.told[0])
		}
	})
}

func TestWaitingEndsEarly(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a retry signal ends the wait, and the provider's pause", func(t *testing.T) {
		t.Parallel()
		test, waits := newIngestTest(t), &waits{}
		waits.record(test)
		test.steps(true, 1)
		var now []bool
		start := test.env.Now()
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(func(_ context.Context, in ingestion.EmbedInput) error {
			if now = append(now, in.Now); len(now) == 1 {
				test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalRetry, nil) }, time.Minute)
				return limited(10*time.Hour, false)
			}
			return nil
		})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if took := test.env.Now().Sub(start); took > time.Hour || len(now) != 2 || now[0] || !now[1] {
			t.Errorf("it took %v, tries of which the second was asked for: %v", took, now)
		}
		if len(waits.told) != 2 || waits.told[1] != nil {
			t.Errorf("told %+v", waits.told)
		}
	})

	t.Run("a version that is canceled while it waits ends at once", func(t *testing.T) {
		t.Parallel()
		test, waits := newIngestTest(t), &waits{}
		waits.record(test)
		test.steps(false, 1)
		start := test.env.Now()
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(func(context.Context, ingestion.EmbedInput) error {
			test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Run: "r1"}) }, time.Minute)
			return limited(10*time.Hour, false)
		})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if took := test.env.Now().Sub(start); took > time.Hour || test.outcomes()[1] != "canceled" {
			t.Errorf("it ended as %q after %v", test.outcomes()[1], took)
		}
		if n := len(waits.told); n != 2 || waits.told[1] != nil {
			t.Errorf("told %+v", waits.told)
		}
	})
}

// TestWaitingForLong has a provider that refuses one step of a long document for so
// long that the workflow continues as new again and again.
func TestWaitingForLong(t *testing.T) {
	t.Parallel()
	const chunks = 3000
	var acts ingestion.Activities
	var mu sync.Mutex
	tries, embedded, ends := 0, map[int]bool{}, []ingestion.FinishInput{}
	in := workflows.IngestInput{Workspace: "w", Project: "p", Document: "d", Tasks: []workflows.IngestTask{{Version: 1, Run: "r1"}}}
	for range 100 {
		test, waits := newIngestTest(t), &waits{}
		waits.record(test)
		test.env.SetContinueAsNewSuggested(true)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in ingestion.EmbedInput) error {
			mu.Lock()
			defer mu.Unlock()
			if in.First == 1024 {
				tries++
				return temporal.NewApplicationError("overloaded", "provider_failed")
			}
			embedded[in.First] = true
			return nil
		})
		test.env.OnActivity(acts.StoreVersionSegment, mock.Anything, mock.Anything).Maybe().Return(nil)
		test.steps(false, chunks)
		test.env.ExecuteWorkflow(workflows.IngestDocument, in)
		ends = append(ends, test.finished...)
		if err := test.env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.IngestInput](t, test.env.GetWorkflowError())
		if in.Resume != nil && in.Resume.Embedded > 1024 {
			t.Fatalf("it resumes at %d, behind the step that failed", in.Resume.Embedded)
		}
	}
	if len(ends) != 1 || ends[0].Error == nil || ends[0].Error.Code != knowledge.CodeProviderFailed || tries != 60 {
		t.Errorf("after %d tries it ended as %+v", tries, ends)
	}
	if !embedded[0] || !embedded[512] {
		t.Errorf("embedded %v", embedded)
	}
}

// TestListedWaits checks what Temporal's lists tell of a version that waits, and that a
// short wait costs nothing.
func TestListedWaits(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	refused := temporal.NewNonRetryableApplicationError("the endpoint refused our credentials", "provider_failed", nil)
	for name, tc := range map[string]struct {
		errs   []error
		want   []string
		result workflows.IngestResult
	}{
		"a long wait is listed until its end": {
			[]error{limited(time.Hour, false), limited(time.Hour, false)}, []string{"waiting embed", ""},
			workflows.IngestResult{Version: 1, Status: knowledge.RunCompleted, Stage: knowledge.StagePublish},
		},
		"a short one is not": {
			[]error{limited(5*time.Second, false)}, nil,
			workflows.IngestResult{Version: 1, Status: knowledge.RunCompleted, Stage: knowledge.StagePublish},
		},
		"a failure is listed with its stage": {
			[]error{limited(time.Hour, false), refused}, []string{"waiting embed", "failed embed"},
			workflows.IngestResult{Version: 1, Status: knowledge.RunFailed, Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test, waits := newIngestTest(t), &waits{}
			waits.record(test)
			var listed []string
			test.env.OnUpsertTypedSearchAttributes(mock.Anything).Maybe().Return(nil).Run(func(args mock.Arguments) {
				attributes := args.Get(0).(temporal.SearchAttributes)
				status, _ := attributes.GetKeyword(workflows.KeyStatus)
				stage, _ := attributes.GetKeyword(workflows.KeyStage)
				listed = append(listed, strings.TrimSpace(status+" "+stage))
			})
			test.steps(true, 1)
			tries := 0
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(func(context.Context, ingestion.EmbedInput) error {
				if tries++; tries <= len(tc.errs) {
					return tc.errs[tries-1]
				}
				return nil
			})
			test.env.ExecuteWorkflow(workflows.IngestDocument, workflows.IngestInput{
				Workspace: "w", Project: "p", Document: "d", Tasks: []workflows.IngestTask{{Version: 1, Run: "r1"}}, ListWaits: true,
			})
			var result workflows.IngestResult
			if err := test.env.GetWorkflowResult(&result); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, listed); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.result, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}
