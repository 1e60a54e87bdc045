package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upUntilReady starts cairn up on a folder and returns the API's address, and a
// function that stops the server and returns its exit code.
func upUntilReady(t *testing.T, data string) (api string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, &app{stdout: in, stderr: t.Output()}, []string{
			"up", "--data", data, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0",
		})
		_ = in.Close() // closing a pipe cannot fail
	}()
	lines := bufio.NewScanner(out)
	for api == "" && lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "API "); ok {
			api = strings.TrimSpace(address)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	stop = func() int { cancel(); return <-code }
	if api == "" {
		t.Fatalf("the server ended with %d before it was ready", stop())
	}
	return api, stop
}

func TestUpOnAFolderWhoseNameNeedsEscapes(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	data := filepath.Join(parent, "a b%20c?d#e")
	for range 2 { // a new folder, and the same one again
		api, stop := upUntilReady(t, data)
		r, err := http.Get(api + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("/readyz has status %d", r.StatusCode)
		}
		if code := stop(); code != exitDone {
			t.Errorf("exit code %d", code)
		}
	}
	for _, name := range []string{"cairn.db", "index.db", "blobs", "temporal/temporal.db", "temporal/visibility.db"} {
		if _, err := os.Stat(filepath.Join(data, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) != 1 {
		t.Errorf("the parent folder holds %v, %v", entries, err)
	}
}
