package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/embedded"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/worker"
)

// running is a RunLister of runs whose workflows have these ids.
type running []string

func (r running) RunningRuns(context.Context, store.RunningQuery) ([]store.Run, error) {
	var runs []store.Run
	for _, id := range r {
		runs = append(runs, store.Run{ID: id, WorkflowID: id})
	}
	return runs, nil
}

// TestOrphans runs an activity whose first attempt never ends and whose time-outs
// are far away. There is a second attempt only if Release fails the first one.
func TestOrphans(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", UIListen: "127.0.0.1:0", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	c, err := server.Dial(t.Context(), log, func(o *client.Options) { o.Identity = "the process before" })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	began, end := make(chan struct{}, 1), make(chan struct{})
	w := sdk.New(c, "orphans", sdk.Options{WorkerStopTimeout: time.Second})
	w.RegisterActivityWithOptions(func(ctx context.Context) (int32, error) {
		if activity.GetInfo(ctx).Attempt == 1 {
			began <- struct{}{}
			<-end
		}
		return activity.GetInfo(ctx).Attempt, nil
	}, activity.RegisterOptions{Name: "wait"})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) (attempt int, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, HeartbeatTimeout: time.Hour})
		return attempt, workflow.ExecuteActivity(ctx, "wait").Get(ctx, &attempt)
	}, workflow.RegisterOptions{Name: "Waiting"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(end); w.Stop() })
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "waiting", TaskQueue: "orphans"}, "Waiting")
	if err != nil {
		t.Fatal(err)
	}
	<-began

	release := func(identity string) {
		o := worker.Orphans{Store: running{"never known", "waiting"}, Client: c, Namespace: server.Namespace(), Identity: identity, Log: log}
		o.Release(t.Context())
	}
	release("the process before") // an activity of its own is no orphan
	d, err := c.DescribeWorkflowExecution(t.Context(), "waiting", "")
	if err != nil {
		t.Fatal(err)
	}
	if pending := d.GetPendingActivities(); len(pending) != 1 || pending[0].GetAttempt() != 1 || pending[0].GetLastFailure() != nil {
		t.Fatalf("Release failed an activity of its own process: %v", pending)
	}
	release("this process")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var attempt int
	if err := run.Get(ctx, &attempt); err != nil || attempt != 2 {
		t.Errorf("attempt %d, error %v", attempt, err)
	}
}
