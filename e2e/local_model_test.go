package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/encoder/encodertest"
	"github.com/cairn-rag/cairn/internal/process"
)

// TestLocalModel adds a tiny model to a data folder and lets a server embed with it.
func TestLocalModel(t *testing.T) {
	t.Parallel()
	folder, weights, checksum := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "tiny.bin"), ""
	data := encodertest.New(1).File()
	sum := sha256.Sum256(data)
	checksum = hex.EncodeToString(sum[:])
	if err := os.WriteFile(weights, data, 0o600); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "cairn.yaml")
	if err := os.WriteFile(settings, []byte("models: {embedding: {type: local, model: tiny}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refuseModel(t, folder, weights, settings, checksum)

	if code, stdout, stderr := command(t, nil, "models", "add", "tiny", "--data", folder, "--from", weights, "--sha256", checksum); code != 0 || !strings.Contains(stdout, "model: tiny") {
		t.Fatalf("add: exit code %d, %q %q", code, stdout, stderr)
	}
	s := startIn(t, folder, "CAIRN_CONFIG="+settings)
	first := s.encoder(0)
	documents := manyTexts(t, 60)
	ended := make(chan string, 1)
	go func() {
		code, stdout, stderr := command(t, s.env(), "ingest", "--wait", documents)
		ended <- fmt.Sprintf("exit code %d\n%s\n%s", code, stdout, stderr)
	}()
	await(t, time.Minute, "the model works", func(context.Context) error {
		if own, _, ok := process.CPU(first); ok && own > 200*time.Millisecond {
			return nil
		}
		return errors.New("it has not worked yet")
	})
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.encoder(first)
	if said := <-ended; !strings.HasPrefix(said, "exit code 0\n") {
		t.Fatalf("the ingest, whose model was killed: %s", said)
	}
	code, stdout, stderr := command(t, s.env(), "ask", "Where is the holiday report number 7?")
	if code != 0 || !strings.Contains(stdout, "text-") {
		t.Errorf("ask: exit code %d, %q %q", code, stdout, stderr)
	}
	if code, stdout, _ := command(t, append(s.env(), "CAIRN_DATA="+folder), "doctor", "--config", settings); !strings.Contains(stdout, "tiny in the data folder") {
		t.Errorf("doctor: exit code %d, %q", code, stdout)
	}
	if code, _, stderr := command(t, nil, "models", "remove", "tiny", "--data", folder, "--config", settings); code != 2 || !strings.Contains(stderr, "models.embedding") {
		t.Errorf("the removal of a model that is used: exit code %d, %q", code, stderr)
	}
	last := s.encoder(first)
	s.stop()
	await(t, 10*time.Second, "the model's process ends with its server", func(context.Context) error {
		if errors.Is(syscall.Kill(last, 0), syscall.ESRCH) {
			return nil
		}
		return fmt.Errorf("process %d runs", last)
	})
}

// refuseModel checks what is said where the model is not added, or is another one.
func refuseModel(t *testing.T, folder, weights, settings, checksum string) {
	t.Helper()
	if code, _, stderr := command(t, nil, "models", "add", "multilingual-e5-small", "--data", folder, "--from", weights); code != 2 || !strings.Contains(stderr, "SHA-256") {
		t.Errorf("other weights than the known ones: exit code %d, %q", code, stderr)
	}
	wrong := strings.Repeat("0", len(checksum))
	if code, _, stderr := command(t, nil, "models", "add", "tiny", "--data", folder, "--from", weights, "--sha256", wrong); code != 2 || !strings.Contains(stderr, wrong) {
		t.Errorf("another checksum: exit code %d, %q", code, stderr)
	}
	env := []string{"CAIRN_CONFIG=" + settings, "CAIRN_DATA=" + folder}
	for name, args := range map[string][]string{"up": {"up", "--data", folder, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0"}, "doctor": {"doctor", "--url", "http://127.0.0.1:1"}} {
		code, stdout, stderr := command(t, env, args...)
		if code == 0 || !strings.Contains(stdout+stderr, "cairn models add tiny") {
			t.Errorf("%s without the model: exit code %d, %q %q", name, code, stdout, stderr)
		}
	}
}

// encoder returns the process of the server's model, when it is another one than before.
func (s *server) encoder(before int) (pid int) {
	s.t.Helper()
	await(s.t, time.Minute, "the process of the model runs", func(context.Context) error {
		for _, child := range s.child.Children() {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
			if err == nil && child != before && strings.Contains(string(line), "\x00encode\x00") {
				pid = child
				return nil
			}
		}
		return errors.New("it does not run")
	})
	return pid
}

// env are the variables with which a command finds the server.
func (s *server) env() []string { return []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key} }

// manyTexts returns a folder of n texts.
func manyTexts(t *testing.T, n int) string {
	t.Helper()
	folder := t.TempDir()
	for i := range n {
		text := fmt.Sprintf("The holiday report number %d. ", i) + strings.Repeat(fmt.Sprintf("The weather of the vacation %d was fine, and the office was closed. ", i), 30)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("text-%d.txt", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
