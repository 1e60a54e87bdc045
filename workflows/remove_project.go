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

// RemoveProject takes a project away with everything in it: what runs in it first, then
// its documents, its runs, and the rest of its rows. The project was hidden before, so a
// removal cannot be canceled. in names the project and the run of the removal.
func RemoveProject(ctx workflow.Context, in knowledge.RunRef) error {
	log, err := newEventLog(ctx, stream.Log{})
	if err != nil {
		return err
	}
	ctx = disconnected(ctx)
	err = removeProjectSteps(ctx, in)
	if workflow.IsContinueAsNewError(err) {
		log.carry(ctx) // the log is empty, but readers may poll it
		return err
	}
	ending := record.Ending{Kind: knowledge.KindRemoveProject}
	if err != nil {
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the removal took too long", Retryable: true})
		ending = record.Failed(knowledge.KindRemoveProject, f)
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	var acts ingestion.Activities
	end := ingestion.FinishRemoveProjectInput{RunRef: in, Error: ending.Error, Items: log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), acts.FinishRemoveProject, end).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", in.Run, err)
	}
	log.end(ending)
	log.close(ctx)
	return nil
}

func removeProjectSteps(ctx workflow.Context, in knowledge.RunRef) error {
	var acts ingestion.Activities
	for _, step := range []struct {
		summary string
		run     any
	}{
		{"stop what runs in the project", acts.StopProject},
		{"remove the documents of the project", acts.RemoveProjectDocuments},
		{"remove the rows of the project", acts.RemoveProjectRows},
	} {
		for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
			var result ingestion.RemoveProjectResult
			if err := removeStep(ctx, step.summary, step.run, in, &result); err != nil {
				return err
			}
			if !result.Running {
				break
			}
			if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
				return workflow.NewContinueAsNewError(ctx, RemoveProject, in)
			}
			timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for what runs in the project"})
			if err := timer.Get(ctx, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
