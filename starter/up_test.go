package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
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

func TestAFolderInUseNamesTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	release, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for pid, address := range map[int]string{os.Getpid(): " at http://127.0.0.1:1;", os.Getpid() + 1: ";"} {
		if err := (childserver.Endpoints{API: "http://127.0.0.1:1", PID: pid}).Write(dir); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("in use by process %d%s", os.Getpid(), address)
		if _, err := lockFolder(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

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
