package api_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// until polls a check for as long as a change of a role or a member may take.
func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Second); !check(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("two seconds later: %s", what)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	e := open(t)
	role := func(name string, permissions ...string) answer {
		return e.do("PUT", own+"/roles/"+name, e.admin, map[string]any{"permissions": permissions})
	}
	t.Run("what_a_role_allows_follows_the_role", func(t *testing.T) {
		t.Parallel()
		role("librarian", "documents.read", "projects.read").want(200)
		made := e.do("POST", own+"/keys", e.admin, map[string]any{"name": "a", "role": "librarian"}).want(201)
		key := made["key"].(string)
		e.do("GET", own+"/documents", key, nil).want(200)
		e.do("POST", hooks+"/retrieve-context", key, `{"text":"a"}`).refused(403, knowledge.CodeForbidden)
		e.do("DELETE", own+"/roles/librarian", e.admin, nil).refused(409, knowledge.CodeConflict)
		if got := role("librarian", "questions.ask", "projects.read", "questions.ask").want(200); len(got["permissions"].([]any)) != 2 {
			t.Errorf("the role is %v", got)
		}
		until(t, "the role reads documents", func() bool { return e.do("GET", own+"/documents", key, nil).status == 403 })
		e.do("POST", hooks+"/retrieve-context", key, `{"text":"a"}`).want(200)
		e.do("DELETE", own+"/keys/"+made["id"].(string), e.admin, nil).want(204)
		e.do("DELETE", own+"/roles/librarian", e.admin, nil).want(204)
		e.do("GET", own+"/roles/librarian", e.admin, nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("nobody_gives_what_he_lacks", func(t *testing.T) {
		t.Parallel()
		role("personnel", "roles.write", "members.write", "keys.write", "members.read").want(200)
		key := e.do("POST", own+"/keys", e.admin, map[string]any{"name": "a", "role": "personnel"}).want(201)["key"].(string)
		for path, body := range map[string]string{
			"PUT /roles/mine":     `{"permissions":["documents.read"]}`,
			"PUT /members/me":     `{"roles":["reader"]}`,
			"POST /keys":          `{"name":"a","role":"reader"}`,
			"POST  /keys":         `{"name":"a","permissions":["documents.read"]}`,
			"POST   /keys":        `{"name":"a","scopes":["read"]}`,
			"PUT /members/you":    `{"roles":["unknown"]}`,
			"PUT  /roles/mine":    `{"permissions":["instance.admin"]}`,
			"PUT   /roles/mine":   `{"permissions":["public"]}`,
			"PUT    /roles/mine":  `{"permissions":["unknown"]}`,
			"PUT    /roles/MINE!": `{"permissions":["members.read"]}`,
		} {
			method, rest, _ := strings.Cut(path, " ")
			e.do(method, own+strings.TrimSpace(rest), key, body).refused(422, knowledge.CodeInvalid)
		}
		e.do("PUT", own+"/roles/mine", key, `{"permissions":["members.read"]}`).want(200)
	})
	t.Run("listed_whole_or_in_pages", func(t *testing.T) {
		whole, all, path := each(e.do("GET", own+"/roles", e.admin, nil).want(200)["data"], "name"), []any{}, own+"/roles?limit=3"
		for next := any(""); next != nil; {
			list := e.do("GET", path+"&cursor="+next.(string), e.admin, nil).want(200)
			if data := list["data"].([]any); len(data) == 0 || len(data) > 3 {
				t.Fatalf("a page has %d roles", len(data))
			}
			all, next = append(all, each(list["data"], "name")...), list["next_cursor"]
		}
		if len(whole) < 4 || !slices.Equal(whole, all) {
			t.Errorf("in pages %v, whole %v", all, whole)
		}
		e.do("GET", own+"/roles?cursor=x", e.admin, nil).refused(422, knowledge.CodeInvalid)
	})
	t.Run("the_roles_of_every_workspace_stay_as_they_are", func(t *testing.T) {
		t.Parallel()
		role("admin", "documents.read").refused(409, knowledge.CodeConflict)
		e.do("DELETE", own+"/roles/reader", e.admin, nil).refused(409, knowledge.CodeConflict)
		if got := e.do("GET", own+"/roles/auditor", e.reader, nil); got.status != 403 {
			t.Errorf("a reader lists roles: status %d", got.status)
		}
		if got := e.do("GET", own+"/roles/auditor", e.admin, nil).want(200); got["built_in"] != true || !slices.Contains(got["permissions"].([]any), any("audit.read")) {
			t.Errorf("the role is %v", got)
		}
	})
}

func TestKeysWithRights(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, body := range map[string]string{
		"of two kinds":            `{"name":"a","scopes":["read"],"role":"reader"}`,
		"of none":                 `{"name":"a"}`,
		"of an unknown role":      `{"name":"a","role":"unknown"}`,
		"of an unknown member":    `{"name":"a","member":"unknown"}`,
		"of a wrong permission":   `{"name":"a","permissions":["documents.burn"]}`,
		"of a permission of none": `{"name":"a","permissions":["instance.admin"]}`,
	} {
		if got := e.do("POST", own+"/keys", e.admin, body); got.status != 422 {
			t.Errorf("a key %s: status %d, %s", name, got.status, got.body)
		}
	}
	made := e.do("POST", own+"/keys", e.admin, `{"name":"a","permissions":["projects.read","keys.read"]}`).want(201)
	if scopes := made["scopes"].([]any); len(scopes) != 0 || made["role"] != nil || len(made["permissions"].([]any)) != 2 || made["last_used_at"] != nil {
		t.Errorf("the key is %v", made)
	}
	key := made["key"].(string)
	e.do("GET", own+"/projects", key, nil).want(200)
	e.do("GET", own+"/documents", key, nil).refused(403, knowledge.CodeForbidden)
	e.do("POST", own+"/keys", key, `{"name":"b","permissions":["keys.read"]}`).refused(403, knowledge.CodeForbidden)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	e.access.StoreUses(ctx, slog.New(slog.DiscardHandler))
	for _, one := range e.do("GET", own+"/keys", key, nil).want(200)["data"].([]any) {
		listed := one.(map[string]any)
		if listed["id"] == made["id"] && listed["last_used_at"] == nil {
			t.Errorf("the key that was used is %v", listed)
		}
	}
}

func TestAKeyEndsToTheSecond(t *testing.T) {
	t.Parallel()
	e := open(t)
	end := time.Now().Add(time.Second)
	key := e.do("POST", own+"/keys", e.admin, map[string]any{"name": "a", "role": "reader", "expires_at": end}).want(201)["key"].(string)
	e.do("GET", own+"/projects", key, nil).want(200)
	until(t, "the key is valid", func() bool {
		status, now := e.do("GET", own+"/projects", key, nil).status, time.Now()
		if status == 401 && now.Before(end) {
			t.Fatalf("the key has ended %v early", end.Sub(now))
		}
		return status == 401
	})
	if late := time.Since(end); late > time.Second {
		t.Errorf("the key was valid %v too long", late)
	}
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PUT", own+"/members/robot", e.admin, `{"kind":"service","roles":["reader"],"groups":["machines"]}`).want(200)
	e.do("PUT", own+"/members/robot", e.admin, `{"roles":["reader"]}`).refused(409, knowledge.CodeConflict)
	e.do("PUT", own+"/members/ann", e.admin, `{"roles":["reader"]}`).want(200)
	e.do("POST", own+"/keys", e.admin, `{"name":"a","member":"ann"}`).refused(422, knowledge.CodeInvalid)
	made := e.do("POST", own+"/keys", e.admin, `{"name":"a","member":"robot"}`).want(201)
	key := made["key"].(string)
	e.do("GET", own+"/documents", key, nil).want(200)
	e.do("GET", own+"/members", key, nil).refused(403, knowledge.CodeForbidden)
	if keys := e.do("GET", own+"/members/robot", e.admin, nil).want(200)["keys"].([]any); len(keys) != 1 || keys[0].(map[string]any)["id"] != made["id"] {
		t.Errorf("the keys of the service account are %v", keys)
	}
	e.do("PUT", own+"/members/robot", e.admin, `{"kind":"service","roles":["auditor"]}`).want(200)
	until(t, "the key reads documents", func() bool { return e.do("GET", own+"/documents", key, nil).status == 403 })
	e.do("GET", own+"/members", key, nil).want(200)
	e.do("DELETE", own+"/members/robot", e.admin, nil).want(204)
	e.do("GET", own+"/members", key, nil).refused(401, knowledge.CodeUnauthorized)
	if list := e.do("GET", own+"/members", e.admin, nil).want(200)["data"].([]any); len(list) != 1 {
		t.Errorf("the members are %v", list)
	}
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	e := open(t)
	second := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})
	for _, key := range []string{e.reader, second} {
		e.do("POST", "/auth/session", "", map[string]any{"key": key}).want(200)
	}
	listed := func(key string) []any { return e.do("GET", own+"/sessions", key, nil).want(200)["data"].([]any) }
	mine := listed(second)
	if len(mine) != 1 || mine[0].(map[string]any)["key_id"] != e.principal(second).KeyID() || len(listed(e.admin)) != 2 || len(listed(e.editor)) != 0 {
		t.Fatalf("sessions %v, of all %v, of the editor %v", mine, listed(e.admin), listed(e.editor))
	}
	path := own + "/sessions/" + mine[0].(map[string]any)["id"].(string)
	e.do("DELETE", path, e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("DELETE", path, second, nil).want(204)
	e.do("DELETE", path, second, nil).refused(404, knowledge.CodeNotFound)
	left := listed(e.admin)
	if len(left) != 1 {
		t.Fatalf("sessions %v", left)
	}
	e.do("DELETE", own+"/sessions/"+left[0].(map[string]any)["id"].(string), e.admin, nil).want(204)
	if left = listed(e.admin); len(left) != 0 {
		t.Errorf("sessions %v", left)
	}
}
