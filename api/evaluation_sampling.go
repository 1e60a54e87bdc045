package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// toReview returns the judged items of an evaluation that the principal has not reviewed, in the
// order of a sampling.
func (er *evaluationRoutes) toReview(ctx context.Context, p knowledge.Principal, id string, by evaluate.Sampling) ([]store.Evaluated, error) {
	items, err := er.store.AllEvaluated(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", id, err)
	}
	var scored []evaluate.Scored
	places := map[int]int{}
	for at, i := range items {
		if i.State != knowledge.ItemJudged {
			continue
		}
		var result record.ItemResult
		if err := json.Unmarshal(i.Result, &result); err != nil {
			return nil, fmt.Errorf("decode the result of item %d of evaluation %s: %w", i.Number, id, err)
		}
		one := evaluate.Scored{Number: i.Number, Item: i.ItemID, Score: result.Judgement.Score}
		for _, review := range i.Reviews {
			if review.Score != nil {
				one.People = append(one.People, *review.Score)
			}
		}
		scored = append(scored, one)
		places[i.Number] = at
	}
	var list []store.Evaluated
	for _, number := range evaluate.ForReview(scored, by) {
		item := items[places[number]]
		if !slices.ContainsFunc(item.Reviews, func(r store.Review) bool { return r.Author == p.Owner() }) {
			list = append(list, item)
		}
	}
	return list, nil
}
