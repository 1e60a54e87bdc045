package console_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// constantsOf returns the values of the constants of a type of strings, which a package declares.
func constantsOf(t *testing.T, folder, typeName string) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, named := spec.Type.(*ast.Ident)
			if value, isText := spec.Values[0].(*ast.BasicLit); named && of.Name == typeName && isText {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
			return true
		})
	}
	if len(values) < 2 {
		t.Fatalf("%s declares %d constants of %s", folder, len(values), typeName)
	}
	return values
}

// TestCodesHaveWords checks that the console has words for each code of the API that it shows by
// its words, in the module of words that its pages load.
func TestCodesHaveWords(t *testing.T) {
	t.Parallel()
	all := modules(t)
	for _, test := range []struct{ folder, typeName, words, key string }{
		{"internal/knowledge", "Stage", "documents", "stage.CODE"},
		{"internal/knowledge", "Status", "documents", "doc.CODE"},
		{"internal/knowledge", "RunKind", "runs", "run.CODE"},
		{"internal/knowledge", "RunStatus", "runs", "run.CODE"},
		{"internal/knowledge", "ImportStatus", "runs", "run.CODE"},
		{"internal/knowledge", "GrantEffect", "rights", "grant.CODE"},
		{"internal/knowledge", "GrantPermission", "rights", "grant.CODE"},
		{"internal/store", "DeliveryStatus", "projects", "hook.CODE"},
		{"internal/knowledge", "Code", "causes", "CODE\""},
		{"internal/knowledge", "WarningCode", "causes", "CODE\""},
		{"internal/access", "Effect", "access", "why.CODE"},
		{"internal/access", "ReasonKind", "access", "why.CODE."},
		{"internal/store", "Rule", "access", "why.CODE.deny"},
	} {
		words := all["static/words/"+test.words+".js"]
		for _, code := range constantsOf(t, test.folder, test.typeName) {
			if code == "denial" { // its reasons are grants
				continue
			}
			if key := strings.ReplaceAll(test.key, "CODE", code); !strings.Contains(words, `"`+key) {
				t.Errorf("static/words/%s.js has no %s, for the %s %s", test.words, key, test.typeName, code)
			}
		}
	}
}
