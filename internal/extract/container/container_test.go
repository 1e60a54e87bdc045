package container_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	c, err := container.Open(containertest.Write(t, "-- word/document.xml --\n<a/>\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it was only read
	for _, name := range []string{"word/document.xml", "/word/document.xml", "Word/Document.XML"} {
		if data, err := c.Bytes(name, 100); err != nil || string(data) != "<a/>\n" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := c.Bytes("word/document.xml", 3); !knowledge.IsCode(err, knowledge.CodeParseLimit) {
		t.Errorf("a file above its limit: %v", err)
	}
	if _, err := c.Open("missing"); !errors.Is(err, container.ErrNotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestHostileContainers(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 65<<20)
	many := make([]containertest.File, 50_001)
	for i := range many {
		many[i].Name = strings.Repeat("x", i%100) + string(rune('a'+i%26)) + strings.Repeat("y", i/100)
	}
	truncated := containertest.Write(t, "-- a --\n"+strings.Repeat("text ", 100))
	data, err := os.ReadFile(truncated)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(truncated, data[:len(data)-40], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		behaviour, path string
		code            knowledge.Code
	}{
		{"a bomb", containertest.WriteFiles(t, containertest.File{Name: "a", Data: zeros}), knowledge.CodeParseLimit},
		{"too many files", containertest.WriteFiles(t, many...), knowledge.CodeParseLimit},
		{"two files of one name", containertest.WriteFiles(t, containertest.File{Name: "a"}, containertest.File{Name: "a"}), knowledge.CodeCorrupt},
		{"a truncated file", truncated, knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			c, err := container.Open(tc.path)
			if err == nil {
				_ = c.Close() // it was only read
			}
			if !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want one with code %s", err, tc.code)
			}
		})
	}
}

// TestABombThatLiesAboutItsSize opens a container that states small sizes.
func TestABombThatLiesAboutItsSize(t *testing.T) {
	t.Parallel()
	path := containertest.WriteFiles(t, containertest.File{Name: "a", Data: make([]byte, 66<<20)})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte("PK\x01\x02")) + 24 // the size in the directory
	copy(data[at:], []byte{100, 0, 0, 0})
	lying := filepath.Join(t.TempDir(), "lying")
	if err := os.WriteFile(lying, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := container.Open(lying)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // it was only read
	if content, err := c.Bytes("a", 1<<30); err == nil || len(content) > 65<<20 {
		t.Errorf("%d bytes, error %v", len(content), err)
	}
}
