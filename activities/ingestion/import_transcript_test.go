package ingestion_test

import (
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestImportOfRecordings: a transcript is part of the recording that it stands beside.
func TestImportOfRecordings(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.put("talks/one.wav", wav+"1")
	f.shelf.put("talks/one.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nThe pilot boards at dawn.\n")
	f.shelf.put("talks/two.wav", wav+"2")
	f.shelf.put("two.srt", "1\n00:00:01,000 --> 00:00:02,000\nIn another folder.\n")
	i := f.run()
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 3, Bytes: f.bytesOf("talks/one.wav", "talks/two.wav", "two.srt")})
	f.wantOnce("talks/one.wav", 1)
	if found := f.Finds("pilot"); len(found) != 2 || f.heard() != 1 { // the usual answer of the model has one too
		t.Errorf("found %q, asked the model %d times", found, f.heard())
	}

	t.Run("that are unchanged are skipped", func(t *testing.T) {
		f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 3, Skipped: 3})
	})
	t.Run("are imported again when the transcript changes", func(t *testing.T) {
		f.shelf.put("talks/one.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nThe tug leaves at noon.\n")
		f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 3, Skipped: 2, Published: 1, Bytes: f.bytesOf("talks/one.wav")})
		f.wantOnce("talks/one.wav", 2)
		if found := f.Finds("tug"); len(found) != 1 || f.heard() != 1 {
			t.Errorf("found %q, asked the model %d times", found, f.heard())
		}
		versions, _, err := f.Store.Versions(f.Ctx, activitytest.Manager(), f.documentOf("talks/one.wav").ID, store.Page{})
		f.Must(err)
		for _, v := range versions {
			stored, err := f.Blobs.Exists(f.Ctx, blob.BesideUpload(v.SourceKey, blob.Transcript))
			if f.Must(err); stored != (v.Version == 2) {
				t.Errorf("the transcript of version %d is stored: %t", v.Version, stored)
			}
		}
	})
}

// bytesOf is the size of objects.
func (f *importFixture) bytesOf(keys ...string) (total int64) {
	for _, key := range keys {
		total += int64(len(f.shelf.objects[key].data))
	}
	return total
}
