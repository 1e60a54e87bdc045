package e2e_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// command runs the binary and returns its exit code and its output.
func command(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, err bytes.Buffer
	c := exec.CommandContext(ctx, binary, args...)
	c.Env = append(childserver.Environment(os.Environ()), env...)
	c.Stdout, c.Stderr = &out, &err
	if e := c.Run(); e != nil && c.ProcessState == nil {
		t.Fatal(e)
	}
	return c.ProcessState.ExitCode(), out.String(), err.String()
}

func TestUp(t *testing.T) {
	t.Parallel()

	t.Run("a second server on the same folder is refused and names the first", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		code, _, stderr := command(t, nil, "up", "--data", s.folder, "--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0")
		if code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		for _, want := range []string{strconv.Itoa(s.child.PID()), s.ends.API, "--data"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("the refusal %q does not name %q", stderr, want)
			}
		}
		if err := s.Ready(t.Context()); err != nil {
			t.Errorf("the first server suffered: %v", err)
		}
	})

	t.Run("the admin key is the owner's alone and survives a restart", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		info, err := os.Stat(filepath.Join(s.folder, "admin.key"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("admin.key: %v, %v; want mode 0600", info, err)
		}
		before := s.key
		s.kill()
		s.restart()
		if s.key != before {
			t.Error("the key changed at a restart")
		}
		if _, err := s.Keys(t.Context(), "", 0); err != nil {
			t.Errorf("the key is not taken: %v", err)
		}
	})

	t.Run("CAIRN_ADMIN_KEY sets the admin key", func(t *testing.T) {
		t.Parallel()
		const key = "a-key-of-our-own-0123456789"
		s := start(t, "CAIRN_ADMIN_KEY="+key)
		if s.key != key {
			t.Errorf("admin.key holds another key")
		}
		if _, err := s.Keys(t.Context(), "", 0); err != nil {
			t.Errorf("the configured key is not taken: %v", err)
		}
		stranger, err := client.New(client.Config{URL: s.ends.API, Key: "cairn_another_key_0123456789"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.Keys(t.Context(), "", 0); !client.IsCode(err, "unauthorized") {
			t.Errorf("another key returned %v, want unauthorized", err)
		}
	})

	t.Run("an address that is taken is named", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		code, _, stderr := command(t, nil, "up", "--data", t.TempDir(), "--listen", childserver.Address(s.ends.API), "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0")
		if code != 1 || !strings.Contains(stderr, childserver.Address(s.ends.API)) {
			t.Errorf("exit code %d, %q; want 1 and the address", code, stderr)
		}
	})
}

func TestUpConfiguration(t *testing.T) {
	t.Parallel()

	t.Run("an unknown key of the configuration file names the nearest", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "cairn.yaml")
		if err := os.WriteFile(file, []byte("models:\n  chat:\n    base_ulr: http://127.0.0.1:1/v1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(t, nil, "up", "--data", t.TempDir(), "--config", file)
		if code != 2 || !strings.Contains(stderr, "models.chat.base_url") {
			t.Errorf("exit code %d, %q; want 2 and models.chat.base_url", code, stderr)
		}
	})

	t.Run("a licence of unioffice that is not set, or that this build has no use for, is an error", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "cairn.yaml")
		if err := os.WriteFile(file, []byte("extract: {unioffice_license_env: UNIDOC_KEY}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"": "UNIDOC_KEY, which is not set", "UNIDOC_KEY=wrong": "build with -tags unioffice"} {
			code, _, stderr := command(t, []string{key}, "up", "--data", t.TempDir(), "--config", file,
				"--listen", "127.0.0.1:0", "--temporal-listen", "127.0.0.1:0", "--ui-listen", "127.0.0.1:0")
			if code == 0 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "extract.unioffice_license_env") {
				t.Errorf("exit code %d, %q; want %q", code, stderr, want)
			}
		}
	})

	t.Run("an unknown variable is named in the log, and none stops the start", func(t *testing.T) {
		t.Parallel()
		s := start(t, "CAIRN_PORT=tcp://10.0.0.1:8080", "CAIRN_LIMITS__PARSE_SECUNDS=10")
		log := s.child.LastLines(30)
		for _, want := range []string{"CAIRN_LIMITS__PARSE_SECUNDS", "limits.parse_seconds"} {
			if !strings.Contains(log, want) {
				t.Errorf("the log does not name %s:\n%s", want, log)
			}
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 150, TokenDelay: 20 * time.Millisecond, EmbeddingDelay: 20 * time.Millisecond})
	s := start(t, at(m.URL())...)
	s.publish(t, "before", "A lighthouse stands on the northern pier.")
	m.ScriptEmbeddings(modeltest.Reply{Delay: 30 * time.Second})
	slow := s.upload(t, "during", "A foghorn stands on the southern pier.")
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked == 2 }); err != nil {
		t.Fatal(err)
	}
	asked := s.begun(t, "What stands on the northern pier?", 3)
	type waited struct {
		status int
		run    string
		err    error
	}
	waiting := make(chan waited, 1)
	go func() {
		res, err := s.send(t.Context(), "POST", webhooks+"/query", map[string]any{"text": "What stands on the southern pier?"})
		if err != nil {
			waiting <- waited{err: err}
			return
		}
		res.Body.Close()
		waiting <- waited{status: res.StatusCode, run: res.Header.Get("Cairn-Run-Id")}
	}()
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Chats.Asked == 2 }); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if got := <-waiting; got.err != nil || got.status != http.StatusServiceUnavailable || got.run == "" {
		t.Errorf("the waiting client got %+v, want 503 and the run", got)
	}
	s.restart()

	if last, err := s.Wait(t.Context(), slow.RunID, nil); err != nil || last.Name != client.EventEnded {
		t.Errorf("the resumed document ended with %s, %v", last.Name, err)
	}
	if d := s.document(t, slow.ID); d.Status != "published" {
		t.Errorf("the resumed document is %s", d.Status)
	}
	tr := read(t, s.follow(t, asked.run, 0))
	if tr.text == "" || tr.text != tr.answer.Text {
		t.Errorf("the resumed question: readers have %q, the answer is %q", tr.text, tr.answer.Text)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	code, overview, _ := command(t, nil, "--help")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	commands := []string{
		"up", "worker", "demo", "ingest", "import", "imports list", "imports retry", "ask", "chunks show", "documents list", "documents show", "documents remove", "documents reingest", "documents retry",
		"runs list", "runs show", "runs watch", "runs cancel", "runs approve", "runs refuse", "projects list", "projects create", "projects show", "projects set", "projects reindex", "runs pause", "runs resume",
		"keys create", "keys list", "keys revoke", "health", "doctor", "config", "version",
	}
	for _, name := range commands {
		words := strings.Fields(name)
		if !strings.Contains(overview, words[0]) {
			t.Errorf("cairn --help does not name %s", words[0])
		}
		code, help, stderr := command(t, nil, append(words, "--help")...)
		if code != 0 || !strings.Contains(help, "Example:") || !strings.Contains(help, "cairn "+name) {
			t.Errorf("cairn %s --help: exit code %d, no example in %q %q", name, code, help, stderr)
		}
	}
}
