package access

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// asker is for whom a link to an original was made. What it may read is decided at each use.
type asker struct {
	User         string          `json:"u,omitempty"` // for whom a key acted
	ExternalUser string          `json:"x,omitempty"`
	Conversation string          `json:"s,omitempty"`
	Member       bool            `json:"m,omitempty"`
	Given        knowledge.Given `json:"g,omitzero"` // by its JWT or its sign-in
}

// SignOriginal is SignRun for the original of one document; conversation is the one that the
// document is attached to, "" = none.
func (a *Authenticator) SignOriginal(p knowledge.Principal, document, conversation string, expires time.Time) string {
	t, claims := newLinkToken(p, document, expires), p.Claims()
	t.By = &asker{ExternalUser: claims.ExternalUser, Conversation: conversation, Member: claims.Member, Given: claims.Given}
	if t.Key != "" {
		t.By.User = claims.User
	}
	return a.signed(originalPurpose, t)
}

// VerifyOriginal is VerifyRun for a token of SignOriginal. It returns the principal too for
// which the link was made, with what it may do now. Of somebody who may do nothing any more,
// the link is CodeUnauthorized.
func (a *Authenticator) VerifyOriginal(ctx context.Context, token, document string, now time.Time) (Link, knowledge.Principal, error) {
	t, err := a.openLink(originalPurpose, token, document, now)
	if err != nil {
		return Link{}, knowledge.Principal{}, err
	}
	p, err := a.askerNow(ctx, t)
	if knowledge.IsCode(err, knowledge.CodeForbidden) || knowledge.IsCode(err, knowledge.CodeNotFound) {
		err = unauthorized("this link is no longer valid: who asked for it may no longer read here").WithCause(err)
	}
	link := a.linkOf(t)
	if t.Key == "" && p.IsMember() {
		link.Member = p.User()
	}
	return link, p, err
}

// askerNow returns the principal for which a link to an original was made. Who acts for somebody
// has no rights but those of that person.
func (a *Authenticator) askerNow(ctx context.Context, t linkToken) (knowledge.Principal, error) {
	claims, err := a.askerClaims(ctx, t)
	if err != nil {
		return knowledge.Principal{}, err
	}
	p, err := a.in(ctx, claims, t.Workspace)
	if err != nil {
		return p, err
	}
	acting := Acting{User: t.By.User, ExternalUser: t.By.ExternalUser, Session: t.By.Conversation}
	as, err := a.As(ctx, p, acting)
	if acting.Session != "" && knowledge.IsCode(err, knowledge.CodeNotFound) { // it is somebody else's
		acting.Session = ""
		as, err = a.As(ctx, p, acting)
	}
	if t.Key != "" && (acting.User != "" || acting.ExternalUser != "") {
		as = as.Reader()
	}
	return as, err
}

// askerClaims returns what the key or the person of a link may do.
func (a *Authenticator) askerClaims(ctx context.Context, t linkToken) (knowledge.Claims, error) {
	if t.Key != "" {
		key, err := a.store.KeyByID(ctx, t.Key)
		if knowledge.IsCode(err, knowledge.CodeNotFound) {
			return knowledge.Claims{}, errLink()
		}
		if err != nil {
			return knowledge.Claims{}, err
		}
		return a.keyClaims(ctx, key)
	}
	given := t.By.Given
	claims, err := a.ofPerson(ctx, tokenClaims{Subject: t.User, Workspace: t.Workspace, Roles: given.Roles, Groups: given.Groups, Clearance: given.Clearance, Expires: t.Ends})
	if err == nil && t.By.Member && !claims.Member {
		err = knowledge.Errorf(knowledge.CodeForbidden, "%s is no longer a member", t.User)
	}
	return claims, err
}
