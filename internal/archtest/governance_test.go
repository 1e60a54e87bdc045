package archtest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGovernanceNamesTestsThatExist checks that every test that docs/governance.md names as a
// proof is there.
func TestGovernanceNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "governance.md"))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "bin" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		code, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(code, -1) {
			there[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)(?:/\\w+)?`").FindAllSubmatch(text, -1)
	if len(named) < 50 {
		t.Fatalf("docs/governance.md names %d tests", len(named))
	}
	for _, one := range named {
		if name := string(one[1]); !there[name] {
			t.Errorf("docs/governance.md names the test %s, which is not there", name)
		}
	}
}
