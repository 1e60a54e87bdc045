package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// ingestsAgain ingests a folder, kills the command after its first file, and ingests the
// folder twice more: each file is embedded once and has one version.
func ingestsAgain(t *testing.T, s *server, m *modeltest.Server) {
	const files = 6
	folder, env := t.TempDir(), []string{"CAIRN_URL=" + s.child.Endpoints().API, "CAIRN_KEY=" + s.child.Key()}
	for i := range files {
		text := fmt.Sprintf("Buoy number %d is painted once a year.", i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("buoy%d.md", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	embedded := m.Totals().Texts
	interruptIngest(t, env, folder)
	for _, want := range []string{"0 skipped, 0 failed", "6 unchanged, 0 skipped, 0 failed\n"} {
		code, out, said := command(t, env, "ingest", folder, "--prefix", "buoys/", "--wait")
		if code != 0 || !strings.Contains(said, want) {
			t.Errorf("exit code %d, %s%s, want %q", code, out, said, want)
		}
	}
	if n := m.Totals().Texts - embedded; n != files {
		t.Errorf("%d texts were embedded, want %d", n, files)
	}
	list, err := s.Documents(t.Context(), client.DocumentQuery{Project: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list.Documents {
		if strings.HasPrefix(d.ExternalID, "buoys/") && d.Version != 1 {
			t.Errorf("%s has version %d", d.ExternalID, d.Version)
		}
	}
	if _, _, said := command(t, env, "ingest", filepath.Join(folder, "buoy1.md"), "--prefix", "buoys/", "--wait", "--force"); said != "1 published, 0 skipped, 0 failed; new versions of existing documents: 1\n" {
		t.Errorf("with --force: %s", said)
	}
}

// interruptIngest kills an ingest command when it has sent its first file.
func interruptIngest(t *testing.T, env []string, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "ingest", folder, "--prefix", "buoys/", "--parallel", "1")
	c.Env = append(childserver.Environment(os.Environ()), env...)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "accepted") {
		t.Errorf("the command wrote %q, %v", line, err)
	}
	cancel()
	_ = c.Wait() // it was killed
}
