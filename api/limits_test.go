package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestLimitsAreSetAndShown sets limits of a key, a member, a project and the workspace.
func TestLimitsAreSetAndShown(t *testing.T) {
	t.Parallel()
	e := open(t)
	limits := map[string]any{"requestsPerMinute": 60.0, "tokensPerDay": 1000.0, "documents": 5.0, "bytes": 5000.0, "costPerDay": 0.5}
	same := func(what string, got any) {
		t.Helper()
		if diff := cmp.Diff(any(limits), got); diff != "" {
			t.Errorf("%s has other limits (-want +got):\n%s", what, diff)
		}
	}
	made := e.do("POST", own+"/keys", e.admin, map[string]any{"name": "bounded", "scopes": []string{"read"}, "limits": limits}).want(201)
	same("the key", made["limits"])
	same("the member", e.do("PUT", own+"/members/ann", e.admin, map[string]any{"roles": []string{"reader"}, "limits": limits}).want(200)["limits"])
	same("the member that is read again", e.do("GET", own+"/members/ann", e.admin, nil).want(200)["limits"])
	same("the project", e.do("PATCH", own+"/projects/default", e.admin, map[string]any{"limits": limits}).want(200)["limits"])
	same("the workspace", e.do("PUT", own+"/limits", e.admin, limits).want(200)["own"])
	shown := e.do("GET", own+"/limits", e.admin, nil).want(200)
	same("the workspace that is read again", shown["limits"])
	if used := shown["used_today"].(map[string]any); used["documents"] != 0.0 || used["tokens"] != 0.0 {
		t.Errorf("used is %v", used)
	}
	for by, id := range map[string]string{"key": made["id"].(string), "user": "user:ann", "project": "default"} {
		found := false
		for _, one := range e.do("GET", own+"/usage?by="+by, e.admin, nil).want(200)["data"].([]any) {
			if owner := one.(map[string]any); owner["id"] == id {
				found = true
				same("usage by "+by, owner["limits"])
			}
		}
		if !found {
			t.Errorf("usage by %s lacks %s", by, id)
		}
	}
	if cleared := e.do("PUT", own+"/limits", e.admin, map[string]any{}).want(200)["limits"].(map[string]any); len(cleared) > 0 {
		t.Errorf("after all limits were taken away: %v", cleared)
	}
}

// TestLimitsThatAreRefused sends limits that cannot be, and limits by those who may not set them.
func TestLimitsThatAreRefused(t *testing.T) {
	t.Parallel()
	e := open(t)
	for field, value := range map[string]any{"requestsPerMinute": 0, "tokensPerDay": -1, "costPerDay": 0, "requests": 5} {
		got := e.do("POST", own+"/keys", e.admin, map[string]any{"name": "n", "scopes": []string{"read"}, "limits": map[string]any{field: value}})
		if got.status != 422 || !strings.Contains(string(got.body), "body.limits") {
			t.Errorf("%s: status %d %s", field, got.status, got.body)
		}
	}
	manager := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	e.do("PUT", own+"/limits", manager, `{"requestsPerMinute": 5}`).want(403)
	e.do("GET", own+"/limits", manager, nil).want(200)
	e.do("GET", own+"/limits", e.reader, nil).want(403)
	e.do("GET", own+"/limits", e.stranger, nil).want(404)
}

// TestKeysInheritLimits has a key with limits create keys.
func TestKeysInheritLimits(t *testing.T) {
	t.Parallel()
	e := open(t)
	maker := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Limits: knowledge.UseLimits{RequestsPerMinute: 50, TokensPerDay: 500}})
	create := func(limits string) answer {
		return e.do("POST", own+"/keys", maker, `{"name": "child", "scopes": ["read"], "limits": `+limits+`}`)
	}
	got := create(`{"tokensPerDay": 100, "documents": 3}`).want(201)["limits"]
	if diff := cmp.Diff(any(map[string]any{"requestsPerMinute": 50.0, "tokensPerDay": 100.0, "documents": 3.0}), got); diff != "" {
		t.Errorf("the child's limits (-want +got):\n%s", diff)
	}
	if got := create(`{"tokensPerDay": 501}`); got.status != 422 || !strings.Contains(string(got.body), `"body.limits.tokensPerDay"`) {
		t.Errorf("more than its maker has: status %d %s", got.status, got.body)
	}
}
