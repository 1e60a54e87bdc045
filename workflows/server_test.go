package workflows_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/workflows"
)

// serverTest runs workflows on a Temporal server, because the SDK's test environment
// differs: it ends a canceled activity at once, and its failures have no retry
// state.
type serverTest struct {
	client client.Client
}

func newServerTest(t *testing.T) *serverTest {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	attributes := map[string]enumspb.IndexedValueType{}
	for _, name := range []string{workflows.AttributeStage, workflows.AttributeStatus} {
		attributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	server, err := embedded.Start(t.Context(), embedded.Config{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", SearchAttributes: attributes, Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := server.Dial(t.Context(), log, func(o *client.Options) { o.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &serverTest{client: c}
}

// start starts a workflow whose activities are these functions, by name. The workers
// poll every queue, so only one test of a server runs at a time.
func (test *serverTest) start(t *testing.T, flow any, in any, activities map[string]any) client.WorkflowRun {
	t.Helper()
	for _, queue := range []string{
		workflows.QueueQuery, workflows.QueueIngest, workflows.QueueFetch, workflows.QueueParse, workflows.QueueEmbed, workflows.QueueTranscribe, workflows.QueueWrite,
	} {
		w := worker.New(test.client, queue, worker.Options{WorkerStopTimeout: time.Second})
		w.RegisterWorkflow(flow)
		for name, act := range activities {
			w.RegisterActivityWithOptions(act, activity.RegisterOptions{Name: name})
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	id := strings.ReplaceAll(t.Name(), "/", "-")
	run, err := test.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: workflows.QueueIngest, WorkflowTaskTimeout: 2 * time.Second}, flow, in)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// awaitSignal blocks until the workflow has processed a signal: two workflow tasks
// have completed after it, or the workflow has.
func (test *serverTest) awaitSignal(t *testing.T, run client.WorkflowRun) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		signaled, completed := false, 0
		for events := test.client.GetWorkflowHistory(t.Context(), run.GetID(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			e, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			switch e.GetEventType() {
			case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
				signaled = true
			case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:
				return
			case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
				if signaled {
					completed++
				}
			}
		}
		if completed >= 2 {
			return
		}
	}
	t.Fatal("no workflow task followed the signal within a minute")
}

// end blocks until the workflow has completed.
func (test *serverTest) end(t *testing.T, run client.WorkflowRun) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := run.Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
}

// next blocks until an activity sends a value, and returns it.
func next[T any](t *testing.T, sent <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-sent:
	case <-time.After(time.Minute):
		t.Fatal("no activity sent a value within a minute")
	}
	return value
}

// untilCanceled blocks until the activity is canceled.
func untilCanceled(ctx context.Context) {
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx)
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
