package ingestion_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
)

// heldParser reports each file that it is given and holds it until over is closed or
// the step ends.
type heldParser struct{ began, over chan struct{} }

func (p heldParser) Extract(ctx context.Context, in extract.Input) (format.Result, error) {
	p.began <- struct{}{}
	select {
	case <-p.over:
		return (&activitytest.Parser{}).Extract(ctx, in)
	case <-ctx.Done():
		return format.Result{}, ctx.Err()
	}
}

// TestLargeOriginalsTakeTurns extracts more bytes at a time than the process may cut.
func TestLargeOriginalsTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	held := heldParser{began: make(chan struct{}, 2), over: make(chan struct{})}
	f.IngestWith(func(d *ingestion.Dependencies) { d.Extractor = held })
	f.IngestWith(func(d *ingestion.Dependencies) { d.Config.LargeBytes = 400_000 })
	large := func(name string) ingestion.StepInput {
		in := f.Upload(name, strings.Repeat("words and more words\n\n", 14_000)) // 308 KB
		_, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		return in
	}
	first, second := large("first.txt"), large("second.txt")
	ended := make(chan error, 1)
	go func() {
		_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: first})
		ended <- err
	}()
	<-held.began
	_, err := do(f, func(ctx context.Context, in ingestion.StepInput) (ingestion.ExtractResult, error) {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		return f.Ingestion.ExtractDocument(ctx, ingestion.ExtractInput{StepInput: in})
	}, second)
	if err == nil || len(held.began) != 0 {
		t.Errorf("beside the first original the second was parsed %d times: %v", len(held.began), err)
	}
	close(held.over)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: second}); err != nil {
		t.Errorf("after the first original the second ended with %v", err)
	}
}
