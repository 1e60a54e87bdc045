package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testUploads(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"an_upload_is_lost_when_its_lease_ends":           lostUpload,
		"a_version_ends_its_upload":                       endedUpload,
		"an_upload_that_was_lost_becomes_no_version":      lateUpload,
		"something_that_is_done_daily_has_one_turn_a_day": dailyTurn,
	})
}

// lost takes the uploads whose leases end within a time from now.
func (f *fixture) lost(within time.Duration) []string {
	f.Helper()
	list, err := f.TakeLostUploads(f.ctx, time.Now().Add(within), 10)
	f.must(err)
	var keys []string
	for _, u := range list {
		if u.Document != "d" {
			f.Errorf("%+v", u)
		}
		keys = append(keys, u.SourceKey)
	}
	return keys
}

func lostUpload(f *fixture) {
	f.must(f.BeginUpload(f.ctx, store.Upload{SourceKey: "a", Document: "d"}))
	f.must(f.BeginUpload(f.ctx, store.Upload{SourceKey: "b", Document: "d"}))
	f.must(f.RenewUpload(f.ctx, "a"))
	f.must(f.EndUpload(f.ctx, "b"))
	f.must(f.EndUpload(f.ctx, "b"))
	if lost := f.lost(store.UploadLease / 2); len(lost) != 0 {
		f.Errorf("%q are lost", lost)
	}
	if lost := f.lost(store.UploadLease + time.Second); !slices.Equal(lost, []string{"a"}) {
		f.Errorf("%q are lost, want a", lost)
	}
	if lost := f.lost(store.UploadLease + time.Second); len(lost) != 0 {
		f.Errorf("%q are lost twice", lost)
	}
	f.wantCode(f.RenewUpload(f.ctx, "a"), knowledge.CodeNotFound)
	f.wantCode(f.RenewUpload(f.ctx, "b"), knowledge.CodeNotFound)
	if lost := f.lost(time.Hour); !slices.Equal(lost, []string{"a"}) {
		f.Errorf("%q are lost, want a, whose sweep has died", lost)
	}
}

// leasedUpload begins an upload of a file.
func (f *fixture) leasedUpload(name string) store.NewVersion {
	f.Helper()
	nv := upload(name)
	nv.Leased = true
	f.must(f.BeginUpload(f.ctx, store.Upload{SourceKey: nv.SourceKey, Document: "d"}))
	return nv
}

func endedUpload(f *fixture) {
	f.add(f.leasedUpload("a.txt"))
	if lost := f.lost(time.Hour); len(lost) != 0 {
		f.Errorf("%q are lost", lost)
	}
}

func lateUpload(f *fixture) {
	nv := f.leasedUpload("a.txt")
	f.lost(time.Hour)
	_, _, err := f.AddVersion(f.ctx, nv)
	f.wantCode(err, knowledge.CodeUnavailable)
	_, err = f.Document(f.ctx, manager("acme"), nv.DocumentID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func dailyTurn(f *fixture) {
	for i, want := range []bool{true, false, false} {
		if turn, err := f.DailyTurn(f.ctx, "walk"); err != nil || turn != want {
			f.Errorf("call %d: turn %t, %v", i, turn, err)
		}
	}
	if turn, err := f.DailyTurn(f.ctx, "other"); err != nil || !turn {
		f.Errorf("another name: turn %t, %v", turn, err)
	}
}
