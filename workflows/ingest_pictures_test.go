package workflows_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// TestPictures has a model look at the pages and the figures of a document before it is
// cut.
func TestPictures(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	both := ingestion.Pictures{Pages: true, Figures: true}
	refused := temporal.NewNonRetryableApplicationError("refused", string(knowledge.CodeProviderFailed), nil)
	for name, tc := range map[string]struct {
		pictures ingestion.Pictures
		fails    ingestion.PictureKind
		steps    []int // First of each step
		cut      bool
		outcome  string
	}{
		"step by step, pages first":         {both, "", []int{0, ingestion.PicturesStep, 0, ingestion.PicturesStep}, true, "completed"},
		"figures that fail fail nothing":    {both, ingestion.FigurePictures, []int{0, ingestion.PicturesStep, 0}, true, "completed"},
		"pages that fail fail the document": {both, ingestion.PagePictures, []int{0}, false, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newIngestTest(t)
			var steps []int
			cut := false
			test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(ingestion.ExtractResult{Pictures: tc.pictures}, nil)
			test.env.OnActivity(acts.ReadPictures, mock.Anything, mock.Anything).Return(
				func(_ context.Context, in ingestion.ReadPicturesInput) (ingestion.ReadPicturesResult, error) {
					steps = append(steps, in.First)
					if in.Kind == tc.fails {
						return ingestion.ReadPicturesResult{}, refused
					}
					return ingestion.ReadPicturesResult{More: in.First == 0}, nil
				})
			test.env.OnActivity(acts.CutDocument, mock.Anything, mock.Anything).Maybe().Return(
				func(context.Context, ingestion.StepInput) (ingestion.ExtractResult, error) {
					cut = true
					return ingestion.ExtractResult{Pages: 1, Chunks: 1}, nil
				})
			test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Maybe().Return(nil)
			test.steps(false, 1)
			test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
			if !slices.Equal(steps, tc.steps) || cut != tc.cut {
				t.Errorf("steps %v, cut %t", steps, cut)
			}
			if got := test.outcomes()[1]; got != tc.outcome {
				t.Errorf("the document ended as %q", got)
			}
		})
	}
}
