package access

import (
	"net/http"
	"slices"
	"strings"
)

// unaudited are the routes whose answers hold no text of documents, questions or answers, and
// that change nothing. Their refusals are written to the audit all the same, and so are
// documents that a handler notes. Every other route is in the audit: a new one need not be
// named here.
func unaudited() []string {
	return []string{
		"GET /", "GET /docs", "GET /healthz", "GET /metrics", "GET /openapi.json", "GET /readyz", "GET /auth/session", "GET /agents/{slug}", "GET /agents/{slug}/avatar", "GET /agents/{slug}/.well-known/agent-card.json", "POST /agents/{slug}/visits",
		"GET /mcp", "POST /mcp", "DELETE /mcp", // the requests of its tools are requests like others
		"GET /documents", "GET /documents/summary", "GET /documents/{id}", "GET /documents/{id}/pages", "GET /documents/{id}/versions", "GET /webhooks/documents",
		"GET /v1/files", "GET /v1/files/{file}", "GET /v1/vector_stores", "GET /v1/vector_stores/{store}", "GET /v1/vector_stores/{store}/files",
		"GET /v1/vector_stores/{store}/files/{file}", "GET /v1/vector_stores/{store}/file_batches/{batch}", "GET /v1/vector_stores/{store}/file_batches/{batch}/files",
		"GET /imports", "GET /imports/{id}", "GET /imports/{id}/failures", "GET /conversations/{id}/attachments", "GET /preferences", "GET /runs",
		"GET /projects", "GET /projects/{id}", "GET /projects/{id}/usage", "GET /projects/{id}/publication", "GET /agents", "GET /agents/{slug}/conversations", "GET /agents/{slug}/conversations/{conversation}/shares", "GET /v1/models", "GET /v1/models/{model}", "GET /usage", "GET /limits", "GET /webhook_deliveries",
		"GET /secrets", "GET /secrets/{name}", "GET /keys", "GET /permissions", "GET /roles", "GET /roles/{name}", "GET /members", "GET /members/{user}",
		"GET /scim/v2/Groups", "GET /scim/v2/Groups/{scim_group}", "GET /scim/v2/ResourceTypes", "GET /scim/v2/ResourceTypes/{type}", "GET /scim/v2/Schemas", "GET /scim/v2/Schemas/{schema}",
		"GET /scim/v2/ServiceProviderConfig", "GET /scim/v2/Users", "GET /scim/v2/Users/{scim_user}",
		"GET /grants", "GET /grants/{id}", "GET /holds", "GET /holds/{id}", "GET /holds/{id}/documents", "GET /consents", "GET /consents/{id}", "GET /connections", "GET /connections/{id}", "GET /syncs", "GET /syncs/{id}", "GET /evaluations",
		"GET /sessions", "GET /workspaces", "GET /machine", "GET /encryption", "GET /audit/checkpoints", "GET /audit/verify",
	}
}

// searches are the routes that are no GET and change nothing.
func searches() []string {
	return []string{"POST /webhooks/retrieve-context", "POST /v1/embeddings", "POST /v1/vector_stores/{store}/search", "POST /codec/decode"}
}

// Audited reports whether each answer of a route is in the audit, by its RouteName, and
// whether the route may change something.
func Audited(route string) (audited, changes bool) {
	reads := strings.HasPrefix(route, http.MethodGet+" ") || slices.Contains(searches(), route)
	return !slices.Contains(unaudited(), route), !reads
}
