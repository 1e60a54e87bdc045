package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// feedbackBody is what a reader says of an answer.
type feedbackBody struct {
	Rating   string `json:"rating" enum:"up,down"`
	Comment  string `json:"comment,omitempty" maxLength:"4000"`
	Expected string `json:"expected,omitempty" maxLength:"16000" doc:"The answer that you would have wanted"`
}

// feedbackView is feedback as clients see it.
type feedbackView struct {
	feedbackBody
	Own       bool      `json:"own" doc:"Whether the caller gave it"`
	CreatedAt time.Time `json:"created_at"`
}

type feedbackOutput struct{ Body feedbackView }

func (r *runRoutes) mountFeedback(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/runs/{run_id}/feedback"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "give-feedback", Method: http.MethodPost, Path: path, Tags: []string{"runs"}, Summary: "Rate an answer",
		Description: "Whoever may read the answer may rate it; a later rating by the same person replaces the earlier one. It is deleted with the conversation.",
	}}, r.giveFeedback)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-feedback", Method: http.MethodGet, Path: path, Tags: []string{"runs"}, Summary: "Read the ratings of an answer",
		Description: "The caller's own; with the scope admin, everybody's.",
	}}, r.listFeedback)
}

// answerRun returns the run of an answer that the principal may read.
func (r *runRoutes) answerRun(ctx context.Context, p knowledge.Principal, id string) error {
	run, err := r.store.Run(ctx, p, id)
	if err != nil {
		return fmt.Errorf("read run %s: %w", id, err)
	}
	if !run.Kind.Traits().Answers {
		return knowledge.Errorf(knowledge.CodeConflict, "a run of the kind %s has no answer to rate", run.Kind)
	}
	_, err = r.readers.asReader(ctx, p, run)
	return err
}

func (r *runRoutes) giveFeedback(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	RunPath
	Body feedbackBody
}) (*feedbackOutput, error) {
	return r.rate(ctx, p, in.ID, in.Body)
}

// rate stores what the principal says of the answer of a run that it may read.
func (r *runRoutes) rate(ctx context.Context, p knowledge.Principal, run string, said feedbackBody) (*feedbackOutput, error) {
	if err := r.answerRun(ctx, p, run); err != nil {
		return nil, err
	}
	given := store.Feedback{Run: run, Author: p.Owner(), Rating: said.Rating, Comment: said.Comment, Expected: said.Expected, CreatedAt: storedTime(r.now())}
	if err := r.store.SetFeedback(ctx, p, given); err != nil {
		return nil, fmt.Errorf("store feedback on run %s: %w", run, err)
	}
	return &feedbackOutput{viewFeedback(p)(given)}, nil
}

func (r *runRoutes) listFeedback(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	RunPath
}) (*listOutput[feedbackView], error) {
	if err := r.answerRun(ctx, p, in.ID); err != nil {
		return nil, err
	}
	given, err := r.store.Feedback(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read feedback on run %s: %w", in.ID, err)
	}
	return page(convert(given, viewFeedback(p)), ""), nil
}

func viewFeedback(p knowledge.Principal) func(store.Feedback) feedbackView {
	return func(f store.Feedback) feedbackView {
		return feedbackView{feedbackBody{f.Rating, f.Comment, f.Expected}, f.Author == p.Owner(), f.CreatedAt}
	}
}
