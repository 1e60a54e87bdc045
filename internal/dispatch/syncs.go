package dispatch

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// ScheduleSync makes the schedule of a sync, or changes it to what the sync says. Doing it
// twice changes nothing.
func (d *Dispatcher) ScheduleSync(ctx context.Context, y store.Sync) error {
	id := workflows.FollowID(y.Workspace, y.ID)
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: y.Every, Offset: y.Phase()}}}
	action := &client.ScheduleWorkflowAction{
		ID: id, Workflow: workflows.FollowPlace, Args: []any{ingestion.StartSyncInput{Workspace: y.Workspace, Project: y.Project, Sync: y.ID}},
		TaskQueue: workflows.QueueBulk, WorkflowTaskTimeout: taskTimeout, WorkflowExecutionTimeout: 2 * workflows.FollowLimit,
		StaticSummary: "start a run of a sync", TypedSearchAttributes: d.attributes(y.Workspace, y.Project),
		Priority: temporal.Priority{PriorityKey: priorityUpload, FairnessKey: y.Workspace},
	}
	_, err := d.client.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec, Action: action, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: y.Every, Paused: y.Paused,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return wrap(err, "schedule sync", y.ID)
	}
	err = d.client.ScheduleClient().GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			schedule := in.Description.Schedule
			schedule.Spec, schedule.Action = &spec, action
			if schedule.State == nil {
				schedule.State = &client.ScheduleState{}
			}
			schedule.State.Paused = y.Paused
			return &client.ScheduleUpdate{Schedule: &schedule}, nil
		},
	})
	return wrap(err, "change the schedule of sync", y.ID)
}

// UnscheduleSync deletes the schedule of a sync. Deleting none is fine.
func (d *Dispatcher) UnscheduleSync(ctx context.Context, y store.Sync) error {
	err := d.client.ScheduleClient().GetHandle(ctx, workflows.FollowID(y.Workspace, y.ID)).Delete(ctx)
	if isMissing(err) {
		return nil
	}
	return wrap(err, "delete the schedule of sync", y.ID)
}
