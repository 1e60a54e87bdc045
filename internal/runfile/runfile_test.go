package runfile_test

import (
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/runfile"
	"github.com/cairn-rag/cairn/internal/tool"
)

func openBlobs(t *testing.T) *blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	return blobs
}

func TestNames(t *testing.T) {
	t.Parallel()
	blobs := openBlobs(t)
	files := runfile.New(blobs)
	run := knowledge.RunRef{Workspace: "w", Run: "r"}
	long := strings.Repeat("ä", 200)
	for _, add := range []struct {
		turn, number        int
		name, content, want string
	}{
		{1, 0, "plot.png", "one", "plot.png"},
		{1, 0, "plot.png", "one", "plot.png"},     // a repeated attempt
		{1, 0, "plot.png", "two", "plot-1-0.png"}, // which drew another picture
		{1, 1, "plot.png", "three", "plot-1-1.png"},
		{2, 0, "plot.png", "one", "plot.png"}, // the same content
		{2, 0, "plot.png", "four", "plot-2-0.png"},
		{2, 0, "plot.png", "five", "plot-2-0-@.png"},
		{2, 0, "../../etc/x y.csv", "a", "_.._etc_x_y.csv"},
		{2, 0, "\x00\n\"<>", "b", "_____"},
		{2, 0, "...", "c", "file."},
		{2, 0, "-rf", "d", "rf"},
		{2, 0, "naïve résumé.txt", "e", "naïve_résumé.txt"},
		{2, 0, long + ".txt", "f", long[:116] + ".txt"},
	} {
		c := tool.Call{RunRef: run, Turn: add.turn, Number: add.number}
		file, err := files.Add(t.Context(), c, add.name, []byte(add.content))
		if err != nil || file.Name != strings.Replace(add.want, "@", path.Base(file.Key)[:16], 1) {
			t.Errorf("%q is named %q (%v), want %q", add.name, file.Name, err, add.want)
			continue
		}
		_, content, err := runfile.Open(t.Context(), blobs, run, file.Name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(content); err != nil || content.Close() != nil || string(got) != add.content {
			t.Errorf("%s holds %q, %v", file.Name, got, err)
		}
	}
	_, _, err := runfile.Open(t.Context(), blobs, run, "other.png")
	if !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("a name that no file has: %v", err)
	}
	for object, err := range blobs.List(t.Context(), "") {
		if err != nil || !strings.HasPrefix(object.Key, "w/runs/r/") {
			t.Errorf("%s is not below the run's prefix (%v)", object.Key, err)
		}
	}
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"a.csv": {"a,b\n1,2\n", "text/csv"}, "a.png": {"\x89PNG\r\n\x1a\n", "image/png"}, "lie.png": {"<html><script>", "text/html"},
		"a.svg": {"<svg xmlns=''/>", "image/svg+xml"}, "b.svg": {"<?xml version='1.0'?><svg/>", "image/svg+xml"}, "a.json": {"{}", "application/json"},
		"a.html": {"\x89PNG\r\n\x1a\n", "image/png"}, "a.xlsx": {"PK\x03\x04", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		"a.bin": {"\x00\x01\x02", "application/octet-stream"}, "A.CSV": {"x", "text/csv"}, "a": {"x", "text/plain"},
	} {
		if diff := cmp.Diff(test.want, runfile.MediaType(name, []byte(test.content))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
