package ingestion_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/store"
)

// blobsOf returns the keys of the blobs of a document below its prefix, but for its vectors.
func (f *fixture) blobsOf(document string) []string {
	f.Helper()
	prefix := blob.DocumentPrefix("w", "p", document)
	found := []string{}
	_, err := f.Blobs.DeletePrefix(f.Ctx, prefix, func(key string, _ time.Time) bool {
		if name := strings.TrimPrefix(key, prefix); !strings.HasPrefix(name, "vectors/") {
			found = append(found, name)
		}
		return true
	})
	f.Must(err)
	slices.Sort(found)
	return found
}

// TestTextsOfReplacedVersions looks at what is left of versions when newer ones are published.
func TestTextsOfReplacedVersions(t *testing.T) {
	t.Parallel()
	private := func(mode knowledge.PrivacyMode) func(*store.NewVersion) {
		return func(v *store.NewVersion) { v.Enrichment.Privacy.Mode = mode }
	}
	large := strings.Repeat(twoParts(1)+"\n\n", 400)
	left := func(f *fixture, name string, texts ...string) (first ingestion.StepInput, gone []string) {
		f.Helper()
		first = f.Upload(name, texts[0])
		f.Publish(first)
		before := f.blobsOf(first.Document)
		for _, text := range texts[1:] {
			f.Publish(f.Upload(name, text))
		}
		after := f.blobsOf(first.Document)
		return first, slices.DeleteFunc(before, func(key string) bool { return slices.Contains(after, key) })
	}

	t.Run("the original of a small text stays", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first, _ := left(f, "a.txt", twoParts(1), twoParts(2), twoParts(3))
		original := "upload-" + first.Run + "/original"
		if got := f.blobsOf(first.Document); !slices.Contains(got, original) || slices.ContainsFunc(got, func(key string) bool { return strings.HasPrefix(key, "1/") }) {
			t.Errorf("left are %q", got)
		}
		for n := range 11 {
			f.Publish(f.Upload("a.txt", twoParts(4+n)))
		}
		if got := f.blobsOf(first.Document); slices.Contains(got, original) {
			t.Errorf("after many versions left are %q", got)
		}
	})

	t.Run("the layout of a large text stays, and not its original", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first, gone := left(f, "a.txt", large, twoParts(2))
		layout := strings.TrimPrefix(parsed.LayoutKey(first.VersionRef), blob.DocumentPrefix("w", "p", first.Document))
		if got := f.blobsOf(first.Document); !slices.Contains(got, layout) || !slices.Contains(gone, "upload-"+first.Run+"/original") {
			t.Errorf("left are %q, gone %q", got, gone)
		}
	})

	t.Run("a version that removes personal data leaves no text that has them", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		first := f.Upload("a.txt", large)
		f.Publish(first)
		f.Publish(f.Upload("a.txt", twoParts(2), private(knowledge.PrivacyDetect)))
		third := f.Upload("a.txt", twoParts(3), private(knowledge.PrivacyRedact))
		f.Publish(third)
		for _, key := range f.blobsOf(first.Document) {
			if strings.HasPrefix(key, "1/") || strings.HasPrefix(key, "2/") || strings.HasPrefix(key, "upload-") && !strings.Contains(key, third.Run) {
				t.Errorf("%s is left", key)
			}
		}
		f.Publish(f.Upload("a.txt", twoParts(4), private(knowledge.PrivacyRedact)))
		var own []string
		for _, key := range f.blobsOf(first.Document) {
			if strings.HasPrefix(key, "3/") {
				own = append(own, key)
			}
		}
		if diff := cmp.Diff([]string{"3/layout-seen.json"}, own); diff != "" {
			t.Errorf("of the redacted version is left (-want +got)\n%s", diff)
		}
	})
}
