package workflows_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// outage counts the failures of the stores that are still to come.
type outage int

// fail returns the failure of a full disk until the outage is over, and then nil.
func (o *outage) fail() error {
	if *o > 0 {
		*o--
		return temporal.NewApplicationError("the disk is full", "unavailable")
	}
	return nil
}

// ends records the inputs of the step that ends runs.
type ends[T any] struct {
	mu       sync.Mutex
	finished []T
	outage   outage
}

func (e *ends[T]) finish(_ context.Context, in T) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.outage.fail(); err != nil {
		return err
	}
	e.finished = append(e.finished, in)
	return nil
}

// TestOutageAtTheEnd makes the stores fail for hours while the end of a run is
// written.
func TestOutageAtTheEnd(t *testing.T) {
	t.Parallel()
	const hours = 50

	t.Run("an answer that was shown is saved once they are back", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.outage = hours
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer"}, nil
		})
		if end := test.run(t, record.AnswerInput{MaxToolTurns: 5}); end.Status != "completed" {
			t.Errorf("the run ended as %s", end.Status)
		}
	})

	t.Run("a version ends", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.outage = hours
		test.steps(true, 1)
		var acts ingestion.Activities
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(nil)
		test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
		if diff := cmp.Diff(map[int]string{1: "completed"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a removal ends", func(t *testing.T) {
		t.Parallel()
		test := newIngestTest(t)
		test.outage = hours
		var acts ingestion.Activities
		test.env.OnActivity(acts.StopIngest, mock.Anything, mock.Anything).Return(ingestion.StopResult{}, nil)
		for _, step := range []any{acts.RemoveEntries, acts.RemoveBlobs, acts.RemoveRows} {
			test.env.OnActivity(step, mock.Anything, mock.Anything).Return(nil)
		}
		test.env.ExecuteWorkflow(workflows.RemoveDocument, workflows.RemoveInput{
			RemoveInput: ingestion.RemoveInput{Workspace: "w", Project: "p", Document: "d", Run: "r", Upto: 1},
		})
		if err := test.env.GetWorkflowError(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[int]string{1: "completed"}, test.outcomes()); diff != "" {
			t.Error(diff)
		}
	})
}
