package store_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// rareWord stands in every text of a document that a test removes.
const rareWord = "Zanzibarquokka"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func manager() knowledge.Principal {
	return knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "k", Covered: []string{knowledge.EveryLevel}})
}

// publish adds a document with n chunks and publishes it.
func publish(t testing.TB, s *store.Store, name, text string, n int) (store.Version, []knowledge.Chunk) {
	t.Helper()
	ctx := t.Context()
	_, v, err := s.AddVersion(ctx, store.NewVersion{
		Workspace: "w", Project: "p", DocumentID: knowledge.DocumentID("w", "p", name), ExternalID: name, Name: name,
		Tags: []string{"tag " + name}, Metadata: map[string]any{"key": name}, Classification: &name,
		Access: &knowledge.Access{Workspace: true, Users: []string{name}}, SourceURL: "https://example.org/" + name, RunID: knowledge.NewID(),
	})
	must(t, err)
	chunks := make([]knowledge.Chunk, n)
	for i := range chunks {
		chunks[i] = knowledge.Chunk{
			ID: knowledge.ChunkID(v.Document, v.Version, i), Ordinal: i, Text: strings.Repeat(text+" ", 100), Header: text, HeadingPath: []string{text},
		}
	}
	must(t, s.PutChunks(ctx, v.VersionRef, chunks))
	published, err := s.Publish(ctx, v.VersionRef)
	if err != nil || !published.Done {
		t.Fatalf("published %+v, %v", published, err)
	}
	must(t, s.RetireChunks(ctx, v.VersionRef))
	return v, chunks
}

// inFiles counts the files of the database that hold word.
func inFiles(t *testing.T, path, word string) []string {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	must(t, err)
	var holding []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(word))) {
			holding = append(holding, filepath.Base(file))
		}
	}
	return holding
}

func TestRemovalLeavesNoWordInTheFiles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, path := openAt(t)
	// Documents before, between and after, of many sizes, so that the rows of
	// the doomed ones move from page to page before they go.
	var doomed []store.Version
	for i := range 60 {
		if i%4 == 1 {
			name := fmt.Sprintf("%s %d", rareWord, i)
			v, _ := publish(t, s, name, name, 1+i)
			if i%8 == 1 {
				v, _ = publish(t, s, name, name, 1+i/2)
			}
			doomed = append(doomed, v)
			continue
		}
		publish(t, s, fmt.Sprintf("document %d", i), "ordinary words", 1+i%7)
	}
	if len(inFiles(t, path, rareWord)) == 0 {
		t.Fatal("the word is not in the files to begin with, so this test shows nothing")
	}
	for _, v := range doomed {
		_, err := s.MarkRemoving(ctx, manager(), v.Document, knowledge.NewID(), time.Now())
		must(t, err)
	}
	removals, _, err := s.PendingRemovals(ctx, store.Position{}, 100)
	must(t, err)
	if len(removals) != len(doomed) {
		t.Fatalf("%d removals of %d", len(removals), len(doomed))
	}
	for _, r := range removals {
		must(t, s.RemoveRows(ctx, r))
	}
	must(t, s.EraseDeleted(ctx))
	if files := inFiles(t, path, rareWord); len(files) > 0 {
		t.Errorf("the word of removed documents still stands in %v", files)
	}
	if total, err := s.CountDocuments(ctx, manager(), store.DocumentQuery{}); err != nil || total != 45 {
		t.Errorf("%d documents are left, %v", total, err)
	}
}

func TestAFullDiskIsUnavailableAndChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := openAt(t)
	v, chunks := publish(t, s, "a", "text", 3)
	_, pending, err := s.AddVersion(ctx, newVersion("a"))
	must(t, err)
	must(t, s.Exec(ctx, "PRAGMA max_page_count = 1")) // SQLite takes the size that the file has
	for i := 0; i < 1000 && err == nil; i++ {
		_, _, err = s.AddVersion(ctx, store.NewVersion{
			Workspace: "w", Project: "p", DocumentID: knowledge.NewID(), Name: strings.Repeat("n", 1000), RunID: knowledge.NewID(),
		})
	}
	if e := knowledge.AsError(err); err == nil || e.Code != knowledge.CodeUnavailable || !e.Retryable || !strings.Contains(e.Message, "the disk is full") {
		t.Fatalf("got %v", err)
	}
	err = s.PutChunks(ctx, pending.VersionRef, []knowledge.Chunk{{ID: "new", Text: strings.Repeat("x", 1<<20)}})
	if !knowledge.IsCode(err, knowledge.CodeUnavailable) {
		t.Errorf("got %v", err)
	}
	reader := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", Scopes: []knowledge.Scope{knowledge.ScopeRead}, Covered: []string{knowledge.EveryLevel}})
	list, _, err := s.DocumentChunks(ctx, reader, v.Document, store.Page{})
	if err != nil || len(list) != len(chunks) {
		t.Errorf("%d chunks are left of %d, %v", len(list), len(chunks), err)
	}
	must(t, s.Exec(ctx, "PRAGMA max_page_count = 100000"))
	publish(t, s, "b", "text", 3)
}

func TestPing(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/cairn.db"
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + path})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	t.Run("does_not_wait_for_a_writer", func(t *testing.T) {
		must(t, s.Exec(t.Context(), "BEGIN IMMEDIATE")) // on the one connection that writes
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		must(t, s.Ping(ctx))
		must(t, s.Exec(t.Context(), "ROLLBACK"))
	})
	t.Run("fails_when_the_file_is_gone", func(t *testing.T) {
		must(t, os.Rename(path, path+".moved"))
		if err := s.Ping(t.Context()); err == nil {
			t.Error("a store without its file answers a ping")
		}
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	t.Run("only_a_url_of_a_known_database_is_taken", func(t *testing.T) {
		t.Parallel()
		for _, address := range []string{"", "cairn.db", "sqlite://cairn.db", "mysql://localhost/cairn", "postgres://localhost:x/cairn", "postgres://localhost/cairn?pool_max_conns=1", "sqlite:/cairn.db", "sqlite://host/cairn.db", "sqlite:///100%/cairn.db", "sqlite:///a?b/cairn.db", "sqlite:///a#b/cairn.db"} {
			if _, err := store.Open(t.Context(), store.Config{URL: address}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
				t.Errorf("%q: %v", address, err)
			}
		}
	})
	t.Run("a_folder_that_is_not_there_is_an_error", func(t *testing.T) {
		t.Parallel()
		if _, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + t.TempDir() + "/missing/cairn.db"}); err == nil {
			t.Error("opened")
		}
	})
	t.Run("any_path_is_taken_and_the_files_are_the_owners_alone", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/ä ?mode=memory&x=%41#y.db"
		address := url.URL{Scheme: "sqlite", Path: path}
		for i := range 2 { // what was written is there when it is opened again
			s, err := store.Open(t.Context(), store.Config{URL: address.String()})
			must(t, err)
			value, err := s.Setting(t.Context(), "opened", func() string { return fmt.Sprint(i) })
			if err != nil || value != "0" {
				t.Errorf("setting %q, %v", value, err)
			}
			must(t, s.Ping(t.Context()))
			files, err := filepath.Glob(filepath.Dir(path) + "/*")
			must(t, err)
			for _, file := range files {
				info, err := os.Stat(file)
				must(t, err)
				if info.Mode().Perm() != 0o600 || !strings.HasPrefix(file, path) {
					t.Errorf("%s has mode %s", file, info.Mode())
				}
			}
			must(t, s.Close())
		}
	})
	t.Run("a_file_that_is_no_database_is_an_error", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/cairn.db"
		must(t, os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600))
		if _, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + path}); err == nil {
			t.Error("opened")
		}
	})
}

// TestTheClock writes at a time of the test's, by every method that is not told
// one.
func TestTheClock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s, err := store.Open(ctx, store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db", Clock: func() time.Time { return now }})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	at := func(doing string, id string) {
		t.Helper()
		d, err := s.Document(ctx, manager(), id)
		must(t, err)
		if !d.UpdatedAt.Equal(now) {
			t.Errorf("%s at %s, want %s", doing, d.UpdatedAt, now)
		}
		now = now.Add(time.Hour)
	}
	v, _ := publish(t, s, "a", "text", 1)
	at("published", v.Document)
	_, err = s.UpdateDocument(ctx, manager(), v.Document, store.DocumentPatch{})
	must(t, err)
	at("changed", v.Document)
	nv := newVersion("b")
	_, next, err := s.AddVersion(ctx, nv)
	must(t, err)
	must(t, s.SetStage(ctx, next.VersionRef, knowledge.StageCheck, 0.1, store.Facts{}))
	at("at a stage", next.Document)
	must(t, s.FailVersion(ctx, next.VersionRef, next.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed}))
	at("failed", next.Document)

	must(t, s.CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(t, s.CreateKey(ctx, store.Key{ID: "k", Workspace: "w", Hash: "h", ExpiresAt: now.Add(time.Hour)}))
	if _, err := s.KeyByHash(ctx, "h"); err != nil {
		t.Errorf("before its time is over: %v", err)
	}
	now = now.Add(time.Hour)
	if _, err := s.KeyByHash(ctx, "h"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("once its time is over: %v", err)
	}
	must(t, s.RevokeKey(ctx, manager(), "k"))
	keys, _, err := s.Keys(ctx, manager(), store.Page{})
	must(t, err)
	if len(keys) != 1 || !keys[0].RevokedAt.Equal(now) || !keys[0].CreatedAt.Equal(now.Add(-time.Hour)) {
		t.Errorf("keys %+v", keys)
	}
}

func TestTheLogIsEmptiedWhileOthersRead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, path := openAt(t)
	publish(t, s, "a", "text", 50)
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, _, err := s.Documents(ctx, manager(), store.DocumentQuery{}); err != nil {
				done <- err
				return
			}
		}
	}()
	for i := range 5 {
		publish(t, s, fmt.Sprint(i), "text", 5)
		must(t, s.EraseDeleted(ctx))
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() != 0 {
			t.Errorf("the log holds %v, %v", info.Size(), err)
		}
	}
	close(stop)
	must(t, <-done)
}

// TestPagesFollowAnIndex checks that a page of documents by id begins at its first document
// and sorts nothing.
func TestPagesFollowAnIndex(t *testing.T) {
	t.Parallel()
	s := open(t)
	plans, err := s.PagePlans(t.Context())
	must(t, err)
	for name, plan := range plans {
		steps := strings.Join(plan, "; ")
		if !strings.Contains(steps, "documents_by_id (workspace=? AND project=? AND id>?)") || strings.Contains(steps, "TEMP B-TREE FOR ORDER BY") {
			t.Errorf("%s: %s", name, steps)
		}
	}
}

// TestListByStatusReadsFewRows has pages that ask every few seconds for the documents in
// work, which are few among many.
func TestListByStatusReadsFewRows(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, status := range []knowledge.Status{knowledge.StatusPending, knowledge.StatusError} {
		plan, err := s.ListPlan(t.Context(), manager(), status)
		if steps := strings.Join(plan, "; "); err != nil || !strings.Contains(steps, "documents_"+string(status)) || strings.Contains(steps, "TEMP B-TREE FOR ORDER BY") {
			t.Errorf("the list of %s documents is read by %s, %v", status, steps, err)
		}
	}
}

// TestPagesOfARetentionReadFewRows has pages of a retention that begin at what is due, whatever else
// is kept.
func TestPagesOfARetentionReadFewRows(t *testing.T) {
	t.Parallel()
	s := open(t)
	conversations, runs, err := s.DuePlans(t.Context())
	must(t, err)
	for index, plan := range map[string][]string{
		"conversations_due (workspace=? AND project=? AND updated_at<?)": conversations, "runs_due (workspace=? AND project=? AND ended_at>? AND ended_at<?)": runs,
	} {
		if steps := strings.Join(plan, "; "); !strings.Contains(steps, index) || strings.Contains(steps, "TEMP B-TREE FOR ORDER BY") {
			t.Errorf("%s: %s", index, steps)
		}
	}
}
