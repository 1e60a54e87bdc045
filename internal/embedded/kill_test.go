package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/cairn-rag/cairn/internal/embedded"
)

// childFolder tells this test's binary that it is the process to be killed.
const childFolder = "EMBEDDED_TEST_CHILD_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		if err := serve(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve runs a server and says where, until it is ended.
func serve(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := embedded.Start(ctx, embedded.Config{Dir: dir, Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: logger})
	if err != nil {
		return err
	}
	fmt.Println("ready", s.Address())
	<-ctx.Done()
	s.Stop()
	return nil
}

// child is a server in a process of its own.
type child struct {
	cmd    *exec.Cmd
	client client.Client
	ready  time.Duration
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	began := time.Now()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFolder+"="+dir)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ok {
		t.Fatalf("the server said %q, %v", line, err)
	}
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: address, Namespace: "cairn", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &child{cmd: cmd, client: c, ready: time.Since(began)}
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // "signal: killed"
}

func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "temporal")

	t.Run("what_was_acknowledged_is_there_after_each_kill", func(t *testing.T) {
		for round := range 3 {
			server := startChild(t, dir)
			t.Logf("ready after %s", server.ready.Round(time.Millisecond))
			for earlier := range round {
				id := fmt.Sprintf("round/%d", earlier)
				if _, err := server.client.DescribeWorkflowExecution(t.Context(), id, ""); err != nil {
					t.Errorf("workflow %s: %v", id, err)
				}
			}
			options := client.StartWorkflowOptions{ID: fmt.Sprintf("round/%d", round), TaskQueue: queue}
			if _, err := server.client.ExecuteWorkflow(t.Context(), options, "Pair"); err != nil {
				t.Fatal(err)
			}
			server.kill(t)
		}
	})

	t.Run("a_first_start_that_was_killed_is_done_again", func(t *testing.T) {
		for _, after := range []time.Duration{5, 20, 60, 120, 200} {
			dir := filepath.Join(t.TempDir(), "temporal")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childFolder+"="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after * time.Millisecond)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			startChild(t, dir).kill(t)
		}
	})
}
