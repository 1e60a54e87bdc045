package format

import (
	"os/exec"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Tools are the absolute paths of the programs that readers use, "" for one that is
// not installed.
type Tools struct {
	LibreOffice string `json:"libreoffice,omitempty"` // soffice
	Tesseract   string `json:"tesseract,omitempty"`
	PDFToText   string `json:"pdftotext,omitempty"` // of poppler
	FFmpeg      string `json:"ffmpeg,omitempty"`
	HEIF        string `json:"heif,omitempty"` // heif-convert of libheif
	// Refused means that the server starts none of them, because it cannot confine them.
	Refused bool `json:"refused,omitempty"`
	// Confined means that they run in namespaces of the child: without network, without
	// /proc, and with no files but the system's and the child's.
	Confined bool `json:"confined,omitempty"`
}

// Paths returns the paths of the programs that are installed.
func (t Tools) Paths() []string {
	return slices.DeleteFunc([]string{t.LibreOffice, t.Tesseract, t.PDFToText, t.FFmpeg, t.HEIF}, func(path string) bool { return path == "" })
}

// FindTools returns the programs that are installed.
func FindTools() Tools {
	find := func(names ...string) string {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
		return ""
	}
	return Tools{
		LibreOffice: find("soffice", "libreoffice"), Tesseract: find("tesseract"), PDFToText: find("pdftotext"),
		FFmpeg: find("ffmpeg"), HEIF: find("heif-convert", "heif-dec"),
	}
}

// Missing returns the error of a document that cannot be read without a program.
// subject is the kind of file with its article, tool the program's name, and pkg its
// Debian package.
func (t Tools) Missing(subject, tool, pkg string) error {
	if t.Refused {
		return knowledge.Errorf(knowledge.CodeNeedsComponent,
			"reading %s needs %s, which the server starts only where it can confine it: apt-get install bubblewrap %s, allow it to make namespaces (cairn doctor says why it cannot), restart, and retry the document",
			subject, tool, pkg)
	}
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"reading %s needs %s on the server: apt-get install %s, restart, and retry the document", subject, tool, pkg)
}
