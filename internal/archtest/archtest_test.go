package archtest_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/cairn-rag/cairn/"

// adapters are the packages that speak to a technology. Only the wiring may
// import them, and none may import another.
var adapters = []string{
	"internal/index/embedded", "internal/embedded", "internal/model/localmodel", "internal/dispatch",
}

// rule says what a package, given by a path prefix, may not import. An entry
// without a dot is one of our own packages.
type rule struct {
	packages string
	never    []string
	why      string
}

var rules = []rule{
	{"internal/knowledge", []string{"internal/", "github.com/", "golang.org/", "go.temporal.io/"}, "the vocabulary imports the standard library only"},
	{"workflows", append([]string{
		"net", "net/http", "os", "math/rand", "math/rand/v2", "crypto/rand", "github.com/google/uuid",
		"internal/store", "internal/blob", "internal/extract", "internal/chunk", "internal/retrieve", "internal/model", "internal/config", "api", "worker", "starter",
	}, adapters...), "workflows are deterministic and know activities only by their names"},
	{"activities", append([]string{"api", "worker", "starter", "workflows", "internal/config"}, adapters...), "activities see interfaces, never an adapter"},
	{"api", append([]string{"go.temporal.io/sdk", "worker", "starter"}, adapters...), "the HTTP edge reaches Temporal through a narrow interface"},
	{"internal/stream", []string{"go.temporal.io/sdk", "internal/store", "internal/blob", "api", "workflows", "activities"}, "the log is below all that writes and reads it"},
	{"internal/", []string{"starter"}, "only the command wires"},
	{"internal/client", []string{"internal/store", "internal/blob", "internal/index", "internal/model", "activities", "workflows", "go.temporal.io/"}, "the client speaks HTTP only"},
}

// wiring are the packages that may import adapters. The stand-in model server
// is for tests only and answers with the offline model's vectors.
var wiring = []string{"starter", "bench", "e2e", "internal/archtest", "internal/model/modeltest"}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// below reports whether path is prefix or lies below it.
func below(path, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func TestImports(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("go list gave %d packages", len(packages))
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			own := strings.TrimPrefix(imported, module)
			for _, r := range rules {
				for _, never := range r.never {
					if below(name, r.packages) && below(own, never) && !below(own, name) && !below(own, r.packages) {
						t.Errorf("%s imports %s: %s", name, own, r.why)
					}
				}
			}
			for _, a := range adapters {
				isWiring := slices.ContainsFunc(wiring, func(w string) bool { return below(name, w) })
				if below(own, a) && !below(name, a) && !isWiring {
					t.Errorf("%s imports the adapter %s: only the wiring does", name, own)
				}
			}
		}
	}
}

// TestPrincipalsAreMadeByAccess keeps the one way to a Principal: package
// access, from a proved key or token.
func TestPrincipalsAreMadeByAccess(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, file *ast.File) {
		if below(path, "internal/access") || below(path, "internal/knowledge") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "NewPrincipal" {
				t.Errorf("%s makes a Principal: only package access does", path)
			}
			return true
		})
	})
}

// TestReadsTakeAPrincipal holds the store's reads for clients to their
// signature: the method's second parameter is the Principal.
func TestReadsTakeAPrincipal(t *testing.T) {
	t.Parallel()
	// Reads for the pipeline, for authentication and for repairs, where nobody
	// asks; each is kept out of api by the interfaces there.
	system := []string{
		"Setting", "WorkspaceExists", "KeyByHash", "Version", "PendingVersions", "RunningVersions", "PendingRemovals",
		"SourceKeys", "RunForSystem", "RunningRuns", "Ping",
	}
	reads := 0
	eachFile(t, func(path string, file *ast.File) {
		if filepath.Dir(path) != filepath.Join("internal", "store") {
			return
		}
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || !gives(f) || slices.Contains(system, f.Name.Name) || !onStore(f) {
				continue
			}
			reads++
			if !takesPrincipal(f) {
				t.Errorf("%s: %s gives data and takes no Principal", path, f.Name.Name)
			}
		}
	})
	if reads == 0 {
		t.Error("no read was found: the test looks in the wrong place")
	}
}

func onStore(f *ast.FuncDecl) bool {
	star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Store"
}

// gives reports whether a method's results are more than an error, and it is
// not a write that answers with what it wrote.
func gives(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) < 2 {
		return false
	}
	for _, verb := range []string{"Add", "Begin", "Publish", "Claim", "Mark"} {
		if strings.HasPrefix(f.Name.Name, verb) {
			return false
		}
	}
	return true
}

func takesPrincipal(f *ast.FuncDecl) bool {
	for _, p := range f.Type.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Principal" {
			return true
		}
	}
	return false
}

// eachFile parses every Go file but tests.
func eachFile(t *testing.T, visit func(path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		visit(relative, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
