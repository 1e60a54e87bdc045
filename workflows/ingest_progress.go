package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// enterStage begins a stage and reports it to the readers of the log and to the
// operator.
func (w *ingest) enterStage(ctx workflow.Context, stage knowledge.Stage) {
	w.stage = stage
	w.addProgress(ctx)
	w.setDetails(ctx)
}

// setDetails updates the progress that Temporal's UI shows for the workflow.
func (w *ingest) setDetails(ctx workflow.Context) {
	details := fmt.Sprintf("| version | stage | pages | chunks | embedded |\n|---|---|---|---|---|\n| %d | %s | %d | %d | %d |",
		w.current.Version, w.stage, w.counts.pages, w.counts.chunks, w.counts.embedded)
	if s := w.shown; s != nil {
		failed := fmt.Sprintf("attempt %d of %d failed", s.Attempt, s.Of)
		if s.Attempt == 0 { // the pace of the provider holds it back
			failed = "it is held back"
		}
		details += fmt.Sprintf("\n\nWaits: %s, next at %s: %s.", failed, s.NextAt.UTC().Format(time.RFC3339), s.Message)
	}
	workflow.SetCurrentDetails(ctx, details)
}

// setFailureDetails shows in Temporal's UI why a version failed.
func (w *ingest) setFailureDetails(ctx workflow.Context, e knowledge.DocumentError) {
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("Version %d failed at %s with `%s`: %s.", w.current.Version, e.Stage, e.Code, e.Message))
}

// showSteps adds an event for each step of the project that ran.
func (w *ingest) showSteps(steps []knowledge.StepRun) {
	for _, s := range steps {
		w.log.add(stream.TopicStep, stream.Event{Data: stream.Data(s)})
	}
}

// setStageAttribute writes the stage to the search attribute, so that an operator
// finds the workflow by it. Only stages that may take long need it.
func (w *ingest) setStageAttribute(ctx workflow.Context) error {
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStage.ValueSet(string(w.stage))); err != nil {
		return fmt.Errorf("set stage: %w", err)
	}
	return nil
}

// addProgress adds an event with the progress of the version.
func (w *ingest) addProgress(ctx workflow.Context) {
	part := 0.0 // the completed share of the stage
	if w.stage == knowledge.StageEmbed && w.counts.chunks > 0 {
		part = float64(w.counts.embedded) / float64(w.counts.chunks)
	}
	w.log.add(stream.TopicDocument, stream.Event{Data: stream.Data(record.DocumentState{
		Version: w.current.Version, Stage: w.stage, Progress: record.Progress(w.stage, part),
		ChunkCount: w.counts.chunks, PageCount: w.counts.pages, Waiting: w.shown, At: workflow.Now(ctx).UTC(),
	})})
}
