package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// sharedDays is how long a link to a conversation is good if nobody says.
const sharedDays = 7

type shareInput struct {
	AgentConversation
	Body struct {
		Days int `json:"days,omitempty" minimum:"1" maximum:"365" doc:"How long the link is good. Default: 7"`
	} `nameHint:"AgentShare"`
}

type shareOutput struct {
	Body struct {
		URL       string    `json:"url" doc:"The page that shows the conversation to whoever has the link"`
		ExpiresAt time.Time `json:"expires_at"`
	} `nameHint:"AgentShared"`
}

type sharedOutput struct {
	Body struct {
		Title     string        `json:"title"`
		Messages  []messageView `json:"messages" doc:"Oldest first; the first 500"`
		ExpiresAt time.Time     `json:"expires_at" doc:"When the link ends"`
	} `nameHint:"AgentSharedConversation"`
}

func (ar *agentRoutes) mountSharing(e *edge.Edge, route func(id, method, path, summary, description string, status int) edge.Route) {
	edge.Handle(e, route("share-agent-conversation", http.MethodPost, "/conversations/{conversation}/shares", "Make a link to a conversation with a public agent",
		"Whoever has the link reads the conversation, as it is then, until the link ends, the conversation is deleted, or the project is published no longer.", http.StatusCreated), ofVisitor(ar.visitors, ar.share))
	edge.Handle(e, route("read-shared-conversation", http.MethodGet, "/shared/{share}", "Read a conversation by its link", "", 0), ar.readShared)
}

func (ar *agentRoutes) share(ctx context.Context, pub knowledge.Publication, p knowledge.Principal, in *shareInput) (*shareOutput, error) {
	if pub.Visibility != knowledge.VisiblePublic {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "conversations with an agent of a workspace are not shared by links")
	}
	if _, err := ar.store.Conversation(ctx, p, in.Conversation); err != nil {
		return nil, fmt.Errorf("read conversation %s: %w", in.Conversation, err)
	}
	days := in.Body.Days
	if days == 0 {
		days = sharedDays
	}
	out := &shareOutput{}
	out.Body.ExpiresAt = ar.visitors.now().Add(time.Duration(days) * 24 * time.Hour).Truncate(time.Second)
	token := ar.visitors.access.SignShare(p, in.Conversation, out.Body.ExpiresAt)
	out.Body.URL = ar.visitors.edge.Address(in.request) + agentPath(pub) + "#share=" + url.QueryEscape(token)
	return out, nil
}

// readShared shows a conversation with the permission of the visitor who shared it.
func (ar *agentRoutes) readShared(ctx context.Context, _ knowledge.Principal, in *struct {
	Visit
	Share string `path:"share" maxLength:"2000" doc:"The token of the link"`
}) (*sharedOutput, error) {
	pub, err := ar.visitors.public(in.request)
	if err != nil {
		return nil, err
	}
	if err := quota.CountAgent(ctx, pub); err != nil {
		return nil, err
	}
	p, conversation, err := ar.visitors.access.VisitorOfShare(pub, in.Share, ar.visitors.now())
	if err != nil {
		return nil, err
	}
	edge.SetHolder(ctx, edge.Holder{Ends: p.ExpiresAt()})
	c, messages, err := ar.messages(ctx, p, conversation)
	if err != nil {
		return nil, err
	}
	out := &sharedOutput{}
	for i := range messages {
		messages[i].RunID, messages[i].Rating = nil, nil
	}
	out.Body.Title, out.Body.Messages, out.Body.ExpiresAt = c.Title, messages, p.ExpiresAt()
	return out, nil
}
