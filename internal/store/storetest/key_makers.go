package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// keyMakers looks at keys that keys have made, whose stored bounds are wider than the bounds of
// their makers.
func keyMakers(f *fixture) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	admin, write, read := knowledge.ScopeAdmin, knowledge.ScopeWrite, knowledge.ScopeRead
	for _, k := range []store.Key{
		{ID: "top", Scopes: []knowledge.Scope{admin}, ExpiresAt: now.Add(time.Hour), QueriesPerMinute: 7, CreatedBy: store.UserMaker + "ann"},
		{ID: "middle", Scopes: []knowledge.Scope{read, write}, Project: "press", CreatedBy: "top"},
		{ID: "low", Scopes: []knowledge.Scope{admin, read}, ExpiresAt: now.Add(2 * time.Hour), CreatedBy: "middle"},
		{ID: "elsewhere", Scopes: []knowledge.Scope{read}, Project: "handbook", CreatedBy: "middle"},
		{ID: "over", Scopes: []knowledge.Scope{admin}, ExpiresAt: now.Add(-time.Second)},
		{ID: "of over", Scopes: []knowledge.Scope{read}, CreatedBy: "over"},
		{ID: "of a key that is gone", Scopes: []knowledge.Scope{read}, CreatedBy: "gone"},
		{ID: "beside", Scopes: []knowledge.Scope{admin}},
	} {
		k.Workspace, k.Hash, k.CreatedAt = "acme", k.ID, now
		f.must(f.CreateKey(f.ctx, k))
	}
	low, err := f.KeyByHash(f.ctx, "low")
	f.must(err)
	want := store.Key{
		ID: "low", Workspace: "acme", Hash: "low", Scopes: []knowledge.Scope{read}, Project: "press", CreatedBy: "middle",
		Makers: []knowledge.KeyLimit{{ID: "middle"}, {ID: "top", QueriesPerMinute: 7}}, ExpiresAt: now.Add(time.Hour), CreatedAt: now,
	}
	if diff := cmp.Diff(want, low); diff != "" {
		f.Error(diff)
	}
	for _, hash := range []string{"elsewhere", "of over"} {
		_, err := f.KeyByHash(f.ctx, hash)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	_, err = f.KeyByHash(f.ctx, "of a key that is gone")
	f.must(err)

	ids := []string{"top", "middle", "low", "over", "of over", "of a key that is gone", "missing"}
	ended := func(want ...string) {
		got, err := f.EndedKeys(f.ctx, ids)
		f.must(err)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			f.Error(diff)
		}
	}
	ended("missing", "of over", "over")
	f.wantCode(f.RevokeKeyTree(f.ctx, manager("other"), "middle"), knowledge.CodeNotFound)
	f.must(f.RevokeKey(f.ctx, manager("acme"), "middle"))
	ended("middle", "missing", "of over", "over")
	if low, err := f.KeyByHash(f.ctx, "low"); err != nil || len(low.Makers) != 2 {
		f.Errorf("after its maker alone was revoked: %+v, %v", low, err)
	}
	f.must(f.RevokeKeyTree(f.ctx, manager("acme"), "top"))
	ended("low", "middle", "missing", "of over", "over", "top")
	_, err = f.KeyByHash(f.ctx, "low")
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.KeyByHash(f.ctx, "beside")
	f.must(err)
}
