package archtest_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAbsentModulesStayAbsent keeps out of the command what the modules below
// internal/embedded/absent replace: servers and cloud clients that nothing here calls,
// and that cost minutes of a first build.
func TestAbsentModulesStayAbsent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "./starter")
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "go.temporal.io/server/temporal") {
		t.Fatal("the Temporal server was not found: the test looks in the wrong place")
	}
	for _, absent := range []string{"cloud.google.com/go/run", "cloud.google.com/go/storage/internal", "go.etcd.io/raft", "k8s.io/client-go"} {
		for _, pkg := range linked {
			if below(pkg, absent) {
				t.Errorf("the command links %s: see internal/embedded/absent/README.md", pkg)
			}
		}
	}
}
