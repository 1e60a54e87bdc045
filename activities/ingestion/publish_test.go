package ingestion_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// twoParts returns the text of a document of two chunks, which both name the version.
func twoParts(version int) string {
	part := func(n int) string {
		return fmt.Sprintf("version %d part %d. %s", version, n, strings.Repeat("common words. ", 40))
	}
	return part(1) + "\n\n" + part(2)
}

// seen returns the versions of the chunks that a search finds, as a question
// searches.
func (f *fixture) seen() []int {
	found, err := f.AnsweringUses.Retriever.Retrieve(f.Ctx, retrieve.Request{Principal: activitytest.Member(), Query: "common words"})
	if err != nil {
		f.Error(err)
		return nil
	}
	versions := []int{}
	for _, c := range found.Contexts {
		versions = append(versions, c.Version)
	}
	return versions
}

func TestPublishDocument(t *testing.T) {
	t.Parallel()

	t.Run("publishing again changes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		publish := f.Publish(in)
		for range 2 {
			result, err := do(f, f.Ingestion.PublishDocument, publish)
			f.Must(err)
			counts, err := f.Index.Count(f.Ctx, "w", in.Document)
			f.Must(err)
			if diff := cmp.Diff(map[int]int{1: 2}, counts); diff != "" || !result.Published {
				t.Errorf("published %t, entries %s", result.Published, diff)
			}
			if diff := cmp.Diff([]int{1, 1}, f.seen()); diff != "" {
				t.Error(diff)
			}
		}
		versions, _, err := f.Store.Versions(f.Ctx, activitytest.Manager(), in.Document, store.Page{})
		f.Must(err)
		if len(versions) != 1 || versions[0].Status != knowledge.StatusPublished {
			t.Errorf("versions %+v", versions)
		}
		if n := f.Server.Totals().Embeddings.Asked; n != 3 { // one batch and two questions
			t.Errorf("%d requests for embeddings", n)
		}
	})

	t.Run("a long document is written batch by batch", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", strings.Repeat(twoParts(1)+"\n\n", ingestion.ChunksPerUpsert))
		count := f.Prepare(in)
		publish := f.Embed(in, count)
		most := &largest{Index: f.Index}
		f.IngestWith(func(d *ingestion.Dependencies) { d.Index = most })
		_, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		counts, err := f.Index.Count(f.Ctx, "w", in.Document)
		f.Must(err)
		if counts[1] != count || count <= ingestion.ChunksPerUpsert || most.entries > ingestion.ChunksPerUpsert {
			t.Errorf("%v entries of %d chunks, %d at a time", counts, count, most.entries)
		}
	})

	t.Run("after a change of the model all vectors are of the new model", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, count := f.manyChunks(150)
		publish := f.Embed(in, count)
		endpoint := f.Server.Endpoint()
		endpoint.Model = "another"
		f.IngestWith(func(d *ingestion.Dependencies) { d.Embedder = model.New(endpoint, nil) })
		asked := f.Server.Totals().Embeddings.Asked
		result, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		if now := f.Server.Totals().Embeddings.Asked; !result.Published || now != 2*asked {
			t.Errorf("published %t after %d requests to the new model, want %d", result.Published, now-asked, asked)
		}
	})

	t.Run("tags and access that change meanwhile are in the index", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		publish := f.Embed(in, f.Prepare(in))
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Versions = interrupted{Versions: f.Store, beforePublish: func() error {
				tags := []string{"late"}
				_, err := f.Store.UpdateDocument(f.Ctx, activitytest.Manager(), in.Document, store.DocumentPatch{Tags: &tags, Access: &knowledge.Access{Users: []string{"bob"}}})
				return err
			}}
		})
		_, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		hits := func(p knowledge.Principal) int {
			tagged := knowledge.Filter{{Field: "tags", Type: knowledge.OpIn, Value: []any{"late"}}}
			hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: p, Filter: tagged, Limit: 10}, "common")
			f.Must(err)
			return len(hits)
		}
		bob := knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "k", User: "bob"})
		if ann, bob := hits(activitytest.Member()), hits(bob); ann != 0 || bob != 2 {
			t.Errorf("of two entries that only bob may see, ann finds %d and bob %d", ann, bob)
		}
	})
}

func TestPublishOverOlderVersions(t *testing.T) {
	t.Parallel()

	t.Run("a document is as old as its first version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		at := func(when time.Time) func(*store.NewVersion) { return func(nv *store.NewVersion) { nv.Now = when } }
		f.Publish(f.Upload("a.txt", "one version", at(first)))
		f.Publish(f.Upload("a.txt", "another version", at(first.Add(time.Hour))))
		created := knowledge.Filter{{Field: knowledge.FieldCreatedAt, Type: knowledge.OpEq, Value: first.Format(time.RFC3339)}}
		hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: activitytest.Member(), Filter: created, Limit: 10}, "version")
		f.Must(err)
		if len(hits) != 1 || hits[0].Version != 2 {
			t.Errorf("found %+v", hits)
		}
	})

	t.Run("the originals of older versions are deleted, except one that a newer version shares", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		key := func(n int) string {
			return blob.UploadKey("w", "p", knowledge.DocumentID("w", "p", "a.txt"), strconv.Itoa(n))
		}
		of := func(n int) func(*store.NewVersion) { return func(nv *store.NewVersion) { nv.SourceKey = key(n) } }
		first, _ := f.Upload("a.txt", twoParts(1), of(1)), f.Publish(f.Upload("a.txt", twoParts(2), of(2)))
		if there, err := f.Blobs.Exists(f.Ctx, key(1)); err != nil || !there {
			t.Errorf("one that waits for its ingestion has lost its original: %v", err)
		}
		f.Must(f.Store.FailVersion(f.Ctx, first.VersionRef, first.Run, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract}))
		_, err := f.Blobs.Put(f.Ctx, blob.UploadKey("w", "p", first.Document, "under way"), []byte("x"))
		f.Must(err)
		f.Publish(f.Upload("a.txt", twoParts(3), of(2))) // ingested again from the same bytes
		for name, want := range map[string]bool{key(1): false, key(2): true, blob.UploadKey("w", "p", first.Document, "under way"): true} {
			if there, err := f.Blobs.Exists(f.Ctx, name); err != nil || there != want {
				t.Errorf("%s is there: %t, %v", name, there, err)
			}
		}
	})

	t.Run("readers see one version, never two and never none", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("a.txt", twoParts(1)))
		var done atomic.Bool
		var looks atomic.Int64
		var readers sync.WaitGroup
		for range 2 {
			readers.Go(func() {
				for last := 0; !done.Load(); looks.Add(1) {
					got := f.seen()
					if len(got) != 2 || got[0] != got[1] || got[0] < last {
						t.Errorf("a reader sees parts of versions %v after version %d", got, last)
						done.Store(true)
						return
					}
					last = got[0]
				}
			})
		}
		for version := 2; version <= 12 && !done.Load(); version++ {
			f.Publish(f.Upload("a.txt", twoParts(version)))
		}
		done.Store(true)
		readers.Wait()
		if looks.Load() < 10 {
			t.Errorf("the readers looked %d times only", looks.Load())
		}
	})

	t.Run("a version is not published after a newer one", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first, second := f.Upload("a.txt", twoParts(1)), f.Upload("a.txt", twoParts(2))
		late := f.Embed(first, f.Prepare(first))
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Versions = interrupted{Versions: f.Store, beforePublish: func() error {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = f.Store })
				f.Publish(second)
				return nil
			}}
		})
		result, err := do(f, f.Ingestion.PublishDocument, late)
		f.Must(err)
		counts, err := f.Index.Count(f.Ctx, "w", first.Document)
		f.Must(err)
		if diff := cmp.Diff(map[int]int{2: 2}, counts); diff != "" || result.Published {
			t.Errorf("it says that readers see it: %t, entries %s", result.Published, diff)
		}
		if diff := cmp.Diff([]int{2, 2}, f.seen()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPublishNothing(t *testing.T) {
	t.Parallel()

	t.Run("a version that is being removed is not published", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		publish := f.Embed(in, f.Prepare(in))
		f.Mark(in.Document)
		result, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		counts, err := f.Index.Count(f.Ctx, "w", in.Document)
		f.Must(err)
		if result.Published || len(counts) != 0 {
			t.Errorf("published %t, entries %v", result.Published, counts)
		}
	})

	t.Run("vectors that do not fit the chunks publish nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		publish := f.Embed(in, f.Prepare(in))
		vectors := f.Vectors(in)[0]
		whole, err := f.Blobs.Get(f.Ctx, vectors)
		f.Must(err)
		for name, data := range map[string][]byte{"none": {}, "one": whole[:4+(len(whole)-4)/2], "half of one": whole[:len(whole)-3]} {
			_, err := f.Blobs.Put(f.Ctx, vectors, data)
			f.Must(err)
			_, err = do(f, f.Ingestion.PublishDocument, publish)
			t.Log(name)
			f.FailedWith(err, knowledge.CodeInternal, true)
		}
		_, err = do(f, f.Ingestion.PublishDocument, ingestion.PublishInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeInternal, true)
		if got := f.seen(); len(got) != 0 {
			t.Errorf("seen: %v", got)
		}
	})
}

func TestPublicationEndsRuns(t *testing.T) {
	t.Parallel()

	t.Run("the run of a first version ends with its publication", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		publish := f.Embed(in, f.Prepare(in))
		publish.End = ended(t, 2)
		stop := f.Hub.Follow(in.Run)
		defer stop()
		for range 2 {
			result, err := do(f, f.Ingestion.PublishDocument, publish)
			f.Must(err)
			if !result.Published || !result.Ended {
				t.Errorf("published %t, ended %t", result.Published, result.Ended)
			}
		}
		run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
		if f.Must(err); run.Status != knowledge.RunCompleted {
			t.Errorf("its run is %s", run.Status)
		}
		if diff := cmp.Diff(publish.End, f.stored(in.Run).Items); diff != "" {
			t.Error(diff)
		}
		if given, over, _, _ := f.Hub.Since(in.Run, 2); len(given) != 1 || !over {
			t.Errorf("readers have %v, and know of the end: %t", given, over)
		}
	})

	t.Run("a version that is not published does not end its run", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first := f.Upload("a.txt", twoParts(1))
		late := f.Embed(first, f.Prepare(first))
		late.End = ended(t, 2)
		second := f.Upload("a.txt", twoParts(2))
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Versions = interrupted{Versions: f.Store, beforePublish: func() error {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = f.Store })
				f.Publish(second)
				return nil
			}}
		})
		result, err := do(f, f.Ingestion.PublishDocument, late)
		f.Must(err)
		run, err := f.Store.RunForSystem(f.Ctx, "w", first.Run)
		if f.Must(err); result.Published || result.Ended || run.Status != knowledge.RunRunning {
			t.Errorf("published %t, ended %t, its run is %s", result.Published, result.Ended, run.Status)
		}
	})
}

// largest records the largest number of entries of one write.
type largest struct {
	ingestion.Index
	entries int
}

func (x *largest) Upsert(ctx context.Context, entries []index.Entry) error {
	x.entries = max(x.entries, len(entries))
	return x.Index.Upsert(ctx, entries)
}

// interrupted, cutIndex and cutBlobs wrap the stores and end a step between two of its
// effects.
type interrupted struct {
	ingestion.Versions
	beforePublish, afterPublish, beforeRetire func() error
}

func (v interrupted) PublishVersion(ctx context.Context, p store.Publication) (store.Published, error) {
	if err := activitytest.Dies(v.beforePublish); err != nil {
		return store.Published{}, err
	}
	published, err := v.Versions.PublishVersion(ctx, p)
	return published, errors.Join(err, activitytest.Dies(v.afterPublish))
}

func (v interrupted) RetireChunks(ctx context.Context, ref knowledge.VersionRef) error {
	if err := activitytest.Dies(v.beforeRetire); err != nil {
		return err
	}
	return v.Versions.RetireChunks(ctx, ref)
}

type cutIndex struct {
	ingestion.Index
	beforeUpsert, afterUpsert, beforeRemove func() error
}

func (x cutIndex) Upsert(ctx context.Context, entries []index.Entry) error {
	if err := activitytest.Dies(x.beforeUpsert); err != nil {
		return err
	}
	return errors.Join(x.Index.Upsert(ctx, entries), activitytest.Dies(x.afterUpsert))
}

func (x cutIndex) RemoveVersions(ctx context.Context, workspace, document string, keep int) error {
	if err := activitytest.Dies(x.beforeRemove); err != nil {
		return err
	}
	return x.Index.RemoveVersions(ctx, workspace, document, keep)
}

type cutBlobs struct{ step.Blobs }

func (cutBlobs) DeletePrefix(context.Context, string, func(string, time.Time) bool) (int, error) {
	return 0, activitytest.ErrKilled
}

func TestPublishThatDies(t *testing.T) {
	t.Parallel()
	kill := func() error { return activitytest.ErrKilled }
	for name, tc := range map[string]struct {
		cut  func(f *fixture)
		seen int // the version that readers see then
	}{
		"before the entries": {func(f *fixture) {
			f.IngestWith(func(d *ingestion.Dependencies) { d.Index = cutIndex{Index: f.Index, beforeUpsert: kill} })
		}, 1},
		"behind the entries": {func(f *fixture) {
			f.IngestWith(func(d *ingestion.Dependencies) { d.Index = cutIndex{Index: f.Index, afterUpsert: kill} })
		}, 1},
		"before the switch": {func(f *fixture) {
			f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = interrupted{Versions: f.Store, beforePublish: kill} })
		}, 1},
		"behind the switch": {func(f *fixture) {
			f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = interrupted{Versions: f.Store, afterPublish: kill} })
		}, 2},
		"before the old entries go": {
			func(f *fixture) {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Index = cutIndex{Index: f.Index, beforeRemove: kill} })
			}, 2,
		},
		"before the old chunks go": {
			func(f *fixture) {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = interrupted{Versions: f.Store, beforeRetire: kill} })
			}, 2,
		},
		"before the old blobs go": {func(f *fixture) { f.IngestWith(func(d *ingestion.Dependencies) { d.Blobs = cutBlobs{f.Blobs} }) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("a.txt", twoParts(1)))
			in := f.Upload("a.txt", twoParts(2))
			publish := f.Embed(in, f.Prepare(in))
			tc.cut(f)
			_, err := do(f, f.Ingestion.PublishDocument, publish)
			if err == nil {
				err = act(f, f.Ingestion.RetireVersions, in)
			}
			f.FailedWith(err, knowledge.CodeInternal, true)
			if published, err := do(f, f.Ingestion.IsPublished, in); err != nil || published != (tc.seen == 2) {
				t.Errorf("readers see it: %t, %v", published, err)
			}
			if diff := cmp.Diff([]int{tc.seen, tc.seen}, f.seen()); diff != "" {
				t.Errorf("when it died readers see: %s", diff)
			}
			f.IngestWith(func(d *ingestion.Dependencies) { d.Index, d.Versions, d.Blobs = f.Index, f.Store, f.Blobs })
			result, err := do(f, f.Ingestion.PublishDocument, publish)
			f.Must(err)
			if diff := cmp.Diff([]int{2, 2}, f.seen()); diff != "" || !result.Published {
				t.Errorf("published %t, readers see: %s", result.Published, diff)
			}
			f.Must(act(f, f.Ingestion.RetireVersions, in))
			counts, err := f.Index.Count(f.Ctx, "w", in.Document)
			f.Must(err)
			if diff := cmp.Diff(map[int]int{2: 2}, counts); diff != "" {
				t.Errorf("entries: %s", diff)
			}
			old := in.VersionRef
			old.Version = 1
			if keys := f.Keys(blob.VersionPrefix(old)); len(keys) != 0 {
				t.Errorf("blobs of the old version are left: %v", keys)
			}
		})
	}
}

func TestPublishThatIsCanceled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cut  func(f *fixture, cancel func() error)
		seen int // the version that readers see then
	}{
		"before the switch changes nothing for readers": {
			func(f *fixture, cancel func() error) {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = interrupted{Versions: f.Store, beforePublish: cancel} })
			}, 1,
		},
		"behind the switch comes too late": {
			func(f *fixture, cancel func() error) {
				f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = interrupted{Versions: f.Store, afterPublish: cancel} })
			}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("a.txt", twoParts(1)))
			in := f.Upload("a.txt", twoParts(2))
			publish := f.Embed(in, f.Prepare(in))
			result, err := do(f, func(ctx context.Context, in ingestion.PublishInput) (ingestion.PublishResult, error) {
				ctx, cancel := context.WithCancel(ctx)
				tc.cut(f, func() error { cancel(); return nil })
				return f.Ingestion.PublishDocument(ctx, in)
			}, publish)
			if diff := cmp.Diff([]int{tc.seen, tc.seen}, f.seen()); diff != "" {
				t.Errorf("readers see: %s", diff)
			}
			if tc.seen == 1 {
				if err == nil || result.Published {
					t.Errorf("published %t, error %v", result.Published, err)
				}
				return
			}
			if f.Must(err); !result.Published {
				t.Error("it says that readers do not see it")
			}
		})
	}
}
