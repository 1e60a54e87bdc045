package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// decisionInput decides about a tool call that waits for a person.
type decisionInput struct {
	edge.ActingQuery
	ID   string `path:"run_id" maxLength:"200"`
	Call string `path:"call" maxLength:"64" doc:"The id of the tool call, from its toolCall event"`
	Body struct {
		Decision string `json:"decision" enum:"approve,refuse"`
		Reason   string `json:"reason,omitempty" maxLength:"2000" doc:"The reason of a refusal, for the model"`
	}
}

func (r *runControlRoutes) mountApprovals(e *edge.Edge) {
	for prefix, path := range map[string]string{"workspace-": "/workspaces/{workspaceId}/runs", "": "/runs"} {
		edge.Handle(e, edge.Route{Operation: huma.Operation{
			OperationID: prefix + "decide-call", Method: http.MethodPost, Path: path + "/{run_id}/calls/{call}", Tags: []string{"runs"},
			Summary: "Approve or refuse a tool call",
			Description: "Calls of the tools in tools.approval of the project wait for a decision, without a time limit; their toolCall event has the status waiting. " +
				"The owner of the run and keys with the write scope may decide. A call that does not wait, or no longer waits, is answered with 409.",
		}}, r.decideCall)
	}
}

// decideCall passes a person's decision about a tool call to its run.
func (r *runControlRoutes) decideCall(ctx context.Context, p knowledge.Principal, in *decisionInput) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	if run.Owner != p.Owner() && !p.Can(knowledge.ScopeWrite) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "only the owner of a run, or a key with the write scope, may decide about its calls")
	}
	waiting := false
	if run.Kind.Traits().Answers && run.Status == knowledge.RunRunning {
		if waiting, err = r.decide(ctx, run, in); err != nil {
			return nil, err
		}
	}
	if !waiting {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "the run has no call %q that waits for a decision", in.Call)
	}
	return &runOutput{r.views.run(run)}, nil
}

// decide stores the words about a refusal that the model reads, and signals the run.
func (r *runControlRoutes) decide(ctx context.Context, run store.Run, in *decisionInput) (waiting bool, err error) {
	decision := record.Decision{Call: in.Call}
	if in.Body.Decision == "refuse" {
		words := "A person refused this call. Do not repeat it; continue without it, or say what you could not do."
		if in.Body.Reason != "" {
			words += " The reason: " + in.Body.Reason
		}
		ref := knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}
		decision.Refusal = ref.RefusalKey(knowledge.NewID())
		if _, err := r.blobs.PutJSON(ctx, decision.Refusal, record.ToolWords{Words: words, Reason: in.Body.Reason}); err != nil {
			return false, fmt.Errorf("store the refusal of a call of run %s: %w", run.ID, err)
		}
	}
	return r.dispatch.Decide(ctx, run, decision)
}
