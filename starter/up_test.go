package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// up runs cairn up on a folder and free ports until ctx ends.
func up(ctx context.Context, data string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, &app{stdout: &out, stderr: &errs}, []string{
		"up", "--data", data, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0",
	})
	return code, out.String(), errs.String()
}

func TestUpStopsWhileItStarts(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if code, stdout, stderr := up(ctx, t.TempDir()); code != exitDone || strings.Contains(stdout, "ready") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}

func TestAdminKeyFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		taken bool
	}{
		"an_easy_key":          {"abc", false},
		"no_ASCII":             {strings.Repeat("ä", 20), false},
		"that_everybody_reads": {"cairn-" + strings.Repeat("k", 20) + "\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &platform{ends: endpoints{KeyFile: filepath.Join(t.TempDir(), "admin.key")}}
			if err := os.WriteFile(p.ends.KeyFile, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			key, err := p.adminKey()
			if taken := err == nil; taken != test.taken {
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
