package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The roles that every workspace has.
const (
	RoleReader  = "reader"
	RoleEditor  = "editor"
	RoleAdmin   = "admin"
	RoleAuditor = "auditor"
)

// Roles returns the roles that every workspace has.
func Roles() []string { return []string{RoleReader, RoleEditor, RoleAdmin, RoleAuditor} }

// Permission is a permission with the roles that have it, and the routes that need it.
type Permission struct {
	Name  knowledge.Permission
	About string
	Roles []string
	// Routes are the routes that need the permission, as RouteName names them. A permission
	// without a route is asked for by handlers, or by what is to come.
	Routes []string
}

// Permissions returns the one table of who may do what: each route of the API stands in
// exactly one row. A request whose principal lacks the row's permission is refused before
// its handler runs.
func Permissions() []Permission {
	everybody, readers := []string{RoleReader, RoleEditor, RoleAdmin, RoleAuditor}, []string{RoleReader, RoleEditor, RoleAdmin}
	editors, admins, auditors := []string{RoleEditor, RoleAdmin}, []string{RoleAdmin}, []string{RoleAdmin, RoleAuditor}
	return []Permission{
		{knowledge.DocumentsRead, "Find, list and open the documents that one may see", readers, []string{
			"GET /chunks/{chunk_id}", "GET /documents", "GET /documents/summary", "GET /documents/{id}", "GET /documents/{id}/chunks",
			"GET /documents/{id}/content", "GET /documents/{id}/pages", "GET /documents/{id}/pages/{page}", "GET /documents/{id}/parsed", "GET /documents/{id}/pii",
			"GET /documents/{id}/versions", "GET /webhooks/documents", "GET /projects/{id}/pii",
			"GET /v1/files/{file}", "GET /v1/files/{file}/content", "GET /v1/vector_stores/{store}/files", "GET /v1/vector_stores/{store}/files/{file}",
			"GET /v1/vector_stores/{store}/file_batches/{batch}", "GET /v1/vector_stores/{store}/file_batches/{batch}/files",
		}},
		{knowledge.DocumentsWrite, "Upload, change, ingest again and remove every document of the project", editors, []string{
			"POST /documents/acknowledge", "POST /documents/reingest", "POST /documents/remove", "POST /documents/retry",
			"PATCH /documents/{id}", "DELETE /documents/{id}", "POST /documents/{id}/reingest", "POST /documents/{id}/retry",
			"POST /projects/{id}/files", "POST /projects/{id}/reindex", "POST /webhooks/document", "DELETE /webhooks/document",
			"POST /conversations/forget", "POST /conversations/{id}/attachments", "DELETE /conversations/{id}/attachments/{document_id}",
			"GET /v1/files", "POST /v1/files", "DELETE /v1/files/{file}", "POST /v1/vector_stores/{store}/files",
			"POST /v1/vector_stores/{store}/files/{file}", "DELETE /v1/vector_stores/{store}/files/{file}", "POST /v1/vector_stores/{store}/file_batches",
		}},
		{knowledge.ImportsWrite, "Start, follow and control imports", editors, []string{
			"GET /imports", "POST /imports", "GET /imports/{id}", "GET /imports/{id}/failures", "POST /imports/{id}/cancel",
			"POST /imports/{id}/pause", "POST /imports/{id}/resume", "POST /imports/{id}/retry_failed",
		}},
		{knowledge.ConnectionsRead, "List connections to services, without their secrets", auditors, []string{"GET /connections", "GET /connections/{id}"}},
		{knowledge.ConnectionsWrite, "Make, change, check and remove connections to services", admins, []string{
			"POST /connections", "PATCH /connections/{id}", "DELETE /connections/{id}", "POST /connections/{id}/check",
		}},
		{knowledge.SyncsRead, "Read syncs and how far they are", editors, []string{"GET /syncs", "GET /syncs/{id}"}},
		{knowledge.SyncsWrite, "Make, change, run, pause and remove syncs", admins, []string{
			"POST /syncs", "PATCH /syncs/{id}", "DELETE /syncs/{id}", "POST /syncs/{id}/run", "POST /syncs/{id}/pause", "POST /syncs/{id}/resume",
		}},
		{knowledge.QuestionsAsk, "Ask questions and search", readers, []string{
			"POST /webhooks/query", "POST /webhooks/retrieve-context", "POST /tools/rag_search", "POST /tools/web_search",
			"POST /v1/chat/completions", "POST /v1/embeddings", "POST /v1/responses", "POST /v1/vector_stores/{store}/search",
			"GET /mcp", "POST /mcp", "DELETE /mcp",
		}},
		{knowledge.ConversationsWrite, "Hold conversations of one's own, and set one's preferences", readers, []string{
			"GET /conversations", "POST /conversations", "POST /conversations/import", "GET /conversations/{id}", "PATCH /conversations/{id}", "DELETE /conversations/{id}",
			"GET /conversations/{id}/attachments", "GET /preferences", "PUT /preferences",
		}},
		{knowledge.RunsRead, "Follow runs, and read the answers to one's own questions", readers, []string{
			"GET /runs", "GET /runs/{run_id}", "GET /runs/{run_id}/events", "GET /runs/{run_id}/feedback", "GET /runs/{run_id}/files/{name}",
			"GET /runs/{run_id}/steps", "GET /websocket", "GET /v1/responses/{response}", "GET /v1/responses/{response}/input_items",
		}},
		{knowledge.RunsWrite, "Control and rate the runs of one's own, and of others with documents.write", readers, []string{
			"POST /runs/{run_id}/calls/{call}", "POST /runs/{run_id}/cancel", "POST /runs/{run_id}/feedback", "POST /runs/{run_id}/messages",
			"POST /runs/{run_id}/pause", "POST /runs/{run_id}/resume", "POST /v1/responses/{response}/cancel",
		}},
		{knowledge.RunsAdmin, "Read the answers to everybody's questions, what readers say of them, and the details of failures", admins, []string{"GET /insights"}},
		{knowledge.EvaluationsRead, "Read test sets, and evaluations with their answers and passages: one's own, and of others with documents.write", editors, []string{
			"GET /test_sets", "GET /test_sets/{test_set}", "GET /evaluations", "GET /evaluations/{evaluation}", "GET /evaluations/{evaluation}/compare/{candidate}",
		}},
		{knowledge.EvaluationsWrite, "Store and make test sets, and start, control and review evaluations", editors, []string{
			"POST /test_sets", "PATCH /test_sets/{test_set}", "DELETE /test_sets/{test_set}", "POST /test_sets/generate", "POST /test_sets/from_feedback",
			"POST /evaluations", "POST /evaluations/{evaluation}/pause", "POST /evaluations/{evaluation}/resume", "POST /evaluations/{evaluation}/cancel",
			"POST /evaluations/{evaluation}/items/{item}/review",
		}},
		{knowledge.ProjectsRead, "Read projects and their settings", everybody, []string{
			"GET /projects", "GET /projects/{id}", "GET /projects/{id}/publication", "GET /projects/{id}/usage", "GET /agents", "GET /v1/models", "GET /v1/models/{model}",
			"GET /v1/vector_stores", "GET /v1/vector_stores/{store}",
		}},
		{knowledge.ProjectsAdmin, "Create, change and remove projects", admins, []string{
			"POST /webhooks/projects", "POST /retention/run", "PATCH /projects/{id}", "DELETE /projects/{id}", "PUT /projects/{id}/publication", "DELETE /projects/{id}/publication", "POST /projects/{id}/pipeline/try",
			"POST /v1/vector_stores", "POST /v1/vector_stores/{store}", "DELETE /v1/vector_stores/{store}",
		}},
		{knowledge.AccessRead, "Ask who sees a document, and why", admins, []string{"GET /access/explain"}},
		{knowledge.UsageRead, "Read what projects, keys and people have used, and the limits of the workspace", admins, []string{"GET /usage", "GET /limits"}},
		{knowledge.WebhooksRead, "Read the deliveries of webhooks", editors, []string{"GET /webhook_deliveries"}},
		{knowledge.WebhooksWrite, "Deliver a webhook again", editors, []string{"POST /webhook_deliveries/{id}/redeliver"}},
		{knowledge.SecretsRead, "List secrets, without their values", auditors, []string{"GET /secrets", "GET /secrets/{name}"}},
		{knowledge.SecretsWrite, "Store and remove secrets", admins, []string{"PUT /secrets/{name}", "DELETE /secrets/{name}"}},
		{knowledge.KeysRead, "List API keys, without their values", auditors, []string{"GET /keys"}},
		{knowledge.KeysWrite, "Create and revoke API keys", admins, []string{"POST /keys", "DELETE /keys/{id}"}},
		{knowledge.PermissionsRead, "List the permissions, and which of them the roles of every workspace have", everybody, []string{"GET /permissions"}},
		{knowledge.RolesRead, "List the roles of the workspace", auditors, []string{"GET /roles", "GET /roles/{name}"}},
		{knowledge.RolesWrite, "Define and remove roles, of permissions that one has oneself", admins, []string{"PUT /roles/{name}", "DELETE /roles/{name}"}},
		{knowledge.MembersRead, "List members", auditors, []string{
			"GET /members", "GET /members/{user}", "GET /scim/v2/Groups", "GET /scim/v2/Groups/{scim_group}", "GET /scim/v2/ResourceTypes", "GET /scim/v2/ResourceTypes/{type}",
			"GET /scim/v2/Schemas", "GET /scim/v2/Schemas/{schema}", "GET /scim/v2/ServiceProviderConfig", "GET /scim/v2/Users", "GET /scim/v2/Users/{scim_user}", "POST /scim/v2/Groups/.search", "POST /scim/v2/Users/.search",
		}},
		{knowledge.MembersWrite, "Add, change and remove members, also by SCIM", admins, []string{
			"PUT /members/{user}", "DELETE /members/{user}",
			"POST /scim/v2/Groups", "PUT /scim/v2/Groups/{scim_group}", "PATCH /scim/v2/Groups/{scim_group}", "DELETE /scim/v2/Groups/{scim_group}",
			"POST /scim/v2/Users", "PUT /scim/v2/Users/{scim_user}", "PATCH /scim/v2/Users/{scim_user}", "DELETE /scim/v2/Users/{scim_user}",
		}},
		{knowledge.SessionsOwn, "List and end the sessions of browsers that signed in with one's own key", everybody, []string{"GET /sessions", "DELETE /sessions/{id}"}},
		{knowledge.SessionsAdmin, "List and end everybody's sessions", admins, nil},
		{knowledge.GrantsRead, "List the grants on documents", auditors, []string{"GET /grants", "GET /grants/{id}"}},
		{knowledge.GrantsWrite, "Add and remove grants on documents", admins, []string{"POST /grants", "DELETE /grants/{id}"}},
		{knowledge.HoldsRead, "Read legal holds", auditors, []string{"GET /holds", "GET /holds/{id}", "GET /holds/{id}/documents"}},
		{knowledge.HoldsWrite, "Place and lift legal holds", admins, []string{"POST /holds", "DELETE /holds/{id}"}},
		{knowledge.ConsentsRead, "Read consents", auditors, []string{"GET /consents", "GET /consents/{id}"}},
		{knowledge.ConsentsWrite, "Record and withdraw consents", admins, []string{"POST /consents", "DELETE /consents/{id}"}},
		{knowledge.SubjectsExport, "Export what a person left", admins, []string{"POST /subjects/{user}/export"}},
		{knowledge.SubjectsErase, "Erase what a person left", admins, []string{"POST /subjects/{user}/erase"}},
		{knowledge.AuditRead, "Read and verify the audit", auditors, []string{"GET /audit", "GET /audit/checkpoints", "GET /audit/verify"}},
		{knowledge.WorkspacesRead, "List one's workspaces", everybody, []string{"GET /workspaces"}},
		{knowledge.InstanceAdmin, "Create and limit workspaces, check the machine, rotate the keys of encryption and decrypt histories: the instance's admin key alone", nil, []string{
			"POST /workspaces", "PUT /limits", "GET /machine", "GET /encryption", "POST /encryption/rotate", "POST /codec/decode",
		}},
		{knowledge.Public, "Needs no credentials, or a visitor's of a published project", nil, []string{
			"GET /", "GET /docs", "GET /healthz", "GET /metrics", "GET /openapi.json", "GET /readyz",
			"GET /auth/callback", "GET /auth/login", "GET /auth/session", "POST /auth/session", "DELETE /auth/session",
			"GET /agents/{slug}", "GET /agents/{slug}/avatar", "GET /agents/{slug}/.well-known/agent-card.json", "POST /agents/{slug}/a2a", "POST /agents/{slug}/visits", "POST /agents/{slug}/questions", "GET /agents/{slug}/conversations",
			"GET /agents/{slug}/conversations/{conversation}", "DELETE /agents/{slug}/conversations/{conversation}", "GET /agents/{slug}/chunks/{chunk_id}",
			"GET /agents/{slug}/conversations/{conversation}/shares", "POST /agents/{slug}/conversations/{conversation}/shares",
			"DELETE /agents/{slug}/conversations/{conversation}/shares/{share}", "GET /agents/{slug}/shared/{share}",
			"GET /agents/{slug}/runs/{run_id}/events", "POST /agents/{slug}/runs/{run_id}/cancel", "POST /agents/{slug}/runs/{run_id}/feedback",
		}},
	}
}

// RouteName returns the name of a route in the table: its method and its path. Routes of a
// workspace stand there without the workspace, and so do the routes of the OpenAI protocol.
func RouteName(method, path string) string {
	if inside, ok := strings.CutPrefix(path, "/workspaces/{workspaceId}"); ok {
		path = inside
	}
	if protocol, ok := strings.CutPrefix(path, "/webhooks/v1/"); ok {
		path = "/v1/" + protocol
	}
	return method + " " + path
}

// Needs returns the permission that each route needs, by its RouteName.
func Needs() map[string]knowledge.Permission {
	needs := map[string]knowledge.Permission{}
	for _, row := range Permissions() {
		for _, route := range row.Routes {
			needs[route] = row.Name
		}
	}
	return needs
}

// Check refuses a principal that lacks a permission: CodeForbidden.
func Check(p knowledge.Principal, needed knowledge.Permission) error {
	if needed == knowledge.Public || p.May(needed) {
		return nil
	}
	if needed == knowledge.InstanceAdmin {
		return knowledge.Errorf(knowledge.CodeForbidden, "this needs the instance's admin key")
	}
	for _, row := range Permissions() {
		if row.Name == needed {
			return knowledge.Errorf(knowledge.CodeForbidden, "this needs the permission %s (%s): ask for a key or a role that has it", needed, hadBy(row.Roles))
		}
	}
	return knowledge.Errorf(knowledge.CodeForbidden, "nobody has the permission for this")
}

// hadBy names roles.
func hadBy(roles []string) string {
	if len(roles) == 1 {
		return "of the role " + roles[0]
	}
	return fmt.Sprintf("of the roles %s and %s", strings.Join(roles[:len(roles)-1], ", "), roles[len(roles)-1])
}

// rolesWithin returns the roles whose permissions are all among these. An administrator is not
// called an auditor besides.
func rolesWithin(permissions []knowledge.Permission) []string {
	roles, rights := []string{}, newRights()
	for _, role := range Roles() {
		if within(rights[role], permissions) && (role != RoleAuditor || !slices.Contains(roles, RoleAdmin)) {
			roles = append(roles, role)
		}
	}
	return roles
}

// roleOf maps the scopes of keys to roles.
func roleOf(scope knowledge.Scope) string {
	switch scope {
	case knowledge.ScopeRead:
		return RoleReader
	case knowledge.ScopeWrite:
		return RoleEditor
	case knowledge.ScopeAdmin:
		return RoleAdmin
	}
	return ""
}

// rights are the permissions of the roles that every workspace has. Its slices are never
// changed.
type rights map[string][]knowledge.Permission

func newRights() rights {
	of := rights{}
	for _, row := range Permissions() {
		for _, role := range row.Roles {
			of[role] = append(of[role], row.Name)
		}
	}
	return of
}

// ofScopes returns the permissions of the scopes of a key.
func (r rights) ofScopes(scopes []knowledge.Scope) []knowledge.Permission {
	var all []knowledge.Permission
	for _, scope := range scopes {
		all = union(all, r[roleOf(scope)])
	}
	return all
}

// grant returns claims with permissions, and the scopes and tokens that go with them.
func (r rights) grant(c knowledge.Claims, permissions []knowledge.Permission) knowledge.Claims {
	c.Permissions, c.Scopes = permissions, r.scopesOf(permissions)
	c.NoDocuments = !slices.Contains(permissions, knowledge.DocumentsRead)
	return c
}

// scopesOf returns the scopes that permissions stand for where package store asks for one.
func (r rights) scopesOf(permissions []knowledge.Permission) []knowledge.Scope {
	var scopes []knowledge.Scope
	if slices.Contains(permissions, knowledge.DocumentsRead) {
		scopes = append(scopes, knowledge.ScopeRead)
	}
	if slices.Contains(permissions, knowledge.DocumentsWrite) {
		scopes = append(scopes, knowledge.ScopeWrite)
	}
	if within(r[RoleAdmin], permissions) {
		scopes = append(scopes, knowledge.ScopeAdmin)
	}
	return scopes
}

// union returns the permissions of a, and those of b that a lacks.
func union(a, b []knowledge.Permission) []knowledge.Permission {
	switch {
	case len(a) == 0:
		return b
	case within(b, a):
		return a
	}
	all := slices.Clone(a)
	for _, p := range b {
		if !slices.Contains(a, p) {
			all = append(all, p)
		}
	}
	return all
}

// within reports whether all permissions of a are in b.
func within(a, b []knowledge.Permission) bool {
	return !slices.ContainsFunc(a, func(p knowledge.Permission) bool { return !slices.Contains(b, p) })
}

// both returns the permissions that are in a and in b.
func both(a, b []knowledge.Permission) []knowledge.Permission {
	if within(a, b) {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(p knowledge.Permission) bool { return !slices.Contains(b, p) })
}

// BuiltIn returns the permissions of the roles that every workspace has.
func BuiltIn() map[string][]knowledge.Permission { return newRights() }

// Grantable returns the permissions that roles and keys can have.
func Grantable() []knowledge.Permission { return newRights()[RoleAdmin] }
