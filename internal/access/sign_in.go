package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// SignInLife is how long a browser has to sign in at the identity provider.
	SignInLife = 10 * time.Minute
	// maxPersonSession is how long a session lives of what an identity provider said once,
	// however often it is used.
	maxPersonSession = 7 * 24 * time.Hour
)

// person is what an identity provider says of somebody who signed in.
type person struct {
	Name      string   `json:"-"`
	Roles     []string `json:"roles,omitempty"`
	Groups    []string `json:"groups,omitempty"`
	Clearance string   `json:"clearance,omitempty"`
	Member    bool     `json:"member,omitempty"` // at the sign-in: the session ends with the membership
}

// signInBegun is a sign-in that a browser has begun.
type signInBegun struct {
	State    string `json:"-"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"` // of PKCE
	Redirect string `json:"redirect"` // where the identity provider sends the browser
	Return   string `json:"return"`   // the page that it came from
	Browser  string `json:"browser"`  // the hash of its cookie
}

// SignInMethods returns how a browser can sign in: oidc, if an identity provider is configured,
// and key.
func (a *Authenticator) SignInMethods() []string {
	if a.provider == nil {
		return []string{"key"}
	}
	return []string{"oidc", "key"}
}

// BeginSignIn returns the address of the identity provider to which a browser is sent, and the
// cookie that it has to bring back. browser is the cookie of an earlier sign-in, "" = none;
// redirect is the address to which the identity provider sends it, and page where it goes in the
// end. Without an identity provider it is CodeNotFound.
func (a *Authenticator) BeginSignIn(ctx context.Context, browser, redirect, page string) (address, cookie string, err error) {
	if a.provider == nil {
		return "", "", noProvider()
	}
	if cookie = browser; len(cookie) != len(rand.Text()) {
		cookie = rand.Text()
	}
	begun := signInBegun{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect, Return: page, Browser: HashKey(cookie)}
	if address, err = a.provider.address(ctx, begun); err != nil {
		return "", "", err
	}
	data, err := json.Marshal(begun)
	if err != nil {
		return "", "", fmt.Errorf("encode a sign-in: %w", err)
	}
	err = a.store.CreateSignIn(ctx, store.SignIn{Hash: HashKey(begun.State), Data: string(data), ExpiresAt: time.Now().Add(SignInLife)})
	if err != nil {
		return "", "", fmt.Errorf("begin a sign-in: %w", err)
	}
	return address, cookie, nil
}

func noProvider() error {
	return knowledge.Errorf(knowledge.CodeNotFound, "this instance has no identity provider (auth.oidc is not configured): sign in with an API key")
}

// SignInAnswer is what a browser brings back from the identity provider.
type SignInAnswer struct {
	State   string
	Code    string
	Issuer  string // who sent it, "" = not said
	Error   string // why there is no code
	Browser string // its cookie
}

// FinishSignIn starts a session of a browser that comes back from the identity provider. It
// returns the cookie of the session and the page to go to. Each sign-in is finished once, by the
// browser that began it: any other answer is CodeUnauthorized. Somebody without a role
// is CodeForbidden. Without an identity provider it is CodeNotFound.
func (a *Authenticator) FinishSignIn(ctx context.Context, answer SignInAnswer) (cookie, page string, err error) {
	if a.provider == nil {
		return "", "/", noProvider()
	}
	begun, err := a.takeSignIn(ctx, answer)
	if err != nil {
		return "", "/", err
	}
	page = begun.Return
	if issuer := answer.Issuer; issuer != "" && issuer != a.provider.cfg.Issuer {
		return "", page, refusedSignIn("another identity provider answers")
	}
	if answer.Error != "" || answer.Code == "" {
		return "", page, refusedSignIn("the identity provider has not signed the user in")
	}
	claims, err := a.provider.redeem(ctx, answer.Code, begun)
	if err != nil {
		return "", page, err
	}
	somebody, workspace, err := a.provider.personOf(claims)
	if err != nil {
		return "", page, err
	}
	cookie, err = a.signInPerson(ctx, somebody, workspace)
	return cookie, page, err
}

// takeSignIn returns the sign-in that an answer finishes, which no other answer does again.
func (a *Authenticator) takeSignIn(ctx context.Context, answer SignInAnswer) (begun signInBegun, err error) {
	refused := refusedSignIn("this sign-in is not known, was finished already, or took longer than 10 minutes")
	if answer.State == "" || answer.Browser == "" {
		return begun, refused
	}
	taken, err := a.store.TakeSignIn(ctx, HashKey(answer.State))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return begun, refused
	}
	if err != nil {
		return begun, fmt.Errorf("finish a sign-in: %w", err)
	}
	if err := json.Unmarshal([]byte(taken.Data), &begun); err != nil {
		return begun, fmt.Errorf("decode a sign-in: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(begun.Browser), []byte(HashKey(answer.Browser))) != 1 {
		return begun, refused
	}
	return begun, nil
}

// signInPerson starts a session of somebody in a workspace.
func (a *Authenticator) signInPerson(ctx context.Context, p person, workspace string) (string, error) {
	now := time.Now()
	cookie := rand.Text() + rand.Text()
	session := store.Session{Hash: HashKey(cookie), ID: knowledge.NewID(), Workspace: workspace, User: p.Name, CreatedAt: now, ExpiresAt: now.Add(SessionLife)}
	claims, err := a.ofSignedIn(ctx, session, p)
	if err != nil {
		return "", err
	}
	session.User, p.Member = claims.User, claims.Member
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode a session: %w", err)
	}
	session.Person = string(data)
	if err := a.store.CreateSession(ctx, session); err != nil {
		return "", fmt.Errorf("start a session: %w", err)
	}
	return cookie, nil
}

// ofSession returns what somebody may do whose session began with an identity provider.
func (a *Authenticator) ofSession(ctx context.Context, session store.Session) (knowledge.Claims, error) {
	var p person
	if err := json.Unmarshal([]byte(session.Person), &p); err != nil {
		return knowledge.Claims{}, fmt.Errorf("decode session %s: %w", session.ID, err)
	}
	claims, err := a.ofSignedIn(ctx, session, p)
	if err == nil && p.Member && !claims.Member {
		err = unauthorized("this session has ended with the membership of its user; sign in again")
	}
	return claims, err
}

// ofSignedIn is ofPerson for what an identity provider said at a sign-in. The groups of a user
// whom it provisions are those that it says now, by SCIM.
func (a *Authenticator) ofSignedIn(ctx context.Context, session store.Session, p person) (knowledge.Claims, error) {
	token := tokenClaims{Subject: session.User, Workspace: session.Workspace, Roles: p.Roles, Groups: p.Groups, Clearance: p.Clearance, Expires: session.CreatedAt.Add(maxPersonSession).Unix()}
	member, err := a.person(ctx, session.Workspace, session.User)
	if err != nil {
		return knowledge.Claims{}, err
	}
	if member != nil && member.IsProvisioned {
		token.Groups = nil
	}
	return a.fromClaims(ctx, token)
}

// PageWithin returns the path of a page of the console to which a sign-in may return, "/" for any
// other address.
func PageWithin(address string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") || len(address) > 2000 {
		return "/"
	}
	return address
}
