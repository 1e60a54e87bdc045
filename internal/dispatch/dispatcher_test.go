package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/dispatch"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// silent is a Temporal server that gives this error for an answer.
type silent struct {
	client.Client
	err error
}

func (s silent) SignalWorkflow(context.Context, string, string, string, any) error { return s.err }

func (s silent) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, s.err
}

func TestATemporalThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want knowledge.Code
	}{
		{serviceerror.NewUnavailable("no connection"), knowledge.CodeUnavailable},
		{serviceerror.NewDeadlineExceeded("too late"), knowledge.CodeUnavailable},
		{serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "too much"), knowledge.CodeUnavailable},
		{context.DeadlineExceeded, knowledge.CodeUnavailable},
		{errors.New("a defect"), knowledge.CodeInternal},
	} {
		t.Run(fmt.Sprintf("%T", test.err), func(t *testing.T) {
			t.Parallel()
			d := dispatch.New(silent{err: test.err}, "cairn", "test")
			_, stopped := d.StopIngest(t.Context(), "w", "d", 1)
			_, _, described := d.Running(t.Context(), "id")
			for _, err := range []error{stopped, described, d.RetryNow(t.Context(), "w", "d")} {
				if got := knowledge.AsError(err).Code; got != test.want {
					t.Errorf("%v has code %s, want %s", err, got, test.want)
				}
			}
		})
	}
}

func TestRetryNowWithoutAWorkflow(t *testing.T) {
	t.Parallel()
	d := dispatch.New(silent{err: serviceerror.NewNotFound("no such workflow")}, "cairn", "test")
	if err := d.RetryNow(t.Context(), "w", "d"); err != nil {
		t.Error(err)
	}
}

// started records the summary of the workflow that is started.
type started struct {
	client.Client
	summary string
}

func (s *started) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.summary = o.StaticSummary
	return nil, nil
}

func TestSummaryOfAnIngest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		named    bool
		external string
		want     string
	}{
		"names are shown":              {true, "handbook/leave.pdf", "ingest `handbook/leave.pdf`"},
		"names are confidential":       {false, "handbook/leave.pdf", "ingest a document"},
		"a name cannot write Markdown": {true, "a`[b](http://c)\n", "ingest `a_[b](http://c)_`"},
		"a long name keeps its end":    {true, strings.Repeat("ä", 300) + ".pdf", "ingest `…" + strings.Repeat("ä", 98) + ".pdf`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &started{}
			if err := dispatch.New(c, "cairn", "test").Named(test.named).Ingest(t.Context(), store.Version{ExternalID: test.external}); err != nil {
				t.Fatal(err)
			}
			if c.summary != test.want {
				t.Errorf("got %q, want %q", c.summary, test.want)
			}
		})
	}
}

// forgetful is a Temporal server that forgets the first update of a running workflow.
type forgetful struct {
	client.Client
	ids []string // of the updates
}

func (f *forgetful) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	f.ids = append(f.ids, o.UpdateID)
	if len(f.ids) == 1 {
		return nil, serviceerror.NewNotFound("workflow execution update not found")
	}
	return accepted{}, nil
}

func (f *forgetful) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}}, nil
}

// accepted is the handle of an update that has ended.
type accepted struct{ client.WorkflowUpdateHandle }

func (accepted) Get(context.Context, any) error { return nil }

// TestADecisionThatTemporalForgets has a decision lost with the worker that had received it:
// it is sent again, as the same one.
func TestADecisionThatTemporalForgets(t *testing.T) {
	t.Parallel()
	server := &forgetful{}
	waiting, err := dispatch.New(server, "cairn", "test").Decide(t.Context(), store.Run{WorkflowID: "query/w/r"}, record.Decision{Call: "c"})
	if err != nil || !waiting {
		t.Errorf("a call waits: %t, %v", waiting, err)
	}
	if len(server.ids) != 2 || server.ids[0] == "" || server.ids[0] != server.ids[1] {
		t.Errorf("updates %q", server.ids)
	}
}
