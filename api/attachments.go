package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/view"
)

// attachmentsPath is the path of what is attached to a conversation.
const attachmentsPath = "/workspaces/{workspaceId}/conversations/{id}/attachments"

func (s *Server) registerAttachments() {
	tags := []string{"conversations"}
	add := s.filesRoute()
	add.OperationID, add.Path, add.Summary, add.Tags = "add-attachments", attachmentsPath, "Attach files to a conversation", tags
	add.Description = "The files become documents that only this conversation can read. They belong to the project of the conversation, else to the project of the key, else to default. The conversation must belong to the caller, or to the user in the query parameters."
	text := &huma.Schema{Type: huma.TypeString}
	add.Parameters = []*huma.Param{
		{Name: "workspaceId", In: "path", Required: true, Schema: text}, {Name: "id", In: "path", Required: true, Schema: text},
		{Name: "userId", In: "query", Schema: text, Description: "A person of the workspace for whom an API key acts"},
		{Name: "external_user_id", In: "query", Schema: text, Description: "A user of your application (a customer), for whom an API key acts. Not a person of the workspace"},
	}
	edge.HandleRaw(s.edge, add, s.addAttachments)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "list-attachments", Method: http.MethodGet, Path: attachmentsPath, Summary: "List the attachments of a conversation", Tags: tags,
	}}, s.listAttachments)
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeWrite, Operation: huma.Operation{
		OperationID: "delete-attachment", Method: http.MethodDelete, Path: attachmentsPath + "/{document_id}", Summary: "Remove an attachment of a conversation", Tags: tags,
	}}, s.removeAttachment)
}

func (s *Server) addAttachments(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	c, err := s.deps.Store.Conversation(r.Context(), p, r.PathValue("id"))
	var project knowledge.Project
	if err == nil {
		project, err = s.intake.Project(r.Context(), p, c.Project)
	}
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("attach to conversation %s: %w", r.PathValue("id"), err))
		return
	}
	s.receiveFiles(w, r, p, destination{project, c.ID})
}

func (s *Server) listAttachments(ctx context.Context, p knowledge.Principal, in *struct {
	ConversationPath
	PageQuery
}) (*listed[view.Document], error) {
	if _, err := s.deps.Store.Conversation(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.ID, err)
	}
	p, err := s.inConversation(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	documents, next, err := s.deps.Store.Documents(ctx, p, store.DocumentQuery{Conversation: in.ID, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list attachments of conversation %s: %w", in.ID, err)
	}
	return page(convert(documents, s.documentView), next), nil
}

func (s *Server) removeAttachment(ctx context.Context, p knowledge.Principal, in *struct {
	ConversationPath
	Document string `path:"document_id" maxLength:"200"`
}) (*removedOutput, error) {
	if _, err := s.deps.Store.Conversation(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.ID, err)
	}
	d, err := s.deps.Store.Document(ctx, p, in.Document)
	if err == nil && d.ConversationID != in.ID {
		err = knowledge.NotFound("document", in.Document)
	}
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", in.Document, err)
	}
	return s.removeDocument(ctx, p, "", in.Document)
}
