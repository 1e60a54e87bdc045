package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Feedback is what a reader of an answer says of it.
type Feedback struct {
	Run       string
	Author    string // as the owner of a run
	Rating    string // up or down
	Comment   string
	Expected  string // the answer that the author would have wanted, "" = nothing said
	CreatedAt time.Time
}

type feedbackRow struct {
	bun.BaseModel `bun:"table:run_feedback,alias:f"`
	Run           string `bun:"run_id,pk"`
	Author        string `bun:"author,pk"`
	Workspace     string `bun:"workspace"`
	Rating        string `bun:"rating"`
	Comment       string `bun:"comment"`
	Expected      string `bun:"expected"`
	CreatedAt     int64  `bun:"created_at"`
}

func (r feedbackRow) feedback() Feedback {
	return Feedback{Run: r.Run, Author: r.Author, Rating: r.Rating, Comment: r.Comment, Expected: r.Expected, CreatedAt: fromMicros(r.CreatedAt)}
}

// SetFeedback stores what the principal says of the answer of a run, in place of what it
// said before. A run that the principal does not see is not found.
func (s *runStore) SetFeedback(ctx context.Context, p knowledge.Principal, given Feedback) error {
	if _, err := s.Run(ctx, p, given.Run); err != nil {
		return err
	}
	row := feedbackRow{
		Run: given.Run, Author: p.Owner(), Workspace: p.Workspace(), Rating: given.Rating, Comment: given.Comment, Expected: given.Expected,
		CreatedAt: micros(s.orNow(given.CreatedAt)),
	}
	return s.write(ctx, "store feedback on run "+given.Run, func(ctx context.Context, tx transaction) error {
		_, err := tx.NewInsert().Model(&row).On("CONFLICT (run_id, author) DO UPDATE").
			Set("rating = EXCLUDED.rating, comment = EXCLUDED.comment, expected = EXCLUDED.expected, created_at = EXCLUDED.created_at").Exec(ctx)
		return err
	})
}

// Feedback returns what was said of the answers of runs of the principal's workspace,
// oldest first: by the principal alone or, for an administrator, by everybody.
func (s *runStore) Feedback(ctx context.Context, p knowledge.Principal, runs ...string) ([]Feedback, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, nil
	}
	var rows []feedbackRow
	q := s.reader.NewSelect().Model(&rows).Where("f.workspace = ?", p.Workspace()).Where("f.run_id IN (?)", bun.List(runs)).OrderExpr("f.created_at, f.author")
	if !p.May(knowledge.RunsAdmin) {
		q = q.Where("f.author = ?", p.Owner())
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read feedback: %w", failure(err))
	}
	return convert(rows, feedbackRow.feedback), nil
}

// FeedbackQuery asks for what was said of the answers of a project. An empty Rating and a zero
// Since ask for all.
type FeedbackQuery struct {
	Project string
	Since   time.Time
	Rating  string
	Limit   int
}

// FeedbackSince returns what was said of answers, newest first, by the rule of Feedback.
// Answers to the items of evaluations are left out.
func (s *runStore) FeedbackSince(ctx context.Context, p knowledge.Principal, query FeedbackQuery) ([]Feedback, error) {
	if err := requireProjectOf(p, query.Project); err != nil {
		return nil, err
	}
	var rows []feedbackRow
	q := s.reader.NewSelect().Model(&rows).Join("JOIN runs AS r ON r.id = f.run_id").
		Where("f.workspace = ? AND r.project = ? AND r.parent = '' AND f.created_at >= ?", p.Workspace(), query.Project, micros(query.Since)).
		OrderExpr("f.created_at DESC, f.run_id, f.author").Limit(int64(query.Limit))
	if query.Rating != "" {
		q = q.Where("f.rating = ?", query.Rating)
	}
	if !p.May(knowledge.RunsAdmin) {
		q = q.Where("f.author = ?", p.Owner())
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("read feedback: %w", failure(err))
	}
	return convert(rows, feedbackRow.feedback), nil
}
