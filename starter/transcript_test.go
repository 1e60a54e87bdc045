package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the commands print into the transcripts")

// TestTranscripts runs the commands of testdata/*.txtar. In a transcript
// "command" is the command line, "stdin" its standard input. "exchange N" is the Nth expected request (one
// line: method, path and Last-Event-ID) with the status, headers and body of
// its answer; a body that ends in "(cut)" breaks the connection. "sent N" is
// the body of the Nth request. "stdout", "stderr" and "exit" are the command's
// output. SERVER stands for the server's address.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			runTranscript(t, file, txtar.Parse(text))
		})
	}
}

func runTranscript(t *testing.T, file string, archive *txtar.Archive) {
	var exchanges []string
	var args []string
	var stdin string
	for _, section := range archive.Files {
		switch {
		case section.Name == "command":
			args = strings.Split(strings.TrimSpace(string(section.Data)), "\n")
		case section.Name == "stdin":
			stdin = string(section.Data)
		case strings.HasPrefix(section.Name, "exchange "):
			exchanges = append(exchanges, string(section.Data))
		}
	}
	script := &scriptedServer{t: t, exchanges: exchanges, sent: map[string]string{}}
	server := httptest.NewServer(script)
	t.Cleanup(server.Close)

	var stdout, stderr bytes.Buffer
	code := run(context.Background(), &app{stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr}, append(args, "--url", server.URL, "--key", "cairn_k"))
	server.Close() // now the script has recorded everything
	got := map[string]string{"stdout": stdout.String(), "stderr": stderr.String(), "exit": strconv.Itoa(code) + "\n"}
	if n := script.next; n != len(exchanges) {
		t.Errorf("%d requests, want %d", n, len(exchanges))
	}
	maps.Copy(got, script.sent)
	for i, section := range archive.Files {
		out, ok := got[section.Name]
		if !ok {
			continue
		}
		out = strings.ReplaceAll(out, server.URL, "SERVER")
		if *update {
			archive.Files[i].Data = []byte(out)
		} else if diff := cmp.Diff(string(section.Data), out); diff != "" {
			t.Errorf("%s (-want +got):\n%s", section.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scriptedServer answers the exchanges of a transcript in order.
type scriptedServer struct {
	t         *testing.T
	exchanges []string

	mu   sync.Mutex
	next int
	sent map[string]string
}

func (s *scriptedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		return // asked while a slow machine keeps a stream silent
	}
	s.mu.Lock()
	n := s.next
	s.next++
	s.mu.Unlock()
	if n >= len(s.exchanges) {
		s.t.Errorf("unexpected request %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Errorf("read the request: %v", err)
	}
	s.mu.Lock()
	s.sent[fmt.Sprintf("sent %d", n+1)] = string(sent) + "\n"
	s.mu.Unlock()
	request, answer, _ := strings.Cut(s.exchanges[n], "\n")
	got := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, r.Header.Get("Last-Event-ID")))
	if got != request {
		s.t.Errorf("request %d is %q, want %q", n+1, got, request)
	}
	head, body, _ := strings.Cut(answer, "\n\n")
	status, headers, _ := strings.Cut(head, "\n")
	for line := range strings.Lines(headers) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		w.Header().Set(name, value)
	}
	code, err := strconv.Atoi(strings.TrimSpace(status))
	if err != nil {
		s.t.Errorf("exchange %d has the status %q", n+1, status)
	}
	w.WriteHeader(code)
	body, cut := strings.CutSuffix(body, "(cut)\n")
	fmt.Fprint(w, body)
	if cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}
