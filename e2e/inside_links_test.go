package e2e_test

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// answer answers the requests to the outside that are not redirected: a page that links
// inside, and an MCP server of the older transport that names an address inside.
func (in *inside) answer(w http.ResponseWriter, r *http.Request) bool {
	switch r.URL.Path {
	case "/links":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, in.page())
	case "/robots.txt":
		_, _ = fmt.Fprintf(w, "Sitemap: http://%s/sitemap.xml\n", in.forms["loopback"])
	case "/sse":
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", r.URL.Query().Get("to"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		return false
	}
	return true
}

// page returns a page whose elements have the addresses inside.
func (in *inside) page() string {
	var b strings.Builder
	b.WriteString("<html><head><title>Links</title>")
	for _, address := range in.addresses() {
		at := html.EscapeString(address)
		fmt.Fprintf(&b, `<link rel="stylesheet" href="%[1]s"><link rel="canonical" href="%[1]s"><script src="%[1]s"></script>`, at)
	}
	b.WriteString("</head><body><main><h1>Links</h1><p>The page tells of the tide and of the keeper, in words of its own.</p>")
	for _, address := range in.addresses() {
		at := html.EscapeString(address)
		fmt.Fprintf(&b, `<a href="%[1]s">more</a><img src="%[1]s" alt="a picture"><iframe src="%[1]s"></iframe><object data="%[1]s"></object>`, at)
	}
	return b.String() + "</main></body></html>"
}

// crawlLinks crawls the page that links inside, whose robots.txt names a sitemap there.
func (in *inside) crawlLinks(t *testing.T, s *server) {
	t.Helper()
	i := s.runImport(t, client.NewImport{Source: client.ImportSource{Type: "crawl", URI: in.outside.URL + "/links", Options: map[string]any{"delay_ms": 1, "max_pages": 20}}})
	if i.Status != "completed" || i.Published == 0 {
		t.Errorf("the crawl is %s with %+v, %+v", i.Status, countsOf(i), i.Error)
	}
}

// uploadLinks uploads documents whose pictures are inside. Those that LibreOffice reads are
// tested with it.
func (in *inside) uploadLinks(t *testing.T, s *server) {
	t.Helper()
	markdown := "# Links\n\nThe tide and the keeper.\n\n"
	for _, address := range in.addresses() {
		markdown += "![a picture](" + address + ")\n"
	}
	for name, content := range map[string]string{"links.html": in.page(), "links.md": markdown} {
		body := map[string]any{
			"name": name, "externalId": name, "content": map[string]any{"base64": base64.StdEncoding.EncodeToString([]byte(content))},
		}
		var d client.Document
		if status := s.call(t, "POST", webhooks+"/document?projectId=default&wait=true", body, &d); status != http.StatusOK || d.Status != "published" {
			t.Errorf("%s: status %d, %s, %+v", name, status, d.Status, d.Error)
		}
	}
}

// respond names files and pictures of a response by their addresses.
func (in *inside) respond(t *testing.T, s *server) {
	t.Helper()
	for _, address := range in.some() {
		content := []map[string]any{{"type": "input_text", "text": "Why?"}, {"type": "input_file", "file_url": address}, {"type": "input_image", "image_url": address}}
		body := map[string]any{"model": "project:default", "input": []map[string]any{{"role": "user", "content": content}}}
		if status := s.call(t, "POST", "/v1/responses", body, nil); status != http.StatusOK && status != http.StatusUnprocessableEntity {
			t.Errorf("%s: status %d", address, status)
		}
	}
}

// complete sends pictures to the model of the instance by their addresses, which its
// endpoint would read.
func (in *inside) complete(t *testing.T, s *server) {
	t.Helper()
	for what, address := range in.addresses() {
		if strings.HasPrefix(what, "redirect") || strings.Contains(what, "rebinding") {
			continue // what the endpoint reaches by an address outside is its own matter
		}
		content := []map[string]any{{"type": "text", "text": "Why?"}, {"type": "image_url", "image_url": map[string]any{"url": address}}}
		body := map[string]any{"model": modeltest.ModelName, "messages": []map[string]any{{"role": "user", "content": content}}}
		if status := s.call(t, "POST", "/v1/chat/completions", body, nil); status != http.StatusUnprocessableEntity {
			t.Errorf("%s (%s): status %d", what, address, status)
		}
	}
}

// sendMCPInside calls tools of MCP servers outside that name addresses inside for their
// messages.
func (in *inside) sendMCPInside(t *testing.T, s *server, m *modeltest.Server) {
	t.Helper()
	for _, address := range in.some() {
		at := in.outside.URL + "/sse?to=" + url.QueryEscape(address)
		custom := map[string]any{"server": map[string]any{"type": "mcp", "mcp": map[string]any{"url": at, "tools": []map[string]any{{"name": "look"}}}}}
		if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"webhooks": []any{}, "tools": map[string]any{"custom": custom}}, nil); status != http.StatusOK {
			t.Fatalf("%s: status %d", at, status)
		}
		m.ScriptChat(modeltest.Call(model.ToolCall{ID: "look", Name: "server_look", Arguments: "{}"}), modeltest.Text("Done."))
		var answer client.Answer
		status := s.call(t, "POST", webhooks+"/query", map[string]any{"text": "Why?", "projectId": "default"}, &answer)
		if status != http.StatusOK || !strings.Contains(string(answer.ToolCalls), `"failed"`) {
			t.Errorf("%s: status %d, %s", address, status, answer.ToolCalls)
		}
	}
}
