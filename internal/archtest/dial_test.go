package archtest_test

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// dials names the packages that connect to addresses without package safedial, each with
// the reason why no user can choose the address.
var dials = map[string]string{
	"internal/safedial":      "checks the addresses that users give",
	"internal/access":        "the key set and the identity provider that an operator configures",
	"internal/blob/connect":  "the bucket that an operator configures",
	"internal/index/milvus":  "the index that an operator configures",
	"internal/model":         "the models that an operator configures",
	"internal/clamd":         "the malware scanner that an operator configures",
	"internal/websearch":     "the search engine that an operator configures",
	"internal/client":        "the server that a command is told to use",
	"starter":                "the server that an operator asks cairn doctor about, and the system that a person tells cairn import-from to read",
	"api":                    "calls its own handler, over no network",
	"internal/service":       "services that tests start",
	"internal/blob/blobtest": "stand-ins of tests",
	"internal/standin":       "stand-ins of tests",

	"internal/source/sourcetest": "fakes in the process of a test, over no network",
	"bench":                      "servers that benchmarks start",
}

// dialling are the names with which a package makes connections of its own.
var dialling = map[string][]string{
	"http": {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net":  {"Dialer", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix"},
	"tls":  {"Dial", "DialWithDialer", "Dialer"},
}

// TestAddressesAreDialledBySafedial: a package that has no reason in dials gets its HTTP
// client from package safedial, by whoever wires it.
func TestAddressesAreDialledBySafedial(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	eachFile(t, func(path string, file *ast.File, lines *token.FileSet) {
		allowed := ""
		for pkg := range dials {
			if below(path, pkg) && len(pkg) > len(allowed) {
				allowed = pkg
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, isType := n.(*ast.StarExpr); isType {
				return false // *http.Client is a client that somebody else made
			}
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			for from, names := range dialling {
				if !of(s, from) || !slices.Contains(names, s.Sel.Name) {
					continue
				}
				if found[allowed] = true; allowed == "" {
					t.Errorf("%s: %s.%s reaches any address: take a client of package safedial, or add a reason to dials", lines.Position(s.Pos()), from, s.Sel.Name)
				}
			}
			return true
		})
	})
	for pkg := range dials {
		if !found[pkg] {
			t.Errorf("%s stands in dials, and dials nothing", pkg)
		}
	}
}
