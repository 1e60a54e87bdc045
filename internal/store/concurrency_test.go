package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestTwoStores has two processes work on the same rows of one database: the results
// are the same as of one after the other, on SQLite as on PostgreSQL.
func TestTwoStores(t *testing.T) {
	t.Parallel()
	for database, open := range map[string]func(t *testing.T) [2]*store.Store{
		"sqlite": func(t *testing.T) [2]*store.Store {
			first, path := openAt(t)
			second, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + path, Joined: true})
			must(t, err)
			t.Cleanup(func() { must(t, second.Close()) })
			return [2]*store.Store{first, second}
		},
		"postgres": func(t *testing.T) [2]*store.Store {
			address := postgrestest.Migrated(t)
			return [2]*store.Store{openPostgresAt(t, address), openPostgresAt(t, address)}
		},
	} {
		for name, test := range map[string]func(t *testing.T, both [2]*store.Store){
			"versions_of_a_document_are_numbered_once":      addVersionsAtOnce,
			"nothing_of_a_removed_document_is_left":         publishAndRemoveAtOnce,
			"an_object_is_claimed_and_counted_once":         claimAtOnce,
			"a_key_is_claimed_once":                         claimKeysAtOnce,
			"the_first_end_of_a_run_counts_with_its_answer": endRunsAtOnce,
		} {
			t.Run(database+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, open(t))
			})
		}
	}
}

// atOnce runs work n times on each store, all at once.
func atOnce(both [2]*store.Store, n int, work func(s *store.Store, worker int)) {
	var wg sync.WaitGroup
	for i := range 2 * n {
		wg.Go(func() { work(both[i%2], i) })
	}
	wg.Wait()
}

func addVersionsAtOnce(t *testing.T, both [2]*store.Store) {
	const workers, each = 4, 5
	var mu sync.Mutex
	seen := map[int]bool{}
	atOnce(both, workers, func(s *store.Store, _ int) {
		for range each {
			_, v, err := s.AddVersion(t.Context(), newVersion("a"))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			seen[v.Version] = true
			mu.Unlock()
		}
	})
	d, err := both[0].Document(t.Context(), manager(), knowledge.DocumentID("w", "p", "a"))
	if err != nil || d.Version != 2*workers*each || len(seen) != d.Version {
		t.Errorf("%d versions, the newest is %d, %v", len(seen), d.Version, err)
	}
}

func publishAndRemoveAtOnce(t *testing.T, both [2]*store.Store) {
	ctx := t.Context()
	const documents = 12
	versions := make([]store.Version, documents)
	for i := range versions {
		_, v, err := both[0].AddVersion(ctx, newVersion(fmt.Sprint(i)))
		must(t, err)
		versions[i] = v
	}
	atOnce(both, documents, func(s *store.Store, worker int) {
		v := versions[worker/2]
		if worker%2 == 0 {
			if _, err := s.PublishVersion(ctx, store.Publication{Ref: v.VersionRef, Chunks: chunksOf(v.VersionRef, 3)}); err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
				t.Error(err)
			}
			return
		}
		r, err := s.MarkRemoving(ctx, manager(), v.Document, knowledge.NewID(), time.Now())
		if err == nil {
			err = s.RemoveRows(ctx, r)
		}
		if err != nil {
			t.Error(err)
		}
	})
	for _, s := range both {
		if n, err := s.CountChunks(ctx); err != nil || n != 0 {
			t.Errorf("%d chunks are left, %v", n, err)
		}
		if n, err := s.CountDocuments(ctx, manager(), store.DocumentQuery{}); err != nil || n != 0 {
			t.Errorf("%d documents are left, %v", n, err)
		}
	}
}

func claimAtOnce(t *testing.T, both [2]*store.Store) {
	ctx := t.Context()
	const objects = 10
	must(t, both[0].CreateWorkspace(ctx, store.Workspace{ID: "w"}))
	must(t, both[0].CreateProject(ctx, knowledge.Project{ID: "p", Workspace: "w"}))
	run := knowledge.NewID()
	i, err := both[0].StartImport(ctx, manager(), store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "w", Project: "p", Import: knowledge.NewID()}, RunID: run, SourceName: "source",
	})
	must(t, err)
	var list []store.ListedObject
	var wanted []store.NewVersion
	for n := range objects {
		nv := newVersion(fmt.Sprint(n))
		nv.RunID = run
		wanted = append(wanted, nv)
		list = append(list, store.ListedObject{Key: nv.Name, DocumentID: nv.DocumentID, ETag: "1"})
	}
	_, err = both[0].AddImportPage(ctx, i, store.ImportPage{}, list, nil)
	must(t, err)
	atOnce(both, 2, func(s *store.Store, worker int) {
		mine := slices.Clone(wanted)
		for n := range mine {
			mine[n].SourceKey = fmt.Sprint("upload-", worker)
		}
		claims, err := s.ClaimVersions(ctx, mine, knowledge.LimitsConfig{})
		if err != nil {
			t.Error(err)
			return
		}
		var record store.ImportRecord
		for n, c := range claims {
			if c.Version.Version != 1 { // another batch has published this object
				continue
			}
			record.Published = append(record.Published, store.ImportedVersion{
				Key: list[n].Key, Ref: c.Version.VersionRef, SourceKey: c.Version.SourceKey, ETag: "1", Chunks: chunksOf(c.Version.VersionRef, 2), Reused: c.Reused,
			})
		}
		// The last one to claim a version publishes it.
		if _, err := s.RecordImported(ctx, i, record); err != nil && !errors.Is(err, store.ErrClaimLost) {
			t.Error(err)
		}
	})
	got, err := both[1].ImportForSystem(ctx, i.ImportRef)
	if err != nil || got.Counts.Published != objects || got.Counts.Failed != 0 {
		t.Errorf("counts %+v, %v", got.Counts, err)
	}
	if n, err := both[1].CountChunks(ctx); err != nil || n != 2*objects {
		t.Errorf("%d chunks, %v", n, err)
	}
}

func claimKeysAtOnce(t *testing.T, both [2]*store.Store) {
	const keys = 5
	var mu sync.Mutex
	claimed := map[string]int{}
	atOnce(both, 6, func(s *store.Store, worker int) {
		for n := range keys {
			key := fmt.Sprint(n)
			record, err := s.ClaimKey(t.Context(), store.IdempotencyKey{Workspace: "w", Caller: "c", Key: key, Route: "r", BodyHash: "h", RunID: fmt.Sprint(worker)})
			if err != nil {
				t.Error(err)
			}
			if record == nil {
				mu.Lock()
				claimed[key]++
				mu.Unlock()
			}
		}
	})
	for key, n := range claimed {
		if n != 1 {
			t.Errorf("key %s was claimed %d times", key, n)
		}
	}
	if len(claimed) != keys {
		t.Errorf("%d keys were claimed of %d", len(claimed), keys)
	}
}

func endRunsAtOnce(t *testing.T, both [2]*store.Store) {
	ctx := t.Context()
	ann := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}, Covered: []string{knowledge.EveryLevel}})
	for n := range 5 {
		id := fmt.Sprint(n)
		atOnce(both, 3, func(s *store.Store, worker int) {
			_, err := s.StartRun(ctx, ann, store.Run{ID: id, Workspace: "w", Owner: ann.Owner(), ConversationID: id}, &store.Conversation{ID: id})
			if err == nil {
				message := store.Message{ID: fmt.Sprintf("%s by %d", id, worker), ConversationID: id, RunID: id}
				err = s.EndAnswer(ctx, "w", id, store.RunEnd{Status: knowledge.RunCompleted, LogKey: message.ID}, message)
			}
			if err != nil {
				t.Error(err)
			}
		})
		r, err := both[0].RunForSystem(ctx, "w", id)
		must(t, err)
		talk, err := both[1].History(ctx, ann, id, 10)
		list := talk.Messages
		if err != nil || len(list) != 1 || list[0].ID != r.LogKey || r.Status != knowledge.RunCompleted {
			t.Errorf("run %+v with the messages %+v, %v", r, list, err)
		}
	}
}
