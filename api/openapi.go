package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed docs.html
var docsHTML string

// describe serves the description of all routes that are registered by now, as
// openapi.json and as a page for people.
func (s *Server) describe() error {
	get := func(path, id, summary string, h http.HandlerFunc) {
		edge.HandleRaw(s.edge, edge.Route{Public: true, Operation: huma.Operation{
			OperationID: id, Method: http.MethodGet, Path: path, Summary: summary, Tags: []string{"server"},
			Responses: map[string]*huma.Response{"200": {Description: "OK"}},
		}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) { h(w, r) })
	}
	var description, page []byte
	get("/openapi.json", "openapi", "This description", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(description)
	})
	get("/docs", "docs", "This description as a page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		_, _ = w.Write(page)
	})
	s.tidyDescription()
	var err error
	if description, err = json.MarshalIndent(s.edge.OpenAPI(), "", "  "); err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	page, err = s.docsPage()
	return err
}

// tidyDescription adds to every operation our errors and the parameters that guard
// reads, and removes huma's errors.
func (s *Server) tidyDescription() {
	oapi := s.edge.OpenAPI()
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
	for _, name := range []string{"Document", "RunView", "VersionView", "Import"} {
		orNone(schemas[name], "error")
	}
	results := slices.Concat(documentEvents["documentUpdate"], importEvents["importUpdate"], []reflect.Type{reflect.TypeFor[knowledge.ReindexProgress]()})
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

// section is the operations of one tag on the page.
type section struct {
	Name       string
	Operations []*huma.Operation
}

// docsPage lists the operations, the codes of errors and the schemas.
func (s *Server) docsPage() ([]byte, error) {
	byTag := map[string][]*huma.Operation{}
	for _, path := range slices.Sorted(maps.Keys(s.edge.OpenAPI().Paths)) {
		for _, op := range operationsOf(s.edge.OpenAPI().Paths[path]) {
			tag := strings.Join(op.Tags, ", ")
			byTag[tag] = append(byTag[tag], op)
		}
	}
	var sections []section
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		sections = append(sections, section{tag, byTag[tag]})
	}
	type schema struct {
		Name   string
		Schema *huma.Schema
	}
	var schemas []schema
	all := s.edge.OpenAPI().Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		schemas = append(schemas, schema{name, all[name]})
	}
	page, err := template.New("docs").Funcs(template.FuncMap{"schema": s.schemaText}).Parse(docsHTML)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	var out bytes.Buffer
	err = page.Execute(&out, map[string]any{
		"Info": s.edge.OpenAPI().Info, "Sections": sections, "Codes": edge.Codes(), "Schemas": schemas,
	})
	if err != nil {
		return nil, fmt.Errorf("fill the page: %w", err)
	}
	return out.Bytes(), nil
}

// schemaText shows a schema; one that is a reference, what it refers to.
func (s *Server) schemaText(schema *huma.Schema) (string, error) {
	if schema == nil {
		return "", nil
	}
	for schema.Ref != "" {
		schema = s.edge.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	return string(text), err
}

// schemaOf registers a type and returns a reference to its schema.
func schemaOf[T any](registry huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	return registry.Schema(t, true, t.Name())
}
