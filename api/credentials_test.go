package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestEveryRouteAsksForCredentials requests each route of openapi.json without a key and
// with an unknown one. Routes whose description has an empty list of securities need none.
func TestEveryRouteAsksForCredentials(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]struct {
			Security *[]json.RawMessage `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(data, &description); err != nil {
		t.Fatal(err)
	}
	e := open(t)
	asked := 0
	for path, methods := range description.Paths {
		target := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
		for method, route := range methods {
			if route.Security != nil && len(*route.Security) == 0 {
				continue
			}
			asked++
			for _, key := range []string{"", "cairn_" + strings.Repeat("x", 43)} {
				// An address that has sent ten unknown keys is told to wait.
				if got := e.do(strings.ToUpper(method), target, key, nil); got.status != http.StatusUnauthorized && (key == "" || got.status != http.StatusTooManyRequests) {
					t.Errorf("%s %s with the key %q: status %d, want %s", method, path, key, got.status, knowledge.CodeUnauthorized)
				}
			}
		}
	}
	if asked < 80 {
		t.Errorf("%d routes were asked", asked)
	}
}
