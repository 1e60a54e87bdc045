package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// permissionTable is what GET permissions and openapi.json say of who may do what.
type permissionTable struct {
	roles  map[string][]string // permissions
	routes []neededRoute
}

// neededRoute is a route with the permission that it needs.
type neededRoute struct{ method, path, permission string }

// caller is somebody with a role, somewhere.
type caller struct {
	role, place string
	permissions []string
	key         string
	workspace   string // that its key is of
}

// has reports whether the caller's role has a permission.
func (c caller) has(permission string) bool {
	return permission == "public" || slices.Contains(c.permissions, permission)
}

// The places in which a caller has its role.
const (
	wholeWorkspace = "the whole workspace"
	ownProject     = "the project of the things"
	otherProject   = "another project"
	otherWorkspace = "another workspace"
)

// TestRoleMatrix requests each route of openapi.json with each role in each place. A role that
// the table of permissions lets in gets past the router everywhere, and another one nowhere: its
// refusal names the permission. Then it opens a document, which only readers of its project find.
func TestRoleMatrix(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	things := s.things(t, m)
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "second"}, nil); status >= 300 {
		t.Fatalf("project second: status %d", status)
	}
	s.otherKey(t)
	controls := s.controls(t)
	table := s.permissions(t)
	table.roles["librarian"] = []string{"documents.read", "members.read", "projects.read", "sessions.own"}
	for _, workspace := range []string{"default", "other"} {
		if status := s.call(t, "PUT", "/workspaces/"+workspace+"/roles/librarian", map[string]any{"permissions": table.roles["librarian"]}, nil); status != http.StatusOK {
			t.Fatalf("role librarian: status %d", status)
		}
	}
	for role := range table.roles {
		for _, place := range []string{wholeWorkspace, ownProject, otherProject, otherWorkspace} {
			c := s.caller(t, table, role, place, things["project"])
			t.Run(role+" of "+place, func(t *testing.T) {
				for _, r := range table.routes {
					s.wantCell(t, c, r, things.absent())
				}
				s.wantDocument(t, c, things, controls[place])
				s.wantThings(t, c, things)
			})
		}
	}
}

// controls publishes the documents that a caller still gets who finds none of the others, by the
// place of the caller.
func (s *server) controls(t *testing.T) map[string]string {
	t.Helper()
	const other = "/workspaces/other"
	if status := s.call(t, "POST", other+"/webhooks/projects", map[string]any{"slug": "theirs"}, nil); status >= 300 {
		t.Fatalf("project theirs: status %d", status)
	}
	var taken accepted
	body := map[string]any{"name": "tide", "content": map[string]string{"text": "The tide turns at noon."}}
	if status := s.call(t, "POST", other+"/webhooks/document?projectId=theirs", body, &taken); status != http.StatusAccepted {
		t.Fatalf("document of the other workspace: status %d", status)
	}
	await(t, time.Minute, "the document of the other workspace is published", func(context.Context) error {
		var d struct{ Status string }
		if status := s.call(t, "GET", other+"/documents/"+taken.ID, nil, &d); status != http.StatusOK || d.Status != "published" {
			return fmt.Errorf("status %d, %s", status, d.Status)
		}
		return nil
	})
	return map[string]string{otherProject: s.publishIn(t, "second", "tide", "The tide turns at noon.", nil), otherWorkspace: taken.ID}
}

// permissions returns the table of permissions.
func (s *server) permissions(t *testing.T) permissionTable {
	t.Helper()
	var listed struct{ Roles map[string][]string }
	if status := s.call(t, "GET", "/workspaces/default/permissions", nil, &listed); status != http.StatusOK || len(listed.Roles) != 4 {
		t.Fatalf("permissions: status %d, roles %v", status, listed.Roles)
	}
	var description struct {
		Paths map[string]map[string]struct {
			Permission string `json:"x-permission"`
		}
	}
	if status := s.call(t, "GET", "/openapi.json", nil, &description); status != http.StatusOK {
		t.Fatalf("openapi.json: status %d", status)
	}
	table := permissionTable{roles: listed.Roles}
	for path, methods := range description.Paths {
		for method, operation := range methods {
			if operation.Permission == "" {
				t.Errorf("%s %s has no permission", method, path)
			}
			table.routes = append(table.routes, neededRoute{strings.ToUpper(method), path, operation.Permission})
		}
	}
	if len(table.routes) < 230 {
		t.Fatalf("there are %d routes", len(table.routes))
	}
	return table
}

// caller makes a key with a role in a place.
func (s *server) caller(t *testing.T, table permissionTable, role, place, project string) caller {
	t.Helper()
	c := caller{role: role, place: place, permissions: table.roles[role], workspace: "default"}
	body := map[string]any{"name": role + " of " + place, "role": role}
	switch place {
	case ownProject:
		body["project_id"] = project
	case otherProject:
		body["project_id"] = "second"
	case otherWorkspace:
		c.workspace = "other"
	}
	var made struct{ Key, Role string }
	if status := s.call(t, "POST", "/workspaces/"+c.workspace+"/keys", body, &made); status != http.StatusCreated || made.Role != role {
		t.Fatalf("key of %s of %s: status %d, role %q", role, place, status, made.Role)
	}
	c.key = made.Key
	return c
}

// parameter is a parameter in the path of a route.
var parameter = regexp.MustCompile(`\{[a-zA-Z_]+\}`)

// wantCell requests a route in the caller's own workspace and in workspace default, for things
// that are not there, with a body that asks for nothing.
func (s *server) wantCell(t *testing.T, c caller, r neededRoute, absent things) {
	t.Helper()
	for _, workspace := range slices.Compact([]string{c.workspace, "default"}) {
		path := strings.ReplaceAll(r.path, "{workspaceId}", workspace)
		path = parameter.ReplaceAllString(absent.in(path), "00000000-0000-4000-8000-000000000000")
		mediaType, body := "", []byte(nil)
		if r.method != http.MethodGet && r.method != http.MethodDelete {
			mediaType, body = "application/json", []byte(`{}`)
		}
		res, answer := s.raw(t, r.method, path, mediaType, body, "Authorization", "Bearer "+c.key)
		refusal := fmt.Sprintf("this needs the permission %s ", r.permission)
		if r.permission == "instance.admin" {
			refusal = "this needs the instance's admin key"
		}
		isRefused := res.StatusCode == http.StatusForbidden && strings.Contains(string(answer), refusal)
		isElsewhere := workspace != c.workspace && path != r.path && strings.Contains(r.path, "{workspaceId}")
		switch {
		case isElsewhere:
			if res.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s in %s: status %d, want 404: %.300s", r.method, r.path, workspace, res.StatusCode, answer)
			}
		case isRefused == c.has(r.permission):
			t.Errorf("%s %s in %s: status %d, but the role has the permission %s: %t: %.300s", r.method, r.path, workspace, res.StatusCode, r.permission, c.has(r.permission), answer)
		case c.has(r.permission) && !s.letsIn(res.StatusCode, c, r):
			t.Errorf("%s %s in %s: status %d: %.300s", r.method, r.path, workspace, res.StatusCode, answer)
		}
	}
}

// letsIn reports whether a status is one of a route that was served to somebody who may use it.
func (s *server) letsIn(status int, c caller, r neededRoute) bool {
	if status == http.StatusForbidden {
		return c.isRefusedByHandler(r)
	}
	return status < 300 || slices.Contains([]int{400, 404, 409, 415, 422, 503}, status) || r.path == "/auth/session"
}

// isRefusedByHandler reports whether a handler refuses somebody whom the router lets in: roles,
// members, the audit, consents, people, connections, syncs, new projects and retention are of the whole workspace, and a run that
// is not one's own needs documents.write.
func (c caller) isRefusedByHandler(r neededRoute) bool {
	newProject := r.method == http.MethodPost && (strings.HasSuffix(r.path, "/webhooks/projects") || strings.HasSuffix(r.path, "/v1/vector_stores") || strings.HasSuffix(r.path, "/retention/run"))
	ofWorkspace := newProject || r.permission == "syncs.write" && !strings.HasSuffix(r.path, "/run") ||
		slices.ContainsFunc([]string{"members.", "roles.", "audit.", "connections.", "consents.", "subjects."}, func(group string) bool { return strings.HasPrefix(r.permission, group) })
	if ofWorkspace && (c.place == ownProject || c.place == otherProject) {
		return true
	}
	return !c.has("documents.write") && (strings.HasSuffix(r.path, "/{run_id}/pause") || strings.HasSuffix(r.path, "/{run_id}/resume"))
}

// wantDocument opens a document of workspace default in all ways. Every role has a control that
// it gets: its projects, and the document of its own place if it may read any.
func (s *server) wantDocument(t *testing.T, c caller, things things, control string) {
	t.Helper()
	authorization := []string{"Authorization", "Bearer " + c.key}
	var projects struct{ Data []struct{ ID string } }
	if status := s.call(t, "GET", "/workspaces/"+c.workspace+"/projects", nil, &projects, authorization...); status != http.StatusOK || len(projects.Data) == 0 {
		t.Errorf("its own projects: status %d, %v", status, projects.Data)
	}
	if control != "" && c.has("documents.read") {
		if res, answer := s.raw(t, "GET", "/workspaces/"+c.workspace+"/documents/"+control+"/content", "", nil, authorization...); !strings.Contains(string(answer), "The tide turns at noon.") {
			t.Errorf("the document of its place: status %d, %.300s", res.StatusCode, answer)
		}
	}
	want := http.StatusOK
	switch {
	case !c.has("documents.read"):
		want = http.StatusForbidden
	case c.place == otherProject || c.place == otherWorkspace:
		want = http.StatusNotFound
	}
	for _, path := range []string{"/documents/{document}", "/documents/{document}/content", "/documents/{document}/chunks", "/documents/{document}/parsed"} {
		res, answer := s.raw(t, "GET", things.in("/workspaces/"+c.workspace+path), "", nil, authorization...)
		if res.StatusCode != want {
			t.Errorf("%s: status %d, want %d: %.300s", path, res.StatusCode, want, answer)
		}
		if want != http.StatusOK && strings.Contains(string(answer), "lighthouse") {
			t.Errorf("%s: the refusal has the text of the document: %s", path, answer)
		}
	}
	if !c.has("questions.ask") {
		return
	}
	var found struct{ Chunks []json.RawMessage }
	body := map[string]any{"text": "Who cleans the lamp of the lighthouse?"}
	status := s.call(t, "POST", "/workspaces/"+c.workspace+"/webhooks/retrieve-context", body, &found, authorization...)
	isFound := slices.ContainsFunc(found.Chunks, func(chunk json.RawMessage) bool { return strings.Contains(string(chunk), "lighthouse") })
	if status != http.StatusOK || len(found.Chunks) == 0 || isFound != (want == http.StatusOK) {
		t.Errorf("a search: status %d, %s", status, found.Chunks)
	}
}
