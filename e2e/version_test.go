package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	for i := range 20 {
		s.upload(t, fmt.Sprintf("neighbour %d", i), fmt.Sprintf("Harbour note %d is about ropes and knots.", i))
	}

	t.Run("readers see exactly one version while newer ones are published", func(t *testing.T) {
		const word = "beaconlight"
		edition := func(i int) string { return fmt.Sprintf("Edition %d of the notice says that the %s is lit.", i, word) }
		first := s.publish(t, "notice", edition(1))
		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		var mu sync.Mutex
		seen, asked := map[string]bool{}, 0
		for range 3 {
			readers.Go(func() {
				for ctx.Err() == nil {
					found, err := s.retrieve(ctx, "Is the "+word+" lit?", word)
					if ctx.Err() != nil {
						return
					}
					mu.Lock()
					if asked++; err != nil || len(found) != 1 {
						t.Errorf("a reader saw %v, %v; want one version", found, err)
						mu.Unlock()
						return
					}
					seen[found[0].Content] = true
					mu.Unlock()
				}
			})
		}
		for i := 2; i <= 12; i++ {
			if d := s.publish(t, "notice", edition(i)); d.ID != first.ID || d.PublishedVersion != i {
				t.Errorf("upload %d is version %d of %s", i, d.PublishedVersion, d.ID)
			}
		}
		found, err := s.retrieve(t.Context(), "Is the "+word+" lit?", word)
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Content, edition(12)) {
			t.Errorf("after the last upload readers see %v, %v", found, err)
		}
		cancel()
		readers.Wait()
		t.Logf("%d questions saw %d versions", asked, len(seen))
		if len(seen) < 2 {
			t.Error("the readers did not see a change, so this proves nothing")
		}
	})

	t.Run("uploads at the same time end with the newest published", func(t *testing.T) {
		const word = "stormglass"
		var uploads sync.WaitGroup
		newest := make([]accepted, 8)
		for i := range newest {
			uploads.Go(func() { newest[i] = s.upload(t, "storm", fmt.Sprintf("Copy %d describes the %s.", i, word)) })
		}
		uploads.Wait()
		versions := map[int]bool{}
		for _, a := range newest {
			if versions[a.Version] || a.ID != newest[0].ID {
				t.Fatalf("versions %v", newest)
			}
			versions[a.Version] = true
			if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
				t.Fatal(err)
			}
		}
		d := s.document(t, newest[0].ID)
		found, err := s.retrieve(t.Context(), "What describes the "+word+"?", word)
		if d.PublishedVersion != len(newest) || err != nil || len(found) != 1 {
			t.Errorf("version %d is published, and found are %v, %v", d.PublishedVersion, found, err)
		}
	})

	t.Run("unchanged files of an interrupted ingest are not ingested again", func(t *testing.T) { ingestsAgain(t, s, m) })
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "neighbour", "Harbour notes are about ropes and knots.")
	const gone, stays = "xyloquartine", "zephyrmarble"

	s.publish(t, "paper", strings.Repeat("The paper is about "+gone+", which nobody else mentions. ", 60))
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "a", Name: "documents_rag", Arguments: `{"query":"the paper"}`}), modeltest.Text("About something. <source_1>"))
	answer := s.query(t, "What is the paper about?")
	if shown := read(t, s.follow(t, answer.run, 0)); !strings.Contains(string(m.Requests()[len(m.Requests())-1].Messages[0].Content), gone) || !strings.Contains(shown.text, "[1]") {
		t.Fatalf("the model was not given the paper, and answered %q", shown.text)
	}
	m.ScriptEmbeddings(modeltest.Reply{Delay: 20 * time.Second})
	asked := m.Totals().Embeddings.Asked
	running := s.upload(t, "paper", strings.Repeat("A second version still is about "+gone+". ", 60))
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked > asked }); err != nil {
		t.Fatal(err)
	}
	if len(s.scan(t, gone)) == 0 {
		t.Fatal("the scan does not find a document that is there, so it proves nothing")
	}

	removal, err := s.RemoveDocument(t.Context(), running.ID)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.retrieve(t.Context(), "What is about "+gone+"?", gone); err != nil || len(found) != 0 {
		t.Errorf("right after the removal was accepted readers see %v, %v", found, err)
	}
	later := s.upload(t, "paper", "The third version is about "+stays+" alone.")
	last, err := s.Wait(t.Context(), removal.RunID, nil)
	if err != nil {
		t.Fatal(err)
	}
	var end client.Ended
	if err := last.Decode(&end); err != nil || end.Status != "completed" {
		t.Fatalf("the removal ended with %s %s", last.Name, last.Data)
	}

	t.Run("of a document that is being ingested leaves no trace of it", func(t *testing.T) {
		if files := s.scan(t, gone); len(files) > 0 {
			t.Errorf("%q still stands in %v", gone, files)
		}
	})
	t.Run("ends the ingest that was running", func(t *testing.T) {
		s.wantEnd(t, running.RunID, "canceled", knowledge.CodeCanceled)
	})
	t.Run("does not touch what is uploaded meanwhile", func(t *testing.T) {
		if _, err := s.Wait(t.Context(), later.RunID, nil); err != nil {
			t.Fatal(err)
		}
		d := s.document(t, later.ID)
		found, err := s.retrieve(t.Context(), "What is about "+stays+"?", stays)
		if d.Status != knowledge.StatusPublished || err != nil || len(found) != 1 {
			t.Errorf("the later version is %s, and found as %v, %v", d.Status, found, err)
		}
		if later.ID != running.ID || later.Version != running.Version+1 {
			t.Errorf("it is version %d of %s", later.Version, later.ID)
		}
	})
	t.Run("is not undone by a restart", func(t *testing.T) {
		s.kill()
		s.restart()
		if files := s.scan(t, gone); len(files) > 0 {
			t.Errorf("%q stands in %v", gone, files)
		}
		if found, err := s.retrieve(t.Context(), "What is about "+gone+"?", gone); err != nil || len(found) != 0 {
			t.Errorf("readers see %v, %v", found, err)
		}
	})
	t.Run("of what is gone already is not found", func(t *testing.T) {
		d := s.publish(t, "short", "A short note.")
		again, err := s.RemoveDocument(t.Context(), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Wait(t.Context(), again.RunID, nil); err != nil {
			t.Fatal(err)
		}
		if status := s.call(t, "GET", "/workspaces/default/documents/"+d.ID, nil, nil); status != http.StatusNotFound {
			t.Errorf("GET returned %d", status)
		}
	})
}

// scan returns the files of the data folder whose bytes contain a word in any
// case. It leaves out no database, blob, run or history of Temporal's.
func (s *server) scan(t *testing.T, word string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(s.folder, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // it was removed meanwhile
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if bytes.Contains(bytes.ToLower(data), []byte(word)) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRetry(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	text := crashText(0) // several batches
	m.ScriptEmbeddings(modeltest.Reply{}, modeltest.Reply{}, modeltest.Fail(http.StatusBadRequest))
	a := s.upload(t, "manual", text)
	if _, err := s.Wait(t.Context(), a.RunID, nil); err != nil {
		t.Fatal(err)
	}
	d := s.document(t, a.ID)
	if d.Status != knowledge.StatusError || d.Error == nil || d.Error.Stage != knowledge.StageEmbed || d.Error.Code != knowledge.CodeProviderFailed {
		t.Fatalf("the document is %s, %+v; want an error at embed", d.Status, d.Error)
	}
	chunked := s.modified(t, a, "cut.json")
	paid := m.Embeddings()

	again, err := s.RetryDocument(t.Context(), a.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), again.RunID, nil); err != nil {
		t.Fatal(err)
	}
	if d := s.document(t, a.ID); d.Status != knowledge.StatusPublished || d.PublishedVersion != 1 || d.Error != nil {
		t.Errorf("after the retry the document is %s, version %d, %+v", d.Status, d.PublishedVersion, d.Error)
	}
	if !chunked.Equal(s.modified(t, a, "cut.json")) {
		t.Error("what had been extracted and cut was made again")
	}
	for key, count := range m.Embeddings() {
		if before := paid[key]; before.Answered > 0 && count.Asked > before.Asked {
			t.Error("a batch that had been answered was asked for again")
		}
	}
}

// modified returns when the result of a step was written.
func (s *server) modified(t *testing.T, a accepted, step string) time.Time {
	t.Helper()
	objects, err := blob.ListFolder(t.Context(), filepath.Join(s.folder, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("default/default/%s/%d/%s", a.ID, a.Version, step)
	for _, o := range objects {
		if o.Key == key {
			return o.Modified
		}
	}
	t.Fatalf("there is no blob %s", key)
	return time.Time{}
}
