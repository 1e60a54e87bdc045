package workflows_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/workflows"
)

func TestSmallDocumentThatTakesLong(t *testing.T) {
	t.Parallel()
	test := newIngestTest(t)
	var acts *activities.Ingestion
	var local []bool
	test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, _ activities.StepInput) (activities.ExtractResult, error) {
			isLocal := activity.GetInfo(ctx).IsLocalActivity
			local = append(local, isLocal)
			if isLocal {
				return activities.ExtractResult{}, temporal.NewNonRetryableApplicationError("", "not_quick", nil)
			}
			return activities.ExtractResult{Pages: 1}, nil
		})
	test.steps(true, 0)
	test.run(t, workflows.IngestTask{Version: 1, Run: "r1"})
	if len(local) != 2 || !local[0] || local[1] {
		t.Errorf("extracted as a local activity: %v, want once so and then once not", local)
	}
	if got := test.outcomes()[1]; got != "completed" {
		t.Errorf("the document ended as %q", got)
	}
}
