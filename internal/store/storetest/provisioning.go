package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testProvisioning(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(*fixture){
		"a_provisioned_user_is_a_member":             provisionedUsers,
		"a_user_who_is_deactivated_loses_his_keys":   deactivatedUsers,
		"a_removed_user_stays_out_until_he_is_again": removedUsers,
		"a_subject_means_a_member":                   subjects,
		"a_renamed_user_keeps_what_he_has":           renamedUsers,
		"a_provisioned_group_is_a_group_of_members":  provisionedGroups,
		"provisioned_users_are_listed":               listedUsers,
	})
}

// provision stores a user of acme.
func (f *fixture) provision(name string, change ...func(*store.ProvisionedUser)) store.ProvisionedUser {
	f.Helper()
	u := store.ProvisionedUser{ID: "id of " + name, Name: name, Active: true, Attributes: `{"a":"b"}`}
	for _, c := range change {
		c(&u)
	}
	stored, err := f.AddProvisionedUser(f.ctx, manager("acme"), u, nil, "reader")
	f.must(err)
	return stored
}

// alter changes a user of acme.
func (f *fixture) alter(id string, change func(*store.ProvisionedUser)) {
	f.Helper()
	_, err := f.ChangeProvisionedUser(f.ctx, manager("acme"), id, func(u *store.ProvisionedUser) ([]string, error) { change(u); return nil, nil })
	f.must(err)
}

// memberNamed returns a member of acme.
func (f *fixture) memberNamed(name string) store.Member {
	f.Helper()
	m, err := f.Member(f.ctx, manager("acme"), name)
	f.must(err)
	return m
}

func provisionedUsers(f *fixture) {
	acme := manager("acme")
	_, _, err := f.PutMember(f.ctx, acme, store.Member{Name: "bob", Kind: store.PersonMember, Roles: []string{"editor"}, Groups: []string{"press"}}, builtIn())
	f.must(err)
	ann := f.provision("Ann", func(u *store.ProvisionedUser) { u.ExternalID = "x1" })
	f.provision("bob")
	got, err := f.ProvisionedUser(f.ctx, acme, ann.ID)
	f.must(err)
	want := store.ProvisionedUser{ID: "id of Ann", Name: "Ann", ExternalID: "x1", Active: true, Attributes: `{"a":"b"}`}
	if diff := cmp.Diff([]store.ProvisionedUser{want, want}, []store.ProvisionedUser{ann, got}, cmpopts.IgnoreFields(store.ProvisionedUser{}, "CreatedAt", "UpdatedAt")); diff != "" || ann.CreatedAt.IsZero() || !got.UpdatedAt.Equal(ann.UpdatedAt) {
		f.Errorf("the user is %+v\n%s", got, diff)
	}
	if m := f.memberNamed("Ann"); m.Kind != store.PersonMember || !cmp.Equal(m.Roles, []string{"reader"}) || !m.DeactivatedAt.IsZero() {
		f.Errorf("the new member is %+v", m)
	}
	if m := f.memberNamed("bob"); !cmp.Equal(m.Roles, []string{"editor"}) || !cmp.Equal(m.Groups, []string{"press"}) {
		f.Errorf("the member who was there is %+v", m)
	}
	_, err = f.AddProvisionedUser(f.ctx, acme, store.ProvisionedUser{ID: "2", Name: "ANN", Active: true, Attributes: "{}"}, nil, "reader")
	f.wantCode(err, knowledge.CodeConflict)
	_, err = f.ChangeProvisionedUser(f.ctx, acme, ann.ID, func(u *store.ProvisionedUser) ([]string, error) {
		u.Attributes = "{}"
		return []string{"editor"}, nil
	})
	f.must(err)
	if m := f.memberNamed("Ann"); !cmp.Equal(m.Roles, []string{"editor"}) {
		f.Errorf("the member with another role is %+v", m)
	}
	f.wantCode(f.RemoveMember(f.ctx, acme, "Ann"), knowledge.CodeConflict)
	for _, stranger := range []knowledge.Principal{manager("other"), ofPress()} {
		if _, err := f.ProvisionedUser(f.ctx, stranger, ann.ID); err == nil {
			f.Errorf("%s %s reads a user of acme", stranger.Workspace(), stranger.Project())
		}
		if err := f.RemoveProvisionedUser(f.ctx, stranger, ann.ID); err == nil {
			f.Errorf("%s %s removes a user of acme", stranger.Workspace(), stranger.Project())
		}
	}
}

func deactivatedUsers(f *fixture) {
	for _, name := range []string{"ann", "bob"} {
		f.provision(name)
		f.must(f.CreateKey(f.ctx, store.Key{ID: name, Workspace: "acme", Hash: name, CreatedBy: store.UserMaker + name, Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
		f.must(f.CreateKey(f.ctx, store.Key{ID: "of " + name, Workspace: "acme", Hash: "of " + name, CreatedBy: name, Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	}
	f.must(f.CreateKey(f.ctx, store.Key{ID: "far", Workspace: "other", Hash: "far", CreatedBy: store.UserMaker + "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	f.alter("id of ann", func(u *store.ProvisionedUser) { u.Active = false })
	ended, err := f.EndedKeys(f.ctx, []string{"ann", "of ann", "bob", "of bob", "far"})
	f.must(err)
	if diff := cmp.Diff([]string{"ann", "of ann"}, ended); diff != "" {
		f.Errorf("the keys that ended (-want +got):\n%s", diff)
	}
	left, err := f.EndedMembers(f.ctx, "acme", []string{"ann", "bob"})
	f.must(err)
	if diff := cmp.Diff([]string{"ann"}, left); diff != "" {
		f.Errorf("the members that ended (-want +got):\n%s", diff)
	}
	if m := f.memberNamed("ann"); m.DeactivatedAt.IsZero() {
		f.Errorf("the member is %+v", m)
	}
	_, _, err = f.PutMember(f.ctx, manager("acme"), store.Member{Name: "ann", Kind: store.PersonMember, Roles: []string{"reader"}}, builtIn())
	f.must(err)
	if m := f.memberNamed("ann"); m.DeactivatedAt.IsZero() {
		f.Errorf("an administrator has activated %+v", m)
	}
	f.alter("id of ann", func(u *store.ProvisionedUser) { u.Active = true })
	if m := f.memberNamed("ann"); !m.DeactivatedAt.IsZero() {
		f.Errorf("the member who is active again is %+v", m)
	}
}

func removedUsers(f *fixture) {
	acme := manager("acme")
	f.provision("ann", func(u *store.ProvisionedUser) { u.ExternalID = "x1" })
	f.must(f.RemoveProvisionedUser(f.ctx, acme, "id of ann"))
	f.wantCode(f.RemoveProvisionedUser(f.ctx, acme, "id of ann"), knowledge.CodeNotFound)
	for _, subject := range []string{"ann", "x1", "ANN"} {
		if m, there, err := f.MemberBySubject(f.ctx, "acme", subject); err != nil || !there || m.DeactivatedAt.IsZero() || len(m.Roles) > 0 {
			f.Errorf("the removed user %s is %+v, %t, %v", subject, m, there, err)
		}
	}
	second := f.provision("ann", func(u *store.ProvisionedUser) { u.ID = "second" })
	if m := f.memberNamed("ann"); !m.DeactivatedAt.IsZero() || !cmp.Equal(m.Roles, []string{"reader"}) {
		f.Errorf("the user who is there again is %+v", m)
	}
	f.must(f.RemoveProvisionedUser(f.ctx, acme, second.ID))
	f.must(f.RemoveMember(f.ctx, acme, "ann"))
	if _, there, err := f.MemberBySubject(f.ctx, "acme", "ann"); err != nil || there {
		f.Errorf("the forgotten user is there: %t, %v", there, err)
	}
}

func subjects(f *fixture) {
	f.provision("Ann@Halden.example", func(u *store.ProvisionedUser) { u.ExternalID = "x1" })
	f.provision("x1") // a name goes before an externalId
	f.provision("bob", func(u *store.ProvisionedUser) { u.ExternalID = "x2" })
	for subject, want := range map[string]string{"Ann@Halden.example": "Ann@Halden.example", "ann@halden.example": "Ann@Halden.example", "x1": "x1", "x2": "bob", "X2": "", "": "", "unknown": ""} {
		m, there, err := f.MemberBySubject(f.ctx, "acme", subject)
		f.must(err)
		if m.Name != want || there != (want != "") {
			f.Errorf("the subject %q means %q, %t, want %q", subject, m.Name, there, want)
		}
	}
	if _, there, err := f.MemberBySubject(f.ctx, "other", "bob"); err != nil || there {
		f.Errorf("in another workspace: %t, %v", there, err)
	}
}

func renamedUsers(f *fixture) {
	acme := manager("acme")
	f.provision("ann")
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Hash: "k", CreatedBy: store.UserMaker + "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	_, _, err := f.PutMember(f.ctx, acme, store.Member{Name: "cleo", Kind: store.PersonMember}, builtIn())
	f.must(err)
	_, err = f.ChangeProvisionedUser(f.ctx, acme, "id of ann", func(u *store.ProvisionedUser) ([]string, error) { u.Name = "cleo"; return nil, nil })
	f.wantCode(err, knowledge.CodeConflict)
	f.alter("id of ann", func(u *store.ProvisionedUser) { u.Name = "anna" })
	if m := f.memberNamed("anna"); !cmp.Equal(m.Roles, []string{"reader"}) {
		f.Errorf("the renamed member is %+v", m)
	}
	if _, err = f.Member(f.ctx, acme, "ann"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		f.Errorf("under the former name: %v", err)
	}
	key, err := f.KeyByHash(f.ctx, "k")
	f.must(err)
	if key.CreatedBy != store.UserMaker+"anna" {
		f.Errorf("the key was made by %s", key.CreatedBy)
	}
	f.alter("id of ann", func(u *store.ProvisionedUser) { u.Active = false })
	_, err = f.KeyByHash(f.ctx, "k")
	f.wantCode(err, knowledge.CodeNotFound)
}

func provisionedGroups(f *fixture) {
	acme := manager("acme")
	ann, bob := f.provision("ann"), f.provision("bob")
	refs := func(users ...store.ProvisionedUser) (list []store.ProvisionedRef) {
		for _, u := range users {
			list = append(list, store.ProvisionedRef{ID: u.ID, Name: u.Name})
		}
		return list
	}
	g, err := f.AddProvisionedGroup(f.ctx, acme, store.ProvisionedGroup{ID: "g", Name: "Keepers", ExternalID: "x", Users: refs(bob, ann)})
	f.must(err)
	if diff := cmp.Diff(refs(ann, bob), g.Users); diff != "" {
		f.Error(diff)
	}
	_, err = f.AddProvisionedGroup(f.ctx, acme, store.ProvisionedGroup{ID: "h", Name: "keepers"})
	f.wantCode(err, knowledge.CodeConflict)
	_, err = f.AddProvisionedGroup(f.ctx, acme, store.ProvisionedGroup{ID: "h", Name: "pilots", Users: []store.ProvisionedRef{{ID: "unknown"}}})
	f.wantCode(err, knowledge.CodeInvalid)
	of := func(name string, want ...string) {
		f.Helper()
		if diff := cmp.Diff(want, f.memberNamed(name).Provisioned, cmpopts.EquateEmpty()); diff != "" {
			f.Errorf("groups of %s: %s", name, diff)
		}
	}
	of("ann", "Keepers")
	list, _, err := f.Members(f.ctx, acme, store.Page{})
	f.must(err)
	if len(list) != 2 || !cmp.Equal(list[1].Provisioned, []string{"Keepers"}) {
		f.Errorf("the members are %+v", list)
	}
	_, err = f.ChangeProvisionedGroup(f.ctx, acme, "g", func(g *store.ProvisionedGroup) error {
		g.Name, g.Users = "Lamp keepers", refs(bob)
		return nil
	})
	f.must(err)
	of("ann")
	of("bob", "Lamp keepers")
	u, err := f.ProvisionedUser(f.ctx, acme, bob.ID)
	f.must(err)
	if diff := cmp.Diff([]store.ProvisionedRef{{ID: "g", Name: "Lamp keepers"}}, u.Groups); diff != "" {
		f.Error(diff)
	}
	for q, want := range map[store.ProvisionedQuery]int{{User: bob.ID}: 1, {User: ann.ID}: 0, {Name: "LAMP keepers"}: 1, {ExternalID: "x"}: 1, {ID: "h"}: 0} {
		if list, total, err := f.ProvisionedGroups(f.ctx, acme, q, false); err != nil || len(list) != want || total != want {
			f.Errorf("%+v selects %+v, %d, %v", q, list, total, err)
		}
	}
	_, err = f.ProvisionedGroup(f.ctx, manager("other"), "g")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.RemoveProvisionedGroup(f.ctx, manager("other"), "g"), knowledge.CodeNotFound)
	f.must(f.RemoveProvisionedUser(f.ctx, acme, bob.ID))
	if g, err = f.ProvisionedGroup(f.ctx, acme, "g"); err != nil || len(g.Users) > 0 {
		f.Errorf("the group is %+v, %v", g, err)
	}
	f.must(f.RemoveProvisionedGroup(f.ctx, acme, "g"))
	f.wantCode(f.RemoveProvisionedGroup(f.ctx, acme, "g"), knowledge.CodeNotFound)
}

func listedUsers(f *fixture) {
	now := time.Now().UTC()
	for i, name := range []string{"cleo", "bob", "ann"} {
		f.provision(name, func(u *store.ProvisionedUser) { u.CreatedAt = now.Add(time.Duration(i) * time.Second) })
	}
	list, total, err := f.ProvisionedUsers(f.ctx, manager("acme"), store.ProvisionedQuery{Offset: 1, Limit: 1})
	f.must(err)
	if len(list) != 1 || list[0].Name != "bob" || total != 3 {
		f.Errorf("the second page is %+v of %d", list, total)
	}
	if list, total, err = f.ProvisionedUsers(f.ctx, manager("acme"), store.ProvisionedQuery{Name: "ANN"}); err != nil || len(list) != 1 || total != 1 {
		f.Errorf("by name: %+v of %d, %v", list, total, err)
	}
	if list, total, err = f.ProvisionedUsers(f.ctx, manager("other"), store.ProvisionedQuery{}); err != nil || len(list)+total > 0 {
		f.Errorf("another workspace lists %+v, %v", list, err)
	}
}
