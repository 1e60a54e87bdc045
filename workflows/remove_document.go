package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RemoveDocument takes a document away: its running ingest first, then index
// entries, bytes and rows. The tombstone that hides it was set before, so a
// removal is not canceled: it goes on to its end.
func RemoveDocument(ctx workflow.Context, in activities.RemoveInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	err = removeSteps(ctx, in)
	var acts *activities.Ingestion
	err = log.finish(ctx, documentEnd{
		StepInput: in.Step(), err: err,
		late: knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the removal took too long", Retryable: true},
	}, acts.FinishRemoval)
	if err != nil {
		return err
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
		err := workflow.ExecuteActivity(regular(ctx, step.summary, 30*time.Minute, endlessRetries()), step.run, in).Get(ctx, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
