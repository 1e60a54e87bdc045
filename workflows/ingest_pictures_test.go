package workflows_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// TestPictures has a model look at the pages and the figures of a document before it is
// cut.
func TestPictures(t *testing.T) {
	t.Parallel()
	var acts *activities.Ingestion
	both := activities.Pictures{Pages: true, Figures: true}
	refused := temporal.NewNonRetryableApplicationError("refused", string(knowledge.CodeProviderFailed), nil)
	for name, tc := range map[string]struct {
		pictures activities.Pictures
		fails    activities.PictureKind
		steps    []int // First of each step
		cut      bool
		outcome  string
	}{
		"step by step, pages first":         {both, "", []int{0, activities.PicturesStep, 0, activities.PicturesStep}, true, "completed"},
		"figures that fail fail nothing":    {both, activities.FigurePictures, []int{0, activities.PicturesStep, 0}, true, "completed"},
		"pages that fail fail the document": {both, activities.PagePictures, []int{0}, false, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test := newIngestTest(t)
			var steps []int
			cut := false
			test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(activities.ExtractResult{Pictures: tc.pictures}, nil)
			test.env.OnActivity(acts.ReadPictures, mock.Anything, mock.Anything).Return(
				func(_ context.Context, in activities.ReadPicturesInput) (activities.ReadPicturesResult, error) {
					steps = append(steps, in.First)
					if in.Kind == tc.fails {
						return activities.ReadPicturesResult{}, refused
					}
					return activities.ReadPicturesResult{More: in.First == 0}, nil
				})
			test.env.OnActivity(acts.CutDocument, mock.Anything, mock.Anything).Maybe().Return(
				func(context.Context, activities.StepInput) (activities.ExtractResult, error) {
					cut = true
					return activities.ExtractResult{Pages: 1, Chunks: 1}, nil
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
