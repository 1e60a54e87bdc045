package workflows_test

import (
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/workflows"
)

// errEnded is the failure that a starting process writes for the activities of the
// process before.
var errEnded = temporal.NewApplicationError("the process that ran this has ended", step.TypeEnded)

// TestProcessEnds fails steps as Temporal does when their process ends. It is not
// parallel for the reason that TestCancel has.
func TestProcessEnds(t *testing.T) {
	server := newServerTest(t)
	question := record.AnswerInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: "r"}, MaxToolTurns: 5}

	t.Run("a model call survives more deaths than it has retries, and its attempts are numbered in one sequence", func(t *testing.T) {
		over, ends := make(chan struct{}), make(chan answering.FinishAnswerInput, 1)
		var before []int
		run := server.start(t, workflows.AnswerQuery, question, map[string]any{
			"CallModel": func(in answering.ModelCallInput) (result answering.ModelCallResult, err error) {
				before = append(before, in.Before)
				switch len(before) {
				case 1:
					<-over // without a heartbeat
				case 9:
					return answering.ModelCallResult{Key: "turn-1", Attempt: in.Before + 1, Tail: "the answer"}, nil
				}
				return result, errEnded
			},
			"FinishAnswer": finish(ends),
		})
		t.Cleanup(func() { close(over) })
		server.end(t, run)
		if end := next(t, ends); end.Status != "completed" {
			t.Errorf("the run ended as %s: %s", end.Status, end.Message)
		}
		if want := []int{0, 6, 12, 18, 24, 30, 36, 42, 48}; !slices.Equal(before, want) {
			t.Errorf("attempts before each: %v, want %v", before, want)
		}
	})

	t.Run("a model that stays down fails the question after its retries", func(t *testing.T) {
		ends := make(chan answering.FinishAnswerInput, 1)
		calls := 0
		run := server.start(t, workflows.AnswerQuery, question, map[string]any{
			"CallModel": func(answering.ModelCallInput) (result answering.ModelCallResult, err error) {
				if calls++; calls == 1 {
					return result, errEnded
				}
				return result, temporal.NewApplicationErrorWithOptions("the endpoint failed", "provider_failed",
					temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
			},
			"FinishAnswer": finish(ends),
		})
		server.end(t, run)
		if end := next(t, ends); end.Code != knowledge.CodeProviderFailed || calls != 1+6 {
			t.Errorf("the run ended with %s after %d calls", end.Code, calls)
		}
	})

	t.Run("a document that ends the process each time fails", func(t *testing.T) {
		ends := make(chan ingestion.FinishInput, 1)
		calls := 0
		in := workflows.IngestInput{Workspace: "w", Project: "p", Document: "d", Tasks: []workflows.IngestTask{{Version: 1, Run: "r"}}}
		run := server.start(t, workflows.IngestDocument, in, steps(func(ingestion.EmbedInput) error {
			calls++
			return errEnded
		}, ends))
		server.end(t, run)
		end := next(t, ends)
		if end.Status != "failed" || end.Error.Code != knowledge.CodeUnavailable || !end.Error.Retryable || calls != 20 {
			t.Errorf("the run ended as %s, error %+v, after %d calls", end.Status, end.Error, calls)
		}
	})
}
