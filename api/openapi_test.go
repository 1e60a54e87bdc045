package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

// TestOpenAPIFile keeps the description in docs/ what the code says.
func TestOpenAPIFile(t *testing.T) {
	t.Parallel()
	got := slices.Concat(open(t).do("GET", "/openapi.json", "", nil).body, []byte("\n"))
	path := filepath.Join("..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/openapi.json is not what the code says; write it with go test ./api -run TestOpenAPIFile -update:\n%s", diff)
	}
}

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	e := open(t)
	got := e.do("GET", "/openapi.json", "", nil)
	description := got.want(200)
	if description["openapi"] != "3.1.0" || got.header.Get("Content-Type") != "application/openapi+json" {
		t.Errorf("openapi %v, %s", description["openapi"], got.header.Get("Content-Type"))
	}
	paths := description["paths"].(map[string]any)
	for _, want := range []string{
		"POST /workspaces", "GET /workspaces", "POST /workspaces/{workspaceId}/keys", "GET /workspaces/{workspaceId}/keys", "DELETE /workspaces/{workspaceId}/keys/{id}",
		"POST /workspaces/{workspaceId}/webhooks/projects", "GET /workspaces/{workspaceId}/projects", "GET /workspaces/{workspaceId}/projects/{id}",
		"PATCH /workspaces/{workspaceId}/projects/{id}", "POST /workspaces/{workspaceId}/projects/{id}/files", "POST /workspaces/{workspaceId}/webhooks/document",
		"DELETE /workspaces/{workspaceId}/webhooks/document", "GET /workspaces/{workspaceId}/webhooks/documents", "GET /workspaces/{workspaceId}/documents",
		"GET /workspaces/{workspaceId}/documents/{id}", "PATCH /workspaces/{workspaceId}/documents/{id}", "DELETE /workspaces/{workspaceId}/documents/{id}",
		"GET /workspaces/{workspaceId}/documents/{id}/content", "GET /workspaces/{workspaceId}/documents/{id}/chunks", "GET /workspaces/{workspaceId}/documents/{id}/versions",
		"POST /workspaces/{workspaceId}/documents/{id}/retry", "POST /workspaces/{workspaceId}/documents/{id}/reingest", "GET /chunks/{chunk_id}",
		"GET /workspaces/{workspaceId}/conversations", "GET /workspaces/{workspaceId}/conversations/{id}", "DELETE /workspaces/{workspaceId}/conversations/{id}",
		"GET /preferences", "PUT /preferences", "GET /workspaces/{workspaceId}/runs", "GET /workspaces/{workspaceId}/runs/{run_id}",
		"POST /workspaces/{workspaceId}/runs/{run_id}/cancel", "GET /runs/{run_id}", "POST /runs/{run_id}/cancel", "GET /runs/{run_id}/events",
		"POST /workspaces/{workspaceId}/webhooks/retrieve-context", "POST /workspaces/{workspaceId}/webhooks/query", "POST /tools/rag_search", "POST /tools/web_search",
		"GET /", "GET /healthz", "GET /readyz", "GET /openapi.json", "GET /docs", "GET /metrics",
	} {
		method, path, _ := strings.Cut(want, " ")
		operations, _ := paths[path].(map[string]any)
		o, ok := operations[strings.ToLower(method)].(map[string]any)
		if !ok {
			t.Errorf("%s is not described", want)
			continue
		}
		encoded, err := json.Marshal(o["responses"].(map[string]any)["default"])
		if err != nil || !strings.Contains(string(encoded), "#/components/schemas/Problem") {
			t.Errorf("%s: errors are described as %s, %v", want, encoded, err)
		}
	}
	schemas := description["components"].(map[string]any)["schemas"].(map[string]any)
	if schemas["ErrorModel"] != nil || schemas["Problem"] == nil {
		t.Error("errors have another shape in the description")
	}
}

func TestDocsPage(t *testing.T) {
	t.Parallel()
	page := readPage(t, "/docs")
	for _, want := range []string{
		"/workspaces/{workspaceId}/webhooks/document", "/tools/rag_search", `id="rate_limited"`, "chunkOverlap",
		`-d &#39;{&#34;text&#34;: &#34;How many days of holiday are there?&#34;}&#39;`, `-F files=@samples/documents/handbook.md`, `-F externalId=handbook.md`,
		`/workspaces/default/documents/DOCUMENT_ID/retry`, `/runs/RUN_ID/events`, `&#34;conversationId&#34;: &#34;`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestHomePage looks at the page that a browser shows of the bare address.
func TestHomePage(t *testing.T) {
	t.Parallel()
	page := readPage(t, "/")
	for _, want := range []string{"<h1>Cairn</h1>", "Version dev", `href="/docs"`, `href="/openapi.json"`, `href="http://operator.test"`, "curl", "/webhooks/query"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// readPage returns a page, which loads nothing and runs the one script that its policy
// names.
func readPage(t *testing.T, path string) string {
	t.Helper()
	e := open(t)
	got := e.do("GET", path, "", nil)
	page := string(got.body)
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", got.status, got.header)
	}
	for _, never := range []string{` src="`, `href="https://`, "<script src", "<link", "@import", "url("} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %s", never)
		}
	}
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	look := sha256.Sum256([]byte(style))
	_, rest, _ = strings.Cut(page, "<script>")
	script, rest, _ := strings.Cut(rest, "</script>")
	sum := sha256.Sum256([]byte(script))
	if policy := got.header.Get("Content-Security-Policy"); script == "" || strings.Contains(rest, "<script") ||
		!strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("the policy %s does not fit the script %s", policy, script)
	}
	if policy := got.header.Get("Content-Security-Policy"); style == "" || strings.Contains(policy, "unsafe") ||
		!strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(look[:])+"'") {
		t.Errorf("the policy %s does not fit the style", policy)
	}
	return page
}

func TestConfigIsRequired(t *testing.T) {
	t.Parallel()
	if _, err := api.New(api.Config{}, api.Deps{}); err == nil {
		t.Error("an edge without dependencies was made")
	}
}
