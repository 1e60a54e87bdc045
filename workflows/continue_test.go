package workflows_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// TestLongDocument suggests a continue-as-new at every turn of a document whose
// embedding takes many steps: each chunk is embedded once, and the log is whole.
func TestLongDocument(t *testing.T) {
	t.Parallel()
	const chunks = 100_000
	var acts ingestion.Activities
	var mu sync.Mutex
	embedded, extracted, runs := map[int]int{}, 0, 0
	segments := map[int][]stream.Item{}
	in := workflows.IngestInput{
		Workspace: "w", Project: "p", Document: "d",
		Tasks: []workflows.IngestTask{{Version: 1, Run: "r1"}, {Version: 2, Run: "r2"}},
	}
	finished := []ingestion.FinishInput{}
	for {
		test := newIngestTest(t)
		test.env.SetContinueAsNewSuggested(true)
		test.env.OnActivity(acts.ExtractDocument, mock.Anything, mock.Anything).Maybe().Return(
			func(context.Context, ingestion.ExtractInput) (ingestion.ExtractResult, error) {
				extracted++
				return ingestion.ExtractResult{Chunks: chunks}, nil
			})
		test.env.OnActivity(acts.EmbedChunks, mock.Anything, mock.Anything).Maybe().Return(
			func(_ context.Context, in ingestion.EmbedInput) error {
				mu.Lock()
				defer mu.Unlock()
				if in.Version == 1 {
					embedded[in.First] = in.Last
				}
				return nil
			})
		test.env.OnActivity(acts.StoreVersionSegment, mock.Anything, mock.Anything).Maybe().Return(
			func(_ context.Context, in ingestion.VersionSegmentInput) error {
				if in.Version == 1 {
					segments[in.Number] = in.Items
				}
				return nil
			})
		test.steps(false, chunks)
		test.env.ExecuteWorkflow(workflows.IngestDocument, in)
		finished = append(finished, test.finished...)
		runs++
		if err := test.env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = continued[workflows.IngestInput](t, test.env.GetWorkflowError())
	}
	covered := 0
	for _, first := range slices.Sorted(maps.Keys(embedded)) {
		if first != covered {
			t.Fatalf("chunks %d-%d were not embedded", covered, first)
		}
		covered = embedded[first]
	}
	if covered != chunks || extracted != 2 || runs < 100 || len(finished) != 2 {
		t.Errorf("%d chunks were embedded; %d extractions of 2 documents in %d runs, %d ends", covered, extracted, runs, len(finished))
	}
	end := finished[0]
	items := []stream.Item{}
	for n := range end.Segments {
		items = append(items, segments[n]...)
	}
	items = append(items, end.Items...)
	offsets := make([]int, len(items))
	for i, item := range items {
		offsets[i] = int(item.Offset)
	}
	want := make([]int, len(items))
	for i := range want {
		want[i] = i
	}
	if diff := cmp.Diff(want, offsets); diff != "" || end.Segments == 0 || items[len(items)-1].Topic != stream.TopicEnded {
		t.Errorf("the log, of %d segments and %d items, has gaps: %s", end.Segments, len(items), diff)
	}
}

// TestRemovalThatWaits removes a document whose ingest runs for long after its stop
// signal: it is signaled once, and the history of the removal stays short.
func TestRemovalThatWaits(t *testing.T) {
	t.Parallel()
	var acts ingestion.Activities
	in := workflows.RemoveInput{RemoveInput: ingestion.RemoveInput{Workspace: "w", Project: "p", Document: "d", Run: "r", Upto: 1}}
	asked, told := 0, 0
	for runs := 0; ; runs++ {
		env := newEnvironment()
		env.RegisterActivity(&ingestion.Activities{})
		env.SetContinueAsNewSuggested(asked == 10)
		env.OnActivity(acts.StopIngest, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in ingestion.StopInput) (ingestion.StopResult, error) {
				if asked++; !in.Signaled {
					told++
				}
				env.SetContinueAsNewSuggested(asked == 10)
				return ingestion.StopResult{Running: asked < 20, Signaled: true}, nil
			})
		for _, step := range []any{acts.RemoveEntries, acts.RemoveBlobs, acts.RemoveRows, acts.FinishRemoval} {
			env.OnActivity(step, mock.Anything, mock.Anything).Maybe().Return(nil)
		}
		env.ExecuteWorkflow(workflows.RemoveDocument, in)
		if err := env.GetWorkflowError(); !isContinueAsNew(err) {
			if err != nil || runs != 1 {
				t.Errorf("after %d runs it ended with %v", runs, err)
			}
			break
		}
		in = continued[workflows.RemoveInput](t, env.GetWorkflowError())
	}
	if told != 1 || asked != 20 {
		t.Errorf("the ingest was told to stop %d times, in %d looks", told, asked)
	}
}
