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
	Roles     []string // all whose permissions it has
	Workspace string
	KeyID     string // "" = a JWT

	Permissions []string
	Clearance   string
}

// SignIn starts a session of a browser with an API key, and returns its cookie. A key that is
// not valid is CodeUnauthorized.
func (a *Authenticator) SignIn(ctx context.Context, plain string) (cookie string, err error) {
	key, err := a.plainKey(ctx, plain)
	if err != nil {
		return "", err
	}
	cookie = rand.Text() + rand.Text()
	err = a.store.CreateSession(ctx, store.Session{
		Hash: HashKey(cookie), ID: knowledge.NewID(), KeyID: key.ID, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(SessionLife),
	})
	if err != nil {
		return "", fmt.Errorf("start a session: %w", err)
	}
	return cookie, nil
}

// SignOut ends the session of a cookie. It does nothing if there is none. If the session began
// with an identity provider that browsers can sign out of, it returns the address to send the
// browser to, "" otherwise; back is the page to which the identity provider sends it.
func (a *Authenticator) SignOut(ctx context.Context, cookie, back string) (address string, err error) {
	session, _, err := a.store.KeyBySession(ctx, HashKey(cookie))
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return "", fmt.Errorf("look up a session: %w", err)
	}
	if err := a.store.EndSession(ctx, HashKey(cookie)); err != nil {
		return "", fmt.Errorf("end a session: %w", err)
	}
	if a.provider == nil || session.User == "" {
		return "", nil
	}
	return a.provider.signOut(ctx, back), nil
}

// Session returns who the sender of credentials is. Missing or wrong ones are
// CodeUnauthorized.
func (a *Authenticator) Session(ctx context.Context, c Credentials) (SessionView, error) {
	claims, name, err := a.claimsAndName(ctx, c)
	if err != nil {
		return SessionView{}, err
	}
	p, err := a.named(ctx, claims, c)
	return viewOf(p, name), err
}

func viewOf(p knowledge.Principal, user string) SessionView {
	view := SessionView{User: user, Workspace: p.Workspace(), KeyID: p.KeyID(), Roles: rolesWithin(p.Claims().Permissions), Clearance: p.Clearance(), Permissions: []string{}}
	for _, permission := range p.Claims().Permissions {
		view.Permissions = append(view.Permissions, string(permission))
	}
	return view
}

// sessionKey returns a session by its cookie, with its key if it is one of a key, and moves the
// end of the session.
func (a *Authenticator) sessionKey(ctx context.Context, cookie string) (store.Key, store.Session, error) {
	session, key, err := a.store.KeyBySession(ctx, HashKey(cookie))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return store.Key{}, session, unauthorized("this session has ended; sign in again")
	}
	if err != nil {
		return store.Key{}, session, fmt.Errorf("look up a session: %w", err)
	}
	ends := time.Now().Add(SessionLife)
	if last := session.CreatedAt.Add(maxPersonSession); session.User != "" && ends.After(last) {
		ends = last
	}
	if ends.Sub(session.ExpiresAt) >= sessionStep {
		session.ExpiresAt = ends
		if err := a.store.ExtendSession(ctx, session); err != nil {
			return store.Key{}, session, fmt.Errorf("extend a session: %w", err)
		}
	}
	return key, session, nil
}

// onceToken is the token that signs a browser in once. It is gone with its process.
type onceToken struct {
	mu   sync.Mutex
	hash string // of the token; "" = there is none
	key  string // that it signs in with
	ends time.Time
}

// NewSignInToken returns a token that signs one browser in with an API key, within 15
// minutes. It replaces an earlier one. Only this process knows it.
func (a *Authenticator) NewSignInToken(key string) string {
	token := rand.Text()
	a.once.mu.Lock()
	defer a.once.mu.Unlock()
	a.once.hash, a.once.key, a.once.ends = HashKey(token), key, time.Now().Add(onceLife)
	return token
}

// SignInOnce starts a session as SignIn does, with a token of NewSignInToken. Of several
// callers at once one succeeds. Any other token is CodeUnauthorized. A token whose session
// could not be stored stays valid.
func (a *Authenticator) SignInOnce(ctx context.Context, token string) (cookie string, err error) {
	a.once.mu.Lock()
	defer a.once.mu.Unlock()
	if a.once.hash != HashKey(token) || !a.once.ends.After(time.Now()) {
		return "", unauthorized("this link has signed a browser in already, or is older than 15 minutes; sign in with an API key, or start cairn up again for another link")
	}
	if cookie, err = a.SignIn(ctx, a.once.key); err == nil {
		a.once.hash = ""
	}
	return cookie, err
}
