package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// summarized has documents that failed, wait and were published, of which a reader sees the
// published one alone.
func summarized(f *fixture) {
	fail := func(name string, code knowledge.Code) string {
		v := f.add(upload(name))
		f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: code, Stage: knowledge.StageEmbed, Message: name, Retryable: true}))
		return v.Document
	}
	corrupt, known := fail("corrupt", knowledge.CodeCorrupt), fail("known", knowledge.CodeProviderFailed)
	example := min(fail("first", knowledge.CodeProviderFailed), fail("second", knowledge.CodeProviderFailed))
	f.must(f.AcknowledgeFailure(f.ctx, manager("acme"), known, false))
	f.must(f.AcknowledgeFailure(f.ctx, manager("acme"), corrupt, false))
	f.publish(upload("published"), "one")
	f.add(upload("working"))
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	waiting := f.add(upload("waiting"))
	f.must(f.SetWaiting(f.ctx, waiting.VersionRef, &knowledge.Waiting{Since: since, Attempt: 1, Of: 60, NextAt: since.Add(time.Hour), Code: knowledge.CodeProviderFailed, Message: "it is away"}))
	held := f.imported("bucket")
	f.must(f.SetImportWait(f.ctx, held, store.ImportWait{Page: 1, Step: "embed", Objects: 7, NextAt: since, Code: knowledge.CodeProviderFailed, Message: "it is away"}))

	got, err := f.DocumentSummary(f.ctx, manager("acme"), time.Now().Add(-time.Hour))
	f.must(err)
	if diff := cmp.Diff(map[knowledge.Status]int{"error": 4, "published": 1, "pending": 2}, got.ByStatus); diff != "" {
		f.Errorf("by status (-want +got):\n%s", diff)
	}
	if len(got.Failed) != 2 || got.Failed[0].Count != 2 || got.Failed[0].Acknowledged != 1 || got.Failed[0].Example != example || got.Failed[0].Error.Stage != knowledge.StageEmbed {
		f.Errorf("failed are %+v, want two with the example %s", got.Failed, example)
	} else if got.Failed[1].Code != knowledge.CodeCorrupt || got.Failed[1].Count != 0 || got.Failed[1].Acknowledged != 1 || got.Failed[1].Example != "" {
		f.Errorf("acknowledged is %+v", got.Failed[1])
	}
	want := []store.WaitingDocuments{{Code: knowledge.CodeProviderFailed, Message: "it is away", Count: 8, Since: since}}
	if diff := cmp.Diff(want, got.Waiting); diff != "" {
		f.Errorf("waiting (-want +got):\n%s", diff)
	}
	got, err = f.DocumentSummary(f.ctx, manager("acme"), time.Now().Add(time.Hour))
	f.must(err)
	if len(got.Waiting) != 2 || got.Waiting[1].Count != 1 || got.Waiting[1].Code != "" {
		f.Errorf("one was not heard of: %+v", got.Waiting)
	}
	got, err = f.DocumentSummary(f.ctx, reader("ann"), time.Now())
	f.must(err)
	if diff := cmp.Diff(store.DocumentSummary{ByStatus: map[knowledge.Status]int{"published": 1}}, got); diff != "" {
		f.Errorf("of a reader (-want +got):\n%s", diff)
	}
	got, err = f.DocumentSummary(f.ctx, manager("other"), time.Now().Add(time.Hour))
	f.must(err)
	if len(got.ByStatus)+len(got.Failed)+len(got.Waiting) > 0 {
		f.Errorf("of another workspace: %+v", got)
	}
	_, err = f.DocumentSummary(f.ctx, knowledge.Principal{}, time.Now())
	f.wantCode(err, knowledge.CodeForbidden)
}
