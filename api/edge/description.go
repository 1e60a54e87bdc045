package edge

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// problemSchema is where the schema of errors stands.
const problemSchema = "#/components/schemas/Problem"

// newAPI returns the huma API without routes. huma serves neither its description
// nor its page: that page loads scripts from elsewhere.
func newAPI(version string, adapter huma.Adapter) huma.API {
	strictNames()
	registry := newSchemas()
	registry.Schema(reflect.TypeFor[Problem](), true, "")
	registry.Schema(reflect.TypeFor[OpenAIError](), true, "")
	registry.Schema(reflect.TypeFor[SCIMError](), true, "")
	api := huma.NewAPI(huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Cairn", Version: version,
				Description: "Upload documents and ask questions; answers cite their sources. Responses that start a run have its id in the header Cairn-Run-Id, and in eventsUrl or the header Cairn-Events-Url the URL of its events, which needs no key for an hour.",
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"key":     {Type: "apiKey", In: "header", Name: keyHeader, Description: "An API key"},
					"bearer":  {Type: "http", Scheme: "bearer", Description: "An API key or a JWT"},
					"session": {Type: "apiKey", In: "cookie", Name: SessionCookie, Description: "A browser that has signed in (POST /auth/session). A request that changes something has to come from a page of Cairn itself"},
				},
			},
			Security: []map[string][]string{{"key": {}}, {"bearer": {}}, {"session": {}}},
		},
		Formats: map[string]huma.Format{
			"application/json": strictJSON(), "json": strictJSON(),
			"application/x-www-form-urlencoded": strictJSON(), // so curl -d calls what it sends
		},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{reshape},
	}, adapter)
	return api
}

// ErrorResponse describes the errors that every operation can answer with.
func ErrorResponse() *huma.Response {
	return &huma.Response{
		Description: "Error",
		Content:     map[string]*huma.MediaType{problemType: {Schema: &huma.Schema{Ref: problemSchema}}},
	}
}

// CodeKind is a code of errors as a page shows it.
type CodeKind struct {
	Code   knowledge.Code
	Status int
	Title  string
}

// Codes returns the codes of errors, sorted.
func Codes() []CodeKind {
	var codes []CodeKind
	for _, c := range slices.Sorted(maps.Keys(kinds)) {
		codes = append(codes, CodeKind{c, kinds[c].status, kinds[c].title})
	}
	return codes
}
