package access

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	visitorPurpose = "cairn visitor token 1\n"
	sharePurpose   = "cairn shared conversation 1\n"
	// anonymous begins the names of visitors whom nobody has signed in.
	anonymous = "visitor:"
	// VisitorLife is how long the token of an anonymous visitor is good.
	VisitorLife = 90 * 24 * time.Hour
)

// agentToken is the content of a token that is good for one published project.
type agentToken struct {
	Workspace    string `json:"w"`
	Project      string `json:"p"`
	Visitor      string `json:"v"`
	Conversation string `json:"c,omitempty"` // that the token opens; "" = it is the visitor's own
	Share        string `json:"s,omitempty"` // the id of the link to it
	Expires      int64  `json:"e"`           // Unix seconds
}

// Agent returns the publication that the address of an agent names. One that nobody has published
// is CodeNotFound.
func (a *Authenticator) Agent(ctx context.Context, slug string) (knowledge.Publication, error) {
	return a.store.PublicationBySlug(ctx, slug)
}

// NewVisitorID returns the name of a visitor whom nobody has met, which nobody can guess.
func NewVisitorID() string { return rand.Text() }

// SignVisitor returns a token with which a browser stays the same anonymous visitor of a
// published project.
func (a *Authenticator) SignVisitor(pub knowledge.Publication, id string, expires time.Time) string {
	return a.signed(visitorPurpose, agentToken{Workspace: pub.Workspace, Project: pub.Project, Visitor: id, Expires: expires.Unix()})
}

// SignShare returns the token of a link to a conversation of a visitor.
func (a *Authenticator) SignShare(visitor knowledge.Principal, share knowledge.Share) string {
	return a.signed(sharePurpose, agentToken{
		Workspace: visitor.Workspace(), Project: visitor.Project(), Visitor: visitor.ExternalUser(),
		Conversation: share.Conversation, Share: share.ID, Expires: share.ExpiresAt.Unix(),
	})
}

// VisitorOfShare returns the visitor whose conversation a token of SignShare opens, to read it,
// and what the token says of the link. A forged or expired token, or one for another project, is
// ErrNoShare.
func (a *Authenticator) VisitorOfShare(pub knowledge.Publication, token string, now time.Time) (visitor knowledge.Principal, share knowledge.Share, err error) {
	t, ok := a.openAgent(sharePurpose, pub, token, now)
	if !ok {
		return visitor, share, ErrNoShare()
	}
	return a.visitor(pub, t.Visitor, t.Expires), knowledge.Share{ID: t.Share, Conversation: t.Conversation, ExpiresAt: time.Unix(t.Expires, 0)}, nil
}

// ErrNoShare returns the error for a link that opens nothing, whatever the cause.
func ErrNoShare() error {
	return unauthorized("this link is not valid, has expired or was withdrawn: ask for another one")
}

// Visitor returns the principal of a visitor of a public agent, by the token of SignVisitor or by
// a JWT that is signed with the secret of the publication. A token that is forged, has expired or
// is for another agent is CodeUnauthorized.
func (a *Authenticator) Visitor(pub knowledge.Publication, secret, token string, now time.Time) (knowledge.Principal, error) {
	if isJWT(token) {
		return a.signedVisitor(pub, secret, token, now)
	}
	t, ok := a.openAgent(visitorPurpose, pub, token, now)
	if !ok {
		return knowledge.Principal{}, unauthorized("this token is not valid for this agent, or has expired: ask for another one")
	}
	return a.visitor(pub, anonymous+t.Visitor, t.Expires), nil
}

// AnonymousVisitor returns the principal of the visitor with a name of NewVisitorID: whoever knows
// it is that visitor.
func (a *Authenticator) AnonymousVisitor(pub knowledge.Publication, id string) knowledge.Principal {
	return a.visitor(pub, anonymous+id, 0)
}

// signedVisitor returns the visitor whom a JWT names by its claim sub: a user of the application
// that knows the secret of the publication.
func (a *Authenticator) signedVisitor(pub knowledge.Publication, secret, token string, now time.Time) (knowledge.Principal, error) {
	claims, err := checkForm(token, now)
	if err == nil {
		_, err = jwt.Parse(token, func(*jwt.Token) (any, error) { return []byte(secret), nil },
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(), jwt.WithLeeway(jwtLeeway), jwt.WithStrictDecoding(),
			jwt.WithTimeFunc(func() time.Time { return now }))
	}
	if err != nil {
		return knowledge.Principal{}, unauthorized("this token is not valid for this agent: it must be signed with HS256 and the secret of its publication, and not be expired").WithCause(err)
	}
	name := claims.Subject
	if name == "" || strings.HasPrefix(name, anonymous) || (Acting{ExternalUser: name}).check() != nil {
		return knowledge.Principal{}, unauthorized("this token names no user: it needs a claim sub, which does not begin with " + anonymous)
	}
	return a.visitor(pub, name, claims.Expires), nil
}

// visitor returns the principal of a visitor of a published project: an external user who reads
// what the whole workspace may read in that project, unless it is classified above the lowest
// level. It has no permission, so no other route lets it in.
func (a *Authenticator) visitor(pub knowledge.Publication, name string, expires int64) knowledge.Principal {
	lowest := a.cfg.Levels.All()[0]
	return knowledge.NewPrincipal(knowledge.Claims{
		Workspace: pub.Workspace, Project: pub.Project, Scopes: []knowledge.Scope{knowledge.ScopeRead}, ExternalUser: name, Expires: expires,
		Clearance: lowest, Covered: []string{"", lowest},
		UserLimits: knowledge.UseLimits{RequestsPerMinute: pub.Limits.WithDefaults().VisitorRequests},
	})
}

// openAgent returns the content of a token, if it is for this publication and has not expired.
func (a *Authenticator) openAgent(purpose string, pub knowledge.Publication, token string, now time.Time) (t agentToken, ok bool) {
	ok = a.opened(purpose, token, &t)
	return t, ok && t.Workspace == pub.Workspace && t.Project == pub.Project && t.Visitor != "" && now.Unix() < t.Expires
}
