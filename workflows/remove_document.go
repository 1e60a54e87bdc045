package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RemoveInput starts RemoveDocument. Signaled is carried over a continue-as-new.
type RemoveInput struct {
	ingestion.RemoveInput
	Signaled bool `json:"signaled,omitempty"` // the running ingest has its stop signal
}

// RemoveDocument takes a document away: its running ingest first, then index
// entries, bytes and rows. The tombstone that hides it was set before, so a
// removal cannot be canceled.
func RemoveDocument(ctx workflow.Context, in RemoveInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	err = removeSteps(ctx, in)
	if workflow.IsContinueAsNewError(err) {
		log.carry(ctx) // the log is empty, but readers may poll it
		return err
	}
	var acts ingestion.Activities
	err = log.finish(ctx, documentEnd{
		StepInput: in.Step(), kind: knowledge.KindRemove, err: err,
		timeout: knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the removal took too long", Retryable: true},
	}, acts.FinishRemoval)
	if err != nil {
		return err
	}
	log.close(ctx)
	return nil
}

func removeSteps(ctx workflow.Context, in RemoveInput) error {
	var acts ingestion.Activities
	if err := stopIngest(ctx, in); err != nil {
		return err
	}
	for _, step := range []struct {
		summary string
		run     any
	}{
		{"remove index entries", acts.RemoveEntries},
		{"remove blobs", acts.RemoveBlobs},
		{"remove rows", acts.RemoveRows},
	} {
		if err := removeStep(ctx, step.summary, step.run, in.RemoveInput, nil); err != nil {
			return err
		}
	}
	return nil
}

func removeStep(ctx workflow.Context, summary string, run, in, result any) error {
	workflow.SetCurrentDetails(ctx, summary)
	options := onQueue(activityOptions(ctx, summary, 30*time.Minute, endlessRetries()), QueueIngest, priorityFinishing)
	return workflow.ExecuteActivity(options, run, in).Get(ctx, result)
}

// stopIngest blocks until no step of the versions that are removed runs. It holds
// no slot of a worker while it waits.
func stopIngest(ctx workflow.Context, in RemoveInput) error {
	var acts ingestion.Activities
	stop := ingestion.StopInput{RemoveInput: in.RemoveInput, Signaled: in.Signaled}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		var result ingestion.StopResult
		if err := removeStep(ctx, "end the running ingest", acts.StopIngest, stop, &result); err != nil || !result.Running {
			return err
		}
		if stop.Signaled = result.Signaled; workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			in.Signaled = stop.Signaled
			return workflow.NewContinueAsNewError(ctx, RemoveDocument, in)
		}
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for the ingest to end"})
		if err := timer.Get(ctx, nil); err != nil {
			return err
		}
	}
}
