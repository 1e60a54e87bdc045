package milvus_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
)

// TestCallersWaitForAListing has the server not answer one search's question for its
// collections: another search ends with its own context.
func TestCallersWaitForAListing(t *testing.T) {
	t.Parallel()
	cfg := config(shared(t))
	p := proxied(t, cfg.Address)
	cfg.Address = p.address
	x := open(t, cfg)
	if err := x.Upsert(t.Context(), []index.Entry{passage("document")}); err != nil {
		t.Fatal(err)
	}
	held := make(chan struct{})
	p.held.Store(&held)
	hanging, stop := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	search := func(ctx context.Context, ended chan<- error) {
		var err error
		for err == nil { // not each search asks for the collections
			_, err = x.BM25(ctx, index.Query{Principal: member(), Limit: 1}, "lighthouse")
		}
		ended <- err
	}
	go search(hanging, first)
	<-held
	impatient, giveUp := context.WithCancel(t.Context())
	giveUp()
	go search(impatient, second)
	select {
	case err := <-second:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the other search: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the other search waits for the first one")
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the search that hangs: %v", err)
	}
}
