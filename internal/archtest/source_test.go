package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEnvironmentIsReadByTheCommand keeps one place that reads the environment:
// the command hands it to package config as a value.
func TestEnvironmentIsReadByTheCommand(t *testing.T) {
	t.Parallel()
	reads := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}
	eachFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		inCI := below(path, "internal/standin") || below(path, "internal/store/postgrestest") // a missing program fails a test in CI only
		if below(path, "starter") || below(path, "bench") || below(path, "internal/config") || inCI {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && of(s, "os") && slices.Contains(reads, s.Sel.Name) {
				t.Errorf("%s reads the environment by os.%s: only the command does, for package config", path, s.Sel.Name)
			}
			return true
		})
	})
}

// TestBackgroundHasAReason: work that outlives its caller has a comment why, on
// its line or the one before. A command has nobody above it.
func TestBackgroundHasAReason(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if below(path, "starter") || below(path, "bench") || below(path, "samples") {
			return
		}
		commented := map[int]bool{}
		for _, group := range file.Comments {
			for line := lines.Position(group.Pos()).Line; line <= lines.Position(group.End()).Line; line++ {
				commented[line] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !of(s, "context") || s.Sel.Name != "Background" && s.Sel.Name != "TODO" {
				return true
			}
			if line := lines.Position(s.Pos()).Line; !commented[line] && !commented[line-1] {
				t.Errorf("%s:%d: context.%s without a word why", path, line, s.Sel.Name)
			}
			return true
		})
	})
}

// TestNoPackageState keeps variables of packages to constants in all but name:
// tables, patterns, errors and embedded files. Nothing there is made to be
// filled, locked, counted with or connected.
func TestNoPackageState(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if below(path, "bench") {
			return
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					t.Errorf("%s has an init function", path)
				}
			case *ast.GenDecl:
				if d.Tok != token.VAR {
					continue
				}
				for _, spec := range d.Specs {
					if v := spec.(*ast.ValueSpec); isState(v) {
						t.Errorf("%s: the package's variable %s holds state", lines.Position(v.Pos()), v.Names[0].Name)
					}
				}
			}
		}
	})
}

// tagKey is a key of a tag, and schemaKeys are the keys of a JSON schema.
var (
	tagKey     = regexp.MustCompile(`(\w+):"(?:[^"\\]|\\.)*"`)
	schemaKeys = []string{"json", "required", "doc", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
)

// TestVocabularyHasOnlySchemaTags keeps what databases and configurations read out of the
// vocabulary: a field has its JSON name, and a setting its description and its limits.
func TestVocabularyHasOnlySchemaTags(t *testing.T) {
	t.Parallel()
	seen := false
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if !below(path, "internal/knowledge") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			seen = true
			for _, m := range tagKey.FindAllStringSubmatch(strings.Trim(field.Tag.Value, "`"), -1) {
				if !slices.Contains(schemaKeys, m[1]) {
					t.Errorf("%s has the tag %s: only keys of a JSON schema may stand here", lines.Position(field.Pos()), m[0])
				}
			}
			return true
		})
	})
	if !seen {
		t.Error("no tag was found: the test looks in the wrong place")
	}
}

// isState reports whether a variable is of a kind that changes in use. A
// sync.Pool is not: whether it is there shows in speed alone.
func isState(v *ast.ValueSpec) bool {
	if changes(v.Type) {
		return true
	}
	for _, value := range v.Values {
		if u, ok := value.(*ast.UnaryExpr); ok && u.Op == token.AND {
			return true
		}
		if c, ok := value.(*ast.CallExpr); ok {
			if name, ok := c.Fun.(*ast.Ident); ok && (name.Name == "make" || name.Name == "new") {
				return true
			}
		}
		if c, ok := value.(*ast.CompositeLit); ok && changes(c.Type) {
			return true
		}
	}
	return false
}

func changes(kind ast.Expr) bool {
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	s, ok := kind.(*ast.SelectorExpr)
	if !ok || of(s, "sync") && s.Sel.Name == "Pool" {
		return false
	}
	return slices.ContainsFunc([]string{"sync", "atomic", "http", "sql", "slog", "net"}, func(p string) bool { return of(s, p) })
}

// of reports whether a name is taken from the package of that name.
func of(s *ast.SelectorExpr, pkg string) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

// eachFile parses every Go file but tests.
func eachFile(t *testing.T, visit func(path string, file *ast.File, lines *token.FileSet)) {
	t.Helper()
	walk(t, func(path string) bool { return !strings.HasSuffix(path, "_test.go") }, visit)
}

// eachTestFile parses every file of tests, and of the packages that help tests or hold
// contract suites: their names end with test.
func eachTestFile(t *testing.T, visit func(path string, file *ast.File, lines *token.FileSet)) {
	t.Helper()
	walk(t, func(path string) bool {
		return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
	}, visit)
}

// walk parses the Go files of the repository whose path is wanted.
func walk(t *testing.T, wanted func(path string) bool, visit func(path string, file *ast.File, lines *token.FileSet)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin") {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(root, path)
		if err != nil || !strings.HasSuffix(path, ".go") || !wanted(relative) {
			return err
		}
		lines := token.NewFileSet()
		file, err := parser.ParseFile(lines, path, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		visit(relative, file, lines)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
