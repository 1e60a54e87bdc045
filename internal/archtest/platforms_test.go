package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPlatforms checks the types of all packages as other platforms build them. It reads
// the sources of the dependencies without the bodies of their functions: to compile them
// takes minutes for each platform.
func TestPlatforms(t *testing.T) {
	for _, platform := range []string{"linux/arm64", "darwin/arm64"} {
		t.Run(platform, func(t *testing.T) {
			system, processor, _ := strings.Cut(platform, "/")
			loaded := sourcesFor(t, system, processor)
			if len(loaded) < 100 {
				t.Fatalf("%d packages were loaded", len(loaded))
			}
			for _, p := range loaded {
				if strings.HasSuffix(p.PkgPath, ".test") || onThisPlatform(p.PkgPath) {
					continue // the first are generated
				}
				for _, e := range p.Errors {
					t.Error(e)
				}
			}
		})
	}
}

// onThisPlatform reports whether a package is built only where the tests run.
func onThisPlatform(path string) bool {
	return strings.Contains(path, "/cairn/e2e") || strings.Contains(path, "/cairn/bench")
}

// sourcesFor loads the packages of the module with their tests.
func sourcesFor(t *testing.T, system, processor string) []*packages.Package {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cfg := &packages.Config{
		Dir:   root,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
		ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, root+"/") {
				dropBodies(file)
			}
			return file, err
		},
	}
	loaded, err := packages.Load(cfg, "./...")
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
