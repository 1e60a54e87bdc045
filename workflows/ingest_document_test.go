package workflows_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// ingestTest runs IngestDocument against activities that the test sets up. It
// records the input of FinishVersion for each run.
type ingestTest struct {
	ends[ingestion.FinishInput]
	env *testsuite.TestWorkflowEnvironment
}

func newIngestTest(t *testing.T) *ingestTest {
	t.Helper()
	test := &ingestTest{env: newEnvironment()}
	test.env.SetTestTimeout(30 * time.Second)
	var acts ingestion.Activities
	test.env.RegisterActivity(&ingestion.Activities{})
	for _, finish := range []any{acts.FinishVersion, acts.FinishRemoval} {
		test.env.OnActivity(finish, mock.Anything, mock.Anything).Maybe().Return(test.finish)
	}
	return test
}

// steps makes every step succeed, for a document of so many chunks.
func (test *ingestTest) steps(small bool, chunks int) {
	var acts ingestion.Activities
	any := mock.Anything
	extracted := ingestion.ExtractResult{Pages: 1, Chunks: chunks}
	prepared := ingestion.PrepareResult{Small: small, Chunked: small}
	if small {
		prepared.ExtractResult = extracted
	}
	test.env.OnActivity(acts.PrepareDocument, any, any).Maybe().Return(prepared, nil)
	test.env.OnActivity(acts.ExtractDocument, any, any).Maybe().Return(extracted, nil)
	test.env.OnActivity(acts.PublishDocument, any, any).Maybe().Return(
		func(_ context.Context, in ingestion.PublishInput) (ingestion.PublishResult, error) {
			if in.End != nil {
				test.published(in)
			}
			return ingestion.PublishResult{Published: true, Ended: in.End != nil}, nil
		})
	test.env.OnActivity(acts.IsPublished, any, any).Maybe().Return(false, nil)
	test.env.OnActivity(acts.RetireVersions, any, any).Maybe().Return(nil)
	test.env.OnActivity(acts.DiscardVersion, any, any).Maybe().Return(nil)
}

// published records the end of a run that the publishing step wrote.
func (test *ingestTest) published(in ingestion.PublishInput) {
	test.mu.Lock()
	defer test.mu.Unlock()
	test.finished = append(test.finished, ingestion.FinishInput{StepInput: in.StepInput, Status: "completed", Items: in.End})
}

func (test *ingestTest) run(t *testing.T, tasks ...workflows.IngestTask) {
	t.Helper()
	test.env.ExecuteWorkflow(workflows.IngestDocument, workflows.IngestInput{Workspace: "w", Project: "p", Document: "d", Tasks: tasks})
	if !test.env.IsWorkflowCompleted() {
		t.Fatal("the workflow did not end")
	}
	if err := test.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

func (test *ingestTest) outcomes() map[int]string {
	test.mu.Lock()
	defer test.mu.Unlock()
	out := map[int]string{}
	for _, f := range test.finished {
		out[f.Version] = string(f.Status)
	}
	return out
}

func TestIngestDocument(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a large document is embedded in steps of at most eight batches, four at a time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			test := newIngestTest(t)
			test.steps(false, 3000)
			var mu sync.Mutex
			flying, most, batches := 0, 0, map[int]int{}
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
				func(_ context.Context, in ingestion.EmbedInput) error {
					mu.Lock()
					flying++
					most = max(most, flying)
					batches[in.First] = in.Last
					mu.Unlock()
					time.Sleep(time.Second) // of the bubble's clock: all others that may begin do
					mu.Lock()
					flying--
					mu.Unlock()
					return nil
				})
			test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
			if len(batches) != 6 || batches[2560] != 3000 {
				t.Errorf("batches %v", batches)
			}
			if most != 4 {
				t.Errorf("%d batches in flight", most)
			}
			if diff := cmp.Diff(map[int]string{1: "completed"}, test.outcomes()); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("only a long document is published on the queue for those", func(t *testing.T) {
		t.Parallel()
		for chunks, want := range map[int]string{ingestion.LongDocument: workflows.QueueIngest, ingestion.LongDocument + 1: workflows.QueueWrite} {
			test := newIngestTest(t)
			queue := ""
			test.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
				if info.ActivityType.Name == "PublishDocument" {
					queue = info.TaskQueue
				}
			})
			test.steps(false, chunks)
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
			test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
			if queue != want {
				t.Errorf("%d chunks are published on queue %q, want %q", chunks, queue, want)
			}
		}
	})

	t.Run("the stored log has every event with its offset", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"}, workflows.IngestTask{Version: 2, Run: "r2"})
		next := int64(0)
		for _, f := range test.finished {
			for _, item := range f.Items {
				if item.Offset != next {
					t.Fatalf("item %d has offset %d", next, item.Offset)
				}
				next++
			}
			if last := f.Items[len(f.Items)-1].Topic; last != "runEnded" {
				t.Errorf("the last item is %s", last)
			}
		}
	})
}

func TestFailuresOfAnIngest(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a document that cannot be read fails with its stage and is not retried", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		tries := 0
		test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.PrepareInput) (ingestion.PrepareResult, error) {
				tries++
				return ingestion.PrepareResult{}, temporal.NewNonRetryableApplicationError("the file is encrypted", "encrypted", nil,
					step.ErrorDetails{Code: knowledge.CodeEncrypted, Stage: knowledge.StageExtract})
			})
		test.steps(true, 1)
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		want := &knowledge.DocumentError{Code: "encrypted", Stage: "extract", Message: "the file is encrypted"}
		if diff := cmp.Diff(want, test.finished[0].Error); diff != "" || tries != 1 {
			t.Errorf("%d tries, %s", tries, diff)
		}
	})

	t.Run("a provider that limits requests does not fail the document", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		tries := 0
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.EmbedInput) error {
				if tries++; tries < 20 {
					return temporal.NewApplicationError("limited", "provider_failed")
				}
				return nil
			})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if diff := cmp.Diff(map[int]string{1: "completed"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a provider that asks for a pause of a day before each retry fails the document in the end", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		tries := 0
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.EmbedInput) error {
				tries++
				return temporal.NewApplicationErrorWithOptions("limited", "provider_failed",
					temporal.ApplicationErrorOptions{NextRetryDelay: 24 * time.Hour})
			})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if end := test.finished[0]; end.Error == nil || end.Error.Code != knowledge.CodeProviderFailed || !end.Error.Retryable || tries > 5 {
			t.Errorf("after %d tries it ended with %+v", tries, end.Error)
		}
	})
}

func TestIngestInTurn(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a version that is signaled while another is ingested comes next, once", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in ingestion.EmbedInput) error {
				if in.Version == 1 {
					for range 2 {
						test.env.SignalWorkflow(workflows.SignalIngest, workflows.IngestTask{Version: 2, Run: "r2"})
					}
				}
				return nil
			})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if len(test.finished) != 2 {
			t.Errorf("%d runs were finished", len(test.finished))
		}
		if diff := cmp.Diff(map[int]string{1: "completed", 2: "completed"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("an upload waits for the removal of older versions to end", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		asked := 0
		test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.PrepareInput) (ingestion.PrepareResult, error) {
				if asked++; asked < 5 {
					return ingestion.PrepareResult{Blocked: true}, nil
				}
				return ingestion.PrepareResult{Small: true, Chunked: true, ExtractResult: ingestion.ExtractResult{Chunks: 1}}, nil
			})
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.run(t, workflows.IngestTask{Version: 3, Run: "r3"})
		if diff := cmp.Diff(map[int]string{3: "completed"}, test.outcomes()); diff != "" || asked != 5 {
			t.Errorf("asked %d times, %s", asked, diff)
		}
	})
}

func TestIngestCanceledBeforeItsTurn(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a run is canceled before its turn", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in ingestion.EmbedInput) error {
				if in.Version == 2 {
					t.Error("version 2 was embedded")
				}
				test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Run: "r2"})
				return nil
			})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"}, workflows.IngestTask{Version: 2, Run: "r2"})
		if diff := cmp.Diff(map[int]string{1: "completed", 2: "canceled"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a run that is canceled before its turn stays so over a continue-as-new", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		test.env.SetContinueAsNewSuggested(true)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.EmbedInput) error {
				test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Run: "r2"})
				return nil
			})
		test.env.ExecuteWorkflow(workflows.IngestDocument, workflows.IngestInput{
			Workspace: "w", Project: "p", Document: "d", Tasks: []workflows.IngestTask{{Version: 1, Run: "r1"}, {Version: 2, Run: "r2"}},
		})
		next := newIngestTest(t)
		next.steps(true, 1)
		next.env.ExecuteWorkflow(workflows.IngestDocument, continued[workflows.IngestInput](t, test.env.GetWorkflowError()))
		if err := next.env.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int]string{2: "canceled"}, next.outcomes()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestIngestCanceled(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("a removal cancels the version that is being ingested", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
			func(ctx context.Context, _ ingestion.EmbedInput) error {
				test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Upto: 1})
				<-ctx.Done()
				return ctx.Err()
			})
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if diff := cmp.Diff(map[int]string{1: "canceled"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})

	for name, published := range map[string]bool{
		"a version that readers see by then is published, however its step ended": true,
		"a version that readers do not see by then is canceled":                   false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newIngestTest(t)
			test.env.OnActivity(acts.PublishDocument, mock.Anything, mock.Anything).Return(
				func(ctx context.Context, _ ingestion.PublishInput) (ingestion.PublishResult, error) {
					test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Run: "r2"})
					<-ctx.Done()
					return ingestion.PublishResult{}, ctx.Err()
				})
			test.env.OnActivity(acts.IsPublished, mock.Anything, mock.Anything).Return(published, nil)
			test.steps(false, 1)
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
			test.run(t, workflows.IngestTask{Version: 2, Run: "r2"})
			if diff := cmp.Diff(map[int]string{2: map[bool]string{true: "completed", false: "canceled"}[published]}, test.outcomes()); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("a version stays published if the run is canceled while the older one cannot be deleted", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		left := outage(15)
		test.env.OnActivity(acts.RetireVersions, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.StepInput) error {
				test.env.SignalWorkflow(workflows.SignalStop, workflows.IngestStop{Run: "r2"})
				return left.fail()
			})
		test.steps(true, 1)
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.run(t, workflows.IngestTask{Version: 2, Run: "r2"})
		if diff := cmp.Diff(map[int]string{2: "completed"}, test.outcomes()); diff != "" || left != 0 {
			t.Errorf("%d failures were not waited for, %s", left, diff)
		}
	})
}
