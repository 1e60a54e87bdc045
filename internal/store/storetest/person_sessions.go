package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// personSessions looks at the sessions of people who signed in with an identity provider, beside
// one of a key.
func personSessions(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Name: "k", Hash: "k", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	f.must(f.CreateSession(f.ctx, store.Session{Hash: "of k", ID: "s-k", KeyID: "k", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}))
	for i, name := range []string{"ann", "bob", "cleo"} {
		if name != "cleo" {
			f.provision(name)
		} else if _, _, err := f.PutMember(f.ctx, manager("acme"), store.Member{Name: name, Kind: store.PersonMember}, builtIn()); err != nil {
			f.Fatal(err)
		}
		at := now.Add(time.Duration(i+1) * time.Second)
		f.must(f.CreateSession(f.ctx, store.Session{Hash: name, ID: "s-" + name, Workspace: "acme", User: name, Person: "{}", CreatedAt: at, ExpiresAt: now.Add(time.Hour)}))
	}
	f.must(f.CreateSession(f.ctx, store.Session{Hash: "far", ID: "s-far", Workspace: "other", User: "ann", Person: "{}", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}))
	found, key, err := f.KeyBySession(f.ctx, "ann")
	f.must(err)
	want := store.Session{Hash: "ann", ID: "s-ann", Workspace: "acme", User: "ann", Person: "{}", CreatedAt: now.Add(time.Second), ExpiresAt: now.Add(time.Hour)}
	if diff := cmp.Diff(want, found); diff != "" || key.ID != "" {
		f.Errorf("the session has the key %q (-want +got):\n%s", key.ID, diff)
	}
	of := func(claims knowledge.Claims, permissions ...knowledge.Permission) knowledge.Principal {
		claims.Workspace, claims.Permissions = "acme", permissions
		return knowledgetest.Principal(claims)
	}
	ann := of(knowledge.Claims{User: "ann"})
	all := []string{"s-cleo", "s-bob", "s-ann", "s-k"}
	admin := of(knowledge.Claims{User: "root"}, knowledge.SessionsAdmin)
	for name, c := range map[string]struct {
		p    knowledge.Principal
		user string // whose sessions are asked for
		want []string
	}{
		"a person":                                 {ann, "", []string{"s-ann"}},
		"a person who asks for his own":            {ann, "ann", []string{"s-ann"}},
		"a person who asks for those of another":   {ann, "bob", nil},
		"an administrator":                         {admin, "", all},
		"an administrator who asks for one person": {admin, "bob", []string{"s-bob"}},
		"a key that acts for a person":             {of(knowledge.Claims{KeyID: "k", User: "ann"}), "", []string{"s-k"}},
		"an administrator of one project":          {of(knowledge.Claims{Project: "press"}, knowledge.SessionsAdmin), "", nil},
		"a customer of the name of somebody":       {of(knowledge.Claims{KeyID: "k", ExternalUser: "ann"}), "", []string{"s-k"}},
	} {
		list, _, err := f.SessionsOf(f.ctx, c.p, store.SessionQuery{User: c.user})
		f.must(err)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		if diff := cmp.Diff(c.want, ids); diff != "" {
			f.Errorf("%s lists (-want +got):\n%s", name, diff)
		}
	}
	f.wantCode(f.EndSessionOf(f.ctx, ann, "s-bob"), knowledge.CodeNotFound)
	f.wantCode(f.EndSessionOf(f.ctx, ann, "s-far"), knowledge.CodeNotFound)
	f.must(f.EndSessionOf(f.ctx, ann, "s-ann"))
	f.alter("id of bob", func(u *store.ProvisionedUser) { u.Active = false })
	f.must(f.RemoveMember(f.ctx, manager("acme"), "cleo"))
	ended, err := f.EndedSessions(f.ctx, []string{"ann", "bob", "cleo", "far", "of k"})
	f.must(err)
	if diff := cmp.Diff([]string{"ann", "bob", "cleo"}, ended); diff != "" {
		f.Errorf("the sessions that ended (-want +got):\n%s", diff)
	}
}

func signIns(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for hash, ends := range map[string]time.Time{"one": now.Add(time.Hour), "late": now.Add(-time.Second), "two": now.Add(time.Hour)} {
		f.must(f.CreateSignIn(f.ctx, store.SignIn{Hash: hash, Data: "{}", ExpiresAt: ends}))
	}
	got, err := f.TakeSignIn(f.ctx, "one")
	f.must(err)
	if diff := cmp.Diff(store.SignIn{Hash: "one", Data: "{}", ExpiresAt: now.Add(time.Hour)}, got); diff != "" {
		f.Error(diff)
	}
	for _, hash := range []string{"one", "late", "unknown"} {
		_, err := f.TakeSignIn(f.ctx, hash)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	_, err = f.TakeSignIn(f.ctx, "two")
	f.must(err)
}
