package storetest

import (
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// sessions looks at the sessions of browsers: they end by time, by signing out, and with
// their key.
func sessions(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, id := range []string{"kept", "revoked", "renewed"} {
		k := store.Key{ID: id, Workspace: "acme", Name: id, Hash: id, Scopes: []knowledge.Scope{knowledge.ScopeRead}, CreatedAt: now}
		f.must(f.CreateKey(f.ctx, k))
	}
	for hash, s := range map[string]store.Session{
		"a": {KeyID: "kept", ExpiresAt: now.Add(time.Hour)}, "late": {KeyID: "kept", ExpiresAt: now.Add(-time.Second)},
		"b": {KeyID: "revoked", ExpiresAt: now.Add(time.Hour)}, "c": {KeyID: "renewed", ExpiresAt: now.Add(time.Hour)},
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
	_, _, err = f.KeyBySession(f.ctx, "c")
	f.must(err)
	_, err = f.RenewKey(f.ctx, manager("acme"), "renewed", "another secret", "cairn_0")
	f.must(err)
	gone("c")
	f.wantEnded("late", "unknown")
	f.must(f.EndSession(f.ctx, "a"))
	f.must(f.EndSession(f.ctx, "a"))
	gone("a")
	f.wantEnded("a", "late", "unknown")
}

// wantEnded asks which of the sessions have ended.
func (f *fixture) wantEnded(want ...string) {
	f.Helper()
	got, err := f.EndedSessions(f.ctx, []string{"a", "b", "late", "unknown"})
	f.must(err)
	if !slices.Equal(got, want) {
		f.Errorf("the sessions %q have ended, want %q", got, want)
	}
}

// droppedSessions sees that a session was deleted by an end that can no longer be moved.
func droppedSessions(f *fixture) {
	now := time.Now().UTC()
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Hash: "k", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	for hash, ends := range map[string]time.Time{"first": now.Add(-2 * time.Hour), "second": now.Add(-time.Hour), "lives": now.Add(time.Hour)} {
		f.must(f.CreateSession(f.ctx, store.Session{Hash: hash, KeyID: "k", ExpiresAt: ends}))
	}
	f.must(f.DropSessions(f.ctx, 1))
	for hash, there := range map[string]bool{"first": false, "second": true, "lives": true} {
		f.must(f.ExtendSession(f.ctx, store.Session{Hash: hash, ExpiresAt: now.Add(time.Hour)}))
		if _, _, err := f.KeyBySession(f.ctx, hash); (err == nil) != there {
			f.Errorf("session %s: %v, want it there: %t", hash, err, there)
		}
	}
}
