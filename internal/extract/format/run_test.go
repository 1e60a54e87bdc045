package format_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

func TestRun(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CAIRN_SECRET", "secret") // so these tests are not parallel
	source := format.Source{Folder: t.TempDir()}

	t.Run("the program runs in the folder and sees nothing of the server", func(t *testing.T) {
		out, err := source.Run(t.Context(), shell, "-c", "echo done > here; env")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(source.Folder, "here")); err != nil {
			t.Error(err)
		}
		if strings.Contains(string(out), "CAIRN") {
			t.Errorf("the environment is %q", out)
		}
	})
	t.Run("its complaint is in the error", func(t *testing.T) {
		_, err := source.Run(t.Context(), shell, "-c", "echo no such picture >&2; exit 3")
		if err == nil || !strings.Contains(err.Error(), "no such picture") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("it ends with the context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		if _, err := source.Run(ctx, shell, "-c", "exec sleep 60"); err == nil {
			t.Error("no error")
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	t.Run("endless output is an error", func(t *testing.T) {
		if _, err := source.Run(t.Context(), shell, "-c", "head -c 70000000 /dev/zero"); err == nil {
			t.Error("no error")
		}
	})
}
