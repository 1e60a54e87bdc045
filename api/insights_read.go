package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// asked returns the newest questions to a project since a time that have ended, newest first.
func (ir *insightRoutes) asked(ctx context.Context, p knowledge.Principal, project string, since time.Time) ([]askedRun, error) {
	runs, err := ir.store.QuestionsSince(ctx, p, project, since, questionsRead)
	if err != nil {
		return nil, fmt.Errorf("list questions: %w", err)
	}
	list := make([]askedRun, 0, len(runs))
	for _, run := range runs {
		a := askedRun{Run: run}
		var request struct {
			Question string `json:"question"`
		}
		err := ir.blobs.GetJSON(ctx, requestKey(run), &request)
		if err == nil && run.ResultKey != "" {
			a.answer = &record.Answer{}
			err = ir.blobs.GetJSON(ctx, run.ResultKey, a.answer)
		}
		if errors.Is(err, blob.ErrNotFound) { // it was erased
			continue
		}
		if err == nil && len(run.Usage) > 0 {
			err = json.Unmarshal(run.Usage, &a.used)
		}
		if err != nil {
			return nil, fmt.Errorf("read the question of run %s: %w", run.ID, err)
		}
		a.question = request.Question
		list = append(list, a)
	}
	return list, nil
}

// lowRated returns the questions whose answers were rated down.
func (ir *insightRoutes) lowRated(ctx context.Context, p knowledge.Principal, project string, since time.Time, questions []evaluate.Asked) ([]lowRated, error) {
	given, err := ir.store.FeedbackSince(ctx, p, store.FeedbackQuery{Project: project, Since: since, Rating: "down", Limit: insightsShown})
	if err != nil {
		return nil, fmt.Errorf("read feedback: %w", err)
	}
	ratings := map[string][]lowRating{}
	for _, f := range given {
		ratings[f.Run] = append(ratings[f.Run], lowRating{f.Run, f.Comment, f.Expected})
	}
	list := []lowRated{}
	rated := slices.DeleteFunc(slices.Clone(questions), func(q evaluate.Asked) bool { return ratings[q.ID] == nil })
	for _, g := range evaluate.GroupQuestions(rated, 0) {
		one := lowRated{Question: g.Question, Runs: g.IDs}
		for _, run := range g.IDs {
			one.Ratings = append(one.Ratings, ratings[run]...)
		}
		list = append(list, one)
	}
	return list, nil
}

// unused returns published documents that no answer cites.
func (ir *insightRoutes) unused(ctx context.Context, p knowledge.Principal, project string, asked []askedRun) ([]unusedDocument, error) {
	cited, given := map[string]bool{}, map[string][]string{}
	for _, a := range asked {
		if a.answer == nil {
			continue
		}
		for _, id := range citedDocuments(*a.answer) {
			cited[id] = true
		}
		for _, s := range a.answer.Sources {
			if runs := given[s.DocumentID]; len(runs) == 0 || runs[len(runs)-1] != a.ID {
				given[s.DocumentID] = append(runs, a.ID)
			}
		}
	}
	var list []unusedDocument
	page := store.Page{Limit: 500}
	for looked := 0; looked < documentsLooked && len(list) < insightsShown; looked += page.Limit {
		documents, next, err := ir.store.Documents(ctx, p, store.DocumentQuery{Project: project, Status: knowledge.StatusPublished, Page: page})
		if err != nil {
			return nil, fmt.Errorf("list documents: %w", err)
		}
		for _, d := range documents {
			if !cited[d.ID] {
				list = append(list, unusedDocument{DocumentID: d.ID, Name: d.Name, Runs: notNil(given[d.ID])})
			}
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	return shown(list), nil
}

// contradictions returns passages that models were given and that contradict each other.
func (ir *insightRoutes) contradictions(ctx context.Context, p knowledge.Principal, asked []askedRun) ([]contradiction, error) {
	runs := map[string][]string{}
	var sources []record.Source
	for _, a := range asked {
		if a.answer == nil {
			continue
		}
		for _, s := range a.answer.Sources {
			if s.ChunkID == "" || s.Given != nil || s.Page != nil {
				continue
			}
			if len(runs[s.ChunkID]) == 0 && len(sources) < contradictionsRead {
				sources = append(sources, s)
			}
			runs[s.ChunkID] = append(runs[s.ChunkID], a.ID)
		}
	}
	chunks, err := ir.passages.passages(ctx, p, sources)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	passages := make([]evaluate.Passage, 0, len(chunks))
	for _, s := range sources {
		if c, there := chunks[s.ChunkID]; there && !c.Superseded {
			passages = append(passages, record.PassageOf(c.Chunk, c.Document))
		}
	}
	list := []contradiction{}
	for _, c := range evaluate.Contradictions(passages, insightsShown) {
		of := slices.Concat(runs[c.First.ChunkID], runs[c.Second.ChunkID])
		slices.Sort(of)
		list = append(list, contradiction{c, slices.Compact(of)})
	}
	return list, nil
}
