package edge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api/edge"
)

// TestErrorsAreDescribed compares the codes of the vocabulary, their HTTP statuses and the
// table of docs/errors.md.
func TestErrorsAreDescribed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	codes := map[string]bool{}
	for _, match := range matches(t, `Code\w+ +Code = "(\w+)"`, root, "internal", "knowledge", "errors.go") {
		codes[match[1]] = true
	}
	statuses, known := map[string]string{}, map[string]bool{}
	for code, status := range edge.Statuses() {
		statuses[string(code)] = strconv.Itoa(status)
		known[string(code)] = code.Known()
	}
	if diff := cmp.Diff(codes, known); diff != "" {
		t.Errorf("the codes of package knowledge (-), and those that have a status and are Known (+):\n%s", diff)
	}
	described := map[string]string{}
	for _, match := range matches(t, "(?m)^\\| `(\\w+)` \\| (\\d+) \\|", root, "docs", "errors.md") {
		described[match[1]] = match[2]
	}
	if diff := cmp.Diff(statuses, described); diff != "" {
		t.Errorf("the statuses of the API (-), and in docs/errors.md (+):\n%s", diff)
	}
}

// matches returns the matches of a pattern in a file.
func matches(t *testing.T, pattern string, path ...string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
}
