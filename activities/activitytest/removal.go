package activitytest

import (
	"time"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Mark sets the tombstone of a document.
func (f *Fixture) Mark(document string) ingestion.RemoveInput {
	f.Helper()
	run := knowledge.NewID()
	_, err := f.Store.MarkRemoving(f.Ctx, Manager(), document, run, time.Now())
	f.Must(err)
	r, err := f.Store.Removal(f.Ctx, Manager(), document)
	f.Must(err)
	return ingestion.RemoveInput{Workspace: "w", Project: "p", Document: document, Run: r.RunID, Upto: r.Upto}
}

// Removal runs the steps of RemoveDocument, in their order.
func (f *Fixture) Removal(in ingestion.RemoveInput) {
	f.Helper()
	f.Stop(ingestion.StopInput{RemoveInput: in})
	f.Must(Act(f, f.Ingestion.RemoveEntries, in))
	f.Must(Act(f, f.Ingestion.RemoveBlobs, in))
	f.Must(Act(f, f.Ingestion.RemoveRows, in))
}

// Stop runs StopIngest.
func (f *Fixture) Stop(in ingestion.StopInput) ingestion.StopResult {
	f.Helper()
	result, err := Do(f, f.Ingestion.StopIngest, in)
	f.Must(err)
	return result
}

// Remove removes a document as its workflow does.
func (f *Fixture) Remove(document string) {
	f.Helper()
	f.Removal(f.Mark(document))
}
