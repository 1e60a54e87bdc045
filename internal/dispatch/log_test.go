package dispatch_test

import (
	"context"
	"errors"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// terminated is a Temporal server whose workflows were all ended from outside.
// Its queries fail with errs, one after the other, then return the log.
type terminated struct {
	client.Client
	errs []error
	log  stream.Log
}

func (s *terminated) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{}, nil
}

func (s *terminated) QueryWorkflowWithOptions(_ context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return nil, err
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(stream.EventsPage{Page: s.log.Page(r.Args[0].(stream.PollInput).FromOffset, nil)})
	if err != nil {
		return nil, err
	}
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: client.NewValue(payloads)}, nil
}

func repeated(err error, times int) []error {
	errs := make([]error, times)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// TestTheLogOfAWorkflowEndedFromOutside checks that a run keeps the items that
// readers have unless its log is lost for good.
func TestTheLogOfAWorkflowEndedFromOutside(t *testing.T) {
	t.Parallel()
	busy := serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_BUSY_WORKFLOW, "busy")
	for name, test := range map[string]struct {
		errs  []error
		ended bool
		items int // of the stored log
	}{
		"a query that is answered":                        {nil, true, 3},
		"a server that is not there for a moment":         {[]error{serviceerror.NewUnavailable("no connection")}, false, 0},
		"no worker that answers in time":                  {[]error{serviceerror.NewDeadlineExceeded("too late")}, false, 0},
		"no worker that polls":                            {[]error{serviceerror.NewFailedPrecondition("no poller")}, false, 0},
		"a context that ended":                            {[]error{context.DeadlineExceeded}, false, 0},
		"an unknown error":                                {[]error{errors.New("something new")}, false, 0},
		"a worker that is busy for a while":               {repeated(busy, 3), true, 3},
		"a worker that is busy for long":                  {repeated(busy, 30), false, 0},
		"a worker that once could not fetch the history":  {[]error{serviceerror.NewQueryFailed("no history")}, true, 3},
		"a workflow that cannot be replayed":              {repeated(serviceerror.NewQueryFailed("nondeterministic"), 9), true, 1},
		"a workflow that closed before its first task":    {repeated(serviceerror.NewWorkflowNotReady("closed"), 9), true, 1},
		"a workflow that Temporal does not know any more": {[]error{serviceerror.NewNotFound("no workflow")}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &terminated{errs: test.errs}
			for range 2 {
				e, err := stream.NewEntry(stream.TopicDelta, stream.Event{Text: "word "})
				if err != nil {
					t.Fatal(err)
				}
				server.log.Append(e)
			}
			blobs, err := blob.Open(t.Context(), "mem://")
			if err != nil {
				t.Fatal(err)
			}
			table := &runs{rows: map[string]store.Run{"r": {
				ID: "r", Workspace: "w", Kind: "query", Status: knowledge.RunRunning, CreatedAt: time.Now().Add(-time.Hour), WorkflowID: "query/w/r",
			}}}
			source := dispatch.NewSource(dispatch.New(server, "cairn", "test"), table, blobs, stream.NewHub())
			ref := stream.RunRef{Workspace: "w", Run: "r", WorkflowID: "query/w/r"}
			if err := source.Settle(t.Context(), ref); (err == nil) != test.ended {
				t.Errorf("settled with %v", err)
			}
			if ended := table.rows["r"].Status == knowledge.RunFailed; ended != test.ended {
				t.Fatalf("the run is %s", table.rows["r"].Status)
			}
			if !test.ended {
				if err := source.Settle(t.Context(), ref); err != nil && len(server.errs) == 0 {
					t.Errorf("settled again with %v", err)
				}
				return
			}
			items, ok, err := source.Stored(t.Context(), ref)
			if err != nil || !ok || len(items) != test.items || items[len(items)-1].Offset != int64(test.items-1) {
				t.Errorf("the log is %+v, %t, %v", items, ok, err)
			}
		})
	}
}
