package archtest_test

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestRoutesAreRegisteredOnce keeps one way to add a route, by which every route
// has its credentials, limits and errors: handle, and handleRaw for bodies that
// huma must not decode.
func TestRoutesAreRegisteredOnce(t *testing.T) {
	t.Parallel()
	found := 0
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !of(s, "huma") || s.Sel.Name != "Register" {
				return true
			}
			if found++; found > 1 {
				t.Errorf("%s registers a route past handle", lines.Position(s.Pos()))
			}
			return true
		})
	})
	if found == 0 {
		t.Error("no registration was found: the test looks in the wrong place")
	}
}
