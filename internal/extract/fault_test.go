package extract_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// faults collects what a pool reports of the faults of its readers.
type faults struct {
	mu    sync.Mutex
	log   bytes.Buffer
	kinds []string
}

// Write implements io.Writer.
func (f *faults) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log.Write(p)
}

func (f *faults) count(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kinds = append(f.kinds, kind)
}

// TestAFaultOfAReader reads documents whose reader panics.
func TestAFaultOfAReader(t *testing.T) {
	t.Parallel()
	tools := officeTools(t)
	if tools.PDFToText == "" {
		skipOrFail(t, "pdftotext is missing; apt-get install poppler-utils")
	}
	const words = "Saffron tea is hot."
	page := onePage([]byte("BT /F 12 Tf 20 100 Td ("+words+") Tj ET"), "")
	for _, tc := range []struct {
		name, second string // "" = it has none
		content      []byte
		tools        format.Tools
	}{
		{"a.pdf", "poppler", page, tools},
		{"a.pdf", "", page, format.Tools{}},
		{"a.docx", "libreoffice", wordDocument(t, words), tools},
		{"a.html", "text", []byte("<html><head><style>p {}</style><script>f('x')</script></head><body><p>" + words + "</p></body></html>"), tools},
		{"a.xml", "text", []byte("<a><b>" + words + "</b></a>"), tools},
		{"a.md", "text", []byte("# " + words), tools},
		{"a.csv", "text", []byte("a,b\n" + words + ",1\n"), tools},
		{"a.eml", "", []byte("From: a@example.com\r\nTo: b@example.com\r\nSubject: tea\r\nMIME-Version: 1.0\r\nDate: Thu, 1 Oct 2026 10:00:00 +0000\r\n\r\n" + words), tools},
	} {
		for _, how := range []string{extract.Panicking, extract.PanickingInRuntime, extract.PanickingConcurrent} {
			t.Run(strings.Join([]string{how, tc.name, tc.second}, " "), func(t *testing.T) {
				t.Parallel()
				var seen faults
				pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tc.tools, OnFault: seen.count, Logger: slog.New(slog.NewTextHandler(&seen, nil))})
				result, err := pool.Extract(t.Context(), extract.Input{Name: how + tc.name, MediaType: typeOf(t, tc.name), Path: write(t, "upload", tc.content), Folder: t.TempDir()})
				seen.mu.Lock()
				defer seen.mu.Unlock()
				if log := seen.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "goroutine ") || strings.Contains(log, "Saffron") {
					t.Errorf("the log has no stack, or words of the document: %s", log)
				}
				if strings.Contains(how, "runtime") != strings.Contains(seen.log.String(), "index out of range") {
					t.Errorf("the log does not name the cause: %s", seen.log.String())
				}
				f, ok := extract.FormatOf(typeOf(t, tc.name))
				if diff := cmp.Diff([]string{f.MediaType}, seen.kinds); !ok || diff != "" {
					t.Errorf("counted: %s", diff)
				}
				if tc.second == "" {
					wantCode(t, err, knowledge.CodeInternal)
					if e := knowledge.AsError(err); !e.Final || !strings.Contains(e.Message, "defect of its own") {
						t.Errorf("the error is %+v", e)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := result.Layout.Metadata[extract.SecondReaderKey]; got != tc.second {
					t.Errorf("read by %q, want %q", got, tc.second)
				}
				if !slices.ContainsFunc(result.Layout.Blocks, func(b knowledge.Block) bool { return strings.Contains(b.Text, words) }) {
					t.Errorf("the words are lost: %+v", result.Layout.Blocks)
				}
			})
		}
	}
}

// typeOf returns the media type of a name.
func typeOf(t *testing.T, name string) string {
	t.Helper()
	for _, f := range extract.Formats() {
		if slices.Contains(f.Extensions, name[strings.LastIndex(name, ".")+1:]) {
			return f.MediaType
		}
	}
	t.Fatalf("no format of %s", name)
	return ""
}
