package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The purposes of signed links. They separate the signatures from each other and from
// others with the same secret. The number changes with the content: earlier tokens named no
// holder, or of originals too little of it, and are refused.
const (
	runPurpose      = "cairn run token 2\n"
	originalPurpose = "cairn original token 3\n"
	runFilePurpose  = "cairn run file token 2\n"
)

// linkToken is the content of a signed link.
type linkToken struct {
	Workspace string `json:"w"`
	ID        string `json:"r"`           // of what the link opens
	Expires   int64  `json:"e"`           // Unix seconds
	Key       string `json:"k,omitempty"` // the key for which the link was made
	User      string `json:"u,omitempty"` // the user of the JWT for which it was made
	Ends      int64  `json:"x,omitempty"` // when that key or JWT ends; 0 = never
	Clearance string `json:"c,omitempty"` // up to which documents it opens; "" = the base level
	By        *asker `json:"b,omitempty"` // of a link to an original
}

// Link is what the token of a link is good for.
type Link struct {
	Workspace string
	Key       string    // for which the link was made; "" = a JWT
	Member    string    // of whose JWT the link is; "" = of no member's
	Ends      time.Time // when the key or the JWT ends for which the link was made; zero = never
	// Clearance is that of who asked for the link, and Covered what it covers.
	Clearance string
	Covered   []string
}

// SignRun returns a token with which its holder may follow one run of the principal's
// workspace until expires, as long as the principal's key is valid. It does not outlive
// the principal's key or JWT.
func (a *Authenticator) SignRun(p knowledge.Principal, run string, expires time.Time) string {
	return a.signed(runPurpose, newLinkToken(p, run, expires))
}

// VerifyRun returns what the token of a run's link is good for. A forged or expired token,
// one for another run, or one whose key is no longer valid, is CodeUnauthorized.
func (a *Authenticator) VerifyRun(ctx context.Context, token, run string, now time.Time) (Link, error) {
	return a.verify(ctx, runPurpose, token, run, now)
}

// SignRunFile is SignRun for one file of a run.
func (a *Authenticator) SignRunFile(p knowledge.Principal, run, name string, expires time.Time) string {
	return a.signed(runFilePurpose, newLinkToken(p, run+"/"+name, expires))
}

// VerifyRunFile is VerifyRun for a token of SignRunFile.
func (a *Authenticator) VerifyRunFile(ctx context.Context, token, run, name string, now time.Time) (Link, error) {
	return a.verify(ctx, runFilePurpose, token, run+"/"+name, now)
}

func newLinkToken(p knowledge.Principal, id string, expires time.Time) linkToken {
	t := linkToken{Workspace: p.Workspace(), ID: id, Expires: expires.Unix(), Key: p.KeyID(), Ends: p.Claims().Expires, Clearance: p.Clearance()}
	if t.Key == "" {
		t.User = p.User()
	}
	if t.Ends > 0 {
		t.Expires = min(t.Expires, t.Ends)
	}
	return t
}

// signed returns a text that holds content, which opened reads again.
func (a *Authenticator) signed(purpose string, content any) string {
	body, err := json.Marshal(content)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(a.mac(purpose, body))
}

// opened reads the content of a text that signed made for the same purpose, and reports whether
// it is one.
func (a *Authenticator) opened(purpose, token string, content any) bool {
	first, second, _ := strings.Cut(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return false
	}
	mac, err := base64.RawURLEncoding.DecodeString(second)
	return err == nil && len(a.secret) > 0 && hmac.Equal(mac, a.mac(purpose, body)) && json.Unmarshal(body, content) == nil
}

// openLink returns the content of a token that opens id now, whoever it was made for.
func (a *Authenticator) openLink(purpose, token, id string, now time.Time) (t linkToken, err error) {
	if !a.opened(purpose, token, &t) || t.ID != id || t.Workspace == "" || now.Unix() >= t.Expires || t.Key == "" && t.User == "" {
		return t, errLink()
	}
	return t, nil
}

func errLink() error {
	return unauthorized("this link is not valid, or has expired, or the key for which it was made is no longer valid: ask for it again with an API key")
}

// linkOf returns what a token is good for, without its member.
func (a *Authenticator) linkOf(t linkToken) Link {
	link := Link{Workspace: t.Workspace, Key: t.Key, Clearance: t.Clearance, Covered: a.cfg.Levels.Covered(t.Clearance)}
	if t.Ends > 0 {
		link.Ends = time.Unix(t.Ends, 0)
	}
	return link
}

func (a *Authenticator) verify(ctx context.Context, purpose, token, id string, now time.Time) (Link, error) {
	t, err := a.openLink(purpose, token, id, now)
	if err != nil {
		return Link{}, err
	}
	if t.Key == "" {
		return a.ofMember(ctx, a.linkOf(t), t.User)
	}
	ended, err := a.store.EndedKeys(ctx, []string{t.Key})
	switch {
	case err != nil:
		return Link{}, fmt.Errorf("check the key of a link: %w", err)
	case len(ended) > 0:
		return Link{}, errLink()
	}
	return a.linkOf(t), nil
}

// ofMember returns the link of a user's JWT. One of a user who was deactivated is
// CodeUnauthorized.
func (a *Authenticator) ofMember(ctx context.Context, link Link, user string) (Link, error) {
	member, err := a.person(ctx, link.Workspace, user)
	switch {
	case err != nil:
		return Link{}, fmt.Errorf("check the user of a link: %w", err)
	case member == nil:
		return link, nil
	case !member.DeactivatedAt.IsZero():
		return Link{}, unauthorized("the user for whom this link was made was deactivated")
	}
	link.Member = member.Name
	return link, nil
}

// Lapsed returns which of these keys are no longer valid: revoked or expired, themselves
// or a maker of theirs; and which of the sessions have ended, by the hashes of their cookies.
func (a *Authenticator) Lapsed(ctx context.Context, keys, sessions []string) (endedKeys, endedSessions []string, err error) {
	if endedKeys, err = a.store.EndedKeys(ctx, keys); err != nil {
		return nil, nil, err
	}
	endedSessions, err = a.store.EndedSessions(ctx, sessions)
	return endedKeys, endedSessions, err
}

func (a *Authenticator) mac(purpose string, body []byte) []byte {
	h := hmac.New(sha256.New, a.secret)
	h.Write([]byte(purpose))
	h.Write(body)
	return h.Sum(nil)
}
