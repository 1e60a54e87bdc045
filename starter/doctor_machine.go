package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// checkEndpoints asks the configured endpoints: that of embeddings for a vector, the
// others for the list of their models.
func checkEndpoints(ctx context.Context, cfg config.Config) []finding {
	var found []finding
	if m := cfg.Models.Embedding; m.Offline() {
		found = append(found, finding{"embedding endpoint", findingOK, "the offline model in the server", ""})
	} else {
		found = append(found, checkEmbedding(ctx, m))
	}
	if m := cfg.Models.Chat; m.Offline() {
		found = append(found, finding{"chat endpoint", findingOK, "the offline model in the server", ""})
	} else {
		found = append(found, checkAddress(ctx, "chat endpoint", m))
	}
	return found
}

func checkEmbedding(ctx context.Context, m config.Model) finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	start := time.Now()
	vectors, _, err := model.New(endpoint(m, "", ""), nil).Embed(ctx, []string{"test"})
	if err != nil || len(vectors) != 1 {
		detail := fmt.Sprintf("%s with %s: %v", m.Model, m.Provider(), err)
		return finding{"embedding endpoint", findingBad, detail, "check models.embedding in the configuration and the endpoint, then: cairn documents retry --all --code provider_failed"}
	}
	return finding{"embedding endpoint", findingOK, fmt.Sprintf("%s with %s: %d dimensions in %s", m.Model, m.Provider(), len(vectors[0]), terminal.Duration(time.Since(start))), ""}
}

// checkAddress asks an endpoint for its models, which costs nothing there.
func checkAddress(ctx context.Context, check string, m config.Model) finding {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	start, status := time.Now(), http.StatusOK
	_, err := model.New(endpoint(m, "", ""), nil).Models(ctx)
	if failed, ok := errors.AsType[*model.Error](err); ok {
		if status = failed.Status; failed.Code == model.CodeConnection || failed.Code == model.CodeTimeout {
			return finding{check, findingBad, fmt.Sprintf("%s cannot be reached: %v", m.Provider(), err), "check models.chat.base_url, and that the endpoint runs"}
		}
	}
	detail := fmt.Sprintf("%s with %s: status %d in %s", m.Model, m.Provider(), status, terminal.Duration(time.Since(start)))
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return finding{check, findingBad, detail, "check the key that models.chat.key_env names"}
	}
	return finding{check, findingOK, detail, ""}
}

// checkComponents names the optional programs that this machine lacks. Documents that
// need one fail with needs_component, so a missing one is no problem by itself.
func checkComponents() []finding {
	tools := format.FindTools()
	var found []finding
	for _, c := range []struct{ name, path, reads, pkg string }{
		{"LibreOffice", tools.LibreOffice, "old office files", "libreoffice"},
		{"Tesseract", tools.Tesseract, "scanned pages", "tesseract-ocr"},
		{"pdftotext", tools.PDFToText, "damaged PDF files", "poppler-utils"},
		{"FFmpeg", tools.FFmpeg, "recordings", "ffmpeg"},
	} {
		f := finding{"component " + c.name, findingOK, c.path, ""}
		if c.path == "" {
			f = finding{f.Check, findingNote, "not found; it reads " + c.reads, "apt-get install " + c.pkg}
		}
		found = append(found, f)
	}
	return found
}

// leastFree is the free space below which uploads may soon fail.
const leastFree = 1 << 30

// checkDisk reports what uses the data folder, and the free space beside it.
func checkDisk(data string) []finding {
	var disk unix.Statfs_t
	if err := unix.Statfs(data, &disk); err != nil {
		return []finding{{"disk", findingNote, "no data folder at " + data, "run the command in the server's folder, or set CAIRN_DATA"}}
	}
	free := int64(disk.Bavail) * int64(disk.Bsize) //nolint:gosec,unconvert // the types differ between systems
	entries, err := os.ReadDir(data)
	if err != nil {
		return []finding{{"disk", findingNote, err.Error(), ""}}
	}
	var used []string
	for _, e := range entries {
		if size := sizeOf(filepath.Join(data, e.Name())); size >= 1<<20 {
			used = append(used, e.Name()+" "+terminal.Bytes(size))
		}
	}
	detail := fmt.Sprintf("%s free; %s", terminal.Bytes(free), strings.Join(used, ", "))
	if free < leastFree {
		return []finding{{"disk", findingBad, detail, "free some space"}}
	}
	return []finding{{"disk", findingOK, strings.TrimSuffix(detail, "; "), ""}}
}

// sizeOf returns the bytes of a file or of all files in a folder. What vanishes meanwhile
// counts nothing.
func sizeOf(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
