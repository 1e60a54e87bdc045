package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDesignNamesFilesThatExist checks that every Go file that docs/design.md
// names is in the repository, so that the page follows each move.
func TestDesignNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z_/0-9]+\\.go)`").FindAllSubmatch(text, -1)
	if len(names) < 50 {
		t.Fatalf("the page names %d files, want the files of a document and of a question", len(names))
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(root, string(name[1]))); err != nil {
			t.Errorf("docs/design.md names a file that does not exist: %v", err)
		}
	}
}
