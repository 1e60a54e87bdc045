package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/mock"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/workflows"
)

// TestEnrichedDocument describes a document before it is embedded, a limited number of
// chunks in each step.
func TestEnrichedDocument(t *testing.T) {
	t.Parallel()
	test := newIngestTest(t)
	const chunks = 2*ingestion.EnrichStep + 1
	var acts ingestion.Activities
	test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(ingestion.ExtractResult{Chunks: chunks, Enrich: true}, nil)
	test.steps(false, chunks)
	var steps []ingestion.EnrichInput
	embedded := false
	test.env.OnActivity(acts.EnrichDocument, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in ingestion.EnrichInput) (ingestion.EnrichResult, error) {
			steps = append(steps, in)
			return ingestion.EnrichResult{More: in.Last < in.Count}, nil
		})
	test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Return(
		func(context.Context, ingestion.EmbedInput) error {
			embedded = embedded || len(steps) < 3
			return nil
		})
	test.run(t, workflows.IngestTask{Version: 1, Run: "run-1"})
	if len(steps) != 3 || steps[2].First != 2*ingestion.EnrichStep || steps[2].Last != chunks {
		t.Errorf("steps %+v", steps)
	}
	if embedded {
		t.Error("chunks were embedded before all had their sentences")
	}
	if got := test.outcomes(); got[1] != "completed" {
		t.Errorf("outcomes %v", got)
	}
}
