package evaluate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s changed (-golden +now); if it is meant to, run go test ./internal/evaluate -run %s -update\n%s", name, t.Name(), diff)
	}
}

// TestPromptsAreVersioned shows a change of a prompt as a diff. Scores by another rubric are not
// compared, so a change of a judge's prompt needs another version.
func TestPromptsAreVersioned(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("prompts/*.md")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d prompts, error %v", len(files), err)
	}
	var b strings.Builder
	rubric := evaluate.CurrentRubric()
	fmt.Fprintf(&b, "rubric %d %s\n", rubric.Version, rubric.Hash)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(text)
		fmt.Fprintf(&b, "%s %s\n", filepath.Base(file), hex.EncodeToString(hash[:8]))
	}
	golden(t, "prompts.golden", b.String())
}

func pointer(x float64) *float64 { return &x }
