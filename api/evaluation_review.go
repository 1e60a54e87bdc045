package api

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// reviewView is what a person said of an answer.
type reviewView struct {
	Score     *float64  `json:"score"`
	Context   *float64  `json:"context"`
	Comment   string    `json:"comment,omitempty"`
	Person    string    `json:"person,omitempty" doc:"Empty: a key gave it for nobody"`
	Own       bool      `json:"own" doc:"Whether the caller gave it"`
	CreatedAt time.Time `json:"created_at"`
}

func viewReview(p knowledge.Principal) func(store.Review) reviewView {
	return func(r store.Review) reviewView {
		return reviewView{r.Score, r.Context, r.Comment, knowledge.PersonOf(r.Author), r.Author == p.Owner(), r.CreatedAt}
	}
}

type evaluatedOutput struct{ Body evaluatedView }

func (er *evaluationRoutes) review(ctx context.Context, p knowledge.Principal, in *struct {
	EvaluationPath
	Item   string `path:"item" maxLength:"128" doc:"The id of the item in the test set"`
	Repeat int    `query:"repeat" minimum:"1" maximum:"10" doc:"Which time that the question was asked. Default: 1"`
	Cell   int    `query:"cell" minimum:"1" maximum:"32" doc:"The configuration of an experiment. Default: 1, the saved settings"`
	Body   struct {
		Score   *float64 `json:"score,omitempty" doc:"0, 1, 1.5 or 2; 1 is stored as 1.5"`
		Context *float64 `json:"context,omitempty" doc:"0, 1, 1.5 or 2; 1 is stored as 1.5"`
		Comment string   `json:"comment,omitempty" maxLength:"4000"`
	}
}) (*evaluatedOutput, error) {
	e, err := er.store.Evaluation(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", in.ID, err)
	}
	ref := store.ItemRef{Item: in.Item, Repeat: max(in.Repeat, 1), Cell: max(in.Cell, 1)}
	item, err := er.store.EvaluatedItem(ctx, p, in.ID, ref)
	if err != nil {
		return nil, fmt.Errorf("read item %s of evaluation %s: %w", in.Item, in.ID, err)
	}
	review := store.Review{Comment: in.Body.Comment, CreatedAt: storedTime(er.now())}
	if review.Score, err = reviewScore("body.score", in.Body.Score); err != nil {
		return nil, err
	}
	if review.Context, err = reviewScore("body.context", in.Body.Context); err != nil {
		return nil, err
	}
	if review.Score == nil && review.Context == nil && review.Comment == "" {
		return nil, knowledge.Invalid("body", "must have a score, a context or a comment")
	}
	if err := er.store.SetReview(ctx, p, in.ID, item.Number, review); err != nil {
		return nil, fmt.Errorf("review item %s of evaluation %s: %w", in.Item, in.ID, err)
	}
	if item, err = er.store.EvaluatedItem(ctx, p, in.ID, ref); err != nil {
		return nil, fmt.Errorf("read item %s of evaluation %s: %w", in.Item, in.ID, err)
	}
	view, err := er.item(ctx, p, e, item)
	return &evaluatedOutput{view}, err
}

// reviewScore returns a person's score as it is stored.
func reviewScore(location string, given *float64) (*float64, error) {
	if given == nil {
		return nil, nil
	}
	score := *given
	if score == 1 {
		score = evaluate.ScorePartial
	}
	if score != evaluate.ScoreWrong && score != evaluate.ScorePartial && score != evaluate.ScoreRight {
		return nil, knowledge.Invalid(location, "must be 0, 1, 1.5 or 2")
	}
	return &score, nil
}
