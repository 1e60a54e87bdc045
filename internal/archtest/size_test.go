package archtest_test

import (
	"go/ast"
	"go/token"
	"testing"
)

// maxTestLines is how long a function of a test may be. A longer one is several tests, or
// has cases that belong in a table beside it.
const maxTestLines = 100

func TestTestsAreShort(t *testing.T) {
	t.Parallel()
	seen := 0
	eachTestFile(t, func(_ string, file *ast.File, lines *token.FileSet) {
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			seen++
			first, last := lines.Position(f.Pos()), lines.Position(f.End()).Line
			if n := last - first.Line + 1; n > maxTestLines {
				t.Errorf("%s: %s has %d lines, want at most %d", first, f.Name.Name, n, maxTestLines)
			}
		}
	})
	if seen < 1000 {
		t.Errorf("%d functions were found: the test looks in the wrong place", seen)
	}
}
