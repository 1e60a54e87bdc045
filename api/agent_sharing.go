package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
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

// shareView is a link to a conversation, as the visitor sees it who made it.
type shareView struct {
	ID        string    `json:"id" doc:"DELETE …/shares/{share} withdraws the link"`
	URL       string    `json:"url" doc:"The page that shows the conversation to whoever has the link"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

type shareOutput struct {
	Body shareView `nameHint:"AgentShared"`
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
		"Whoever has the link reads the conversation, as it is then, until the link ends, the link is withdrawn, the conversation is deleted, or the project is published no longer.", http.StatusCreated), ofVisitor(ar.visitors, ar.share))
	edge.Handle(e, route("list-agent-shares", http.MethodGet, "/conversations/{conversation}/shares", "List the links to a conversation that have not ended", "Newest first; at most 100.", 0), ofVisitor(ar.visitors, ar.shares))
	edge.Handle(e, route("withdraw-agent-share", http.MethodDelete, "/conversations/{conversation}/shares/{share}", "Withdraw a link to a conversation",
		"It opens nothing from then on. Other links to the conversation stay.", 0), ofVisitor(ar.visitors, ar.withdrawShare))
	edge.Handle(e, route("read-shared-conversation", http.MethodGet, "/shared/{share}", "Read a conversation by its link", "", 0), ar.readShared)
}

func (ar *agentRoutes) share(ctx context.Context, pub knowledge.Publication, p knowledge.Principal, in *shareInput) (*shareOutput, error) {
	if pub.Visibility != knowledge.VisiblePublic {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "conversations with an agent of a workspace are not shared by links")
	}
	days := in.Body.Days
	if days == 0 {
		days = sharedDays
	}
	now := ar.visitors.now()
	share := knowledge.Share{ID: knowledge.NewID(), Conversation: in.Conversation, CreatedAt: now, ExpiresAt: now.Add(time.Duration(days) * 24 * time.Hour).Truncate(time.Second)}
	if err := ar.store.AddShare(ctx, p, share); err != nil {
		return nil, fmt.Errorf("share conversation %s: %w", in.Conversation, err)
	}
	return &shareOutput{Body: ar.viewShare(in.request, pub, p, share)}, nil
}

func (ar *agentRoutes) viewShare(r *http.Request, pub knowledge.Publication, p knowledge.Principal, share knowledge.Share) shareView {
	token := ar.visitors.access.SignShare(p, share)
	return shareView{ID: share.ID, URL: ar.visitors.edge.Address(r) + agentPath(pub) + "#share=" + url.QueryEscape(token), CreatedAt: share.CreatedAt, ExpiresAt: share.ExpiresAt}
}

func (ar *agentRoutes) shares(ctx context.Context, pub knowledge.Publication, p knowledge.Principal, in *AgentConversation) (*listOutput[shareView], error) {
	shares, err := ar.store.Shares(ctx, p, in.Conversation)
	if err != nil {
		return nil, fmt.Errorf("list the links to conversation %s: %w", in.Conversation, err)
	}
	return page(convert(shares, func(share knowledge.Share) shareView { return ar.viewShare(in.request, pub, p, share) }), ""), nil
}

func (ar *agentRoutes) withdrawShare(ctx context.Context, _ knowledge.Publication, p knowledge.Principal, in *struct {
	AgentConversation
	Share string `path:"share" maxLength:"200" doc:"The id of the link"`
}) (*struct{}, error) {
	return nil, ar.store.WithdrawShare(ctx, p, in.Conversation, in.Share)
}

// readShared shows a conversation with the permission of the visitor who shared it. A link that
// was withdrawn or has ended is as one that never was.
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
	p, share, err := ar.visitors.access.VisitorOfShare(pub, in.Share, ar.visitors.now())
	if err == nil {
		_, err = ar.store.Share(ctx, p, share.Conversation, share.ID)
	}
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = access.ErrNoShare()
	}
	if err != nil {
		return nil, err
	}
	edge.SetHolder(ctx, edge.Holder{Ends: p.ExpiresAt()})
	c, messages, err := ar.messages(ctx, p, share.Conversation)
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
