package libreoffice_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
)

// start returns an office and its folder, or skips the test without LibreOffice.
func start(t *testing.T) (office *libreoffice.Office, folder string) {
	t.Helper()
	program := format.FindTools().LibreOffice
	if program == "" {
		const reason = "LibreOffice is missing; apt-get install libreoffice-writer libreoffice-calc libreoffice-impress"
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	folder = t.TempDir()
	office = libreoffice.New(program, folder, false)
	t.Cleanup(office.Close)
	return office, folder
}

// sockets returns the paths of the sockets of the LibreOffice whose command names a
// folder.
func sockets(t *testing.T, folder string) []string {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, command := range commands {
		if line, err := os.ReadFile(command); err != nil || !bytes.Contains(line, []byte(folder)) {
			continue // it ended, or is another one
		}
		process := filepath.Dir(command)
		table, err := os.ReadFile(filepath.Join(process, "net", "unix"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(table)) {
			if _, name, ok := strings.Cut(strings.TrimSpace(line), "/OSL_PIPE_"); ok && isOpen(process, line) {
				paths = append(paths, filepath.Join(os.TempDir(), "OSL_PIPE_"+name))
			}
		}
	}
	return paths
}

// isOpen reports whether a process has the socket of a line of the table of sockets.
func isOpen(process, line string) bool {
	const inode = 6 // column
	descriptors, err := filepath.Glob(filepath.Join(process, "fd", "*"))
	return err == nil && slices.ContainsFunc(descriptors, func(d string) bool {
		target, err := os.Readlink(d)
		return err == nil && target == "socket:["+strings.Fields(line)[inode]+"]"
	})
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// text returns the text of a PDF.
func text(t *testing.T, pdf string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pdftotext", pdf, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestConvert is one test, because each office takes seconds to start.
func TestConvert(t *testing.T) {
	t.Parallel()
	office, home := start(t)
	folder := t.TempDir()
	pdf := libreoffice.Target{Filter: libreoffice.FilterTextPDF, Path: filepath.Join(folder, "out.pdf")}
	odt := libreoffice.Target{Filter: libreoffice.FilterODT, Path: filepath.Join(folder, "out.odt")}
	convert := func(t *testing.T, path string) error {
		t.Helper()
		return office.Convert(t.Context(), libreoffice.Job{Path: path, Targets: []libreoffice.Target{pdf, odt}})
	}

	t.Run("a document becomes a PDF and an OpenDocument", func(t *testing.T) {
		if err := convert(t, write(t, "a b.rtf", `{\rtf1 Tea is {\b hot}.}`)); err != nil {
			t.Fatal(err)
		}
		if got := text(t, pdf.Path); !strings.Contains(got, "Tea is hot.") {
			t.Errorf("text %q", got)
		}
		if data, err := os.ReadFile(odt.Path); err != nil || !bytes.HasPrefix(data, []byte("PK")) {
			t.Errorf("OpenDocument of %d bytes, %v", len(data), err)
		}
	})
	t.Run("the next one does not wait for a start", func(t *testing.T) {
		began := time.Now()
		if err := convert(t, write(t, "a.rtf", `{\rtf1 More.}`)); err != nil {
			t.Fatal(err)
		}
		t.Logf("it took %s", time.Since(began))
	})
	t.Run("a document that cannot be opened", func(t *testing.T) {
		if err := convert(t, write(t, "a.docx", "PK\x03\x04 and no more")); !errors.Is(err, libreoffice.ErrUnreadable) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("linked pictures and files are not read", func(t *testing.T) {
		address := extracttest.Uncalled(t)
		secret := write(t, "secret.txt", "the secret of the server")
		if err := convert(t, linking(t, "http://"+address+"/x.png", "file://"+secret)); err != nil {
			t.Fatal(err)
		}
		if got := text(t, pdf.Path); strings.Contains(got, "secret of the server") || !strings.Contains(got, "Visible") {
			t.Errorf("text %q", got)
		}
	})
	t.Run("no file of a socket is left to a kill", func(t *testing.T) {
		paths := sockets(t, home)
		if runtime.GOOS == "linux" && len(paths) == 0 {
			t.Error("LibreOffice has no socket; this test needs another way to find it")
		}
		for _, path := range paths {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is there: %v", path, err)
			}
		}
	})
	t.Run("a conversion ends with its context, and the next one works", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := office.Convert(ctx, libreoffice.Job{Path: write(t, "a.rtf", `{\rtf1 Late.}`), Targets: []libreoffice.Target{pdf}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if err := convert(t, write(t, "a.rtf", `{\rtf1 Again.}`)); err != nil {
			t.Fatal(err)
		}
		if got := text(t, pdf.Path); !strings.Contains(got, "Again.") {
			t.Errorf("text %q", got)
		}
	})
}

// linking returns the path of a text with a linked picture, a linked section and a
// macro that runs when it opens.
func linking(t *testing.T, picture, file string) string {
	t.Helper()
	const names = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"` +
		` xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`
	const kind = "application/vnd.oasis.opendocument.text"
	manifest := `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + kind + `"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`
	content := `<office:document-content ` + names + ` office:version="1.2"><office:body><office:text><text:p>Visible<draw:frame svg:width="5cm" svg:height="5cm" text:anchor-type="as-char"><draw:image xlink:href="` + picture + `" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame></text:p>
<text:section text:name="s"><text:section-source xlink:href="` + file + `" text:filter-name="Text"/><text:p>old</text:p></text:section></office:text></office:body></office:document-content>`
	return containertest.WriteFiles(t, containertest.File{Name: "mimetype", Data: []byte(kind)},
		containertest.File{Name: "META-INF/manifest.xml", Data: []byte(manifest)}, containertest.File{Name: "content.xml", Data: []byte(content)})
}
