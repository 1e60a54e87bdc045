package e2e_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// deflated returns a text that is repeated to size bytes and compressed n times.
func deflated(t *testing.T, text string, size, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	stages := []io.WriteCloser{zlib.NewWriter(&out)}
	for range n - 1 {
		stages = append(stages, zlib.NewWriter(stages[len(stages)-1]))
	}
	block := []byte(strings.Repeat(text, 1<<20/len(text)))
	for written := 0; written < size; written += len(block) {
		if _, err := stages[n-1].Write(block); err != nil {
			t.Fatal(err)
		}
	}
	for i := n - 1; i >= 0; i-- {
		if err := stages[i].Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// bomb returns a PDF of one page whose content is a few KB, and size bytes when it
// is unpacked.
func bomb(t *testing.T, text string, size, filters int) []byte {
	t.Helper()
	content := deflated(t, text, size, filters)
	whole := textPDF([][]string{{"word"}})
	head, _, _ := bytes.Cut(whole, []byte("5 0 obj"))
	var out bytes.Buffer
	out.Write(head)
	fmt.Fprintf(&out, "5 0 obj\n<< /Length %d /Filter [%s] >>\nstream\n", len(content), strings.Repeat("/FlateDecode ", filters))
	out.Write(content)
	out.WriteString("\nendstream\nendobj\ntrailer << /Size 6 /Root 1 0 R >>\n%%EOF\n")
	return out.Bytes()
}

func badPDFs(t *testing.T, s *server) {
	whole := textPDF([][]string{{"The lamp is described on this page."}, {"And the lens on this one."}})
	named := func(name string, content []byte) client.Document {
		return s.sendFiles(t, nil, file{name, content})[0]
	}
	t.Run("that is encrypted says so", func(t *testing.T) {
		content, err := os.ReadFile(filepath.Join(sharedFiles(t), "pdf", "libreoffice-writer-password.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		end := s.wantFailed(t, named("locked.pdf", content), knowledge.StageExtract, knowledge.CodeEncrypted)
		if end.Error.Retryable || !strings.Contains(end.Error.Message, "password") {
			t.Errorf("the error is %+v", end.Error)
		}
		s.refuses(t, "POST", "/workspaces/default/documents/"+end.ID+"/retry", nil, http.StatusConflict, knowledge.CodeConflict)
	})
	t.Run("that is cut off or damaged ends as corrupt, or as the pages that are left", func(t *testing.T) {
		for _, part := range []int{9, 100, len(whole) / 2, len(whole) - 200, len(whole) - 10} {
			d := named(fmt.Sprintf("cut at %d.pdf", part), whole[:part])
			end := s.ended(t, d)
			if end.Status == knowledge.StatusPublished && part >= len(whole)/2 {
				continue // some of its pages were whole
			}
			s.wantFailed(t, d, knowledge.StageExtract, knowledge.CodeCorrupt)
		}
		s.wantFailed(t, named("garbage.pdf", []byte("%PDF-1.7\n"+strings.Repeat("\x00\xff garbage obj << ", 2000))), knowledge.StageExtract, knowledge.CodeCorrupt)
	})
	t.Run("that is a bomb is stopped", func(t *testing.T) {
		files := []file{
			{"words.pdf", bomb(t, "BT /F1 10 Tf 60 700 Td (words and words) Tj ET\n", 300<<20, 2)},
			{"spaces.pdf", bomb(t, "                                ", 300<<20, 3)},
			{"states.pdf", bomb(t, "q q q q q q q q q q q q q q q q ", 100<<20, 2)},
		}
		for i, d := range s.sendFiles(t, nil, files...) {
			if len(files[i].content) > 10_000 {
				t.Fatalf("%s has %d bytes: no bomb", d.Name, len(files[i].content))
			}
			s.wantFailed(t, d, knowledge.StageExtract, knowledge.CodeParseLimit)
		}
	})
	t.Run("that lies about its pages is as long as it is, or corrupt", func(t *testing.T) {
		many := named("pages.pdf", bytes.Replace(whole, []byte("/Count 2"), []byte("/Count 99999999"), 1))
		if end := s.ended(t, many); end.Status != knowledge.StatusPublished || end.PageCount != 2 {
			t.Errorf("it is %s with %d pages, %+v", end.Status, end.PageCount, end.Error)
		}
		loop := named("loop.pdf", bytes.Replace(whole, []byte("/Kids [4 0 R 6 0 R ]"), []byte("/Kids [2 0 R 2 0 R ]"), 1))
		s.wantFailed(t, loop, knowledge.StageExtract, knowledge.CodeCorrupt)
	})
}
