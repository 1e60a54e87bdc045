package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// ConversationView is a conversation as clients see it.
type ConversationView struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	ProjectID *string   `json:"project_id" doc:"null: every project"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type messageView struct {
	ID        string    `json:"id"`
	Role      string    `json:"role" enum:"user,assistant"`
	Text      string    `json:"text"`
	Sources   []source  `json:"sources" doc:"The sources of the answer"`
	RunID     *string   `json:"run_id" doc:"null: the message is of an imported conversation"`
	Status    string    `json:"status" enum:"completed,failed,canceled"`
	Rating    *string   `json:"rating" enum:"up,down" doc:"How the caller rated the answer"`
	CreatedAt time.Time `json:"created_at"`
}

// conversationAnswer is a conversation with a page of its messages.
type conversationAnswer struct {
	Body struct {
		ConversationView
		Messages   []messageView `json:"messages" doc:"Oldest first, or newest first with order=desc"`
		NextCursor *string       `json:"next_cursor" doc:"The cursor of the next messages; null: there are none"`
	} `nameHint:"Conversation"`
}

// ConversationPath is the path of one of the caller's conversations.
type ConversationPath struct {
	WorkspacePath
	edge.ActingQuery
	ID string `path:"id" maxLength:"200"`
}

// conversationRoutes holds the routes of conversations.
type conversationRoutes struct {
	store     Conversations
	edge      *edge.Edge
	questions *question.Starter
	readers   *runReaders
	results   *results
	now       func() time.Time
}

func (cr *conversationRoutes) mount(e *edge.Edge) {
	tags := []string{"conversations"}
	const path = "/workspaces/{workspaceId}/conversations"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-conversations", Method: http.MethodGet, Path: path, Summary: "List the caller's conversations", Tags: tags,
	}}, cr.listConversations)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "create-conversation", Method: http.MethodPost, Path: path, DefaultStatus: http.StatusCreated,
		Summary: "Create an empty conversation", Tags: tags,
	}}, cr.createConversation)
	cr.mountImport(e, path)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-conversation", Method: http.MethodGet, Path: path + "/{id}", Summary: "Read a conversation with its messages", Tags: tags,
	}}, cr.getConversation)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "rename-conversation", Method: http.MethodPatch, Path: path + "/{id}", Summary: "Rename a conversation", Tags: tags,
	}}, cr.renameConversation)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "delete-conversation", Method: http.MethodDelete, Path: path + "/{id}", Summary: "Delete a conversation", Description: "Its attachments are removed too, unless they are under legal hold.", Tags: tags,
	}}, func(ctx context.Context, p knowledge.Principal, in *ConversationPath) (*struct{}, error) {
		if err := cr.store.DeleteConversation(ctx, p, in.ID); err != nil {
			return nil, fmt.Errorf("delete conversation %s: %w", in.ID, err)
		}
		return nil, nil
	})
}

func (cr *conversationRoutes) listConversations(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	edge.ActingQuery
	PageQuery
	Q string `query:"q" maxLength:"200" doc:"Only conversations in whose title, questions and answers each of these words begins a word. Case does not matter"`
}) (*listOutput[ConversationView], error) {
	list := cr.store.Conversations
	if strings.TrimSpace(in.Q) != "" {
		list = func(ctx context.Context, p knowledge.Principal, page store.Page) ([]store.Conversation, string, error) {
			return cr.store.SearchConversations(ctx, p, in.Q, page)
		}
	}
	conversations, next, err := list(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return page(convert(conversations, viewConversation), next), nil
}

type conversationInput struct {
	ConversationPath
	PageQuery
	Order string `query:"order" enum:"asc,desc" doc:"desc: the messages, newest first. Default: asc"`
}

func (cr *conversationRoutes) getConversation(ctx context.Context, p knowledge.Principal, in *conversationInput) (*conversationAnswer, error) {
	c, err := cr.store.Conversation(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.ID, err)
	}
	if p, err = cr.readers.inConversation(ctx, p, in.ID); err != nil {
		return nil, err
	}
	list := cr.store.Messages
	if in.Order == "desc" {
		list = cr.store.LatestMessages
	}
	messages, next, err := list(ctx, p, in.ID, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("read messages of conversation %s: %w", in.ID, err)
	}
	ratings, err := cr.ratings(ctx, p, messages)
	if err != nil {
		return nil, err
	}
	out := &conversationAnswer{}
	out.Body.ConversationView = viewConversation(c)
	out.Body.Messages = make([]messageView, 0, len(messages))
	for _, m := range messages {
		sources, err := cr.results.messageSources(ctx, p, m)
		if err != nil {
			return nil, err
		}
		out.Body.Messages = append(out.Body.Messages, messageView{
			ID: m.ID, Role: m.Role, Text: cr.results.views.signFileLinks(p, store.Run{ID: m.RunID}, m.Text), Sources: sources, RunID: orNull(m.RunID), Status: m.Status,
			Rating: ratings[m.ID], CreatedAt: m.CreatedAt,
		})
	}
	out.Body.NextCursor = orNull(next)
	return out, nil
}

// ratings returns how the principal rated answers, by the ids of their messages.
func (cr *conversationRoutes) ratings(ctx context.Context, p knowledge.Principal, messages []store.Message) (map[string]*string, error) {
	answers := map[string]string{} // their ids by their runs
	for _, m := range messages {
		if m.Role == "assistant" && m.RunID != "" {
			answers[m.RunID] = m.ID
		}
	}
	given, err := cr.store.Feedback(ctx, p, slices.Collect(maps.Keys(answers))...)
	if err != nil {
		return nil, fmt.Errorf("read feedback on a conversation: %w", err)
	}
	ratings := map[string]*string{}
	for _, f := range given {
		if f.Author == p.Owner() {
			ratings[answers[f.Run]] = &f.Rating
		}
	}
	return ratings, nil
}

func (cr *conversationRoutes) renameConversation(ctx context.Context, p knowledge.Principal, in *struct {
	ConversationPath
	Body struct {
		Title string `json:"title" minLength:"1" maxLength:"200"`
	}
}) (*conversationOutput, error) {
	c, err := cr.store.RenameConversation(ctx, p, in.ID, in.Body.Title)
	if err != nil {
		return nil, fmt.Errorf("rename conversation %s: %w", in.ID, err)
	}
	return &conversationOutput{Body: viewConversation(c)}, nil
}

func viewConversation(c store.Conversation) ConversationView {
	return ConversationView{ID: c.ID, Title: c.Title, ProjectID: orNull(c.Project), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
}

type newConversationInput struct {
	WorkspacePath
	Body struct {
		ProjectID string `json:"project_id,omitempty" maxLength:"200" doc:"Default: every project that the key covers"`
		Title     string `json:"title,omitempty" maxLength:"200"`
		edge.PersonFields
	}
}

type conversationOutput struct{ Body ConversationView }

// createConversation makes an empty conversation, so that documents can be
// attached to it before its first question.
func (cr *conversationRoutes) createConversation(ctx context.Context, p knowledge.Principal, in *newConversationInput) (*conversationOutput, error) {
	b := in.Body
	p, err := cr.edge.ActFor(ctx, p, edge.ActingBody{PersonFields: b.PersonFields})
	if err != nil {
		return nil, err
	}
	project, err := cr.questions.Project(ctx, p, b.ProjectID)
	if err != nil {
		return nil, err
	}
	run, _ := edge.RunID(ctx)
	c, err := cr.store.EnsureConversation(ctx, p, store.Conversation{
		ID: knowledge.DerivedID("conversation", run), Workspace: p.Workspace(), Project: project.ID, Owner: p.Owner(), Title: b.Title, CreatedAt: cr.now(),
	})
	if err != nil {
		return nil, fmt.Errorf("make conversation: %w", err)
	}
	audit.Made(ctx, c.ID)
	return &conversationOutput{Body: viewConversation(c)}, nil
}
