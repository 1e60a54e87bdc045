package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/scim"
)

const (
	scimRoot = "/scim/v2"
	// scimBody is the limit of a body: a group of 100,000 members.
	scimBody = 16 << 20
)

// Provisioning holds what identity providers provision by SCIM.
type Provisioning = scim.Store

// scimRoutes holds the routes of SCIM: at the root, where the key says which workspace it is,
// and below each workspace.
type scimRoutes struct {
	edge   *edge.Edge
	server *scim.Server
}

// scimRoute is a route of SCIM.
type scimRoute struct {
	method, id, path, summary string
	lists                     bool // it takes the parameters of a list
}

func (s *scimRoutes) mount(e *edge.Edge) {
	for _, r := range s.routes() {
		for prefix, root := range map[string]string{"": "", "workspace-": "/workspaces/{workspaceId}"} {
			edge.HandleRaw(e, edge.Route{Limit: scimBody, Operation: s.operation(r, prefix, root)}, s.serve)
		}
	}
}

func (s *scimRoutes) routes() []scimRoute {
	routes := []scimRoute{
		{http.MethodGet, "scim-config", "/ServiceProviderConfig", "What this service supports of SCIM", false},
		{http.MethodGet, "scim-list-resource-types", "/ResourceTypes", "List the types of SCIM resources", true},
		{http.MethodGet, "scim-get-resource-type", "/ResourceTypes/{type}", "Read a type of SCIM resources", false},
		{http.MethodGet, "scim-list-schemas", "/Schemas", "List the schemas of SCIM resources", true},
		{http.MethodGet, "scim-get-schema", "/Schemas/{schema}", "Read a schema of SCIM resources", false},
	}
	for name, one := range map[string]string{"Users": "user", "Groups": "group"} {
		path := "/" + name + "/{scim_" + one + "}"
		routes = append(routes, []scimRoute{
			{http.MethodGet, "scim-list-" + one + "s", "/" + name, "List the provisioned " + one + "s", true},
			{http.MethodPost, "scim-create-" + one, "/" + name, "Provision a " + one, false},
			{http.MethodPost, "scim-search-" + one + "s", "/" + name + "/.search", "Search the provisioned " + one + "s", false},
			{http.MethodGet, "scim-get-" + one, path, "Read a provisioned " + one, false},
			{http.MethodPut, "scim-replace-" + one, path, "Replace a provisioned " + one, false},
			{http.MethodPatch, "scim-patch-" + one, path, "Change a provisioned " + one, false},
			{http.MethodDelete, "scim-delete-" + one, path, "Remove a provisioned " + one, false},
		}...)
	}
	return routes
}

// operation describes a route below a root.
func (s *scimRoutes) operation(r scimRoute, prefix, root string) huma.Operation {
	text, status := &huma.Schema{Type: huma.TypeString}, "200"
	content := map[string]*huma.MediaType{edge.SCIMType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}}
	op := huma.Operation{
		OperationID: prefix + r.id, Method: r.method, Path: root + scimRoot + r.path, Summary: r.summary, Tags: []string{"scim"},
		Description: "SCIM 2.0 (RFC 7643, RFC 7644), for identity providers. The key decides which workspace it is.",
	}
	for part := range strings.SplitSeq(op.Path, "/") {
		if strings.HasPrefix(part, "{") {
			op.Parameters = append(op.Parameters, &huma.Param{Name: strings.Trim(part, "{}"), In: "path", Required: true, Schema: text})
		}
	}
	names := []string{"attributes", "excludedAttributes"}
	if r.lists {
		names = append(names, "filter", "startIndex", "count", "sortBy", "sortOrder")
	}
	for _, name := range names {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Schema: text})
	}
	switch r.method {
	case http.MethodPost:
		if !strings.HasSuffix(r.path, "/.search") {
			status = "201"
		}
	case http.MethodDelete:
		op.Responses = map[string]*huma.Response{"204": {Description: "Removed"}}
		return op
	}
	if slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, r.method) {
		op.RequestBody = &huma.RequestBody{Required: true, Content: content}
	}
	op.Responses = map[string]*huma.Response{status: {Description: "The resource, or the list", Content: content}}
	return op
}

func (s *scimRoutes) serve(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	root, path, _ := strings.Cut(r.URL.Path, scimRoot)
	err := s.server.Serve(w, r, scim.Request{Principal: p, Path: path, Base: s.edge.Address(r) + root + scimRoot, Log: edge.RequestLog(r.Context())})
	if err != nil {
		edge.WriteError(w, r, err)
	}
}
