package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestResearchOnATerminal shows what a research does now in a last line, which is gone
// before anything else is written and at the end.
func TestResearchOnATerminal(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/ask_research.txtar")
	if err != nil {
		t.Fatal(err)
	}
	script := &scriptedServer{t: t, sent: map[string]string{}}
	for _, section := range txtar.Parse(text).Files {
		if strings.HasPrefix(section.Name, "exchange ") {
			script.exchanges = append(script.exchanges, string(section.Data))
		}
	}
	server := httptest.NewServer(script)
	t.Cleanup(server.Close)

	var screen bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &screen, bar: &screen}
	if code := run(t.Context(), a, []string{"ask", "How is it cleaned?", "--deep-research", "--url", server.URL, "--key", "cairn_k"}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, screen.String())
	}
	for _, part := range []string{
		"… plans round 1, 0 model calls, 0 tokens\r\x1b[K",
		"… reads for round 1, 1 of 2 questions done, 1 model call, 303 tokens\r\x1b[K",
		"… writes section 1 of 2, Cloth, 1 model call, 303 tokens\r\x1b[K",
	} {
		if !strings.Contains(screen.String(), part) {
			t.Errorf("the screen had no %q:\n%q", part, screen.String())
		}
	}
	for line := range strings.Lines(screen.String()) {
		if marked := strings.LastIndex(line, "…"); strings.HasPrefix(line, "… ") && !strings.Contains(line[marked:], "\x1b[K") {
			t.Errorf("a line stays: %q", line)
		}
	}
}
