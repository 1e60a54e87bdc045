package e2e_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// askOverAnOutage takes the server away while cairn ask prints an answer of so many words, and
// brings it back once the command has said that there is no connection.
func askOverAnOutage(t *testing.T, s *server, words int, away, back func()) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, binary, "ask", "What is on the northern pier?")
	c.Env = append(childserver.Environment(os.Environ()), "CAIRN_URL="+s.ends.API, "CAIRN_KEY="+s.key)
	out, outErr := c.StdoutPipe()
	said, saidErr := c.StderrPipe()
	if outErr != nil || saidErr != nil {
		t.Fatal(outErr, saidErr)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	answer := readUntil(t, out, func(text string) bool { return strings.Count(text, "word") >= 20 })
	gone := time.Now()
	away()
	notice := readUntil(t, said, func(text string) bool { return strings.Contains(text, "trying again") })
	t.Logf("the outage was told after %v", time.Since(gone).Round(time.Millisecond))
	back()
	rest, err := io.ReadAll(out)
	answer += string(rest)
	told, toldErr := io.ReadAll(said)
	if err != nil || toldErr != nil {
		t.Fatal(err, toldErr)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("cairn ask: %v", err)
	}
	if n := strings.Count(answer, "word"); n != words {
		t.Errorf("%d words of %d:\n%s", n, words, answer)
	}
	if notice += string(told); !strings.Contains(notice, "no connection, trying again") || !strings.Contains(notice, "connected again") {
		t.Errorf("the outage was not told: %q", notice)
	}
}

// readUntil reads from r until what was read is enough.
func readUntil(t *testing.T, r io.Reader, enough func(string) bool) string {
	t.Helper()
	var text bytes.Buffer
	part := make([]byte, 512)
	for !enough(text.String()) {
		n, err := r.Read(part)
		text.Write(part[:n])
		if err != nil {
			t.Fatalf("it ended with %v after %q", err, text.String())
		}
	}
	return text.String()
}

// signal sends a signal to the server's process.
func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(s.child.PID(), sig); err != nil {
		t.Fatal(err)
	}
}
