package clamd_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cairn-rag/cairn/internal/clamd"
	"github.com/cairn-rag/cairn/internal/clamd/clamdtest"
)

func TestScan(t *testing.T) {
	t.Parallel()
	wantVerdicts(t, clamdtest.New(t, 1<<20).Address())
}

// wantVerdicts asks a daemon that takes files of 1 MiB and knows the test file of EICAR.
func wantVerdicts(t *testing.T, address string) {
	t.Helper()
	c := clamd.New(address)
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("ping: %v", err)
	}
	clean := strings.Repeat("nothing to be found. ", 20_000)
	for name, text := range map[string]string{"an empty file": "", "a short one": "hello", "one of several chunks": clean} {
		if found, err := c.Scan(t.Context(), strings.NewReader(text)); err != nil || found.Signature != "" {
			t.Errorf("%s: %q, %v", name, found.Signature, err)
		}
	}
	if found, err := c.Scan(t.Context(), strings.NewReader(clamdtest.EICAR())); err != nil || !strings.Contains(strings.ToLower(found.Signature), "eicar") {
		t.Errorf("the test file: %q, %v", found.Signature, err)
	}
	if _, err := c.Scan(t.Context(), bytes.NewReader(make([]byte, 8<<20))); !errors.Is(err, clamd.ErrTooLarge) && !errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("a file above the limit: %v", err)
	}
	broken := errors.New("the disk is gone")
	if _, err := c.Scan(t.Context(), iotest.ErrReader(broken)); !errors.Is(err, broken) || errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

func TestAFileAboveTheLimitIsTooLarge(t *testing.T) {
	t.Parallel()
	c := clamd.New(clamdtest.New(t, 1000).Address())
	if _, err := c.Scan(t.Context(), bytes.NewReader(make([]byte, 1001))); !errors.Is(err, clamd.ErrTooLarge) {
		t.Errorf("1001 bytes: %v", err)
	}
	if _, err := c.Scan(t.Context(), bytes.NewReader(make([]byte, 1000))); err != nil {
		t.Errorf("1000 bytes: %v", err)
	}
}

func TestADaemonThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	s := clamdtest.New(t, 1<<20)
	s.Down()
	c := clamd.New(s.Address())
	if _, err := c.Scan(t.Context(), strings.NewReader("hello")); !errors.Is(err, clamd.ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
	for name, reply := range map[string]string{
		"silence": "", "an error": "stream: Can't allocate memory ERROR\x00", "half an answer": "stream: O", "another answer": "stream: MAYBE\x00",
	} {
		if _, err := clamd.New(answering(t, reply)).Scan(t.Context(), strings.NewReader("hello")); !errors.Is(err, clamd.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Up(t)
	if _, err := c.Scan(t.Context(), strings.NewReader("hello")); err != nil {
		t.Errorf("it is back: %v", err)
	}
}

func TestScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts, and the kernel takes the bytes
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := clamd.New(l.Addr().String()).Scan(ctx, strings.NewReader("hello")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("scan: %v", err)
	}
}

// answering returns the address of a daemon that has one answer to everything.
func answering(t *testing.T, reply string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1000))
			_, _ = conn.Write([]byte(reply))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// TestScanWithClamd asks the real daemon, whose database has the one signature of the test file.
func TestScanWithClamd(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("clamd")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("clamd is not installed (apt-get install clamav-daemon)")
		}
		t.Skip("clamd is not installed (apt-get install clamav-daemon)")
	}
	wantVerdicts(t, startClamd(t, program))
}

// startClamd starts the daemon and returns its address.
func startClamd(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	hex := make([]byte, 0, 200)
	for _, b := range []byte(clamdtest.EICAR()) {
		const digits = "0123456789abcdef"
		hex = append(hex, digits[b>>4], digits[b&15])
	}
	for name, text := range map[string]string{
		"own.ndb": "Eicar-Test-Signature:0:*:" + string(hex) + "\n",
		"clamd.conf": "Foreground yes\nTCPSocket " + port + "\nTCPAddr 127.0.0.1\nDatabaseDirectory " + dir + "\nTemporaryDirectory " + dir +
			"\nStreamMaxLength 1M\nOfficialDatabaseOnly no\nDisableCache yes\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	daemon := exec.CommandContext(t.Context(), program, "--config-file="+filepath.Join(dir, "clamd.conf"))
	daemon.Stdout, daemon.Stderr = &log, &log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	deadline := time.After(time.Minute)
	for clamd.New(address).Ping(t.Context()) != nil {
		select {
		case err := <-ended:
			t.Fatalf("clamd ended: %v\n%s", err, log.String())
		case <-deadline:
			t.Fatal("clamd did not answer within a minute")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return address
}
