package main

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// checkComponents names the optional programs that this machine lacks. Documents that
// need one fail with needs_component, so a missing one is no problem by itself.
func checkComponents() []finding {
	tools := format.FindTools()
	var found []finding
	for _, c := range []struct{ name, path, does, pkg string }{
		{"LibreOffice", tools.LibreOffice, "reads old office files", "libreoffice"},
		{"Tesseract", tools.Tesseract, "reads scanned pages", "tesseract-ocr"},
		{"pdftotext", tools.PDFToText, "reads damaged PDF files", "poppler-utils"},
		{"FFmpeg", tools.FFmpeg, "reads recordings", "ffmpeg"},
		{"bubblewrap", programAt(confine.Bubblewrap), "confines these programs, code_interpreter and Chromium", "bubblewrap"},
		{"Chromium", programAt("/usr/lib/chromium/chromium"), "reads web pages that need their scripts", "chromium"},
	} {
		f := finding{"component " + c.name, findingOK, c.path, ""}
		if c.path == "" {
			f = finding{f.Check, findingNote, "not found; it " + c.does, "apt-get install " + c.pkg}
		}
		found = append(found, f)
	}
	return found
}

// checkConfinement reports whether the programs that read documents are confined.
func checkConfinement(ctx context.Context, cfg config.Config) finding {
	if cfg.Sandbox.Helpers == config.HelpersUnconfined {
		return finding{"sandbox", findingNote, isUnconfined, "remove sandbox.helpers from the configuration unless all documents may see all files of the server"}
	}
	if err := confine.Available(ctx); err != nil {
		state := findingBad
		if len(format.FindTools().Paths()) == 0 {
			state = findingNote // there is none to confine
		}
		return finding{"sandbox", state, fmt.Sprintf("LibreOffice, tesseract, poppler and ffmpeg are not started, because they cannot be confined: %v", err),
			"apt-get install bubblewrap and allow it to make namespaces (docs/deploy.md), or set sandbox.helpers to none"}
	}
	return finding{"sandbox", findingOK, "programs that read documents are in namespaces of their own", ""}
}

// leastFree is the free space below which uploads may soon fail.
const leastFree = 1 << 30

// checkDisk reports the free space of the server's data folder, and the use of it. A server
// that does not tell may have its folder on this machine.
func checkDisk(server *client.DiskSpace, data string) finding {
	if server == nil {
		server = (*client.DiskSpace)(diskSpace(data))
	}
	if server == nil {
		return finding{"disk", findingNote, "the server did not tell of a data folder, and there is none at " + data, "run the command in the server's folder, or set CAIRN_DATA"}
	}
	detail := terminal.Bytes(server.FreeBytes) + " free"
	var used []string
	for _, name := range slices.Sorted(maps.Keys(server.UsedBytes)) {
		used = append(used, name+" "+terminal.Bytes(server.UsedBytes[name]))
	}
	if used != nil {
		detail += "; " + strings.Join(used, ", ")
	}
	if server.FreeBytes < leastFree {
		return finding{"disk", findingBad, detail, "free some space"}
	}
	return finding{"disk", findingOK, detail, ""}
}

// diskSpace measures a data folder. It returns nil if there is none.
func diskSpace(data string) *api.DiskSpace {
	var disk unix.Statfs_t
	entries, err := os.ReadDir(data)
	if err != nil || unix.Statfs(data, &disk) != nil {
		return nil
	}
	space := &api.DiskSpace{
		FreeBytes: int64(disk.Bavail) * int64(disk.Bsize), //nolint:gosec,unconvert // the types differ between systems
		UsedBytes: map[string]int64{},
	}
	for _, e := range entries {
		if size := sizeOf(filepath.Join(data, e.Name())); size >= 1<<20 {
			space.UsedBytes[e.Name()] = size
		}
	}
	return space
}

// sizeOf returns the bytes of a file or of all files in a folder. Files that vanish
// meanwhile are not counted.
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

// programAt returns the path of a program, "" if this machine lacks it.
func programAt(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
