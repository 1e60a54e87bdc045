package api

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestSets holds the test sets.
type TestSets interface {
	// AddTestSet stores a new test set and its first version.
	AddTestSet(ctx context.Context, p knowledge.Principal, set store.TestSet, items store.TestItems) (store.TestSet, error)
	// TestSet returns a test set.
	TestSet(ctx context.Context, p knowledge.Principal, id string) (store.TestSet, error)
	// TestSets lists test sets, newest first.
	TestSets(ctx context.Context, p knowledge.Principal, query store.TestSetQuery) ([]store.TestSet, string, error)
	// TestSetItems returns the items of a version of a test set, 0 = the newest.
	TestSetItems(ctx context.Context, p knowledge.Principal, id string, version int) (store.TestItems, error)
	// UpdateTestSet changes a test set. Other items make a new version.
	UpdateTestSet(ctx context.Context, p knowledge.Principal, id string, patch store.TestSetPatch) (store.TestSet, error)
	// RemoveTestSet deletes a test set with all its versions.
	RemoveTestSet(ctx context.Context, p knowledge.Principal, id string) error
	// StartGeneration stores the run in which a model makes a test set. One that the same owner started
	// before under this id is returned.
	StartGeneration(ctx context.Context, p knowledge.Principal, project, id string, begun knowledge.GenerationProgress) (store.Run, error)
	// FeedbackSince returns what was said of answers of a project, newest first.
	FeedbackSince(ctx context.Context, p knowledge.Principal, query store.FeedbackQuery) ([]store.Feedback, error)
	// QuestionsSince returns everybody's newest questions to a project that have ended, for the
	// permission runs.admin.
	QuestionsSince(ctx context.Context, p knowledge.Principal, project string, since time.Time, limit int) ([]store.Run, error)
}

// Evaluations holds the evaluations.
type Evaluations interface {
	// StartEvaluation stores an evaluation and its run. One that the same owner started before
	// under this id is returned.
	StartEvaluation(ctx context.Context, p knowledge.Principal, e store.Evaluation) (store.Evaluation, error)
	// Evaluation returns an evaluation with its run and its progress.
	Evaluation(ctx context.Context, p knowledge.Principal, id string) (store.Evaluation, error)
	// Evaluations lists evaluations, newest first.
	Evaluations(ctx context.Context, p knowledge.Principal, query store.EvaluationQuery) ([]store.Evaluation, string, error)
	// EvaluationItems lists the items of an evaluation, in their order.
	EvaluationItems(ctx context.Context, p knowledge.Principal, id string, query store.ItemQuery) ([]store.Evaluated, string, error)
	// AllEvaluated returns all items of an evaluation, in their order.
	AllEvaluated(ctx context.Context, p knowledge.Principal, id string) ([]store.Evaluated, error)
	// EvaluatedItem returns an item.
	EvaluatedItem(ctx context.Context, p knowledge.Principal, id string, item store.ItemRef) (store.Evaluated, error)
	// SetReview stores what the principal says of an item, in place of what it said before.
	SetReview(ctx context.Context, p knowledge.Principal, id string, number int, review store.Review) error
	// ReviewedItems returns the items that people have reviewed, in their order.
	ReviewedItems(ctx context.Context, p knowledge.Principal, id string) ([]store.Evaluated, error)
}
