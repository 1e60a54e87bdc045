package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/console"
)

// modules returns the JavaScript of the console by its path.
func modules(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("static", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".js" {
			return err
		}
		content, err := os.ReadFile(path)
		found[path] = string(content)
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d modules, %v", len(found), err)
	}
	return found
}

// framers are of an agent that two sites show.
func framers(_ context.Context, slug string) []string {
	if slug == "guide" {
		return []string{"https://www.example.com", "http://localhost:3000"}
	}
	return nil
}

func get(path, accept string) *http.Response {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	console.Handler(next, framers).ServeHTTP(w, r)
	return w.Result()
}

func TestPagesAreForBrowsers(t *testing.T) {
	t.Parallel()
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, test := range []struct {
		path, accept string
		status       int
		kind         string
	}{
		{"/", browser, 200, "text/html; charset=utf-8"},
		{"/", "*/*", http.StatusTeapot, ""},
		{"/ask", browser, 200, "text/html; charset=utf-8"},
		{"/ask/0309be1f", browser, 200, "text/html; charset=utf-8"},
		{"/ask/0309be1f", "application/json", http.StatusTeapot, ""},
		{"/runs", browser, 200, "text/html; charset=utf-8"},
		{"/runs/0309be1f", browser, 200, "text/html; charset=utf-8"},
		{"/runs/0309be1f", "application/json", http.StatusTeapot, ""},
		{"/projects/default/keys", browser, 200, "text/html; charset=utf-8"},
		{"/keys", browser, 200, "text/html; charset=utf-8"},
		{"/imports", browser, 200, "text/html; charset=utf-8"},
		{"/imports/0309be1f", browser, 200, "text/html; charset=utf-8"},
		{"/syncs", browser, 200, "text/html; charset=utf-8"},
		{"/syncs/0309be1f", browser, 200, "text/html; charset=utf-8"},
		{"/syncs/0309be1f", "application/json", http.StatusTeapot, ""},
		{"/operations", browser, 200, "text/html; charset=utf-8"},
		{"/usage", browser, 200, "text/html; charset=utf-8"},
		{"/docs", browser, http.StatusTeapot, ""},
		{"/askew", browser, http.StatusTeapot, ""},
		{"/console/app.js", "*/*", 200, "text/javascript; charset=utf-8"},
		{"/console/style.css", "text/css", 200, "text/css; charset=utf-8"},
		{"/console/icon.svg", "image/*", 200, "image/svg+xml"},
		{"/console/nothing.js", "*/*", http.StatusTeapot, ""},
		{"/console/../console.go", "*/*", http.StatusTeapot, ""},
	} {
		got := get(test.path, test.accept)
		if got.StatusCode != test.status || got.Header.Get("Content-Type") != test.kind {
			t.Errorf("%s for %s: %d, %s", test.path, test.accept, got.StatusCode, got.Header.Get("Content-Type"))
		}
		policy := got.Header.Get("Content-Security-Policy")
		if test.status == 200 && (strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "require-trusted-types-for 'script'")) {
			t.Errorf("%s has the policy %q", test.path, policy)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/console/app.js", nil)
	r.Header.Set("If-None-Match", get("/console/app.js", "").Header.Get("ETag"))
	w := httptest.NewRecorder()
	console.Handler(http.NotFoundHandler(), framers).ServeHTTP(w, r)
	if w.Code != http.StatusNotModified {
		t.Errorf("a module that has not changed: %d", w.Code)
	}
}

// TestFilesAreKeptByTheirEdition follows the addresses that a page names: each may be kept for
// good, and the page loads every module that it needs without a module that imports it.
func TestFilesAreKeptByTheirEdition(t *testing.T) {
	t.Parallel()
	body, err := io.ReadAll(get("/documents", "text/html").Body)
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?:href|src)="(/console/[0-9a-f]{16}/[^"]+)"`).FindAllStringSubmatch(string(body), -1)
	var all []string
	for _, one := range named {
		all = append(all, one[1][len("/console/0123456789abcdef"):])
		if got := get(one[1], "*/*"); got.StatusCode != 200 || got.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, kept as %q", one[1], got.StatusCode, got.Header.Get("Cache-Control"))
		}
	}
	for _, want := range []string{"/app.js", "/style.css", "/pages/documents.js", "/paged_table.js", "/words/documents.js"} {
		if !slices.Contains(all, want) {
			t.Errorf("the page names %q and not %s", all, want)
		}
	}
	if slices.Contains(all, "/answer.js") {
		t.Error("the page loads modules of another one")
	}
	for _, changing := range []string{"/documents", "/console/app.js"} {
		if got := get(changing, "text/html").Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s is kept as %q", changing, got)
		}
	}
	if got := get("/console/0123456789abcdef/app.js", "*/*").StatusCode; got != http.StatusTeapot {
		t.Errorf("a file of another edition: %d", got)
	}
}

// readOpenAPI decodes openapi.json.
func readOpenAPI(t *testing.T, description any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, description); err != nil {
		t.Fatal(err)
	}
}

// TestRoutesAreOfTheAPI holds the routes that the console calls against openapi.json.
func TestRoutesAreOfTheAPI(t *testing.T) {
	t.Parallel()
	var description struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	readOpenAPI(t, &description)
	all := modules(t)
	routes := regexp.MustCompile(`"([a-z-]+)": \["([A-Z]+)", "([^"]+)"\]`).FindAllStringSubmatch(all["static/routes.js"]+all["static/routes_evaluations.js"], -1)
	if len(routes) < 10 {
		t.Fatalf("%d routes", len(routes))
	}
	delete(all, "static/routes.js")
	delete(all, "static/routes_evaluations.js")
	for _, route := range routes {
		id, method, path := route[1], strings.ToLower(route[2]), route[3]
		if got := description.Paths[path][method].OperationID; got != id {
			t.Errorf("%s %s is %q in openapi.json, not %q", method, path, got, id)
		}
		used := false
		for _, text := range all {
			used = used || strings.Contains(text, `"`+id+`"`)
		}
		if !used {
			t.Errorf("no module calls %s", id)
		}
	}
}

// schema is what TestSettingsAreInGerman reads of a schema of openapi.json.
type schema struct {
	Ref         string `json:"$ref"`
	Description string
	Enum        []any
	Properties  map[string]schema
}

// settingsOf returns the settings below a schema, by their paths.
func settingsOf(all map[string]schema, s schema, path string) map[string]schema {
	found := map[string]schema{}
	for name, given := range s.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		here := given
		if given.Ref != "" {
			here = all[filepath.Base(given.Ref)]
		}
		if given.Description != "" {
			here.Description = given.Description
		}
		found[at] = here
		maps.Copy(found, settingsOf(all, here, at))
	}
	return found
}

// TestSettingsAreInGerman holds the German titles and helps of the settings against the
// schema from which their form is made: none is missing, and each has the values, defaults
// and names of its English help.
func TestSettingsAreInGerman(t *testing.T) {
	t.Parallel()
	var description struct {
		Components struct{ Schemas map[string]schema }
	}
	readOpenAPI(t, &description)
	all := description.Components.Schemas
	wanted := settingsOf(all, all["ProjectChange"], "")
	if len(wanted) < 80 {
		t.Fatalf("%d settings", len(wanted))
	}
	delete(wanted, "webhooks") // these have a page of their own
	delete(wanted, "callbackSecret")
	german := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^  "([\w.]+)": \["([^"]+)", "([^"]+)"\],$`).FindAllStringSubmatch(modules(t)["static/words/settings.js"], -1) {
		german[found[1]] = found[3]
		if _, ok := wanted[found[1]]; !ok {
			t.Errorf("%s is no setting", found[1])
		}
	}
	kept := regexp.MustCompile(`\d+(?:\.\d+)?|\b\w+[._]\w+\b|\$\{\w+\}`) // numbers and names
	fallback := regexp.MustCompile(`Default: (\w+)(?:\. |$)`)
	for path, setting := range wanted {
		help := german[path]
		if help == "" {
			t.Errorf("%s has no German help", path)
		}
		for _, name := range kept.FindAllString(setting.Description, -1) {
			if !strings.Contains(help, name) {
				t.Errorf("the German help of %s does not have %s: %s", path, name, help)
			}
		}
		of := fallback.FindStringSubmatch(setting.Description)
		if of == nil || slices.Contains([]string{"true", "false", "all"}, of[1]) {
			continue
		}
		if !strings.HasSuffix(help, "Vorgabe: "+of[1]) {
			t.Errorf("the German help of %s does not say that the default is %s: %s", path, of[1], help)
		}
	}
}

// TestConnectionsHaveEveryOption holds the table of types of connections against the schemas:
// each type and each option has a field.
func TestConnectionsHaveEveryOption(t *testing.T) {
	t.Parallel()
	var description struct {
		Components struct{ Schemas map[string]schema }
	}
	readOpenAPI(t, &description)
	all := description.Components.Schemas
	text := modules(t)["static/connections.js"]
	for _, kind := range all["NewConnection"].Properties["type"].Enum {
		if !strings.Contains(text, fmt.Sprintf("  %s: { options: [", kind)) {
			t.Errorf("there is no form for the type %s", kind)
		}
	}
	fields := 0
	for _, name := range []string{"ConnectionOptions", "SyncScope"} {
		for field := range all[name].Properties {
			if fields++; !strings.Contains(text, `"`+field+`"`) {
				t.Errorf("no form has the field %s of %s", field, name)
			}
		}
	}
	if fields < 5 {
		t.Errorf("the schemas have %d fields", fields)
	}
}

// TestModulesAreSmallAndMakeNoHTML bounds what a reader has to take in, and forbids what the
// policy of the pages forbids too.
func TestModulesAreSmallAndMakeNoHTML(t *testing.T) {
	t.Parallel()
	for path, text := range modules(t) {
		if lines := strings.Count(text, "\n"); lines >= 300 {
			t.Errorf("%s has %d lines", path, lines)
		}
		for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "javascript:"} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %s", path, never)
			}
		}
	}
}

// TestFirstPageIsLight bounds what a browser loads for the page to ask on: the modules that
// its own import, and no others.
func TestFirstPageIsLight(t *testing.T) {
	t.Parallel()
	imported := regexp.MustCompile(`(?m)^import [^;]*"(\.[^"]+)";`)
	all, loaded := modules(t), map[string]bool{}
	first := 0
	for waiting := []string{"static/app.js", "static/pages/ask.js"}; len(waiting) > 0; {
		path := waiting[0]
		waiting = waiting[1:]
		if loaded[path] {
			continue
		}
		text, ok := all[path]
		if !ok {
			t.Fatalf("no module %s", path)
		}
		loaded[path] = true
		first += len(text)
		for _, found := range imported.FindAllStringSubmatch(text, -1) {
			waiting = append(waiting, filepath.Join(filepath.Dir(path), found[1]))
		}
	}
	for _, other := range []string{"index.html", "style.css", "icon.svg"} {
		content, err := os.ReadFile(filepath.Join("static", other))
		if err != nil {
			t.Fatal(err)
		}
		first += len(content)
	}
	if first > 150<<10 || len(loaded) < 20 {
		t.Errorf("the first page loads %d modules and %d bytes", len(loaded), first)
	}
}

// TestTypes has tsc check the types that the comments of the modules give.
func TestTypes(t *testing.T) {
	t.Parallel()
	check(t, "typescript", "tsc", "-p", ".")
}

// TestLint has oxlint look for mistakes in the modules.
func TestLint(t *testing.T) {
	t.Parallel()
	check(t, "oxlint", "oxlint", "--deny-warnings", "static")
}

// check runs a program of a package of npm, which must find nothing.
func check(t *testing.T, npm, program string, args ...string) {
	t.Helper()
	path := filepath.Join("..", "bin", "tools", npm, "node_modules", ".bin", program)
	if _, err := os.Stat(path); err != nil {
		lacking := program + " is missing; .ci/stand-ins installs it below bin/tools"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
