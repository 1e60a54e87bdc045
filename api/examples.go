package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
)

// bodyExamples are the bodies of requests for which the fields that a schema requires do
// not make a useful example. The file is a document of samples/documents with the
// external id that `cairn ingest samples/documents` gives it, so that every example
// writes to one and the same document.
var bodyExamples = map[string]string{
	"add-document":     `{"name": "Opening hours", "externalId": "notes/opening-hours", "content": {"text": "The service desk is open from 8 to 16."}}`,
	"query":            `{"text": "How many days of holiday are there?"}`,
	"retrieve-context": `{"text": "How many days of holiday are there?"}`,
	"rag-search":       `{"query": "How many days of holiday are there?"}`,
	"save-project":     `{"name": "Service manuals"}`,
	"create-key":       `{"name": "reader", "scopes": ["read"]}`,
	"put-role":         `{"permissions": ["documents.write", "projects.read"]}`,
	"put-member":       `{"roles": ["editor"], "groups": ["legal"]}`,
	"add-connection":   `{"type": "webdav", "options": {"url": "http://cloud.example.com/remote.php/dav/files/ann/", "username": "ann"}, "secret": "THE_APP_PASSWORD"}`,
	"start-import":     `{"source": {"type": "s3", "uri": "s3://company-docs/handbook/", "options": {"anonymous": true}}}`,
	"put-preferences":  `{"rag": {}}`,
	"sign-in":          `{"key": "THE_KEY"}`,
	"put-publication":  `{"visibility": "public", "title": "Service desk", "starters": ["How many days of holiday are there?"]}`,
	"put-limits":       `{"requestsPerMinute": 6000, "tokensPerDay": 5000000}`,

	"add-test-set":      `{"name": "holidays", "items": [{"question": "How many days of holiday are there?", "reference": "30 days.", "expected_documents": ["handbook.md"]}]}`,
	"generate-test-set": `{"count": 10}`,
	"start-evaluation":  `{"test_set_id": "1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11", "sample": 10}`,

	"review-evaluation-item": `{"score": 2}`,

	"create-grant":          `{"subject": {"user": "ann"}, "object": {"tag": "handbook"}, "effect": "deny", "permission": "write", "reason": "until the review"}`,
	"create-hold":           `{"name": "Smith v. Acme", "reason": "notice of 3 May", "filter": {"tags": ["smith"]}}`,
	"lift-hold":             `{"reason": "settled"}`,
	"run-retention":         `{"dry_run": true}`,
	"create-consent":        `{"subject": "ann", "purpose": "training records", "evidence": "form 2026-117"}`,
	"erase-subject":         `{"reason": "request of 3 May"}`,
	"put-secret":            `{"value": "sk-example", "uses": ["header"], "hosts": ["api.example.com"]}`,
	"create-workspace":      `{"id": "acme", "name": "Acme"}`,
	"import-conversation":   `{"external_id": "chat-17", "project_id": "default", "title": "Holidays", "messages": [{"role": "user", "text": "How many days of holiday are there?"}, {"role": "assistant", "text": "30 days."}]}`,
	"patch-document":        `{"tags": ["handbook"]}`,
	"patch-project":         `{"ai": {"retrieval": {"numberOfChunks": 8}}}`,
	"reindex-project":       `{"dry_run": true}`,
	"try-pipeline-step":     `{"step": {"at": "before_prompt", "code": {"language": "python", "source": "print({})"}}, "question": "How many days of holiday are there?"}`,
	"retry-documents":       `{"filter": {"code": "provider_failed"}}`,
	"acknowledge-documents": `{"filter": {"code": "corrupt"}}`,
	"reingest-documents":    `{"filter": {"stale": true}}`,
	"remove-documents":      `{"filter": {"tags": ["old"]}, "dry_run": true}`,
	"steer-run":             `{"text": "Read the manuals of this year only."}`,

	"openai-create-chat-completion": `{"model": "project:default", "messages": [{"role": "user", "content": "How many days of holiday are there?"}]}`,
	"openai-create-response":        `{"model": "project:default", "input": "How many days of holiday are there?"}`,
	"openai-create-embeddings":      `{"model": ` + embeddingModel + `, "input": "How many days of holiday are there?"}`,
	"openai-create-vector-store":    `{"name": "Service manuals"}`,
	"openai-search-vector-store":    `{"query": "How many days of holiday are there?"}`,
}

// scimExamples are the bodies of SCIM requests, which no schema describes.
var scimExamples = map[string]string{
	"scim-create-user":            `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "ann@example.com", "active": true}`,
	"workspace-scim-create-user":  `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "bob@example.com", "active": true}`,
	"scim-replace-user":           `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "ann@example.com", "active": true}`,
	"scim-patch-user":             `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [{"op": "replace", "path": "active", "value": false}]}`,
	"scim-search-users":           `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": "userName eq \"ann@example.com\""}`,
	"scim-create-group":           `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Legal"}`,
	"workspace-scim-create-group": `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Board"}`,
	"scim-replace-group":          `{"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Legal", "members": []}`,
	"scim-patch-group":            `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [{"op": "add", "path": "members", "value": [{"value": "THE_ID"}]}]}`,
	"scim-search-groups":          `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "filter": "displayName eq \"Legal\""}`,
}

// embeddingModel stands for the name of the instance's embedding model.
const embeddingModel = "EMBEDDING_MODEL"

// formExamples are the forms of requests that bring files.
var formExamples = map[string][]string{
	"add-files":          {"files=@samples/documents/handbook.md", "externalId=handbook.md"},
	"add-attachments":    {"files=@samples/documents/handbook.md", "externalId=handbook.md"},
	"openai-create-file": {"file=@samples/documents/handbook.md", "purpose=assistants"},
}

// exampleAddress stands in the pages for the address of the server, and is replaced when they
// are sent.
const exampleAddress = "http://localhost:8080"

// curl returns a request to an operation as a command of a shell in which KEY is an API
// key.
func (p *pages) curl(op *huma.Operation) (string, error) {
	body, err := p.bodyWords(op)
	if err != nil {
		return "", err
	}
	command := "curl"
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || body == nil) {
		command += " -X " + op.Method
	}
	if op.Security == nil || len(op.Security) > 0 {
		command += ` -H "Authorization: Bearer $KEY"`
	}
	words := []string{command}
	words = append(append(words, body...), quoteForShell(exampleAddress+examplePath(op)))
	return strings.Join(words, " \\\n  "), nil
}

// bodyWords returns the arguments of curl for the body of a request.
func (p *pages) bodyWords(op *huma.Operation) ([]string, error) {
	if op.RequestBody == nil {
		return nil, nil
	}
	id := strings.TrimPrefix(op.OperationID, "workspace-")
	if op.RequestBody.Content[edge.SCIMType] != nil {
		text := cmp.Or(scimExamples[op.OperationID], scimExamples[id])
		return []string{"-H 'Content-Type: " + edge.SCIMType + "'", "-d " + quoteForShell(text)}, nil
	}
	if media := op.RequestBody.Content["application/json"]; media != nil {
		text := bodyExamples[id]
		if text == "" {
			body, err := json.Marshal(p.example(media.Schema, "", true, 0))
			if err != nil {
				return nil, fmt.Errorf("make the example of %s: %w", op.OperationID, err)
			}
			text = string(body)
		}
		text = strings.Replace(text, embeddingModel, strconv.Quote(p.models.Embedding.Endpoint().Model), 1)
		return []string{"-H 'Content-Type: application/json'", "-d " + quoteForShell(text)}, nil
	}
	fields := formExamples[id]
	if fields == nil {
		return nil, fmt.Errorf("the form of %s has no example", op.OperationID)
	}
	var words []string
	for _, field := range fields {
		words = append(words, "-F "+field)
	}
	return words, nil
}

func quoteForShell(text string) string {
	if !strings.ContainsAny(text, "\"'{}[]() ?&$") {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var pathParameter = regexp.MustCompile(`(?:([a-z_]+)/)?\{([a-zA-Z_]+)\}`)

// examplePath returns the path of an operation with its parameters, and the parameters of the
// query that are required: the workspace and project that every instance has, else a
// name in capitals. No example removes that project.
func examplePath(op *huma.Operation) string {
	path := pathParameter.ReplaceAllStringFunc(op.Path, func(found string) string {
		parts := pathParameter.FindStringSubmatch(found)
		value := strings.ToUpper(strings.TrimSuffix(parts[2], "_id")) + "_ID"
		switch {
		case parts[2] == "workspaceId", parts[1] == "projects" && op.Method != http.MethodDelete:
			value = "default"
		case parts[2] == "name", parts[2] == "call":
			value = strings.ToUpper(parts[2])
		case parts[2] == "id":
			value = strings.ToUpper(singular(parts[1])) + "_ID"
		case parts[2] == "page":
			value = "1.png"
		case parts[2] == "model":
			value = "project:default"
		}
		return strings.TrimPrefix(parts[1]+"/"+value, "/")
	})
	separator := "?"
	for _, p := range op.Parameters {
		if p.In == "query" && p.Required {
			value := cmp.Or(map[string]string{"id": "DOCUMENT_ID", "runId": "RUN_ID"}[p.Name], strings.ToUpper(p.Name))
			path += separator + p.Name + "=" + value
			separator = "&"
		}
	}
	return path
}

// singular returns the name of one of the things of a path.
func singular(things string) string {
	if stem, found := strings.CutSuffix(things, "ies"); found {
		return stem + "y"
	}
	return strings.TrimSuffix(things, "s")
}

func isJSON(mediaType string) bool { return mediaType == "application/json" }

// answerExample returns an answer with the schema.
func (p *pages) answerExample(schema *huma.Schema) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(p.example(schema, "", false, 0))
	return strings.TrimSpace(out.String()), err
}

// maxExampleDepth bounds the objects inside objects of an example.
const maxExampleDepth = 4

// example returns a value with the schema: with all of its fields, or only with those
// that are required.
func (p *pages) example(schema *huma.Schema, name string, required bool, depth int) any {
	schema = p.resolve(schema)
	if schema == nil || depth > maxExampleDepth {
		return nil
	}
	switch {
	case len(schema.Examples) > 0:
		return schema.Examples[0]
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case len(schema.OneOf) > 0:
		return p.example(schema.OneOf[0], name, required, depth)
	}
	switch schema.Type {
	case huma.TypeObject:
		object := map[string]any{}
		for field, property := range schema.Properties {
			if !required || slices.Contains(schema.Required, field) {
				object[field] = p.example(property, field, required, depth+1)
			}
		}
		return object
	case huma.TypeArray:
		if item := p.example(schema.Items, name, required, depth+1); item != nil {
			return []any{item}
		}
		return []any{}
	case huma.TypeString:
		return exampleText(schema, name)
	case huma.TypeInteger, huma.TypeNumber:
		return 1
	case huma.TypeBoolean:
		return true
	default:
		return map[string]any{}
	}
}

// exampleTexts are values of fields that have the same meaning in every answer.
var exampleTexts = map[string]string{
	"name": "handbook.md", "externalId": "handbook.md", "mediaType": "text/markdown", "language": "eng", "model": "cairn-offline",
	"text": "Everybody has 27 days of holiday.", "answer": "Everybody has 27 days of holiday. [1]", "query": "How many days of holiday are there?",
	"projectId": "default", "workspaceId": "default", "workspace": "default", "project": "default",
}

func exampleText(schema *huma.Schema, name string) string {
	text := exampleTexts[name]
	switch {
	case schema.Format == "date-time":
		return "2026-03-02T09:00:00Z"
	case text != "":
		return text
	case strings.HasSuffix(strings.ToLower(name), "id"):
		return "7d3f2c1e-0a35-4a3e-a3bb-0d6a9a1f2c11"
	case schema.MinLength != nil && *schema.MinLength > 1:
		return strings.Repeat("x", *schema.MinLength)
	default:
		return "…"
	}
}
