package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// searchesEnd is how long searches that began with a generation of vectors may read it
// after the switch to another one. Later ones begin again with the other.
const searchesEnd = 5 * time.Second

// FillState is how far a reindex is with the vectors of its project. Each step that has
// ended is noted, so that a continue-as-new continues at the next one.
type FillState struct {
	Rebuild bool `json:"rebuild,omitempty"` // write the present generations again, and make no versions

	Begun    bool                     `json:"begun,omitempty"`
	Plan     ingestion.GenerationPlan `json:"plan,omitzero"`
	After    string                   `json:"after,omitempty"` // id of the last document of the page before
	Filled   bool                     `json:"filled,omitempty"`
	Switched bool                     `json:"switched,omitempty"`
	Done     bool                     `json:"done,omitempty"`
}

// fill does the next step: begin, a page of documents, the switch, or a page of what
// nothing reads any more.
func (w *reindexProject) fill(ctx workflow.Context) error {
	f := w.in.Fill
	switch {
	case !f.Begun:
		in := ingestion.BeginGenerationInput{RunRef: w.in.RunRef, Rebuild: f.Rebuild}
		if err := w.embedding(ctx, "begin", w.acts.BeginGeneration, in, &f.Plan); err != nil {
			return err
		}
		f.Begun, f.Filled = true, len(f.Plan.Write) == 0
	case !f.Filled:
		return w.fillPage(ctx)
	case f.Plan.Switch != "" && !f.Switched:
		in := ingestion.SwitchInput{RunRef: w.in.RunRef, Generation: f.Plan.Switch}
		if err := localStep(ctx, "switch the searches", w.acts.SwitchGeneration, in, nil); err != nil {
			return err
		}
		f.Switched = true
		return workflow.Sleep(ctx, searchesEnd)
	case len(f.Plan.Drop) > 0:
		return w.dropPage(ctx)
	default:
		f.Done = true
	}
	return nil
}

// embedding runs an activity that uses the embedding model or writes what it gave.
func (w *reindexProject) embedding(ctx workflow.Context, summary string, step, in, result any) error {
	options := onQueue(activityOptions(ctx, summary, time.Hour, endlessRetries()), QueueEmbed, 0)
	return workflow.ExecuteActivity(options, step, in).Get(ctx, result)
}

func (w *reindexProject) fillPage(ctx workflow.Context) error {
	f := w.in.Fill
	in := ingestion.FillInput{RunRef: w.in.RunRef, Generations: f.Plan.Write, After: f.After}
	var result ingestion.FillResult
	if err := w.embedding(ctx, "fill", w.acts.FillGenerations, in, &result); err != nil {
		return err
	}
	f.After, f.Filled = result.After, result.After == ""
	w.in.Filled += result.Documents
	w.in.Usage.Add(result.Usage)
	return nil
}

func (w *reindexProject) dropPage(ctx workflow.Context) error {
	f := w.in.Fill
	in := ingestion.DropInput{SwitchInput: ingestion.SwitchInput{RunRef: w.in.RunRef, Generation: f.Plan.Drop[0]}, After: f.After}
	if err := w.embedding(ctx, "drop", w.acts.DropGeneration, in, &f.After); err != nil {
		return err
	}
	if f.After == "" {
		f.Plan.Drop = f.Plan.Drop[1:]
	}
	return nil
}

// giveUpFill removes what a reindex that ends with an error has filled: searches read the
// generation of before.
func (w *reindexProject) giveUpFill(ctx workflow.Context, err error) error {
	f := w.in.Fill
	if err == nil || f == nil || f.Rebuild || f.Switched || f.Begun && f.Plan.Switch == "" {
		return nil
	}
	// If the beginning failed, its activity may have begun a generation all the same.
	f.Plan.Drop, f.After = []string{f.Plan.Switch}, ""
	for len(f.Plan.Drop) > 0 {
		if dropErr := w.dropPage(ctx); dropErr != nil {
			return errors.Join(dropErr, err)
		}
	}
	return nil
}

// NewFill returns the state of a reindex at its start.
func NewFill(p knowledge.ReindexProgress) *FillState { return &FillState{Rebuild: p.Rebuild} }
