package ingestion_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// heldDetails returns the details of an error by which a workflow waits for the provider.
func (f *importFixture) heldDetails(err error) (d step.ErrorDetails, message string) {
	f.Helper()
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || !application.NonRetryable() || !step.IsHeld(err) || application.NextRetryDelay() <= 0 || application.NextRetryDelay() > 15*time.Second {
		f.Fatalf("%v does not make the workflow wait", err)
	}
	f.Must(application.Details(&d))
	return d, application.Message()
}

// TestHeldBatches has a provider that asks for a pause of an hour in the answer to one batch
// of an import: each batch tells its own cause, is shown, and reads no object before the
// provider is asked again.
func TestHeldBatches(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	for n := range 6 {
		f.shelf.put(fmt.Sprintf("%d.txt", n), fmt.Sprintf("Pier %d has a lighthouse.", n))
	}
	i := f.start()
	f.list(i)
	batch := func(first int, turn ingestion.StepTurn) error {
		turn.Waits = true
		_, err := do(f.fixture, f.importing.ImportBatch, ingestion.BatchInput{ImportRef: i.ImportRef, Run: i.RunID, First: first, Last: first + 3, StepTurn: turn})
		return err
	}
	waiting := func() *knowledge.ImportWaiting {
		now, err := f.Store.ImportForSystem(f.Ctx, i.ImportRef)
		f.Must(err)
		return now.Waiting
	}
	limit := modeltest.Fail(http.StatusTooManyRequests, "Retry-After", "3600")
	f.Server.ScriptEmbeddings(limit, limit)

	refused, message := f.heldDetails(batch(0, ingestion.StepTurn{}))
	if !refused.Probed || !strings.Contains(message, "limiting requests and asked for a pause of 1h0m (status 429") {
		t.Errorf("the refused batch: %+v, %s", refused, message)
	}
	opened := len(f.shelf.opened)
	held, message := f.heldDetails(batch(3, ingestion.StepTurn{}))
	if held.Probed || held.Status != 0 || held.Detail != "" || !strings.Contains(message, "nothing was sent for this step yet") {
		t.Errorf("the held batch: %+v, %s", held, message)
	}
	if n := len(f.shelf.opened); n != opened {
		t.Errorf("the held batch opened %d objects", n-opened)
	}
	if w := waiting(); w == nil || w.Documents != 6 || w.Code != knowledge.CodeProviderFailed || time.Until(w.NextAt) > 10*time.Second || !strings.Contains(w.Message, "status 429") {
		t.Errorf("shown as %+v", w)
	}
	if asked := f.Server.Totals().Embeddings.Asked; asked != 1 {
		t.Errorf("%d requests", asked)
	}

	again := ingestion.StepTurn{Waited: true, Now: true}
	f.heldDetails(batch(0, again)) // somebody asks, and the provider refuses again
	if asked := f.Server.Totals().Embeddings.Asked; asked != 2 {
		t.Errorf("%d requests", asked)
	}
	f.Must(batch(0, again))
	f.Must(batch(3, ingestion.StepTurn{Waited: true}))
	if w := waiting(); w != nil {
		t.Errorf("at the end it waits: %+v", w)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 6, Published: 6, Bytes: 6 * 24})
}

// TestFailedBatchWaitsNoMore has a batch that fails after it has waited.
func TestFailedBatchWaitsNoMore(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	f.shelf.put("a.txt", "The pier has a lighthouse.")
	i := f.start()
	f.list(i)
	f.Must(f.Store.SetImportWait(f.Ctx, i, store.ImportWait{Step: "batch 0", Objects: 1, NextAt: time.Now(), Code: knowledge.CodeProviderFailed, Message: "limited"}))
	f.Must(act(f.fixture, f.importing.FailImportBatch, ingestion.FailBatchInput{
		ImportRef: i.ImportRef, Run: i.RunID, Last: 1, Error: knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Message: "limited", Retryable: true},
	}))
	if now, err := f.Store.ImportForSystem(f.Ctx, i.ImportRef); err != nil || now.Waiting != nil || now.Counts.Failed != 1 {
		t.Errorf("%+v, %v", now, err)
	}
}
