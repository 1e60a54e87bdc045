package access_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// oneKey is a store with one key, which keeps the sessions that begin.
type oneKey struct {
	access.Store
	sessions []store.Session
}

func (o *oneKey) KeyByHash(_ context.Context, hash string) (store.Key, error) {
	if hash != access.HashKey("the key") {
		return store.Key{}, knowledge.Errorf(knowledge.CodeNotFound, "no such key")
	}
	return store.Key{ID: "k"}, nil
}

func (o *oneKey) CreateSession(ctx context.Context, s store.Session) error {
	if ctx.Err() == nil {
		o.sessions = append(o.sessions, s)
	}
	return ctx.Err()
}

func TestSignInTokenEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age   time.Duration
		valid bool
	}{
		"it signs in shortly before its end": {15*time.Minute - time.Second, true},
		"it is refused at its end":           {15 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := &oneKey{}
				a := access.New(access.Config{}, o, nil)
				token := a.NewSignInToken("the key")
				time.Sleep(c.age)
				cookie, err := a.SignInOnce(t.Context(), token)
				switch {
				case !c.valid:
					wantCode(t, err, knowledge.CodeUnauthorized)
				case err != nil:
					t.Fatal(err)
				case len(o.sessions) != 1 || o.sessions[0].ID == "" || o.sessions[0] != (store.Session{
					Hash: access.HashKey(cookie), ID: o.sessions[0].ID, KeyID: "k", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(12 * time.Hour),
				}):
					t.Errorf("the sessions are %+v", o.sessions)
				}
			})
		})
	}
}

func TestSignInTokenOutlivesAFailedRequest(t *testing.T) {
	t.Parallel()
	a := access.New(access.Config{}, &oneKey{}, nil)
	token := a.NewSignInToken("the key")
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := a.SignInOnce(gone, token); err == nil {
		t.Fatal("a request that ended has signed in")
	}
	if _, err := a.SignInOnce(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	_, err := a.SignInOnce(t.Context(), token)
	wantCode(t, err, knowledge.CodeUnauthorized)
}
