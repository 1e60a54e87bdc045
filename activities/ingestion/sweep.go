package ingestion

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
)

// Sweeping runs the sweeps of a cluster.
type Sweeping struct {
	// Runs repairs what a crash left of accepted work, and of runs whose workflows were
	// ended from outside.
	Runs interface {
		Once(ctx context.Context) error
	}
	// Uploads deletes what interrupted uploads left.
	Uploads interface {
		Once(ctx context.Context) error
	}
}

// SweepInput names a sweep.
type SweepInput struct {
	Sweep string `json:"sweep"`
}

// The sweeps.
const (
	SweepRuns    = "runs"
	SweepUploads = "uploads"
)

// SweepOnce runs a sweep once. Everything that it does may be done twice.
func (a *Sweeping) SweepOnce(ctx context.Context, in SweepInput) error {
	defer step.Heartbeat(ctx)()
	sweep := a.Runs
	if in.Sweep == SweepUploads {
		sweep = a.Uploads
	}
	if err := sweep.Once(ctx); err != nil {
		return fmt.Errorf("sweep %s: %w", in.Sweep, err)
	}
	return nil
}
