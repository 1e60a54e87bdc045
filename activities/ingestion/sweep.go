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
	// Audit brings rows of the audit into their chains, signs checkpoints, and removes what
	// is too old.
	Audit interface {
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
	SweepAudit   = "audit"
)

// SweepOnce runs a sweep once. Everything that it does may be done twice.
func (a *Sweeping) SweepOnce(ctx context.Context, in SweepInput) error {
	defer step.Heartbeat(ctx)()
	sweep := a.Runs
	switch in.Sweep {
	case SweepUploads:
		sweep = a.Uploads
	case SweepAudit:
		sweep = a.Audit
	}
	if err := sweep.Once(ctx); err != nil {
		return fmt.Errorf("sweep %s: %w", in.Sweep, err)
	}
	return nil
}
