package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/workflows"
)

// pageTest runs ImportPage and records its steps.
type pageTest struct {
	env     *testsuite.TestWorkflowEnvironment
	mu      sync.Mutex
	batches []string
	large   []int
	failed  []ingestion.FailBatchInput
}

func newPageTest(batch func(ingestion.BatchInput) (ingestion.BatchResult, error), large func(ingestion.LargeInput) error) *pageTest {
	test := &pageTest{env: newEnvironment()}
	test.env.SetTestTimeout(30 * time.Second)
	test.env.RegisterActivity(&ingestion.Importing{})
	var acts *ingestion.Importing
	on := func(step, do any) { test.env.OnActivity(step, mock.Anything, mock.Anything).Maybe().Return(do) }
	on(acts.ImportBatch, func(_ context.Context, in ingestion.BatchInput) (ingestion.BatchResult, error) {
		test.mu.Lock()
		test.batches = append(test.batches, fmt.Sprintf("%d-%d", in.First, in.Last))
		test.mu.Unlock()
		return batch(in)
	})
	on(acts.ImportLarge, func(_ context.Context, in ingestion.LargeInput) error {
		test.mu.Lock()
		test.large = append(test.large, in.Objects...)
		test.mu.Unlock()
		return large(in)
	})
	on(acts.FailImportBatch, func(_ context.Context, in ingestion.FailBatchInput) error {
		test.mu.Lock()
		defer test.mu.Unlock()
		test.failed = append(test.failed, in)
		return nil
	})
	return test
}

func (test *pageTest) run(t *testing.T, objects int) (result workflows.ImportPageResult) {
	t.Helper()
	test.env.ExecuteWorkflow(workflows.ImportPage, workflows.ImportPageInput{ImportRef: importRef, Run: "i", Page: 3, Objects: objects})
	if err := test.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := test.env.GetWorkflowResult(&result); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestImportPage(t *testing.T) {
	t.Parallel()
	fine := func(ingestion.BatchInput) (ingestion.BatchResult, error) { return ingestion.BatchResult{}, nil }
	quick := func(ingestion.LargeInput) error { return nil }

	t.Run("imports batches and then what takes long", func(t *testing.T) {
		t.Parallel()
		test := newPageTest(func(in ingestion.BatchInput) (ingestion.BatchResult, error) {
			return ingestion.BatchResult{Large: []int{in.First, in.First + 1, in.First + 2, in.First + 3, in.First + 4}}, nil
		}, quick)
		if !test.run(t, 120).Complete {
			t.Error("it is not complete")
		}
		slices.Sort(test.batches)
		slices.Sort(test.large)
		if diff := cmp.Diff([]string{"0-50", "100-120", "50-100"}, test.batches); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 50, 51, 52, 53, 54, 100, 101, 102, 103, 104}, test.large); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a batch that fails gives its objects their failure", func(t *testing.T) {
		t.Parallel()
		test := newPageTest(func(in ingestion.BatchInput) (ingestion.BatchResult, error) {
			if in.First == 50 {
				return ingestion.BatchResult{}, temporal.NewNonRetryableApplicationError("the model refused", string(knowledge.CodeProviderFailed), nil)
			}
			return ingestion.BatchResult{Large: []int{in.First}}, nil
		}, func(in ingestion.LargeInput) error {
			if in.Objects[0] == 0 {
				return temporal.NewNonRetryableApplicationError("the model refused", string(knowledge.CodeProviderFailed), nil)
			}
			return nil
		})
		if !test.run(t, 150).Complete {
			t.Error("it is not complete")
		}
		if len(test.failed) != 2 {
			t.Fatalf("failed %+v", test.failed)
		}
		slices.SortFunc(test.failed, func(a, b ingestion.FailBatchInput) int { return len(a.Objects) - len(b.Objects) })
		if f := test.failed[0]; f.First != 50 || f.Last != 100 || f.Page != 3 || f.Error.Code != knowledge.CodeProviderFailed || !f.Error.Retryable {
			t.Errorf("the batch failed as %+v", f)
		}
		if f := test.failed[1]; !slices.Equal(f.Objects, []int{0}) {
			t.Errorf("the large object failed as %+v", f)
		}
	})
	t.Run("a cancel ends it without completing it", func(t *testing.T) {
		t.Parallel()
		var test *pageTest
		test = newPageTest(func(in ingestion.BatchInput) (ingestion.BatchResult, error) {
			if in.First == 100 {
				test.env.CancelWorkflow()
			}
			return fine(in)
		}, quick)
		if test.run(t, 1000).Complete || len(test.failed) != 0 || len(test.batches) == 20 {
			t.Errorf("after a cancel it is complete, with %d batches, and failed %+v", len(test.batches), test.failed)
		}
	})
}
