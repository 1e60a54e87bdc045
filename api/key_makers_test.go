package api_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestKeysThatKeysMake(t *testing.T) {
	t.Parallel()
	e := open(t)
	const path = "/workspaces/default/keys"
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	maker := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, ExpiresAt: end, QueriesPerMinute: 5})
	create := func(t *testing.T, by string, change map[string]any) answer {
		t.Helper()
		body := map[string]any{"name": "child", "scopes": []string{"read"}}
		for name, value := range change {
			body[name] = value
		}
		return e.do("POST", path, by, body)
	}
	t.Run("inherit_its_end_and_its_limit_and_name_it", func(t *testing.T) {
		t.Parallel()
		got := create(t, maker, nil).want(201)
		if got["expires_at"] != end.Format(time.RFC3339) || got["queries_per_minute"] != 5.0 || got["created_by"] == nil {
			t.Errorf("child %v", got)
		}
		if list := string(e.do("GET", path, e.admin, nil).body); !strings.Contains(list, `"created_by":"`+got["created_by"].(string)) {
			t.Errorf("the list does not name the maker: %s", list)
		}
	})
	t.Run("may_have_less", func(t *testing.T) {
		t.Parallel()
		got := create(t, maker, map[string]any{"queries_per_minute": 2, "expires_at": end.Add(-time.Minute), "project_id": "default"}).want(201)
		if got["queries_per_minute"] != 2.0 || got["project_id"] != "default" {
			t.Errorf("child %v", got)
		}
	})
	for field, value := range map[string]any{"expires_at": end.Add(time.Minute), "queries_per_minute": 6} {
		t.Run("do_not_exceed_its_"+field, func(t *testing.T) {
			t.Parallel()
			got := create(t, maker, map[string]any{field: value})
			if got.status != 422 || !strings.Contains(string(got.body), `"body.`+field+`"`) {
				t.Errorf("status %d: %s", got.status, got.body)
			}
		})
	}
	t.Run("stand_at_most_eight_deep", func(t *testing.T) {
		t.Parallel()
		key := maker
		for range 8 {
			key = create(t, key, map[string]any{"scopes": []string{"admin"}}).want(201)["key"].(string)
		}
		create(t, key, nil).want(403)
	})
	t.Run("are_revoked_with_it_or_stay", func(t *testing.T) {
		t.Parallel()
		top := create(t, e.admin, map[string]any{"scopes": []string{"admin"}}).want(201)
		child := create(t, top["key"].(string), map[string]any{"scopes": []string{"admin"}}).want(201)["key"].(string)
		grandchild := create(t, child, nil).want(201)["key"].(string)
		e.do("DELETE", path+"/"+top["id"].(string), e.admin, nil).want(204)
		e.do("GET", own+"/projects", grandchild, nil).want(200)
		e.do("DELETE", path+"/"+top["id"].(string)+"?children=true", e.admin, nil).want(204)
		for _, key := range []string{child, grandchild} {
			e.do("GET", own+"/projects", key, nil).want(401)
		}
		e.do("GET", own+"/projects", maker, nil).want(200)
	})
	t.Run("come_with_a_project_within_its_bounds_too", func(t *testing.T) {
		t.Parallel()
		got := e.do("POST", hooks+"/projects", maker, map[string]any{"name": "Of a maker"})
		if got.status != 200 && got.status != 201 {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		list := string(e.do("GET", path, e.admin, nil).body)
		_, entry, _ := strings.Cut(list, `"name":"project of-a-maker"`)
		entry, _, _ = strings.Cut(entry, "}")
		if !strings.Contains(entry, end.Format(time.RFC3339)) || !strings.Contains(entry, `"queries_per_minute":5`) {
			t.Errorf("its key: %s", entry)
		}
	})
}
