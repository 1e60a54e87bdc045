package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testPublishing(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"readers_see_exactly_one_version_while_it_switches": oneVersion,
		"publishing_again_has_the_same_result":              publishAgain,
		"an_older_version_never_replaces_a_newer_one":       olderVersion,
		"publishing_after_the_removal_mark_does_nothing":    publishRemoved,
		"publishing_a_version_that_failed_does_nothing":     publishFailed,
		"publishing_at_once_has_one_winner_at_the_end":      publishAtOnce,
		"chunks_come_back_as_they_were_written":             chunksRoundTrip,
		"chunks_of_a_removed_version_are_not_written":       chunksOfRemoved,
	})
}

func oneVersion(f *fixture) {
	const versions = 30
	nv := upload("a.txt")
	var all []knowledge.Chunk
	for version := 1; version <= versions; version++ {
		ref := knowledge.VersionRef{Workspace: "acme", Project: "handbook", Document: nv.DocumentID, Version: version}
		all = append(all, passages(ref, fmt.Sprint(version, " first"), fmt.Sprint(version, " second"))...)
	}
	f.publish(upload("a.txt"), "1 first", "1 second")
	var done atomic.Bool
	var reads atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			last := 0
			for !done.Load() {
				views, err := f.VisibleChunks(f.ctx, reader("ann"), nil, hitsOf(all...))
				if err != nil {
					f.Error(err)
					return
				}
				if len(views) != 2 || views[0].Version != views[1].Version || views[0].Version < last {
					f.Errorf("saw %d chunks after version %d: %+v", len(views), last, views)
					return
				}
				last = views[0].Version
				reads.Add(1)
			}
		})
	}
	for version := 2; version <= versions; version++ {
		f.publish(upload("a.txt"), fmt.Sprint(version, " first"), fmt.Sprint(version, " second"))
		deadline := time.Now().Add(time.Minute)
		for n := reads.Load(); reads.Load() == n && !f.Failed(); time.Sleep(100 * time.Microsecond) {
			if time.Now().After(deadline) {
				f.Errorf("no reader has looked at version %d", version)
			}
		}
	}
	done.Store(true)
	wg.Wait()
}

func publishAgain(f *fixture) {
	v1, _ := f.publish(upload("a.txt"), "one")
	v2 := f.add(upload("a.txt"))
	f.must(f.PutChunks(f.ctx, v2.VersionRef, passages(v2.VersionRef, "two")))
	for range 2 {
		got, err := f.Publish(f.ctx, v2.VersionRef)
		f.must(err)
		if !got.Done {
			f.Error("it is not published")
		}
	}
	list, _, err := f.Versions(f.ctx, manager("acme"), v1.Document, store.Page{})
	f.must(err)
	if len(list) != 2 || list[0].Status != knowledge.StatusPublished || list[1].Status != knowledge.StatusInactive {
		f.Errorf("versions %+v", list)
	}
}

func olderVersion(f *fixture) {
	v1, v2 := f.add(upload("a.txt")), f.add(upload("a.txt"))
	for _, step := range []struct {
		v    store.Version
		done bool
	}{{v2, true}, {v1, false}, {v1, false}, {v2, true}} {
		got, err := f.Publish(f.ctx, step.v.VersionRef)
		f.must(err)
		if got.Done != step.done {
			f.Errorf("publishing version %d: done %t", step.v.Version, got.Done)
		}
	}
	if d := f.document(v1.Document); d.PublishedVersion != 2 || d.Status != knowledge.StatusPublished {
		f.Errorf("document %+v", d)
	}
	list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Hour), Limit: 10})
	f.must(err)
	if len(list) != 0 {
		f.Errorf("a version that was overtaken still waits: %+v", list)
	}
}

func publishRemoved(f *fixture) {
	v := f.add(upload("a.txt"))
	chunks := passages(v.VersionRef, "one")
	f.must(f.PutChunks(f.ctx, v.VersionRef, chunks))
	_, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	got, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	if got.Done || len(f.sees(reader("ann"), chunks...)) != 0 {
		f.Errorf("published %+v after the removal mark", got)
	}
	if d := f.document(v.Document); d.PublishedVersion != 0 || d.Status != knowledge.StatusDeleting {
		f.Errorf("document %+v", d)
	}
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageEmbed, 0.9, store.Facts{ChunkCount: 7}))
	if d := f.document(v.Document); d.Stage != knowledge.StageFetch || d.ChunkCount != 0 {
		f.Errorf("a version that is being removed moved to %s", d.Stage)
	}
	r, err := f.Removal(f.ctx, manager("acme"), v.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	if got, err = f.Publish(f.ctx, v.VersionRef); err != nil || got.Done {
		f.Errorf("published %+v after the removal, %v", got, err)
	}
}

func publishFailed(f *fixture) {
	v := f.add(upload("a.txt"))
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeCanceled}))
	if got, err := f.Publish(f.ctx, v.VersionRef); err != nil || got.Done {
		f.Errorf("published %+v, %v", got, err)
	}
	if d := f.document(v.Document); d.PublishedVersion != 0 || d.Status != knowledge.StatusError {
		f.Errorf("document %+v", d)
	}
}

func publishAtOnce(f *fixture) {
	var refs []knowledge.VersionRef
	for range 8 {
		refs = append(refs, f.add(upload("a.txt")).VersionRef)
	}
	var wg sync.WaitGroup
	for _, ref := range refs {
		wg.Go(func() {
			if _, err := f.Publish(f.ctx, ref); err != nil {
				f.Error(err)
			}
		})
	}
	wg.Wait()
	if d := f.document(refs[0].Document); d.PublishedVersion != len(refs) {
		f.Errorf("version %d is published", d.PublishedVersion)
	}
}

func chunksRoundTrip(f *fixture) {
	v := f.add(upload("a.txt"))
	want := passages(v.VersionRef, "It's “one” \\ with a backslash, 日本語 and \u202e", "")
	want[0].HeadingPath, want[0].Header = []string{"1 \"Intro\"", "1.1"}, "| a | b |"
	want[0].Lines = []knowledge.Line{
		{Start: 0, End: 4, Page: 1, Box: knowledge.Box{X1: 10.25, Y1: 20, X2: 100.5, Y2: 32.75}, Hyphen: true},
		{Start: 5, End: 9, Page: 2, Box: knowledge.Box{X1: 0, Y1: -0.5, X2: 612, Y2: 0.01}},
	}
	want[0].Pages = []knowledge.PageSize{{Page: 1, Width: 595.28, Height: 841.89}, {Page: 2, Width: 612, Height: 792}}
	want[1].Origin = knowledge.Origin{First: 41, Last: 48}
	want[1].Place, want[1].Context = "Sales!A2:D41", "The sales of 2024."
	want[1].Time, want[1].Parent = knowledge.Seconds{Start: 1.25, End: 62.5}, knowledge.Span{Start: 3, End: 4000}
	want[1].Modality, want[1].Figures = knowledge.ModalityImage, []string{"figure-1.png"}
	want[1].Speech = knowledge.Speech{{Start: 0, End: 4, Time: knowledge.Seconds{Start: 1.25, End: 2}}}
	f.must(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "old", "old", "old")))
	f.must(f.PutChunks(f.ctx, v.VersionRef, want))
	if _, err := f.Publish(f.ctx, v.VersionRef); err != nil {
		f.Fatal(err)
	}
	got, _, err := f.DocumentChunks(f.ctx, reader("ann"), v.Document, store.Page{})
	f.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Error(diff)
	}
	views, err := f.VisibleChunks(f.ctx, reader("ann"), nil, hitsOf(want[1], want[0]))
	f.must(err)
	if len(views) != 2 {
		f.Fatalf("%d chunks pass the check", len(views))
	}
	if diff := cmp.Diff([]knowledge.Chunk{want[1], want[0]}, []knowledge.Chunk{views[0].Chunk, views[1].Chunk}); diff != "" {
		f.Error("not in the order of the hits: " + diff)
	}
	if diff := cmp.Diff(f.document(v.Document), views[0].Document); diff != "" || views[0].Superseded {
		f.Error(diff)
	}
	view, err := f.Chunk(f.ctx, reader("ann"), want[0].ID)
	f.must(err)
	if diff := cmp.Diff(views[1], view); diff != "" {
		f.Error(diff)
	}
	for _, projects := range [][]string{nil, {"press"}, {"none"}} {
		id, err := f.DocumentWithChunks(f.ctx, reader("ann"), projects)
		f.must(err)
		if seen, err := f.VisibleChunks(f.ctx, reader("ann"), projects, hitsOf(want...)); err != nil || (id == v.Document) != (len(seen) > 0) {
			f.Errorf("in %v: a document with passages is %q, %d are seen, %v", projects, id, len(seen), err)
		}
	}
}

func chunksOfRemoved(f *fixture) {
	v := f.add(upload("a.txt"))
	r := f.remove(manager("acme"), v.Document)
	f.wantCode(f.PutChunks(f.ctx, v.VersionRef, passages(v.VersionRef, "late")), knowledge.CodeNotFound)
	v2 := f.add(upload("a.txt"))
	if v2.Version != r.Upto+1 {
		f.Errorf("version %d after a removal up to %d", v2.Version, r.Upto)
	}
}
