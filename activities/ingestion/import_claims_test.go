package ingestion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// objectsOfTwoKinds are a small object and one that is imported by itself.
func objectsOfTwoKinds() map[string]string {
	var long strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&long, "Paragraph %d has a hundred characters or so, and the watchword large%dx in the middle of them.\n\n", n, n)
	}
	return map[string]string{"short.txt": "A short text.", "long.txt": long.String()}
}

// eachKindOnce imports an object of each kind as a test does, which ends with the object
// imported once.
func eachKindOnce(t *testing.T, test func(t *testing.T, f *importFixture, i store.Import, key, text string)) {
	t.Helper()
	for key, text := range objectsOfTwoKinds() {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			f := newImportFixture(t)
			f.shelf.put(key, text)
			i := f.start()
			f.list(i)
			test(t, f, i, key, text)
			f.wantOnce(key, 1)
			f.wantCounts(i, knowledge.ImportCounts{Discovered: 1, Published: 1, Bytes: f.bytes()})
		})
	}
}

// TestClaimThatWasTakenOver lets a try of an import stall before it publishes. Meanwhile
// another process claims the version again for other bytes, removes the index entries, and
// dies. Readers never see the version without its entries.
func TestClaimThatWasTakenOver(t *testing.T) {
	t.Parallel()
	eachKindOnce(t, func(t *testing.T, f *importFixture, i store.Import, key, text string) {
		var other watched
		other.set(dies("index", 1, false))
		f.writes.set(func(step string, call int, after bool) error {
			if step != "publish" || call > 1 || after {
				return nil
			}
			f.shelf.put(key, "Changed. "+text)
			if f.batchBy(f.process(&other), i, 0) == nil {
				t.Error("the other try did not die")
			}
			return nil
		})
		if f.batch(i, 0) == nil {
			t.Error("it published what another try has claimed since")
		}
		if d := f.documentOf(key); d.PublishedVersion != 0 || d.Status != knowledge.StatusPending {
			t.Errorf("%s is %s in version %d", key, d.Status, d.PublishedVersion)
		}
		f.Must(f.batch(i, 0))
	})
}

// TestClaimThatIsLostRemovesNothing lets a repetition stall after it has claimed a version
// again, until another process has published that version, of other bytes. It then removes nothing of it.
func TestClaimThatIsLostRemovesNothing(t *testing.T) {
	t.Parallel()
	eachKindOnce(t, func(t *testing.T, f *importFixture, i store.Import, key, text string) {
		f.writes.set(dies("publish", 1, false))
		if f.batch(i, 0) == nil {
			t.Fatal("it did not die")
		}
		f.shelf.put(key, "Changed. "+text)
		f.writes.set(func(step string, call int, after bool) error {
			switch {
			case step == "claim" && after:
				f.shelf.put(key, "Changed again. "+text)
				f.Must(f.batchBy(f.process(&watched{}), i, 0))
			case step == "index":
				t.Error("it goes on")
			}
			return nil
		})
		if f.batch(i, 0) == nil {
			t.Error("it did not fail")
		}
	})
}

// TestLateTryLeavesNothing lets a try of an import stall before it claims a version, until
// another process has published the object. The document is as that process left it.
func TestLateTryLeavesNothing(t *testing.T) {
	t.Parallel()
	eachKindOnce(t, func(t *testing.T, f *importFixture, i store.Import, key, text string) {
		f.writes.set(func(step string, call int, after bool) error {
			if step == "claim" && !after {
				f.Must(f.batchBy(f.process(&watched{}), i, 0))
			}
			return nil
		})
		f.Must(f.batch(i, 0))
	})
}
