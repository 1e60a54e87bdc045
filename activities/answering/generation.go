package answering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// TestSets is the part of the store that has test sets, and how far their generation is. Every
// method is idempotent.
type TestSets interface {
	// AddTestSet stores a test set. One that the same owner stored under this id is returned.
	AddTestSet(ctx context.Context, p knowledge.Principal, set store.TestSet, items store.TestItems) (store.TestSet, error)
	// NoteGeneration stores how far a generation is.
	NoteGeneration(ctx context.Context, workspace, run string, progress knowledge.GenerationProgress) error
}

// Generating holds the activities of GenerateTestSet.
type Generating struct {
	stepLog

	TestSets  TestSets
	Blobs     step.Blobs
	Runs      step.RunEnds
	Library   Library
	Passages  retrieve.PassageReader
	Retriever Retriever
	Hub       Hub
	Metrics   Metrics
	chats     *chats
}

// The bounds of a generation.
const (
	plannedFor  = 4  // questions that may be written for each that is wanted
	plannedMore = 20 // and in addition
)

// GenerationPlan is which questions a generation may write. Unanswerable are the numbers of those
// that have no answer, 0 = the first question.
type GenerationPlan struct {
	Questions    int    `json:"questions"`
	Unanswerable []int  `json:"unanswerable,omitempty"`
	Answerable   int    `json:"answerable"` // how many with an answer are wanted
	Without      int    `json:"without"`    // and without one
	Model        string `json:"model"`
}

// PlanGeneration chooses passages that the principal may read, and stores what is to be asked about
// them. A repetition returns the stored plan.
func (a *Generating) PlanGeneration(ctx context.Context, in knowledge.RunRef) (GenerationPlan, error) {
	defer step.Heartbeat(ctx)()
	plan, err := a.planGeneration(ctx, in)
	if err != nil {
		return plan, a.fail(ctx, in, fmt.Errorf("plan the questions of run %s: %w", in.Run, err))
	}
	return plan, nil
}

func (a *Generating) planGeneration(ctx context.Context, in knowledge.RunRef) (plan GenerationPlan, err error) {
	var snapshot record.Generation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return plan, err
	}
	planned, err := step.Stored(ctx, a.Blobs, in.GenerationPlanKey(), func() ([]record.AskedPassages, error) { return a.questions(ctx, in, snapshot) })
	if err != nil {
		return plan, err
	}
	if len(planned) == 0 {
		return plan, knowledge.Errorf(knowledge.CodeConflict, "no question can be written: the caller may read no published passage of these documents that says enough")
	}
	plan = GenerationPlan{Questions: len(planned), Without: evaluate.Unanswerable(snapshot.Count), Model: snapshot.Model}
	plan.Answerable = snapshot.Count - plan.Without
	for i, q := range planned {
		if q.Kind == evaluate.KindUnanswerable {
			plan.Unanswerable = append(plan.Unanswerable, i)
		}
	}
	return plan, nil
}

// questions plans questions about the passages that the principal of a generation may read.
func (a *Generating) questions(ctx context.Context, in knowledge.RunRef, snapshot record.Generation) ([]record.AskedPassages, error) {
	chunks, err := retrieve.Readable(ctx, a.Library, snapshot.Principal.Reader(), retrieve.Choice{Project: in.Project, Documents: snapshot.Documents, Tags: snapshot.Tags})
	if err != nil {
		return nil, err
	}
	passages := make([]evaluate.Passage, len(chunks))
	for i, c := range chunks {
		passages[i] = record.PassageOf(c.Chunk, c.Document)
	}
	plan := []record.AskedPassages{}
	for _, p := range evaluate.PlanQuestions(passages, plannedFor*snapshot.Count+plannedMore, snapshot.Seed) {
		q := record.AskedPassages{Kind: p.Kind}
		for _, at := range p.Passages {
			c := chunks[at]
			q.Passages = append(q.Passages, knowledge.Hit{ChunkID: c.ID, DocumentID: c.Document.ID, Version: c.Version})
		}
		plan = append(plan, q)
	}
	return plan, nil
}

// GenerationState is how far the workflow of a generation is.
type GenerationState struct {
	knowledge.RunRef
	Progress knowledge.GenerationProgress `json:"progress"`
}

// NoteGeneration stores how far a generation is. It is a local activity.
func (a *Generating) NoteGeneration(ctx context.Context, in GenerationState) error {
	if err := a.TestSets.NoteGeneration(ctx, in.Workspace, in.Run, in.Progress); err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	return nil
}

// ChooseInput asks which of the first Written questions are kept.
type ChooseInput struct {
	knowledge.RunRef
	Written int  `json:"written"`
	Store   bool `json:"store,omitempty"` // them as the test set
}

// ChosenQuestions is which questions are kept.
type ChosenQuestions struct {
	Answerable int `json:"answerable"`
	Without    int `json:"without"` // an answer
	Duplicates int `json:"duplicates"`
}

// ChooseQuestions leaves out near duplicates of the questions that passed their checks, and stores
// the others as a test set if it is asked to.
func (a *Generating) ChooseQuestions(ctx context.Context, in ChooseInput) (ChosenQuestions, error) {
	defer step.Heartbeat(ctx)()
	chosen, err := a.chooseQuestions(ctx, in)
	if err != nil {
		return chosen, a.fail(ctx, in.RunRef, fmt.Errorf("choose the questions of run %s: %w", in.Run, err))
	}
	return chosen, nil
}

func (a *Generating) chooseQuestions(ctx context.Context, in ChooseInput) (chosen ChosenQuestions, err error) {
	var snapshot record.Generation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return chosen, err
	}
	written, err := a.written(ctx, in)
	if err != nil {
		return chosen, err
	}
	kept, duplicates := evaluate.ChooseGenerated(written, snapshot.Count)
	chosen.Duplicates = duplicates
	items := make([]evaluate.Item, 0, len(kept))
	for _, g := range kept {
		items = append(items, g.Item)
		if g.Item.Kind == evaluate.KindUnanswerable {
			chosen.Without++
		} else {
			chosen.Answerable++
		}
	}
	if !in.Store {
		return chosen, nil
	}
	if len(items) == 0 {
		return chosen, knowledge.Errorf(knowledge.CodeConflict, "no question of the model passed the checks; the run says why each was dropped")
	}
	items = evaluate.WithIDs(items)
	encoded, err := json.Marshal(items)
	if err != nil {
		return chosen, fmt.Errorf("encode the questions: %w", err)
	}
	set := store.TestSet{ID: in.Run, Project: in.Project, Name: snapshot.Name}
	_, err = a.TestSets.AddTestSet(ctx, snapshot.Principal, set, store.TestItems{Items: encoded, Count: len(items), Hash: evaluate.Version(items)})
	return chosen, err
}

// written returns the questions that passed their checks, in the order of the plan.
func (a *Generating) written(ctx context.Context, in ChooseInput) (list []evaluate.Generated, err error) {
	for i := range in.Written {
		var q record.GeneratedQuestion
		if err := a.Blobs.GetJSON(ctx, in.GeneratedKey(i, ""), &q); isMissingBlob(err) { // it was not needed, or its model failed
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read question %d: %w", i, err)
		}
		if q.Dropped == "" {
			list = append(list, q.Question)
		}
	}
	return list, nil
}

// FinishGenerationInput ends a generation. Items are its whole log.
type FinishGenerationInput struct {
	GenerationState
	Error *knowledge.DocumentError `json:"error,omitempty"`
	Items []stream.Item            `json:"items"`
}

// FinishGeneration stores the end of a generation and its whole log. It is a local activity.
func (a *Generating) FinishGeneration(ctx context.Context, in FinishGenerationInput) error {
	if err := a.NoteGeneration(ctx, in.GenerationState); err != nil {
		return err
	}
	end := record.Ending{Kind: knowledge.KindGenerate, Error: in.Error, Usage: knowledge.RunUsage{Usage: in.Progress.Usage, Model: in.Progress.Model}.Encode()}
	if err := (step.RunEnder{Blobs: a.Blobs, Runs: a.Runs, Hub: a.Hub}).End(ctx, in.RunRef, in.Items, end); err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	a.Metrics.WorkflowDone("GenerateTestSet", string(end.Status()))
	a.Log.InfoContext(ctx, "generation of a test set ended", "workspace", in.Workspace, "run", in.Run, "status", end.Status())
	return nil
}
