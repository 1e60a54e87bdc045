package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// generatedView is a test set that was made, or the run in which a model makes it.
type generatedView struct {
	testSetView
	RunID       string `json:"run_id,omitempty" doc:"With a model: the run that makes the test set, which then has the same id. Its progress and its last event count the questions that were dropped, by the reason"`
	OperatorURL string `json:"operator_url,omitempty"`
	EventsURL   string `json:"events_url,omitempty" doc:"The URL of the run's events; needs no key for an hour"`
}

type generatedOutput struct {
	Status int
	Run    string `header:"Cairn-Run-Id"`
	Body   generatedView
}

// generateByModel starts the run in which a chat model writes questions.
func (tr *testSetRoutes) generateByModel(ctx context.Context, p knowledge.Principal, project knowledge.Project, in *generateInput) (*generatedOutput, error) {
	if fields := tr.questions.JudgeFields("body.model", in.Body.Model); len(fields) > 0 {
		return nil, knowledge.InvalidFields(fields)
	}
	setup, err := tr.questions.GenerationSetup(ctx, p, project)
	if err != nil {
		return nil, err
	}
	id, _ := edge.RunID(ctx)
	snapshot := record.Generation{
		Principal: p, Name: in.Body.Name, Model: in.Body.Model, Count: in.Body.Count, Seed: in.Body.Seed,
		Tags: in.Body.Filter.Tags, Documents: in.Body.Filter.DocumentIDs, Retrieval: setup, Privacy: project.Config.Privacy,
	}
	for _, id := range snapshot.Documents { // one that the caller may not read is refused at once
		if _, err := tr.store.Document(ctx, p.Reader(), id); err != nil {
			return nil, fmt.Errorf("read document %s: %w", id, err)
		}
	}
	run := knowledge.RunRef{Workspace: p.Workspace(), Project: project.ID, Run: id}
	if _, err := tr.blobs.PutJSON(ctx, run.RequestKey(), snapshot); err != nil {
		return nil, fmt.Errorf("write the request of run %s: %w", id, err)
	}
	begun := knowledge.GenerationProgress{Model: snapshot.Model, Wanted: snapshot.Count, Dropped: map[string]int{}}
	started, err := tr.store.StartGeneration(ctx, p, project.ID, id, begun)
	if err != nil {
		return nil, fmt.Errorf("start the generation of test set %s: %w", id, err)
	}
	if started.Status == knowledge.RunRunning {
		if err := tr.dispatch.Generate(ctx, started); err != nil { // the sweep repeats it
			tr.log.WarnContext(ctx, "generation starts later", "workspace", started.Workspace, "run", id, "error", err)
		}
	}
	return &generatedOutput{http.StatusAccepted, id, generatedView{
		testSetView: testSetView{ID: id, ProjectID: project.ID, Name: snapshot.Name, CreatedAt: started.CreatedAt, UpdatedAt: started.CreatedAt},
		RunID:       id, OperatorURL: tr.views.links.OperatorURL(started.WorkflowID), EventsURL: tr.views.eventsURL(p, id),
	}}, nil
}

// generationProgress decodes how far a generation is.
func generationProgress(run store.Run) (p knowledge.GenerationProgress, err error) {
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return p, fmt.Errorf("decode the progress of run %s: %w", run.ID, err)
	}
	return p, nil
}

// endedGeneration reads the progress of a generation again: the run was read before it ended.
func (r *results) endedGeneration(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.GenerationProgress, error) {
	run, err := r.store.Run(ctx, p, run.ID)
	if err != nil {
		return knowledge.GenerationProgress{}, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return generationProgress(run)
}

// generated returns how a model made a test set, nil if none did or its run is gone.
func (tr *testSetRoutes) generated(ctx context.Context, p knowledge.Principal, id string) (*knowledge.GenerationProgress, error) {
	run, err := tr.store.Run(ctx, p, id)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && run.Kind != knowledge.KindGenerate {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", id, err)
	}
	progress, err := generationProgress(run)
	return &progress, err
}
