package archtest_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// ways are the edge and the packages by which every edge starts runs.
func ways() []string {
	return []string{"api", "api/edge", "api/openai", "internal/following", "internal/idempotency", "internal/importing", "internal/intake", "internal/question"}
}

// TestDependenciesAreInterfaces: whoever works with a store, a model or the index
// declares the methods that it uses, and does not hold the whole.
func TestDependenciesAreInterfaces(t *testing.T) {
	t.Parallel()
	whole := map[string][]string{
		"store": {"Store"}, "blob": {"Store"}, "model": {"Client"}, "access": {"Authenticator"}, "retrieve": {"Retriever"},
		"stream": {"Relay", "Hub"}, "extract": {"Pool"}, "dispatch": {"Dispatcher", "Source"},
	}
	holders := append(ways(), "activities/answering", "activities/delivery", "activities/ingestion", "activities/step", "internal/access", "internal/retrieve", "worker")
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if !slices.Contains(holders, filepath.ToSlash(filepath.Dir(path))) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			star, ok := n.(*ast.StarExpr)
			if !ok {
				return true
			}
			s, ok := star.X.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(whole[pkg.Name], s.Sel.Name) {
				t.Errorf("%s names *%s.%s: declare an interface of what is used of it", lines.Position(s.Pos()), pkg.Name, s.Sel.Name)
			}
			return true
		})
	})
}

// TestSystemReadsStayBelowTheEdge: no interface of the edge has a read that takes
// no principal, but the one for readers who were proved to be allowed to follow a
// run, the count of what is asked in a minute, and what the runs of syncs need.
func TestSystemReadsStayBelowTheEdge(t *testing.T) {
	t.Parallel()
	allowed := map[string]string{
		"RunForSystem": "FollowedRuns", "TakeTokens": "Store",
		// Workers call these without a principal, and the edge after it has checked one.
		"ConnectionForSystem": "RunnerStore", "SyncForSystem": "RunnerStore", "ProjectForSystem": "RunnerStore", "UnscheduledSyncs": "RunnerStore", "StartSyncRun": "RunnerStore",
		"ImportForSystem": "RunnerStore", "PreviousImport": "RunnerStore",
	}
	seen := false
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		if !slices.Contains(ways(), filepath.ToSlash(filepath.Dir(path))) {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			declared, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return true
			}
			for _, method := range declared.Methods.List {
				for _, name := range method.Names {
					if !slices.Contains(systemReads(), name.Name) {
						continue
					}
					seen = seen || allowed[name.Name] == spec.Name.Name
					if allowed[name.Name] != spec.Name.Name {
						t.Errorf("%s: %s has %s, which takes no principal", lines.Position(name.Pos()), spec.Name.Name, name.Name)
					}
				}
			}
			return true
		})
	})
	if !seen {
		t.Error("FollowedRuns was not found: the test looks in the wrong place")
	}
}
