package api_test

import (
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/api"
)

var (
	exampleCommand = regexp.MustCompile(`(?s)<pre[^>]*>(curl.*?)</pre>`)
	exampleMethod  = regexp.MustCompile(`-X ([A-Z]+)`)
	exampleBody    = regexp.MustCompile(`-d '(.*)'`)
	exampleFile    = regexp.MustCompile(`=@(\S+)`)
	exampleTarget  = regexp.MustCompile(`'?(http://example\.com)(/\S*?)'?$`)
)

// elsewhere matches what this package cannot answer: questions, which run in workflows,
// metrics, the session of a browser, which is none, and what begins with a test set, documents or
// ratings, of which there are none here.
var elsewhere = regexp.MustCompile(`/auth/(session|login|callback)$|/query$|/tools/|/completions$|/responses$|/retrieve-context$|/metrics$|/evaluations$|/generate$|/from_feedback$`)

// TestExamplesOfThePages sends the examples of /docs and / that name nothing to fill in.
// Without a body they are only those that read.
func TestExamplesOfThePages(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PUT", own+"/projects/default/publication", e.admin, map[string]any{"visibility": "workspace", "title": "Default"}).want(200) // which an example reads
	sent := 0
	for _, page := range []string{"/docs", "/"} {
		for _, found := range exampleCommand.FindAllSubmatch(e.do("GET", page, "", nil).body, -1) {
			command := html.UnescapeString(string(found[1]))
			target := exampleTarget.FindStringSubmatch(command)
			if target == nil {
				t.Fatalf("an example without the address at which the page was requested: %s", command)
			}
			if file := exampleFile.FindStringSubmatch(command); file != nil {
				if _, err := os.Stat(filepath.Join("..", file[1])); err != nil {
					t.Errorf("an example with a file that is not there: %s", command)
				}
			}
			method, body := "GET", any(nil)
			if given := exampleMethod.FindStringSubmatch(command); given != nil {
				method = given[1]
			}
			if given := exampleBody.FindStringSubmatch(command); given != nil {
				body = given[1]
				if method == "GET" {
					method = "POST"
				}
			}
			toFill := regexp.MustCompile(`[A-Z]{2}`).MatchString(target[2])
			if method == "DELETE" && !toFill && !elsewhere.MatchString(target[2]) {
				t.Errorf("an example removes something: %s", command)
			}
			if toFill || elsewhere.MatchString(target[2]) || body == nil && (method != "GET" || strings.Contains(command, " -F ")) {
				continue
			}
			sent++
			got := e.do(method, target[2], e.admin, body)
			if got.status == http.StatusNotFound && regexp.MustCompile(`"(document|connection)_id":"7d3f2c1e-`).MatchString(command) {
				continue // the id of an example names nothing
			}
			if got.status >= 400 && !slices.Contains([]int{http.StatusNotImplemented, http.StatusServiceUnavailable}, got.status) {
				t.Errorf("%d %s\n%s", got.status, got.body, command)
			}
		}
	}
	if sent < 30 {
		t.Errorf("%d examples were sent", sent)
	}
}

// TestTheAddressInExamples opens the start page at several addresses.
func TestTheAddressInExamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ public, forwarded, want string }{
		{"", "", "http://example.com/workspaces/default/"},
		{"", "https", "https://example.com/workspaces/default/"},
		{"https://cairn.example.org/", "", "https://cairn.example.org/workspaces/default/"},
	} {
		e := open(t, func(c *api.Config, _ *api.Deps) { c.PublicURL = test.public })
		page := string(e.do("GET", "/", "", nil, "X-Forwarded-Proto", test.forwarded).body)
		if !strings.Contains(page, test.want) || strings.Contains(page, "localhost:8080") {
			t.Errorf("the page at %+v has %d commands with that address", test, strings.Count(page, test.want))
		}
	}
}
