package sse_test

import (
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cairn-rag/cairn/internal/sse"
)

var update = flag.Bool("update", false, "write what comes out into the transcripts")

// TestTranscripts plays testdata/*.txtar. In a transcript, which is a txtar
// archive, "write" has one call a line: `event ID NAME DATA`, `large ID NAME
// BYTES` (a JSON string of that many bytes) or `comment TEXT`, where \n and \r
// stand for line ends. "stream" is what a client then receives, and "read" what
// the reader makes of it, one event a line.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script := ""
			for _, section := range archive.Files {
				if section.Name == "write" {
					script = string(section.Data)
				}
			}
			got := &txtar.Archive{Comment: archive.Comment, Files: played(t, script)}
			if *update {
				if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("(-transcript +now):\n%s", diff)
			}
		})
	}
}

// played returns the sections of a transcript with the given calls.
func played(t *testing.T, script string) []txtar.File {
	t.Helper()
	recorder := httptest.NewRecorder()
	play(t, recorder, script)
	head := ""
	for _, name := range []string{"Content-Type", "Cache-Control", "X-Accel-Buffering"} {
		head += name + ": " + recorder.Header().Get(name) + "\n"
	}
	var events strings.Builder
	for _, e := range read(t, recorder.Body.String()) {
		events.WriteString(shown(e) + "\n")
	}
	return []txtar.File{
		{Name: "write", Data: []byte(script)},
		{Name: "head", Data: []byte(head)},
		{Name: "stream", Data: []byte(shortened(recorder.Body.String()))},
		{Name: "read", Data: []byte(events.String())},
	}
}

func play(t *testing.T, recorder *httptest.ResponseRecorder, script string) {
	t.Helper()
	w := sse.NewWriter(recorder, sse.Options{Delta: true, RunID: "8a2c0c1e-4a36-4a39-9d7f-0f6b8a1c2d3e"})
	ends := strings.NewReplacer(`\n`, "\n", `\r`, "\r")
	for line := range strings.Lines(script) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		var err error
		switch words[0] {
		case "comment":
			err = w.Comment(ends.Replace(strings.Join(words[1:], " ")))
		case "event":
			err = w.Event(number(t, words[1]), ends.Replace(words[2]), []byte(ends.Replace(words[3])))
		case "large":
			err = w.Event(number(t, words[1]), words[2], []byte(`"`+strings.Repeat("é", int(number(t, words[3]))/2-1)+`"`))
		default:
			t.Fatalf("no call %q", words[0])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shortened says how many é there are instead of showing hundreds.
func shortened(text string) string {
	var b strings.Builder
	for text != "" {
		rest := strings.TrimLeft(text, "é")
		if n := (len(text) - len(rest)) / len("é"); n > 0 {
			b.WriteString("(" + strconv.Itoa(n) + " é)")
			text = rest
			continue
		}
		i := strings.Index(text, "é")
		if i < 0 {
			i = len(text)
		}
		b.WriteString(text[:i])
		text = text[i:]
	}
	return b.String()
}

func shown(e sse.Event) string {
	return e.ID + " " + e.Name + " " + strings.ReplaceAll(shortened(string(e.Data)), "\n", `\n`)
}
