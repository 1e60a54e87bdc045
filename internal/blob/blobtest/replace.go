package blobtest

import (
	"io"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
)

// Replaces checks that a bucket keeps the contract of blob.Replacer.
func Replaces(t *testing.T, b blob.Bucket) {
	t.Helper()
	r, ok := b.(blob.Replacer)
	if !ok {
		t.Fatalf("%T is no blob.Replacer", b)
	}
	ctx := t.Context()
	store := func(text string) {
		t.Helper()
		if err := b.Put(ctx, "w/a", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(wantDone bool, want string, meanwhile func()) {
		t.Helper()
		done, err := r.Replace(ctx, "w/a", func(stored io.Reader) (io.Reader, error) {
			data, err := io.ReadAll(stored)
			meanwhile()
			return strings.NewReader("of " + string(data)), err
		})
		if err != nil || done != wantDone {
			t.Errorf("replace: %t, %v; want %t", done, err, wantDone)
		}
		if got := bytesOf(t, b); got != want {
			t.Errorf("the blob is %.20q, want %.20q", got, want)
		}
	}
	store("one")
	replace(true, "of one", func() {})
	replace(false, "two", func() { store("two") })
	replace(false, "", func() {
		if err := b.Delete(ctx, []string{"w/a"}); err != nil {
			t.Fatal(err)
		}
	})
	if done, err := r.Replace(ctx, "w/a", func(io.Reader) (io.Reader, error) { return strings.NewReader("x"), nil }); done || err != nil {
		t.Errorf("a missing blob: %t, %v", done, err)
	}
	store("kept")
	if done, err := r.Replace(ctx, "w/a", func(io.Reader) (io.Reader, error) { return nil, nil }); done || err != nil || bytesOf(t, b) != "kept" {
		t.Errorf("no change: %t, %v", done, err)
	}
	long := strings.Repeat("long ", 2<<20) // in parts
	store(long)
	replace(true, "of "+long, func() {})
	replace(false, "three", func() { store("three") })
}

// bytesOf returns the bytes of the blob, "" if there is none.
func bytesOf(t *testing.T, b blob.Bucket) string {
	t.Helper()
	there, err := b.Exists(t.Context(), "w/a")
	if err != nil || !there {
		return ""
	}
	r, _, err := b.Open(t.Context(), "w/a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
