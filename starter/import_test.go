package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/starter/terminal"
)

func TestKindOfSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local := filepath.Join(dir, "Archive.ZIP")
	text := filepath.Join(dir, "notes.txt")
	for _, path := range []string{local, text} {
		if err := os.WriteFile(path, []byte("PK"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := []struct {
		source, given, want string
		wrong               string // in the error
	}{
		{source: "s3://docs/a", want: "s3"},
		{source: "gs://docs", want: "gcs"},
		{source: "azblob://docs", want: "azure"},
		{source: "https://example.org/a.zip?signature=x", want: "zip"},
		{source: "https://example.org/list.txt", given: "url_list", want: "url_list"},
		{source: "https://example.org/", given: "crawl", want: "crawl"},
		{source: local, want: ""},
		{source: local, given: "zip", want: ""},
		{source: "https://example.org/", wrong: "--type crawl"},
		{source: "ftp://example.org/a.zip", wrong: "is not a source"},
		{source: text, wrong: "cairn ingest"},
		{source: dir, wrong: "cairn ingest"},
		{source: filepath.Join(dir, "missing.zip"), wrong: "no such file"},
	}
	for _, c := range cases {
		got, err := importCmd{Source: source(c.source), Type: c.given}.kind()
		_, usage := errors.AsType[usageError](err)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%s %s: got %q, %v; want %q", c.source, c.given, got, err, c.want)
		case c.wrong != "" && (!usage || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s %s: got %q, %v; want wrong use with %q", c.source, c.given, got, err, c.wrong)
		}
	}
}

// TestImportOfAnArchive: an archive of this machine is uploaded with what is to be
// imported of it.
func TestImportOfAnArchive(t *testing.T) {
	t.Parallel()
	var choice string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
		}
		choice = r.FormValue("import")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"documents":[],"import":{"id":"i-1","run_id":"i-1","status":"running"}}`)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, []byte("PK"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"import", path, "--include", "**/*.md", "--dry-run", "--url", server.URL, "--key", "k"}
	if code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr}, args); code != exitDone || choice != `{"include":["**/*.md"],"dry_run":true}` {
		t.Errorf("exit %d, sent %q, printed %s%s", code, choice, &stdout, &stderr)
	}
	if code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr}, append(args, "--secret", "x")); code != exitUsage {
		t.Errorf("exit %d with a secret for a file of this machine", code)
	}
}

func TestMeter(t *testing.T) {
	t.Parallel()
	var out, bar bytes.Buffer
	m := terminal.NewMeter(&out, &bar)
	for n := range int64(3) { // full each time, and then there is more
		if err := m.Show(n*100, n*100, "0 failed"); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 || !strings.Contains(bar.String(), "200/201") {
		t.Errorf("lines %q, bar %q", &out, &bar)
	}
}

// TestAnOutageOfAnImportIsTold answers the start of an import, and later the request for its
// events, with the words of a server that starts.
func TestAnOutageOfAnImportIsTold(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	const started = `{"id":"i-1","run_id":"run-1","status":"running"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := requests.Add(1); {
		case n == 1 || n == 4:
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"status":503,"code":"unavailable","detail":"the server is starting"}`)
		case n == 3:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\nevent: importUpdate\ndata: {\"discovered\":2,\"remaining\":1}\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case n == 5:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 2\nevent: runEnded\ndata: {\"status\":\"completed\"}\n\n")
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":"i-1","run_id":"run-1","status":"completed","discovered":2,"published":2}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, started)
		}
	}))
	t.Cleanup(server.Close)
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), &app{stdout: &stdout, stderr: &stderr}, []string{"import", "s3://docs/a", "--wait", "--url", server.URL, "--key", "k"})
	const outage = `no connection, trying again for up to a minute: .+\nconnected again\n`
	want := regexp.MustCompile(`^` + outage + `1 of 2, .+\n` + outage + `2 published, 0 skipped, 0 failed\n$`)
	if code != exitDone || !want.MatchString(stderr.String()) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}
