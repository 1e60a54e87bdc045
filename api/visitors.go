package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// VisitorAccess makes the principals of those who ask a published project.
type VisitorAccess interface {
	// Agent returns the publication that an address names. One that nobody has published is
	// CodeNotFound.
	Agent(ctx context.Context, slug string) (knowledge.Publication, error)
	// Visitor returns the visitor of a public agent by its token. One that is forged, has
	// expired or is for another agent is CodeUnauthorized.
	Visitor(pub knowledge.Publication, secret, token string, now time.Time) (knowledge.Principal, error)
	// SignVisitor returns the token of an anonymous visitor, and AnonymousVisitor that visitor.
	SignVisitor(pub knowledge.Publication, id string, expires time.Time) string
	AnonymousVisitor(pub knowledge.Publication, id string) knowledge.Principal
	// SignShare returns the token of a link to a conversation of a visitor, and VisitorOfShare
	// that visitor, by the same rules as Visitor.
	SignShare(visitor knowledge.Principal, share knowledge.Share) string
	VisitorOfShare(pub knowledge.Publication, token string, now time.Time) (visitor knowledge.Principal, share knowledge.Share, err error)
}

// visitors finds out who asks a published project.
type visitors struct {
	edge   *edge.Edge
	access VisitorAccess
	sealer Secrets
	now    func() time.Time
}

// cardPath is where the card of an agent is below its address.
const cardPath = "/.well-known/agent-card.json"

func agentPath(pub knowledge.Publication) string { return "/agents/" + pub.Slug }

// agent returns the publication that a request names, if the page that sent it may ask the agent:
// a page of Cairn, or of an origin that the publication lists.
// An address that nobody has published is CodeUnauthorized for those without credentials, as an
// agent of a workspace is: they cannot tell one from the other.
func (v *visitors) agent(r *http.Request) (knowledge.Publication, error) {
	slug := r.PathValue("slug")
	pub, err := v.access.Agent(r.Context(), slug)
	if knowledge.IsCode(err, knowledge.CodeNotFound) && edge.Credentials(r).None() {
		return pub, errSignIn(slug)
	}
	if err != nil {
		return pub, err
	}
	if origin := r.Header.Get("Origin"); origin != "" && !v.edge.FromOwnPage(r) && !slices.Contains(pub.AllowedOrigins, origin) {
		if pub.Visibility == knowledge.VisibleWorkspace { // only its people learn that it is there
			if _, err := v.colleague(r, pub); err != nil {
				return pub, err
			}
		}
		return pub, knowledge.Errorf(knowledge.CodeForbidden, "pages of %s may not ask this agent: add the origin to allowedOrigins of its publication", origin)
	}
	return pub, nil
}

// public returns the public agent that a request names. For those who may not ask an agent of a
// workspace, that is as one that is not there.
func (v *visitors) public(r *http.Request) (knowledge.Publication, error) {
	pub, err := v.agent(r)
	if err != nil || pub.Visibility == knowledge.VisiblePublic {
		return pub, err
	}
	if _, err := v.colleague(r, pub); err != nil {
		return pub, err
	}
	return pub, knowledge.Errorf(knowledge.CodeForbidden, "the agent is one of a workspace, which has no visitors: ask it with your own credentials")
}

func errSignIn(slug string) error {
	return knowledge.Errorf(knowledge.CodeUnauthorized, "there is no public agent %q: sign in, if it is one of your workspace", slug)
}

// open returns the agent that a request names to somebody who may ask it: a public one to
// everybody.
func (v *visitors) open(r *http.Request) (knowledge.Publication, error) {
	pub, err := v.agent(r)
	if err == nil && pub.Visibility == knowledge.VisibleWorkspace {
		_, err = v.colleague(r, pub)
	}
	if err == nil {
		err = quota.CountAgent(r.Context(), pub)
	}
	return pub, err
}

// visitor returns the agent that a request names, and who asks it: of a public agent its visitor,
// by a token, and of an agent of a workspace somebody who may ask the project there. It counts
// the request to both.
func (v *visitors) visitor(r *http.Request) (knowledge.Publication, knowledge.Principal, error) {
	pub, err := v.agent(r)
	if err != nil {
		return pub, knowledge.Principal{}, err
	}
	var p knowledge.Principal
	if pub.Visibility == knowledge.VisibleWorkspace {
		p, err = v.colleague(r, pub)
	} else {
		p, err = v.byToken(pub, edge.Credentials(r).Bearer)
	}
	if err != nil {
		return pub, p, err
	}
	return pub, p, admit(r.Context(), pub, p)
}

// byToken returns the visitor of a public agent.
func (v *visitors) byToken(pub knowledge.Publication, token string) (knowledge.Principal, error) {
	if token == "" {
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeUnauthorized, "send Authorization: Bearer with a token that POST %s/visits gave, or with one that you have signed", agentPath(pub))
	}
	secret, err := v.sealer.Open(pub.Sealed, agentSecret(pub))
	if err != nil {
		return knowledge.Principal{}, err
	}
	return v.access.Visitor(pub, secret, token, v.now())
}

// admit notes who asks an agent as the sender of the request, and counts it: to the visitor
// first, so that nobody uses up what the agent has for others.
func admit(ctx context.Context, pub knowledge.Publication, p knowledge.Principal) error {
	if pub.Visibility == knowledge.VisiblePublic {
		edge.SetSender(ctx, p)
	}
	if err := quota.Count(ctx, p, p.Project()); err != nil {
		return err
	}
	return quota.CountAgent(ctx, pub)
}

// colleague returns who asks an agent of a workspace, held to its project. Somebody of another
// workspace or project cannot tell that there is such an agent.
func (v *visitors) colleague(r *http.Request, pub knowledge.Publication) (knowledge.Principal, error) {
	if edge.Credentials(r).None() {
		return knowledge.Principal{}, errSignIn(pub.Slug)
	}
	p, err := v.edge.Principal(r, pub.Workspace, access.Acting{})
	if knowledge.IsCode(err, knowledge.CodeNotFound) || err == nil && !p.CoversProject(pub.Project) {
		return p, knowledge.NotFound("agent", pub.Slug)
	}
	if err == nil {
		err = access.Check(p, knowledge.QuestionsAsk)
	}
	return p.Reader().Within(pub.Project), err
}

// Visit is a request of somebody who asks a published project.
type Visit struct {
	BrowserRequest
	Slug string `path:"slug" maxLength:"63" doc:"The agent"`
}

func (v *Visit) sender() *http.Request { return v.request }

// visitInput is the input of a request of a visitor: it embeds Visit.
type visitInput[I any] interface {
	*I
	sender() *http.Request
}

// ofVisitor returns a handler of the requests of those who may ask an agent.
func ofVisitor[I any, P visitInput[I], O any](v *visitors, handle func(ctx context.Context, pub knowledge.Publication, p knowledge.Principal, in *I) (*O, error)) func(context.Context, knowledge.Principal, *I) (*O, error) {
	return func(ctx context.Context, _ knowledge.Principal, in *I) (*O, error) {
		pub, p, err := v.visitor(P(in).sender())
		if err != nil {
			return nil, err
		}
		return handle(ctx, pub, p, in)
	}
}
