package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// TestDemo runs the demo, which checks by itself what it claims and ends after a minute. It
// runs before the parallel tests, because it has that minute only.
func TestDemo(t *testing.T) {
	var stdout, stderr bytes.Buffer
	demo := exec.CommandContext(t.Context(), binary, "demo")
	demo.Env = childserver.Environment(os.Environ())
	demo.Stdout, demo.Stderr = &stdout, &stderr
	err := demo.Run()
	claims := regexp.MustCompile(`(?s)published  handbook\.md  .* documents ingested in .*\n  \[1\]  .*chunk .*` +
		`\n1\. \d+ documents were published\. After SIGKILL .*\n2\. The server was killed at character .*\n3\. The \d+ events of the answer have the ids 1 to `)
	if err != nil || !claims.MatchString(stdout.String()) {
		t.Errorf("%v, stdout:\n%s\nstderr:\n%s", err, &stdout, &stderr)
	}
}
