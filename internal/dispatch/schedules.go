package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/workflows"
)

// sweepEvery is how often each sweep runs in a cluster.
var sweepEvery = map[string]time.Duration{
	ingestion.SweepRuns:    time.Minute,
	ingestion.SweepAudit:   time.Minute,
	ingestion.SweepUploads: 10 * time.Minute, // it walks through all blobs once a day
}

// ScheduleSweeps creates the schedules of the sweeps, or changes them to the schedules of this
// version. Doing it twice changes nothing.
func ScheduleSweeps(ctx context.Context, c client.Client) error {
	for sweep, every := range sweepEvery {
		if err := scheduleSweep(ctx, c, sweep, every); err != nil {
			return fmt.Errorf("schedule the sweep of %s: %w", sweep, err)
		}
	}
	return nil
}

func scheduleSweep(ctx context.Context, c client.Client, sweep string, every time.Duration) error {
	id := workflows.SweepID(sweep)
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}}
	action := &client.ScheduleWorkflowAction{
		ID: id, Workflow: workflows.Sweep, Args: []any{ingestion.SweepInput{Sweep: sweep}}, TaskQueue: workflows.QueueBulk,
		WorkflowTaskTimeout: taskTimeout, WorkflowExecutionTimeout: 2 * workflows.SweepLimit, StaticSummary: "sweep " + sweep,
		Priority: temporal.Priority{PriorityKey: priorityQuestion}, // it is short, and imports must not hold it up
	}
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: every,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return err
	}
	return c.ScheduleClient().GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := in.Description.Schedule
			schedule.Spec, schedule.Action = &spec, action
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
}
