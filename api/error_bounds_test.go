package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestErrorsAreBounded sends much that is wrong, in every place where a request
// has room for it, and holds the answers within the bounds of docs/errors.md.
func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.add(e.editor, "a.md", "# One")
	many := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	unknown := make([]string, 5000)
	for i := range unknown {
		unknown[i] = fmt.Sprintf(`"field%d":1`, i)
	}
	for _, filler := range []string{"A", "\x01"} {
		long := strings.Repeat(filler, 20_000)
		encoded, err := json.Marshal(long)
		if err != nil {
			t.Fatal(err)
		}
		text := string(encoded)
		short := url.PathEscape(strings.Repeat(filler, 2000))
		bodies := map[string]string{
			"a string":           text,
			"a list":             "[" + text + "]",
			"an unknown field":   "{" + text + ":1}",
			"unknown inside":     `{"text":"a","filters":[{` + text + `:1}]}`,
			"unknown fields":     "{" + strings.Join(unknown, ",") + "," + text + ":1}",
			"wrong types":        `{"text":[` + text + `],"query":` + text + `,"name":[` + text + `],"filters":` + text + `,"tags":` + text + `,"content":` + text + `,"metadata":` + text + `,"rag":` + text + `,"scopes":[` + text + `],"ai":` + text + `,"id":` + text + `}`,
			"wrong items":        `{"text":"a","tags":[` + many(3000, "1") + `],"document_ids":[` + many(3000, "{}") + `],"filters":[` + many(3000, `{}`) + `]}`,
			"a filter":           `{"text":"a","query":"a","filters":[{"field":` + text + `,"type":` + text + `,"value":` + text + `}]}`,
			"a field's name":     `{"text":"a","query":"a","filters":[{"field":"metadata.` + text[1:] + `,"type":"eq","value":{` + text + `:1}}]}`,
			"an override":        `{"text":"a","projectConfigOverride":{"ai":{` + text + `:1,"model":[` + text + `],"retrieval":{"strategy":` + text + `,` + text + `:2}}}}`,
			"configuration":      `{"name":"a","ai":{` + text + `:1,"retrieval":` + text + `,"textSplitter":{"strategy":` + text + `}},"limits":{` + text + `:1}}`,
			"a project":          `{"text":"a","query":"a","projectId":` + text + `,"project_id":` + text + `}`,
			"a conversation":     `{"text":"a","query":"a","conversationId":` + text + `}`,
			"a session":          `{"text":"a","query":"a","session_id":` + text + `}`,
			"a user":             `{"text":"a","query":"a","userId":` + text + `}`,
			"an external user":   `{"text":"a","query":"a","external_user_id":` + text + `}`,
			"a document":         `{"name":` + text + `,"content":{"text":"a"},"externalId":` + text + `,"access":{"users":[` + text + `]},"tags":[` + text + `]}`,
			"an address":         `{"content":{"url":` + text + `}}`,
			"base64":             `{"content":{"base64":` + text + `,"mediaType":` + text + `}}`,
			"metadata":           `{"content":{"text":"a"},"metadata":{` + text + `:` + text + `}}`,
			"a parser":           `{"content":{"text":"a"},"parser":` + text + `,"override":{` + text + `:1}}`,
			"a key":              `{"name":` + text + `,"scopes":["read",` + text + `],"expires_at":` + text + `,"project_id":` + text + `}`,
			"a slug":             `{"name":"a","slug":` + text + `}`,
			"a workspace":        `{"id":` + text + `}`,
			"the same twice":     "{" + text + ":1," + text + ":2}",
			"not JSON":           "{" + text + ":" + long,
			"deep":               strings.Repeat(`{"a":[`, 5000),
			"a deep wrong type":  `{"text":"a","metadata":` + strings.Repeat(`{"`+strings.Repeat("n", 300)+`":`, 40) + `[]` + strings.Repeat("}", 40) + `,"filters":{"a":1}}`,
			"a number":           `{"text":` + strings.Repeat("9", 60_000) + `,"numberOfChunks":1` + strings.Repeat("0", 60_000) + `}`,
			"half a surrogate":   `{"text":"\ud800","` + `\ud800` + `":1}`,
			"preferences":        `{"rag":{"model":` + text + `,"reranker":` + text + `}}`,
			"a new conversation": `{"title":` + text + `,"project_id":` + text + `}`,
		}
		for name, body := range bodies {
			for _, route := range []string{
				"POST " + hooks + "/query", "POST " + hooks + "/retrieve-context", "POST " + hooks + "/document", "POST " + hooks + "/projects", "POST /tools/rag_search",
				"POST /workspaces", "POST " + own + "/keys", "POST " + own + "/conversations", "PUT /preferences", "PATCH " + own + "/projects/default", "PATCH " + own + "/documents/none",
			} {
				method, path, _ := strings.Cut(route, " ")
				e.do(method, path, e.admin, body).bounded(route+" with "+name, filler)
			}
		}
		for _, path := range []string{
			"GET /" + short, "GET /chunks/" + short, "GET /runs/" + short, "GET /runs/" + short + "/events", "GET /runs/none/events?token=" + short, "GET /runs/none/events?after=" + short,
			"GET /workspaces/" + short + "/documents", "GET " + own + "/documents/" + short, "GET " + own + "/projects/" + short, "DELETE " + own + "/keys/" + short,
			"GET " + own + "/documents?" + short + "=1", "GET " + own + "/documents?status=" + short + "&limit=" + short + "&cursor=" + short + "&project_id=" + short,
			"GET " + hooks + "/documents?page=" + short + "&tags=" + short + "&userId=" + short, "DELETE " + hooks + "/document?id=" + short + "&projectId=" + short,
			"GET " + own + "/documents?cursor=" + short, "GET " + own + "/documents?project_id=" + short, "GET " + own + "/runs?status=" + short, "GET " + own + "/conversations/" + short,
			"GET /chunks/none?quote=" + short, "GET " + own + "/documents?external_user_id=" + short, "GET " + own + "/documents?session_id=" + short, "GET " + own + "/documents?%zz" + short,
			"POST " + own + "/projects/" + short + "/files", "POST " + own + "/runs/" + short + "/cancel",
		} {
			method, path, _ := strings.Cut(path, " ")
			e.do(method, path, e.admin, nil).bounded(method+" "+path[:20], filler)
		}
		header := strings.Repeat(strings.Trim(filler, "\x01"), 20_000)
		for _, name := range []string{"Content-Type", "Idempotency-Key", "Last-Event-ID", "Cairn-Workspace", "Authorization", "Accept"} {
			e.do("POST", hooks+"/document", e.admin, `{"content":{"text":"a"}}`, name, header).bounded("header "+name, filler)
			e.do("GET", "/runs/none/events", e.admin, nil, name, "Bearer "+header).bounded("header "+name, filler)
		}
		e.do(strings.Repeat("A", 20_000), "/docs", e.admin, nil).bounded("a method", "A")
		form := func(parts ...part) { e.upload(e.editor, parts).bounded("a form", filler) }
		form(part{name: "tags", value: long})
		form(part{name: "metadata", value: `{` + text}, file("a.txt", "a"))
		form(part{name: strings.Repeat(filler, 2000), value: "a"}, file("a.txt", "a"))
		form(file(strings.Repeat(filler, 2000), "a"))
	}
}

// bounded fails the test if an error is larger, or repeats more, than it may.
func (a answer) bounded(what, filler string) {
	a.t.Helper()
	if a.status < 400 {
		return
	}
	if len(a.body) >= 8<<10 {
		a.t.Errorf("%s of %q: %d, %d bytes: %.300s", what, filler, a.status, len(a.body), a.body)
	}
	if a.status >= 500 && a.status != 501 {
		a.t.Errorf("%s of %q: %d %.300s", what, filler, a.status, a.body)
	}
	var p struct {
		Title, Type, Detail string
		Errors              []struct{ Location, Message string }
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		a.t.Fatalf("%s of %q: %v: %.300s", what, filler, err, a.body)
	}
	if len(p.Errors) > 20 {
		a.t.Errorf("%s of %q: %d errors", what, filler, len(p.Errors))
	}
	texts := []string{p.Title, p.Type, p.Detail}
	for _, f := range p.Errors {
		texts = append(texts, f.Location, f.Message)
		if n := utf8.RuneCountInString(f.Location); n > 201 {
			a.t.Errorf("%s of %q: a location of %d characters", what, filler, n)
		}
	}
	for _, text := range texts {
		if n := strings.Count(text, filler); n > 220 {
			a.t.Errorf("%s of %q: repeated %d times in %.300s", what, filler, n, text)
		}
	}
}
