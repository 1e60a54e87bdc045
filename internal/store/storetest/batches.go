package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// testBatches is about chunks that are written and deleted in parts.
func testBatches(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"parts_are_seen_together_once_the_version_is_published":   partsTogether,
		"a_part_replaces_what_stands_in_its_place":                partsAgain,
		"a_part_must_begin_where_it_says":                         partsElsewhere,
		"parts_of_a_version_that_is_not_ingested_are_not_written": partsLate,
		"the_chunks_of_a_version_that_was_given_up_are_discarded": discardFailed,
		"the_chunks_of_an_overtaken_version_are_discarded":        discardOvertaken,
		"chunks_that_somebody_sees_or_cites_are_not_discarded":    discardNothing,
		"a_version_that_was_discarded_can_be_ingested_again":      discardAndRetry,
	})
}

// published are the texts of the chunks that readers see of a document.
func (f *fixture) published(document string) []string {
	f.Helper()
	list, _, err := f.DocumentChunks(f.ctx, manager("acme"), document, store.Page{Limit: 500})
	f.must(err)
	texts := []string{}
	for _, c := range list {
		texts = append(texts, c.Text)
	}
	return texts
}

func partsTogether(f *fixture) {
	v := f.add(upload("a.txt"))
	chunks := passages(v.VersionRef, "0", "1", "2", "3", "4")
	f.must(f.PutChunksPart(f.ctx, v.VersionRef, 3, chunks[3:]))
	f.must(f.PutChunksPart(f.ctx, v.VersionRef, 0, chunks[:3]))
	if got := f.sees(reader("ann"), chunks...); len(got) != 0 {
		f.Errorf("seen before it is published: %q", got)
	}
	f.publishVersion(store.Publication{Ref: v.VersionRef, RunID: v.RunID}, true)
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, f.published(v.Document)); diff != "" {
		f.Error(diff)
	}
}

func partsAgain(f *fixture) {
	v := f.add(upload("a.txt"))
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "old", "old", "old", "old", "old")))
	chunks := passages(v.VersionRef, "0", "1", "2", "3")
	for range 2 {
		f.must(f.PutChunksPart(f.ctx, v.VersionRef, 0, chunks[:2]))
		f.must(f.PutChunksPart(f.ctx, v.VersionRef, 2, chunks[2:]))
		f.must(f.TrimChunks(f.ctx, v.VersionRef, 4))
	}
	f.publishVersion(store.Publication{Ref: v.VersionRef, RunID: v.RunID}, true)
	if diff := cmp.Diff([]string{"0", "1", "2", "3"}, f.published(v.Document)); diff != "" {
		f.Error(diff)
	}
}

func partsElsewhere(f *fixture) {
	v := f.add(upload("a.txt"))
	if err := f.PutChunksPart(f.ctx, v.VersionRef, 1, passages(v.VersionRef, "0", "1")); err == nil {
		f.Error("written")
	}
}

func partsLate(f *fixture) {
	seen, chunks := f.publish(upload("a.txt"), "one")
	f.must(f.PutChunksPart(f.ctx, seen.VersionRef, 0, passages(seen.VersionRef, "late")))
	f.must(f.TrimChunks(f.ctx, seen.VersionRef, 0))
	if diff := cmp.Diff([]string{"one"}, f.sees(reader("ann"), chunks...)); diff != "" {
		f.Error(diff)
	}
	v := f.add(upload("b.txt"))
	r := f.remove(manager("acme"), v.Document)
	f.wantCode(f.PutChunksPart(f.ctx, v.VersionRef, 0, passages(v.VersionRef, "late")), knowledge.CodeNotFound)
	f.wantCode(f.TrimChunks(f.ctx, v.VersionRef, 0), knowledge.CodeNotFound)
	f.must(f.DiscardVersion(f.ctx, v.VersionRef))
	if v = f.add(upload("b.txt")); v.Version != r.Upto+1 {
		f.Errorf("version %d after a removal up to %d", v.Version, r.Upto)
	}
}

// publishAsItIs publishes a version without writing chunks.
func (f *fixture) publishAsItIs(v store.Version) {
	f.Helper()
	f.publishVersion(store.Publication{Ref: v.VersionRef, RunID: v.RunID}, true)
}

func (f *fixture) fail(v store.Version) {
	f.Helper()
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Retryable: true}))
}

func (f *fixture) retry(v store.Version) store.Version {
	f.Helper()
	v, err := f.RetryVersion(f.ctx, manager("acme"), v.Document, knowledge.NewID(), v.UpdatedAt)
	f.must(err)
	return v
}

func discardFailed(f *fixture) {
	f.publish(upload("a.txt"), "one")
	v := f.add(upload("a.txt"))
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "two")))
	f.fail(v)
	for range 2 {
		f.must(f.DiscardVersion(f.ctx, v.VersionRef))
	}
	if diff := cmp.Diff([]string{"one"}, f.published(v.Document)); diff != "" {
		f.Error(diff)
	}
	f.publishAsItIs(f.retry(v))
	if got := f.published(v.Document); len(got) != 0 {
		f.Errorf("left: %q", got)
	}
}

func discardOvertaken(f *fixture) {
	v := f.add(upload("a.txt"))
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "one")))
	f.publish(upload("a.txt"), "two")
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "late")))
	f.publishVersion(store.Publication{Ref: v.VersionRef, RunID: v.RunID}, false)
	f.must(f.DiscardVersion(f.ctx, v.VersionRef))
	_, err := f.Chunk(f.ctx, manager("acme"), knowledge.ChunkID(v.Document, v.Version, 0))
	f.wantCode(err, knowledge.CodeNotFound)
}

func discardNothing(f *fixture) {
	f.must(f.startRun(reader("ann"), run("r1"), &store.Conversation{ID: "talk"}))
	v1, old := f.publish(upload("a.txt"), "cited", "found")
	f.must(f.SaveMessages(f.ctx, "acme", store.Message{ID: "m", ConversationID: "talk", ChunkIDs: []string{old[0].ID}}))
	v2, chunks := f.publish(upload("a.txt"), "two")
	pending := f.add(upload("a.txt"))
	f.must(f.PutChunks(f.ctx, pending.VersionRef, passages(pending.VersionRef, "three")))
	for _, v := range []store.Version{v1, v2, pending} {
		f.must(f.DiscardVersion(f.ctx, v.VersionRef))
	}
	for i, c := range append(old, chunks...) {
		if view, err := f.Chunk(f.ctx, manager("acme"), c.ID); err != nil || view.Text != c.Text {
			f.Errorf("chunk %d: %+v, %v", i, view, err)
		}
	}
	f.must(f.EndRun(f.ctx, "acme", "r1", store.RunEnd{Status: knowledge.RunCompleted}))
	f.must(f.DiscardVersion(f.ctx, v1.VersionRef))
	if _, err := f.Chunk(f.ctx, manager("acme"), old[0].ID); err != nil {
		f.Errorf("a cited chunk: %v", err)
	}
	f.publishAsItIs(pending)
	if diff := cmp.Diff([]string{"three"}, f.published(v1.Document)); diff != "" {
		f.Error(diff)
	}
}

func discardAndRetry(f *fixture) {
	v := f.add(upload("a.txt"))
	f.fail(v)
	again := f.retry(v)
	f.must(f.PutChunksPart(f.ctx, again.VersionRef, 0, passages(again.VersionRef, "one")))
	f.must(f.DiscardVersion(f.ctx, v.VersionRef)) // a late repeat of the first try's
	f.publishAsItIs(again)
	if diff := cmp.Diff([]string{"one"}, f.published(v.Document)); diff != "" {
		f.Error(diff)
	}
}
