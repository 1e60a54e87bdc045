package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		if !strings.Contains(want, "| `"+m[1]+"` |") {
			t.Errorf("%s is named at the beginning, and is no key", m[1])
		}
	}
	for line := range strings.Lines(want) {
		if strings.HasPrefix(line, "| `") && !strings.Contains(line, "Defaults to ") {
			t.Errorf("a key without its default: %s", line)
		}
	}
}
