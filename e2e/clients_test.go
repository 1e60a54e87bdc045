package e2e_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// clientPatience bounds one conversation of a client in another language.
const clientPatience = 2 * time.Minute

// TestOfficialClients lets clients that we did not write hold a conversation with the
// program. Their scripts are in the folder clients.
func TestOfficialClients(t *testing.T) {
	t.Parallel()
	folder := installedClients(t)
	m := standIn(t, modeltest.Options{Tokens: 60, TokenDelay: 20 * time.Millisecond})
	s := start(t, at(m.URL())...)
	d, err := s.AddDocument(t.Context(), client.NewDocument{Project: "default", Name: "pier.txt", Content: client.Content{Text: "A lighthouse is on the northern pier. Ann keeps it."}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string][]string{
		"MCP in Python over HTTP":                {"mcp_client.py", "http"},
		"MCP in Python over stdio":               {"mcp_client.py", "stdio"},
		"MCP in TypeScript":                      {"mcp_client.mjs"},
		"eventsource":                            {"eventsource.mjs"},
		"AG-UI":                                  {"agui.mjs"},
		"Temporal's Workflow Streams TypeScript": {"streams.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			s.converse(t, folder, script...)
		})
	}
	t.Run("AG-UI of a run that fails", func(t *testing.T) {
		m.ScriptChat(modeltest.Fail(http.StatusBadRequest))
		s.converse(t, folder, "agui.mjs", "failed")
	})
}

// installedClients returns the folder of the packages that the scripts use. The test is
// skipped without them, and fails in CI.
func installedClients(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../bin/tools/clients")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"node_modules/@modelcontextprotocol/sdk", "node_modules/@temporalio/workflow-streams", "node_modules/eventsource", "node_modules/@ag-ui/client", "node_modules/@a2a-js/sdk", "python/bin/python"} {
		if _, err := os.Stat(filepath.Join(folder, part)); err != nil {
			missing := "the clients in other languages are not installed: run .ci/stand-ins"
			if os.Getenv("CI") != "" {
				t.Fatal(missing)
			}
			t.Skip(missing)
		}
	}
	return folder
}

// converse runs a script against the server.
func (s *server) converse(t *testing.T, folder string, script ...string) {
	t.Helper()
	program := "node"
	if strings.HasSuffix(script[0], ".py") {
		program = filepath.Join(folder, "python", "bin", "python")
	}
	ctx, cancel := context.WithTimeout(t.Context(), clientPatience)
	defer cancel()
	command := exec.CommandContext(ctx, program, append([]string{filepath.Join("clients", script[0])}, script[1:]...)...)
	command.Env = append(os.Environ(), "CAIRN="+binary, "CAIRN_URL="+s.ends.API, "CAIRN_KEY="+s.key, "TEMPORAL="+s.ends.Temporal, "CLIENTS="+folder, "PYTHONDONTWRITEBYTECODE=1")
	out, err := command.CombinedOutput()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "done") {
		t.Errorf("%v: %s", err, out)
	}
}
