package edge

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// countRequest counts a request to its principal, and to the project that its path or its query
// parameters name. A project that a body names is counted where the body is read. The requests
// of the MCP protocol are not counted: those of its tools are.
func countRequest(r *http.Request, p knowledge.Principal) error {
	if r.URL.Path == "/mcp" {
		return nil
	}
	return quota.Count(r.Context(), p, projectOf(r, p))
}

// projectOf returns the id or the name of the project that a request names outside of its body,
// else the one that the principal is held to, "" = none.
func projectOf(r *http.Request, p knowledge.Principal) string {
	if strings.Contains(r.Pattern, "/projects/{id}") {
		return r.PathValue("id")
	}
	q := r.URL.Query()
	return cmp.Or(q.Get("projectId"), q.Get("project_id"), p.Project())
}
