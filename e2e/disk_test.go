package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestSpaceComesBack takes 500 documents in and out. The folder then has about its first
// size, while the server runs and after it stopped.
func TestSpaceComesBack(t *testing.T) {
	t.Parallel()
	const documents, allowed = 500, 10 << 20
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	project, err := s.SaveProject(t.Context(), client.Project{Name: "Passing"})
	if err != nil {
		t.Fatal(err)
	}
	before := s.size(t)
	s.uploadMany(t, project.ID, documents)
	s.awaitDocuments(t, project.ID, documents, "published")
	full := s.size(t)
	removal, err := s.ActOnDocuments(t.Context(), "remove", client.Selection{Filter: &client.DocumentFilter{Project: project.ID}})
	if err != nil || removal.Started != documents {
		t.Fatalf("removed %+v, %v", removal, err)
	}
	await(t, 8*time.Minute, "the folder is small again", func(context.Context) error {
		if size := s.size(t); size > before+allowed {
			return fmt.Errorf("it has %d KB, %d before and %d in between", size>>10, before>>10, full>>10)
		}
		return nil
	})
	running := s.size(t)
	s.stop()
	stopped := s.size(t)
	t.Logf("KB: %d new, %d with %d documents, %d without them, %d after a stop", before>>10, full>>10, documents, running>>10, stopped>>10)
	if stopped > before+allowed {
		t.Errorf("after a stop the folder has %d KB, %d before", stopped>>10, before>>10)
	}
}

// size returns the bytes of all files in the data folder.
func (s *server) size(t *testing.T) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(s.folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil // it was removed meanwhile
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// uploadMany uploads texts of 4 KB.
func (s *server) uploadMany(t *testing.T, project string, count int) {
	t.Helper()
	names := make(chan int)
	var uploads sync.WaitGroup
	for range 8 {
		uploads.Go(func() {
			for i := range names {
				random := rand.New(rand.NewPCG(uint64(i), 1))
				var text strings.Builder
				for text.Len() < 4<<10 {
					fmt.Fprintf(&text, "Sheet %d has the number %d. ", i, random.IntN(1e6))
				}
				_, err := s.UploadFile(t.Context(), client.Upload{Project: project, Name: fmt.Sprintf("%d.txt", i), ExternalID: fmt.Sprint(i), Open: func() (io.ReadCloser, error) {
					return io.NopCloser(strings.NewReader(text.String())), nil
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range count {
		names <- i
	}
	close(names)
	uploads.Wait()
}

// awaitDocuments waits until a project has a number of documents with a status.
func (s *server) awaitDocuments(t *testing.T, project string, want int, status string) {
	t.Helper()
	await(t, 5*time.Minute, fmt.Sprintf("there are %d documents", want), func(ctx context.Context) error {
		page, err := s.Documents(ctx, client.DocumentQuery{Project: project, Status: status, Limit: 1})
		if err != nil {
			return err
		}
		if page.Total != want {
			return fmt.Errorf("there are %d", page.Total)
		}
		return nil
	})
}
