package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/cairn-rag/cairn/internal/config"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

func TestReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "configuration.md")
	want := config.Reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the code says; go test ./internal/config -run Reference -update writes it:\n%s", path, diff)
	}
	for _, m := range regexp.MustCompile("\\| \\[`([^`]+)`\\]").FindAllStringSubmatch(want, -1) {
		if !describes(want, m[1]) {
			t.Errorf("%s is named at the beginning, and is no key", m[1])
		}
	}
	for line := range strings.Lines(want) {
		if strings.HasPrefix(line, "| `") && !strings.Contains(line, "Defaults to ") {
			t.Errorf("a key without its default: %s", line)
		}
	}
}

// describes reports whether a page has a row of a key, alone or for several models.
func describes(page, key string) bool {
	if strings.Contains(page, "\n| `"+key+"` |") {
		return true
	}
	parts := strings.Split(key, ".")
	if len(parts) < 3 || parts[0] != "models" {
		return false
	}
	model := parts[1]
	parts[1] = "<model>"
	row := regexp.MustCompile("\n\\| `" + regexp.QuoteMeta(strings.Join(parts, ".")) + "` \\| `[^`]*` \\| ([a-z, ]*) \\|")
	found := row.FindStringSubmatch(page)
	return found != nil && slices.Contains(strings.Split(found[1], ", "), model)
}

// everySection has each section that a list or a map can have.
const everySection = `
secrets: {a: 'env:KEY'}
models:
  prices: [{model: m}]
  chat: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: m}]}
  embedding: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: m}]}
  transcription: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: m}]}
  image: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: m}]}
  rerank: {base_url: 'https://x/v1', model: m, failover: [{base_url: 'https://y/v1', model: m}]}
`

// TestReferenceHasEveryKey looks for the keys of the effective configuration, and only for
// these, in the page.
func TestReferenceHasEveryKey(t *testing.T) {
	t.Parallel()
	page := config.Reference()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(load(t, config.Options{File: file(t, everySection), Environ: []string{"KEY=k"}}).Masked()), &values); err != nil {
		t.Fatal(err)
	}
	keys := keysOf("", values)
	for _, key := range keys {
		if !describes(page, key) {
			t.Errorf("%s is not described", key)
		}
	}
	described := len(regexp.MustCompile("(?m)^\\| `[^`]*` \\| `CAIRN_").FindAllString(page, -1))
	for _, m := range regexp.MustCompile("(?m)^\\| `models\\.<model>[^`]*` \\| `[^`]*` \\| ([a-z, ]*) \\|").FindAllStringSubmatch(page, -1) {
		described += strings.Count(m[1], ", ")
	}
	if described != len(keys) {
		t.Errorf("%d keys are described, the configuration has %d", described, len(keys))
	}
}

// keysOf lists the keys below a path as the page writes them.
func keysOf(path string, value any) []string {
	var keys []string
	switch v := value.(type) {
	case map[string]any:
		for name, inside := range v {
			if path == "secrets" {
				name = "<name>"
			}
			keys = append(keys, keysOf(strings.TrimPrefix(path+"."+name, "."), inside)...)
		}
	case []any:
		if len(v) > 0 {
			if section, ok := v[0].(map[string]any); ok {
				return keysOf(path+".<n>", section)
			}
		}
		return []string{path}
	default:
		return []string{path}
	}
	return keys
}
