package ingestion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestImportOfSmallObjects(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.size = 20
	for n := range 30 {
		f.shelf.put(fmt.Sprintf("notes/%02d.txt", n), fmt.Sprintf("The watchword of note %d is word%dx.", n, n))
	}
	i := f.start(func(r *store.ImportRequest) { r.Tags = []string{"imported"} })
	if todo := f.list(i); !slices.Equal(todo, []int{20, 10}) {
		t.Fatalf("pages of %v", todo)
	}
	for page := range 2 {
		f.Must(f.batch(i, page))
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 30, Published: 30, Bytes: f.bytes()})
	if asked := f.Server.Totals().Embeddings.Asked; asked != 2 {
		t.Errorf("30 documents of 2 batches took %d embedding requests", asked)
	}
	for n := range 30 {
		f.wantOnce(fmt.Sprintf("notes/%02d.txt", n), 1)
	}
	if found := f.Finds("word17x"); len(found) != 1 || !strings.Contains(found[0], "word17x") {
		t.Errorf("found %q", found)
	}
	d := f.documentOf("notes/17.txt")
	if d.Name != "notes/17.txt" || d.ExternalID != "shelf://notes/17.txt" || !slices.Equal(d.Tags, []string{"imported"}) || d.MediaType != "text/plain" {
		t.Errorf("document %+v", d)
	}
	versions, _, err := f.Store.Versions(f.Ctx, activitytest.Manager(), d.ID, store.Page{})
	f.Must(err)
	if len(versions) != 1 || versions[0].RunID != i.RunID {
		t.Errorf("versions %+v", versions)
	}
	if data, err := f.Blobs.Get(f.Ctx, versions[0].SourceKey); err != nil || !strings.Contains(string(data), "word17x") {
		t.Errorf("the original is %q, %v", data, err)
	}

	t.Run("a repetition of its steps changes nothing", func(t *testing.T) {
		opened := len(f.shelf.opened)
		f.list(i)
		for page := range 2 {
			f.Must(f.batch(i, page))
		}
		f.wantCounts(i, knowledge.ImportCounts{Discovered: 30, Published: 30, Bytes: f.bytes()})
		if len(f.shelf.opened) != opened || f.Server.Totals().Embeddings.Asked != 2 {
			t.Errorf("%d objects were read again", len(f.shelf.opened)-opened)
		}
	})
	f.end(i)
	t.Run("another import reads only what has changed", func(t *testing.T) {
		f.shelf.put("notes/03.txt", "The watchword of note 3 is new3x.")
		f.shelf.opened = nil
		next := f.run(func(r *store.ImportRequest) { r.Tags = []string{"imported"} })
		f.wantCounts(next, knowledge.ImportCounts{Discovered: 30, Published: 1, Skipped: 29, Bytes: int64(len("The watchword of note 3 is new3x."))})
		if !slices.Equal(f.shelf.opened, []string{"notes/03.txt"}) {
			t.Errorf("read %v", f.shelf.opened)
		}
		f.wantOnce("notes/03.txt", 2)
		if found := f.Finds("word3x"); len(found) != 0 {
			t.Errorf("the old words are found: %q", found)
		}
	})
	t.Run("with other tags all come again, and no vector is requested again", func(t *testing.T) {
		asked := f.Server.Totals().Embeddings.Asked
		next := f.run(func(r *store.ImportRequest) { r.Tags = []string{"other"} })
		f.wantCounts(next, knowledge.ImportCounts{Discovered: 30, Published: 30, Bytes: f.bytes()})
		if d := f.documentOf("notes/03.txt"); !slices.Contains(d.Tags, "other") {
			t.Errorf("tags %v", d.Tags)
		}
		if again := f.Server.Totals().Embeddings.Asked - asked; again != 0 {
			t.Errorf("%d requests for chunks that were embedded before", again)
		}
	})
}

// bytes is the size of all objects.
func (f *importFixture) bytes() (n int64) {
	for _, o := range f.shelf.objects {
		n += int64(len(o.data))
	}
	return n
}

// TestImportOverDeaths lets the process die around the transaction that publishes a
// batch: every count is exact, and nothing is published twice.
func TestImportOverDeaths(t *testing.T) {
	t.Parallel()
	for name, deaths := range map[string][]hook{
		"before": {dies("publish", 1, false), dies("publish", 1, false)},
		"after":  {dies("publish", 1, true), dies("publish", 1, true)},
		"both":   {dies("publish", 1, false), dies("publish", 1, true)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newImportFixture(t)
			for n := range 60 {
				f.shelf.put(fmt.Sprintf("%02d.txt", n), fmt.Sprintf("Text of object %d.", n))
			}
			f.run()
			for n := range 60 {
				f.shelf.put(fmt.Sprintf("%02d.txt", n), fmt.Sprintf("New text of object %d.", n))
			}
			i := f.start()
			f.list(i)
			for _, death := range deaths {
				f.writes.set(death)
				if f.batch(i, 0) == nil {
					t.Error("the batch did not fail")
				}
			}
			f.writes.set(nil)
			f.Must(f.batch(i, 0))
			f.wantCounts(i, knowledge.ImportCounts{Discovered: 60, Published: 60, Bytes: f.bytes()})
			for n := range 60 {
				f.wantOnce(fmt.Sprintf("%02d.txt", n), 2)
			}
			if asked := f.Server.Totals().Embeddings.Asked; asked != 2 {
				t.Errorf("120 chunks took %d requests", asked)
			}
		})
	}
}

func TestObjectsThatFail(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.put("good.txt", "This one is fine.")
	f.shelf.put("empty.txt", "")
	f.shelf.put("picture.xcf", "gimp xcf v001\x00\x00\x00\x00\x10\x00\x00\x00")
	f.shelf.put("secret.txt", "x")
	f.shelf.change("secret.txt", func(o *shelved) { o.err = source.Forbidden("object", "secret.txt") })
	f.shelf.put("described.txt", "Its description is wrong.")
	f.shelf.put("described.txt.meta.json", "[]")
	f.shelf.put("large.txt", strings.Repeat("More than a text may have. ", 25_000))
	i := f.run()
	want := map[string]knowledge.Code{
		"empty.txt": knowledge.CodeEmpty, "picture.xcf": knowledge.CodeUnsupportedFormat, "secret.txt": knowledge.CodeForbidden,
		"described.txt": knowledge.CodeInvalid, "large.txt": knowledge.CodeTooLarge,
	}
	if diff := cmp.Diff(want, f.failures(i)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 6, Published: 1, Failed: 5, Bytes: int64(len("This one is fine."))})
	if d := f.documentOf("secret.txt"); d.Status != knowledge.StatusError || d.Error.Code != knowledge.CodeForbidden || !d.Error.Retryable || d.Error.Stage != knowledge.StageFetch {
		t.Errorf("document %+v", d)
	}

	t.Run("the next import tries what may have changed", func(t *testing.T) {
		f.shelf.opened = nil
		f.shelf.change("secret.txt", func(o *shelved) { o.err = nil })
		next := f.run()
		f.wantCounts(next, knowledge.ImportCounts{Discovered: 6, Published: 1, Skipped: 1, Failed: 4, Bytes: 1})
		for _, key := range []string{"empty.txt", "picture.xcf", "good.txt"} {
			if slices.Contains(f.shelf.opened, key) {
				t.Errorf("%s was read again", key)
			}
		}
		f.wantOnce("secret.txt", 2)
	})
}

func TestObjectsThatTheSourceDoesNotDeliver(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	for _, key := range []string{"a.txt", "b.txt", "c.txt"} {
		f.shelf.put(key, "Text of "+key)
	}
	f.shelf.change("b.txt", func(o *shelved) { o.err = source.Unavailable(nil) })
	i := f.start()
	f.list(i)
	err := f.batch(i, 0)
	f.FailedWith(err, knowledge.CodeUnavailable, true)
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 2, Bytes: int64(2 * len("Text of a.txt"))})
	f.shelf.change("b.txt", func(o *shelved) { o.err = nil })
	f.Must(f.batch(i, 0))
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 3, Bytes: f.bytes()})
}

func TestLargeObjects(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	var long strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&long, "Paragraph %d has a hundred characters or so, and the watchword large%dx in the middle of them.\n\n", n, n)
	}
	f.shelf.put("long.txt", long.String())
	f.shelf.put("short.txt", "A short text.")
	f.shelf.change("long.txt", func(o *shelved) { o.hidden = true })
	i := f.run()
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: f.bytes()})
	d := f.documentOf("long.txt")
	if d.Status != knowledge.StatusPublished || d.ChunkCount < 200 {
		t.Fatalf("document %+v", d)
	}
	if found := f.Finds("large2345x"); len(found) != 1 {
		t.Errorf("found %d passages", len(found))
	}
	t.Run("unchanged, it is not read again", func(t *testing.T) {
		calls := f.Parser.Calls
		next := f.run()
		f.wantCounts(next, knowledge.ImportCounts{Discovered: 2, Skipped: 2})
		if f.Parser.Calls != calls {
			t.Error("it was parsed again")
		}
	})
	t.Run("after a death it resumes behind the parser and the model", func(t *testing.T) {
		f.shelf.put("long.txt", long.String()+"One more paragraph.")
		next := f.start()
		f.list(next)
		f.writes.set(dies("publish", 1, false))
		if f.batch(next, 0) == nil {
			t.Fatal("it did not fail")
		}
		f.writes.set(nil)
		calls, asked := f.Parser.Calls, f.Server.Totals().Embeddings.Asked
		f.Must(f.batch(next, 0))
		if f.Parser.Calls != calls || f.Server.Totals().Embeddings.Asked != asked {
			t.Errorf("parsed %d times, and asked %d times again", f.Parser.Calls-calls, f.Server.Totals().Embeddings.Asked-asked)
		}
		if d := f.documentOf("long.txt"); d.PublishedVersion != 2 || d.Version != 2 {
			t.Errorf("version %d of %d", d.PublishedVersion, d.Version)
		}
	})
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.size = 2
	f.shelf.put("a.txt", "First.")
	f.shelf.put("a.txt.meta.json", `{"name":"The First","tags":["one"],"metadata":{"year":1999}}`)
	f.shelf.put("b.txt", "Second.") // its description is on the next page
	f.shelf.put("b.txt.bak.txt", "Third.")
	f.shelf.put("b.txt.meta.json", `{"tags":["two"]}`)
	f.shelf.put("c.txt", "Fourth.")
	rules := func(r *store.ImportRequest) {
		r.Rules = []store.ImportRule{{Match: "a*", Tags: []string{"rule"}, Metadata: map[string]any{"year": 2000}}}
		r.Exclude = []string{"*.bak.txt"}
	}
	i := f.run(rules)
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 3, Bytes: int64(len("First.Second.Fourth."))})
	if d := f.documentOf("a.txt"); d.Name != "The First" || !slices.Equal(d.Tags, []string{"rule", "one"}) || d.Metadata["year"] != 1999.0 {
		t.Errorf("a is %+v", d)
	}
	if d := f.documentOf("b.txt"); !slices.Equal(d.Tags, []string{"two"}) {
		t.Errorf("b has the tags %v", d.Tags)
	}
	t.Run("a change of a description is a change of its object", func(t *testing.T) {
		f.shelf.put("b.txt.meta.json", `{"tags":["three"]}`)
		next := f.run(rules)
		f.wantCounts(next, knowledge.ImportCounts{Discovered: 3, Published: 1, Skipped: 2, Bytes: int64(len("Second."))})
		if d := f.documentOf("b.txt"); !slices.Contains(d.Tags, "three") {
			t.Errorf("b has the tags %v", d.Tags)
		}
	})
}

func TestVanishedObjects(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	for _, key := range []string{"a.txt", "b.txt", "c.txt"} {
		f.shelf.put(key, "Text of "+key)
	}
	f.run()
	remove := func(r *store.ImportRequest) { r.RemoveVanished = true }
	delete(f.shelf.objects, "b.txt")
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Skipped: 2, Vanished: 1})
	if len(f.workflows.removals) != 0 {
		t.Errorf("removed %v", f.workflows.removals)
	}
	i := f.start(remove)
	f.list(i)
	for range 2 {
		f.Must(act(f.fixture, f.importing.SettleVanished, i.ImportRef))
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Skipped: 2, Vanished: 1, Deleted: 1})
	f.end(i)
	if len(f.workflows.removals) != 1 || f.documentOf("b.txt").Status != knowledge.StatusDeleting {
		t.Errorf("removals %+v", f.workflows.removals)
	}
	t.Run("an empty listing removes nothing", func(t *testing.T) {
		clear(f.shelf.objects)
		f.wantCounts(f.run(remove), knowledge.ImportCounts{Vanished: 2})
		if len(f.workflows.removals) != 1 {
			t.Errorf("removals %+v", f.workflows.removals)
		}
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.put("a.txt", "Text of a")
	f.run()
	f.shelf.put("b.txt", "Text of b")
	i := f.run(func(r *store.ImportRequest) { r.DryRun = true })
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Skipped: 1, Bytes: int64(len("Text of b"))})
	if _, err := f.Store.Document(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", "shelf://b.txt")); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("a dry run has imported: %v", err)
	}
}

func TestRetryOfFailedObjects(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	for _, key := range []string{"a.txt", "b.txt", "c.txt"} {
		f.shelf.put(key, "Text of "+key)
		f.shelf.change(key, func(o *shelved) { o.err = source.Forbidden("object", key) })
	}
	i := f.run()
	for _, key := range []string{"a.txt", "b.txt"} {
		f.shelf.change(key, func(o *shelved) { o.err = nil })
	}
	i, err := f.Store.RetryImport(f.Ctx, activitytest.Manager(), i.Import, "retry", i.CreatedAt)
	f.Must(err)
	in := ingestion.RetryInput{ImportRef: i.ImportRef, Run: i.RunID}
	for range 2 {
		f.Must(act(f.fixture, f.importing.RetryFailed, in))
	}
	if len(f.workflows.ingests) != 2 {
		t.Fatalf("ingests %+v", f.workflows.ingests)
	}
	left, err := do(f.fixture, f.importing.SettleRetried, i.ImportRef)
	f.Must(err)
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Failed: 1})
	for _, v := range f.workflows.ingests {
		f.Publish(ingestion.StepInput{VersionRef: v.VersionRef, Run: v.RunID})
	}
	rest, err := do(f.fixture, f.importing.SettleRetried, i.ImportRef)
	f.Must(err)
	if left != 2 || rest != 0 {
		t.Errorf("%d and then %d documents are still being ingested", left, rest)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 2, Failed: 1, Bytes: int64(2 * len("Text of a.txt"))})
	if diff := cmp.Diff(map[string]knowledge.Code{"c.txt": knowledge.CodeForbidden}, f.failures(i)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	f.end(i)
	f.shelf.opened = nil
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 3, Skipped: 2, Failed: 1})
	if !slices.Equal(f.shelf.opened, []string{"c.txt"}) {
		t.Errorf("read %v, want only the object that is still refused", f.shelf.opened)
	}
}

func TestBatchThatFails(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	for n := range 5 {
		f.shelf.put(fmt.Sprintf("%d.txt", n), "Text")
	}
	i := f.start()
	f.list(i)
	in := ingestion.FailBatchInput{ImportRef: i.ImportRef, Run: i.RunID, First: 1, Last: 3, Error: knowledge.DocumentError{
		Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Message: "the model refused", Retryable: true,
	}}
	for range 2 {
		f.Must(act(f.fixture, f.importing.FailImportBatch, in))
	}
	f.Must(f.batch(i, 0))
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 5, Published: 3, Failed: 2, Bytes: 12})
	f.end(i)
	f.Must(act(f.fixture, f.importing.CleanImport, i.ImportRef))
	if left := f.Keys(i.Prefix()); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestArchiveGoesWithItsDocuments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		removed, while bool
	}{
		{"is kept for a retry", false, false},
		{"is deleted with a document that was in it", true, false},
		{"is deleted at the end, if a document was removed before", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newImportFixture(t)
			f.shelf.put("a.txt", "Text")
			f.shelf.put("b.txt", "More")
			f.shelf.change("b.txt", func(o *shelved) { o.err = knowledge.Errorf(knowledge.CodeCorrupt, "damaged") })
			i := f.start(func(r *store.ImportRequest) { r.Source = source.Spec{Type: source.TypeZip, URI: "a.zip"} })
			if _, err := f.Blobs.Put(f.Ctx, i.ArchiveKey(), []byte("PK and the words of a.txt")); err != nil {
				t.Fatal(err)
			}
			f.list(i)
			f.Must(f.batch(i, 0))
			f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Published: 1, Failed: 1, Bytes: 4})
			other := f.Upload("other.txt", "Words")
			f.Publish(other)
			f.Remove(other.Document)
			if test.while {
				f.Remove(f.documentOf("a.txt").ID)
			}
			f.end(i)
			f.Must(act(f.fixture, f.importing.CleanImport, i.ImportRef))
			if test.removed && !test.while {
				f.Remove(f.documentOf("a.txt").ID)
			}
			kept, err := f.Blobs.Exists(f.Ctx, i.ArchiveKey())
			f.Must(err)
			if kept == test.removed {
				t.Errorf("the archive is kept: %t", kept)
			}
			if files := f.Holding("words of a.txt"); test.removed && len(files) != 0 {
				t.Errorf("its words are left in %v", files)
			}
		})
	}
}

func TestStateOfAnImportThatHasEnded(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	i := f.start()
	f.list(i)
	kept, temporary := i.StateKey("page/1"), i.StateKey(source.Temporary+"1")
	for _, key := range []string{kept, temporary} {
		if _, err := f.Blobs.Put(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	f.end(i)
	f.Must(act(f.fixture, f.importing.CleanImport, i.ImportRef))
	if diff := cmp.Diff([]string{kept}, f.Keys(i.Prefix())); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
