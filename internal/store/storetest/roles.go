package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRoles(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(*fixture){
		"a_role_is_replaced_and_removed":           roles,
		"a_role_in_use_stays":                      rolesInUse,
		"a_member_is_replaced_and_removed":         members,
		"a_service_account_takes_its_keys_with_it": serviceAccounts,
		"a_key_is_used":                            usedKeys,
		"sessions_are_listed_and_ended":            listedSessions,
		"sessions_of_people_are_their_own":         personSessions,
		"a_sign_in_is_taken_once":                  signIns,
	})
}

// builtIn are the roles that every workspace has.
func builtIn() []string { return []string{"reader", "editor"} }

// ofPress manages the project press of acme.
func ofPress() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: "press", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, KeyID: "press"})
}

func roles(f *fixture) {
	acme, other := manager("acme"), manager("other")
	first, created, err := f.PutRole(f.ctx, acme, store.Role{Name: "uploader", Permissions: []knowledge.Permission{knowledge.DocumentsWrite}, UpdatedAt: time.Now().Add(-time.Hour)})
	f.must(err)
	second, replaced, err := f.PutRole(f.ctx, acme, store.Role{Name: "uploader", Permissions: []knowledge.Permission{knowledge.DocumentsRead}})
	f.must(err)
	if !created || replaced || !second.CreatedAt.Equal(first.CreatedAt) || !second.UpdatedAt.After(first.UpdatedAt) {
		f.Errorf("the role %+v was replaced by %+v", first, second)
	}
	_, _, err = f.PutRole(f.ctx, other, store.Role{Name: "uploader", Permissions: []knowledge.Permission{knowledge.HoldsWrite}})
	f.must(err)
	list, err := f.Roles(f.ctx, acme)
	f.must(err)
	if diff := cmp.Diff([]store.Role{second}, list); diff != "" {
		f.Error(diff)
	}
	list, err = f.RolesOf(f.ctx, "other")
	f.must(err)
	if len(list) != 1 || list[0].Permissions[0] != knowledge.HoldsWrite {
		f.Errorf("the roles of the other workspace are %+v", list)
	}
	_, _, err = f.PutRole(f.ctx, ofPress(), store.Role{Name: "mine"})
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.Roles(f.ctx, ofPress())
	f.wantCode(err, knowledge.CodeForbidden)
	f.wantCode(f.RemoveRole(f.ctx, ofPress(), "uploader"), knowledge.CodeForbidden)
	f.wantCode(f.RemoveRole(f.ctx, acme, "unknown"), knowledge.CodeNotFound)
	f.must(f.RemoveRole(f.ctx, acme, "uploader"))
	f.wantCode(f.RemoveRole(f.ctx, acme, "uploader"), knowledge.CodeNotFound)
	if list, err = f.RolesOf(f.ctx, "other"); err != nil || len(list) != 1 {
		f.Errorf("the roles of the other workspace are %+v, %v", list, err)
	}
}

func rolesInUse(f *fixture) {
	acme := manager("acme")
	for _, name := range []string{"a_b", "axb"} {
		_, _, err := f.PutRole(f.ctx, acme, store.Role{Name: name, Permissions: []knowledge.Permission{knowledge.DocumentsRead}})
		f.must(err)
	}
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Hash: "k", Role: "a_b"}))
	f.wantCode(f.RemoveRole(f.ctx, acme, "a_b"), knowledge.CodeConflict)
	f.must(f.RevokeKey(f.ctx, acme, "k"))
	_, _, err := f.PutMember(f.ctx, acme, store.Member{Name: "ann", Kind: store.PersonMember, Roles: []string{"axb"}}, builtIn())
	f.must(err)
	f.wantCode(f.RemoveRole(f.ctx, acme, "axb"), knowledge.CodeConflict)
	f.must(f.RemoveRole(f.ctx, acme, "a_b"))
	f.must(f.RemoveMember(f.ctx, acme, "ann"))
	f.must(f.RemoveRole(f.ctx, acme, "axb"))
}

func members(f *fixture) {
	acme := manager("acme")
	now := time.Now().UTC().Truncate(time.Microsecond)
	ann := store.Member{Name: "ann", Kind: store.PersonMember, Roles: []string{"reader"}, Groups: []string{"press"}, Project: "press", Clearance: "internal", ExpiresAt: now.Add(time.Hour), UpdatedAt: now}
	stored, created, err := f.PutMember(f.ctx, acme, ann, builtIn())
	f.must(err)
	ann.Workspace, ann.CreatedAt = "acme", now
	found, err := f.Member(f.ctx, acme, "ann")
	f.must(err)
	if diff := cmp.Diff([]store.Member{ann, ann}, []store.Member{stored, found}); diff != "" || !created {
		f.Errorf("created: %t\n%s", created, diff)
	}
	_, _, err = f.PutMember(f.ctx, acme, store.Member{Name: "ann", Kind: store.ServiceMember}, builtIn())
	f.wantCode(err, knowledge.CodeConflict)
	for _, wrong := range []store.Member{{Name: "bob", Roles: []string{"unknown"}}, {Name: "bob", Project: "unknown"}} {
		wrong.Kind = store.PersonMember
		_, _, err = f.PutMember(f.ctx, acme, wrong, builtIn())
		f.wantCode(err, knowledge.CodeNotFound)
	}
	_, created, err = f.PutMember(f.ctx, acme, store.Member{Name: "ann", Kind: store.PersonMember, Roles: []string{}, Groups: []string{}}, builtIn())
	f.must(err)
	if found, _, err = f.MemberOf(f.ctx, "acme", "ann"); err != nil || created || len(found.Roles)+len(found.Groups) > 0 || !found.CreatedAt.Equal(now) || !found.ExpiresAt.IsZero() {
		f.Errorf("the replaced member is %+v, %v", found, err)
	}
	for _, name := range []string{"bob", "cleo"} {
		_, _, err = f.PutMember(f.ctx, acme, store.Member{Name: name, Kind: store.PersonMember}, builtIn())
		f.must(err)
	}
	page, cursor, err := f.Members(f.ctx, acme, store.Page{Limit: 2})
	f.must(err)
	rest, last, err := f.Members(f.ctx, acme, store.Page{Limit: 2, Cursor: cursor})
	f.must(err)
	if len(page) != 2 || len(rest) != 1 || page[0].Name != "ann" || rest[0].Name != "cleo" || last != "" {
		f.Errorf("the pages are %+v and %+v, then %q", page, rest, last)
	}
	for _, stranger := range []knowledge.Principal{manager("other"), ofPress()} {
		_, err = f.Member(f.ctx, stranger, "ann")
		gone := f.RemoveMember(f.ctx, stranger, "ann")
		if err == nil || gone == nil {
			f.Errorf("%s %s reads and removes a member of acme", stranger.Workspace(), stranger.Project())
		}
	}
	for name, end := range map[string]time.Time{"over": now.Add(-time.Second), "valid": now.Add(time.Hour)} {
		_, _, err = f.PutMember(f.ctx, acme, store.Member{Name: name, Kind: store.PersonMember, ExpiresAt: end}, builtIn())
		f.must(err)
	}
	ended, err := f.EndedMembers(f.ctx, "acme", []string{"ann", "over", "unknown", "valid"})
	f.must(err)
	if diff := cmp.Diff([]string{"over", "unknown"}, ended); diff != "" {
		f.Errorf("the members whose time is over (-want +got):\n%s", diff)
	}
	f.must(f.RemoveMember(f.ctx, acme, "ann"))
	f.wantCode(f.RemoveMember(f.ctx, acme, "ann"), knowledge.CodeNotFound)
	if _, there, err := f.MemberOf(f.ctx, "acme", "ann"); err != nil || there {
		f.Errorf("the member is there: %t, %v", there, err)
	}
}

func serviceAccounts(f *fixture) {
	acme := manager("acme")
	for name, kind := range map[string]string{"robot": store.ServiceMember, "ann": store.PersonMember} {
		_, _, err := f.PutMember(f.ctx, acme, store.Member{Name: name, Kind: kind, Roles: []string{"reader"}}, builtIn())
		f.must(err)
	}
	for id, member := range map[string]string{"one": "robot", "two": "robot", "free": ""} {
		f.must(f.CreateKey(f.ctx, store.Key{ID: id, Workspace: "acme", Hash: id, Name: id, Member: member, Role: "reader"}))
	}
	for _, nobody := range []string{"ann", "unknown"} {
		f.wantCode(f.CreateKey(f.ctx, store.Key{ID: "three", Workspace: "acme", Hash: "three", Member: nobody}), knowledge.CodeNotFound)
	}
	f.must(f.RevokeKey(f.ctx, acme, "two"))
	keys, err := f.KeysOfMember(f.ctx, acme, "robot")
	f.must(err)
	if len(keys) != 1 || keys[0].ID != "one" || keys[0].Role != "reader" || keys[0].Member != "robot" {
		f.Errorf("the keys of the service account are %+v", keys)
	}
	if keys, err = f.KeysOfMember(f.ctx, manager("other"), "robot"); err != nil || len(keys) > 0 {
		f.Errorf("another workspace lists %+v, %v", keys, err)
	}
	f.must(f.RemoveMember(f.ctx, acme, "robot"))
	_, err = f.KeyByHash(f.ctx, "one")
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.KeyByHash(f.ctx, "free")
	f.must(err)
}

func usedKeys(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	permissions := []knowledge.Permission{knowledge.DocumentsRead, knowledge.AuditRead}
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Hash: "k", Permissions: permissions, CreatedAt: now}))
	used := func(at, want time.Time) {
		f.Helper()
		f.must(f.MarkKeysUsed(f.ctx, map[string]time.Time{"k": at, "unknown": at}))
		key, err := f.KeyByHash(f.ctx, "k")
		f.must(err)
		if diff := cmp.Diff(store.Key{ID: "k", Workspace: "acme", Hash: "k", Permissions: permissions, CreatedAt: now, LastUsedAt: want}, key, cmpopts.EquateEmpty()); diff != "" {
			f.Error(diff)
		}
	}
	used(now, now)
	used(now.Add(store.UsedStep-time.Second), now)
	used(now.Add(-time.Hour), now)
	used(now.Add(store.UsedStep), now.Add(store.UsedStep))
}

func listedSessions(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for id, workspace := range map[string]string{"mine": "acme", "theirs": "acme", "far": "other"} {
		f.must(f.CreateKey(f.ctx, store.Key{ID: id, Workspace: workspace, Name: id, Hash: id, Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
		f.must(f.CreateSession(f.ctx, store.Session{Hash: "of " + id, ID: "s-" + id, KeyID: id, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}))
	}
	f.must(f.CreateSession(f.ctx, store.Session{Hash: "late", ID: "s-late", KeyID: "mine", CreatedAt: now, ExpiresAt: now.Add(-time.Second)}))
	of := func(workspace, key string, permissions ...knowledge.Permission) knowledge.Principal {
		return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, KeyID: key, Permissions: permissions})
	}
	listed := func(p knowledge.Principal) (ids []string) {
		f.Helper()
		list, _, err := f.SessionsOf(f.ctx, p, store.SessionQuery{})
		f.must(err)
		for _, s := range list {
			if s.KeyName != s.KeyID || !s.CreatedAt.Equal(now) || !s.ExpiresAt.Equal(now.Add(time.Hour)) {
				f.Errorf("the session is %+v", s)
			}
			ids = append(ids, s.ID)
		}
		return ids
	}
	mine, admin := of("acme", "mine"), of("acme", "admin", knowledge.SessionsAdmin)
	if diff := cmp.Diff([][]string{{"s-mine"}, {"s-theirs", "s-mine"}, {"s-far"}}, [][]string{listed(mine), listed(admin), listed(of("other", "", knowledge.SessionsAdmin))}); diff != "" {
		f.Error(diff)
	}
	f.wantCode(f.EndSessionOf(f.ctx, mine, "s-theirs"), knowledge.CodeNotFound)
	f.wantCode(f.EndSessionOf(f.ctx, admin, "s-far"), knowledge.CodeNotFound)
	f.must(f.EndSessionOf(f.ctx, mine, "s-mine"))
	f.must(f.EndSessionOf(f.ctx, admin, "s-theirs"))
	if ids := listed(admin); len(ids) > 0 {
		f.Errorf("the sessions %v were ended", ids)
	}
	_, _, err := f.KeyBySession(f.ctx, "of mine")
	f.wantCode(err, knowledge.CodeNotFound)
}
