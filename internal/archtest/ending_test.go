package archtest_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunsEndByOneType keeps one owner of how a run ends: record.Ending alone
// makes the end that the store keeps.
func TestRunsEndByOneType(t *testing.T) {
	t.Parallel()
	owner := filepath.Join("internal", "record", "ending.go")
	seen := false
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if strings.HasSuffix(filepath.Dir(path), "test") { // contract suites
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if s, ok := literal.Type.(*ast.SelectorExpr); ok && of(s, "store") && s.Sel.Name == "RunEnd" {
				if seen = seen || path == owner; path != owner {
					t.Errorf("%s makes a store.RunEnd: take the one that a record.Ending makes", lines.Position(literal.Pos()))
				}
			}
			return true
		})
	})
	if !seen {
		t.Errorf("%s makes no store.RunEnd: the test looks in the wrong place", owner)
	}
}
