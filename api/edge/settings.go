package edge

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// newSchemas returns an empty registry of schemas. Most types of the vocabulary are described
// by their tags; it knows the others.
func newSchemas() huma.Registry {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[knowledge.Box](), reflect.TypeFor[[4]float64]())
	registry.RegisterTypeAlias(reflect.TypeFor[knowledge.CustomTools](), reflect.TypeFor[customTools]())
	return registry
}

// customTools describes knowledge.CustomTools. In a change, null removes a tool.
type customTools knowledge.CustomTools

// Schema implements huma.SchemaProvider.
func (customTools) Schema(r huma.Registry) *huma.Schema {
	one := *r.Schema(reflect.TypeFor[knowledge.CustomTool](), false, "")
	one.Nullable = true
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &one}
}
