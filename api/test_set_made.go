package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of a test set that is made.
const (
	maxGenerated  = 1000
	ratingsToRead = 500
)

type generateInput struct {
	WorkspacePath
	Body struct {
		ProjectID string `json:"project_id,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: the key's project, or default"`
		Name      string `json:"name,omitempty" maxLength:"512" doc:"Default: generated"`
		Filter    struct {
			Tags        []string `json:"tags,omitempty" maxItems:"64" doc:"Only documents with one of these tags"`
			DocumentIDs []string `json:"document_ids,omitempty" maxItems:"500" doc:"Only these documents"`
		} `json:"filter,omitzero"`
		Count int    `json:"count,omitempty" minimum:"1" maximum:"1000" doc:"The largest number of questions. Default: 50"`
		Seed  uint64 `json:"seed,omitempty" doc:"The same seed makes the same questions of the same documents; with a model, it asks about the same passages"`
		Model string `json:"model,omitempty" maxLength:"200" doc:"The chat model that writes and checks the questions. Default: none, the questions are made of tables and of sentences with a number or a date"`
	}
}

func (tr *testSetRoutes) generate(ctx context.Context, p knowledge.Principal, in *generateInput) (*generatedOutput, error) {
	project, err := tr.project(ctx, p, in.Body.ProjectID)
	if err != nil {
		return nil, err
	}
	if in.Body.Name == "" {
		in.Body.Name = "generated"
	}
	if in.Body.Count == 0 {
		in.Body.Count = 50
	}
	if in.Body.Model != "" {
		return tr.generateByModel(ctx, p, project, in)
	}
	set, err := tr.generateOffline(ctx, p, project, in)
	return &generatedOutput{Status: http.StatusCreated, Body: generatedView{testSetView: viewTestSet(set)}}, err
}

// generateOffline stores a test set that is made without a model.
func (tr *testSetRoutes) generateOffline(ctx context.Context, p knowledge.Principal, project knowledge.Project, in *generateInput) (set store.TestSet, err error) {
	filter := in.Body.Filter
	chunks, err := retrieve.Readable(ctx, tr.store, p.Reader(), retrieve.Choice{Project: project.ID, Documents: filter.DocumentIDs, Tags: filter.Tags})
	if err != nil {
		return set, err
	}
	passages := make([]evaluate.Passage, len(chunks))
	for i, c := range chunks {
		passages[i] = record.PassageOf(c.Chunk, c.Document)
	}
	generated := evaluate.WithoutDuplicates(evaluate.GenerateOffline(passages, min(in.Body.Count, maxGenerated), in.Body.Seed))
	items := make([]evaluate.Item, 0, len(generated))
	for _, g := range generated {
		items = append(items, g.Item)
	}
	if len(items) == 0 {
		return set, knowledge.Errorf(knowledge.CodeConflict, "no question could be made: these documents have no table, and no sentence with a number or a date, that the caller may read")
	}
	return tr.add(ctx, p, project.ID, in.Body.Name, evaluate.WithIDs(items))
}

func (tr *testSetRoutes) fromFeedback(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body struct {
		ProjectID string    `json:"project_id,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: the key's project, or default"`
		Name      string    `json:"name,omitempty" maxLength:"512" doc:"Default: feedback"`
		Since     time.Time `json:"since,omitzero" doc:"Only ratings from this time on. Default: all"`
		Rating    string    `json:"rating,omitempty" enum:"up,down" doc:"Default: both"`
	}
}) (*testSetOutput, error) {
	project, err := tr.project(ctx, p, in.Body.ProjectID)
	if err != nil {
		return nil, err
	}
	given, err := tr.store.FeedbackSince(ctx, p, store.FeedbackQuery{Project: project.ID, Since: in.Body.Since, Rating: in.Body.Rating, Limit: ratingsToRead})
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	var items []evaluate.Item
	seen := map[string]bool{}
	for _, f := range given {
		if seen[f.Run] {
			continue
		}
		item, ok, err := tr.ratedItem(ctx, p, f)
		if err != nil {
			return nil, err
		}
		if ok {
			seen[f.Run] = true
			items = append(items, item)
		}
	}
	if len(items) == 0 {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "no answer of this project has such a rating that the caller may read")
	}
	name := in.Body.Name
	if name == "" {
		name = "feedback"
	}
	set, err := tr.add(ctx, p, project.ID, name, items)
	return &testSetOutput{viewTestSet(set)}, err
}

// ratedItem returns the question of an answer that was rated. ok is false if the question was
// erased, or is one of a conversation that the principal may not read.
func (tr *testSetRoutes) ratedItem(ctx context.Context, p knowledge.Principal, f store.Feedback) (item evaluate.Item, ok bool, err error) {
	run, err := tr.store.Run(ctx, p, f.Run)
	if err == nil {
		_, err = tr.readers.asReader(ctx, p, run)
	}
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound), knowledge.IsCode(err, knowledge.CodeForbidden):
		return item, false, nil
	case err != nil:
		return item, false, fmt.Errorf("read run %s: %w", f.Run, err)
	}
	var request struct {
		Question string `json:"question"`
	}
	var answer record.Answer
	err = tr.blobs.GetJSON(ctx, requestKey(run), &request)
	if err == nil && run.ResultKey != "" {
		err = tr.blobs.GetJSON(ctx, run.ResultKey, &answer)
	}
	if errors.Is(err, blob.ErrNotFound) || err == nil && request.Question == "" {
		return item, false, nil
	}
	if err != nil {
		return item, false, fmt.Errorf("read the question of run %s: %w", f.Run, err)
	}
	item = evaluate.Item{ID: f.Run, Question: request.Question, Reference: f.Expected, Tags: []string{"feedback", f.Rating}}
	if f.Rating == "up" {
		if item.Reference == "" {
			item.Reference = citation.Strip(answer.Answer)
		}
		item.ExpectedDocuments = citedDocuments(answer)
	}
	return item, true, nil
}

// citedDocuments returns the ids of the documents that an answer cites.
func citedDocuments(answer record.Answer) []string {
	var ids []string
	seen := map[string]bool{}
	for _, s := range answer.Sources {
		for _, used := range answer.Used {
			if used == s.Rank && s.DocumentID != "" && !seen[s.DocumentID] {
				seen[s.DocumentID] = true
				ids = append(ids, s.DocumentID)
			}
		}
	}
	return ids
}
