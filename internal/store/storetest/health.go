package storetest

import (
	"context"
	"testing"
)

func testHealth(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_ping_tells_whether_the_store_can_be_used": pings,
		"deleted_bytes_can_be_erased_at_any_time":    eraseDeleted,
		"a_ping_ends_with_the_context_of_its_caller": pingCanceled,
	})
}

func pings(f *fixture) {
	f.must(f.Ping(f.ctx))
	f.must(f.Close())
	if err := f.Ping(f.ctx); err == nil {
		f.Error("a store that was closed says that it can be used")
	}
	f.must(f.Close()) // again does no harm
}

func pingCanceled(f *fixture) {
	ctx, cancel := context.WithCancel(f.ctx)
	cancel()
	if err := f.Ping(ctx); err == nil {
		f.Error("a ping that nobody waits for says that the store can be used")
	}
	f.must(f.Ping(f.ctx))
}

func eraseDeleted(f *fixture) {
	f.must(f.EraseDeleted(f.ctx))
	_, chunks := f.publish(upload("a.txt"), "one")
	f.must(f.EraseDeleted(f.ctx))
	f.must(f.EraseDeleted(f.ctx))
	if got := f.sees(reader("ann"), chunks...); len(got) != 1 {
		f.Errorf("after deleted bytes were erased ann sees %q", got)
	}
}
