package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// enter begins a stage: it tells the readers of the log and the operator.
func (w *ingest) enter(ctx workflow.Context, stage knowledge.Stage) {
	w.stage = stage
	w.event(0)
	w.details(ctx)
}

// details shows the operator who opens the workflow how far it is.
func (w *ingest) details(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| version | stage | pages | chunks | embedded |\n|---|---|---|---|---|\n| %d | %s | %d | %d | %d |",
		w.current.Version, w.stage, w.counts.pages, w.counts.chunks, w.counts.embedded))
}

// noteStage lets an operator find the workflow by its stage, where a stage may
// take long.
func (w *ingest) noteStage(ctx workflow.Context) error {
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStage.ValueSet(string(w.stage))); err != nil {
		return fmt.Errorf("set stage: %w", err)
	}
	return nil
}

// DocumentState is the inline data of a documentUpdate event; the API adds the
// rest of the document.
type DocumentState struct {
	Version    int             `json:"version"`
	Stage      knowledge.Stage `json:"stage"`
	Progress   float64         `json:"progress"`
	ChunkCount int             `json:"chunkCount,omitempty"`
	PageCount  int             `json:"pageCount,omitempty"`
}

// event reports how far the version is; part is the share of the stage, 0..1.
func (w *ingest) event(part float64) {
	w.log.add(stream.TopicDocument, stream.Event{Data: stream.Data(DocumentState{
		Version: w.current.Version, Stage: w.stage, Progress: activities.Progress(w.stage, part),
		ChunkCount: w.counts.chunks, PageCount: w.counts.pages,
	})})
}
