package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RemoveDocument takes a document away: its running ingest first, then index
// entries, bytes and rows. The tombstone that hides it was set before.
func RemoveDocument(ctx workflow.Context, in activities.RemoveInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	err = removeSteps(ctx, in)
	if finishErr := finishRemoval(ctx, in, log, err); finishErr != nil {
		return finishErr
	}
	log.close(ctx)
	return nil
}

func removeSteps(ctx workflow.Context, in activities.RemoveInput) error {
	var acts *activities.Ingestion
	for _, step := range []struct {
		summary string
		run     any
	}{
		{"end the running ingest", acts.StopIngest},
		{"remove index entries", acts.RemoveEntries},
		{"remove blobs", acts.RemoveBlobs},
		{"remove rows", acts.RemoveRows},
	} {
		workflow.SetCurrentDetails(ctx, step.summary)
		err := workflow.ExecuteActivity(regular(ctx, step.summary, 30*time.Minute, removalRetries()), step.run, in).Get(ctx, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

func finishRemoval(ctx workflow.Context, in activities.RemoveInput, log *eventLog, err error) error {
	var acts *activities.Ingestion
	end := activities.FinishInput{
		StepInput: activities.StepInput{
			VersionRef: knowledge.VersionRef{Workspace: in.Workspace, Project: in.Project, Document: in.Document, Version: in.Upto},
			Run:        in.Run,
		},
		Status: "completed",
	}
	last := entry(stream.TopicEnded, stream.Event{Data: stream.Data(endedData{Status: "completed"})})
	if err = canceled(ctx, err); err != nil {
		f := activities.Describe(err, activities.Failure{Code: knowledge.CodeUnavailable, Message: "the removal took too long", Retryable: true})
		end.Status, end.Error = "failed", &knowledge.DocumentError{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
		last = entry(stream.TopicEnded, stream.Event{Data: stream.Data(endedData{Status: "failed", Error: end.Error})})
		if f.Code == knowledge.CodeCanceled {
			end.Status = "canceled"
			last = entry(stream.TopicError, stream.Event{Data: stream.Data(f.Event())})
		}
	}
	end.Items = append(log.Items(0), stream.Item{Topic: last.Topic, Data: last.Data, Offset: log.End()})
	ctx = disconnected(ctx)
	if err := workflow.ExecuteLocalActivity(local(ctx, "finish"), acts.FinishRemoval, end).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish removal: %w", err)
	}
	log.Append(last)
	return nil
}

// removalRetries go on for days: what must go is not given up.
func removalRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute}
}
