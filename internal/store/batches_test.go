package store_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// many is how many chunks a long document has: as many as three transactions write.
const many = 600

func chunksOf(ref knowledge.VersionRef, n int) []knowledge.Chunk {
	chunks := make([]knowledge.Chunk, n)
	for i := range chunks {
		chunks[i] = knowledge.Chunk{ID: knowledge.ChunkID(ref.Document, ref.Version, i), Ordinal: i, Text: fmt.Sprint("text ", i)}
	}
	return chunks
}

// TestOthersWriteBetweenTheBatchesOfALongDocument has another writer wait while
// the first batch is written. It must get its turn before the last one.
func TestOthersWriteBetweenTheBatchesOfALongDocument(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, s *store.Store) (long func() error, left int){
		"writing": func(t *testing.T, s *store.Store) (func() error, int) {
			_, v, err := s.AddVersion(t.Context(), newVersion("a"))
			must(t, err)
			return func() error { return s.PutChunks(t.Context(), v.VersionRef, chunksOf(v.VersionRef, many)) }, many
		},
		"trimming": func(t *testing.T, s *store.Store) (func() error, int) {
			_, v, err := s.AddVersion(t.Context(), newVersion("a"))
			must(t, err)
			must(t, s.PutChunks(t.Context(), v.VersionRef, chunksOf(v.VersionRef, many)))
			return func() error { return s.TrimChunks(t.Context(), v.VersionRef, 1) }, 1
		},
		"retiring": func(t *testing.T, s *store.Store) (func() error, int) {
			publish(t, s, "a", "old", many)
			_, v, err := s.AddVersion(t.Context(), newVersion("a"))
			must(t, err)
			_, err = s.PublishVersion(t.Context(), store.Publication{Ref: v.VersionRef, Chunks: chunksOf(v.VersionRef, 2)})
			must(t, err)
			return func() error { return s.RetireChunks(t.Context(), v.VersionRef) }, 2
		},
		"discarding": func(t *testing.T, s *store.Store) (func() error, int) {
			_, v, err := s.AddVersion(t.Context(), newVersion("a"))
			must(t, err)
			must(t, s.PutChunks(t.Context(), v.VersionRef, chunksOf(v.VersionRef, many)))
			must(t, s.FailVersion(t.Context(), v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeCanceled}))
			return func() error { return s.DiscardVersion(t.Context(), v.VersionRef) }, 0
		},
		"removing": func(t *testing.T, s *store.Store) (func() error, int) {
			v, _ := publish(t, s, "a", "old", many)
			r, err := s.MarkRemoving(t.Context(), manager(), v.Document, knowledge.NewID(), time.Now())
			must(t, err)
			return func() error { return s.RemoveRows(t.Context(), r) }, 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := openAt(t)
			long, left := prepare(t, s)
			before, err := s.CountChunks(t.Context())
			must(t, err)
			seen, waiting := make(chan int, 1), false
			must(t, s.BeforeCommit(t.Context(), func() {
				if waiting {
					return
				}
				waiting = true
				waited := s.Waited()
				go func() {
					n, err := s.CountChunks(t.Context())
					if err != nil {
						t.Error(err)
					}
					seen <- n
				}()
				for deadline := time.Now().Add(time.Minute); s.Waited() == waited; time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Error("the other writer does not wait")
						return
					}
				}
			}))
			must(t, long())
			if n := <-seen; n == before || n == left {
				t.Errorf("the other writer sees %d chunks, and got no turn between %d and %d", n, before, left)
			}
			if n, err := s.CountChunks(t.Context()); err != nil || n != left {
				t.Errorf("%d chunks are left, want %d, %v", n, left, err)
			}
		})
	}
}

func TestManyDocumentsAreHiddenInFewTransactions(t *testing.T) {
	t.Parallel()
	s, _ := openAt(t)
	var marks []store.RemovalMark
	for i := range 2000 {
		_, v, err := s.AddVersion(t.Context(), newVersion(strconv.Itoa(i)))
		must(t, err)
		marks = append(marks, store.RemovalMark{Document: v.Document, RunID: knowledge.NewID()})
	}
	commits := 0
	must(t, s.BeforeCommit(t.Context(), func() { commits++ }))
	removals, refused, err := s.MarkManyRemoving(t.Context(), manager(), marks, time.Now())
	must(t, err)
	if len(removals) != 2000 || len(refused) != 0 || commits > 10 {
		t.Errorf("%d removals, refused %v, %d transactions", len(removals), refused, commits)
	}
}
