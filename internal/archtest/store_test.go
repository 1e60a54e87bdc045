package archtest_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"testing"
)

// storeTypes returns Store and the types that it embeds, whose methods are its methods.
func storeTypes(t *testing.T) []string {
	t.Helper()
	names := []string{"Store"}
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if path != filepath.Join("internal", "store", "store.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Store" {
				return true
			}
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, field := range fields.Fields.List {
				if len(field.Names) == 0 {
					names = append(names, typeName(field.Type))
				}
			}
			return false
		})
	})
	return names
}

// receiver returns the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string { return typeName(f.Recv.List[0].Type) }

func typeName(expression ast.Expr) string {
	if star, ok := expression.(*ast.StarExpr); ok {
		expression = star.X
	}
	if name, ok := expression.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
