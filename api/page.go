package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/api/openai"
)

// The pages have one style and one script, and load nothing.
var (
	//go:embed home.html
	homeHTML string
	//go:embed docs.html
	docsHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

const contentHTML = "text/html; charset=utf-8"

// pagePolicy lets the pages have their own style and script, and nothing else.
var pagePolicy = "default-src 'none'; style-src 'sha256-" + hashOf(pageCSS) + "'; script-src 'sha256-" + hashOf(pageJS) +
	"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// pages writes the pages that describe the API, and openapi.json.
type pages struct {
	edge   *edge.Edge
	links  Links
	models openai.Models
	views  *views
}

// fillPage fills a template. The data is the fields of the page beside the fields of all pages.
func (p *pages) fillPage(name, text string, functions template.FuncMap, data map[string]any) ([]byte, error) {
	parsed, err := template.New(name).Funcs(functions).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the page %s: %w", name, err)
	}
	data["Info"], data["Style"], data["Script"] = p.edge.OpenAPI().Info, template.CSS(pageCSS), template.JS(pageJS)
	var out bytes.Buffer
	if err := parsed.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("fill the page %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// step is a command of the start page.
type step struct{ Title, Command string }

// homePage names this server and shows programs how to ask it. Browsers get the console.
func (p *pages) homePage() ([]byte, error) {
	steps := []step{{"Read the admin key", "KEY=$(cat cairn-data/admin.key)"}}
	paths := p.edge.OpenAPI().Paths
	for _, op := range []struct {
		title     string
		operation *huma.Operation
	}{
		{"Upload a document", paths["/workspaces/{workspaceId}/projects/{id}/files"].Post},
		{"Ask a question", paths["/workspaces/{workspaceId}/webhooks/query"].Post},
	} {
		command, err := p.curl(op.operation)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{op.title, command})
	}
	return p.fillPage("home", homeHTML, nil, map[string]any{"Operator": p.links.OperatorPage(), "Steps": steps})
}

// section is the operations of one tag on the page.
type section struct {
	Tag, Title string
	Operations []*huma.Operation
}

// sections returns the operations by tag: the operations of the first hour first.
func (p *pages) sections() []section {
	byTag := map[string][]*huma.Operation{}
	for _, path := range slices.Sorted(maps.Keys(p.edge.OpenAPI().Paths)) {
		for _, op := range operationsOf(p.edge.OpenAPI().Paths[path]) {
			tag := strings.Join(op.Tags, ", ")
			byTag[tag] = append(byTag[tag], op)
		}
	}
	first := []string{"openai", "questions", "documents"} // in reverse
	tags := slices.SortedFunc(maps.Keys(byTag), func(a, b string) int {
		return cmp.Or(cmp.Compare(slices.Index(first, b), slices.Index(first, a)), cmp.Compare(a, b))
	})
	var sections []section
	for _, tag := range tags {
		title := strings.ToUpper(tag[:1]) + tag[1:]
		if tag == "openai" {
			title = "OpenAI protocol"
		}
		sections = append(sections, section{tag, title, byTag[tag]})
	}
	return sections
}

// docsPage lists the operations with examples, the codes of errors and the schemas.
func (p *pages) docsPage() ([]byte, error) {
	type schema struct {
		Name   string
		Schema *huma.Schema
	}
	var schemas []schema
	all := p.edge.OpenAPI().Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		schemas = append(schemas, schema{name, all[name]})
	}
	functions := template.FuncMap{"schema": p.schemaText, "curl": p.curl, "answer": p.answerExample, "isJSON": isJSON}
	return p.fillPage("docs", docsHTML, functions, map[string]any{
		"Sections": p.sections(), "Codes": edge.Codes(), "Schemas": schemas,
	})
}

// schemaText shows a schema; one that is a reference, what it refers to.
func (p *pages) schemaText(schema *huma.Schema) (string, error) {
	if schema = p.resolve(schema); schema == nil {
		return "", nil
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	return string(text), err
}

// resolve follows the references of a schema.
func (p *pages) resolve(schema *huma.Schema) *huma.Schema {
	for schema != nil && schema.Ref != "" {
		schema = p.edge.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
