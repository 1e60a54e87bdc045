package format

import (
	"os/exec"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Tools are the absolute paths of the programs that readers use, "" for one that is
// not installed.
type Tools struct {
	LibreOffice string `json:"libreoffice,omitempty"` // soffice
	Tesseract   string `json:"tesseract,omitempty"`
	PDFToText   string `json:"pdftotext,omitempty"` // of poppler
	FFmpeg      string `json:"ffmpeg,omitempty"`
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
	return Tools{LibreOffice: find("soffice", "libreoffice"), Tesseract: find("tesseract"), PDFToText: find("pdftotext"), FFmpeg: find("ffmpeg")}
}

// Missing returns the error of a document that cannot be read without a program.
// subject is the kind of file with its article, tool the program's name, and pkg its
// Debian package.
func Missing(subject, tool, pkg string) error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"reading %s needs %s on the server: apt-get install %s, restart, and retry the document", subject, tool, pkg)
}
