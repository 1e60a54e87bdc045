package archtest_test

import (
	"flag"
	"fmt"
	"go/doc"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write internal/README.md")

// layer is a group of folders below internal. A package imports only packages of its own
// layer and of those before it.
type layer struct {
	name, about string
	folders     []string // in the order in which a document or a question passes them
}

var layers = []layer{
	{"Platform", "What knows nothing of documents and questions, and the vocabulary that all share.", []string{
		"knowledge", "config", "telemetry", "safedial", "secret", "envelope", "clamd", "confine", "process", "collector", "sandbox", "browser", "erase", "sse", "stream", "namespace", "embedded", "view", "words", "phrase", "advice", "audit",
	}},
	{"Storage", "The three stores, what imports list, and what copies and moves the stores.", []string{"blob", "source", "store", "index", "backup", "instance"}},
	{"Documents", "The way of a document, from its bytes to passages with a language.", []string{"selection", "scrape", "extract", "paged", "parsed", "sqltable", "transcript", "enrich", "privacy", "chunk"}},
	{"Answers", "The way of a question, from its passages to an answer with citations.", []string{
		"model", "retrieve", "websearch", "prompt", "citation", "tool", "runfile", "webhook", "pipeline", "record", "a2a", "agui", "evaluate",
	}},
	{"Requests", "What the doors of Cairn share: who asks, what is started, and how it is reached.", []string{
		"access", "credential", "quota", "idempotency", "intake", "importing", "following", "question", "forget", "dispatch", "client", "origin", "mcpserver", "scim",
	}},
	{"Assembly", "What puts a server together, and starts one as a child process.", []string{"childserver", "server"}},
	{"Tests", "Rules of the repository, and services for tests and benchmarks.", []string{"archtest", "service", "standin"}},
}

// layerOf returns the place in layers of a package below internal, -1 = it has none.
func layerOf(path string) int {
	folder, _, _ := strings.Cut(strings.TrimPrefix(path, "internal/"), "/")
	for i, l := range layers {
		for _, f := range l.folders {
			if f == folder {
				return i
			}
		}
	}
	return -1
}

func TestLayers(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if !below(name, "internal") || strings.HasSuffix(name, "test") {
			continue
		}
		seen++
		at := layerOf(name)
		if at < 0 {
			t.Errorf("%s is in no layer", name)
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if ours && below(imported, "internal") && layerOf(imported) > at {
				t.Errorf("%s of the layer %s imports %s of the layer %s", name, layers[at].name, imported, layers[layerOf(imported)].name)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d packages were seen: the test looks in the wrong place", seen)
	}
}

// TestInternalReadme compares internal/README.md with the layers and the comments of the
// packages.
func TestInternalReadme(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./internal/...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	synopsis := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, about, _ := strings.Cut(strings.TrimPrefix(line, module+"internal/"), "\t")
		about = new(doc.Package).Synopsis(strings.TrimSpace(about))
		_, about, _ = strings.Cut(strings.TrimPrefix(about, "Package "), " ") // its name
		synopsis[path] = about
	}
	var b strings.Builder
	b.WriteString("# Packages\n\nThe folders below `internal` in layers. A package imports only packages of its own layer and of the layers above it in this list; " +
		"`internal/archtest` checks that, and names for each package what it may import. [docs/design.md](../docs/design.md) follows a document and a question through the files.\n" +
		"\nThis page is generated: `go test ./internal/archtest -run TestInternalReadme -update`.\n")
	for _, l := range layers {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| folder | what the package does |\n|---|---|\n", l.name, l.about)
		for _, folder := range l.folders {
			if synopsis[folder] == "" {
				t.Errorf("internal/%s has no comment that says what it does, or is not there", folder)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", folder, synopsis[folder])
		}
	}
	path := filepath.Join("..", "README.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("internal/README.md is not up to date; run this test with -update (-want +got):\n%s", diff)
	}
}
