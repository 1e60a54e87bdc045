package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ApplyRetention removes and hides what the projects of a workspace keep no longer, page by
// page. What a page has done is no longer due, so the run resumes after a crash at what is left.
func ApplyRetention(ctx workflow.Context, in ingestion.RetentionInput) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	err = retainPages(ctx, &in)
	if workflow.IsContinueAsNewError(err) {
		log.carry(ctx) // the log is empty, but readers may poll it
		return err
	}
	ending := record.Ending{Kind: knowledge.KindRetention}
	if err != nil {
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the retention took too long", Retryable: true})
		ending = record.Failed(knowledge.KindRetention, f)
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	var acts ingestion.Activities
	end := ingestion.FinishRetentionInput{RunRef: in.RunRef, Error: ending.Error, Items: log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), acts.FinishRetention, end).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", in.Run, err)
	}
	log.end(ending)
	log.close(ctx)
	return nil
}

// retainPages runs pages until nothing is due. The moment by which things are due is that of the
// workflow's start, by the clock of the Temporal server.
func retainPages(ctx workflow.Context, in *ingestion.RetentionInput) error {
	var acts ingestion.Activities
	if in.Now.IsZero() {
		in.Now = workflow.Now(ctx)
	}
	for {
		var page ingestion.RetainResult
		options := activityOptions(ctx, "apply the retention to a page", time.Hour, endlessRetries())
		if err := workflow.ExecuteActivity(options, acts.RetainPage, *in).Get(ctx, &page); err != nil {
			return err
		}
		in.Place, in.Progress = page.Place, page.Progress
		p := in.Progress
		workflow.SetCurrentDetails(ctx, fmt.Sprintf("| removed | inactive | conversations | runs | kept by hold |\n|---|---|---|---|---|\n| %d | %d | %d | %d | %d |",
			p.Removed, p.Inactive, p.Conversations, p.Runs, p.KeptByHold))
		if page.Done {
			return nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, ApplyRetention, *in)
		}
	}
}
