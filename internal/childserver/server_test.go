package childserver_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// TestMain lets the test's own binary be the program that a test runs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "up" {
		if err := up(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(exitCode())
	}
	os.Exit(m.Run())
}

// exitCode is 3 where a test wants a server that stops badly.
func exitCode() int {
	if os.Getenv("TEST_STOPS_BADLY") != "" {
		return 3
	}
	return 0
}

// up behaves as far as the harness can see like cairn up.
func up(args []string) error {
	if os.Getenv("TEST_FAILS") != "" {
		return errors.New("no room on the disk")
	}
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	data := flags.String("data", "", "")
	listen := flags.String("listen", "", "")
	temporal := flags.String("temporal-listen", "", "")
	ui := flags.String("ui-listen", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, set := os.LookupEnv("CAIRN_CONFIG"); set {
		return errors.New("the user's configuration came through")
	}
	var at []string
	var api net.Listener
	for _, address := range []string{*listen, *temporal, *ui} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		at = append(at, l.Addr().String())
		if api == nil {
			api = l
		}
	}
	key := filepath.Join(*data, "admin.key")
	e := childserver.Endpoints{API: "http://" + at[0], Temporal: at[1], UI: "http://" + at[2], KeyFile: key, PID: os.Getpid()}
	if err := errors.Join(os.MkdirAll(*data, 0o700), os.WriteFile(key, []byte("the-key\n"), 0o600), e.Write(*data)); err != nil {
		return err
	}
	fmt.Println("ready with", os.Getenv("CAIRN_TEST"))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { _ = http.Serve(api, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }() // until the process ends
	<-ctx.Done()
	return nil
}

// newServer returns a server in a folder whose path has a space.
func newServer(t *testing.T, env ...string) (s *childserver.Server, data string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data = filepath.Join(folder, "data")
	s = childserver.New(childserver.Config{Program: os.Args[0], Data: data, Log: filepath.Join(folder, "log"), Env: env})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, data
}

func mustStart(t *testing.T, s *childserver.Server) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestServer(t *testing.T) {
	t.Setenv("CAIRN_CONFIG", "/etc/cairn.yaml")

	t.Run("is ready on free ports, and on the same ones after a kill", func(t *testing.T) {
		s, _ := newServer(t, "CAIRN_TEST=its variable")
		mustStart(t, s)
		before := s.Endpoints()
		if s.Key() != "the-key" || before.PID != s.PID() || strings.HasSuffix(before.API, ":0") {
			t.Errorf("key %q, endpoints %+v of process %d", s.Key(), before, s.PID())
		}
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.Done():
		default:
			t.Error("the killed server still runs")
		}
		if err := s.Kill(); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("a second kill returned %v", err)
		}
		mustStart(t, s)
		after := s.Endpoints()
		if after.PID == before.PID {
			t.Error("the restarted server is the same process")
		}
		after.PID = before.PID
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("endpoints after the restart (-before +after):\n%s", diff)
		}
		if got := s.LastLines(5); got != "ready with its variable\nready with its variable" {
			t.Errorf("the log is %q", got)
		}
		if got := s.LastLines(1); got != "ready with its variable" {
			t.Errorf("its last line is %q", got)
		}
		c, err := s.Client()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ready(t.Context()); err != nil {
			t.Errorf("the client is not answered: %v", err)
		}
	})
	t.Run("that fails at its start is explained by its log", func(t *testing.T) {
		s, data := newServer(t, "TEST_FAILS=yes")
		// The endpoints of an earlier process must not be trusted.
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := (childserver.Endpoints{API: "http://127.0.0.1:1", PID: 1}).Write(data); err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err == nil || s.LastLines(1) != "no room on the disk" {
			t.Errorf("Start returned %v, and the log ends with %q", err, s.LastLines(1))
		}
	})
	t.Run("that stops well has no error", func(t *testing.T) {
		s, _ := newServer(t)
		mustStart(t, s)
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("that stops with another code has one", func(t *testing.T) {
		s, _ := newServer(t, "TEST_STOPS_BADLY=yes")
		mustStart(t, s)
		if err := s.Stop(); err == nil || !strings.Contains(err.Error(), "code 3") {
			t.Errorf("Stop returned %v", err)
		}
	})
	t.Run("that was never started can be closed", func(t *testing.T) {
		newServer(t)
	})
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := childserver.Environment([]string{"PATH=/bin", "OPENAI_API_KEY=sk", "CAIRN_CONFIG=/etc/cairn.yaml", "HOME=/root", "TEMPORAL_ADDRESS=cloud"})
	if want := []string{"PATH=/bin", "HOME=/root"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"": "127.0.0.1:0", "http://127.0.0.1:4711": "127.0.0.1:4711", "http://127.0.0.1:4711/": "127.0.0.1:4711", "127.0.0.1:7233": "127.0.0.1:7233",
	} {
		if got := childserver.Address(endpoint); got != want {
			t.Errorf("Address(%q) = %q, want %q", endpoint, got, want)
		}
	}
}
