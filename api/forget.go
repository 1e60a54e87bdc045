package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// forgottenOutput is what forgetting a document changed.
type forgottenOutput struct {
	Body struct {
		Conversations int `json:"conversations" doc:"Conversations with a changed message"`
		Messages      int `json:"messages" doc:"Answers from which words were cut"`
		Runs          int `json:"runs" doc:"Runs whose records were changed, the runs of the answers included"`
	} `nameHint:"ForgottenDocument"`
}

// forgetRoutes holds the route that cuts quotations of a document.
type forgetRoutes struct{ quotations Quotations }

func (f *forgetRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "forget-document", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/conversations/forget",
		Summary: "Cut quotations of a document out of answers", Tags: []string{"conversations"},
		Description: "Changes the answers of the whole workspace: in conversations, and in the results, events and records of runs. " +
			"The parts of an answer that cite the document become […], and so do phrases of six or more words of these parts, or of the document if it is not removed yet, in other answers. " +
			"The files, tool calls and histories of these runs are deleted. What users typed stays, and so do answers that are being written. Calling it again changes nothing more.",
	}}, func(ctx context.Context, p knowledge.Principal, in *struct {
		WorkspacePath
		Body struct {
			DocumentID string `json:"document_id" minLength:"1" maxLength:"200" doc:"Id of the document, which may be removed"`
			DryRun     bool   `json:"dry_run,omitempty" doc:"Only count"`
		}
	}) (*forgottenOutput, error) {
		audit.Made(ctx, in.Body.DocumentID)
		counts, err := f.quotations.Document(ctx, p, in.Body.DocumentID, in.Body.DryRun)
		if err != nil {
			return nil, err
		}
		out := &forgottenOutput{}
		out.Body.Conversations, out.Body.Messages, out.Body.Runs = counts.Conversations, counts.Messages, counts.Runs
		return out, nil
	})
}
