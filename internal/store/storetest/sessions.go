package storetest

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// sessions looks at the sessions of browsers: they end by time, by signing out, and with
// their key.
func sessions(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, id := range []string{"kept", "revoked", "over"} {
		k := store.Key{ID: id, Workspace: "acme", Name: id, Hash: id, Scopes: []knowledge.Scope{knowledge.ScopeRead}, CreatedAt: now}
		f.must(f.CreateKey(f.ctx, k))
	}
	for hash, s := range map[string]store.Session{
		"a": {KeyID: "kept", ExpiresAt: now.Add(time.Hour)}, "late": {KeyID: "kept", ExpiresAt: now.Add(-time.Second)},
		"b": {KeyID: "revoked", ExpiresAt: now.Add(time.Hour)},
	} {
		s.Hash = hash
		f.must(f.CreateSession(f.ctx, s))
	}
	gone := func(hash string) {
		_, _, err := f.KeyBySession(f.ctx, hash)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	found, key, err := f.KeyBySession(f.ctx, "a")
	f.must(err)
	if key.Name != "kept" || found != (store.Session{Hash: "a", KeyID: "kept", ExpiresAt: now.Add(time.Hour)}) {
		f.Errorf("the session is %+v of the key %+v", found, key)
	}
	gone("late")
	gone("unknown")
	f.must(f.ExtendSession(f.ctx, store.Session{Hash: "a", ExpiresAt: now.Add(2 * time.Hour)}))
	f.must(f.ExtendSession(f.ctx, store.Session{Hash: "unknown", ExpiresAt: now.Add(2 * time.Hour)}))
	if found, _, err = f.KeyBySession(f.ctx, "a"); err != nil || !found.ExpiresAt.Equal(now.Add(2*time.Hour)) {
		f.Errorf("the extended session is %+v, %v", found, err)
	}
	_, _, err = f.KeyBySession(f.ctx, "b")
	f.must(err)
	f.must(f.RevokeKey(f.ctx, manager("acme"), "revoked"))
	gone("b")
	f.must(f.EndSession(f.ctx, "a"))
	f.must(f.EndSession(f.ctx, "a"))
	gone("a")
}
