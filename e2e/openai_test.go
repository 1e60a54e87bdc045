package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/standin"
)

// TestOpenAIClients lets the official clients of OpenAI hold a whole conversation with
// the server, of which they know the address alone.
func TestOpenAIClients(t *testing.T) {
	t.Parallel()
	python := standin.Program{Path: "openai/bin/python", Install: ".ci/stand-ins"}.Installed(t)
	script := standin.Program{Path: "openai-js/node_modules/openai/package.json", Install: ".ci/stand-ins"}.Installed(t)
	node, err := exec.LookPath("node")
	if err != nil {
		lacking := "install nodejs (Debian's package of that name) to run OpenAI's JavaScript client"
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	s := start(t)
	s.publish(t, "pier.txt", "The northern pier has a lighthouse. It is painted red.")
	for name, command := range map[string][]string{
		"python": {python, "clients/openai_client.py"}, "javascript": {node, "clients/openai_client.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, command[0], command[1:]...)
			c.Env = append(os.Environ(),
				"OPENAI_BASE_URL="+s.ends.API+"/v1", "OPENAI_API_KEY="+s.key, "OPENAI_PACKAGE="+filepath.Dir(filepath.Dir(filepath.Dir(script))),
				"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
			out, err := c.CombinedOutput()
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "done") {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
