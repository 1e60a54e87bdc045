package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// command runs a command line and returns its exit code and output.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), &app{stdout: &out, stderr: &errs}, args)
	return code, out.String(), errs.String()
}

func TestEachCommandHasHelpWithAnExample(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&app{})
	if err != nil {
		t.Fatal(err)
	}
	leaves := parser.Model.Leaves(true) // true: without the hidden ones
	if len(leaves) < 15 {
		t.Fatalf("%d commands, want all of them", len(leaves))
	}
	commands := map[string]*kong.Node{} // with their groups, such as documents
	for _, leaf := range leaves {
		for n := leaf; n.Type == kong.CommandNode; n = n.Parent {
			commands[strings.Join(commandWords(n), " ")] = n
		}
	}
	for name, node := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := command(t, append(commandWords(node), "--help")...)
			if code != exitDone || !strings.Contains(stdout, "Example:") || !strings.Contains(stdout, "    cairn "+name) {
				t.Errorf("exit code %d, stderr %q, help:\n%s", code, stderr, stdout)
			}
			if node.Help == "" {
				t.Error("no help in the list of commands")
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	address := closed.URL
	closed.Close() // nothing listens there any more
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		want int
		says string
	}{
		{"done", []string{"version"}, exitDone, ""},
		{"no_command", nil, exitUsage, "Exit codes: "},
		{"a_group_without_a_command", []string{"documents"}, exitUsage, "\n  documents list "},
		{"an_unknown_command", []string{"asks"}, exitUsage, "cairn --help"},
		{"an_unknown_flag", []string{"ask", "why?", "--projet", "p"}, exitUsage, "cairn ask --help"},
		{"a_missing_argument", []string{"ask"}, exitUsage, "<question>"},
		{"an_argument_without_text", []string{"ask", ""}, exitUsage, "<question> ...: must not be empty"},
		{"an_argument_that_is_not_utf8", []string{"ask", "\xff\xfe"}, exitUsage, "<question> ...: is not UTF-8"},
		{"a_flag_that_is_not_utf8", []string{"ask", "why?", "--document", "\xff"}, exitUsage, "--document: is not UTF-8"},
		{"a_project_without_a_name", []string{"ingest", file, "--project", ""}, exitUsage, "--project"},
		{"a_key_with_a_line_break", []string{"ask", "why?", "--key", "a\nb"}, exitUsage, "the key contains a line break"},
		{"a_negative_limit_of_runs", []string{"runs", "list", "--limit=-1"}, exitUsage, "--limit"},
		{"a_negative_limit_of_documents", []string{"documents", "list", "--limit=-1"}, exitUsage, "--limit"},
		{"a_removal_of_everything", []string{"documents", "remove", "--all", "--yes"}, exitUsage, "--project"},
		{"an_empty_project_name", []string{"projects", "set", "p-1", "name="}, exitUsage, "name must not be empty"},
		{"a_malformed_address", []string{"documents", "list", "--url", "127.0.0.1"}, exitUsage, "http://host:port"},
		{"a_missing_file", []string{"ingest", file + ".not"}, exitUsage, "no such file"},
		{"no_server_to_ask", []string{"ask", "why?", "--url", address}, exitNoServer, "cairn up"},
		{"no_server_to_list", []string{"runs", "list", "--url", address}, exitNoServer, address},
		{"no_server_to_ingest_into", []string{"ingest", file, "--url", address}, exitNoServer, "cairn up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := command(t, test.args...)
			if code != test.want || !strings.Contains(stderr, test.says) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q in it", code, test.want, stderr, test.says)
			}
		})
	}
}

func TestOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2][]string{
		{{"--version"}, {"version"}},
		{{"help"}, {"--help"}},
		{{"help", "documents", "list"}, {"documents", "list", "--help"}},
	} {
		code, stdout, stderr := command(t, pair[0]...)
		_, want, _ := command(t, pair[1]...)
		if code != exitDone || stdout != want || stdout == "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q; want %q", pair[0], code, stdout, stderr, want)
		}
	}
}

func TestTheLocalKeyIsSentToThisMachineOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "admin.key")
	if err := os.WriteFile(path, []byte("cairn_secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for server, want := range map[string]string{
		"http://127.0.0.1:8080":         "cairn_secret",
		"http://localhost:9":            "cairn_secret",
		"http://[::1]:8080":             "cairn_secret",
		"https://cairn.example.org":     "",
		"http://127.0.0.1.example.org/": "",
		"http://localhost@example.org":  "",
		"http://10.0.0.7:8080":          "",
	} {
		if got := localKey(server, path); got != want {
			t.Errorf("key for %s is %q, want %q", server, got, want)
		}
	}
}

// firstWrite calls then at each write.
type firstWrite struct{ then func() }

func (f firstWrite) Write(p []byte) (int, error) {
	f.then()
	return len(p), nil
}

// hold streams text and then nothing until the client disconnects.
func hold(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cairn-Run-Id", "run-1")
		fmt.Fprint(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}
