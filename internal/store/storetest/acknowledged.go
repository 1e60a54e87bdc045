package storetest

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func acknowledged(f *fixture) {
	v := f.add(upload("a.txt"))
	acknowledge := func(undo bool) error { return f.AcknowledgeFailure(f.ctx, manager("acme"), v.Document, undo) }
	wants := func(what string, want bool) {
		f.Helper()
		if d := f.document(v.Document); d.Acknowledged != want {
			f.Errorf("%s: acknowledged is %t with the status %s", what, d.Acknowledged, d.Status)
		}
	}
	fail := func(v store.Version) {
		f.Helper()
		f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Retryable: true}))
	}
	f.wantCode(acknowledge(false), knowledge.CodeConflict)
	fail(v)
	f.wantCode(f.AcknowledgeFailure(f.ctx, reader("ann"), v.Document, false), knowledge.CodeForbidden)
	f.wantCode(f.AcknowledgeFailure(f.ctx, manager("other"), v.Document, false), knowledge.CodeNotFound)
	wants("a failure", false)
	for range 2 {
		f.must(acknowledge(false))
	}
	wants("an acknowledged failure", true)
	fail(v)
	wants("the same failure, written again", true)
	f.must(acknowledge(true))
	wants("an acknowledgement that was undone", false)
	f.must(acknowledge(false))

	again, err := f.RetryVersion(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	wants("a retry", false)
	fail(again)
	wants("the failure of the retry", false)
	f.must(acknowledge(false))
	next := f.add(upload("a.txt"))
	wants("a new version", false)
	fail(next)
	wants("the failure of a new version", false)
}
