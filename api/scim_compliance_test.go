package api_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestSCIMCompliance lets scim2-tester, a checker that we did not write, check every route. It
// is skipped without it, and fails in CI.
func TestSCIMCompliance(t *testing.T) {
	t.Parallel()
	python := "../bin/tools/scim/bin/python"
	if _, err := os.Stat(python); err != nil {
		missing := "the checker of SCIM is not installed: run .ci/stand-ins"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	e := open(t)
	server := httptest.NewServer(e.handler)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, python, filepath.Join("testdata", "scim", "check.py"))
	key := e.key(store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	command.Env = append(os.Environ(), "CAIRN_URL="+server.URL, "CAIRN_KEY="+key, "PYTHONDONTWRITEBYTECODE=1")
	out, err := command.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "done") {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}
