package ingestion_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// tagged returns how many entries the index finds by a tag.
func (f *fixture) tagged(tag string) int {
	f.Helper()
	filter := knowledge.Filter{{Field: "tags", Type: knowledge.OpIn, Value: []any{tag}}}
	hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: activitytest.Member(), Filter: filter, Limit: 10}, "common")
	f.Must(err)
	return len(hits)
}

// tag changes the tags of a document in SQL only, as a process that dies then does.
func (f *fixture) tag(document, tag string) {
	f.Helper()
	tags := []string{tag}
	_, err := f.Store.UpdateDocument(f.Ctx, activitytest.Manager(), document, store.DocumentPatch{Tags: &tags})
	f.Must(err)
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
		in, other := f.Upload("a.txt", twoParts(1)), f.Upload("b.txt", twoParts(1))
		f.Publish(in)
		f.Publish(other)
		f.tag(in.Document, "late")
		f.tag(other.Document, "late")
		for range 2 {
			f.Must(f.IngestionUses.Attributes.UpdateIndex(f.Ctx, ""))
		}
		if n := f.tagged("late"); n != 4 {
			t.Errorf("%d of 4 entries have the tag", n)
		}
		if left, err := f.Store.StaleInIndex(f.Ctx, 10); err != nil || len(left) != 0 {
			t.Errorf("left are %+v, %v", left, err)
		}
	})

	t.Run("an update that waits for another one ends with its context", func(t *testing.T) {
		t.Parallel()
		began, over := make(chan struct{}), make(chan struct{})
		attributes := &ingestion.Attributes{Store: heldStore{began, over}}
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
		in := f.Upload("a.txt", twoParts(1))
		f.Publish(in)
		f.tag(in.Document, "first")
		change := sync.OnceFunc(func() { f.tag(in.Document, "second") })
		slow := &ingestion.Attributes{Store: changing{f.Store, change}, Index: f.Index}
		f.Must(slow.UpdateIndex(f.Ctx, in.Document))
		if got := []int{f.tagged("first"), f.tagged("second")}; !cmp.Equal(got, []int{0, 2}) {
			t.Errorf("entries with the first and the second tag: %v", got)
		}
	})

	t.Run("a change while a new version is written applies to that version", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("a.txt", twoParts(1)))
		in := f.Upload("a.txt", twoParts(2))
		publish := f.Embed(in, f.Prepare(in))
		f.IngestWith(func(d *ingestion.Dependencies) {
			d.Versions = interrupted{Versions: f.Store, beforePublish: func() error {
				f.tag(in.Document, "late")
				return f.IngestionUses.Attributes.UpdateIndex(f.Ctx, in.Document)
			}, afterPublish: func() error { return activitytest.ErrKilled }}
		})
		_, err := do(f, f.Ingestion.PublishDocument, publish)
		f.FailedWith(err, knowledge.CodeInternal, true)
		f.Must(f.IngestionUses.Attributes.UpdateIndex(f.Ctx, ""))
		f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = f.Store })
		f.Must(act(f, f.Ingestion.RetireVersions, in))
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
