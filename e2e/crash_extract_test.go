package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func TestKillDuringExtraction(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	elsewhere := t.TempDir()
	s := start(t, at(m.URL(), "TMPDIR="+elsewhere)...)
	var pages [][]string
	for page := range 200 {
		var lines []string
		for line := range 45 {
			lines = append(lines, fmt.Sprintf("Sheet %d row %d is a row of a long register.", page+1, line+1))
		}
		pages = append(pages, lines)
	}
	d, err := s.UploadFile(t.Context(), client.Upload{Project: "default", Name: "register.pdf", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(textPDF(pages))), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	copies := filepath.Join(s.folder, "tmp", "cairn-original-*")
	await(t, 30*time.Second, "the document is being read", func(context.Context) error {
		if found, err := filepath.Glob(copies); err != nil || len(found) == 0 || len(s.child.Children()) == 0 {
			return errors.Join(err, errors.New("no copy of it, or no parser"))
		}
		return nil
	})
	s.kill()
	s.restart()
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if d = s.document(t, d.ID); d.Status != knowledge.StatusPublished || d.PageCount != len(pages) {
		t.Errorf("the document is %s, %+v, with %d pages", d.Status, d.Error, d.PageCount)
	}
	for _, folder := range []string{elsewhere, filepath.Join(s.folder, "tmp")} {
		left, err := os.ReadDir(folder)
		left = slices.DeleteFunc(left, func(e os.DirEntry) bool { // the empty folder of a parser that runs now
			inside, err := os.ReadDir(filepath.Join(folder, e.Name()))
			return folder != elsewhere && strings.HasPrefix(e.Name(), "cairn-parser-") && err == nil && len(inside) == 0
		})
		if err != nil || len(left) > 0 {
			t.Errorf("%s holds %v, %v", folder, left, err)
		}
	}
}
