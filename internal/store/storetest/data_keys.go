package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/envelope"
)

// Encryption keeps the data keys of the instance.
type Encryption interface {
	envelope.Keys
	blob.OriginalKeys
	Reseal(ctx context.Context) (envelope.Reseal, error)
	PutReseal(ctx context.Context, r envelope.Reseal) error
}

func testDataKeys(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"they_are_replaced_only_if_nobody_else_did":   dataKeysReplaced,
		"how_far_the_blobs_are_is_kept":               resealKept,
		"an_original_has_one_key_until_it_is_dropped": originalKeys,
	})
}

func dataKeysReplaced(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	first := envelope.Key{ID: "ff", Wrapped: "v1:first", Master: "file:1", CreatedAt: now}
	second := envelope.Key{ID: "00", Wrapped: "v1:second", Master: "file:1", CreatedAt: now.Add(time.Second)}
	wrapped := first
	wrapped.Wrapped, wrapped.Master = "v1:again", "file:2"
	replace := func(before, now []envelope.Key, want bool) {
		f.Helper()
		if done, err := f.ReplaceDataKeys(f.ctx, before, now); err != nil || done != want {
			f.Errorf("replace: %t, %v; want %t", done, err, want)
		}
	}
	want := func(want ...envelope.Key) {
		f.Helper()
		got, err := f.DataKeys(f.ctx)
		f.must(err)
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("data keys (-want +got):\n%s", diff)
		}
	}
	want()
	replace(nil, []envelope.Key{first}, true)
	replace(nil, []envelope.Key{second}, false)
	replace([]envelope.Key{first}, []envelope.Key{wrapped, second}, true)
	replace([]envelope.Key{first}, []envelope.Key{second}, false)
	want(wrapped, second) // the oldest first
}

func resealKept(f *fixture) {
	got, err := f.Reseal(f.ctx)
	if err != nil || !got.BeganAt.IsZero() {
		f.Errorf("before any: %+v, %v", got, err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	r := envelope.Reseal{DataKey: "ff", Seen: 7, Sealed: 3, Upto: "w/p/d", BeganAt: now, UpdatedAt: now.Add(time.Second)}
	for _, ended := range []time.Time{{}, now.Add(time.Minute)} {
		r.EndedAt = ended
		f.must(f.PutReseal(f.ctx, r))
		got, err := f.Reseal(f.ctx)
		f.must(err)
		if diff := cmp.Diff(r, got); diff != "" {
			f.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func originalKeys(f *fixture) {
	want := func(original, want string) {
		f.Helper()
		if got, err := f.OriginalKey(f.ctx, original); err != nil || got != want {
			f.Errorf("the key of %s is %q, %v; want %q", original, got, err, want)
		}
	}
	add := func(original, sealed, want string) {
		f.Helper()
		if got, err := f.AddOriginalKey(f.ctx, original, sealed); err != nil || got != want {
			f.Errorf("add a key of %s: %q, %v; want %q", original, got, err, want)
		}
	}
	want("w/p/d/upload-1/original", "")
	add("w/p/d/upload-1/original", "v1:a", "v1:a")
	add("w/p/d/upload-1/original", "v1:b", "v1:a")
	add("w/p/d/upload-2/original", "v1:c", "v1:c")
	add("w/p/d2/upload-3/original", "v1:d", "v1:d")
	under, err := f.OriginalsWithKeys(f.ctx, "w/p/d/")
	f.must(err)
	slices.Sort(under)
	if diff := cmp.Diff([]string{"w/p/d/upload-1/original", "w/p/d/upload-2/original"}, under); diff != "" {
		f.Errorf("under w/p/d/ (-want +got):\n%s", diff)
	}
	for range 2 {
		f.must(f.DropOriginalKeys(f.ctx, under))
	}
	want("w/p/d/upload-1/original", "")
	want("w/p/d2/upload-3/original", "v1:d")
}
