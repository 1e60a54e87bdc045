package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkerJoins starts a worker beside a server and stops it.
func TestWorkerJoins(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	_, stop := upUntilReady(t, data)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, &app{stdout: in, stderr: t.Output()}, []string{"worker", "--data", data, "--queues", "bulk"})
		_ = in.Close() // closing a pipe cannot fail
	}()
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "Queues     bulk") {
			cancel()
		}
	}
	if got := <-code; got != exitDone || len(said) != 4 {
		t.Errorf("exit code %d, printed %q", got, said)
	}
	if left, _ := filepath.Glob(filepath.Join(data, "workers", "worker-*")); len(left) > 0 { // the pattern is well formed
		t.Errorf("it left %v", left)
	}
	if got := stop(); got != exitDone {
		t.Errorf("the server ended with %d", got)
	}
}
