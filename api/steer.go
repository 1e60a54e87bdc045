package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

type messageInput struct {
	edge.ActingQuery
	ID   string `path:"run_id" maxLength:"200"`
	Body struct {
		Text string `json:"text" maxLength:"4000" doc:"The instruction: what to look for, or how to write the answer or the report"`
	}
}

func (r *runControlRoutes) mountSteering(e *edge.Edge) {
	for prefix, path := range map[string]string{"workspace-": "/workspaces/{workspaceId}/runs", "": "/runs"} {
		edge.Handle(e, edge.Route{Operation: huma.Operation{
			OperationID: prefix + "steer-run", Method: http.MethodPost, Path: path + "/{run_id}/messages", DefaultStatus: http.StatusAccepted,
			Summary: "Send a message to an answer or a research that is under way", Tags: []string{"runs"},
			Description: "The next model call of a question considers the message. Words that were written without it are dropped (messageReset), and the message is kept in the conversation, before the answer. Only the owner of a question may send one, at most 20. " +
				"A research considers it in its next plan of sub-questions and in the sections that are not yet written; its owner and keys with the write scope may send one. " +
				"Runs that have ended, and runs of other kinds, are answered with 409.",
		}}, r.steerRun)
	}
}

// steerRun stores a message to an answer or a research, and tells its workflow.
func (r *runControlRoutes) steerRun(ctx context.Context, p knowledge.Principal, in *messageInput) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	if run.Kind != knowledge.KindResearch && run.Kind != knowledge.KindQuery {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "a run of the kind %s does not accept messages: only questions and research runs do", run.Kind)
	}
	if err := question.CheckText("body.text", in.Body.Text); err != nil {
		return nil, err
	}
	ref := knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}
	if run.Kind == knowledge.KindQuery {
		return r.steerAnswer(ctx, p, run, in.Body.Text)
	}
	key := ref.ResearchKey("message-" + knowledge.NewID())
	return r.controlResearch(ctx, p, run, record.ResearchControl{Message: key}, func() error {
		_, err := r.blobs.PutJSON(ctx, key, record.ResearchMessage{Text: in.Body.Text})
		return err
	})
}

// steerAnswer stores a message to a question that is being answered, and tells its workflow.
// It is a message of the conversation, so only the person who asked may send it.
func (r *runControlRoutes) steerAnswer(ctx context.Context, p knowledge.Principal, run store.Run, text string) (*runOutput, error) {
	switch {
	case run.Owner != p.Owner():
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "only the person who asked a question may send a message to its answer")
	case run.Status != knowledge.RunRunning:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s. Ask your next question in its conversation instead", run.ID, run.Status)
	}
	message := record.SteerMessage{ID: knowledge.NewID(), Text: text, CreatedAt: storedTime(time.Now())}
	key := knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}.SteerKey(message.ID)
	if _, err := r.blobs.PutJSON(ctx, key, message); err != nil {
		return nil, fmt.Errorf("store a message to run %s: %w", run.ID, err)
	}
	if err := r.dispatch.Steer(ctx, run, key); err != nil {
		return nil, fmt.Errorf("send a message to run %s: %w", run.ID, err)
	}
	return &runOutput{r.views.run(run)}, nil
}

// messageEvent is a message to an answer as readers get it.
type messageEvent struct {
	ID        string    `json:"id" doc:"The id of the message in the conversation"`
	Text      string    `json:"text" doc:"Empty if it was erased"`
	CreatedAt time.Time `json:"createdAt"`
}

// userMessage fills in the words of a message to an answer.
func (r *renderer) userMessage(ctx context.Context, e stream.Event) (string, any, error) {
	var message record.SteerMessage
	if err := r.results.blobs.GetJSON(ctx, e.Ref, &message); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return "", nil, fmt.Errorf("message to run %s: %w", r.run.ID, err)
	}
	return "userMessage", messageEvent(message), nil
}
