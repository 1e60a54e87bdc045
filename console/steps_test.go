package console_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unlisted are the files of workflows whose steps the API does not list: those of workflows that
// serve many runs, or none.
const unlisted = "deliver_webhook.go end_grants.go follow_place.go ingest_embed.go ingest_steps.go remove_document.go reseal_blobs.go sweep.go"

// TestStepsAreInGerman checks that the console has a German name of each step that a workflow names.
func TestStepsAreInGerman(t *testing.T) {
	t.Parallel()
	german := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^  "([^"]+)": "[^"]+",$`).FindAllStringSubmatch(modules(t)["static/words/steps.js"], -1) {
		german[found[1]] = true
	}
	files, err := filepath.Glob("../workflows/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(unlisted, filepath.Base(path)) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range namesOfSteps(parsed) {
			if found++; !german[name] {
				t.Errorf("%s names a step %q that static/words/steps.js has not in German", path, name)
			}
		}
	}
	if found < 40 {
		t.Errorf("the workflows name %d steps", found)
	}
}

// namesOfSteps returns the names that a file gives to activities which a history shows: what is
// given to the functions that take one, the variables called summary, and the first words of the
// lists of steps.
func namesOfSteps(file *ast.File) (names []string) {
	add := func(e ast.Expr) {
		if name, ok := nameOfStep(e); ok {
			names = append(names, name)
		}
	}
	takes := map[string]bool{"activityOptions": true, "stepOptions": true, "removeStep": true, "embedding": true, "steps": true}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if takes[called(n)] && len(n.Args) > 1 {
				add(n.Args[1])
			}
		case *ast.AssignStmt:
			if to, ok := n.Lhs[0].(*ast.Ident); ok && to.Name == "summary" {
				add(n.Rhs[0])
			}
		case *ast.ValueSpec:
			if n.Names[0].Name == "summary" && len(n.Values) > 0 {
				add(n.Values[0])
			}
		case *ast.CompositeLit:
			if n.Type == nil && len(n.Elts) == 2 { // a name and an activity
				add(n.Elts[0])
			}
		}
		return true
	})
	return names
}

func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// nameOfStep returns the name of an expression, with # for a number and * for a name in it.
func nameOfStep(e ast.Expr) (name string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		name, err := strconv.Unquote(e.Value)
		return strings.NewReplacer("%d", "#", "%s", "*").Replace(name), err == nil && e.Kind == token.STRING
	case *ast.CallExpr: // of fmt.Sprintf
		if called(e) == "Sprintf" {
			return nameOfStep(e.Args[0])
		}
	case *ast.BinaryExpr:
		name, ok = nameOfStep(e.X)
		return name + "*", ok
	}
	return "", false
}
