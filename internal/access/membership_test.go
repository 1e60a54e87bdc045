package access_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// administrator returns an administrator of workspace default.
func (i instance) administrator(t *testing.T) knowledge.Principal {
	t.Helper()
	return i.principal(t, access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})})
}

// member stores a member of workspace default.
func (i instance) member(t *testing.T, m store.Member) {
	t.Helper()
	if m.Kind == "" {
		m.Kind = store.PersonMember
	}
	if _, _, err := i.store.PutMember(t.Context(), i.administrator(t), m, access.Roles()); err != nil {
		t.Fatal(err)
	}
}

// role stores a role of workspace default.
func (i instance) role(t *testing.T, name string, permissions ...knowledge.Permission) {
	t.Helper()
	if _, _, err := i.store.PutRole(t.Context(), i.administrator(t), store.Role{Name: name, Permissions: permissions}); err != nil {
		t.Fatal(err)
	}
}

// inGroup stores a connection of workspace default, whose service has users in a group.
func (i instance) inGroup(t *testing.T, group string, users ...string) {
	t.Helper()
	p := i.administrator(t)
	if err := i.store.CreateProject(t.Context(), knowledge.Project{ID: "followed", Workspace: "default", Name: "Followed"}); err != nil {
		t.Fatal(err)
	}
	_, err := i.store.AddConnection(t.Context(), p, store.Connection{ID: "c", Type: source.TypeSharePoint})
	if err == nil {
		_, err = i.store.AddSync(t.Context(), p, store.Sync{ID: "y", Project: "followed", Connection: "c", Every: time.Hour})
	}
	if err != nil {
		t.Fatal(err)
	}
	run, err := i.store.StartSyncRun(t.Context(), store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "default", Project: "followed", Import: "run"}, RunID: "run", SourceName: "sync y",
		Request: store.ImportRequest{Source: source.Spec{Type: source.TypeSharePoint}, Sync: "y", Mirror: true},
	})
	if err == nil {
		_, err = i.store.GroupsToRead(t.Context(), run, []string{group})
	}
	if err == nil {
		err = i.store.SetGroupMembers(t.Context(), run, group, users, true)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// within two seconds, the most that a change of a role or a member may take, check returns nil.
func within2Seconds(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-tick.C:
		}
	}
}

// token returns the credentials of a user without roles or groups of his own.
func token(t *testing.T, user string, change ...func(jwt.MapClaims)) access.Credentials {
	t.Helper()
	plain := func(c jwt.MapClaims) { c["sub"] = user; delete(c, "roles"); delete(c, "groups") }
	return access.Credentials{Bearer: sign(t, jwt.SigningMethodHS256, []byte(jwtSecret), valid(append([]func(jwt.MapClaims){plain}, change...)...))}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{Secret: jwtSecret})
	i.role(t, "uploader", knowledge.DocumentsWrite, knowledge.ProjectsRead)
	t.Run("a_token_without_a_role_is_let_in_by_its_membership", func(t *testing.T) {
		t.Parallel()
		_, err := i.Authenticate(t.Context(), token(t, "cleo"))
		wantCode(t, err, knowledge.CodeForbidden)
		i.member(t, store.Member{Name: "cleo", Roles: []string{"reader"}, Groups: []string{"press"}})
		within2Seconds(t, func() error {
			p, err := i.Authenticate(t.Context(), token(t, "cleo"))
			if err == nil && (!p.May(knowledge.QuestionsAsk) || p.May(knowledge.DocumentsWrite) || !slices.Contains(p.Tokens(), "g:press")) {
				err = fmt.Errorf("claims %+v", p.Claims())
			}
			return err
		})
		if _, err := i.Authenticate(t.Context(), token(t, "cleo", func(c jwt.MapClaims) { c["workspace"] = "other" })); !knowledge.IsCode(err, knowledge.CodeForbidden) {
			t.Errorf("in another workspace: %v", err)
		}
	})
	t.Run("a_user_is_in_the_groups_of_services", func(t *testing.T) {
		t.Parallel()
		i.inGroup(t, "staff", "flo")
		reader := func(c jwt.MapClaims) { c["roles"], c["groups"] = []string{"reader"}, []string{"legal"} }
		key := i.principal(t, access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})})
		for user, want := range map[string]bool{"flo": true, "gus": false} {
			acting, err := i.As(t.Context(), key, access.Acting{User: user})
			if err != nil {
				t.Fatal(err)
			}
			signed := i.principal(t, token(t, user, reader))
			if slices.Contains(signed.Tokens(), "g:staff") != want || slices.Contains(acting.Tokens(), "g:staff") != want || !slices.Contains(signed.Tokens(), "g:legal") {
				t.Errorf("%s has the tokens %v, and by a key %v", user, signed.Tokens(), acting.Tokens())
			}
		}
		if slices.Contains(key.Tokens(), "g:staff") {
			t.Errorf("a key that acts for nobody has the tokens %v", key.Tokens())
		}
	})
	t.Run("what_a_token_says_adds_to_its_membership", func(t *testing.T) {
		t.Parallel()
		i.member(t, store.Member{Name: "dan", Roles: []string{"uploader"}, Groups: []string{"press", "legal"}})
		p := i.principal(t, token(t, "dan", func(c jwt.MapClaims) {
			c["roles"], c["groups"] = []string{"reader", "of another system"}, []string{"legal"}
		}))
		if !p.May(knowledge.DocumentsWrite) || !p.May(knowledge.QuestionsAsk) || p.May(knowledge.ImportsWrite) || !slices.Equal(p.Claims().Groups, []string{"legal", "press"}) {
			t.Errorf("claims %+v", p.Claims())
		}
	})
	t.Run("a_removed_member_is_out", func(t *testing.T) {
		t.Parallel()
		i.member(t, store.Member{Name: "eve", Roles: []string{"admin"}})
		i.principal(t, token(t, "eve"))
		if err := i.store.RemoveMember(t.Context(), i.administrator(t), "eve"); err != nil {
			t.Fatal(err)
		}
		within2Seconds(t, func() error {
			if _, err := i.Authenticate(t.Context(), token(t, "eve")); !knowledge.IsCode(err, knowledge.CodeForbidden) {
				return fmt.Errorf("she gets in: %w", errors.Join(err, errors.New("after her removal")))
			}
			return nil
		})
	})
	t.Run("a_membership_of_one_project_holds_its_user_to_it", func(t *testing.T) {
		t.Parallel()
		if err := i.store.CreateProject(t.Context(), knowledge.Project{ID: "press", Workspace: "default", Name: "Press"}); err != nil {
			t.Fatal(err)
		}
		i.member(t, store.Member{Name: "fay", Roles: []string{"editor"}, Project: "press"})
		if p := i.principal(t, token(t, "fay", func(c jwt.MapClaims) { c["roles"] = []string{"reader"} })); p.Project() != "press" || !p.May(knowledge.DocumentsWrite) {
			t.Errorf("claims %+v", p.Claims())
		}
	})
	t.Run("a_service_account_lets_no_token_in", func(t *testing.T) {
		t.Parallel()
		i.member(t, store.Member{Name: "robot", Kind: store.ServiceMember, Roles: []string{"admin"}})
		_, err := i.Authenticate(t.Context(), token(t, "robot"))
		wantCode(t, err, knowledge.CodeForbidden)
	})
}

// memberStore is a store with one member, which was read some times.
type memberStore struct {
	access.Store
	member store.Member
	reads  int
	used   []map[string]time.Time
}

func (s *memberStore) WorkspaceExists(context.Context, string) (bool, error) { return true, nil }

func (s *memberStore) MemberBySubject(context.Context, string, string) (store.Member, bool, error) {
	s.reads++
	return s.member, true, nil
}

func (s *memberStore) ConnectionGroups(context.Context, string, string) ([]string, error) {
	return nil, nil
}

func (s *memberStore) KeyByHash(context.Context, string) (store.Key, error) {
	return store.Key{ID: "k", Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}}, nil
}

func (s *memberStore) MarkKeysUsed(_ context.Context, used map[string]time.Time) error {
	s.used = append(s.used, used)
	return nil
}

// TestAMembershipEndsToTheSecond asks between two reads of the store, too: the time counts, not
// the age of what was read.
func TestAMembershipEndsToTheSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memberStore{member: store.Member{Name: "ann", Kind: store.PersonMember, Roles: []string{"reader"}, ExpiresAt: time.Now().Add(10 * time.Second)}}
		a := access.New(access.Config{Secret: jwtSecret}, s, nil)
		time.Sleep(9500 * time.Millisecond)
		p, err := a.Authenticate(t.Context(), token(t, "ann"))
		if err != nil || p.ExpiresAt().Unix() != s.member.ExpiresAt.Unix() {
			t.Fatalf("before its end: %v, until %v", err, p.ExpiresAt())
		}
		if _, err = a.Authenticate(t.Context(), token(t, "ann")); err != nil || s.reads != 1 {
			t.Errorf("at once again: %v, after %d reads", err, s.reads)
		}
		time.Sleep(500 * time.Millisecond)
		_, err = a.Authenticate(t.Context(), token(t, "ann"))
		wantCode(t, err, knowledge.CodeForbidden)
		if s.reads != 1 {
			t.Errorf("the member was read %d times", s.reads)
		}
	})
}

func TestUsesAreStoredOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &memberStore{}
		a := access.New(access.Config{}, s, nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { a.StoreUses(ctx, slog.New(slog.DiscardHandler)); close(done) }()
		begin := time.Now()
		for range 130 {
			if _, err := a.Authenticate(ctx, access.Credentials{Key: "a key"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		stop()
		<-done
		if len(s.used) != 3 {
			t.Fatalf("the use of a key was stored %d times in 130 seconds: %v", len(s.used), s.used)
		}
		for n, used := range s.used {
			if want := begin.Add(time.Duration(n) * time.Minute); !used["k"].Equal(want) {
				t.Errorf("the key was used at %v, want %v", used["k"], want)
			}
		}
	})
}

func TestKeysWithRoles(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{})
	i.role(t, "librarian", knowledge.DocumentsRead, knowledge.DocumentsWrite, knowledge.KeysWrite)
	i.member(t, store.Member{Name: "robot", Kind: store.ServiceMember, Roles: []string{"librarian"}, Groups: []string{"machines"}})
	all := []knowledge.Permission{knowledge.DocumentsRead, knowledge.DocumentsWrite, knowledge.KeysWrite}
	read := all[:1]
	for name, c := range map[string]struct {
		key  store.Key
		want []knowledge.Permission
	}{
		"of a role":                              {store.Key{Role: "librarian"}, all},
		"of permissions":                         {store.Key{Permissions: read}, read},
		"of a service account":                   {store.Key{Member: "robot"}, all},
		"of a service account, and less":         {store.Key{Member: "robot", Permissions: read}, read},
		"of a service account, and more":         {store.Key{Member: "robot", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}}, all},
		"of a role that the workspace lacks":     {store.Key{Role: "nobody"}, nil},
		"of a role that a service account lacks": {store.Key{Member: "robot", Role: "auditor"}, []knowledge.Permission{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.key.Workspace = "default"
			p := i.principal(t, access.Credentials{Key: i.key(t, c.key)})
			got := slices.Sorted(slices.Values(p.Claims().Permissions))
			if c.key.Role == "auditor" { // both list keys
				c.want = nil
			}
			if !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("permissions %v, want %v", got, c.want)
			}
			if p.Can(knowledge.ScopeWrite) != slices.Contains(c.want, knowledge.DocumentsWrite) || p.Can(knowledge.ScopeAdmin) || (len(p.Tokens()) > 0) != slices.Contains(c.want, knowledge.DocumentsRead) {
				t.Errorf("scopes %v and tokens %v go with %v", p.Claims().Scopes, p.Tokens(), got)
			}
			if c.key.Member != "" && !slices.Equal(p.Claims().Groups, []string{"machines"}) {
				t.Errorf("groups %v", p.Claims().Groups)
			}
		})
	}
	t.Run("a key has no more than the role of its maker has now", func(t *testing.T) {
		t.Parallel()
		i.role(t, "maker", knowledge.DocumentsRead, knowledge.KeysWrite)
		if err := i.store.CreateKey(t.Context(), store.Key{ID: "maker", Workspace: "default", Hash: "maker", Role: "maker"}); err != nil {
			t.Fatal(err)
		}
		child := access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}, CreatedBy: "maker"})}
		within2Seconds(t, func() error {
			if p := i.principal(t, child); !slices.Equal(p.Claims().Permissions, read) {
				return fmt.Errorf("permissions %v", p.Claims().Permissions)
			}
			return nil
		})
		i.role(t, "maker", knowledge.KeysWrite)
		within2Seconds(t, func() error {
			if p := i.principal(t, child); len(p.Claims().Permissions) > 0 || len(p.Tokens()) > 0 {
				return fmt.Errorf("permissions %v", p.Claims().Permissions)
			}
			return nil
		})
	})
}
