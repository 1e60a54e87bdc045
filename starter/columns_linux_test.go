package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestColumns runs the commands of testdata/columns/*.txtar against the server with the
// content of server.txtar. "command" is the command line. "50", "80" and "200" are what a
// terminal of so many columns shows, with stdout and stderr on it; "pipe" is stdout without
// a terminal; "json" and "yaml" are the same with -o. "error" is what a terminal of any width
// shows, and the exit code, when the server knows nothing of what the command names. Commands
// that call no server are in ownErrors; "wrong" is the command line of their error if another
// one succeeds. The built binary runs all of them if CAIRN_TEST_BINARY names one.
func TestColumns(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/columns/server.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fixedServer(txtar.Parse(content)))
	t.Cleanup(server.Close)
	empty := httptest.NewServer(fixedServer(&txtar.Archive{}))
	t.Cleanup(empty.Close)
	for _, file := range transcripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			compareColumns(t, file, server.URL, empty.URL)
		})
	}
}

// compareColumns compares what the sections of a transcript show, or writes it into them.
func compareColumns(t *testing.T, file, server, empty string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(text)
	args := commandLine(archive.Files[0].Data)
	for i, section := range archive.Files[1:] {
		if section.Name == "wrong" {
			args = commandLine(section.Data)
			continue
		}
		got := shown(t, section.Name, args, server, empty)
		if *update {
			archive.Files[i+1].Data = []byte(got)
		} else if diff := cmp.Diff(string(section.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestColoursOnATerminalOnly(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/columns/server.txtar")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fixedServer(txtar.Parse(content)))
	t.Cleanup(server.Close)
	args := []string{"documents", "list", "--url", server.URL, "--key", "cairn_k"}
	const green = "\x1b[32mpublished"
	if shown, _ := onTerminal(t, 80, "", args); !strings.Contains(shown, green) {
		t.Errorf("no colour on a terminal:\n%s", shown)
	}
	for name, shown := range map[string]func() (string, int){
		"with NO_COLOR": func() (string, int) { return onTerminal(t, 80, "1", args) },
		"in a pipe":     func() (string, int) { return piped(t, args) },
	} {
		if shown, _ := shown(); strings.Contains(shown, "\x1b") {
			t.Errorf("colour %s:\n%q", name, shown)
		}
	}
}

// TestEveryCommandHasItsColumns finds commands whose table, JSON or errors have no transcript.
// The findings of doctor differ between machines: its report is in TestDoctorReport. The list
// of workers is a Temporal server's: TestTwoVersions reads it.
func TestEveryCommandHasItsColumns(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&app{})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		name := strings.Join(commandWords(leaf), "_")
		text, err := os.ReadFile("testdata/columns/" + name + ".txtar")
		if err != nil {
			t.Errorf("%s has no transcript: %v", name, err)
			continue
		}
		wanted := []string{"error"}
		if slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == "output" }) && name != "doctor" && name != "workers_list" {
			wanted = []string{"50", "80", "200", "json", "yaml", "error"}
		}
		for _, section := range wanted {
			if !slices.ContainsFunc(txtar.Parse(text).Files, func(f txtar.File) bool { return f.Name == section }) {
				t.Errorf("the transcript of %s has no section %s", name, section)
			}
		}
	}
}

// commandLine returns the arguments in a section of a transcript, one on each line.
func commandLine(section []byte) []string {
	return strings.Split(strings.TrimSpace(string(section)), "\n")
}

func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/columns/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "server.txtar" })
}

// ownErrors are the commands whose transcripts call no server.
var ownErrors = []string{"api", "backup", "completion", "config", "demo", "doctor", "export", "import-instance", "mcp", "migrate", "models", "restore", "up", "version", "worker", "workers"}

// shown returns what a section of a transcript shows.
func shown(t *testing.T, section string, args []string, server, empty string) string {
	t.Helper()
	with := func(url string, more ...string) []string {
		if slices.Contains(ownErrors, args[0]) {
			return slices.Concat(args, more)
		}
		return slices.Concat(args, []string{"--url", url, "--key", "cairn_k"}, more)
	}
	switch section {
	case "pipe":
		out, _ := piped(t, with(server))
		return out
	case "json", "yaml":
		out, code := piped(t, with(server, "-o", section))
		if code != exitDone {
			t.Errorf("%q ends with %d", args, code)
		}
		widths := []int{50, 200}
		if binary, _ := builtBinary(); binary != "" {
			widths = widths[:1] // a process takes 0.1 s
		}
		for _, width := range widths {
			if on, _ := onTerminal(t, width, "1", with(server, "-o", section)); !strings.Contains(on, out) { // and what is on stderr
				t.Errorf("%q in %s is another at %d columns:\n%s", args, section, width, on)
			}
		}
		return out
	case "error":
		narrow, code := onTerminal(t, 50, "1", with(empty))
		if wide, _ := onTerminal(t, 200, "1", with(empty)); wide != narrow {
			t.Errorf("the error of %q depends on the width (50, 200):\n%s", args, cmp.Diff(narrow, wide))
		}
		return narrow + fmt.Sprintf("exit %d\n", code)
	}
	width, err := strconv.Atoi(section)
	if err != nil {
		t.Fatalf("a section %q", section)
	}
	out, _ := onTerminal(t, width, "1", with(server))
	return out
}

var (
	times        = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}`)
	days         = regexp.MustCompile(`\b(2019-12-31|2020-01-01)\b`) // of server.txtar, in any zone
	localServers = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
)

// masked hides the times, which are in the zone of this machine, the server's address, and
// the versions of this program and its compiler.
func masked(text, version string) string {
	quoted := "version: \"" + version + "\"" // in YAML, where all characters of the commit are digits
	text = strings.NewReplacer(quoted, "version: VERSION", version, "VERSION", compiler(), "COMPILER", runtime.GOARCH, "ARCH").Replace(text)
	text = times.ReplaceAllString(text, "YYYY-MM-DD hh:mm:ss +hhmm")
	text = days.ReplaceAllString(text, "YYYY-MM-DD")
	return localServers.ReplaceAllString(text, "SERVER")
}

// fixedRun is the run that every request of a fixedServer starts.
const fixedRun = "0c9d7a52-6a1f-4c1e-9d0a-7a55f4a1b001"

// fixedServer answers each request by the file of the archive whose name is its method and
// path, and any other request by 404.
func fixedServer(archive *txtar.Archive) http.Handler {
	answers := map[string][]byte{}
	for _, file := range archive.Files {
		answers[file.Name] = file.Data
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.Method+" "+r.URL.Path]
		switch {
		case !ok:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"status":404,"code":"not_found","detail":"there is no %s"}`, r.URL.Path)
		case bytes.HasPrefix(body, []byte("id: ")):
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cairn-Run-Id", fixedRun)
			_, _ = w.Write(body) // a client that is gone fails the comparison
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cairn-Run-Id", fixedRun)
			_, _ = w.Write(body) // a client that is gone fails the comparison
		}
	})
}
