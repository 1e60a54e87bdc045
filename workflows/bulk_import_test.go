package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

var importRef = knowledge.ImportRef{Workspace: "w", Project: "p", Import: "i"}

// importTest runs BulkImport over a source of some pages. It records what is asked of
// the activities and of the workflows of pages.
type importTest struct {
	env   *testsuite.TestWorkflowEnvironment
	pages int

	mu       sync.Mutex
	listed   []int
	imported map[int]int // how often the workflow of a page ended with all of it
	begun    map[int]int
	open     int
	mostOpen int
	vanished int
	status   knowledge.ImportStatus // that is stored
	cleaned  int
	statuses []knowledge.ImportStatus
	failed   []ingestion.FailBatchInput
	ends     []ingestion.FinishImportInput
	segments map[int][]stream.Item

	list func(ingestion.ListInput) (ingestion.ListResult, error)
	page func(ctx workflow.Context, in workflows.ImportPageInput) (workflows.ImportPageResult, error)
}

func newImportTest(pages int) *importTest {
	test := &importTest{pages: pages, status: knowledge.ImportRunning, imported: map[int]int{}, begun: map[int]int{}, segments: map[int][]stream.Item{}}
	test.list = func(in ingestion.ListInput) (ingestion.ListResult, error) {
		return ingestion.ListResult{Objects: 1000, Last: in.Page == pages-1}, nil
	}
	test.page = func(ctx workflow.Context, _ workflows.ImportPageInput) (workflows.ImportPageResult, error) {
		return workflows.ImportPageResult{Complete: workflow.Sleep(ctx, time.Minute) == nil}, nil
	}
	test.environment()
	return test
}

// environment sets up a new environment, which keeps the records.
func (test *importTest) environment() {
	env := newEnvironment()
	env.SetTestTimeout(30 * time.Second)
	test.env = env
	var acts *ingestion.Importing
	env.RegisterActivity(&ingestion.Importing{})
	env.RegisterWorkflowWithOptions(test.runPage, workflow.RegisterOptions{Name: "ImportPage"})
	on := func(step, do any) { env.OnActivity(step, mock.Anything, mock.Anything).Maybe().Return(do) }
	on(acts.ListImportPage, func(_ context.Context, in ingestion.ListInput) (ingestion.ListResult, error) {
		test.mu.Lock()
		defer test.mu.Unlock()
		test.listed = append(test.listed, in.Page)
		return test.list(in)
	})
	on(acts.ImportProgress, func(context.Context, knowledge.ImportRef) (record.ImportProgress, error) {
		test.mu.Lock()
		defer test.mu.Unlock()
		return record.ImportProgress{Status: test.status, ImportCounts: knowledge.ImportCounts{Published: int64(len(test.imported))}}, nil
	})
	on(acts.SetImportStatus, func(_ context.Context, in ingestion.ImportStatusInput) error {
		test.mu.Lock()
		defer test.mu.Unlock()
		test.statuses = append(test.statuses, in.Status)
		return nil
	})
	on(acts.SettleVanished, func(context.Context, knowledge.ImportRef) error { test.vanished++; return nil })
	on(acts.CleanImport, func(context.Context, knowledge.ImportRef) error { test.cleaned++; return nil })
	on(acts.FailImportBatch, func(_ context.Context, in ingestion.FailBatchInput) error {
		test.mu.Lock()
		defer test.mu.Unlock()
		test.failed = append(test.failed, in)
		return nil
	})
	on(acts.FinishImport, func(_ context.Context, in ingestion.FinishImportInput) error {
		test.ends = append(test.ends, in)
		return nil
	})
	on(acts.StoreImportSegment, func(_ context.Context, in ingestion.ImportSegmentInput) error {
		test.segments[in.Number] = in.Items
		return nil
	})
}

// runPage stands in for the workflow of a page.
func (test *importTest) runPage(ctx workflow.Context, in workflows.ImportPageInput) (workflows.ImportPageResult, error) {
	test.begun[in.Page]++
	test.open++
	test.mostOpen = max(test.mostOpen, test.open)
	result, err := test.page(ctx, in)
	test.open--
	if result.Complete {
		test.mu.Lock()
		defer test.mu.Unlock()
		test.imported[in.Page]++
	}
	return result, err
}

func (test *importTest) run(t *testing.T) ingestion.FinishImportInput {
	t.Helper()
	test.env.ExecuteWorkflow(workflows.BulkImport, workflows.ImportInput{ImportRef: importRef, Run: "i"})
	if err := test.env.GetWorkflowError(); err != nil || len(test.ends) != 1 {
		t.Fatalf("the workflow ended with %v, and %d ends", err, len(test.ends))
	}
	return test.ends[0]
}

// wantEach checks that each page was completed once.
func (test *importTest) wantEach(t *testing.T, pages int) {
	t.Helper()
	want := map[int]int{}
	for page := range pages {
		want[page] = 1
	}
	if diff := cmp.Diff(want, test.imported); diff != "" {
		t.Errorf("completed pages (-want +got):\n%s", diff)
	}
}

func (test *importTest) signal(paused bool, after time.Duration) {
	test.env.RegisterDelayedCallback(func() { test.env.SignalWorkflow(workflows.SignalImport, workflows.ImportControl{Paused: paused}) }, after)
}

func TestBulkImport(t *testing.T) {
	t.Parallel()
	t.Run("imports every page in a window", func(t *testing.T) {
		t.Parallel()
		test := newImportTest(30)
		end := test.run(t)
		test.wantEach(t, 30)
		if test.mostOpen != 8 || test.vanished != 1 || test.cleaned != 1 || end.Error != nil || end.Run != "i" {
			t.Errorf("%d pages at a time, %d looks for what vanished, %d cleanings, end %+v", test.mostOpen, test.vanished, test.cleaned, end)
		}
		if last := end.Items[len(end.Items)-1]; last.Topic != stream.TopicEnded || end.Items[0].Topic != stream.TopicImport {
			t.Errorf("the log begins with %s and ends with %s", end.Items[0].Topic, last.Topic)
		}
	})
	t.Run("starts no workflow for a page without work", func(t *testing.T) {
		t.Parallel()
		test := newImportTest(3)
		test.list = func(in ingestion.ListInput) (ingestion.ListResult, error) {
			return ingestion.ListResult{Last: in.Page == 2}, nil
		}
		test.run(t)
		if len(test.begun) != 0 || len(test.listed) != 3 || test.vanished != 1 {
			t.Errorf("begun %v, listed %v", test.begun, test.listed)
		}
	})
	t.Run("a source that cannot be listed fails the import after its listed pages", func(t *testing.T) {
		t.Parallel()
		test := newImportTest(3)
		listing := test.list
		test.list = func(in ingestion.ListInput) (ingestion.ListResult, error) {
			if in.Page == 2 {
				return ingestion.ListResult{}, temporal.NewNonRetryableApplicationError("access was refused", string(knowledge.CodeForbidden), nil)
			}
			return listing(in)
		}
		end := test.run(t)
		test.wantEach(t, 2)
		if end.Error == nil || end.Error.Code != knowledge.CodeForbidden || test.vanished != 0 {
			t.Errorf("end %+v, %d looks for what vanished", end.Error, test.vanished)
		}
	})
	t.Run("a page whose workflow fails is tried again", func(t *testing.T) {
		t.Parallel()
		test := newImportTest(2)
		page := test.page
		test.page = func(ctx workflow.Context, in workflows.ImportPageInput) (workflows.ImportPageResult, error) {
			if in.Page == 1 && test.begun[1] < 3 {
				return workflows.ImportPageResult{}, errors.New("terminated")
			}
			return page(ctx, in)
		}
		test.run(t)
		test.wantEach(t, 2)
	})
	t.Run("a page whose workflow fails again and again fails its objects", func(t *testing.T) {
		t.Parallel()
		test := newImportTest(2)
		page := test.page
		test.page = func(ctx workflow.Context, in workflows.ImportPageInput) (workflows.ImportPageResult, error) {
			if in.Page == 1 {
				return workflows.ImportPageResult{}, errors.New("terminated")
			}
			return page(ctx, in)
		}
		end := test.run(t)
		test.wantEach(t, 1)
		if end.Error != nil || len(test.failed) != 1 || test.failed[0].Page != 1 || test.failed[0].Last != 1000 || !test.failed[0].Error.Retryable {
			t.Errorf("end %+v, failed %+v", end.Error, test.failed)
		}
	})
}

func TestPauseOfAnImport(t *testing.T) {
	t.Parallel()
	test := newImportTest(12)
	test.signal(true, 90*time.Second) // while the second pages run
	var whilePaused int
	test.env.RegisterDelayedCallback(func() { whilePaused = test.open }, 95*time.Second)
	test.signal(false, time.Hour)
	end := test.run(t)
	test.wantEach(t, 12)
	if end.Error != nil || whilePaused != 0 {
		t.Errorf("end %+v; %d pages ran 5 s after the pause", end.Error, whilePaused)
	}
	if want := []knowledge.ImportStatus{knowledge.ImportPaused, knowledge.ImportRunning}; !slices.Equal(test.statuses, want) {
		t.Errorf("statuses %v, want %v", test.statuses, want)
	}
	again := 0
	for _, n := range test.begun {
		again += n - 1
	}
	if again == 0 || again > 8 {
		t.Errorf("%d pages were begun again after the pause", again)
	}
}

func TestCancelOfAnImport(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{false, true} {
		t.Run(fmt.Sprintf("paused_%t", paused), func(t *testing.T) {
			t.Parallel()
			test := newImportTest(20)
			if paused {
				test.signal(true, 80*time.Second)
			}
			test.env.RegisterDelayedCallback(test.env.CancelWorkflow, 90*time.Second)
			end := test.run(t)
			if end.Error == nil || end.Error.Code != knowledge.CodeCanceled || test.open != 0 || test.vanished != 0 {
				t.Errorf("end %+v, %d pages still run, %d looks for what vanished", end.Error, test.open, test.vanished)
			}
			if last := end.Items[len(end.Items)-1]; last.Topic != stream.TopicError {
				t.Errorf("the log ends with %s", last.Topic)
			}
		})
	}
}

// TestCancelBeforeAnImport: the run of an import that has ended before it began does
// nothing.
func TestCancelBeforeAnImport(t *testing.T) {
	t.Parallel()
	test := newImportTest(3)
	test.status = knowledge.ImportCanceled
	if end := test.run(t); end.Error == nil || end.Error.Code != knowledge.CodeCanceled || len(test.listed) > 0 || test.cleaned != 1 {
		t.Errorf("end %+v, listed %v", end.Error, test.listed)
	}
}

// TestLongImport suggests a continue-as-new at every turn. The pages that run are
// carried over, and each page is completed once.
func TestLongImport(t *testing.T) {
	t.Parallel()
	const pages = 40
	test := newImportTest(pages)
	in := workflows.ImportInput{ImportRef: importRef, Run: "i"}
	runs, carried := 0, 0
	for ; ; runs++ {
		test.environment()
		test.env.SetContinueAsNewSuggested(true)
		var acts *ingestion.Importing
		// The environment ends the workflows of pages with their parent, so none runs.
		test.env.OnActivity(acts.IsPageRunning, mock.Anything, mock.Anything).Maybe().Return(false, nil)
		test.env.ExecuteWorkflow(workflows.BulkImport, in)
		if err := test.env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.ImportInput](t, test.env.GetWorkflowError())
		carried = max(carried, len(in.State.Open))
		test.open = 0
	}
	for page := range pages {
		if test.imported[page] == 0 {
			t.Errorf("page %d was not completed", page)
		}
	}
	if runs < 10 || carried == 0 || len(test.ends) != 1 || test.ends[0].Error != nil {
		t.Errorf("%d runs, %d pages carried, ends %+v", runs, carried, test.ends)
	}
	slices.Sort(test.listed)
	if got := slices.Compact(slices.Clone(test.listed)); len(got) != pages || len(test.listed) != pages {
		t.Errorf("%d pages were listed %d times", len(got), len(test.listed))
	}
	wantWholeLog(t, test.segments, test.ends[0].Items)
}

// wantWholeLog checks that the offsets of a log have no gap.
func wantWholeLog(t *testing.T, segments map[int][]stream.Item, last []stream.Item) {
	t.Helper()
	var items []stream.Item
	for _, n := range slices.Sorted(maps.Keys(segments)) {
		items = append(items, segments[n]...)
	}
	for n, item := range append(items, last...) {
		if int(item.Offset) != n {
			t.Fatalf("item %d has the offset %d", n, item.Offset)
		}
	}
}

func TestRetryOfAnImport(t *testing.T) {
	t.Parallel()
	retry := func(t *testing.T, change func(env *testsuite.TestWorkflowEnvironment)) (asked int, test *importTest) {
		t.Helper()
		test = newImportTest(1)
		var acts *ingestion.Importing
		test.env.OnActivity(acts.RetryFailed, mock.Anything, mock.Anything).Return(func(context.Context, ingestion.RetryInput) error { return nil })
		test.env.OnActivity(acts.SettleRetried, mock.Anything, mock.Anything).Return(func(context.Context, knowledge.ImportRef) (int, error) {
			asked++
			return max(5-asked, 0), nil
		})
		change(test.env)
		test.env.ExecuteWorkflow(workflows.BulkImport, workflows.ImportInput{ImportRef: importRef, Run: "r", Retry: true})
		if err := test.env.GetWorkflowError(); err != nil || len(test.ends) != 1 {
			t.Fatalf("ended with %v, %d ends", err, len(test.ends))
		}
		return asked, test
	}
	t.Run("waits for the documents", func(t *testing.T) {
		t.Parallel()
		asked, test := retry(t, func(*testsuite.TestWorkflowEnvironment) {})
		if asked != 5 || len(test.listed) != 0 || test.ends[0].Error != nil {
			t.Errorf("asked %d times, listed %v, end %+v", asked, test.listed, test.ends[0].Error)
		}
	})
	t.Run("is canceled", func(t *testing.T) {
		t.Parallel()
		_, test := retry(t, func(env *testsuite.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(env.CancelWorkflow, time.Second)
		})
		if e := test.ends[0].Error; e == nil || e.Code != knowledge.CodeCanceled {
			t.Errorf("end %+v", e)
		}
	})
	t.Run("is paused and resumed", func(t *testing.T) {
		t.Parallel()
		asked, test := retry(t, func(env *testsuite.TestWorkflowEnvironment) {
			for after, paused := range map[time.Duration]bool{time.Second: true, time.Minute: false} {
				env.RegisterDelayedCallback(func() { env.SignalWorkflow(workflows.SignalImport, workflows.ImportControl{Paused: paused}) }, after)
			}
		})
		if asked != 5 || len(test.statuses) != 2 || test.ends[0].Error != nil {
			t.Errorf("asked %d times, statuses %v, end %+v", asked, test.statuses, test.ends[0].Error)
		}
	})
}

// TestImportEvents checks the inline data of the events against their names in the API.
func TestImportEvents(t *testing.T) {
	t.Parallel()
	test := newImportTest(2)
	end := test.run(t)
	e, err := stream.DecodeEvent(end.Items[1].Data)
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(e.Data, &p); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"status", "discovered", "published", "skipped", "failed", "deleted", "bytes", "documents_per_second", "eta_seconds"} {
		if _, there := p[name]; !there {
			t.Errorf("an importUpdate has no %s: %v", name, p)
		}
	}
}
