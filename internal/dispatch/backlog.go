package dispatch

import (
	"context"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/workflows"
)

// Backlog returns about how many tasks each task queue holds that no worker has taken
// yet.
func (d *Dispatcher) Backlog(ctx context.Context) (map[string]int64, error) {
	queues := workflows.Queues()
	counts := make([]int64, len(queues))
	group, asking := errgroup.WithContext(ctx)
	for i, queue := range queues {
		group.Go(func() error {
			description, err := d.client.DescribeTaskQueueEnhanced(asking, client.DescribeTaskQueueEnhancedOptions{
				TaskQueue: queue, TaskQueueTypes: []client.TaskQueueType{client.TaskQueueTypeWorkflow, client.TaskQueueTypeActivity}, ReportStats: true,
			})
			if err != nil {
				return wrap(err, "describe task queue", queue)
			}
			for _, version := range description.VersionsInfo {
				for _, kind := range version.TypesInfo {
					if kind.Stats != nil {
						counts[i] += kind.Stats.ApproximateBacklogCount
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	backlog := map[string]int64{}
	for i, queue := range queues {
		backlog[queue] = counts[i]
	}
	return backlog, nil
}
