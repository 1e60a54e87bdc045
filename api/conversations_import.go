package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxImportedConversation bounds the body of an imported conversation, in bytes.
const maxImportedConversation = 8 << 20

// importedMessage is a message of a conversation that was held elsewhere.
type importedMessage struct {
	Role      string     `json:"role" enum:"user,assistant"`
	Text      string     `json:"text" minLength:"1" maxLength:"1000000"`
	CreatedAt *time.Time `json:"created_at,omitempty" doc:"Default: the time of the message before, or of the conversation"`
}

type importConversationInput struct {
	WorkspacePath
	Body struct {
		ExternalID string            `json:"external_id" minLength:"1" maxLength:"512" doc:"Your id of the conversation. The same id again, for the same person, is the same conversation"`
		ProjectID  string            `json:"project_id,omitempty" maxLength:"200" doc:"The id or name of the project. Default: the key's project; a key of all projects must name one"`
		Title      string            `json:"title,omitempty" maxLength:"200"`
		CreatedAt  *time.Time        `json:"created_at,omitempty" doc:"Default: now"`
		Messages   []importedMessage `json:"messages" minItems:"1" maxItems:"2000" doc:"Oldest first"`
		edge.PersonFields
	}
}

type importedConversation struct {
	Body struct {
		ConversationView
		Unchanged bool `json:"unchanged" doc:"true: the conversation has these messages already, or was continued here; nothing was changed"`
	} `nameHint:"ImportedConversation"`
}

func (cr *conversationRoutes) mountImport(e *edge.Edge, path string) {
	edge.Handle(e, edge.Route{Limit: maxImportedConversation, Operation: huma.Operation{
		OperationID: "import-conversation", Method: http.MethodPost, Path: path + "/import", Summary: "Import a conversation that was held elsewhere", Tags: []string{"conversations"},
		Description: "The messages have no run and no sources, and questions can continue the conversation. The same conversation again replaces the messages until somebody has asked in it here. " +
			"Code conflict: the project replaces personal data in answers, which is not done to answers from elsewhere.",
	}}, cr.importConversation)
}

func (cr *conversationRoutes) importConversation(ctx context.Context, p knowledge.Principal, in *importConversationInput) (*importedConversation, error) {
	b := in.Body
	p, err := cr.edge.ActFor(ctx, p, edge.ActingBody{PersonFields: b.PersonFields})
	if err != nil {
		return nil, err
	}
	project, err := cr.questions.Project(ctx, p, b.ProjectID)
	switch {
	case err != nil:
		return nil, err
	case project.ID == "":
		return nil, knowledge.Invalid("body.project_id", "must name a project")
	case len(b.Messages) == 0:
		return nil, knowledge.Invalid("body.messages", "must have at least one message")
	case project.Config.Privacy.RedactsAnswers():
		return nil, knowledge.Errorf(knowledge.CodeConflict, "the project %q replaces personal data in answers, which is not done to answers from elsewhere", project.Name)
	}
	at := cr.now()
	if b.CreatedAt != nil {
		at = *b.CreatedAt
	}
	c := store.Conversation{
		ID:        knowledge.DerivedID("imported conversation", p.Workspace(), p.Owner(), project.ID, b.ExternalID),
		Workspace: p.Workspace(), Project: project.ID, Owner: p.Owner(), Title: b.Title, CreatedAt: at,
	}
	messages := make([]store.Message, 0, len(b.Messages))
	for i, m := range b.Messages {
		if m.CreatedAt != nil {
			at = *m.CreatedAt
		}
		messages = append(messages, store.Message{ID: knowledge.DerivedID("imported message", c.ID, strconv.Itoa(i)), Role: m.Role, Text: m.Text, Status: "completed", CreatedAt: at})
	}
	made, changed, err := cr.store.ImportConversation(ctx, p, c, messages)
	if err != nil {
		return nil, fmt.Errorf("import conversation %s: %w", c.ID, err)
	}
	audit.Made(ctx, made.ID)
	out := &importedConversation{}
	out.Body.ConversationView, out.Body.Unchanged = viewConversation(made), !changed
	return out, nil
}
