package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
)

func TestAdminKeyFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text     string
		accepted bool
	}{
		"a_short_key":           {"abc", false},
		"not_ASCII":             {strings.Repeat("ä", 20), false},
		"readable_by_everybody": {"cairn-" + strings.Repeat("k", 20) + "\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &platform{ends: childserver.Endpoints{KeyFile: filepath.Join(t.TempDir(), "admin.key")}}
			if err := os.WriteFile(p.ends.KeyFile, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			key, err := p.adminKey()
			if accepted := err == nil; accepted != test.accepted {
				t.Fatalf("key %q: %v", key, err)
			}
			if err != nil {
				return
			}
			if info, err := os.Stat(p.ends.KeyFile); err != nil || info.Mode().Perm() != fs.FileMode(0o600) || key != strings.TrimSpace(test.text) {
				t.Errorf("key %q, mode %v, %v", key, info.Mode(), err)
			}
		})
	}
}
