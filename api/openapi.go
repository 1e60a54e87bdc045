package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/view"
)

// mount serves the description of all routes that are registered by now, as
// openapi.json and as pages for people.
func (p *pages) mount(e *edge.Edge) {
	p.describeRoute("/", "home", "Start page", contentHTML, p.homePage)
	p.describeRoute("/openapi.json", "openapi", "API description (OpenAPI 3.1)", "application/openapi+json", func() ([]byte, error) {
		return json.MarshalIndent(e.OpenAPI(), "", "  ")
	})
	p.describeRoute("/docs", "docs", "API reference as a web page", contentHTML, p.docsPage)
	p.tidyDescription()
}

// describeRoute registers a route that serves a page. The page is written at its first
// request: together they hold 3 MB, and few servers show them.
func (p *pages) describeRoute(path, id, summary, contentType string, write func() ([]byte, error)) {
	written := sync.OnceValues(write)
	edge.HandleRaw(p.edge, edge.Route{Public: true, Operation: huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"},
		Responses: map[string]*huma.Response{"200": {Description: "OK"}},
	}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
		page, err := written()
		if err != nil {
			edge.WriteError(w, r, fmt.Errorf("write the page %s: %w", path, err))
			return
		}
		w.Header().Set("Content-Type", contentType)
		if contentType == contentHTML {
			w.Header().Set("Content-Security-Policy", pagePolicy)
			page = bytes.ReplaceAll(page, []byte(exampleAddress), []byte(p.exampleAddress(r)))
		}
		_, _ = w.Write(page)
	})
}

// plainHost is a host that can stand in a page and in a command of a shell as it is.
var plainHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]+)?$`)

// exampleAddress returns the address at which a reader of the pages reaches the API, so that
// their examples can be run as they are.
func (p *pages) exampleAddress(r *http.Request) string {
	if p.views.publicURL == "" && !plainHost.MatchString(r.Host) {
		return exampleAddress
	}
	return html.EscapeString(p.views.address(r))
}

// tidyDescription adds to every operation our errors and the parameters that guard
// reads, and removes huma's errors.
func (p *pages) tidyDescription() {
	oapi := p.edge.OpenAPI()
	for path, item := range oapi.Paths {
		for _, op := range operationsOf(item) {
			describeGuard(op, path)
			if op.RequestBody != nil {
				for _, media := range op.RequestBody.Content {
					allowNull(oapi.Components.Schemas, media.Schema, map[*huma.Schema]bool{})
				}
			}
			op.Responses["default"] = edge.ErrorResponseOf(path)
			delete(op.Responses, "422")
			delete(op.Responses, "500")
		}
	}
	schemas := oapi.Components.Schemas.Map()
	for _, name := range []string{"Document", "DocumentEvent", "RunView", "VersionView", "Import", "EvaluationView", "EvaluatedView", "SyncRun", "ConnectionCheck"} {
		orNone(schemas[name], "error")
	}
	orNone(schemas["SyncView"], "last_run")
	for _, name := range []string{"KeyView", "MemberView", "OwnedUsage"} {
		orNone(schemas[name], "limits")
	}
	orNone(schemas["HoldView"], "filter")
	orNone(schemas["Report"], "broken")
	results := slices.Concat([]reflect.Type{reflect.TypeFor[view.Document](), reflect.TypeFor[removedEvent]()}, importEvents["importUpdate"], []reflect.Type{reflect.TypeFor[knowledge.ReindexProgress](), reflect.TypeFor[knowledge.EvaluationProgress]()})
	schemas["EndedEvent"].Properties["result"] = eventData(oapi.Components.Schemas, results)
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
}

// orNone lets a property be null that refers to an object, which huma has no
// tag for.
func orNone(schema *huma.Schema, property string) {
	object := *schema.Properties[property]
	schema.Properties[property] = &huma.Schema{
		OneOf: []*huma.Schema{{Ref: object.Ref}, {Type: "null"}}, Description: object.Description,
	}
}

// allowNull describes that a field which may be left out may be null as well.
func allowNull(registry huma.Registry, schema *huma.Schema, seen map[*huma.Schema]bool) {
	if schema != nil && schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	if schema == nil || seen[schema] {
		return
	}
	seen[schema] = true
	allowNull(registry, schema.Items, seen)
	for name, property := range schema.Properties {
		allowNull(registry, property, seen)
		if slices.Contains(schema.Required, name) {
			continue
		}
		if property.Ref != "" {
			property = registry.SchemaFromRef(property.Ref)
		}
		if property.Enum != nil && !property.Nullable {
			property.Enum = append(slices.Clone(property.Enum), nil)
		}
		property.Nullable = property.Type != "" // without a type it may be anything
	}
}

// describeGuard adds the parameters that guard reads.
func describeGuard(op *huma.Operation, path string) {
	add := func(p huma.Param) {
		known := func(q *huma.Param) bool { return q.Name == p.Name && q.In == p.In }
		if !slices.ContainsFunc(op.Parameters, known) {
			p.Schema = &huma.Schema{Type: huma.TypeString}
			op.Parameters = append(op.Parameters, &p)
		}
	}
	open := op.Security != nil && len(op.Security) == 0
	switch {
	case strings.Contains(path, "{workspaceId}"):
		add(huma.Param{Name: "workspaceId", In: "path", Required: true, Description: "The workspace"})
	case !open:
		add(huma.Param{Name: edge.WorkspaceHeader, In: "header", Description: "For the instance's admin key: the workspace. Default: default"})
	}
	if op.Method == http.MethodPost {
		add(huma.Param{Name: "Idempotency-Key", In: "header", Description: "The same request with the same key within 24 hours gets the same answer, with the header Idempotent-Replayed"})
	}
}

func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Put, item.Post, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

// schemaOf registers a type and returns a reference to its schema.
func schemaOf[T any](registry huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	return registry.Schema(t, true, t.Name())
}
