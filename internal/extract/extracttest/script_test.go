package extracttest_test

import (
	"os/exec"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
)

func TestScriptsRunBesideOneAnother(t *testing.T) {
	t.Parallel()
	for range 8 {
		t.Run("a script runs while others are written", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				if err := exec.CommandContext(t.Context(), extracttest.Script(t, "program", "exit 0\n")).Run(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
