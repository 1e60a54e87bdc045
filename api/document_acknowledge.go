package api

import (
	"context"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// acknowledgement is the body of the route that acknowledges failures.
type acknowledgement struct {
	IDs    []string        `json:"ids,omitempty" maxItems:"1000" doc:"The ids of the documents"`
	Filter *documentFilter `json:"filter,omitempty" doc:"Selects documents, instead of ids"`
	DryRun bool            `json:"dry_run,omitempty" doc:"Only count the documents"`
	Undo   bool            `json:"undo,omitempty" doc:"Report the failures again"`
}

func (dar *documentActionRoutes) mountAcknowledge(e *edge.Edge) {
	edge.Handle(e, dar.acknowledge(false).route(), func(ctx context.Context, p knowledge.Principal, in *struct {
		WorkspacePath
		Body acknowledgement
	}) (*selectionOutput, error) {
		return dar.actOnDocuments(ctx, p, dar.acknowledge(in.Body.Undo), documentSelection{IDs: in.Body.IDs, Filter: in.Body.Filter, DryRun: in.Body.DryRun})
	})
}

// acknowledge is the action that acknowledges failures, or undoes that.
func (dar *documentActionRoutes) acknowledge(undo bool) documentAction {
	failed := func(d knowledge.Document) bool { return d.Status == knowledge.StatusError && d.Error != nil }
	return documentAction{
		name: "acknowledge", summary: "Acknowledge the failures of documents",
		description: "Documents whose failure is acknowledged have acknowledged: true, and cairn doctor does not report them. A later failure of the same document is not acknowledged. A filter without a status selects the documents that have failed and are not acknowledged yet, with undo those that are.",
		immediate:   true,
		fits:        func(d knowledge.Document) bool { return failed(d) && d.Acknowledged == undo },
		refuses:     func(d knowledge.Document) bool { return !failed(d) },
		do: func(ctx context.Context, p knowledge.Principal, _ intake.Run, id string) (string, error) {
			return "", dar.store.AcknowledgeFailure(ctx, p, id, undo)
		},
	}
}
