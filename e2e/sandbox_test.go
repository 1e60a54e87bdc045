package e2e_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestSandbox uploads a document that has LibreOffice draw a picture of the data folder, to
// a server that confines LibreOffice, to one that cannot, and to one that need not.
func TestSandbox(t *testing.T) {
	t.Parallel()
	if format.FindTools().LibreOffice == "" || confine.Available(t.Context()) != nil {
		const reason = "LibreOffice and bubblewrap are needed; apt-get install bubblewrap libreoffice-writer libreoffice-impress libreoffice-calc"
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	t.Run("in namespaces the document shows nothing of the server", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		d := s.ended(t, s.sendFiles(t, nil, s.drawing(t))[0])
		if d.Status != knowledge.StatusPublished {
			t.Fatalf("the document is %s, %+v", d.Status, d.Error)
		}
		if s.isPictureShown(t, d.ID) {
			t.Error("the page shows a picture of the data folder")
		}
	})
	t.Run("without namespaces LibreOffice is not started, and the server says so", func(t *testing.T) {
		t.Parallel()
		s := start(t, "PATH="+withoutBubblewrap(t))
		s.wantFailed(t, s.sendFiles(t, nil, s.drawing(t))[0], knowledge.StageExtract, knowledge.CodeNeedsComponent)
		if d := s.ended(t, s.sendFiles(t, nil, file{"a.pdf", textPDF([][]string{{"Tea is hot."}})})[0]); d.Status != knowledge.StatusPublished {
			t.Errorf("a PDF is %s, %+v", d.Status, d.Error)
		}
		if log, err := os.ReadFile(s.log); err != nil || !strings.Contains(string(log), "bubblewrap is not installed") || !strings.Contains(string(log), "  Sandbox  ") {
			t.Errorf("the start does not say it: %v\n%s", err, log)
		}
	})
	t.Run("an operator can do without", func(t *testing.T) {
		t.Parallel()
		s := start(t, "CAIRN_SANDBOX__HELPERS=none")
		d := s.ended(t, s.sendFiles(t, nil, s.drawing(t))[0])
		if d.Status != knowledge.StatusPublished || !s.isPictureShown(t, d.ID) {
			t.Errorf("the document is %s, %+v, or it is no attack", d.Status, d.Error)
		}
		if log, err := os.ReadFile(s.log); err != nil || !strings.Contains(string(log), "not confined") {
			t.Errorf("the start does not say it: %v\n%s", err, log)
		}
	})
}

// drawing returns a text that shows a red picture, which it writes to the data folder.
func (s *server) drawing(t *testing.T) file {
	t.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, 100, 100))
	for i := range 100 * 100 {
		drawn.SetRGBA(i%100, i/100, color.RGBA{R: 0xff, A: 0xff})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, drawn); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.folder, "figure.png")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file{"a.rtf", []byte(`{\rtf1\ansi Visible {\field{\*\fldinst INCLUDEPICTURE "file://` + strings.ReplaceAll(path, " ", "%20") + `" \\d}{\fldrslt }}\par}`)}
}

// isPictureShown reports whether the first page of a document has red in it.
func (s *server) isPictureShown(t *testing.T, document string) bool {
	t.Helper()
	res, body := s.raw(t, http.MethodGet, fmt.Sprintf("/workspaces/default/documents/%s/pages/1.png?dpi=72", document), "", nil)
	page, err := png.Decode(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("the page is no picture: status %d, %v", res.StatusCode, err)
	}
	bounds := page.Bounds()
	for i := range bounds.Dx() * bounds.Dy() {
		if r, g, _, _ := page.At(i%bounds.Dx(), i/bounds.Dx()).RGBA(); r > 0xe000 && g < 0x2000 {
			return true
		}
	}
	return false
}

// withoutBubblewrap returns a PATH with LibreOffice and without bubblewrap.
func withoutBubblewrap(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"soffice", "pdftotext", "tesseract", "ffmpeg"} {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}
