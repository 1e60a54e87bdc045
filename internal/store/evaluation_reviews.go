package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Review is what a person says of an answer that was judged. A nil score is none.
type Review struct {
	Author    string    `json:"-"` // as the owner of a run
	Score     *float64  `json:"score,omitempty"`
	Context   *float64  `json:"context,omitempty"`
	Comment   string    `json:"comment,omitempty"`
	CreatedAt time.Time `json:"-"`
}

type reviewRow struct {
	bun.BaseModel `bun:"table:evaluation_reviews,alias:w"`
	Evaluation    string `bun:"evaluation,pk"`
	Number        int    `bun:"number,pk"`
	Author        string `bun:"author,pk"`
	Review        string `bun:"review"`
	CreatedAt     int64  `bun:"created_at"`
}

func (r reviewRow) review() (Review, error) {
	var review Review
	if err := decode(field{r.Review, &review}); err != nil {
		return review, fmt.Errorf("decode a review of evaluation %s: %w", r.Evaluation, err)
	}
	review.Author, review.CreatedAt = r.Author, fromMicros(r.CreatedAt)
	return review, nil
}

// SetReview stores what the principal says of an item of an evaluation, in place of what it
// said before. An item without a final state is CodeConflict.
func (s *evaluationStore) SetReview(ctx context.Context, p knowledge.Principal, id string, number int, review Review) error {
	if _, err := s.Evaluation(ctx, p, id); err != nil {
		return err
	}
	encoded, err := encode(review)
	if err != nil {
		return err
	}
	row := reviewRow{Evaluation: id, Number: number, Author: p.Owner(), Review: encoded, CreatedAt: micros(s.orNow(review.CreatedAt))}
	return s.write(ctx, fmt.Sprintf("review item %d of evaluation %s", number, id), func(ctx context.Context, tx transaction) error {
		var item evaluatedRow
		there, err := evaluatedTable.first(ctx, tx, &item, "i.evaluation = ? AND i.number = ?", id, number)
		switch {
		case err != nil:
			return err
		case !there:
			return knowledge.NotFound("item", fmt.Sprint(number))
		case item.State == knowledge.ItemWaiting:
			return knowledge.Errorf(knowledge.CodeConflict, "item %q has no answer to review yet", item.ItemID)
		}
		_, err = tx.NewInsert().Model(&row).On("CONFLICT (evaluation, number, author) DO UPDATE").
			Set("review = EXCLUDED.review, created_at = EXCLUDED.created_at").Exec(ctx)
		return err
	})
}

// addReviews adds the reviews of an evaluation to items that are ordered by their number.
func (s *evaluationStore) addReviews(ctx context.Context, id string, list []Evaluated) error {
	var rows []reviewRow
	err := s.reader.NewSelect().Model(&rows).Where("w.evaluation = ? AND w.number BETWEEN ? AND ?", id, list[0].Number, list[len(list)-1].Number).
		OrderExpr("w.number, w.created_at, w.author").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the reviews of evaluation %s: %w", id, failure(err))
	}
	for _, row := range rows {
		review, err := row.review()
		if err != nil {
			return err
		}
		at, there := slices.BinarySearchFunc(list, row.Number, func(e Evaluated, n int) int { return e.Number - n })
		if there {
			list[at].Reviews = append(list[at].Reviews, review)
		}
	}
	return nil
}

// ReviewedItems returns the items of an evaluation that people have reviewed, in their order. The
// principal may read the evaluation.
func (s *evaluationStore) ReviewedItems(ctx context.Context, p knowledge.Principal, id string) ([]Evaluated, error) {
	if _, err := s.Evaluation(ctx, p, id); err != nil {
		return nil, err
	}
	rows, err := evaluatedTable.all(ctx, s.reader, `i.evaluation = ? AND EXISTS (SELECT 1 FROM evaluation_reviews AS w
		WHERE w.evaluation = i.evaluation AND w.number = i.number) ORDER BY i.number`, id)
	if err != nil {
		return nil, fmt.Errorf("list the reviewed items of evaluation %s: %w", id, failure(err))
	}
	list, err := decodeRows(rows, (*evaluatedRow).evaluated)
	if err != nil || len(list) == 0 {
		return list, err
	}
	return list, s.addReviews(ctx, id, list)
}
