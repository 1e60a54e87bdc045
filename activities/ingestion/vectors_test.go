package ingestion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// paragraphs returns the paragraphs of a document. Each of them is one chunk.
func paragraphs(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("Paragraph %d. %s", i, strings.Repeat("words and more words ", 5))
	}
	return list
}

// uploadParagraphs uploads a version whose chunks are its paragraphs.
func (f *fixture) uploadParagraphs(list []string) ingestion.StepInput {
	f.Helper()
	return f.Upload("many.txt", strings.Join(list, "\n\n"), func(nv *store.NewVersion) {
		nv.Splitter = knowledge.Splitter{Strategy: "structure", ChunkSize: 130}
	})
}

// named returns the keys of the blobs with vectors that a version names.
func (f *fixture) named(in ingestion.StepInput) []string {
	f.Helper()
	var names []string
	for _, key := range f.Keys(blob.StepKey(in.VersionRef, "vectors/")) {
		var manifest struct {
			Windows []struct{ Name string }
			Others  []struct{ Name string }
		}
		f.Must(f.Blobs.GetJSON(f.Ctx, key, &manifest))
		for _, w := range slices.Concat(manifest.Windows, manifest.Others) {
			names = append(names, blob.DocumentPrefix("w", "p", in.Document)+"vectors/"+w.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// twoVersions returns 150 paragraphs, and the same with one of them written anew.
func twoVersions() (old, changed []string) {
	old = paragraphs(150)
	changed = slices.Clone(old)
	changed[70] = "This paragraph was written anew, in about as many characters as the one before, and says another thing."
	return old, changed
}

func TestVectorsOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	old, changed := twoVersions()
	for name, tc := range map[string]struct {
		next []string
		sent int
	}{
		"one changed paragraph sends that one":                 {changed, 1},
		"one new paragraph at the beginning sends that one":    {slices.Concat([]string{changed[70]}, old), 1},
		"two new paragraphs far from each other share a batch": {slices.Concat([]string{changed[70]}, old, []string{changed[70] + " Twice."}), 2},
		"a removed paragraph sends nothing":                    {slices.Delete(slices.Clone(old), 20, 21), 0},
		"no change sends nothing":                              {old, 0},
	} {
		t.Run("a new version with "+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.uploadParagraphs(old))
			before := f.Server.Totals()
			in := f.uploadParagraphs(tc.next)
			f.Publish(in)
			after := f.Server.Totals()
			if sent, asked := after.Texts-before.Texts, after.Embeddings.Asked-before.Embeddings.Asked; sent != tc.sent || asked != min(tc.sent, 1) {
				t.Errorf("sent %d texts in %d requests, want %d", sent, asked, tc.sent)
			}
			counts, err := f.Index.Count(f.Ctx, "w", in.Document)
			if f.Must(err); counts[2] != len(tc.next) || len(counts) != 1 {
				t.Errorf("the index has %v of %d chunks", counts, len(tc.next))
			}
			if diff := cmp.Diff(f.named(in), f.Vectors(in)); diff != "" {
				t.Errorf("vectors (-named by the version +there): %s", diff)
			}
		})
	}
}

func TestVectorsAreCached(t *testing.T) {
	t.Parallel()
	old, changed := twoVersions()

	t.Run("a version uses the vectors of one that failed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		failed := f.uploadParagraphs(old)
		f.Embed(failed, f.Prepare(failed))
		f.Must(f.Store.FailVersion(f.Ctx, failed.VersionRef, failed.Run, knowledge.DocumentError{Code: knowledge.CodeUnavailable, Retryable: true}))
		f.Must(act(f, f.Ingestion.DiscardVersion, ingestion.DiscardInput{StepInput: failed}))
		before := f.Server.Totals().Texts
		in := f.uploadParagraphs(changed)
		f.Publish(in)
		if sent := f.Server.Totals().Texts - before; sent != 1 {
			t.Errorf("sent %d texts, want one", sent)
		}
		if diff := cmp.Diff(f.named(in), f.Vectors(in)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a version that was canceled leaves only the vectors of the published one", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		published := f.uploadParagraphs(old)
		f.Publish(published)
		in := f.uploadParagraphs(changed)
		f.Embed(in, f.Prepare(in))
		f.Must(f.Store.FailVersion(f.Ctx, in.VersionRef, in.Run, knowledge.DocumentError{Code: knowledge.CodeCanceled, Retryable: true}))
		f.Must(act(f, f.Ingestion.DiscardVersion, ingestion.DiscardInput{StepInput: in, Canceled: true}))
		if diff := cmp.Diff(f.named(published), f.Vectors(published)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("an index is filled again from the manifests, without the model", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.uploadParagraphs(old))
		in := f.uploadParagraphs(changed)
		publish := f.Publish(in)
		want := f.Finds("paragraph")
		f.Must(f.Index.RemoveDocument(f.Ctx, "w", in.Document, in.Version))
		if found := f.Finds("paragraph"); len(found) != 0 || len(want) == 0 {
			t.Fatalf("found %d passages in an empty index, %d before", len(found), len(want))
		}
		before := f.Server.Totals().Embeddings.Asked
		_, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		if diff := cmp.Diff(want, f.Finds("paragraph")); diff != "" || f.Server.Totals().Embeddings.Asked != before {
			t.Errorf("%d requests, %s", f.Server.Totals().Embeddings.Asked-before, diff)
		}
	})

	t.Run("a text that a document has twice is sent once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		list := slices.Concat(old[:10], old[:10])
		in := f.uploadParagraphs(list)
		f.Publish(in)
		counts, err := f.Index.Count(f.Ctx, "w", in.Document)
		f.Must(err)
		if sent := f.Server.Totals().Texts; sent != 10 || counts[1] != 20 {
			t.Errorf("sent %d texts, the index has %v", sent, counts)
		}
	})

	t.Run("a blob of vectors that is lost costs its own texts only", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.uploadParagraphs(old))
		in := f.uploadParagraphs(changed)
		publish := f.Embed(in, f.Prepare(in))
		f.Must(f.Blobs.Delete(f.Ctx, f.named(in)[0]))
		before := f.Server.Totals().Texts
		_, err := do(f, f.Ingestion.PublishDocument, publish)
		f.Must(err)
		if sent := f.Server.Totals().Texts - before; sent == 0 || sent > ingestion.BatchSize {
			t.Errorf("sent %d texts again", sent)
		}
	})
}

func TestBatchesHoldABoundedNumberOfTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf("%d %s", i, strings.Repeat("永", 7900)))
	}
	in := f.Upload("long.txt", strings.Join(list, "\n\n"), func(nv *store.NewVersion) {
		nv.Splitter = knowledge.Splitter{Strategy: "structure", ChunkSize: 8000, ChunkOverlap: new(int)}
	})
	f.Publish(in)
	if totals := f.Server.Totals(); totals.Embeddings.Asked != 2 || totals.Texts != 20 {
		t.Errorf("%d texts of some 8,000 tokens in %d requests", totals.Texts, totals.Embeddings.Asked)
	}
}
