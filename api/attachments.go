package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/view"
)

// attachmentsPath is the path of what is attached to a conversation.
const attachmentsPath = "/workspaces/{workspaceId}/conversations/{id}/attachments"

// attachmentRoutes holds the routes of what is attached to conversations.
type attachmentRoutes struct {
	store    Store
	intake   *intake.Intake
	readers  *runReaders
	forms    *fileForms
	removals *documentRemovals
	views    *views
}

func (a *attachmentRoutes) mount(e *edge.Edge) {
	tags := []string{"conversations"}
	add := a.forms.route()
	add.OperationID, add.Path, add.Summary, add.Tags = "add-attachments", attachmentsPath, "Attach files to a conversation", tags
	add.Description = "The files become documents that only this conversation can read. They belong to the project of the conversation, else to the project of the key, else to default. The conversation must belong to the caller, or to the user in the query parameters."
	text := &huma.Schema{Type: huma.TypeString}
	add.Parameters = []*huma.Param{
		{Name: "workspaceId", In: "path", Required: true, Schema: text}, {Name: "id", In: "path", Required: true, Schema: text},
		{Name: "userId", In: "query", Schema: text, Description: "A person of the workspace for whom an API key acts"},
		{Name: "user_id", In: "query", Schema: text, Description: "The same as userId"},
		{Name: "externalUserId", In: "query", Schema: text, Description: "A user of your application (a customer), for whom an API key acts. Not a person of the workspace"},
		{Name: "external_user_id", In: "query", Schema: text, Description: "The same as externalUserId"},
	}
	edge.HandleRaw(e, add, a.addAttachments)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-attachments", Method: http.MethodGet, Path: attachmentsPath, Summary: "List the attachments of a conversation", Tags: tags,
	}}, a.listAttachments)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "delete-attachment", Method: http.MethodDelete, Path: attachmentsPath + "/{document_id}", Summary: "Remove an attachment of a conversation", Tags: tags,
	}}, a.removeAttachment)
}

func (a *attachmentRoutes) addAttachments(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	c, err := a.store.Conversation(r.Context(), p, r.PathValue("id"))
	var project knowledge.Project
	if err == nil {
		project, err = a.intake.Project(r.Context(), p, c.Project)
	}
	if err != nil {
		edge.WriteError(w, r, fmt.Errorf("attach to conversation %s: %w", r.PathValue("id"), err))
		return
	}
	a.forms.receive(w, r, p, destination{project, c.ID})
}

func (a *attachmentRoutes) listAttachments(ctx context.Context, p knowledge.Principal, in *struct {
	ConversationPath
	PageQuery
}) (*listOutput[view.Document], error) {
	if _, err := a.store.Conversation(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.ID, err)
	}
	p, err := a.readers.inConversation(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	documents, next, err := a.store.Documents(ctx, p, store.DocumentQuery{Conversation: in.ID, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list attachments of conversation %s: %w", in.ID, err)
	}
	return page(convert(documents, a.views.document), next), nil
}

func (a *attachmentRoutes) removeAttachment(ctx context.Context, p knowledge.Principal, in *struct {
	ConversationPath
	Document string `path:"document_id" maxLength:"200"`
}) (*removedOutput, error) {
	if _, err := a.store.Conversation(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.ID, err)
	}
	d, err := a.store.Document(ctx, p, in.Document)
	if err == nil && d.ConversationID != in.ID {
		err = knowledge.NotFound("document", in.Document)
	}
	if err != nil {
		return nil, fmt.Errorf("read document %s: %w", in.Document, err)
	}
	return a.removals.removeDocument(ctx, p, "", in.Document)
}
