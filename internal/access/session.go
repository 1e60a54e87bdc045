package access

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// SessionLife is how long a session lives behind its last request.
	SessionLife = 12 * time.Hour
	// sessionStep is how much later the end of a session is before it is stored anew.
	sessionStep = time.Minute
	// onceLife is how long a token signs in that was made by NewSignInToken.
	onceLife = 15 * time.Minute
)

// SessionView is who a request is, for the page that asks.
type SessionView struct {
	User      string   // the sub of a JWT, or the name of a key
	Roles     []string // reader, editor, admin
	Workspace string
}

// SignIn starts a session of a browser with an API key, and returns its cookie. A key that is
// not valid is CodeUnauthorized.
func (a *Authenticator) SignIn(ctx context.Context, plain string) (cookie string, err error) {
	key, err := a.store.KeyByHash(ctx, HashKey(plain))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return "", unauthorized("this API key is not known, or was revoked, or has expired")
	}
	if err != nil {
		return "", fmt.Errorf("look up API key: %w", err)
	}
	cookie = rand.Text() + rand.Text()
	err = a.store.CreateSession(ctx, store.Session{Hash: HashKey(cookie), KeyID: key.ID, ExpiresAt: time.Now().Add(SessionLife)})
	if err != nil {
		return "", fmt.Errorf("start a session: %w", err)
	}
	return cookie, nil
}

// SignOut ends the session of a cookie. It does nothing if there is none.
func (a *Authenticator) SignOut(ctx context.Context, cookie string) error {
	if err := a.store.EndSession(ctx, HashKey(cookie)); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// Session returns who the sender of credentials is. Missing or wrong ones are
// CodeUnauthorized.
func (a *Authenticator) Session(ctx context.Context, c Credentials) (SessionView, error) {
	p, err := a.Authenticate(ctx, c)
	if err != nil {
		return SessionView{}, err
	}
	view := SessionView{User: p.User(), Workspace: p.Workspace()}
	for _, role := range []struct {
		scope knowledge.Scope
		name  string
	}{{knowledge.ScopeRead, "reader"}, {knowledge.ScopeWrite, "editor"}, {knowledge.ScopeAdmin, "admin"}} {
		if p.Can(role.scope) {
			view.Roles = append(view.Roles, role.name)
		}
	}
	if p.KeyID() == "" {
		return view, nil
	}
	var key store.Key
	switch {
	case c.Key != "":
		key, err = a.store.KeyByHash(ctx, HashKey(c.Key))
	case c.Bearer != "":
		key, err = a.store.KeyByHash(ctx, HashKey(c.Bearer))
	default:
		_, key, err = a.store.KeyBySession(ctx, HashKey(c.Session))
	}
	if err != nil {
		return view, fmt.Errorf("look up the name of an API key: %w", err)
	}
	view.User = key.Name
	return view, nil
}

func (a *Authenticator) fromSession(ctx context.Context, cookie string) (knowledge.Claims, error) {
	session, key, err := a.store.KeyBySession(ctx, HashKey(cookie))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return knowledge.Claims{}, unauthorized("this session has ended; sign in again")
	}
	if err != nil {
		return knowledge.Claims{}, fmt.Errorf("look up a session: %w", err)
	}
	if ends := time.Now().Add(SessionLife); ends.Sub(session.ExpiresAt) >= sessionStep {
		session.ExpiresAt = ends
		if err := a.store.ExtendSession(ctx, session); err != nil {
			return knowledge.Claims{}, fmt.Errorf("extend a session: %w", err)
		}
	}
	return claimsOf(key), nil
}

// onceTokens are the tokens that sign a browser in once. They are gone with their process.
type onceTokens struct {
	mu   sync.Mutex
	keys map[string]onceToken // by the hash of the token
}

type onceToken struct {
	key  string // that it signs in with
	ends time.Time
}

// NewSignInToken returns a token that signs one browser in with an API key, within 15
// minutes. Only this process knows it.
func (a *Authenticator) NewSignInToken(key string) string {
	token := rand.Text()
	a.once.mu.Lock()
	defer a.once.mu.Unlock()
	a.once.keys = map[string]onceToken{HashKey(token): {key, time.Now().Add(onceLife)}}
	return token
}

// SignInOnce starts a session as SignIn does, with a token of NewSignInToken. Of several
// callers at once one succeeds. Any other token is CodeUnauthorized. A token whose session
// could not be stored stays valid.
func (a *Authenticator) SignInOnce(ctx context.Context, token string) (cookie string, err error) {
	a.once.mu.Lock()
	defer a.once.mu.Unlock()
	found, ok := a.once.keys[HashKey(token)]
	if !ok || !found.ends.After(time.Now()) {
		return "", unauthorized("this link has signed a browser in already, or is older than 15 minutes; sign in with an API key, or start cairn up again for another link")
	}
	if cookie, err = a.SignIn(ctx, found.key); err == nil {
		delete(a.once.keys, HashKey(token))
	}
	return cookie, err
}
