package workflows_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/workflows"
)

func TestSmallDocumentThatTakesLong(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities

	t.Run("is extracted by an activity of its own", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		extracted := 0
		test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(ingestion.PrepareResult{Small: true}, nil)
		test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(
			func(context.Context, ingestion.ExtractInput) (ingestion.ExtractResult, error) {
				extracted++
				return ingestion.ExtractResult{Pages: 1, Chunks: 1}, nil
			})
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.steps(true, 0)
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if got := test.outcomes()[1]; got != "completed" || extracted != 1 {
			t.Errorf("the document ended as %q, extracted %d times", got, extracted)
		}
	})

	for name, tc := range map[string]struct {
		failure error
		waits   time.Duration
	}{
		"while others wait for the model": {temporal.NewNonRetryableApplicationError("", "not_quick", nil), 0},
		"whose model failed once":         {temporal.NewApplicationError("overloaded", "provider_failed"), 0},
		"whose model asked for a pause": {temporal.NewApplicationErrorWithOptions("limited", "provider_failed",
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour}), time.Hour},
	} {
		t.Run("is embedded by an activity of its own "+name, func(t *testing.T) {
			t.Parallel()
			test := newIngestTest(t)
			test.steps(true, 1)
			var local []bool
			var failed, asked time.Time
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
				func(ctx context.Context, _ ingestion.EmbedInput) error {
					isLocal := activity.GetInfo(ctx).IsLocalActivity
					local = append(local, isLocal)
					if isLocal {
						failed = test.env.Now()
						return tc.failure
					}
					asked = test.env.Now()
					return nil
				})
			test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
			if len(local) != 2 || !local[0] || local[1] {
				t.Errorf("embedded as a local activity: %v, want once so and then once not", local)
			}
			if got := asked.Sub(failed).Round(time.Minute); got != tc.waits {
				t.Errorf("the model was asked again after %v, want %v", got, tc.waits)
			}
			if got := test.outcomes()[1]; got != "completed" {
				t.Errorf("the document ended as %q", got)
			}
		})
	}
}

// TestSemanticDocument: the step that cuts by embeddings is retried as embedding is.
func TestSemanticDocument(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	test := newIngestTest(t)
	tries := 0
	test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(ingestion.PrepareResult{Small: true, Semantic: true}, nil)
	test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(
		func(context.Context, ingestion.ExtractInput) (ingestion.ExtractResult, error) {
			if tries++; tries < 20 {
				return ingestion.ExtractResult{}, temporal.NewApplicationError("overloaded", "provider_failed")
			}
			return ingestion.ExtractResult{Chunks: 1}, nil
		})
	test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
	test.steps(true, 0)
	test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
	if got := test.outcomes()[1]; got != "completed" {
		t.Errorf("the document ended as %q after %d tries", got, tries)
	}
}

// TestRecording: a recording is transcribed on the queue of the transcription model,
// retried as embedding is, and tried at once when somebody asks.
func TestRecording(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	test := newIngestTest(t)
	var queues []string
	var now []bool
	test.env.OnActivity(acts.PrepareDocument, mock.Anything, mock.Anything).Return(ingestion.PrepareResult{Speech: true}, nil)
	test.env.OnActivity(acts.NoteWaiting, mock.Anything, mock.Anything).Maybe().Return(nil)
	test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, in ingestion.ExtractInput) (ingestion.ExtractResult, error) {
			queues, now = append(queues, activity.GetInfo(ctx).TaskQueue), append(now, in.Now)
			switch {
			case len(now) == 1:
				return ingestion.ExtractResult{}, temporal.NewApplicationErrorWithOptions("limited", "provider_failed",
					temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
			case len(now) < 20:
				return ingestion.ExtractResult{}, temporal.NewApplicationError("overloaded", "provider_failed")
			}
			return ingestion.ExtractResult{Chunks: 1}, nil
		})
	test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
	test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalRetry, nil) }, time.Minute)
	test.steps(false, 1)
	test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
	if got := test.outcomes()[1]; got != "completed" || len(now) != 20 {
		t.Errorf("the document ended as %q after %d tries", got, len(now))
	}
	if now[0] || !now[1] || slices.Contains(now[2:], true) {
		t.Errorf("tried at once: %v, want the second try, for which somebody asked", now)
	}
	if slices.ContainsFunc(queues, func(q string) bool { return q != workflows.QueueTranscribe }) {
		t.Errorf("on the queues %v", queues)
	}
}
