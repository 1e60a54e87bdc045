package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/worker"
)

// WorkerVersion is a version of Cairn whose workers the Temporal server of a cluster knows.
type WorkerVersion struct {
	Version string `json:"version"`
	// Status is "current" (begins new runs), "draining" (has runs that have not ended), "drained"
	// (has none: its workers can be stopped), or "ready" (has begun no run).
	Status  string    `json:"status"`
	FirstAt time.Time `json:"first_at"` // when its first worker started
}

// WorkerVersions returns the versions of the workers of a cluster, newest first.
func WorkerVersions(ctx context.Context, cfg config.Config, o Options) (list []WorkerVersion, err error) {
	err = withDeployment(ctx, cfg, o, func(d client.WorkerDeploymentHandle) error {
		described, err := d.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if missing := (*serviceerror.NotFound)(nil); errors.As(err, &missing) {
			return nil // no worker has started yet
		}
		if err != nil {
			return fmt.Errorf("read the versions of workers: %w", err)
		}
		current := described.Info.RoutingConfig.CurrentVersion
		for _, v := range described.Info.VersionSummaries {
			one := WorkerVersion{Version: v.Version.BuildID, Status: "ready", FirstAt: v.CreateTime}
			switch {
			case current != nil && *current == v.Version:
				one.Status = "current"
			case v.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDraining:
				one.Status = "draining"
			case v.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDrained:
				one.Status = "drained"
			}
			list = append(list, one)
		}
		return nil
	})
	return list, err
}

// UseWorkerVersion makes the workers of a version begin all new runs. It refuses a version
// without workers for all task queues that the current one works on.
func UseWorkerVersion(ctx context.Context, cfg config.Config, o Options, version string) error {
	return withDeployment(ctx, cfg, o, func(d client.WorkerDeploymentHandle) error {
		_, err := d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: version})
		if err != nil {
			return fmt.Errorf("begin runs with version %s: %w; start its workers first, for all task queues (cairn workers list shows the versions)", version, err)
		}
		return nil
	})
}

// withDeployment connects to the Temporal server of a cluster.
func withDeployment(ctx context.Context, cfg config.Config, o Options, use func(client.WorkerDeploymentHandle) error) error {
	p := newPlatform(cfg, o)
	if err := p.requireCluster("cairn workers"); err != nil {
		return err
	}
	err := p.start(ctx, func(ctx context.Context) error { return p.dialCluster(ctx, "cairn") })
	if err == nil {
		err = use(p.client.WorkerDeploymentClient().GetHandle(worker.Deployment))
	}
	return errors.Join(err, p.close())
}

// beginFirst makes the version of this process begin new runs if no version does, as in a
// cluster whose workers are the first that pin runs.
func (p *platform) beginFirst(ctx context.Context) {
	d := p.client.WorkerDeploymentClient().GetHandle(worker.Deployment)
	for {
		described, err := d.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if err == nil && described.Info.RoutingConfig.CurrentVersion != nil {
			return
		}
		if err == nil {
			_, err = d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: p.version, ConflictToken: described.ConflictToken})
		}
		if err == nil {
			p.log.InfoContext(ctx, "new runs begin with this version", "version", p.version)
			return
		}
		p.log.DebugContext(ctx, "the version of this process cannot begin runs yet", "error", err) // the Temporal server learns of the first worker when it asks for work
		select {
		case <-time.After(clusterCheck):
		case <-ctx.Done():
			return
		}
	}
}
