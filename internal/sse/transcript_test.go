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
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, sections := parseArchive(string(text))
			recorder := httptest.NewRecorder()
			play(t, recorder, sections["write"])
			head := ""
			for _, name := range []string{"Content-Type", "Cache-Control", "X-Accel-Buffering"} {
				head += name + ": " + recorder.Header().Get(name) + "\n"
			}
			var events strings.Builder
			for _, e := range read(t, recorder.Body.String()) {
				events.WriteString(shown(e) + "\n")
			}
			got := map[string]string{"write": sections["write"], "head": head, "stream": shortened(recorder.Body.String()), "read": events.String()}
			if *update {
				archive := comment
				for _, name := range []string{"write", "head", "stream", "read"} {
					archive += "-- " + name + " --\n" + got[name]
				}
				if err := os.WriteFile(file, []byte(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(sections, got); diff != "" {
				t.Errorf("(-transcript +now):\n%s", diff)
			}
		})
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

// parseArchive reads the txtar format.
func parseArchive(text string) (comment string, sections map[string]string) {
	sections = map[string]string{}
	name := ""
	for line := range strings.Lines(text) {
		if marker, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); ok && strings.HasSuffix(marker, " --") {
			name = strings.TrimSuffix(marker, " --")
			sections[name] = ""
			continue
		}
		if name == "" {
			comment += line
			continue
		}
		sections[name] += line
	}
	return comment, sections
}
