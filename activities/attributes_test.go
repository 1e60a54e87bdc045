package activities_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// tagged returns how many entries the index finds by a tag.
func (f *fixture) tagged(tag string) int {
	f.Helper()
	filter := knowledge.Filter{{Field: "tags", Type: knowledge.OpIn, Value: []any{tag}}}
	hits, err := f.index.BM25(f.ctx, index.Query{Principal: member(), Filter: filter, Limit: 10}, "common")
	f.must(err)
	return len(hits)
}

// tag changes the tags of a document in SQL only, as a process that dies then does.
func (f *fixture) tag(document, tag string) {
	f.Helper()
	tags := []string{tag}
	_, err := f.store.UpdateDocument(f.ctx, manager(), document, store.DocumentPatch{Tags: &tags})
	f.must(err)
}

// heldStore leases nothing, and only once over is closed.
type heldStore struct{ began, over chan struct{} }

func (heldStore) StaleInIndex(context.Context, int) ([]string, error) { return nil, nil }

func (s heldStore) LeaseStale(context.Context, string) (d store.StaleDocument, leased bool, err error) {
	close(s.began)
	<-s.over
	return d, false, nil
}

func (heldStore) InIndex(context.Context, store.StaleDocument) (bool, error) { return false, nil }

func TestAttributes(t *testing.T) {
	t.Parallel()

	t.Run("a change that a crash kept from the index is written later", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in, other := f.upload("a.txt", twoParts(1)), f.upload("b.txt", twoParts(1))
		f.publish(in)
		f.publish(other)
		f.tag(in.Document, "late")
		f.tag(other.Document, "late")
		for range 2 {
			f.must(f.ingestion.Attributes.UpdateIndex(f.ctx, ""))
		}
		if n := f.tagged("late"); n != 4 {
			t.Errorf("%d of 4 entries have the tag", n)
		}
		if left, err := f.store.StaleInIndex(f.ctx, 10); err != nil || len(left) != 0 {
			t.Errorf("left are %+v, %v", left, err)
		}
	})

	t.Run("an update that waits for another one ends with its context", func(t *testing.T) {
		t.Parallel()
		began, over := make(chan struct{}), make(chan struct{})
		attributes := &activities.Attributes{Store: heldStore{began, over}}
		ended := make(chan error, 1)
		go func() { ended <- attributes.UpdateIndex(t.Context(), "d") }()
		<-began
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := attributes.UpdateIndex(ctx, "d"); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		close(over)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	t.Run("a change during another update is not lost", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", twoParts(1))
		f.publish(in)
		f.tag(in.Document, "first")
		change := sync.OnceFunc(func() { f.tag(in.Document, "second") })
		slow := &activities.Attributes{Store: changing{f.store, change}, Index: f.index}
		f.must(slow.UpdateIndex(f.ctx, in.Document))
		if got := []int{f.tagged("first"), f.tagged("second")}; !cmp.Equal(got, []int{0, 2}) {
			t.Errorf("entries with the first and the second tag: %v", got)
		}
	})

	t.Run("a change while a new version is written applies to that version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.publish(f.upload("a.txt", twoParts(1)))
		in := f.upload("a.txt", twoParts(2))
		publish := f.embed(in, f.prepare(in))
		f.ingestion.Versions = interrupted{Versions: f.store, beforePublish: func() error {
			f.tag(in.Document, "late")
			return f.ingestion.Attributes.UpdateIndex(f.ctx, in.Document)
		}, afterPublish: func() error { return errKilled }}
		_, err := do(f, f.ingestion.PublishDocument, publish)
		f.failed(err, knowledge.CodeInternal, true)
		f.must(f.ingestion.Attributes.UpdateIndex(f.ctx, ""))
		f.ingestion.Versions = f.store
		f.must(step(f, f.ingestion.RetireVersions, in))
		if n := f.tagged("late"); n != 2 {
			t.Errorf("%d of 2 entries have the tag", n)
		}
	})
}

// changing wraps the store and changes a document after a read.
type changing struct {
	*store.Store
	change func()
}

func (c changing) InIndex(ctx context.Context, d store.StaleDocument) (bool, error) {
	c.change()
	return c.Store.InIndex(ctx, d)
}
