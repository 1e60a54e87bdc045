package access_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// described returns the permissions that openapi.json names, by the RouteName of the routes.
func described(t *testing.T) map[string]knowledge.Permission {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]struct {
			Permission knowledge.Permission `json:"x-permission"`
		}
	}
	if err := json.Unmarshal(text, &description); err != nil {
		t.Fatal(err)
	}
	routes := map[string]knowledge.Permission{}
	for path, methods := range description.Paths {
		for method, operation := range methods {
			routes[access.RouteName(strings.ToUpper(method), path)] = operation.Permission
		}
	}
	return routes
}

// TestEveryRouteHasOnePermission compares the table with the routes of openapi.json and those
// of MCP, which are not described there.
func TestEveryRouteHasOnePermission(t *testing.T) {
	t.Parallel()
	want := described(t)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		want[method+" /mcp"] = knowledge.QuestionsAsk
	}
	got := map[string]knowledge.Permission{}
	for _, row := range access.Permissions() {
		for _, route := range row.Routes {
			if other, twice := got[route]; twice {
				t.Errorf("%s stands in the rows %s and %s", route, other, row.Name)
			}
			got[route] = row.Name
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("openapi.json (-) and the table (+):\n%s", diff)
	}
	if len(got) < 110 {
		t.Errorf("the table has %d routes: the test looks in the wrong place", len(got))
	}
}

// permissionsOf returns the permissions of a role in the table.
func permissionsOf(role string) []knowledge.Permission {
	var permissions []knowledge.Permission
	for _, row := range access.Permissions() {
		if slices.Contains(row.Roles, role) {
			permissions = append(permissions, row.Name)
		}
	}
	return permissions
}

func TestRolesInclude(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, row := range access.Permissions() {
		for _, role := range row.Roles {
			known[role] = true
		}
		if row.About == "" {
			t.Errorf("%s: nobody reads what it is for", row.Name)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(access.Roles())), slices.Sorted(maps.Keys(known))); diff != "" {
		t.Error(diff)
	}
	for lower, higher := range map[string]string{access.RoleReader: access.RoleEditor, access.RoleEditor: access.RoleAdmin, access.RoleAuditor: access.RoleAdmin} {
		for _, permission := range permissionsOf(lower) {
			if !slices.Contains(permissionsOf(higher), permission) {
				t.Errorf("the role %s has the permission %s, and the role %s has not", lower, permission, higher)
			}
		}
	}
	for _, role := range access.Roles() {
		for _, nobodys := range []knowledge.Permission{knowledge.InstanceAdmin, knowledge.Public} {
			if slices.Contains(permissionsOf(role), nobodys) {
				t.Errorf("the role %s has the permission %s", role, nobodys)
			}
		}
	}
}

// TestAnAuditorReadsNoText holds the role to what it is for: no document, no question and no
// answer, and nothing to change.
func TestAnAuditorReadsNoText(t *testing.T) {
	t.Parallel()
	closed := []string{"documents.", "imports.", "questions.", "conversations.", "runs.", "webhooks.", "usage."}
	permissions := permissionsOf(access.RoleAuditor)
	for _, permission := range permissions {
		if slices.ContainsFunc(closed, func(start string) bool { return strings.HasPrefix(string(permission), start) }) ||
			strings.HasSuffix(string(permission), ".write") || strings.HasSuffix(string(permission), ".admin") {
			t.Errorf("an auditor has the permission %s", permission)
		}
	}
	for _, needed := range []knowledge.Permission{knowledge.AuditRead, knowledge.HoldsRead, knowledge.ProjectsRead, knowledge.KeysRead} {
		if !slices.Contains(permissions, needed) {
			t.Errorf("an auditor lacks the permission %s", needed)
		}
	}
	i := open(t, access.Config{Secret: jwtSecret})
	token := sign(t, jwt.SigningMethodHS256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = []string{"auditor"} }))
	p := i.principal(t, access.Credentials{Bearer: token})
	if len(p.Tokens()) != 0 || p.Sees("default", []string{"w:default", "u:ann"}) || p.Can(knowledge.ScopeRead) || !p.May(knowledge.AuditRead) {
		t.Errorf("an auditor has the tokens %v and the claims %+v", p.Tokens(), p.Claims())
	}
	token = sign(t, jwt.SigningMethodHS256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = []string{"auditor", "reader"} }))
	if p := i.principal(t, access.Credentials{Bearer: token}); len(p.Tokens()) == 0 || !p.May(knowledge.AuditRead) || !p.May(knowledge.QuestionsAsk) || p.May(knowledge.DocumentsWrite) {
		t.Errorf("an auditor who is a reader too has the claims %+v", p.Claims())
	}
}
