package server

import (
	"context"
	"fmt"
	"os/exec"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract/format"
)

// checkComponents names the optional programs that this machine lacks. Documents that
// need one fail with needs_component, so a missing one is no problem by itself.
func checkComponents() []Finding {
	tools := format.FindTools()
	var found []Finding
	for _, c := range []struct{ name, path, does, pkg string }{
		{"LibreOffice", tools.LibreOffice, "reads old office files", "libreoffice"},
		{"Tesseract", tools.Tesseract, "reads scanned pages", "tesseract-ocr"},
		{"pdftotext", tools.PDFToText, "reads damaged PDF files", "poppler-utils"},
		{"FFmpeg", tools.FFmpeg, "reads recordings", "ffmpeg"},
		{"heif-convert", tools.HEIF, "reads HEIC pictures", "libheif-examples"},
		{"bubblewrap", programAt(confine.Bubblewrap), "confines these programs, code_interpreter and Chromium", "bubblewrap"},
		{"Chromium", programAt("/usr/lib/chromium/chromium"), "reads web pages that need their scripts", "chromium"},
	} {
		f := Finding{"component " + c.name, FindingOK, c.path, ""}
		if c.path == "" {
			f = Finding{f.Check, FindingNote, "not found; it " + c.does, "apt-get install " + c.pkg}
		}
		found = append(found, f)
	}
	return found
}

// checkConfinement reports whether the programs that read documents are confined.
func checkConfinement(ctx context.Context, cfg config.Config) Finding {
	if cfg.Sandbox.Helpers == config.HelpersUnconfined {
		return Finding{"sandbox", FindingNote, isUnconfined, "remove sandbox.helpers from the configuration unless all documents may see all files of the server"}
	}
	if err := confine.Available(ctx); err != nil {
		state := FindingBad
		if len(format.FindTools().Paths()) == 0 {
			state = FindingNote // there is none to confine
		}
		return Finding{"sandbox", state, fmt.Sprintf("LibreOffice, tesseract, poppler, ffmpeg and heif-convert are not started, because they cannot be confined: %v", err),
			"apt-get install bubblewrap and allow it to make namespaces (docs/deploy.md), or set sandbox.helpers to none"}
	}
	return Finding{"sandbox", FindingOK, "programs that read documents are in namespaces of their own", ""}
}

// programAt returns the path of a program, "" if this machine lacks it.
func programAt(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
